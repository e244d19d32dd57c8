// SPDX-License-Identifier: MIT
// H5MD files of any writer. Species, masses, charges, units and bonds are looked at too, because this program has
// particles of one type and of mass 1, in reduced units. Checkpoints of ours hold exact integers besides, which are
// taken.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <optional>

#include "app/deck/wording.hpp"
#include "app/state/h5md_elements.hpp"
#include "app/state/particle_source.hpp"

namespace app {
namespace {

class H5md final : public ParticleSource {
public:
    explicit H5md(const md::StateFile& file) : elements_(file), position_(elements_.position()) {
        head_.particles = position_.shape[0];
        head_.dimensions = static_cast<int>(position_.shape[1]);
        check_units();
        check_bonds();
        velocity_ = elements_.at_frame("velocity", {position_.shape}, Holds::at_its_step);
        id_ = elements_.at_frame("id", {{head_.particles}}, Holds::from_its_step_on);
        species_ = of_particles("species");
        mass_ = of_particles("mass");
        charge_ = of_particles("charge");
        read_box();
        note_others();
        exact_ = (file.group.empty() || file.group == "all") && take_exact();
    }
    SourcePiece next() override {
        const std::int64_t n = std::min(piece_rows, head_.particles - read_), axes = position_.shape[1];
        SourcePiece piece;
        piece.rows.resize(n);
        if (n == 0) {
            notes_ = elements_.notes;
            return piece;
        }
        const std::vector<std::int64_t> id = id_ ? elements_.whole_rows(*id_, read_, n) : Numbers{};
        for (std::int64_t i = 0; i < n; ++i) piece.rows[i] = {id_ ? id[i] : read_ + i, {}, {}};
        check_kinds(n);
        if (exact_) {
            std::vector<std::int64_t> state = elements_.whole_rows(position_, read_, n);
            for (std::int64_t i = 0; i < n; ++i)
                for (std::int64_t a = 0; a < head_.dimensions; ++a) {
                    piece.rows[i].x[a] = state[i * axes + a];
                    piece.rows[i].v[a] = state[i * axes + head_.dimensions + a];
                }
        } else {
            const std::vector<double> x = elements_.real_rows(position_, read_, n),
                                      v = velocity_ ? elements_.real_rows(*velocity_, read_, n)
                                                    : std::vector<double>(x.size(), 0.0);
            for (std::int64_t i = 0; i < n; ++i)
                for (std::int64_t a = 0; a < axes; ++a) {
                    piece.rows[i].x[a] = quanta(x[i * axes + a]);
                    piece.rows[i].v[a] = quanta(v[i * axes + a]);
                }
        }
        read_ += n;
        return piece;
    }

private:
    using Kind = comm::NumberFile::Kind;
    using Holds = H5mdElements::Holds;
    // H5MD has no names for reduced units. Files of ours give those of MDAnalysis, and say so.
    void check_units() {
        comm::NumberFile& file = elements_.file();
        if (file.kind("/h5md") == Kind::group && !file.text_attribute("/h5md", "reduced_units").empty()) return;
        for (const char* name : {"position", "velocity", "box/edges", "box/offset", "position/time", "velocity/time"})
            check_unit(name);
    }
    // In a dataset, or in the dataset of a group; the unit stands at either.
    void check_unit(const std::string& name) {
        const std::string path = elements_.group() + "/" + name;
        for (const std::string& named : {path, path + "/value"}) {
            const std::string object = elements_.file().soft_target(named);
            if (elements_.file().kind(object) == Kind::absent) continue;
            const std::string unit = elements_.file().text_attribute(object, "unit");
            if (!is_reduced_unit(unit))
                elements_.refuse(
                    fmt::format("{} has the unit {}, and numbers here are in units of sigma and tau", object, unit),
                    "convert them, or remove the attribute `unit` where they are in reduced units");
        }
    }
    void check_bonds() {
        comm::NumberFile& file = elements_.file();
        if (file.kind("/connectivity") != Kind::group) return;
        for (const std::string& name : file.names("/connectivity")) {
            std::string path = "/connectivity/" + name;
            if (file.kind(path) == Kind::group) path += "/value";
            if (file.kind(path) != Kind::dataset) continue;
            const Numbers& shape = file.shape(path);
            if (std::ranges::find(shape, 0) == shape.end())
                elements_.refuse(fmt::format("{} holds bonds, and particles here are points without bonds", path),
                                 "give a file without /connectivity");
        }
    }
    // Elements that nothing here reads.
    void note_others() {
        constexpr std::array<std::string_view, 10> known{"position", "velocity", "force",  "image", "id",
                                                         "species",  "mass",     "charge", "box",   "momentum"};
        std::vector<std::string> others;
        for (const std::string& name : elements_.file().names(elements_.group()))
            if (std::ranges::find(known, name) == known.end()) others.push_back(printable(name));
        constexpr std::size_t most = 4;
        if (others.size() > most) others.resize(most), others.emplace_back("...");
        if (!others.empty())
            elements_.notes.push_back(
                fmt::format("{} of {} not used", fmt::join(others, ", "), printable(elements_.group())));
        if (!velocity_ && elements_.file().kind(elements_.group() + "/momentum") != Kind::absent)
            elements_.notes.push_back(fmt::format("{} holds momentum and no velocity: particles start at rest",
                                                  printable(elements_.group())));
    }
    // One number for each particle, or one for all.
    std::optional<H5mdElement> of_particles(const std::string& name) {
        return elements_.at_frame(name, {{head_.particles}, {}, {1}}, Holds::from_its_step_on);
    }
    void read_box() {
        const std::int64_t axes = position_.shape[1];
        if (const auto edges = elements_.at_frame("box/edges", {{axes}, {axes, axes}}, Holds::from_its_step_on)) {
            const std::vector<double> e = elements_.whole(*edges);
            const bool matrix = edges->shape.size() == 2;
            for (std::int64_t a = 0; a < axes; ++a) {
                head_.length[a] = matrix ? e[a * axes + a] : e[a];
                for (std::int64_t b = 0; matrix && b < axes; ++b)
                    if (a != b && e[a * axes + b] != 0)
                        elements_.refuse(fmt::format("its box is triclinic ({})", edges->path),
                                         "give a rectangular one");
            }
        }
        if (const auto offset = elements_.at_frame("box/offset", {{axes}}, Holds::from_its_step_on)) {
            const std::vector<double> o = elements_.whole(*offset);
            std::copy(o.begin(), o.end(), head_.lower.begin());
        }
    }
    // The integers of a checkpoint, in place of the numbers that H5MD has for others. A checkpoint has one frame.
    bool take_exact() {
        comm::NumberFile& file = elements_.file();
        if (position_.frames > 1 || file.kind("/exact/id") != Kind::dataset ||
            file.kind("/exact/state") != Kind::dataset)
            return false;
        const Numbers &id = file.shape("/exact/id"), &state = file.shape("/exact/state");
        if (id != Numbers{head_.particles} || state.size() != 2 || state[0] != head_.particles ||
            (state[1] != 4 && state[1] != 6))
            elements_.refuse("its /exact does not fit its positions", "use another checkpoint");
        if (!file.integers("/exact/id") || !file.integers("/exact/state"))
            elements_.refuse("its /exact holds no whole numbers", "use another checkpoint");
        head_.dimensions = static_cast<int>(state[1] / 2);
        id_ = H5mdElement{"/exact/id", "/exact/id", false, id};
        position_ = H5mdElement{"/exact/state", "/exact/state", false, state};
        return true;
    }
    // The species, masses and charges of the next n particles.
    void check_kinds(std::int64_t n) {
        const Numbers each{head_.particles};
        if (species_ && species_->shape == each)
            for (const std::int64_t kind : elements_.whole_rows(*species_, read_, n)) {
                if (kind != kind_of_all_.value_or(kind))
                    elements_.refuse(
                        fmt::format("particles of species {} and {} ({})", *kind_of_all_, kind, species_->path),
                        "give a file of one type");
                kind_of_all_ = kind;
            }
        if (mass_)
            for (const double mass :
                 mass_->shape == each ? elements_.real_rows(*mass_, read_, n) : elements_.whole(*mass_))
                check_mass(mass);
        if (charge_ && !charged_) read_charges(n);
    }
    void check_mass(double mass) const {
        if (mass != 1)
            elements_.refuse(fmt::format("particles of mass {} ({})", mass, mass_->path),
                             "use reduced units, where it is 1");
    }
    void read_charges(std::int64_t n) {
        const bool each = charge_->shape == Numbers{head_.particles};
        const std::vector<double> charges = each ? elements_.real_rows(*charge_, read_, n) : elements_.whole(*charge_);
        charged_ = std::ranges::any_of(charges, [](double q) { return q != 0; });
        if (charged_)
            elements_.notes.push_back(fmt::format("the charges of {} are not used", printable(charge_->path)));
    }

    H5mdElements elements_;
    H5mdElement position_;
    std::optional<H5mdElement> velocity_, id_, species_, mass_, charge_;
    std::optional<std::int64_t> kind_of_all_;
    bool exact_ = false, charged_ = false;
    std::int64_t read_ = 0;
};

}  // namespace

std::unique_ptr<ParticleSource> open_h5md(const md::StateFile& file) { return std::make_unique<H5md>(file); }

}  // namespace app

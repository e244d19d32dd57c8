// SPDX-License-Identifier: MIT
// LAMMPS dumps in text (dump atom, dump custom): frames one after the other, each with its box and the names of its
// columns. The wanted frame is found by going through those before it line by line.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "app/state/particle_source.hpp"
#include "app/state/text_lines.hpp"

namespace app {
namespace {

class LammpsDump final : public ParticleSource {
public:
    explicit LammpsDump(const md::StateFile& file) : lines_(file.file) {
        std::optional<TextLines::Place> wanted;
        std::int64_t frame = 0;
        for (TextLines::Place here; !wanted; ++frame) {
            const TextLines::Place start = lines_.place();
            const bool there = read_head(false);
            if (!there && frame == 0) lines_.refuse_file("holds no frame", "give a whole file");
            if (!there && file.frame)
                lines_.refuse_file(fmt::format("has frames 0 to {}, not {}", frame - 1, *file.frame),
                                   "name one of them");
            if (!there) wanted = here;
            else if (file.frame && frame == *file.frame) wanted = start;
            here = start;
            for (std::int64_t i = 0; there && !wanted && i < head_.particles; ++i)
                if (!lines_.next())
                    lines_.refuse_file(
                        fmt::format("ends inside its frame {}, after {} of {} atoms", frame, i, head_.particles),
                        frame > 0 ? fmt::format("give a whole file, or name frame: {}", frame - 1)
                                  : "give a whole file");
        }
        lines_.seek(*wanted);
        read_head(true);
        choose_columns();
    }
    SourcePiece next() override {
        SourcePiece piece;
        for (; read_ < head_.particles && std::ssize(piece.rows) < piece_rows; ++read_) {
            line();
            if (words_.size() != columns_.size())
                lines_.refuse(fmt::format("{} words for {} columns", words_.size(), columns_.size()), "mend the file");
            const auto id = id_ < 0 ? std::optional(read_) : whole_number(words_[id_]);
            if (!id) lines_.refuse("the id is no whole number", "mend the file");
            check_kinds();
            md::Particle<3> p{*id, {}, {}};
            for (int a = 0; a < 3; ++a) {
                const double x = value(position_[a].column);
                p.x[a] = quanta(position_[a].scaled ? head_.lower[a] + x * head_.length[a] : x);
                if (velocity_[a] >= 0) p.v[a] = quanta(value(velocity_[a]));
            }
            piece.rows.push_back(p);
        }
        if (piece.rows.empty() && lines_.open_end()) notes_.emplace_back(no_line_feed);
        return piece;
    }

private:
    // Reads the lines before the particles of a frame. Returns false at the end of the file. A frame that is not wanted
    // is skipped, so it may have no particles and any kind of box. LAMMPS writes the units only into the first frame.
    bool read_head(bool wanted) {
        bool box = false, counted = false;
        head_.particles = 0;
        do {
            const auto next = lines_.next();
            if (!next) return false;
            split(*next, words_);
        } while (words_.empty());
        for (;; line()) {
            if (words_.size() < 2 || words_[0] != "ITEM:")
                lines_.refuse("no line ITEM: where a frame begins or goes on", "mend the file");
            if (words_[1] == "ATOMS") break;
            if (words_[1] == "NUMBER") {
                line();
                const auto n = words_.size() == 1 ? whole_number(words_[0]) : std::nullopt;
                if (!n || *n < (wanted ? 1 : 0))
                    lines_.refuse("the number of atoms must be at least 1", "give a frame of particles");
                head_.particles = *n;
                counted = true;
            } else if (words_[1] == "BOX") {
                for (int a = 0; !wanted && a < 3; ++a) line();
                if (wanted) read_box();
                box = true;
            } else {
                const bool units = words_[1] == "UNITS";
                line();
                if (units && (words_.empty() || words_[0] != "lj"))
                    lines_.refuse("the units are not lj", "convert it with scripts/import_state.py");
            }
        }
        columns_.assign(words_.begin() + 2, words_.end());
        if (!counted || (wanted && !box)) lines_.refuse("a frame without number of atoms or box", "mend the file");
        constexpr std::int64_t shortest_row = 6;
        if (head_.particles > lines_.size() / shortest_row)
            lines_.refuse(fmt::format("a frame announces {} atoms, which the file's {} bytes cannot hold",
                                      head_.particles, lines_.size()),
                          "give a whole file");
        return true;
    }
    // Reads the words of a line that has to be there.
    void line() {
        const auto found = lines_.next();
        if (!found) lines_.refuse_file("ends inside a frame", "give a whole file, or name an earlier frame");
        split(*found, words_);
    }
    void read_box() {
        if (words_.size() > 3 && words_[3] == "abc")
            lines_.refuse("the box is in the general triclinic form (abc origin)",
                          "dump it with dump_modify triclinic/general no");
        for (int a = 0; a < 3; ++a) {
            line();
            std::array<double, 3> numbers{};
            for (std::size_t k = 0; k < std::min<std::size_t>(3, words_.size()); ++k) {
                const auto x = real_number(words_[k]);
                if (!x) lines_.refuse("a bound of the box is no number", "mend the file");
                numbers[k] = *x;
            }
            if (words_.size() < 2)
                lines_.refuse("a line of BOX BOUNDS is its lower and its upper end", "mend the file");
            if (numbers[2] != 0) lines_.refuse("the box is triclinic", "give a rectangular one");
            head_.lower[a] = numbers[0];
            head_.length[a] = numbers[1] - numbers[0];
        }
    }
    void choose_columns() {
        const auto column = [&](const std::string& name) {
            const auto at = std::ranges::find(columns_, name);
            return at == columns_.end() ? -1 : static_cast<int>(at - columns_.begin());
        };
        id_ = column("id");
        mass_ = column("mass");
        for (const char* name : {"type", "typelabel", "element"})
            if (column(name) >= 0) kinds_.push_back({column(name), name, {}});
        constexpr std::array<std::pair<const char*, double>, 8> unused{
            {{"q", 0}, {"mol", 0}, {"mu", 0}, {"mux", 0}, {"muy", 0}, {"muz", 0}, {"radius", 0.5}, {"diameter", 1}}};
        for (const auto& [name, neutral] : unused)
            if (column(name) >= 0) unused_.push_back({column(name), neutral});
        for (int a = 0; a < 3; ++a) {
            const std::string axis(1, "xyz"[a]);
            for (const char* form : {"", "u", "s", "su"})
                if (position_[a].column < 0) position_[a] = {column(axis + form), *form == 's'};
            velocity_[a] = column("v" + axis);
            if (position_[a].column < 0)
                lines_.refuse(fmt::format("no column of positions along {} among {}", axis, fmt::join(columns_, " ")),
                              fmt::format("dump {0}, {0}u, {0}s or {0}su", axis));
        }
        const auto there = std::ranges::count_if(velocity_, [](int c) { return c >= 0; });
        if (there != 0 && there != 3) lines_.refuse("not all of the columns vx, vy, vz", "dump all of them, or none");
    }
    // Particles are of one type and of mass 1. A note names other columns that tell particles apart.
    void check_kinds() {
        for (Kind& kind : kinds_) {
            const std::string_view word = words_[kind.column];
            if (kind.of_all == word) continue;
            if (!kind.of_all.empty())
                lines_.refuse(fmt::format("particles of {}s {} and {}", kind.name, kind.of_all, word),
                              "dump a group of one type");
            kind.of_all = word;
        }
        if (mass_ >= 0 && value(mass_) != 1)
            lines_.refuse(fmt::format("particles of mass {}", words_[mass_]), "use reduced units, where it is 1");
        std::erase_if(unused_, [&](const Unused& u) {
            const auto x = real_number(words_[u.column]);
            if (x && (*x == u.neutral || *x == 0)) return false;
            notes_.push_back(fmt::format("the column {} is not used", columns_[u.column]));
            return true;
        });
    }
    double value(int column) const {
        const auto x = real_number(words_[column]);
        if (!x) lines_.refuse(fmt::format("column {} is no number", columns_[column]), "mend the file");
        return *x;
    }

    TextLines lines_;
    std::vector<std::string_view> words_;
    std::vector<std::string> columns_;
    struct Coordinate {
        int column = -1;
        bool scaled = false;  // true: 0 is the lower end of the box, 1 its upper end
    };
    std::array<Coordinate, 3> position_;
    std::array<int, 3> velocity_{-1, -1, -1};
    int id_ = -1, mass_ = -1;
    struct Kind {
        int column;
        std::string_view name;
        std::string of_all;
    };
    std::vector<Kind> kinds_;  // columns that must have one value for all particles
    struct Unused {
        int column;
        double neutral;
    };
    std::vector<Unused> unused_;  // columns that were neutral so far
    std::int64_t read_ = 0;
};

}  // namespace

std::unique_ptr<ParticleSource> open_lammps_dump(const md::StateFile& file) {
    return std::make_unique<LammpsDump>(file);
}

}  // namespace app

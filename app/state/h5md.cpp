// SPDX-License-Identifier: MIT
// H5MD files of any writer (de Buyl, Colberg, Hofling 2014). An element is a group of value, step and perhaps time, or,
// where it does not change, a dataset. Checkpoints of ours hold the exact integers besides, which are taken.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>

#include "app/common/errors.hpp"
#include "app/deck/wording.hpp"
#include "app/state/particle_source.hpp"
#include "comm/file/number_file.hpp"

namespace app {
namespace {

using Kind = comm::NumberFile::Kind;
using Numbers = std::vector<std::int64_t>;

struct Element {
    std::string path, value;  // value: its dataset
    bool timed = false;
    Numbers shape;  // without the frames
    std::int64_t frames = 1, frame = 0;
};

class H5md final : public ParticleSource {
public:
    explicit H5md(const md::StateFile& file);
    SourcePiece next() override;

private:
    [[noreturn]] void refuse(const std::string& what, const std::string& remedy) const {
        throw InputError(fmt::format("{}: {}; {}", path_, printable(what), remedy));
    }
    std::string group() const;
    std::optional<Element> element(const std::string& name);
    std::optional<std::int64_t> step_of(const Element& e, std::int64_t frame);
    void choose_frame(Element& e);
    std::optional<Element> of_frame(const std::string& name, const Numbers& shape);
    void read_box();
    bool take_exact();
    template <class T>
    std::vector<T> rows(const Element& e, std::int64_t n);
    std::vector<double> whole(const Element& e);

    std::string path_, group_;
    comm::NumberFile file_;
    std::optional<std::int64_t> wanted_;
    Element position_;
    std::optional<Element> velocity_, id_, species_;
    std::optional<std::int64_t> kind_of_all_;
    bool exact_ = false;
    std::int64_t read_ = 0;
};

// The particles: those called `all`, or the only ones.
std::string H5md::group() const {
    if (file_.kind("/particles") != Kind::group) refuse("is an HDF5 file without /particles", "give one in H5MD");
    if (file_.kind("/particles/all") == Kind::group) return "/particles/all";
    const std::vector<std::string> names = file_.names("/particles");
    if (names.empty()) refuse("/particles is empty", "give a file that holds particles");
    if (names.size() > 1)
        refuse(fmt::format("/particles holds the groups {}",
                           printable(fmt::format("{}", fmt::join(names.begin(), names.begin() + 2, ", ")))),
               "call the wanted one `all`, or leave one");
    return "/particles/" + names[0];
}

std::optional<Element> H5md::element(const std::string& name) {
    Element e{group_ + "/" + name, {}, false, {}};
    const Kind kind = file_.kind(e.path);
    if (kind == Kind::absent) return std::nullopt;
    e.timed = kind == Kind::group;
    e.value = e.timed ? e.path + "/value" : e.path;
    if (e.timed && file_.kind(e.value) != Kind::dataset) return std::nullopt;
    e.shape = file_.shape(e.value);
    if (e.timed && !e.shape.empty()) {
        e.frames = e.shape.front();
        e.shape.erase(e.shape.begin());
    }
    return e;
}

// Steps are a list, or, at regular intervals, one number.
std::optional<std::int64_t> H5md::step_of(const Element& e, std::int64_t frame) {
    const std::string path = e.path + "/step";
    if (!e.timed || file_.kind(path) != Kind::dataset) return std::nullopt;
    const Numbers& shape = file_.shape(path);
    std::int64_t step = 0;
    if (shape.empty()) {
        file_.read(path, {}, {}, std::span(&step, 1));
        std::int64_t product = 0;
        return __builtin_mul_overflow(step, frame, &product) ? std::nullopt : std::optional(product);
    }
    if (shape.size() != 1 || shape[0] <= frame) return std::nullopt;
    file_.read(path, Numbers{frame}, Numbers{1}, std::span(&step, 1));
    return step;
}

// That of the positions' step.
void H5md::choose_frame(Element& e) {
    if (!e.timed) return;
    const auto step = step_of(position_, position_.frame);
    if (e.frames == position_.frames && step_of(e, position_.frame) == step) {
        e.frame = position_.frame;
        return;
    }
    constexpr std::int64_t most_frames = 1 << 20;  // that are looked through
    for (e.frame = 0; step && e.frame < std::min(e.frames, most_frames); ++e.frame)
        if (step_of(e, e.frame) == step) return;
    refuse(fmt::format("{} has no frame of the step of frame {} of the positions", e.path, position_.frame),
           "name another frame");
}

std::optional<Element> H5md::of_frame(const std::string& name, const Numbers& shape) {
    std::optional<Element> e = element(name);
    if (!e) return e;
    if (!shape.empty() && e->shape != shape)
        refuse(fmt::format("{} has the shape [{}], where the positions ask for [{}]", e->value,
                           fmt::join(e->shape, ", "), fmt::join(shape, ", ")),
               "mend the file");
    choose_frame(*e);
    return e;
}

template <class T>
std::vector<T> H5md::rows(const Element& e, std::int64_t n) {
    Numbers first(e.shape.size(), 0), count = e.shape;
    first[0] = read_;
    count[0] = n;
    if (e.timed) first.insert(first.begin(), e.frame), count.insert(count.begin(), 1);
    std::vector<T> out(n * (e.shape.size() > 1 ? e.shape[1] : 1));
    file_.read(e.value, first, count, std::span<T>(out));
    return out;
}

std::vector<double> H5md::whole(const Element& e) {
    Numbers first(e.shape.size(), 0), count = e.shape;
    std::int64_t n = 1;
    for (const std::int64_t k : count) n *= k;
    if (n > 9) refuse(fmt::format("{} holds {} numbers", e.value, n), "give lengths of the box, or its edges");
    if (e.timed) first.insert(first.begin(), e.frame), count.insert(count.begin(), 1);
    std::vector<double> out(n);
    file_.read(e.value, first, count, std::span(out));
    return out;
}

void H5md::read_box() {
    const std::int64_t axes = position_.shape[1];
    if (const auto edges = of_frame("box/edges", {})) {
        const std::vector<double> e = whole(*edges);
        const bool matrix = edges->shape == Numbers{axes, axes};
        if (!matrix && edges->shape != Numbers{axes})
            refuse(fmt::format("{} has the shape [{}]", edges->value, fmt::join(edges->shape, ", ")),
                   fmt::format("give [{0}] or [{0}, {0}]", axes));
        for (std::int64_t a = 0; a < axes; ++a) {
            head_.length[a] = matrix ? e[a * axes + a] : e[a];
            for (std::int64_t b = 0; matrix && b < axes; ++b)
                if (a != b && e[a * axes + b] != 0) refuse("its box is triclinic", "give a rectangular one");
        }
    }
    if (const auto offset = of_frame("box/offset", {axes})) {
        const std::vector<double> o = whole(*offset);
        std::copy(o.begin(), o.end(), head_.lower.begin());
    }
}

// The integers of a checkpoint, in place of the numbers that H5MD has for others.
bool H5md::take_exact() {
    if (file_.kind("/exact/id") != Kind::dataset || file_.kind("/exact/state") != Kind::dataset) return false;
    const Numbers &id = file_.shape("/exact/id"), &state = file_.shape("/exact/state");
    if (id != Numbers{head_.particles} || state.size() != 2 || state[0] != head_.particles ||
        (state[1] != 4 && state[1] != 6))
        refuse("its /exact does not fit its positions", "use another checkpoint");
    head_.dimensions = static_cast<int>(state[1] / 2);
    id_ = Element{"/exact/id", "/exact/id", false, id};
    position_ = Element{"/exact/state", "/exact/state", false, state};
    return true;
}

H5md::H5md(const md::StateFile& file) : path_(file.file), file_(path_), wanted_(file.frame) {
    group_ = group();
    const std::optional<Element> position = element("position");
    if (!position) refuse(fmt::format("{} holds no position", group_), "give a file with positions");
    position_ = *position;
    if (position_.shape.size() != 2 || position_.shape[1] < 2 || position_.shape[1] > 3)
        refuse(fmt::format("{} is no list of vectors of 2 or 3", position_.value), "mend the file");
    if (position_.frames < 1 || position_.shape[0] < 1) refuse("holds no particles", "give a file that does");
    position_.frame = wanted_.value_or(position_.frames - 1);
    if (position_.frame >= position_.frames)
        refuse(fmt::format("has frames 0 to {}, not {}", position_.frames - 1, position_.frame), "name one of them");
    head_.particles = position_.shape[0];
    head_.dimensions = static_cast<int>(position_.shape[1]);
    velocity_ = of_frame("velocity", position_.shape);
    id_ = of_frame("id", {head_.particles});
    species_ = of_frame("species", {});
    if (species_ && species_->shape != Numbers{head_.particles}) species_.reset();  // one for all
    read_box();
    exact_ = take_exact();
}

SourcePiece H5md::next() {
    const std::int64_t n = std::min(piece_rows, head_.particles - read_), axes = position_.shape[1];
    SourcePiece piece;
    piece.rows.resize(n);
    if (n == 0) return piece;
    const std::vector<std::int64_t> id = id_ ? rows<std::int64_t>(*id_, n) : Numbers{};
    for (std::int64_t i = 0; i < n; ++i) piece.rows[i] = {id_ ? id[i] : read_ + i, {}, {}};
    if (species_)
        for (const std::int64_t kind : rows<std::int64_t>(*species_, n)) {
            if (kind != kind_of_all_.value_or(kind))
                refuse(fmt::format("particles of species {} and {}", *kind_of_all_, kind), "give a file of one type");
            kind_of_all_ = kind;
        }
    if (exact_) {
        const std::vector<std::int64_t> state = rows<std::int64_t>(position_, n);
        for (std::int64_t i = 0; i < n; ++i)
            for (std::int64_t a = 0; a < head_.dimensions; ++a) {
                piece.rows[i].x[a] = state[i * axes + a];
                piece.rows[i].v[a] = state[i * axes + head_.dimensions + a];
            }
    } else {
        const std::vector<double> x = rows<double>(position_, n),
                                  v = velocity_ ? rows<double>(*velocity_, n) : std::vector<double>(x.size(), 0.0);
        for (std::int64_t i = 0; i < n; ++i)
            for (std::int64_t a = 0; a < axes; ++a) {
                piece.rows[i].x[a] = quanta(x[i * axes + a]);
                piece.rows[i].v[a] = quanta(v[i * axes + a]);
            }
    }
    read_ += n;
    return piece;
}

}  // namespace

std::unique_ptr<ParticleSource> open_h5md(const md::StateFile& file) { return std::make_unique<H5md>(file); }

}  // namespace app

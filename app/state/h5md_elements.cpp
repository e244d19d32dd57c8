// SPDX-License-Identifier: MIT
// Elements have steps of their own: a list, or at regular intervals one number with an offset, or none. A frame is
// found by its step. Its number counts only if the element or the positions have no steps, and both have as many
// frames.
#include "app/state/h5md_elements.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "app/common/errors.hpp"
#include "app/common/words.hpp"
#include "app/deck/wording.hpp"
#include "app/state/text_lines.hpp"

namespace app {
namespace {

using Kind = comm::NumberFile::Kind;
constexpr std::int64_t most_frames = 1 << 20;  // that are looked through

// The part of an element's dataset that holds n rows of its frame.
struct Rows {
    Numbers first, count;
    std::int64_t numbers = 1;  // in all

    Rows(const H5mdElement& e, std::int64_t first_row, std::int64_t n) : first(e.shape.size(), 0), count(e.shape) {
        if (!count.empty()) first[0] = first_row, count[0] = n;
        for (const std::int64_t k : count) numbers *= k;
        if (e.timed) first.insert(first.begin(), e.frame), count.insert(count.begin(), 1);
    }
};

// "a, b, ...": the first of many names.
std::string beginning_of(const std::vector<std::string>& names) {
    constexpr std::size_t most = 4;
    const auto end = names.begin() + std::min(most, names.size());
    return printable(fmt::format("{}{}", fmt::join(names.begin(), end, ", "), names.size() > most ? ", ..." : ""));
}

}  // namespace

std::optional<std::size_t> last_until(std::span<const std::int64_t> steps, std::int64_t step) {
    std::optional<std::size_t> found;
    for (std::size_t k = 0; k < steps.size(); ++k)
        if (steps[k] <= step && (!found || steps[k] >= steps[*found])) found = k;
    return found;
}

bool is_reduced_unit(const std::string& unit) {
    constexpr std::array<std::string_view, 7> reduced{"sigma",   "tau",           "epsilon", "lj",
                                                      "reduced", "dimensionless", "units"};
    constexpr std::string_view others = "0123456789 -+^*/._()";
    std::string letters = in_lower_case(unit);
    for (char& c : letters) {
        if (others.find(c) != std::string_view::npos) c = ' ';
        else if (c < 'a' || c > 'z') return false;
    }
    std::vector<std::string_view> words;
    split(letters, words);
    return std::ranges::all_of(
        words, [&](std::string_view word) { return std::ranges::find(reduced, word) != reduced.end(); });
}

void H5mdElements::refuse(const std::string& what, const std::string& remedy) const {
    throw InputError("{}: {}; {}", path_, printable(what), remedy);
}

H5mdElements::H5mdElements(const md::StateFile& file) : path_(file.file), file_(path_) {
    group_ = find_group(file.group);
    find_position(file);
}

std::string H5mdElements::find_group(const std::string& wanted) const {
    if (file_.kind("/particles") != Kind::group) refuse("is an HDF5 file without /particles", "give one in H5MD");
    const std::vector<std::string> names = file_.names("/particles");
    if (names.empty()) refuse("/particles is empty", "give a file that holds particles");
    std::string name = wanted;
    if (name.empty() && file_.kind("/particles/all") == Kind::group) name = "all";
    if (name.empty() && names.size() == 1) name = names[0];
    if (name.empty())
        refuse(fmt::format("/particles holds the groups {}", beginning_of(names)),
               fmt::format("name one beside the file, as in group: {}", printable(names[0])));
    if (name.find('/') != std::string::npos || file_.kind("/particles/" + name) != Kind::group)
        refuse(fmt::format("/particles holds no group {}, but {}", name, beginning_of(names)), "name one of these");
    return "/particles/" + name;
}

void H5mdElements::find_position(const md::StateFile& file) {
    const std::string name = group_ + "/position";
    const std::string value = file_.kind(name) == Kind::group ? name + "/value" : name;
    if (file_.kind(value) != Kind::dataset)
        refuse(fmt::format("{} holds no position", group_), "give a file with positions");
    position_ = {name, value, false, file_.shape(value)};
    if (value != name && position_.shape.size() == 3) {
        position_.timed = true;
        position_.frames = position_.shape.front();
        position_.shape.erase(position_.shape.begin());
    }
    if (position_.shape.size() != 2 || position_.shape[1] < 2 || position_.shape[1] > 3)
        refuse(fmt::format("{} is no list of vectors of 2 or 3", value), "mend the file");
    if (position_.frames < 1 || position_.shape[0] < 1) refuse("holds no particles", "give a file that does");
    position_.frame = file.frame.value_or(position_.frames - 1);
    if (position_.frame >= position_.frames)
        refuse(fmt::format("has frames 0 to {}, not {}", position_.frames - 1, position_.frame), "name one of them");
}

// A group without steps may hold a value that is fixed. Then its extents are those of no frames.
std::optional<H5mdElement> H5mdElements::find(const std::string& name, std::initializer_list<Numbers> shapes) {
    H5mdElement e{group_ + "/" + name, {}, false, {}};
    const Kind kind = file_.kind(e.path);
    if (kind == Kind::absent) return std::nullopt;
    e.value = kind == Kind::group ? e.path + "/value" : e.path;
    if (file_.kind(e.value) != Kind::dataset) {
        notes.push_back(fmt::format("{} holds no dataset `value` and is not used", printable(e.path)));
        return std::nullopt;
    }
    e.shape = file_.shape(e.value);
    const auto fits = [&](const Numbers& shape) { return std::ranges::find(shapes, shape) != shapes.end(); };
    const Numbers inner(e.shape.begin() + !e.shape.empty(), e.shape.end());
    const bool still = fits(e.shape), timed = kind == Kind::group && !e.shape.empty() && fits(inner);
    if (!still && !timed) {
        const Numbers& one = *shapes.begin();
        refuse(fmt::format("{} has the shape [{}], where the positions ask for [{}]{}", e.value,
                           fmt::join(e.shape, ", "), fmt::join(one, ", "), kind == Kind::group ? " in each frame" : ""),
               "mend the file");
    }
    if (!timed || (still && !(e.shape.size() == 2 && !is_matrix(e)))) return e;
    e.timed = true;
    e.frames = e.shape.front();
    e.shape = inner;
    if (e.frames < 1) refuse(fmt::format("{} has no frame", e.path), "mend the file");
    return e;
}

// Elements that are written together may share the steps of one of them, by a link.
std::string H5mdElements::step_path(const H5mdElement& e) const {
    const std::string path = e.path + "/step", target = file_.soft_target(path);
    return target != path && file_.kind(target) == Kind::dataset ? target : path;
}

// [3, 3] is a matrix of the box, or its lengths in three frames, none of which is 0.
bool H5mdElements::is_matrix(const H5mdElement& e) {
    const std::vector<double> numbers = whole(e);
    const std::string step = step_path(e);
    const bool steps = file_.kind(step) == Kind::dataset;
    const bool as_many =
        steps ? file_.shape(step).empty() || file_.shape(step) == Numbers{e.shape[0]} : position_.frames == e.shape[0];
    return !as_many || std::ranges::any_of(numbers, [](double x) { return x == 0; });
}

std::vector<double> H5mdElements::whole(const H5mdElement& e) {
    const std::int64_t rows = e.shape.empty() ? 1 : e.shape[0];
    if (const std::int64_t n = Rows(e, 0, rows).numbers; n > 9)
        refuse(fmt::format("{} holds {} numbers", e.value, n), "mend the file");
    return real_rows(e, 0, rows);
}

std::vector<double> H5mdElements::real_rows(const H5mdElement& e, std::int64_t first_row, std::int64_t n) {
    const Rows rows(e, first_row, n);
    std::vector<double> out(rows.numbers);
    file_.read(e.value, rows.first, rows.count, std::span(out));
    return out;
}

std::vector<std::int64_t> H5mdElements::whole_rows(const H5mdElement& e, std::int64_t first_row, std::int64_t n) {
    const Rows rows(e, first_row, n);
    return integers(e.value, rows.first, rows.count);
}

// Some writers store all numbers as floating-point ones.
std::vector<std::int64_t> H5mdElements::integers(const std::string& dataset, const Numbers& first,
                                                 const Numbers& count) {
    std::int64_t n = 1;
    for (const std::int64_t k : count) n *= k;
    std::vector<std::int64_t> out(n);
    if (file_.integers(dataset)) {
        file_.read(dataset, first, count, std::span(out));
        return out;
    }
    std::vector<double> numbers(n);
    file_.read(dataset, first, count, std::span(numbers));
    constexpr double most = 1LL << 53;
    for (std::int64_t i = 0; i < n; ++i) {
        if (!(std::abs(numbers[i]) <= most && numbers[i] == std::floor(numbers[i])))
            refuse(fmt::format("{} holds {}, which is no whole number", dataset, numbers[i]), "mend the file");
        out[i] = static_cast<std::int64_t>(numbers[i]);
    }
    return out;
}

// How many frames of an element have a step; 0 where it says none. A value without frames may have one step.
std::int64_t H5mdElements::stepped_frames(const H5mdElement& e) {
    const std::string path = step_path(e);
    if (e.value == e.path || file_.kind(path) != Kind::dataset) return 0;
    const Numbers& shape = file_.shape(path);
    if (!e.timed && !shape.empty() && shape != Numbers{1}) return 0;
    if (shape.size() > 1 || shape == Numbers{0}) refuse(fmt::format("{} is no list of steps", path), "mend the file");
    return shape.empty() ? e.frames : std::min(e.frames, shape[0]);
}

std::int64_t H5mdElements::step_at(const H5mdElement& e, std::int64_t frame) {
    const std::string path = step_path(e);
    if (!file_.shape(path).empty()) return integers(path, {frame}, {1})[0];
    const std::int64_t between = integers(path, {}, {})[0], offset = file_.whole_attribute(path, "offset").value_or(0);
    std::int64_t step = 0;
    if (__builtin_mul_overflow(between, e.timed ? frame : 1, &step) || __builtin_add_overflow(step, offset, &step))
        refuse(fmt::format("{} gives frame {} a step beyond 2^63", path, frame), "mend the file");
    return step;
}

std::vector<std::int64_t> H5mdElements::steps_of(const H5mdElement& e) {
    const std::string path = step_path(e);
    const std::int64_t n = std::min(stepped_frames(e), most_frames);
    if (!file_.shape(path).empty()) return integers(path, {0}, {n});
    step_at(e, n - 1);  // which refuses those that no number holds
    std::vector<std::int64_t> steps{step_at(e, 0)};
    for (const std::int64_t between = n > 1 ? step_at(e, 1) - steps[0] : 0; std::ssize(steps) < n;)
        steps.push_back(steps.back() + between);
    return steps;
}

void H5mdElements::choose_by_step(H5mdElement& e, Holds holds) {
    const std::int64_t step = step_at(position_, position_.frame);
    e.frame = position_.frame;
    if (e.frame < stepped_frames(e) && step_at(e, e.frame) == step) return;
    const std::vector<std::int64_t> steps = steps_of(e);
    const auto found = last_until(steps, step);
    if (!found || (holds == Holds::at_its_step && steps[*found] != step)) refuse_step(e, steps, holds);
    e.frame = static_cast<std::int64_t>(*found);
    if (steps[*found] != step && e.frames > 1)
        notes.push_back(fmt::format("{} is not written at step {}; that of step {} is taken", printable(e.path), step,
                                    steps[*found]));
}

// The remedy names the last frame of the positions at which the element can be had.
void H5mdElements::refuse_step(const H5mdElement& e, std::vector<std::int64_t> steps, Holds holds) {
    const std::vector<std::int64_t> of_positions = steps_of(position_);
    std::ranges::sort(steps);
    std::int64_t frame = std::ssize(of_positions) - 1;
    const auto has = [&](std::int64_t step) {
        return holds == Holds::at_its_step ? std::ranges::binary_search(steps, step)
                                           : !steps.empty() && steps[0] <= step;
    };
    while (frame >= 0 && !has(of_positions[frame])) --frame;
    refuse(fmt::format("{} has no frame of the step of frame {} of the positions, {}", e.path, position_.frame,
                       step_at(position_, position_.frame)),
           frame >= 0 ? fmt::format("name frame: {} beside the file, the last that has one", frame)
                      : fmt::format("remove {} from the file", printable(e.path)));
}

// A value without frames holds always. But a velocity in a group may have a step of its own.
void H5mdElements::check_still(const H5mdElement& e, Holds holds) {
    if (holds != Holds::at_its_step) return;
    if (e.value == e.path) {
        if (position_.frames > 1) notes.push_back(fmt::format("{} is the same in all frames", printable(e.path)));
        return;
    }
    const bool has_step = stepped_frames(e) > 0 && stepped_frames(position_) > 0;
    if (!has_step && position_.frames == 1) return;
    if (!has_step || step_at(e, 0) != step_at(position_, position_.frame))
        refuse(fmt::format("{} has no frame of the step of frame {} of the positions", e.path, position_.frame),
               fmt::format("remove {} from the file", printable(e.path)));
}

void H5mdElements::choose_frame(H5mdElement& e, Holds holds) {
    if (!e.timed) return check_still(e, holds);
    const std::int64_t stepped = stepped_frames(e), of_positions = stepped_frames(position_);
    if (of_positions > 0 && position_.frame >= of_positions)
        refuse(fmt::format("{}/step holds {}, and the positions {}", position_.path, counted(of_positions, "step"),
                           counted(position_.frames, "frame")),
               fmt::format("name frame: {} beside the file", of_positions - 1));
    if (stepped > 0 && of_positions > 0) return choose_by_step(e, holds);
    if (e.frames == position_.frames) e.frame = position_.frame;
    else if (e.frames != 1 || holds == Holds::at_its_step)
        refuse(fmt::format("{} has {}, the positions {}, and not both have steps", e.path, counted(e.frames, "frame"),
                           counted(position_.frames, "frame")),
               fmt::format("write both with steps, or remove {}", printable(e.path)));
}

std::optional<H5mdElement> H5mdElements::at_frame(const std::string& name, std::initializer_list<Numbers> shapes,
                                                  Holds holds) {
    std::optional<H5mdElement> e = find(name, shapes);
    if (e) choose_frame(*e, holds);
    return e;
}

}  // namespace app

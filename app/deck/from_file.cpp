// SPDX-License-Identifier: MIT
#include "app/deck/from_file.hpp"

#include <fmt/format.h>

#include "app/deck/wording.hpp"
#include "md/domain.hpp"

namespace app {
namespace {

// The deck may name a longer box, which then has room behind the particles; lengths are compared as they are rounded.
void check_box(const Deck::System& s, const FoundState& found, const Where& where) {
    const int dimensions = s.given.at("system.box");
    if (dimensions == 2 && found.dimensions == 3)
        fail(where("system.box"), "two lengths for a file whose particles lie, or move, along z",
             "give three lengths, or leave the box out");
    for (int a = 0; a < dimensions; ++a)
        if (md::to_edge_units(s.box[a]) < md::to_edge_units(found.box[a]))
            fail(where(fmt::format("system.box.{}", a)),
                 fmt::format("the box is {} long along {}, and that of the file {}", s.box[a], "xyz"[a], found.box[a]),
                 "give at least this length, or leave the box out");
}

void take_box(Deck::System& s, const FoundState& found, const Where& where) {
    for (int a = 0; a < found.dimensions; ++a)
        if (found.box[a] <= 0)
            fail(where("system.from.file"), fmt::format("the file says no length of its box along {}", "xyz"[a]),
                 "give system.box");
    s.box = found.box;
    s.given["system.box"] = found.dimensions;
}

}  // namespace

std::optional<FoundState> found_by(const Deck& deck) {
    if (deck.system.from.file.empty()) return std::nullopt;
    return FoundState{deck.system.from, deck.system.dimensions, deck.system.box};
}

void complete_from(Deck::System& system, const FoundState* found, const Where& where) {
    md::StateFile& from = system.from;
    const bool has_box = system.given.contains("system.box");
    if (system.box_fit && !from.file.empty())
        fail(where("system.box"), "box: fit is for slabs", "leave the box out: it is that of the file");
    if (from.file.empty() || !found) {
        if (!has_box && !system.box_fit)
            fail(where("system.box"), "system.box is missing",
                 "give its lengths, as in box: [700.0, 300.0], or box: fit");
        if (!from.file.empty() && (from.digest.empty() || from.particles == 0))
            fail(where("system.from.file"), "nothing is known of what the file holds", "name digest and particles");
        return;
    }
    if (has_box) check_box(system, *found, where);
    else take_box(system, *found, where);
    if (from.digest.empty()) from.digest = found->state.digest;  // a restart compares one that is given
    from.particles = found->state.particles;
    from.fastest = found->state.fastest;
}

}  // namespace app

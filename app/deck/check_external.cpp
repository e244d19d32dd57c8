// SPDX-License-Identifier: MIT
// Whether what acts on particles besides each other fits the box and the steps.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/deck/checks.hpp"
#include "app/deck/wording.hpp"
#include "md/external.hpp"

namespace app {
namespace {

constexpr double least_quanta = 1000;  // so that what is rounded to a quantum is right to 1/2000

void check_gravity(const Deck& deck, const Where& where) {
    const Deck::System& s = deck.system;
    for (int a = 0; a < s.dimensions; ++a) {
        if (s.gravity[a] == 0) continue;
        const std::string at = where(fmt::format("system.gravity.{}", a));
        if (s.boundary[a] == md::Boundary::periodic)
            fail(at,
                 fmt::format("gravity along {}, where the box is periodic: particles would fall for ever", "xyz"[a]),
                 "write 0, or system.boundary: reflecting for this axis");
        const double least = least_quanta * md::velocity_unit / (deck.run.dt / 2);
        if (std::abs(s.gravity[a]) < least)
            fail(at, fmt::format("{:.6g} is so weak that its kicks of half a step would be rounded", s.gravity[a]),
                 fmt::format("write 0, or at least {:.3g} in size", least));
    }
}

void check_wall(const Deck& deck, std::size_t i, const Where& where) {
    const Deck::System& s = deck.system;
    const md::Wall& w = s.walls[i];
    const auto at = [&](const char* key) { return where(fmt::format("system.walls.{}.{}", i, key)); };
    const auto face = balance::word_of(w.face);
    if (w.axis() >= s.dimensions) fail(at("face"), fmt::format("there is no face {} in 2D", face), "use one of x or y");
    if (s.boundary[w.axis()] == md::Boundary::periodic)
        fail(at("face"), fmt::format("face {} has no wall: the box is periodic along {}", face, "xyz"[w.axis()]),
             "write system.boundary: reflecting for this axis, or remove the wall");
    for (std::size_t j = 0; j < i; ++j)
        if (s.walls[j].face == w.face) fail(at("face"), fmt::format("face {} is there twice", face), "name each once");
    if (!w.moves() && w.epsilon == 0)
        fail(at("face"), fmt::format("the wall at face {} does nothing but reflect", face),
             "give epsilon or velocity, or remove it: faces reflect by themselves");
    constexpr double most = 0.1;  // of a cell in a step
    if (w.velocity * deck.run.dt > most * deck.grid.cell)
        fail(at("velocity"), fmt::format("the face moves {:.3g} in a step", w.velocity * deck.run.dt),
             fmt::format("use at most {:.3g}, or a smaller run.dt", most * deck.grid.cell / deck.run.dt));
    if (w.moves() && w.velocity * deck.run.dt < least_quanta * md::position_unit)
        fail(at("velocity"), "the face moves less than 2^-30 in a step", "remove the wall, or use a larger velocity");
    if (w.moves() && w.to && *w.to <= w.from)
        fail(at("to"), "the face stops before it begins to move", "use a step beyond `from`");
}

// Faces that move must leave room between them.
void check_ways(const Deck& deck, const Where& where) {
    const Deck::System& s = deck.system;
    std::array<double, 3> way{0, 0, 0};
    for (std::size_t i = 0; i < s.walls.size(); ++i) {
        const md::Wall& w = s.walls[i];
        const std::int64_t end = std::min(w.to.value_or(deck.run.steps), deck.run.steps);
        way[w.axis()] += w.velocity * deck.run.dt * static_cast<double>(std::max<std::int64_t>(0, end - w.from));
        if (const double room = s.box[w.axis()] - deck.grid.cell; w.moves() && way[w.axis()] > room)
            fail(where(fmt::format("system.walls.{}.velocity", i)),
                 fmt::format("up to step {} faces move {:.6g} along {}, in a box of {:.6g}", deck.run.steps,
                             way[w.axis()], "xyz"[w.axis()], s.box[w.axis()]),
                 fmt::format("let them move {:.6g} at most, by a smaller velocity or an earlier `to`", room));
    }
}

void check_thermostat(const Deck& deck, const Where& where) {
    const md::Thermostat& t = deck.system.thermostat;
    if (t.kind == md::ThermostatKind::langevin && t.half_loss(deck.run.dt) >= 1)
        fail(where("system.thermostat.friction"),
             fmt::format("friction {:.6g} over {} steps of {:.6g} is more than velocities have", t.friction, t.every,
                         deck.run.dt),
             "make friction or every smaller: friction times every times dt must be below 2");
    if (t.kind != md::ThermostatKind::none && t.to && *t.to <= t.from)
        fail(where("system.thermostat.to"), "the thermostat ends before it begins", "use a step beyond `from`");
}

}  // namespace

void check_external(const Deck& deck, const Where& where) {
    check_gravity(deck, where);
    for (std::size_t i = 0; i < deck.system.walls.size(); ++i) check_wall(deck, i, where);
    check_ways(deck, where);
    check_thermostat(deck, where);
}

}  // namespace app

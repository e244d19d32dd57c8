// SPDX-License-Identifier: MIT
// The keys of the section system that say what acts on particles besides each other. A deck that names none of them has
// none of them in its effective deck.
#include <fmt/format.h>

#include "app/deck/deck.hpp"
#include "app/deck/key.hpp"

namespace app {
namespace {

Key gravity_key(Deck::System& s) {
    constexpr NumberRange range{-strongest_gravity, strongest_gravity};
    Key key = numbers_per_axis("gravity", s.gravity, s, range, "[0, -0.01]",
                               "acceleration, sigma / tau^2; 0 along periodic axes: docs/forces.md");
    key.text = [&s, text = std::move(key.text)] { return s.gravity == std::array<double, 3>{} ? "" : text(); };
    key.standard = "none";
    return key;
}

// A key that only some kinds of thermostat have; so does the effective deck.
Key with_kinds(const md::Thermostat& t, const std::vector<md::ThermostatKind>& kinds, Key key) {
    return unless(with_default(std::move(key)), unlike(t.kind, kinds, "is no key of kind {}"),
                  fmt::format("remove it, or write kind: {}", balance::word_of(kinds[0])));
}

std::vector<Key> thermostat_keys(md::Thermostat& t) {
    using enum md::ThermostatKind;
    const std::vector<md::ThermostatKind> all{langevin, rescale};
    Key kind = word("kind", t.kind, "langevin: friction and noise; rescale: one factor for all velocities");
    kind.standard = "`none`";
    kind.text = [&t, text = std::move(kind.text)] { return t.kind == none ? std::string() : text(); };
    return {
        std::move(kind),
        with_kinds(t, all, number("temperature", t.temperature, {0, hottest}, "epsilon / k")),
        with_kinds(t, {langevin}, number("friction", t.friction, {0, 1e6, true}, "1 / tau; with kind: langevin")),
        with_kinds(t, all, integer("every", t.every, 1, last_step, "steps between its actions")),
        with_kinds(t, all, integer("from", t.from, 0, last_step, "the first step at which it acts")),
        with_kinds(t, all,
                   integer("to", t.to, 0, last_step, "and the first at which it no longer does; null: none", "null")),
    };
}

constexpr double fastest_face = 1000;  // what it hits becomes up to twice as fast, and speeds end at 2048

// A wall has a potential or moves.
std::vector<Key> wall_keys(md::Wall& w, Deck::System&) {
    const auto of_potential = [&w](Key key) {
        return unless(
            with_default(std::move(key)), [&w] { return w.epsilon > 0 ? "" : "is there without epsilon"; },
            "give epsilon, or remove it");
    };
    const auto of_motion = [&w](Key key) {
        return unless(
            with_default(std::move(key)), [&w] { return w.moves() ? "" : "is there without velocity"; },
            "give velocity, or remove it");
    };
    Key velocity = unless(
        number("velocity", w.velocity, {0, fastest_face}, "with which it moves into the box, sigma / tau; 0: it rests"),
        [&w] { return w.epsilon > 0 ? "is there beside epsilon" : ""; }, "remove one: a face that moves only reflects");
    velocity.standard = "`0`";
    return {
        required(word("face", w.face, "2D: those of x and y"), "give it, as in face: y_lower"),
        number("epsilon", w.epsilon, {0, 1e6}, "of its 9-3 potential, energy; 0: it only reflects"),
        of_potential(number("sigma", w.sigma, {0.001, 1000}, "of its 9-3 potential, length")),
        of_potential(number(
            "cutoff", w.cutoff, {0, 1000, true},
            "where the potential ends, length; null: at its minimum, 0.858 sigma, so that it only repels", "null")),
        std::move(velocity),
        of_motion(integer("from", w.from, 0, last_step, "the first step at which it moves")),
        of_motion(integer("to", w.to, 0, last_step, "and the first at which it no longer does; null: none", "null")),
    };
}

}  // namespace

std::vector<Key> external_keys(Deck::System& s) {
    constexpr std::size_t faces = 6;
    return {
        gravity_key(s),
        section_list(
            "walls", s.walls, s, faces, wall_keys, "walls: [{face: y_lower, epsilon: 1}]",
            "faces that attract or repel, or move; the others of an axis that is not periodic reflect: docs/forces.md"),
        section("thermostat", "not reversible: docs/forces.md", thermostat_keys(s.thermostat)),
    };
}

}  // namespace app

// SPDX-License-Identifier: MIT
#include "app/run/start.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>

#include "app/run/close_pair.hpp"
#include "app/run/memory.hpp"
#include "app/state/state_file.hpp"
#include "md/closest.hpp"
#include "md/lattice.hpp"
#include "md/potential.hpp"
#include "md/profile.hpp"

namespace app {
namespace {

std::string short_number(double x) { return fmt::format("{:.3g}", x); }

// A length in tenths of sigma, rounded up.
std::string gap_of(const md::PotentialSpec& potential) {
    const double tenth = potential.sigma / 10;
    return short_number(std::ceil(md::calm_distance(potential) / tenth) * tenth);
}

std::string where(const md::ClosePair& p, const md::System& system) {
    return md::body_path(system, p.body[1]) + (p.in_lattice ? ".density" : "");
}

std::string what(const md::ClosePair& p, const md::System& system, const md::Body& first) {
    const auto name = [&](int i) { return md::body_name(system, p.body[i]); };
    if (p.in_lattice)
        return fmt::format("particles of {} are {} apart at its density of {}", name(0), short_number(p.distance),
                           short_number(first.density));
    std::string at = fmt::format("{:.6g}, {:.6g}", p.at[0], p.at[1]);
    if (system.dimensions == 3) at += fmt::format(", {:.6g}", p.at[2]);
    const bool slabs = p.body[1] < system.slabs.size();
    return fmt::format("{} are {} apart at [{}]{}",
                       p.body[0] == p.body[1] ? fmt::format("two particles of {}", name(0))
                       : slabs                ? fmt::format("particles of slabs {} and {}", p.body[0], p.body[1])
                                              : fmt::format("particles of {} and {}", name(0), name(1)),
                       short_number(p.distance), at, p.across_box ? ", across the periodic boundary" : "");
}

std::string advice(const md::ClosePair& p, const md::System& system, const md::Body& first) {
    if (p.in_lattice)
        return fmt::format("use a density of at most {}",
                           short_number(md::lattice_density(first.lattice, md::calm_distance(system.potential))));
    const std::string gap = gap_of(system.potential);
    const char* of_what = p.body[1] < system.slabs.size() ? "slab" : "body";
    if (p.body[0] != p.body[1] && !p.across_box)
        return fmt::format("leave a gap of {} between the {}", gap, p.body[1] < system.slabs.size() ? "slabs" : "two");
    if (p.body[0] != p.body[1]) return fmt::format("leave a gap of {} at the boundary", gap);
    if (first.fill == md::Fill::file)
        return fmt::format(
            "use a file that has relaxed in a periodic box, and let box and body be multiples of that one long, or "
            "leave "
            "a gap of {} at the boundary",
            gap);
    md::Body cell = first;
    cell.cells = {{1, 1, 1}};
    std::vector<std::string> sides;  // rounded down, or a layer more would begin at the end
    for (int a = 0; a < system.dimensions; ++a)
        sides.push_back(fmt::format("{:.3f}", std::floor(md::fitted_box(cell)[a] * 1000) / 1000));
    return fmt::format(
        "leave a gap of {} at the boundary, or let box and {} be multiples of the lattice's cell [{}] long, or fill "
        "the box with cells and box: fit",
        gap, of_what, fmt::join(sides, ", "));
}

// Indices of neighbours count from the first particle of the columns of cells around, or in three dimensions of the
// layers of columns, which are as high and wide as a tile.
void check_crowd(const Deck& deck, const Setup& setup) {
    constexpr double most = 65535, least_tile = 4;
    const std::span<const md::Axis> axes = setup.domain.axes();
    const int columns = 2 * md::cells_within(setup.radius(), axes[0].least_width()) + 1;
    const std::vector<md::Body> bodies = md::all_bodies(deck.system);
    for (std::size_t i = 0; i < bodies.size(); ++i) {
        const md::Body& body = bodies[i];
        double extent = 1;
        for (std::size_t a = 0; a < axes.size(); ++a)
            extent *= std::min((a == 0 ? columns : least_tile + 2 * setup.reach) * axes[a].cell_width(),
                               body.upper[a] - body.lower[a]);
        extent *= md::means_of(body).peak();
        if (const double crowd = body.density * extent; crowd > most)
            throw DeckError(fmt::format(
                "{}.density: {} puts {} particles into the {} columns of cells around one, more than {}; use at most "
                "{}{}",
                md::body_path(deck.system, i), short_number(body.density), short_number(crowd), columns, most,
                short_number(most / extent),
                deck.grid.cell > setup.potential.cutoff ? ", or a smaller grid.cell" : ""));
    }
}

// Particles at random may be as near to each other, and to others, as the body's spacing. Returns what is unusual.
std::vector<std::string> check_spacing(const md::System& system, std::span<const md::Body> bodies, double least,
                                       double hot) {
    std::vector<std::string> notes;
    for (std::size_t i = 0; i < bodies.size(); ++i) {
        if (bodies[i].fill != md::Fill::random) continue;
        const double r = bodies[i].spacing;
        const std::string what =
            fmt::format("particles of {} may be {} apart", md::body_name(system, i), short_number(r));
        if (r < least)
            throw DeckError(fmt::format("{}.spacing: {}, and forces are exact from {} on; use a spacing of at least {}",
                                        md::body_path(system, i), what, short_number(least), gap_of(system.potential)));
        if (r < hot)
            notes.push_back(
                fmt::format("{}: the start releases up to {} epsilon there; use a spacing of at least {}", what,
                            std::llround(md::pair_value(system.potential, r).energy / system.potential.epsilon),
                            gap_of(system.potential)));
    }
    return notes;
}

// Those of slabs and bodies, which follow from the deck.
std::vector<std::string> check_bodies(const Deck& deck, const Setup& setup) {
    const md::PotentialSpec& potential = setup.potential;
    const std::vector<md::Body> bodies = md::all_bodies(deck.system);
    const double least = md::least_distance(potential, setup.precision),
                 hot = md::distance_of_energy(potential, 100 * potential.epsilon);
    const auto sentence = [&](const md::ClosePair& p, const std::string& so) {
        const md::Body& first = bodies[p.body[0]];
        return fmt::format("{}{}; {}", what(p, deck.system, first), so, advice(p, deck.system, first));
    };
    if (const auto close = md::closest_pair(setup.domain, bodies, least))
        throw DeckError(
            fmt::format("{}: {}", where(*close, deck.system),
                        sentence(*close, fmt::format(", and forces are exact from {} on", short_number(least)))));
    std::vector<std::string> notes = check_spacing(deck.system, bodies, least, hot);
    check_crowd(deck, setup);
    const auto close = md::closest_pair(setup.domain, bodies, hot);
    if (close && !close->in_lattice)  // on a lattice forces cancel
        notes.push_back(sentence(
            *close, fmt::format(": the start releases {} epsilon there",
                                std::llround(md::pair_value(potential, close->distance).energy / potential.epsilon))));
    return notes;
}

std::string energy_released(const md::PotentialSpec& potential, double distance) {
    return fmt::format("the start releases {} epsilon there",
                       std::llround(md::pair_value(potential, distance).energy / potential.epsilon));
}

// Of a pair whose particles are not both on lattices, which check_bodies() has looked at.
std::vector<std::string> close_in_bodies(const Deck& deck, const CloseParticles& close, double least) {
    const std::vector<md::Body> bodies = md::all_bodies(deck.system);
    const md::ClosePair pair{close.body, close.at, close.distance, false, close.across_box};
    const md::Body& first = bodies[pair.body[0]];
    const std::string found = what(pair, deck.system, first), so = advice(pair, deck.system, first);
    if (close.distance < least)
        throw DeckError(fmt::format("{}: {}, and forces are exact from {} on; {}", where(pair, deck.system), found,
                                    short_number(least), so));
    if (first.fill == md::Fill::lattice && bodies[pair.body[1]].fill == md::Fill::lattice) return {};
    return {fmt::format("{}: {}; {}", found, energy_released(deck.system.potential, close.distance), so)};
}

// Those of files, and what is near to them, found by an engine that is made for it.
std::vector<std::string> check_files(const Deck& deck, const Setup& setup, const comm::Communicator& comm) {
    agreed(comm, [&] { require_memory(deck, setup, comm); });  // a small file may have a huge box
    const md::PotentialSpec& potential = setup.potential;
    const double least = md::least_distance(potential, setup.precision),
                 hot = md::distance_of_energy(potential, 100 * potential.epsilon);
    const std::string& path = deck.system.from.file;
    const auto close = closest_pair_with_files(deck, std::max(least, hot), comm);
    if (!close) return {};
    if (path.empty()) return close_in_bodies(deck, *close, least);
    std::string at = fmt::format("{:.6g}, {:.6g}", close->at[0], close->at[1]);
    if (setup.domain.dimensions == 3) at += fmt::format(", {:.6g}", close->at[2]);
    const std::string what = fmt::format("{}: particles {} and {} are {} apart at [{}]", path, close->id[0],
                                         close->id[1], short_number(close->distance), at);
    comm::require(comm, close->distance >= least, [&] {
        return InputError(
            fmt::format("{}, and forces are exact from {} on; leave out one of them, or let the state "
                        "relax where it was made",
                        what, short_number(least)));
    });
    return {fmt::format("{}: {}; let the state relax where it was made", what,
                        energy_released(potential, close->distance))};
}

// Random forces follow from the seed, the step and the particle's id, and a state keeps the ids.
std::vector<std::string> check_noise(const Deck& deck, const comm::Communicator& comm) {
    if (deck.system.thermostat.kind != md::ThermostatKind::langevin) return {};
    const std::optional<Deck> made_by = deck_of_state(deck.system.from.file, comm);
    if (!made_by || made_by->system.thermostat.kind != md::ThermostatKind::langevin ||
        made_by->system.seed != deck.system.seed)
        return {};
    return {
        fmt::format("system.from: the run that wrote {} has the same seed and a thermostat with random forces, which "
                    "come again here; set system.seed to another number than {}",
                    deck.system.from.file, deck.system.seed)};
}

}  // namespace

std::vector<std::string> check_start(const Deck& deck, const Setup& setup, const comm::Communicator& comm) {
    const std::vector<md::Body>& bodies = deck.system.bodies;
    std::vector<std::string> notes;
    if (deck.system.from.file.empty()) notes = agreed(comm, [&] { return check_bodies(deck, setup); });
    if (!deck.system.from.file.empty() ||
        std::any_of(bodies.begin(), bodies.end(), [](const md::Body& b) { return b.fill == md::Fill::file; }))
        for (std::string& note : check_files(deck, setup, comm)) notes.push_back(std::move(note));
    for (std::string& note : check_noise(deck, comm)) notes.push_back(std::move(note));
    return notes;
}

}  // namespace app

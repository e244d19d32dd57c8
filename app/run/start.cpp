// SPDX-License-Identifier: MIT
#include "app/run/start.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

#include "app/run/close_pair.hpp"
#include "app/state/state_file.hpp"
#include "md/closest.hpp"
#include "md/lattice.hpp"
#include "md/potential.hpp"
#include "md/profile.hpp"

namespace app {
namespace {

std::string short_number(double x) { return fmt::format("{:.3g}", x); }

// Particles nearer to each other than `least` have forces out of the exact range. If nearer than `hot`, the start
// releases much energy.
struct Distances {
    double least, hot;
};

Distances distances_of(const Setup& setup) {
    const md::PotentialSpec& potential = setup.potential;
    return {md::least_distance(potential, setup.precision), md::distance_of_energy(potential, 100 * potential.epsilon)};
}

std::string exact_from(double least) { return fmt::format(", and forces are exact from {} on", short_number(least)); }

std::string released(const md::PotentialSpec& potential, double distance, const char* up_to = "") {
    return fmt::format("the start releases {}{} epsilon there", up_to,
                       std::llround(md::pair_value(potential, distance).energy / potential.epsilon));
}

std::string place_in_words(const std::array<double, 3>& at, int dimensions) {
    return fmt::format("[{:.6g}]", fmt::join(at.begin(), at.begin() + dimensions, ", "));
}

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
    const bool slabs = p.body[1] < system.slabs.size();
    return fmt::format("{} are {} apart at {}{}",
                       p.body[0] == p.body[1] ? fmt::format("two particles of {}", name(0))
                       : slabs                ? fmt::format("particles of slabs {} and {}", p.body[0], p.body[1])
                                              : fmt::format("particles of {} and {}", name(0), name(1)),
                       short_number(p.distance), place_in_words(p.at, system.dimensions),
                       p.across_box ? ", across the periodic boundary" : "");
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
            "leave a gap of {} at the boundary",
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
            throw DeckError(
                "{}.density: {} puts {} particles into the {} columns of cells around one, more than {}; use at most "
                "{}{}",
                md::body_path(deck.system, i), short_number(body.density), short_number(crowd), columns, most,
                short_number(most / extent), deck.grid.cell > setup.potential.cutoff ? ", or a smaller grid.cell" : "");
    }
}

// A pair, what is wrong with it, and what helps.
std::string sentence(const md::ClosePair& p, const md::System& system, const std::string& so) {
    const md::Body first = md::all_bodies(system)[p.body[0]];
    return fmt::format("{}{}; {}", what(p, system, first), so, advice(p, system, first));
}

// Particles at random may be as near to each other, and to others, as the body's spacing. Returns what is unusual.
std::vector<std::string> check_spacing(const md::System& system, std::span<const md::Body> bodies, const Distances& d) {
    std::vector<std::string> notes;
    for (std::size_t i = 0; i < bodies.size(); ++i) {
        if (bodies[i].fill != md::Fill::random) continue;
        const double r = bodies[i].spacing;
        const std::string what =
                              fmt::format("particles of {} may be {} apart", md::body_name(system, i), short_number(r)),
                          advice = "use a spacing of at least " + gap_of(system.potential);
        if (r < d.least)
            throw DeckError("{}.spacing: {}{}; {}", md::body_path(system, i), what, exact_from(d.least), advice);
        if (r < d.hot)
            notes.push_back(fmt::format("{}: {}; {}", what, released(system.potential, r, "up to "), advice));
    }
    return notes;
}

// Those of slabs and bodies, which follow from the deck.
std::vector<std::string> check_bodies(const Deck& deck, const Setup& setup) {
    const std::vector<md::Body> bodies = md::all_bodies(deck.system);
    const Distances d = distances_of(setup);
    if (const auto close = md::closest_pair(setup.domain, bodies, d.least))
        throw DeckError("{}: {}", where(*close, deck.system), sentence(*close, deck.system, exact_from(d.least)));
    std::vector<std::string> notes = check_spacing(deck.system, bodies, d);
    check_crowd(deck, setup);
    const auto close = md::closest_pair(setup.domain, bodies, d.hot);
    if (close && !close->in_lattice)  // on a lattice forces cancel
        notes.push_back(sentence(*close, deck.system, ": " + released(setup.potential, close->distance)));
    return notes;
}

// Particles of files, and those near to them. An engine that is made for it finds close pairs. check_bodies() has
// looked at pairs of which both particles are on lattices.
std::vector<std::string> check_files(const Deck& deck, const Setup& setup, const comm::Communicator& comm) {
    agreed(comm, [&] { require_memory(deck, setup, comm); });  // a small file may have a huge box
    const md::System& system = deck.system;
    const Distances d = distances_of(setup);
    const auto close = closest_pair_with_files(deck, std::max(d.least, d.hot), comm);
    if (!close) return {};
    const std::string so = ": " + released(setup.potential, close->distance);
    if (const std::string& path = system.from.file; !path.empty()) {
        const std::string what =
            fmt::format("{}: particles {} and {} are {} apart at {}", path, close->id[0], close->id[1],
                        short_number(close->distance), place_in_words(close->at, setup.domain.dimensions));
        const char* advice = "let the state relax where it was made";
        refuse_unless<InputError>(comm, close->distance >= d.least, "{}{}; leave out one of them, or {}", what,
                                  exact_from(d.least), advice);
        return {fmt::format("{}{}; {}", what, so, advice)};
    }
    if (close->distance < d.least)
        throw DeckError("{}: {}", where(*close, system), sentence(*close, system, exact_from(d.least)));
    const std::vector<md::Body> bodies = md::all_bodies(system);
    const auto on_lattice = [&](std::size_t body) { return bodies[body].fill == md::Fill::lattice; };
    if (std::ranges::all_of(close->body, on_lattice)) return {};
    return {sentence(*close, system, so)};
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
        std::ranges::any_of(bodies, [](const md::Body& b) { return b.fill == md::Fill::file; }))
        for (std::string& note : check_files(deck, setup, comm)) notes.push_back(std::move(note));
    for (std::string& note : check_noise(deck, comm)) notes.push_back(std::move(note));
    return notes;
}

}  // namespace app

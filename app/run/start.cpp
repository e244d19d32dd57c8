// SPDX-License-Identifier: MIT
#include "app/run/start.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/run/close_pair.hpp"
#include "md/closest.hpp"
#include "md/lattice.hpp"
#include "md/potential.hpp"

namespace app {
namespace {

std::string number(double x) { return fmt::format("{:.3g}", x); }

// A length in tenths of sigma, rounded up.
std::string gap_of(const md::PotentialSpec& potential) {
    const double tenth = potential.sigma / 10;
    return number(std::ceil(md::calm_distance(potential) / tenth) * tenth);
}

std::string where(const md::ClosePair& p) {
    return fmt::format("system.slabs.{}{}", p.slab[1], p.in_lattice ? ".density" : "");
}

std::string what(const md::ClosePair& p, const std::vector<md::Slab>& slabs) {
    if (p.in_lattice)
        return fmt::format("particles of slab {} are {} apart at its density of {}", p.slab[0], number(p.distance),
                           number(slabs[p.slab[0]].density));
    std::string at = fmt::format("{:.6g}, {:.6g}", p.at[0], p.at[1]);
    if (md::dimensions_of(slabs[p.slab[0]].lattice) == 3) at += fmt::format(", {:.6g}", p.at[2]);
    return fmt::format("{} are {} apart at [{}]{}",
                       p.slab[0] == p.slab[1] ? fmt::format("two particles of slab {}", p.slab[0])
                                              : fmt::format("particles of slabs {} and {}", p.slab[0], p.slab[1]),
                       number(p.distance), at, p.across_box ? ", across the periodic boundary" : "");
}

std::string remedy(const md::ClosePair& p, const std::vector<md::Slab>& slabs, const md::PotentialSpec& potential) {
    if (p.in_lattice)
        return fmt::format("use a density of at most {}",
                           number(md::lattice_density(slabs[p.slab[0]].lattice, md::calm_distance(potential))));
    const std::string gap = gap_of(potential);
    if (p.slab[0] != p.slab[1] && !p.across_box) return fmt::format("leave a gap of {} between the slabs", gap);
    if (p.slab[0] != p.slab[1]) return fmt::format("leave a gap of {} at the boundary", gap);
    md::Slab cell = slabs[p.slab[0]];
    cell.cells = {{1, 1, 1}};
    std::vector<std::string> sides;  // rounded down, or a layer more would begin at the end
    for (int a = 0; a < md::dimensions_of(cell.lattice); ++a)
        sides.push_back(fmt::format("{:.3f}", std::floor(md::fitted_box(cell)[a] * 1000) / 1000));
    return fmt::format(
        "leave a gap of {} at the boundary, or let box and slab be multiples of the lattice's cell [{}] long, or fill "
        "the box with cells and box: fit",
        gap, fmt::join(sides, ", "));
}

// Indices of neighbours count from the first particle of the columns of cells around, or in three dimensions of the
// layers of columns, which are as high and wide as a tile.
void check_crowd(const Deck& deck, const Setup& setup) {
    constexpr double most = 65535, least_tile = 4;
    const std::span<const md::Axis> axes = setup.domain.axes();
    const int columns = 2 * md::cells_within(setup.radius(), axes[0].least_width()) + 1;
    for (std::size_t i = 0; i < deck.system.slabs.size(); ++i) {
        const md::Slab& slab = deck.system.slabs[i];
        double extent = 1;
        for (std::size_t a = 0; a < axes.size(); ++a)
            extent *= std::min((a == 0 ? columns : least_tile + 2 * setup.reach) * axes[a].cell_width(),
                               slab.upper[a] - slab.lower[a]);
        if (const double crowd = slab.density * extent; crowd > most)
            throw DeckError(fmt::format(
                "system.slabs.{}.density: {} puts {} particles into the {} columns of cells around one, more than {}; "
                "use at most {}{}",
                i, number(slab.density), number(crowd), columns, most, number(most / extent),
                deck.grid.cell > setup.potential.cutoff ? ", or a smaller grid.cell" : ""));
    }
}

// Those of slabs, which follow from the deck.
std::vector<std::string> check_slabs(const Deck& deck, const Setup& setup) {
    const md::PotentialSpec& potential = setup.potential;
    const std::vector<md::Slab>& slabs = deck.system.slabs;
    const double least = md::least_distance(potential, setup.precision);
    if (const auto close = md::closest_pair(setup.domain, slabs, least))
        throw DeckError(fmt::format("{}: {}, and forces are exact from {} on; {}", where(*close), what(*close, slabs),
                                    number(least), remedy(*close, slabs, potential)));
    check_crowd(deck, setup);
    const double hot = md::distance_of_energy(potential, 100 * potential.epsilon);
    const auto close = md::closest_pair(setup.domain, slabs, hot);
    if (!close || close->in_lattice) return {};  // on a lattice forces cancel
    return {fmt::format("{}: the start releases {} epsilon there; {}", what(*close, slabs),
                        std::llround(md::pair_value(potential, close->distance).energy / potential.epsilon),
                        remedy(*close, slabs, potential))};
}

// Those of a file, found by an engine that is made for it.
std::vector<std::string> check_file(const Deck& deck, const Setup& setup, const comm::Communicator& comm) {
    const md::PotentialSpec& potential = setup.potential;
    const double least = md::least_distance(potential, setup.precision),
                 hot = md::distance_of_energy(potential, 100 * potential.epsilon);
    const std::string& path = deck.system.from.file;
    const auto close = closest_pair_of_file(deck, std::max(least, hot), comm);
    if (!close) return {};
    std::string at = fmt::format("{:.6g}, {:.6g}", close->at[0], close->at[1]);
    if (setup.domain.dimensions == 3) at += fmt::format(", {:.6g}", close->at[2]);
    const std::string what = fmt::format("{}: particles {} and {} are {} apart at [{}]", path, close->id[0],
                                         close->id[1], number(close->distance), at);
    comm::require(comm, close->distance >= least, [&] {
        return InputError(
            fmt::format("{}, and forces are exact from {} on; leave out one of them, or let the state "
                        "relax where it was made",
                        what, number(least)));
    });
    return {fmt::format("{}: the start releases {} epsilon there; let the state relax where it was made", what,
                        std::llround(md::pair_value(potential, close->distance).energy / potential.epsilon))};
}

}  // namespace

std::vector<std::string> check_start(const Deck& deck, const Setup& setup, const comm::Communicator& comm) {
    if (!deck.system.from.file.empty()) return check_file(deck, setup, comm);
    return agreed(comm, [&] { return check_slabs(deck, setup); });
}

}  // namespace app

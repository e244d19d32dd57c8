// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>
#include <numbers>
#include <utility>
#include <vector>

#include "app/common/words.hpp"
#include "app/deck/setup.hpp"
#include "app/run/start.hpp"
#include "comm/machine/topology.hpp"
#include "md/initial.hpp"
#include "md/profile.hpp"

namespace app {
namespace {

// Number of particles and density of each body. Particles of a file count as one body that fills the box.
std::vector<std::pair<double, double>> parts_of(const md::System& system, const md::Domain& domain) {
    std::vector<std::pair<double, double>> parts;
    for (const md::Body& body : md::all_bodies(system))
        parts.emplace_back(static_cast<double>(md::particle_count(body)), body.density * md::means_of(body).crowding());
    const auto of_file = static_cast<double>(system.from.particles);
    if (of_file > 0) parts.emplace_back(of_file, of_file / domain.volume());
    return parts;
}

// Bytes of the tiles divided by the number of particles, before the bodies meet. A particle has a state, its position
// at the last rebuild, and two packed positions. Ghosts have packed positions too. Cells have counts and slots. A
// neighbour takes one byte of a row, in three dimensions two. All rows of a cluster are as long as its longest row. In
// liquids and colliding slabs, this lengthened rows by a half in two dimensions and by a sixth in three.
double bytes_of_particle(const Deck& deck, const Setup& setup, balance::TileShape tile) {
    const int axes = setup.domain.dimensions;
    const double r = setup.radius(),
                 around = axes == 2 ? std::numbers::pi * r * r : 4.0 / 3 * std::numbers::pi * r * r * r;
    double particles = 0, neighbours = 0, filled = 0, cell_size = 1, with_ghosts = 1, with_halo = 1;
    for (const auto& [n, density] : parts_of(deck.system, setup.domain)) {
        particles += n;
        filled += n / density;
        neighbours += n * around * density;
    }
    for (int a = 0; a < axes; ++a) {
        cell_size *= setup.domain.axis[a].cell_width();
        with_ghosts *= 1 + 2.0 * setup.reach / tile[a];
        with_halo *= 1 + 2.0 * setup.halo / tile[a];
    }
    constexpr double cell = 8;
    const double state = 8 + 20.0 * axes, packed = 8.0 * axes, neighbour = axes == 2 ? 1.5 : 2.33;
    return state + packed * with_ghosts + cell * with_halo * filled / cell_size / particles +
           neighbour * neighbours / particles;
}

}  // namespace

Memory memory_of(const Deck& deck, const Setup& setup, balance::TileShape tile, int ranks) {
    const std::int64_t particles = md::particle_count(deck.system);
    constexpr double empty_cell = 11;  // bytes of the counts of a cell without particles
    const auto cells = static_cast<double>(setup.domain.grid().box().cells());
    double filled = 0;
    for (const auto& [n, density] : parts_of(deck.system, setup.domain)) filled += n / density;
    for (const md::Axis& axis : setup.domain.axes()) filled /= axis.cell_width();
    // A zone on threads of the processor takes more than twice the bytes of tiles.
    const bool host = deck.accelerator.backend == AcceleratorBackend::host;
    const double zone = setup.domain.dimensions == 2 ? 2.4 : 2.2,
                 share = host ? deck.accelerator.share.value_or(0.5) : 0;
    return {bytes_of_particle(deck, setup, tile) * (1 - share + zone * share) * static_cast<double>(particles) / ranks,
            (empty_cell * std::max(0.0, cells - filled) + (deck.balance.every > 0 ? balanced_cell_bytes * cells : 0)) /
                ranks};
}

void require_memory(const Deck& deck, const Setup& setup, const comm::Communicator& comm) {
    const Memory each = memory_of(deck, setup, tile_shape(deck, setup.domain, comm.size()), comm.size());
    const double needed = (each.particles + each.cells) * comm.node_size(), there = comm::memory_bytes();
    if (needed <= there) return;
    const balance::Grid grid = setup.domain.grid();
    const md::System& system = deck.system;
    // Particles of a file count as filling the box. If the box has more cells than particles, the cells are to blame.
    const bool of_file = !system.from.file.empty(),
               by_cells = each.cells > each.particles || (of_file && grid.box().cells() > system.from.particles);
    throw DeckError(
        "{}: {} cells and {} need about {:.1f} GB for {} on one node, which has {:.1f} GB; use {}, or more nodes",
        by_cells               ? "system.box"
        : of_file              ? "system.from"
        : system.slabs.empty() ? "system.bodies"
                               : "system.slabs",
        along_axes(grid.cells, grid.dimensions), counted(md::particle_count(deck.system), "particle"), needed * 1e-9,
        counted(comm.node_size(), "rank"), there * 1e-9,
        by_cells ? "a smaller box, a larger grid.cell" : "fewer particles");
}

}  // namespace app

// SPDX-License-Identifier: MIT
#include "app/run/memory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numbers>

#include "app/common/words.hpp"
#include "app/deck/setup.hpp"
#include "comm/machine/topology.hpp"
#include "md/initial.hpp"

namespace app {
namespace {

// Bytes of tiles for each particle, before the slabs meet: the state and the position of the last rebuild; two packed
// positions, for ghosts too; counts and slots of its part of a cell; its neighbours. A neighbour is one byte in a row,
// and rows of a cluster are as long as its longest: half as much again was measured on liquids and colliding slabs.
double particle_bytes(const Deck& deck, const Setup& setup, balance::TileShape tile) {
    double particles = 0, neighbours = 0, area = 0;
    for (const md::Slab& slab : deck.system.slabs) {
        const auto n = static_cast<double>(md::particle_count(slab));
        particles += n;
        area += n / slab.density;
        neighbours += n * std::numbers::pi * setup.radius() * setup.radius() * slab.density;
    }
    constexpr double state = 48, packed = 16, cell = 8, neighbour = 1.5;
    const double with_ghosts = (1 + 2.0 * setup.halo / tile[0]) * (1 + 2.0 * setup.halo / tile[1]);
    const double cells_each =
        area / (setup.domain.axis[0].cell_width() * setup.domain.axis[1].cell_width()) / particles;
    return state + packed * with_ghosts + cell * with_ghosts * cells_each + neighbour * neighbours / particles;
}

}  // namespace

Memory memory_of(const Deck& deck, const Setup& setup, balance::TileShape tile, int ranks) {
    const std::int64_t particles = md::particle_count(deck.system);
    // Empty cells cost what is counted in them; a balancing keeps and passes on counts, loads, owners of all of them.
    constexpr double empty_cell = 11, balanced_cell = 70;
    const auto cells = static_cast<double>(setup.domain.grid().box().cells());
    double filled = 0;
    for (const md::Slab& slab : deck.system.slabs)
        filled += static_cast<double>(md::particle_count(slab)) / slab.density;
    filled /= setup.domain.axis[0].cell_width() * setup.domain.axis[1].cell_width();
    return {
        particle_bytes(deck, setup, tile) * static_cast<double>(particles) / ranks,
        (empty_cell * std::max(0.0, cells - filled) + (deck.balance.every > 0 ? balanced_cell * cells : 0)) / ranks};
}

void require_memory(const Deck& deck, const Setup& setup, const comm::Communicator& comm) {
    const Memory each = memory_of(deck, setup, tile_shape(deck, setup.domain, comm.size()), comm.size());
    const double needed = (each.particles + each.cells) * comm.node_size(), there = comm::memory_bytes();
    if (needed <= there) return;
    const balance::Grid grid = setup.domain.grid();
    throw DeckError(fmt::format(
        "{}: {} x {} cells and {} need about {:.1f} GB for {} on one node, which has {:.1f} GB; use {}, or more nodes",
        each.cells > each.particles ? "system.box" : "system.slabs", grid.cells[0], grid.cells[1],
        counted(md::particle_count(deck.system), "particle"), needed * 1e-9, counted(comm.node_size(), "rank"),
        there * 1e-9, each.cells > each.particles ? "a smaller box, a larger grid.cell" : "fewer particles"));
}

}  // namespace app

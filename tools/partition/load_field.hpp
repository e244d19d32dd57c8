// SPDX-License-Identifier: MIT
// Input of `steelyard partition`: the load of each cell, by the deck's section load.
#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "app/deck/deck.hpp"
#include "app/engine/engine.hpp"
#include "balance/grid/grid.hpp"
#include "comm/communicator.hpp"

namespace app {

/// Loads of the cells of this rank's home (balance/grid/field.hpp), x slowest, then y, then z.
struct LoadField {
    balance::Grid grid;
    std::array<double, 3> box{1, 1, 1};   ///< lengths; a cell has length 1 where there are no particles
    std::vector<std::int64_t> load = {};  ///< in units of `unit`; empty: every cell's is 1
    double unit = 1;
    std::string what = {};                 ///< the unit's name
    std::vector<std::int64_t> items = {};  ///< that a cell sends where it is a ghost: its particles; empty: 1 each
    std::int64_t item_bytes = 8;           ///< of an item
};

/// Bytes of a particle that is a ghost: of its packed position.
std::int64_t ghost_bytes(int dimensions);

/// Gives an engine the particles that the section load names: a checkpoint's, else those of the deck's system.
/// owners: the decomposition in use. Collective. Throws InputError, comm::ReadError.
void fill_from(const Deck& deck, Engine& engine, const balance::Decomposition& owners, const comm::Communicator& comm);

/// Collective. Throws InputError, comm::ReadError, UsageError, and md::SimulationError for counted work that cannot be
/// summed exactly.
LoadField load_field(const Deck& deck, const comm::Communicator& comm);

}  // namespace app

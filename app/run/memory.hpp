// SPDX-License-Identifier: MIT
// How much memory a run will need.
#pragma once
#include "app/deck/deck.hpp"
#include "app/engine/setup.hpp"
#include "comm/communicator.hpp"

namespace app {

/// What the program, MPI and the other libraries hold without a particle; with Debian's MPICH.
inline constexpr double program_megabytes = 31;

/// What a balancing keeps and passes on of a cell: counts, loads, owners.
inline constexpr double balanced_cell_bytes = 70;

/// Bytes on a rank, before the bodies meet.
struct Memory {
    double particles = 0, cells = 0;
};
Memory memory_of(const Deck& deck, const Setup& setup, balance::TileShape tile, int ranks);

/// Throws DeckError where the ranks of this node need more than it has: the system would end one of them without a
/// word. What a job's own limits are is not known.
void require_memory(const Deck& deck, const Setup& setup, const comm::Communicator& comm);

}  // namespace app

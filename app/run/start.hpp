// SPDX-License-Identifier: MIT
// Checks before a run: can it make the first step from the initial particles, and is there memory for it?
#pragma once
#include <string>
#include <vector>

#include "app/deck/deck.hpp"
#include "app/engine/setup.hpp"
#include "comm/communicator.hpp"

namespace app {

/// Throws DeckError if particles are so close to each other that their forces leave the exact range, or too many in a
/// cell for neighbour lists. For particles from a file it throws InputError, also for other faults of the file. Returns
/// sentences on unusual findings. Collective.
std::vector<std::string> check_start(const Deck& deck, const Setup& setup, const comm::Communicator& comm);

/// Memory of the program, MPI and the other libraries without a particle; with Debian's MPICH.
inline constexpr double program_megabytes = 31;

/// Memory of a balancing for a cell: counts, loads, owners.
inline constexpr double balanced_cell_bytes = 70;

/// Bytes on a rank, before the bodies meet.
struct Memory {
    double particles = 0, cells = 0;
};
Memory memory_of(const Deck& deck, const Setup& setup, balance::TileShape tile, int ranks);

/// Throws DeckError if the ranks of this node need more memory than it has. Otherwise the system would end one of them
/// without a word. The limits of the job itself are not known.
void require_memory(const Deck& deck, const Setup& setup, const comm::Communicator& comm);

}  // namespace app

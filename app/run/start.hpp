// SPDX-License-Identifier: MIT
// Check of the initial particles of a deck or its file: can a run make the first step from them?
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

}  // namespace app

// SPDX-License-Identifier: MIT
// Whether the first step can be made from the initial particles that a deck describes, or its file holds.
#pragma once
#include <string>
#include <vector>

#include "app/deck/deck.hpp"
#include "app/engine/setup.hpp"
#include "comm/communicator.hpp"

namespace app {

/// Throws DeckError where particles are so close to each other that their forces leave the exact range, or so many in a
/// cell that neighbour lists cannot name them; InputError where they come from a file, whose other faults are found on
/// the way. Returns sentences on what is unusual. Collective.
std::vector<std::string> check_start(const Deck& deck, const Setup& setup, const comm::Communicator& comm);

}  // namespace app

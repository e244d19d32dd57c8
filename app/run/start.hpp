// SPDX-License-Identifier: MIT
// Whether the first step can be made from the initial particles that a deck describes.
#pragma once
#include <string>
#include <vector>

#include "app/deck/deck.hpp"
#include "app/engine/setup.hpp"

namespace app {

/// Throws DeckError where particles are so close to each other that their forces leave the exact range, or so many in a
/// cell that neighbour lists cannot name them. Returns sentences on what is unusual. The same on all ranks.
std::vector<std::string> check_start(const Deck& deck, const Setup& setup);

}  // namespace app

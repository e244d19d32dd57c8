// SPDX-License-Identifier: MIT
#pragma once
#include "app/deck/deck.hpp"
#include "app/deck/section.hpp"

namespace app {

/// Reads the section `system`: box, potential, slabs. Throws DeckError.
void read_system(const Section& s, Deck::System& system);

}  // namespace app

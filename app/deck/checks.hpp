// SPDX-License-Identifier: MIT
// Checks across keys: geometry that can't work is refused before anything is allocated.
#pragma once
#include <functional>
#include <string>

#include "app/deck/deck.hpp"

namespace app {

/// Derives what the schema alone can't (the fitted and rounded box, extents of slabs), then throws DeckError for a deck
/// that can't work. where: the location of the value at a dotted path.
void complete_and_check(Deck& deck, const std::function<std::string(const std::string&)>& where);

}  // namespace app

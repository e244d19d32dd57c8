// SPDX-License-Identifier: MIT
// Differences between two decks, key by key: the keys that a restart may change, and the changes that it reports.
#pragma once
#include <string>
#include <vector>

#include "app/deck/deck.hpp"

namespace app {

struct DeckChange {
    std::string key, before, now;  ///< values as the effective deck writes them; empty where a deck has no such key
    /// A restart may not make this change. It may change any key to auto: what a run chooses by itself, it may choose
    /// otherwise after a restart.
    bool refused;
};

/// Every key that differs in the effective decks, in their order.
std::vector<DeckChange> changes(const Deck& before, const Deck& now);

}  // namespace app

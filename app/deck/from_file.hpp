// SPDX-License-Identifier: MIT
// What a deck takes over from the file that holds its particles (system.from): found before the deck is checked, so
// that all checks know the box.
#pragma once
#include <array>
#include <optional>
#include <string>
#include <vector>

#include "app/deck/checks.hpp"
#include "app/deck/deck.hpp"

namespace app {

/// What is found in a file of particles, or known of it from a run that has read it.
struct FoundState {
    md::StateFile state;          ///< without name and frame
    int dimensions = 3;           ///< 2 where all z are equal and nothing moves along z
    std::array<double, 3> box{};  ///< lengths; 0 where the file does not say
};

/// What the effective deck of a run says of its file; nothing where its particles are of no file.
std::optional<FoundState> found_by(const Deck& deck);

/// The section system.from of a deck that is not complete yet; its file is empty where there is none. Throws DeckError.
md::StateFile state_file_of(const std::string& text, const std::string& file, const std::vector<std::string>& settings);

/// Gives the system what was found: what it doesn't say of its file, and the box. found: nothing where the deck itself
/// has to say it all, as that of a checkpoint does. Throws DeckError where the deck asks for another box.
void complete_from(Deck::System& system, const FoundState* found, const Where& where);

}  // namespace app

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
    md::StateFile state;               ///< without name and frame
    int dimensions = 3;                ///< 2 where all z are equal and nothing moves along z
    std::array<double, 3> box{};       ///< lengths; 0 where the file does not say
    bool counted = true;               ///< of a body's file: state.particles are those in the body, not in the file
    std::vector<std::string> notes{};  ///< lines on what of the file is not used; rank 0
};

/// The files that a system names, with the paths of their sections: that of all its particles, or those of bodies.
struct NamedFile {
    std::string path;
    md::StateFile* state;
};
std::vector<NamedFile> files_of(md::System& system);

/// What the effective deck of a run says of its files, in the order of files_of().
std::vector<FoundState> found_by(const Deck& deck);

/// The system of a deck that is not complete yet: for the files that it names. Throws DeckError.
md::System named_system(const std::string& text, const std::string& file, const std::vector<std::string>& settings);

/// Gives the system what was found of the file of all its particles: what it doesn't say of it, and the box. found:
/// nothing where the deck itself has to say it all, as that of a checkpoint does. Throws DeckError where the deck asks
/// for another box.
void complete_from(Deck::System& system, const FoundState* found, const Where& where);

/// The same of a body's file, from which density and number of particles follow. path: of the body. A body that is not
/// counted yet gets an estimate.
void complete_fill(md::Body& body, const FoundState* found, int dimensions, const std::string& path,
                   const Where& where);

}  // namespace app

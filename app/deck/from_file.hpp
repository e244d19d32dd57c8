// SPDX-License-Identifier: MIT
// The values that a deck takes over from the file of its particles (system.from). They are found before the deck is
// checked, so all checks know the box.
#pragma once
#include <array>
#include <string>
#include <vector>

#include "app/deck/checks.hpp"
#include "app/deck/deck.hpp"

namespace app {

/// Facts of a file of particles, from the file itself or from a run that has read it.
struct FoundState {
    md::StateFile state;               ///< Without name and frame.
    int dimensions = 3;                ///< 2 if all z are equal and nothing moves along z.
    std::array<double, 3> box{};       ///< Lengths; 0 if the file has no box.
    bool counted = true;               ///< True if state.particles counts a body's particles, not the file's.
    std::vector<std::string> notes{};  ///< Lines on unused content of the file; rank 0.
};

/// The files that a system names, with the paths of their sections: the file of all its particles, or the files of
/// bodies.
struct NamedFile {
    std::string path;
    md::StateFile* state;
};
std::vector<NamedFile> files_of(md::System& system);

/// The facts of its files in the effective deck of a run, in the order of files_of().
std::vector<FoundState> found_by(const Deck& deck);

/// The system of a deck that is not complete yet: for the files that it names. Throws DeckError.
md::System named_system(const std::string& text, const std::string& file, const std::vector<std::string>& settings);

/// Gives the system the facts of the file of all its particles that the deck doesn't state, and the box. found: nothing
/// if the deck states all of them, as that of a checkpoint does. Throws DeckError if the deck asks for another box.
void complete_from(Deck::System& system, const FoundState* found, const Where& where);

/// The same of a body's file, from which density and number of particles follow. path: of the body. A body that is not
/// counted yet gets an estimate.
void complete_fill(md::Body& body, const FoundState* found, int dimensions, const std::string& path,
                   const Where& where);

}  // namespace app

// SPDX-License-Identifier: MIT
// Bodies with particles that are cut from a file. The file's box is repeated from the body's lower corner on. Particles
// inside the body are taken, with exact positions. Ranks share the particles of the file, and each makes the images of
// its own.
#pragma once
#include <cstdint>

#include "app/deck/deck.hpp"
#include "app/engine/engine.hpp"
#include "balance/partition/decomposition.hpp"
#include "comm/communicator.hpp"

namespace app {

/// How many particles a body of a complete deck gets of its file. Collective. Throws InputError.
std::int64_t count_of_file(const md::Body& body, const comm::Communicator& comm);

/// Takes the particles of all bodies that are cut from files to the engine; owners: its decomposition. Velocities are
/// those of the file, and the spin's, shifted so that their mean is the body's velocity to the last quantum. Ranks hold
/// no more than their share of the file twice and a piece. Collective. Throws InputError.
void fill_from_files(const Deck& deck, Engine& engine, const balance::Decomposition& owners,
                     const comm::Communicator& comm);

}  // namespace app

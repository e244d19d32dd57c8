// SPDX-License-Identifier: MIT
// The particles of a run from a file (system.from, or a body's): looked at before the deck is checked, then given to
// the engine. Rank 0 reads, a bounded piece at a time. The state depends on the file alone, never on the number of
// ranks.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "app/deck/from_file.hpp"
#include "app/engine/engine.hpp"
#include "app/state/particle_source.hpp"
#include "balance/partition/decomposition.hpp"
#include "comm/communicator.hpp"
#include "md/particles.hpp"

namespace app {

/// Goes through the whole file once. key: where the deck names it, for messages. Collective. Throws InputError for a
/// file that cannot be used.
FoundState look_at_state(const md::StateFile& file, const std::string& key, const comm::Communicator& comm);

/// The deck of the run that wrote a file of particles: that of a checkpoint, or the one beside a trajectory.h5. Nothing
/// where there is none that this version reads. Collective.
std::optional<Deck> deck_of_state(const std::string& path, const comm::Communicator& comm);

/// This rank's share of the particles of a file, by their ids and in an order of its own (ById). Each particle is moved
/// into the box of `domain` (file_box.hpp). placed: the result of file_box(), the same on all ranks. Ranks hold no
/// more than a piece and their share twice. Collective. Throws InputError for a changed file, for particles outside the
/// box, or for two particles with one id.
std::vector<md::Particle<3>> read_particles(const md::StateFile& file, const md::Domain& domain,
                                            const comm::Communicator& comm, FileBox* placed = nullptr);

/// Fills an engine with the particles of the deck's file; owners: the engine's decomposition. Collective. Throws as
/// read_particles().
void load_state(const Deck& deck, Engine& engine, const balance::Decomposition& owners, const comm::Communicator& comm);

// Bodies with particles that are cut from a file. The file's box is repeated from the body's lower corner on. Particles
// inside the body are taken, with exact positions. Ranks share the particles of the file, and each makes the images of
// its own.

/// How many particles a body of a complete deck gets of its file. Collective. Throws InputError.
std::int64_t count_of_file(const md::Body& body, const comm::Communicator& comm);

/// Takes the particles of all bodies that are cut from files to the engine; owners: its decomposition. Velocities are
/// those of the file, and the spin's, shifted so that their mean is the body's velocity to the last quantum. Ranks hold
/// no more than their share of the file twice and a piece. Collective. Throws InputError.
void fill_from_files(const Deck& deck, Engine& engine, const balance::Decomposition& owners,
                     const comm::Communicator& comm);

}  // namespace app

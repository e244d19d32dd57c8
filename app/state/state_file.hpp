// SPDX-License-Identifier: MIT
// The particles of a run from a file (system.from): looked at before the deck is checked, then given to the engine.
// Rank 0 reads, a bounded piece at a time. What is in the file decides the state, never how many ranks there are.
#pragma once
#include <string>

#include "app/deck/from_file.hpp"
#include "app/engine/engine.hpp"
#include "balance/partition/decomposition.hpp"
#include "comm/communicator.hpp"

namespace app {

/// Goes through the whole file once. Collective. Throws InputError for a file that cannot be used.
FoundState look_at_state(const md::StateFile& file, const comm::Communicator& comm);

/// Fills an engine with the particles of the deck's file; owners: the engine's decomposition. Ranks hold no more than a
/// piece and their share of the particles twice. Collective. Throws InputError for a file that is not the one that was
/// looked at, for particles outside the box, or where two have the same id.
void load_state(const Deck& deck, Engine& engine, const balance::Decomposition& owners, const comm::Communicator& comm);

}  // namespace app

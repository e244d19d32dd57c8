// SPDX-License-Identifier: MIT
// The particles that a run begins with, in its own engine, or in one that is made to look at them before or without a
// run.
#pragma once
#include <memory>

#include "app/common/timers.hpp"
#include "app/deck/deck.hpp"
#include "app/engine/engine.hpp"
#include "balance/partition/decomposition.hpp"
#include "comm/communicator.hpp"

namespace app {

/// Fills an engine with the particles of the deck's slabs and bodies, or of its file; owners: the engine's
/// decomposition. Collective. Throws InputError.
void fill_at_start(const Deck& deck, Engine& engine, const balance::Decomposition& owners,
                   const comm::Communicator& comm);

/// An empty engine without accelerators that gives each rank an even box of the deck's cells. Collective. Throws
/// UsageError where there are fewer cells than ranks, DeckError.
struct PlainEngine {
    PlainEngine(const Deck& deck, const comm::Communicator& comm);

    Setup setup;
    balance::Decomposition owners;
    Timers timers;
    std::unique_ptr<Engine> engine;
};

}  // namespace app

// SPDX-License-Identifier: MIT
// The machine that nested partitions are made for: as the deck gives it, and where it doesn't, as it is found.
#pragma once
#include "app/deck/deck.hpp"
#include "balance/partition/machine.hpp"
#include "comm/communicator.hpp"

namespace app {

/// Collective.
balance::Machine machine_of(const Deck::Machine& given, const comm::Communicator& comm);

}  // namespace app

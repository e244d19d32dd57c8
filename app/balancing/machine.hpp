// SPDX-License-Identifier: MIT
// The machine that partitions are made for: as the deck gives it, and where it doesn't, as it is found.
#pragma once
#include <vector>

#include "app/deck/deck.hpp"
#include "balance/nested/machine.hpp"
#include "comm/communicator.hpp"

namespace app {

/// For nested partitions. Collective.
balance::MachineSpec machine_of(const Deck::Machine& given, const comm::Communicator& comm);

/// Speed of each process, as the deck gives it for the process's node. Throws DeckError if the deck gives speeds of
/// another number of nodes.
std::vector<double> given_speeds(const Deck::Machine& machine, const balance::PartitionOptions& options);

/// The threads of a mean rank. Collective.
double mean_threads(const comm::Communicator& comm);

}  // namespace app

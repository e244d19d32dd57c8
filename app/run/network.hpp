// SPDX-License-Identifier: MIT
#pragma once
#include "app/deck/deck.hpp"
#include "comm/communicator.hpp"
#include "comm/exchange.hpp"

namespace app {

/// How messages go by the deck; where it says auto, by what MPI does here. Collective.
comm::Network network_of(const Deck::Comm& c, const comm::Communicator& comm);

}  // namespace app

// SPDX-License-Identifier: MIT
#pragma once
#include <cstddef>
#include <functional>

#include "app/deck/deck.hpp"
#include "comm/communicator.hpp"
#include "comm/exchange.hpp"

namespace app {

/// The deck's schedule of the messages with ghosts. eager_limit(most): the longest message that MPI sends at once, at
/// most `most` bytes. It is called if the deck says auto.
comm::Schedule schedule_of(const Deck::Comm& c, const std::function<std::size_t(std::size_t most)>& eager_limit);

/// How messages go by the deck; where it says auto, by what MPI does here. Collective.
comm::Network network_of(const Deck::Comm& c, const comm::Communicator& comm);

}  // namespace app

// SPDX-License-Identifier: MIT
// The setup of the engine and of its messages by a deck.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

#include "app/deck/deck.hpp"
#include "app/engine/setup.hpp"
#include "comm/communicator.hpp"
#include "comm/exchange.hpp"

namespace app {

/// kernels: name of a kernel table or empty for the best. Throws DeckError when the deck's geometry cannot work,
/// std::invalid_argument for the kernels.
Setup make_setup(const Deck& deck, const std::string& kernels);

/// Shape of tiles from the deck, or chosen by the number of threads. threads: of all ranks together.
balance::TileShape tile_shape(const Deck& deck, const md::Domain& domain, std::int64_t threads);

/// Gives a rank its accelerators. node_rank, node_size: its place among the ranks of its node. Throws DeckError, the
/// same on all ranks of a node, where there are none.
void add_accelerators(Setup& setup, const Deck& deck, int node_rank, int node_size);

/// The deck's schedule of the messages with ghosts. eager_limit(most): the longest message that MPI sends at once, at
/// most `most` bytes. It is called if the deck says auto.
comm::Schedule schedule_of(const Deck::Comm& c, const std::function<std::size_t(std::size_t most)>& eager_limit);

/// How messages go by the deck; where it says auto, by what MPI does here. Collective.
comm::Network network_of(const Deck::Comm& c, const comm::Communicator& comm);

}  // namespace app

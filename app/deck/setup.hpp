// SPDX-License-Identifier: MIT
// The setup of the engine by a deck.
#pragma once
#include <cstdint>
#include <string>

#include "app/deck/deck.hpp"
#include "app/engine/setup.hpp"

namespace app {

/// kernels: name of a kernel table or empty for the best. Throws DeckError when the deck's geometry cannot work,
/// std::invalid_argument for the kernels.
Setup make_setup(const Deck& deck, const std::string& kernels);

/// As the deck says, or chosen for so many threads of all ranks.
balance::TileShape tile_shape(const Deck& deck, const md::Domain& domain, std::int64_t threads);

/// Gives a rank its accelerators. node_rank, node_size: its place among the ranks of its node. Throws DeckError, the
/// same on all ranks of a node, where there are none.
void add_accelerators(Setup& setup, const Deck& deck, int node_rank, int node_size);

}  // namespace app

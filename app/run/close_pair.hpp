// SPDX-License-Identifier: MIT
// Particles of files that are too close to each other, or to those of lattices, found by the engine's cells and
// neighbour lists.
#pragma once
#include <array>
#include <cstdint>
#include <optional>

#include "app/deck/deck.hpp"
#include "comm/communicator.hpp"
#include "md/closest.hpp"

namespace app {

/// body: their numbers in md::all_bodies(), where the system has bodies.
struct CloseParticles : md::ClosePair {
    std::array<std::int64_t, 2> id{};  ///< ascending
};

/// The closest pair of particles of the deck, but for those at random, of which one is nearer to the other than
/// `radius` (lengths); nothing where there is none. Where thousands are that close, the closest pair of some of them.
/// The same on any ranks. Collective. Throws InputError as fill_at_start(), and for a cell that is fuller than any run
/// can compute.
std::optional<CloseParticles> closest_pair_with_files(const Deck& deck, double radius, const comm::Communicator& comm);

}  // namespace app

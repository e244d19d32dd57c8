// SPDX-License-Identifier: MIT
// Numbers beyond which a deck leaves the fixed-point formats; no sensible deck comes near them.
#pragma once
#include <cstddef>
#include <cstdint>

namespace app {

/// Limit of box sides and coordinates, lengths: 2^60 position quanta. Positions must not overflow on the way out.
inline constexpr double longest_side = 1 << 20;
inline constexpr double fastest = 1e6, hottest = 1e6, densest = 1e6;
/// Limit of a particle's velocity along an axis: 2^51 quanta. A run ends if a particle reaches it.
inline constexpr double most_velocity = 2048;
/// Its potential energy anywhere in the box, in quanta, must not overflow.
inline constexpr double strongest_gravity = 1000;
inline constexpr std::int64_t most_particles = std::int64_t{1} << 40;
inline constexpr std::int64_t last_step = 1'000'000'000'000'000;
inline constexpr std::int64_t most_processes = 1 << 24;
/// The effective deck, which spells out every key of slabs and bodies, must itself stay below max_deck_nodes and
/// max_deck_bytes.
inline constexpr std::size_t most_slabs = 500;
inline constexpr std::size_t most_bodies = 100;

}  // namespace app

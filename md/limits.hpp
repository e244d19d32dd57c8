// SPDX-License-Identifier: MIT
// Limits that decks, setups and kernels share.
#pragma once

namespace md {

/// Largest cutoff + skin, lengths. The kernels see differences of +-32, cells and skins included.
inline constexpr double longest_reach = 10;

}  // namespace md

// SPDX-License-Identifier: MIT
// MPI counts bytes in an int: what may be longer goes in pieces.
#pragma once
#include <algorithm>
#include <cstddef>

namespace comm {

/// Calls use(at, count) for each piece of `size` bytes.
template <class Use>
void for_each_piece(std::size_t size, std::size_t piece, Use use) {
    for (std::size_t at = 0; at < size; at += piece) use(at, static_cast<int>(std::min(piece, size - at)));
}

}  // namespace comm

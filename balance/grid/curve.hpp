// SPDX-License-Identifier: MIT
// Space-filling curves: places of cells along the Morton and the Hilbert curve of the plane.
#pragma once
#include <cstdint>
#include <utility>

namespace balance {

/// Morton key: the bits of x and y interleaved, x the higher of each pair.
constexpr std::uint64_t morton_key(std::uint32_t x, std::uint32_t y) {
    const auto spread = [](std::uint64_t v) {
        v = (v | v << 16) & 0x0000FFFF0000FFFFu;
        v = (v | v << 8) & 0x00FF00FF00FF00FFu;
        v = (v | v << 4) & 0x0F0F0F0F0F0F0F0Fu;
        v = (v | v << 2) & 0x3333333333333333u;
        return (v | v << 1) & 0x5555555555555555u;
    };
    return spread(x) << 1 | spread(y);
}

/// Place of (x, y) along the Hilbert curve through a square of 2^32 cells a side; neighbours on the curve are
/// neighbours in the plane.
constexpr std::uint64_t hilbert_key(std::uint32_t x, std::uint32_t y) {
    std::uint64_t key = 0;
    for (int bit = 31; bit >= 0; --bit) {
        const std::uint32_t rx = x >> bit & 1, ry = y >> bit & 1;
        key = key << 2 | ((3 * rx) ^ ry);
        if (ry == 0) {
            if (rx == 1) x = ~x, y = ~y;
            std::swap(x, y);
        }
    }
    return key;
}

}  // namespace balance

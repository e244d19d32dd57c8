// SPDX-License-Identifier: MIT
// Space-filling curves: places of cells along the Morton and the Hilbert curve of the plane and of space.
#pragma once
#include <array>
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

/// Morton key in three dimensions: the bits of x, y and z interleaved, x the highest of each three. Coordinates below
/// 2^21.
constexpr std::uint64_t morton_key(const std::array<std::uint32_t, 3>& at) {
    std::uint64_t key = 0;
    for (int bit = 20; bit >= 0; --bit)
        for (const std::uint32_t x : at) key = key << 1 | (x >> bit & 1);
    return key;
}

/// Place along the Hilbert curve through a cube of 2^21 cells a side (J. Skilling, "Programming the Hilbert curve", AIP
/// Conference Proceedings 707, 2004).
constexpr std::uint64_t hilbert_key(std::array<std::uint32_t, 3> at) {
    constexpr std::uint32_t top = 1u << 20;
    for (std::uint32_t q = top; q > 1; q >>= 1)  // undo what each level has turned
        for (std::uint32_t& x : at) {
            // Inverts the low bits of at[0] or exchanges them with those of x, without a branch: it would be hard to
            // predict.
            const std::uint32_t low = q - 1, inverted = x & q ? low : 0, swapped = (at[0] ^ x) & (low ^ inverted);
            at[0] ^= inverted | swapped;
            x ^= swapped;
        }
    at[1] ^= at[0];  // Gray code
    at[2] ^= at[1];
    std::uint32_t turned = 0;
    for (std::uint32_t q = top; q > 1; q >>= 1)
        if (at[2] & q) turned ^= q - 1;
    for (std::uint32_t& x : at) x ^= turned;
    return morton_key(at);
}

}  // namespace balance

// SPDX-License-Identifier: MIT
// The first 512 bytes of a checkpoint, readable text: what the file is, its size, and a digest of all its other bytes.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace app {

inline constexpr std::size_t front_bytes = 512;  // the smallest user block of HDF5
/// Columns of /exact/state: the coordinates, then the velocities.
inline constexpr int state_columns(int dimensions) { return 2 * dimensions; }

struct Front {
    std::int64_t step = 0, particles = 0;
    std::int64_t bytes = 0;  ///< of the whole file
    std::uint64_t state_hash = 0;
    std::uint64_t body = 0;  ///< digest of what follows
};

/// The whole 512 bytes; a front is valid only if it is exactly what this makes of its own numbers.
std::string text_of(const Front& front);

/// The front that a text is, empty if it is none.
std::optional<Front> parse_front(const std::string& text);

}  // namespace app

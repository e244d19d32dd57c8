// SPDX-License-Identifier: MIT
// Particles that a file holds, and what is known of them without it. md/ opens no file.
#pragma once
#include <cstdint>
#include <optional>
#include <string>

namespace md {

struct StateFile {
    std::string file;                   ///< Path of the file; empty: none.
    std::optional<std::int64_t> frame;  ///< Number of the frame from 0; empty: the last one.
    std::string group;                  ///< Group of particles in the file; empty: `all`, or the only one.
    std::string digest;                 ///< Digest of all bytes, 16 hex digits. Empty: the file has not been read yet.
    std::int64_t particles = 0;         ///< Particles that are taken: all, or a body's number.
    double fastest = 0;                 ///< Largest speed of a particle, length / time.
};

}  // namespace md

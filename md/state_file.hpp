// SPDX-License-Identifier: MIT
// Particles that a file holds, and what is known of them without it. md/ opens no file.
#pragma once
#include <cstdint>
#include <optional>
#include <string>

namespace md {

struct StateFile {
    std::string file;                   ///< its path; empty: there is none
    std::optional<std::int64_t> frame;  ///< counted from 0; empty: the last
    std::string group;                  ///< of particles, in a file that holds several; empty: `all`, or the only one
    std::string digest;                 ///< of all its bytes, 16 hex digits; empty: not known yet, as all that follows
    std::int64_t particles = 0;         ///< that are taken of it: all, or as many as a body has
    double fastest = 0;                 ///< the largest speed of a particle, length / time
};

}  // namespace md

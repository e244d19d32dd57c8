// SPDX-License-Identifier: MIT
// What a file is that was given in place of a checkpoint, so that the message can say so.
#pragma once
#include <cstddef>
#include <string>

namespace app {

/// What is wrong with `path` as a checkpoint, and what to do: "is a trajectory, not a checkpoint; open it with ...".
/// Looks at the first bytes only and opens nothing but regular files. `front`: those bytes, as many as front_look where
/// there are that many.
std::string why_no_checkpoint(const std::string& path, const std::string& front);

inline constexpr std::size_t front_look = 4096;

}  // namespace app

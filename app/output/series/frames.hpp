// SPDX-License-Identifier: MIT
// At which steps a frame is taken (a few rows of one step), so that there are enough of a short run and not too many of
// a long one. Steps are divided into slots of `interval` steps, with one frame a slot. When the number of frames
// reaches its limit, the slots become twice as long. Of the two frames in a new slot, the first one stays.
#pragma once
#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

namespace app {

struct Frames {
    std::int64_t most = 2;      ///< frames, >= 2
    std::int64_t interval = 1;  ///< steps of a slot
    std::int64_t count = 0;     ///< frames that are there
    std::int64_t last = -1;     ///< slot of the last of them; -1: none

    std::int64_t slot(std::int64_t step) const { return step / interval; }
    /// Whether a frame of this step is wanted, in a slot of its own.
    bool due(std::int64_t step) const { return slot(step) > last; }
    /// Whether a frame at `step` is due if `few` frames are spread over `steps` steps. Both are below 2^50, so products
    /// leave 64 bits.
    bool early(std::int64_t step, std::int64_t steps, std::int64_t few) const {
        return static_cast<__int128>(count) * steps <= static_cast<__int128>(std::min(few, most / 2)) * step;
    }
    bool full() const { return count >= most; }
    void add(std::int64_t step) { last = slot(step), ++count; }
};

/// The frames of a run of `steps` steps, before its first frame. About most / 2 frames will be at least 16 steps apart.
/// A very long run gets them in its first steps, because it may be stopped early.
Frames frames_for(std::int64_t steps, std::int64_t most);

/// Doubles the interval of `frames` until at most `room` (>= 1) slots have a frame. Returns the rows of the first step
/// in each slot. rows: each begins with its step, in ascending order. frames: gets the count of kept frames.
std::string thinned(std::string_view rows, std::int64_t room, Frames& frames);

}  // namespace app

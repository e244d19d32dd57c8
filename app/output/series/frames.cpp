// SPDX-License-Identifier: MIT
#include "app/output/series/frames.hpp"

#include <charconv>

namespace app {
namespace {

std::string first_of_slots(std::string_view rows, Frames& frames) {
    std::string kept;
    frames.count = 0, frames.last = -1;
    for (std::int64_t step_of_slot = -1; !rows.empty();) {
        const std::string_view line = rows.substr(0, std::min(rows.find('\n'), rows.size() - 1) + 1);
        std::int64_t step = 0;
        std::from_chars(line.data(), line.data() + line.size(), step);
        if (frames.due(step)) frames.add(step), step_of_slot = step;
        if (step == step_of_slot) kept += line;
        rows.remove_prefix(line.size());
    }
    return kept;
}

}  // namespace

Frames frames_for(std::int64_t steps, std::int64_t most) {
    constexpr std::int64_t shortest = 16, longest = 256;
    Frames frames{most, shortest};
    while (frames.interval < longest && frames.slot(steps) > most / 2) frames.interval *= 2;
    return frames;
}

std::string thinned(std::string_view rows, std::int64_t room, Frames& frames) {
    std::string kept = first_of_slots(rows, frames);
    while (frames.count > room) {
        frames.interval *= 2;
        kept = first_of_slots(kept, frames);
    }
    return kept;
}

}  // namespace app

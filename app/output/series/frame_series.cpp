// SPDX-License-Identifier: MIT
#include "app/output/series/frame_series.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "app/common/errors.hpp"
#include "app/output/directory/run_directory.hpp"
#include "comm/file/durable.hpp"

namespace app {

FrameSeries::FrameSeries(const SeriesContext& c, Kind kind)
    : results_(c.results),
      comm_(c.results.comm()),
      kind_(std::move(kind)),
      path_(c.results.path() + "/" + kind_.file),
      last_step_(c.deck.run.steps),
      file_(path_, comm_, [this](comm::FileWriter& file, std::int64_t frames, std::int64_t capacity) {
          return describe(file, frames, capacity);
      }) {}

// Frames of the whole run, but no larger a file than file systems take; then it grows by copying.
std::int64_t FrameSeries::room_for(std::int64_t frames) const {
    constexpr std::int64_t most_bytes = std::int64_t{1} << 42;
    return std::min(frames, std::max<std::int64_t>(1, most_bytes / kind_.frame_bytes));
}

void FrameSeries::go_on(const SeriesContext& c) {
    if (!c.results.continued()) return;
    const std::int64_t step = c.first_step, every = kind_.every;
    std::array<std::int64_t, 4> found{};  // is there a file, frames in it, frames that stay, capacity
    if (comm_.rank() == 0) {
        const std::vector<std::int64_t> steps = kind_.frame_steps(path_);
        const auto stay = std::ranges::upper_bound(steps, step) - steps.begin();
        found = {comm::file_size(path_) >= 0, static_cast<std::int64_t>(steps.size()), stay,
                 comm::count_frames(path_, kind_.steps).capacity};
    }
    comm_.broadcast(found);
    const auto [exists, frames, stay, capacity] = found;
    if (!exists && c.expected) on_rank_0(comm_, [&] { results_.note_missing(kind_.file); });
    if (!exists || (every == 0 && frames == stay)) return;
    if (stay == 0 || !file_.open(frames, capacity))
        return on_rank_0(comm_,
                         [&] { results_.put_aside(kind_.file, "holds no frames that this run can go on with"); });
    file_.keep(stay);
    if (every == 0) return;
    const std::int64_t needed = stay + last_step_ / every - step / every;
    if (needed > capacity) file_.grow(std::max(stay + 1, room_for(needed)));
}

void FrameSeries::require_undamaged() {
    on_rank_0(comm_, [&] { results_.require_undamaged(kind_.file, file_.damage()); });
}

// Does something with the file. If another program takes it meanwhile, the error says so, and not that the disk is
// full.
template <class Body>
void FrameSeries::unless_damaged(Body body) {
    require_undamaged();
    try {
        body();
    } catch (const comm::Agreed<comm::WriteError>&) {
        require_undamaged();
        throw;
    }
}

void FrameSeries::flush() {
    unless_damaged([&] { file_.flush(); });
}

void FrameSeries::write(const OutputStep& now) {
    unless_damaged([&] {
        const std::int64_t frame = file_.frames();
        if (file_.capacity() == 0) file_.create(room_for(1 + last_step_ / kind_.every - now.step / kind_.every));
        else if (frame == file_.capacity()) file_.grow(2 * frame);
        write_frame(frame, now);
        file_.commit();
    });
}

}  // namespace app

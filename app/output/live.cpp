// SPDX-License-Identifier: MIT
#include "app/output/live.hpp"

#include <algorithm>
#include <cstdio>
#include <utility>

#include "app/common/say.hpp"
#include "app/common/signals.hpp"
#include "comm/clock.hpp"

namespace app {

Live::Live(Terminal terminal, std::int64_t first_step, std::int64_t last_step, std::int64_t particles)
    : terminal_(std::move(terminal)), screen_(terminal_.screen()) {
    view_.step = view_.first = first_step;
    view_.last = last_step;
    view_.particles = particles;
}

void Live::map(std::vector<MapRow> frame) {
    if (frame.empty()) return;
    frame_ = std::move(frame);
    map_ = map_of(frame_, screen_);
}

void Live::balanced(const std::vector<BalanceRow>& rows) {
    for (const BalanceRow& row : rows)
        if (row.driver) view_.balance = row;
}

void Live::at(std::int64_t step, std::int64_t errors) {
    if (std::exchange(errors_, errors) != errors) picture_.clear();
    view_.step = step;
    if (comm::now() >= next_) draw({});
}

void Live::end(std::int64_t step) {
    if (step == view_.last) view_.step = step, draw({});
    ended_ = true;
}

void Live::draw(const std::string& above) {
    constexpr double most = 0.001, shortest = 0.2, longest = 1;  // of the run's time; seconds between pictures
    // What terminals and launchers print of a signal stands below the picture, which is not moved any more.
    ended_ = ended_ || signal_seen() != 0;
    if (ended_) {
        if (!above.empty()) say(stdout, "{}\n", above);
        return;
    }
    const double begin = comm::now();
    pace_.at(view_.step, begin);
    view_.rate = pace_.rate();
    const Screen screen = terminal_.screen();
    if (screen.columns != screen_.columns || screen.rows != screen_.rows) map_ = map_of(frame_, screen);
    screen_ = screen;
    Lines lines = numbers_of(view_, screen);
    if (!lines.empty()) lines.insert(lines.end(), map_.begin(), map_.end());
    say(stdout, "{}", redrawn(picture_, above, lines));
    std::fflush(stdout);
    picture_ = std::move(lines);
    const double end = comm::now();
    next_ = end + std::clamp((end - begin) / most, shortest, longest);
}

}  // namespace app

// SPDX-License-Identifier: MIT
#include "app/engine/stopwatch.hpp"

#include <omp.h>

#include <algorithm>
#include <limits>

namespace app {

namespace {

// The shortest of several turns, because other programs may interrupt some.
double seconds_of_a_reading(double (*clock)()) {
    constexpr int turns = 8, readings = 8;
    double shortest = std::numeric_limits<double>::infinity();
    for (int turn = 0; turn < turns; ++turn) {
        const double begin = comm::now();
        for (int i = 0; i < readings; ++i) clock();
        shortest = std::min(shortest, (comm::now() - begin) / readings);
    }
    return shortest;
}

}  // namespace

Stopwatch::Stopwatch(const Setup& setup, const TileSet& tiles)
    : setup_(setup),
      tiles_(tiles),
      by_wall_(setup.thread_seconds == comm::now),
      reading_(setup.time_tiles ? seconds_of_a_reading(setup.thread_seconds) : 0),
      watches_(omp_get_max_threads()) {
    restart();
}

void Stopwatch::restart() {
    seconds_.assign(tiles_.size(), 0.0);
    means_.assign(tiles_.size(), {});
}

void Stopwatch::timed_for(const ThreadSchedule& schedule, const std::function<void(std::size_t)>& body) {
    if (!setup_.time_tiles)
        return parallel_runs(
            schedule.first, [&](std::size_t i) { body(schedule.items[i]); }, [] {});
    const bool shared = by_wall_ && fine_;
    parallel_runs(
        schedule.first,
        [&](std::size_t i) {
            const std::size_t t = schedule.items[i];
            Watch& w = watches_[omp_get_thread_num()];
            if (shared && !w.running) w.begin = clocks_now();
            if (!w.running || fine_ || tiles_.process_of(w.tile) != tiles_.process_of(t)) {
                book(w);
                w.tile = t;
                w.running = true;
            }
            body(t);
        },
        [&] {
            Watch& w = watches_[omp_get_thread_num()];
            if (w.running) book(w);
            if (shared && w.running) {
                const Clocks end = clocks_now();
                w.spent = {end.wall - w.begin.wall, end.cpu - w.begin.cpu};
            }
            w.running = false;
        });
    end_of(schedule);
}

// The savings are spent on a whole pass, which may take several loops.
void Stopwatch::end_of(const ThreadSchedule& schedule) {
    constexpr double part = 0.001, both_clocks = 1e-6;
    const auto cost_of = [&](std::size_t tiles) {
        return reading_ * static_cast<double>(tiles) +
               (by_wall_ ? both_clocks * static_cast<double>(watches_.size()) : 0);
    };
    double busy = 0;
    for (Watch& w : watches_) {
        busy += std::exchange(w.busy, 0.0);
        const Clocks spent = std::exchange(w.spent, {});
        at_tiles_.wall += spent.wall, at_tiles_.cpu += spent.cpu;
    }
    busy_ += busy;
    const double enough = cost_of(tiles_.on_cpu()) / part;
    saved_ = std::min(saved_ + busy, enough) - (fine_ ? cost_of(schedule.items.size()) / part : 0);
    if (saved_ >= enough) fine_ = true;
    if (saved_ <= 0) fine_ = false;
}

std::vector<double> Stopwatch::take_tile_means() {
    std::vector<double> seconds;
    for (const Mean& m : means_)
        seconds.push_back(m.loops > 1 ? (m.seconds - m.slowest) / static_cast<double>(m.loops - 1) : -1);
    means_.assign(tiles_.size(), {});
    return seconds;
}

double Stopwatch::take_share() {
    const Clocks spent = std::exchange(at_tiles_, {});
    return spent.wall > 0 ? std::clamp(spent.cpu / spent.wall, 0.0, 1.0) : 1;
}

void Stopwatch::book(Watch& w) {
    const double now = setup_.thread_seconds(), seconds = now - w.start;
    if (w.running) {
        seconds_[w.tile] += seconds, w.busy += seconds;
        if (fine_) {
            Mean& mean = means_[w.tile];
            mean = {mean.seconds + seconds, std::max(mean.slowest, seconds), mean.loops + 1};
        }
    }
    w.start = now;
}

}  // namespace app

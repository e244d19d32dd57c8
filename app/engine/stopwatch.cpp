// SPDX-License-Identifier: MIT
#include "app/engine/stopwatch.hpp"

#include <omp.h>

#include <algorithm>

namespace app {

Stopwatch::Stopwatch(const Setup& setup, const TileSet& tiles)
    : setup_(setup), tiles_(tiles), watches_(omp_get_max_threads()), seconds_(tiles.size(), 0.0) {}

void Stopwatch::timed_for(const ThreadSchedule& schedule, const std::function<void(std::size_t)>& body) {
    if (!setup_.time_tiles)
        return parallel_runs(
            schedule.first, [&](std::size_t i) { body(schedule.items[i]); }, [] {});
    const bool by_wall = setup_.thread_seconds == comm::now, shared = by_wall && measuring_;
    parallel_runs(
        schedule.first,
        [&](std::size_t i) {
            const std::size_t t = schedule.items[i];
            Watch& w = watches_[omp_get_thread_num()];
            if (shared && !w.running) w.begin = clocks_now();
            if (!w.running || tiles_.process_of(w.tile) != tiles_.process_of(t)) {
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
    double busy = 0;
    for (Watch& w : watches_) busy += std::exchange(w.busy, 0.0);
    busy_ += busy;
    if (by_wall) book_share(busy, shared);
}

void Stopwatch::book_share(double busy, bool measured) {
    constexpr double of_a_thread = 1e-6, part = 0.001;
    const double reading = of_a_thread * static_cast<double>(watches_.size());
    saved_ = std::min(saved_ + busy - (measured ? reading / part : 0), enough);
    if (saved_ >= enough) measuring_ = true;
    if (saved_ <= 0) measuring_ = false;
    for (Watch& w : watches_) {
        const Clocks spent = std::exchange(w.spent, {});
        at_tiles_.wall += spent.wall, at_tiles_.cpu += spent.cpu;
    }
}

double Stopwatch::take_share() {
    const Clocks spent = std::exchange(at_tiles_, {});
    return spent.wall > 0 ? std::clamp(spent.cpu / spent.wall, 0.0, 1.0) : 1;
}

void Stopwatch::book(Watch& w) {
    const double now = setup_.thread_seconds();
    if (w.running) seconds_[w.tile] += now - w.start, w.busy += now - w.start;
    w.start = now;
}

}  // namespace app

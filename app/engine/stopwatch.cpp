// SPDX-License-Identifier: MIT
#include "app/engine/stopwatch.hpp"

#include <omp.h>

namespace app {

Stopwatch::Stopwatch(const Setup& setup, const TileSet& tiles)
    : setup_(setup), tiles_(tiles), watches_(omp_get_max_threads()), seconds_(tiles.size(), 0.0) {}

void Stopwatch::timed_for(const ThreadSchedule& schedule, const std::function<void(std::size_t)>& body) {
    if (!setup_.time_tiles)
        return parallel_runs(
            schedule.first, [&](std::size_t i) { body(schedule.items[i]); }, [] {});
    parallel_runs(
        schedule.first,
        [&](std::size_t i) {
            const std::size_t t = schedule.items[i];
            Watch& w = watches_[omp_get_thread_num()];
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
            w.running = false;
        });
    for (Watch& w : watches_) busy_ += std::exchange(w.busy, 0.0);
}

void Stopwatch::book(Watch& w) {
    const double now = setup_.thread_seconds();
    if (w.running) seconds_[w.tile] += now - w.start, w.busy += now - w.start;
    w.start = now;
}

}  // namespace app

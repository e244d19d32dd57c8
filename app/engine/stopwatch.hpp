// SPDX-License-Identifier: MIT
// Time of each process's tiles, for balancing by the wall clock and between the CPU and its accelerators.
#pragma once
#include <cstddef>
#include <functional>
#include <utility>
#include <vector>

#include "app/engine/thread_schedule.hpp"
#include "app/engine/tile_set.hpp"

namespace app {

/// Runs loops over tiles and books the threads' time on processes. Reading the clock takes 0.3 us. So a thread reads it
/// only when it comes to a tile of another process. Consecutive tiles of one process are timed together, and the first
/// of these tiles gets the whole time.
class Stopwatch {
public:
    Stopwatch(const Setup& setup, const TileSet& tiles);

    /// After the tiles have been replaced: forgets what was booked.
    void restart() { seconds_.assign(tiles_.size(), 0.0); }

    /// parallel_runs() over tiles: body(tile).
    void timed_for(const ThreadSchedule& schedule, const std::function<void(std::size_t)>& body);

    /// CPU seconds since the last call, by tile. Only the sums over the tiles of a process have a meaning. All zero
    /// unless the setup times tiles.
    std::vector<double> take_tile_seconds() { return std::exchange(seconds_, std::vector<double>(tiles_.size(), 0.0)); }

    /// Seconds since the last call, booked on all threads together.
    double take_busy() { return std::exchange(busy_, 0.0); }

    /// CPU time over wall time of the threads at tiles since the last call, 0 to 1. Other programs may have taken the
    /// rest. 1 unless the clock is the wall clock. Only some loops are measured, so that reading the clocks costs 0.1 %
    /// of the time. These loops follow each other, because the loops of a force pass differ in length.
    double take_share();

private:
    // Clocks of a thread in a loop.
    struct Clocks {
        double wall = 0, cpu = 0;
    };
    static Clocks clocks_now() { return {comm::now(), comm::thread_cpu_seconds()}; }
    struct alignas(64) Watch {  // of one thread. start: when it came to the process that owns `tile`
        std::size_t tile = 0;
        double start = 0, busy = 0;
        bool running = false;
        Clocks begin, spent;  // in a loop whose share is measured
    };
    void book(Watch& w);
    void book_share(double busy, bool measured);

    const Setup& setup_;
    const TileSet& tiles_;
    std::vector<Watch> watches_;  // by thread
    std::vector<double> seconds_;
    double busy_ = 0;
    static constexpr double enough = 1e-2;
    Clocks at_tiles_;        // Sums over all threads, in measured loops.
    double saved_ = enough;  // Budget of measuring: seconds in loops - 1000 x seconds of reading clocks.
    bool measuring_ = true;  // True from a full budget until it is spent.
};

}  // namespace app

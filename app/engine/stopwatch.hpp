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

/// Runs loops over tiles and books the threads' time on processes. A thread reads the clock when it comes to a tile of
/// another process. The first tile of a run of tiles is booked with the time of all. In measured loops a thread reads
/// the clock at every tile, and the share of its core that it had. So many loops are measured that this costs 0.1 %.
class Stopwatch {
public:
    Stopwatch(const Setup& setup, const TileSet& tiles);

    /// After the tiles have been replaced: forgets what was booked.
    void restart();

    /// parallel_runs() over tiles: body(tile).
    void timed_for(const ThreadSchedule& schedule, const std::function<void(std::size_t)>& body);

    /// CPU seconds since the last call, by tile. Only the sums over the tiles of a process have a meaning. All zero
    /// unless the setup times tiles.
    std::vector<double> take_tile_seconds() { return std::exchange(seconds_, std::vector<double>(tiles_.size(), 0.0)); }

    /// Mean seconds of each tile in the measured loops since the last call. The slowest loop of a tile is left out,
    /// because the thread may have been interrupted. -1 for a tile with fewer than two measured loops.
    std::vector<double> take_tile_means();

    /// Seconds since the last call, booked on all threads together.
    double take_busy() { return std::exchange(busy_, 0.0); }

    /// Share of their cores that the threads had at tiles since the last call, 0 to 1. Other programs may have taken
    /// the rest. 1 unless the clock is the wall clock, and 1 without a measured loop.
    double take_share();

private:
    // Clocks of a thread in a loop.
    struct Clocks {
        double wall = 0, cpu = 0;
    };
    static Clocks clocks_now() { return {comm::now(), comm::thread_cpu_seconds()}; }
    struct alignas(64) Watch {  // of one thread: since when it has been at tiles of the process that `tile` belongs to
        std::size_t tile = 0;
        double start = 0, busy = 0;
        bool running = false;
        Clocks begin, spent;  // in a loop whose share is measured
    };
    struct Mean {
        double seconds = 0, slowest = 0;
        std::int64_t loops = 0;
    };
    void book(Watch& w);
    void end_of(const ThreadSchedule& schedule);

    const Setup& setup_;
    const TileSet& tiles_;
    const bool by_wall_;          // The share of the cores is measured as well.
    const double reading_;        // Seconds for a reading of the setup's clock.
    std::vector<Watch> watches_;  // By thread.
    std::vector<double> seconds_;
    std::vector<Mean> means_;  // By tile.
    double busy_ = 0;
    Clocks at_tiles_;   // Sums over all threads, in measured loops.
    double saved_ = 0;  // Seconds of threads in loops, less a thousand times the seconds of reading the clocks.
    bool fine_ = true;  // True in measured loops: from enough savings until they are spent.
};

}  // namespace app

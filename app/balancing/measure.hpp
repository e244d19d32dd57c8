// SPDX-License-Identifier: MIT
// Measurements of a balancing on the engine: the counts of the cells, and the processes' times by the wall clock.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "app/engine/engine.hpp"
#include "balance/round.hpp"
#include "comm/communicator.hpp"
#include "comm/team.hpp"

namespace app {

/// Counts of the cells of this rank's tiles, after Engine::rebin(). pairs: also the pairs within the cutoff, after
/// Engine::build_neighbour_lists().
balance::TileCells read_tiles(Engine& engine, bool pairs);

/// The same at the cells' homes, with pairs and the cells' work. owners: the tiles' decomposition. Collective.
/// Throws comm::Agreed<md::SimulationError> where the work cannot be summed exactly.
balance::HomeCells count_cells(const comm::Ranks& team, Engine& engine, const balance::Decomposition& owners,
                               const balance::Counting& counting);
/// Throws the error for counted work that is too large. The sum over all ranks is too large, so all ranks come here.
/// Collective.
[[noreturn]] void throw_too_much_work(const balance::TooMuchWork& error, const comm::Communicator& comm);

/// How far the clock of the threads can be believed, and what makes ranks with unlike numbers of threads comparable.
class WallClock {
public:
    /// Collective.
    explicit WallClock(const comm::Communicator& comm);

    /// From the thread seconds of a rank's tiles to the seconds that it took, scaled so that ranks with unlike numbers
    /// of threads compare.
    double of_thread() const { return of_thread_; }
    /// The threads of a mean rank: seconds of threads, scaled like that, over this number are elapsed seconds.
    double mean_threads() const { return mean_threads_; }
    /// Are these seconds enough steps of the clock to be believed?
    bool trusts(double seconds) const;

private:
    double mean_threads_, of_thread_, resolution_;  // resolution: seconds
};

/// A part of what a process would take with the even partition.
struct NanosecondsOf {
    std::int64_t process, nanoseconds;
};

/// Nanoseconds of this rank's processes since the last call, and their shares with the even partition at the mean
/// speed. costs: see evenly_owned().
struct ProcessNanoseconds {
    std::vector<std::int64_t> measured;
    std::vector<NanosecondsOf> even;
};
ProcessNanoseconds take_nanoseconds(Engine& engine, const WallClock& clock, const balance::Hosts& hosts, int rank,
                                    const balance::Speeds& speeds, std::span<const double> costs);

/// The shares of this rank's times that processes of the even partition would take, rounded. There is one part for each
/// process that would own a cell here.
///
/// times: times of the processes in `hosted`.
///
/// tiles: tiles without blocks of accelerators. The lengths of their neighbour lists share out a process's time.
///
/// costs: usual load of a cell, costs[0] + n (costs[1] + costs[2] n3 + costs[3] n5). These loads share out the time of
/// a tile that several processes would own.
std::vector<NanosecondsOf> evenly_owned(const TileSet& tiles, const balance::IndexRange& hosted,
                                        std::span<const double> times, const balance::Grid& grid,
                                        std::int64_t processes, std::span<const double> costs);

}  // namespace app

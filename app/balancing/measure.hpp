// SPDX-License-Identifier: MIT
// What a balancing reads off the engine: what is in the cells, and what the processes took by the wall clock.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "app/engine/engine.hpp"
#include "balance/round.hpp"
#include "comm/communicator.hpp"
#include "comm/team.hpp"

namespace app {

/// What is in the cells of this rank's tiles, after Engine::rebin(); pairs: also those within the cutoff, after
/// Engine::build_neighbour_lists().
balance::TileCells read_tiles(Engine& engine, bool pairs);

/// The same at the cells' homes; counting: with the work of the cells. owners: the tiles' decomposition. Collective.
/// Throws comm::Agreed<md::SimulationError> where the work cannot be summed exactly.
balance::HomeCells count_cells(const comm::Ranks& team, Engine& engine, const balance::Decomposition& owners,
                               const balance::Counting* counting);
/// What a run ends with then: throws that error. The sum over all ranks is too large, so all come here. Collective.
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

/// Nanoseconds that the processes of this rank took since the last call: of each of them, and how these would be shared
/// among the processes of the even partition, at the mean speed. costs: see evenly_owned().
struct ProcessNanoseconds {
    std::vector<std::int64_t> measured;
    std::vector<NanosecondsOf> even;
};
ProcessNanoseconds take_nanoseconds(Engine& engine, const WallClock& clock, const balance::Hosts& hosts, int rank,
                                    const balance::Speeds& speeds, std::span<const double> costs);

/// What processes with the even partition would take of the times that this rank's ones took, rounded; one part for
/// each process that would own a cell here. times: of the processes in `hosted`. A process's time is shared by what its
/// tiles' neighbour lists hold, and that of a tile that several would own like the loads that cells with so many
/// particles usually have: costs[0] + n (costs[1] + costs[2] n3 + costs[3] n5). tiles: without blocks of accelerators.
std::vector<NanosecondsOf> evenly_owned(const TileSet& tiles, const balance::Range& hosted,
                                        std::span<const double> times, const balance::Grid& grid,
                                        std::int64_t processes, std::span<const double> costs);

}  // namespace app

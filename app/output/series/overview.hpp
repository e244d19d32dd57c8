// SPDX-License-Identifier: MIT
// map.csv and ranks.csv, which scripts/report.py draws: how load, particles and owners lay in the box, and what each
// rank did, over the whole run. Cells are summed in blocks and frames thinned out (frames.hpp), so the files stay small
// in a long run. A frame costs next to nothing, because frames are taken when the particles have just been sorted into
// their cells anyway.
// A few frames of the map are spread over the run. Further ones are taken only while all frames have cost less than
// half a percent of the time. A frame of the ranks is one row a rank. While writing rows has cost more than a twentieth
// of a percent, rows wait in memory, up to the next checkpoint, the end or a full file.
#pragma once
#include <array>
#include <cstdint>
#include <functional>
#include <vector>

#include "app/balancing/load_balancer.hpp"
#include "app/common/timers.hpp"
#include "app/engine/engine.hpp"
#include "app/output/series/frames.hpp"
#include "app/output/series/series.hpp"
#include "app/output/series/tables.hpp"
#include "balance/grid/grid.hpp"

namespace app {

inline constexpr std::int64_t most_blocks = 4096;      ///< in a frame of map.csv
inline constexpr std::int64_t most_rank_rows = 65536;  ///< in ranks.csv

/// Cells of a grid in cubes of the same side; those at upper ends may be smaller.
struct Blocks {
    balance::Grid grid;
    int side = 1;  ///< cells

    std::array<int, 3> count() const;  ///< along each axis
    balance::Box box(std::int64_t place) const;
    /// Calls use(place of the block, its cells in the box) for each block that meets a box of cells.
    template <class Use>
    void for_each_in(const balance::Box& cells, Use use) const;
};
/// The smallest blocks of which there are no more than `most`.
Blocks blocks_of(const balance::Grid& grid, std::int64_t most);

class Overview {
public:
    /// Begins the files, or goes on with the files of an earlier start. frames_before: output.map_frames of that start.
    /// start_seconds: when this start began, by comm::now(). Collective. Throws OutputError.
    Overview(const SeriesContext& context, std::int64_t frames_before, double start_seconds);
    /// Adds the frames of a step that are due, after Engine::build_neighbour_lists(). Collective. Throws OutputError.
    void write(std::int64_t step, const Engine& engine, const LoadBalancer& balancer, const Timers& timers);
    /// Writes the rows of the ranks that are still in memory. Collective. Throws OutputError.
    void write_ranks(const balance::Team& team);
    /// Brings both files to the disk. On rank 0 alone, inside on_rank_0(). Throws OutputError.
    void sync() const { map_.table.sync(), ranks_.table.sync(); }

private:
    template <class Row>
    struct Thinned {
        Thinned(const SeriesContext& context, const char* name, const Columns<Row>& columns, std::int64_t most,
                std::int64_t frames_before);
        /// Whether a frame of this step is to be added, for which there is room then. Collective.
        bool wants(std::int64_t step);
        Table<Row> table;
        Frames frames;

    private:
        void thin(std::int64_t room, const std::function<void()>& before_rows_go = {});
    };
    std::vector<MapRow> map_rows(std::int64_t step, const Engine& engine, const LoadBalancer& balancer) const;
    RankRow rank_row(std::int64_t step, const Engine& engine, const Timers& timers) const;
    // Whether `seconds` are below `share` of the run's time, on rank 0. Collective.
    bool below(double share, double seconds) const;

    std::int64_t start_, steps_;
    double start_seconds_, map_seconds_ = 0, ranks_seconds_ = 0;  // spent on the two files
    std::vector<RankRow> waiting_;                                // of this rank
    Blocks blocks_;
    Thinned<MapRow> map_;
    Thinned<RankRow> ranks_;
};

}  // namespace app

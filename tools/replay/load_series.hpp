// SPDX-License-Identifier: MIT
// A load series from a file: what the cells cost and hold, step by step. A run writes one
// (app/output/series/loads.hpp), and so may any program: docs/replay.md.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "balance/grid/grid.hpp"
#include "balance/round.hpp"
#include "comm/communicator.hpp"
#include "comm/file/field_reader.hpp"

namespace app {

class LoadSeriesReader {
public:
    /// Reads and checks the whole file. Collective. Throws InputError, comm::ReadError.
    LoadSeriesReader(const std::string& path, const comm::Communicator& comm);

    const balance::Grid& grid() const { return grid_; }
    bool has_particles() const;
    bool has_ahead() const;  ///< what the cells will hold
    std::int64_t times() const { return static_cast<std::int64_t>(steps_.size()); }
    std::int64_t step(std::int64_t time) const { return steps_[time]; }
    /// Loads, counts and bytes of the cells of this rank's home. Counts are 0 if the file has none. Collective. Throws
    /// comm::ReadError.
    balance::HomeCells cells(std::int64_t time) const;
    /// As balance::series_scale().
    double scale() const { return scale_; }

private:
    void check_shapes();
    void require_memory() const;
    void check_steps();
    void find_scale();

    comm::FieldSeriesReader file_;
    std::string path_;
    const comm::Communicator& comm_;
    balance::Grid grid_;
    std::vector<std::int64_t> steps_;
    std::vector<std::string> counts_;  // names of the datasets of counts
    bool has_bytes_ = false;
    double scale_ = 1;
};

}  // namespace app

// SPDX-License-Identifier: MIT
// trajectory.h5: one growing H5MD 1.1 file of a run, frames in the order of particle ids.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "app/deck/deck.hpp"
#include "app/engine/engine.hpp"
#include "app/output/frame_series.hpp"

namespace app {

class TrajectoryFile final : public FrameSeries {
public:
    /// write() needs force_pass(..., keep_forces) where the deck wants forces.
    explicit TrajectoryFile(const SeriesContext& context);

private:
    void write_frame(std::int64_t frame, const Moment& now) override;
    std::vector<comm::FramePlace> describe(comm::FileWriter& file, std::int64_t frames, std::int64_t capacity) const;
    std::vector<std::int64_t> first_ids(const Engine& engine) const;
    void write_in_order(std::int64_t frame, const Engine& engine);

    std::vector<Column> columns_;
    std::int64_t particles_;
    std::vector<std::int64_t> first_ids_;  ///< of each range of rows
    const md::Domain domain_;
};

}  // namespace app

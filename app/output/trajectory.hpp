// SPDX-License-Identifier: MIT
// trajectory.h5: one growing H5MD 1.1 file of a run, frames in the order of particle ids.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "app/deck/deck.hpp"
#include "app/engine/engine.hpp"
#include "app/output/series.hpp"
#include "comm/communicator.hpp"
#include "comm/file/frame_file.hpp"

namespace app {

/// Steps of the frames of a trajectory, ascending; empty where there is no readable one. This rank only.
std::vector<std::int64_t> trajectory_steps(const std::string& path);

class TrajectoryFile final : public Series {
public:
    /// Goes on with what an earlier start of this run has written up to context.first_step; frames of later steps are
    /// dropped. A file that holds other columns is put aside, and the next frame starts a new one. Collective. Throws
    /// OutputError, comm::WriteError.
    explicit TrajectoryFile(const SeriesContext& context);

    /// Adds a frame. Needs force_pass(..., keep_forces) where the deck wants forces.
    void write(const Moment& now) override;
    void flush() override;

private:
    void go_on(std::int64_t step, bool expected);
    bool forget_if_damaged();
    void add_frame(const Moment& now);
    template <class Body>
    bool unless_damaged(Body body);
    std::vector<comm::FramePlace> describe(comm::FileWriter& file, std::int64_t frames, std::int64_t capacity) const;
    std::int64_t room_for(std::int64_t frames) const;
    void write_in_order(std::int64_t frame, const Engine& engine);

    RunDirectory& results_;
    std::string path_;
    const comm::Communicator& comm_;
    std::vector<Column> columns_;
    std::int64_t every_, last_step_, particles_;
    const md::Domain domain_;
    comm::FrameFile file_;
};

}  // namespace app

// SPDX-License-Identifier: MIT
// trajectory.h5: one growing H5MD 1.1 file of a run, frames in the order of particle ids.
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "app/deck/deck.hpp"
#include "app/engine/engine.hpp"
#include "comm/communicator.hpp"
#include "comm/file/frame_file.hpp"

namespace app {

/// Steps of the frames of a trajectory, ascending; empty where there is no readable one. This rank only.
std::vector<std::int64_t> trajectory_steps(const std::string& path);

class TrajectoryFile {
public:
    /// particles: in all; their ids are 0 .. particles - 1.
    TrajectoryFile(const std::string& directory, const Deck& deck, std::int64_t particles, const md::Domain& domain,
                   const comm::Communicator& comm);

    /// Goes on with what an earlier start of this run has written up to `step`; frames of later steps are dropped. A
    /// file that holds other columns is handed to put_aside, and the next frame starts a new one. Collective. Throws
    /// OutputError, comm::WriteError.
    void go_on(std::int64_t step, const std::function<void()>& put_aside);

    /// Adds a frame. Needs force_pass(..., keep_forces) where the deck wants forces. Collective. Throws
    /// comm::WriteError.
    void write(std::int64_t step, double time, const Engine& engine);

    /// Brings what was written to the disk. Collective.
    void flush() { file_.flush(); }

private:
    std::vector<comm::FramePlace> describe(comm::FileWriter& file, std::int64_t frames, std::int64_t capacity) const;
    std::int64_t room_for(std::int64_t frames) const;
    void write_in_order(std::int64_t frame, const Engine& engine);

    std::string path_;
    const comm::Communicator& comm_;
    std::vector<Column> columns_;
    std::int64_t every_, last_step_, particles_;
    std::array<double, 2> box_;
    std::array<bool, 2> periodic_;
    comm::FrameFile file_;
};

}  // namespace app

// SPDX-License-Identifier: MIT
// A result that grows by frames, one HDF5 file for a whole run (comm/file/frame_file.hpp). A restart goes on with it.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "app/output/series/series.hpp"
#include "comm/communicator.hpp"
#include "comm/file/frame_file.hpp"

namespace app {

class FrameSeries : public Series {
public:
    /// Adds a frame.
    void write(const OutputStep& now) final;
    void flush() final;

protected:
    struct Kind {
        std::string file;                                                   ///< its name
        std::string steps;                                                  ///< its dataset of steps, one a frame
        std::vector<std::int64_t> (*frame_steps)(const std::string& path);  ///< as SeriesKind::frame_steps
        std::int64_t every = 0;                                             ///< steps between frames
        std::int64_t frame_bytes{};                                         ///< of all data of a frame
    };
    FrameSeries(const SeriesContext& context, Kind kind);

    /// Goes on with what an earlier start of this run has written up to context.first_step; frames of later steps are
    /// dropped. A file of another structure is put aside, and the next frame starts a new one. For the constructor of a
    /// derived class, when describe() can be called. Collective. Throws OutputError, comm::WriteError.
    void go_on(const SeriesContext& context);
    /// Makes the datasets of a file with this many frames and room for `capacity`.
    virtual std::vector<comm::FramePlace> describe(comm::FileWriter& file, std::int64_t frames,
                                                   std::int64_t capacity) const = 0;
    /// Writes all of this rank's rows of the frame into file().
    virtual void write_frame(std::int64_t frame, const OutputStep& now) = 0;

    comm::FrameFile& file() { return file_; }
    const comm::Communicator& comm() const { return comm_; }

private:
    void require_undamaged();
    template <class Body>
    void unless_damaged(Body body);
    std::int64_t room_for(std::int64_t frames) const;

    RunDirectory& results_;
    const comm::Communicator& comm_;
    Kind kind_;
    std::string path_;
    std::int64_t last_step_;
    comm::FrameFile file_;
};

}  // namespace app

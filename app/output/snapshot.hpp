// SPDX-License-Identifier: MIT
// HDF5 files of one step: cell fields for ParaView and Python, and the particles of a checkpoint.
#pragma once
#include <cstdint>
#include <string>

#include "app/balancing/load_balancer.hpp"
#include "app/engine/engine.hpp"
#include "comm/communicator.hpp"
#include "comm/file/file.hpp"
#include "comm/file/posix_file.hpp"

namespace app {

/// Cell fields [ny, nx] of some steps: fields_<step>.h5 with `particles`, `owner` (process) and, once the run has
/// balanced, `load` (of the model that drives it, at the step that its attribute `step` tells; cells that hold no
/// particles now carry none). For ParaView fields_<step>.xdmf describes one of them, fields.xdmf all.
class FieldFiles {
public:
    FieldFiles(std::string directory, const comm::Communicator& comm) : directory_(std::move(directory)), comm_(comm) {}

    /// The series goes on after the files up to `step` that an earlier start of this run has written.
    void go_on(std::int64_t step);
    /// Needs tiles just rebuilt. Collective. Throws OutputError, comm::WriteError.
    void write(std::int64_t step, double time, const Engine& engine, const LoadBalancer& balancer);

private:
    std::string directory_;
    const comm::Communicator& comm_;
    std::string past_;  // what go_on() found
    comm::TextFile series_;
    bool series_started_ = false;
};

/// The particles' part of a checkpoint: H5MD groups and the exact integers. Collective.
void write_particles(comm::FileWriter& file, std::int64_t step, double time, const Engine& engine,
                     const comm::Communicator& comm);

}  // namespace app

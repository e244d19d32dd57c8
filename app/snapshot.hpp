// SPDX-License-Identifier: MIT
// HDF5 files of one step: cell fields for ParaView and Python, and trajectory frames in H5MD.
#pragma once
#include <cstdint>
#include <string>

#include "app/rebalance.hpp"
#include "app/tiles.hpp"
#include "comm/communicator.hpp"
#include "comm/file.hpp"

namespace app {

/// fields_<step>.h5 with `particles`, `owner` (process) and, once the run has balanced, `load` (of the model that drives it), [ny, nx];
/// fields_<step>.xdmf beside it. Needs tiles just rebuilt.
/// Collective. Throws OutputError.
void write_fields(const std::string& directory, std::int64_t step, double time, const Tiles& tiles, const Rebalance& rebalance, const comm::Communicator& comm);

/// trajectory_<step>.h5: ids, positions, velocities, forces in H5MD 1.1, the exact integers in /exact. Collective.
/// Needs force_pass(..., keep_forces). Throws OutputError.
void write_trajectory_frame(const std::string& directory, std::int64_t step, double time, const Tiles& tiles, const comm::Communicator& comm);

/// The particles' part of a file: H5MD groups and the exact integers. Collective.
void write_particles(comm::FileWriter& file, std::int64_t step, double time, const Tiles& tiles, const comm::Communicator& comm, bool forces);

}  // namespace app

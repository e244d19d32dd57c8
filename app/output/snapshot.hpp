// SPDX-License-Identifier: MIT
// What files of one step hold: cell fields for ParaView and Python, and the particles of a checkpoint.
#pragma once
#include <cstdint>

#include "app/balancing/load_balancer.hpp"
#include "app/engine/engine.hpp"
#include "app/output/cell_fields.hpp"
#include "comm/communicator.hpp"
#include "comm/file/file.hpp"

namespace app {

/// `particles`, `owner` (process) and, once the run has balanced, `load` (of the model that drives it, at the step that
/// its attribute `step` tells; cells that hold no particles now carry none). Needs tiles just rebuilt. Collective.
CellFields cell_fields(std::int64_t step, double time, const Engine& engine, const LoadBalancer& balancer);

/// The particles' part of a checkpoint: H5MD groups and the exact integers. Collective.
void write_particles(comm::FileWriter& file, std::int64_t step, double time, const Engine& engine,
                     const comm::Communicator& comm);

}  // namespace app

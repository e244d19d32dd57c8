// SPDX-License-Identifier: MIT
// steelyard partition: a partition of a load field for a machine, without a step.
#pragma once
#include "app/run/options.hpp"
#include "comm/communicator.hpp"

namespace app {

/// Writes partition.json and the cell fields. Returns the exit code. Collective.
int partition(const Options& options, const comm::Communicator& comm);

}  // namespace app

// SPDX-License-Identifier: MIT
// The commands around a run. Each returns the exit code. Collective.
#pragma once
#include "app/run/options.hpp"
#include "comm/communicator.hpp"

namespace app {

/// steelyard partition: a partition of a load field for a machine, without a step. Writes partition.json and the cell
/// fields.
int partition(const Options& options, const comm::Communicator& comm);

/// steelyard replay: balances a load series again, without particles. Writes balance.csv, resources.csv, summary.json.
int replay(const Options& options, const comm::Communicator& comm);

/// steelyard predict: how long a run will take on how many ranks, before it is made (docs/prediction.md). Writes
/// predict.json, extrap.jsonl and machine.yaml.
int predict(const Options& options, const comm::Communicator& comm);

/// steelyard selftest: short runs with each set of kernels, compared with inputs/expected.csv. Throws RunError if a
/// result is another one.
int selftest(const Options& options, const comm::Communicator& comm);

}  // namespace app

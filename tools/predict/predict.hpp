// SPDX-License-Identifier: MIT
// steelyard predict: how long a run will take on how many ranks, before it is made. docs/prediction.md
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "app/run/options.hpp"
#include "comm/communicator.hpp"

namespace app {

/// Writes predict.json, extrap.jsonl and machine.yaml. Returns the exit code. Collective.
int predict(const Options& options, const comm::Communicator& comm);

/// "1,2, 4" as ascending numbers, each once. Throws UsageError for anything else.
std::vector<std::int64_t> process_list(const std::string& text);

}  // namespace app

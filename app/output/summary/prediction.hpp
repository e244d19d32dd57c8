// SPDX-License-Identifier: MIT
// A forecast of `steelyard predict` for a run, shown beside the times of the run.
#pragma once
#include <cstdint>
#include <string>

#include "comm/communicator.hpp"

namespace app {

/// Seconds of a mean step, and what they are made of (docs/prediction.md).
struct StepSeconds {
    double step = 0;
    double compute = 0;        ///< of the mean rank: forces, neighbour lists
    double imbalance = 0;      ///< what the slowest rank computes more
    double rebalancing = 0;    ///< balancing and migration
    double communication = 0;  ///< the rest
};

struct Prediction {
    std::string file;
    StepSeconds seconds{};
    int threads = 0;  ///< of each rank, where the machine was measured; else 0
};

/// Reads the prediction for `ranks` ranks from the text of a predict.json. Throws std::invalid_argument with fault and
/// remedy if the text is no predict.json, is for another number of particles, or lacks this number of ranks.
Prediction prediction_in(const std::string& text, std::int64_t ranks, std::int64_t particles);

/// Reads the prediction for `ranks` ranks from the file predict.json at `path`. Collective. Throws InputError if the
/// file cannot be read, or for the reasons of prediction_in().
Prediction read_prediction(const std::string& path, std::int64_t ranks, std::int64_t particles,
                           const comm::Communicator& comm);

}  // namespace app

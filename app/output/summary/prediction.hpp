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

/// Reads the prediction for so many ranks in the text of a predict.json. Throws std::invalid_argument, with the fault
/// and the remedy: the text is no predict.json, is of another number of particles, or has nothing for so many ranks.
Prediction prediction_in(const std::string& text, std::int64_t ranks, std::int64_t particles);

/// The prediction for so many ranks in a predict.json. Collective. Throws InputError: the file cannot be read, is none,
/// is of another number of particles, or does not predict for so many ranks.
Prediction read_prediction(const std::string& path, std::int64_t ranks, std::int64_t particles,
                           const comm::Communicator& comm);

}  // namespace app

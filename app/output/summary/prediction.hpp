// SPDX-License-Identifier: MIT
// What `steelyard predict` said of a run, to be shown beside what the run took.
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

/// What the text of a predict.json says of so many ranks. Throws std::invalid_argument, with what is wrong and the
/// remedy: it is no such text, is of another number of particles, or says nothing of so many ranks.
Prediction prediction_in(const std::string& text, std::int64_t ranks, std::int64_t particles);

/// The prediction for so many ranks in a predict.json. Collective. Throws InputError: the file cannot be read, is none,
/// is of another number of particles, or does not predict for so many ranks.
Prediction read_prediction(const std::string& path, std::int64_t ranks, std::int64_t particles,
                           const comm::Communicator& comm);

}  // namespace app

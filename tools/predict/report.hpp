// SPDX-License-Identifier: MIT
// The table and files of `steelyard predict`.
#pragma once
#include <string>
#include <vector>

#include "app/deck/deck.hpp"
#include "app/run/options.hpp"
#include "tools/predict/forecast.hpp"

namespace app {

/// Forecasts, ascending by ranks, the first for one rank.
struct PredictReport {
    const Deck& deck;
    const Options& options;
    predict::Machine machine{};
    Deck::Machine nodes{};               ///< of the machine file; as found where there is none
    bool calibrated = false;             ///< the machine was measured now
    std::string messages_how{};          ///< where its costs of messages are from, in words
    std::vector<std::string> assumed{};  ///< what the machine file does not say the costs of, in words
    double fitted = 1;                   ///< calibrated: see MeasuredCosts
    std::int64_t particles = 0, cells = 0;
    double steps_per_rebuild = 1;
    std::int64_t sampled_steps = 0;               ///< the first steps of the run, whose mean is predicted
    int cores = 1;                                ///< calibrated: that are here
    std::int64_t answer = 0;                      ///< ranks for options.efficiency or options.seconds; 0: none
    std::int64_t most_ranks = 1, most_tried = 1;  ///< that grid and machine hold; up to which a number was sought
    std::vector<predict::Forecast> forecasts{};
};

/// The table on the terminal. directory: where the files are.
void say_prediction(const PredictReport& report, const std::string& directory);

/// The text of predict.json.
std::string to_json(const PredictReport& report);

/// The predicted seconds of a step as Extra-P's JSON lines, one for each number of ranks and term.
std::string extrap_lines(const PredictReport& report);

}  // namespace app

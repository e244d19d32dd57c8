// SPDX-License-Identifier: MIT
// The texts of summary.json and run.json, and the numbers that are read back from predict.json.
#pragma once
#include <cstdint>
#include <string>

#include "app/output/lineage.hpp"
#include "app/output/prediction.hpp"
#include "app/output/summary.hpp"

namespace app {

/// The text of summary.json.
std::string to_json(const Summary& summary);

/// Whether this text of a summary.json is of a run that ended at this step in this state.
bool ends_with(const std::string& summary, std::int64_t step, std::uint64_t state_hash);

/// What the text of a predict.json says of so many ranks. Throws std::invalid_argument, with what is wrong and the
/// remedy: it is no such text, is of another number of particles, or says nothing of so many ranks.
Prediction prediction_in(const std::string& text, std::int64_t ranks, std::int64_t particles);

/// The text of run.json.
std::string text_of(const Lineage& lineage, const Trajectory& now);

/// What a text of run.json says; an empty lineage for a text that no run wrote.
Lineage lineage_in(const std::string& text, Trajectory& trajectory);

}  // namespace app

// SPDX-License-Identifier: MIT
// run.json: the lineage of the run whose results a directory holds, and the settings of its last start.
#pragma once
#include <cstdint>
#include <string>

#include "app/deck/deck.hpp"
#include "app/output/checkpoint/checkpoint_info.hpp"

namespace app {

/// Settings of a start of the program that decide its results.
struct Trajectory {
    double dt = 0;
    std::string precision;
    std::uint64_t settings = 0;  ///< digest of the effective deck without the numbers below and `checkpoint`
    std::int64_t steps = 0;      ///< the last step
    std::int64_t processes = 0;  ///< virtual processes
    bool balances = false;       ///< as the settings say; not in run.json
};

/// The settings of a run of this deck on `ranks` ranks.
Trajectory trajectory_of(Deck deck, int ranks);

/// The text of run.json.
std::string text_of(const Lineage& lineage, const Trajectory& now);

/// Reads a text of run.json. Returns an empty lineage for a text that no run wrote.
Lineage lineage_in(const std::string& text, Trajectory& trajectory);

/// Whether this text of a summary.json is of a run that ended at this step in this state.
bool ends_with(const std::string& summary, std::int64_t step, std::uint64_t state_hash);

}  // namespace app

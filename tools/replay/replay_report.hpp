// SPDX-License-Identifier: MIT
// The result of a replay: the table at its end, and its summary.json.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "app/balancing/load_balancer.hpp"
#include "balance/grid/grid.hpp"
#include "balance/replay.hpp"

namespace app {

struct ReplayReport {
    std::vector<std::string> command_line;
    std::string deck;   ///< a name
    std::string loads;  ///< the file
    balance::Grid grid;
    int ranks = 1;
    std::int64_t processes = 1, opportunities = 0;
    std::vector<balance::ContenderCost> contenders;  ///< the driver, then what is compared with it
    std::string prices;                              ///< prices_in_words()
    std::vector<Overall> overall;
    std::optional<balance::Replay::Optimum> optimum;
    std::vector<std::string> notes;  ///< never_balanced()
};

/// The text of a replay's summary.json.
std::string to_json(const ReplayReport& report);

/// The table at the end of a replay; rank 0.
void say_replay(const ReplayReport& report, const std::string& directory);

}  // namespace app

// SPDX-License-Identifier: MIT
// The result of a replay: the table at its end, and its summary.json.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "app/balancing/load_balancer.hpp"
#include "balance/grid/grid.hpp"

namespace app {

struct ReplayReport {
    /// The driver, then what is compared with it. Seconds are in the unit of the series' loads.
    struct Contender {
        std::string name;
        double computing_seconds = 0;  ///< of the slowest process, from opportunity to opportunity
        double balancing_seconds = 0;  ///< by balance.work.balancing and balance.work.move
        std::int64_t balancings = 0;   ///< partitions made, but for the first
        std::int64_t migrations = 0;   ///< of which taken
        double seconds() const { return computing_seconds + balancing_seconds; }
    };
    /// The best schedule in hindsight.
    struct Optimum {
        double seconds = 0;
        std::vector<std::int64_t> steps;  ///< at which it balances
    };

    std::vector<std::string> command_line;
    std::string deck;   ///< a name
    std::string loads;  ///< the file
    balance::Grid grid;
    int ranks = 1;
    std::int64_t processes = 1, opportunities = 0;
    std::vector<Contender> contenders;
    std::vector<Overall> overall;
    std::optional<Optimum> optimum;
    std::vector<std::string> notes;  ///< never_balanced()
};

/// The text of a replay's summary.json.
std::string to_json(const ReplayReport& report);

/// The table at the end of a replay; rank 0.
void say_replay(const ReplayReport& report, const std::string& directory);

}  // namespace app

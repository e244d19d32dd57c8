// SPDX-License-Identifier: MIT
// What balancing takes, for predictions: the arithmetic at the rates that simulated runs are charged, and the messages
// that app/balancing sends, one by one.
#pragma once

#include "app/deck/deck.hpp"
#include "tools/predict/forecast.hpp"

namespace app {

/// Seconds of the parts of one balancing.
struct BalancingSeconds {
    double look = 0;       ///< to measure, and to decide whether to partition
    double partition = 0;  ///< to model the loads, to partition, and to decide whether to migrate
    double migration = 0;  ///< to lay out the new tiles and their halos; without what it takes to move particles
};

/// With one process a rank. cells: of the whole system. partition: one that such a run has. conditions: its machine.
BalancingSeconds balancing_cost(const Deck::Balance& balance, double cells, const balance::Grid& grid,
                                const balance::Partition& partition, const predict::Conditions& conditions);

}  // namespace app

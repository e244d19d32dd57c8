// SPDX-License-Identifier: MIT
// The contenders of a deck's section balance, for the library balance, and what a report says of them. No engine is
// needed, so replays and programs without MPI use this too.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "app/deck/deck.hpp"
#include "balance/round.hpp"
#include "comm/communicator.hpp"

namespace app {

using balance::BalancedModel;

/// Overall LBE so far of one model: sum of means over sum of maxima.
struct Overall {
    std::string model;
    double lbe = 1;
    std::optional<double> measured;  ///< without the balancings before the model's first update from measured times
};
std::vector<Overall> overall_of(std::span<const BalancedModel> models);

/// A sentence on each model that has never balanced although its LBE is low, because its criterion compares with the
/// last balancing (Criterion::relative()), and there was none.
std::vector<std::string> never_balanced(std::span<const BalancedModel> models);

/// The setting of all rounds by a deck, without the widths of cells. Collective.
balance::Policy policy_of(const Deck::Balance& settings, std::int64_t processes, const comm::Communicator& comm);

/// The contenders that a deck compares with its driver. Collective.
std::vector<balance::Contender> others_of(const Deck::Balance& settings, std::int64_t processes,
                                          const comm::Communicator& comm);

}  // namespace app

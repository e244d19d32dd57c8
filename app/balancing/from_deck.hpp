// SPDX-License-Identifier: MIT
// From a deck's section balance to the library balance: policy, contenders, noise on times for studies of how models
// bear it; and what a report says of contenders. No engine is needed, so programs without MPI use this too.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "app/deck/deck.hpp"
#include "balance/replay.hpp"
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

/// Which contender costs least, and whether the difference to others is more than noise; empty for one alone.
std::string least_time(std::span<const balance::ContenderCost> costs);
std::string prices_in_words(const balance::WorkCosts& prices, bool cells_move, std::int64_t processes);

/// By counted work: whether a step after the start is an opportunity to balance.
bool is_opportunity(const Deck::Balance& settings, std::int64_t step);
/// By counted work: the last step up to `end` at which processes are measured, whether they may balance there or not.
std::int64_t last_opportunity(const Deck::Balance& settings, std::int64_t end);

/// The setting of all rounds by a deck, without the widths of cells. Collective.
balance::Policy policy_of(const Deck::Balance& settings, std::int64_t processes, const comm::Communicator& comm);

/// Facts that limit what a run may choose.
struct ChoiceLimits {
    bool accelerators = false;
    bool particles = true, ahead = true;  ///< Models may count particles, and predict these counts.
};
/// If the deck leaves model and partition to the run, the policy gets the candidates.
void add_candidates(balance::Policy& policy, const Deck::Balance& settings, const balance::Grid& grid,
                    const ChoiceLimits& limits);
/// The choices since the start, a sentence each.
std::vector<std::string> choices_in_words(const balance::Candidates& candidates, const balance::Choice& choice);

/// The contenders that a deck compares with its driver. Collective.
std::vector<balance::Contender> others_of(const Deck::Balance& settings, std::int64_t processes,
                                          const comm::Communicator& comm);

/// Factors for the times of some processes, of relative noise `noise`, by the deck's seed and the step. Empty where
/// there is none.
std::vector<double> noise_of(double noise, std::uint64_t seed, std::int64_t step, const balance::IndexRange& processes);

/// By counted work: the reference takes 1 on a process with speed 1. hosted: the processes; noise, seed: relative
/// noise, independent of the noise of their times.
std::vector<double> counted_reference(const balance::Slowdown& slow, double noise, std::uint64_t seed,
                                      std::int64_t step, const balance::IndexRange& hosted);

/// The disturbance of a replay by its deck: noise on times, and times of the reference.
balance::Replay::Disturbance disturbance_of(const Deck& deck, const balance::IndexRange& hosted, std::int64_t step);

/// Speed of each process, as the deck gives it for the process's node. Throws DeckError if the deck gives speeds of
/// another number of nodes.
std::vector<double> given_speeds(const Deck::Machine& machine, const balance::PartitionOptions& options);

}  // namespace app

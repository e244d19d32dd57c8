// SPDX-License-Identifier: MIT
// A run that chooses its load model and its partitioner. In a *trial* of a few balancings, candidates are rated beside
// the driver on the driver's own times. Trials become rarer as the run goes on.
//
// A model is rated by its error: how much longer than foretold did the slowest process take? A partitioner is rated by
// the slowest process of its partition one balancing later, by the loads of that moment, and by its ghosts and moves.
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "balance/contender.hpp"

namespace balance {

struct BalancedModel;

/// The excess of a candidate's step time over that of perfect balance, as a part of the latter: mean of some looks.
struct Rating {
    double looks = 0;
    double excess = 0;      ///< Sum.
    double difference = 0;  ///< Sum of the differences to the candidate in use.
    double squares = 0;     ///< Sum of their squares.
    double seconds = 0;     ///< Of each process, for moves since the last look.

    static constexpr std::size_t numbers = 5;
    std::array<double, numbers> to_numbers() const { return {looks, excess, difference, squares, seconds}; }
    /// Refuses numbers that no rating can have.
    static std::optional<Rating> from_numbers(std::span<const double> numbers);
    double mean() const { return looks > 0 ? excess / looks : 0; }
    void add(double seen, double of_the_one_in_use);
    /// Whether it is better than the candidate in use.
    bool better(double margin) const;
};

/// Models and partitioners that a run may choose from. It starts with the first of each. Empty: it chooses nothing.
struct Candidates {
    std::vector<Contender> models, partitions;
    bool empty() const { return models.empty(); }
    std::size_t size() const { return models.size() + partitions.size(); }
    std::vector<std::string> names() const;
};

/// A choice that changed something.
struct Chosen {
    std::int64_t step = 0;
    std::string model, partition;  ///< names of the candidates in use from now on
    double saves = 0;              ///< part of the step time that the ratings promise
};

/// The state of a run's choice.
struct Choice {
    std::int64_t model = 0, partition = 0;  ///< in use: places among the models, and among the partitions
    std::int64_t round = 0;                 ///< balancings of the trial under way; 0: none
    std::int64_t next = 1;                  ///< The driver's update with which the next trial begins.
    // Since the start of the program, by the wall clock:
    double begun = 0, spent = 0;   ///< seconds: when it was, and in trials
    double partition_seconds = 0;  ///< of the driver's last partition
    std::vector<Chosen> made{};    ///< Choices since then.

    static constexpr std::int64_t rounds = 4;    ///< of a trial
    static constexpr double most_spent = 0.002;  ///< part of the run that a trial may take
    static constexpr std::size_t numbers = 4;    ///< that checkpoints hold
    std::vector<std::int64_t> to_numbers() const { return {model, partition, round, next}; }
    /// Whether these numbers can be those of a choice among so many. If they are, takes them over.
    bool restore(std::span<const std::int64_t> numbers, const Candidates& candidates);
    /// Whether a balancing belongs to a trial.
    /// updates: of the driver's model, this one among them.
    /// left: seconds that remain for trials after this one, if they count.
    bool tries(double updates, std::optional<double> left) const;
};

/// The place of the best candidate. The one in use stays the best until the difference to another one exceeds `margin`,
/// a part of the step time, and twice its standard error.
std::int64_t best_of(std::span<const BalancedModel> candidates, std::int64_t in_use, double margin);

}  // namespace balance

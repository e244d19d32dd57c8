// SPDX-License-Identifier: MIT
// A driver's round that may belong to a trial of its candidates (choice.hpp).
#pragma once
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "balance/round.hpp"

namespace balance {

/// Rates the models of a trial after each look at the driver's times: how much longer than foretold did the slowest
/// process take? Collective.
/// times: of the hosted processes, as models see them.
void rate_models(const Setting& setting, const std::vector<double>& times, Balancing& all);

/// The driver takes over a model with its knowledge, and the options of a partitioner.
void become(const Setting& setting, std::int64_t model, std::int64_t partition, Balancing& all);

/// Parts of a round of one candidate. Collective.
struct CandidateSteps {
    /// Learns from the times of the partition in use at the begin of the round, and returns its loads.
    std::function<CellLoads(BalancedModel&, const std::vector<double>& times)> learn;
    /// LBE of its partition with these costs of the cells at home.
    std::function<double(BalancedModel&, std::span<const std::int64_t> cost)> efficiency;
    /// Takes the next partition by these loads. Returns what moves.
    std::function<Moved(BalancedModel&, const CellLoads& loads)> repartition;
    /// Seconds a step of each hosted process of its partition, by these loads.
    std::function<std::vector<double>(BalancedModel&, const CellLoads& loads)> foretell;
};

class Trial {
public:
    Trial(const Setting& setting, const Measured& measured, const HomeCells& cells, Balancing& all,
          CandidateSteps steps);

    /// By counted work, at each opportunity.
    void rate(const Observation& seen);
    /// When the driver has new loads, and before they make a partition. Returns false if no trial is under way, and
    /// none begins. At the end of a trial it chooses, and `loads` becomes those of the chosen model.
    bool balance(const Observation& seen, CellLoads& loads);
    /// After that, when the driver has its partition: the candidates follow.
    void go_on(const BalanceRow& driver);

private:
    void begin();
    void rate_partitions(double mean_seconds, double steps, std::span<const std::int64_t> cost, double ghost_seconds);
    void choose(CellLoads& loads);
    double longest(double seconds) const;  // of all members

    const Setting& s_;
    const Measured& measured_;
    const HomeCells& cells_;
    Balancing& all_;
    Choice& choice_;
    BalancedModel& driver_;
    CandidateSteps steps_;
    std::span<BalancedModel> models_, partitions_;
    std::vector<CellLoads> loads_;  // by each model
    double begun_ = 0, seconds_ = 0;
};

}  // namespace balance

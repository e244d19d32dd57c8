// SPDX-License-Identifier: MIT
// Criteria: when a run balances its loads.
//
// A run may balance at every *opportunity*, which comes at regular steps. At each opportunity a criterion gets the
// times of the processes, and returns the time lost by not balancing. The run balances if the loss exceeds the cost of
// a balancing. Criteria are pure functions: the caller keeps their memory since the last migration.
// To add one: a file with a class derived from Criterion, a line in STEELYARD_CRITERIA (criterion.cpp), a test:
// docs/extend.md.
#pragma once
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace balance {

/// Times of the processes up to an opportunity to balance.
struct Opportunity {
    double steps = 0;                          ///< since the opportunity before
    double mean = 0, largest = 0;              ///< over the processes, seconds a step in those steps
    double spent_mean = 0, spent_largest = 0;  ///< over the processes, seconds since the last migration
    double reachable = 1;    ///< LBE of the partition that was computed last, by the loads for which it was made
    double lost_before = 0;  ///< what lost() returned at the opportunity before; 0 after a migration
    std::optional<double> left = {};  ///< steps until the end of the run, if that is known
    bool untried = false;             ///< no model has learnt from times: the partition is still that of the start
    bool scatters = false;  ///< the times are measured, and other jobs of a machine delay now this process, now that

    double lbe() const { return largest > 0 ? mean / largest : 1; }
};

class Criterion {
public:
    virtual ~Criterion() = default;

    /// Returns the seconds lost by not balancing, at least 0. The caller compares them with the cost of a balancing.
    /// memory: memory_size() numbers that the criterion keeps from one opportunity to the next; 0 after a migration.
    virtual double lost(const Opportunity& now, std::span<double> memory) const = 0;
    virtual std::size_t memory_size() const { return 0; }
    /// Whether the run balances. cost: of a balancing, seconds of each process: by counted work that of the partition
    /// made last, by the wall clock that of the last migration.
    virtual bool balances(double lost, double cost) const { return lost > cost; }
    /// Whether a new partition is taken only if balances() holds for its own cost, too. If not, the one that was asked
    /// for is used.
    virtual bool weighs_partitions() const { return false; }
    /// Whether the run balances at every opportunity, whatever the times are: then nobody asks what was lost.
    virtual bool always() const { return false; }
    /// Whether lost() goes only by how times have changed since the last migration. A start that is bad and stays so
    /// then never asks for a balancing.
    virtual bool relative() const { return false; }
};

/// Which criterion decides, and the constants of all of them (deck keys balance.criterion and balance.criteria).
struct CriterionOptions {
    std::string name = "gain";
    double threshold = 0.9;  ///< threshold: the LBE below which it balances, in (0, 1]
    friend bool operator==(const CriterionOptions&, const CriterionOptions&) = default;
};

/// Throws std::invalid_argument for an unknown name.
std::unique_ptr<Criterion> make_criterion(const CriterionOptions& options);

/// Names of all criteria: ours, the simple ones, then the published ones.
std::vector<std::string> criterion_names();

}  // namespace balance

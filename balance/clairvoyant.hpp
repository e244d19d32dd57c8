// SPDX-License-Identifier: MIT
// Finds the best schedule of balancings of a load series, which can be known in hindsight only.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "balance/criterion/optimum.hpp"
#include "balance/round.hpp"

namespace balance {

/// Makes the partition of each opportunity, as a driver with the criterion `every` does. The schedule is exact where a
/// partition depends on the loads of its step alone: with the model `exact`, equal speeds, and without sticky cuts.
class Clairvoyant {
public:
    /// setting: of the driver; lives as long as this.
    Clairvoyant(const Setting& setting, const ModelConstants& constants, const std::string& model);

    /// The next opportunity; the first one is the start. Returns why there is no partition, where there is none.
    /// Collective.
    std::optional<Infeasible> see(std::int64_t step, HomeCells cells);

    /// Seconds of computing and of balancing, by the policy's prices. Collective.
    /// between: called again and again.
    Schedule best(const std::function<void()>& between) const;
    /// Bytes on a rank. opportunities: their number, the start among them.
    static double bytes(std::int64_t opportunities, std::int64_t cells, std::int64_t processes, int ranks);
    /// Steps of all opportunities.
    const std::vector<std::int64_t>& steps() const { return steps_; }

private:
    std::vector<ScheduleCosts::Step> costs_from(std::int64_t i) const;
    /// Costs of keeping the partition of opportunity i up to opportunities [begin, end). For each of them: the work of
    /// each process, then the particles (or cells, Counting::cells_move) that move to its own partition. Sums over all
    /// members. Collective.
    std::vector<std::int64_t> sums_of(std::int64_t i, std::int64_t begin, std::int64_t end) const;

    Setting setting_;
    Balancing every_;
    std::vector<std::int64_t> steps_;
    std::vector<HomeCells> cells_;
    std::vector<Owners> owners_;  // after each opportunity, at this member's home
};

}  // namespace balance

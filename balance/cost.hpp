// SPDX-License-Identifier: MIT
// The costs of the contenders of a comparison by counted work, and whether their differences are more than noise.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace balance {

struct Counting;
struct BalanceRow;

/// The cost of one contender since the program started, from its rows.
struct ContenderCost {
    std::string name;
    double computing_seconds =
        0;  ///< of the slowest process, and of a mean one for ghosts, from opportunity to opportunity
    double balancing_seconds = 0;  ///< by the prices of a balancing and of what moves
    std::int64_t balancings = 0;   ///< partitions made, but for the first
    std::int64_t migrations = 0;   ///< of which taken
    std::int64_t from_step = 0;    ///< where the sums begin
    std::int64_t opportunities = 0;
    double ghost_cells = 0, ghost_bytes = 0;  ///< means over the opportunities, of the partition in use after each
    std::vector<double> each{};  ///< seconds from one opportunity to the next, in long runs of several together
    std::int64_t together = 1;   ///< opportunities in an entry of `each`

    double seconds() const { return computing_seconds + balancing_seconds; }
    /// row: of an opportunity `steps` after the one before. ghosts: ghost cells of the partition in use till then.
    /// beside: balancings made beside it, for a trial.
    void add(const BalanceRow& row, std::int64_t steps, const Counting& counting, std::int64_t processes, double ghosts,
             std::int64_t beside = 0);
};

/// How much more a contender costs than the one that costs least, as a part of the latter's seconds.
struct Excess {
    std::size_t contender = 0;
    double part = 0;
    std::optional<double> error = {};  ///< standard error of `part`; unknown with fewer than four opportunities
    bool beyond_noise() const { return error && part > 2 * *error; }
};
/// The contenders, from the one that costs least on. Errors follow from up to 16 blocks of consecutive opportunities.
std::vector<Excess> ranking(std::span<const ContenderCost> costs);

}  // namespace balance

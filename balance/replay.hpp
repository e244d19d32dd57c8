// SPDX-License-Identifier: MIT
// The rounds of a run (round.hpp) on recorded loads of cells, without particles. The decisions are those of a run by
// counted work on the same loads, to the last bit.
#pragma once
#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "balance/clairvoyant.hpp"
#include "balance/contender.hpp"
#include "balance/round.hpp"

namespace balance {

/// Seconds of work in a replay for a load of 1 in a series. The scale is 1 if the loads look like seconds. Otherwise
/// the scale is a power of two that makes the loads large integers, so that sums are exact.
/// largest: the largest load of a cell in the series
double series_scale(double largest, std::int64_t cells);

/// The numbers of a load series, as far as they were seen.
struct SeriesNumbers {
    double largest = 0, most_particles = 0, most_bytes = 0;  ///< of a cell
    /// How many loads, counts and bytes of an entry are none.
    using Bad = std::array<std::int64_t, 3>;
    /// Looks at an entry, or at a member's part of one. particles, bytes: empty if the series has none.
    Bad see(std::span<const double> load, std::span<const double> particles, std::span<const double> bytes = {});
    /// The flaw of an entry, in words; empty if it has none. bad: as see() returned it. counts: name of the counts.
    static std::string flaw_of_entry(const Bad& bad, std::int64_t time, const std::string& counts = "/particles");
    /// The flaw of a whole series, in words; empty if it has none. cells: number of cells of the grid.
    std::string flaw(std::int64_t cells) const;
};

/// HomeCells::bytes of a series, whose numbers have no flaw.
std::vector<std::int64_t> in_parts_of_bytes(std::span<const double> bytes);

class Replay {
public:
    /// Disturbances of the measurements of a member's processes, at one opportunity.
    struct Disturbance {
        std::vector<double> noise;                     ///< as RoundMoment::noise
        std::optional<std::vector<double>> reference;  ///< as Measured::reference
    };

    /// scale: of the series (series_scale()). The policy's prices are in the unit of its loads.
    /// others: compared with the driver.
    /// optimum: also find the best schedule, on the conditions of Clairvoyant.
    /// The team and the meter live as long as this. Collective.
    Replay(const Team& team, const Grid& grid, const Hosts& hosts, Policy policy, const Meter& meter, double scale,
           const ModelConstants& constants, const std::string& driver, std::span<const Contender> others, bool optimum);
    Replay(const Replay&) = delete;  // the clairvoyant refers to the setting
    Replay& operator=(const Replay&) = delete;

    /// The next opportunity to balance; the first one is the start. All seconds of the outcome are in the unit of the
    /// loads. cells: with work of `scale` seconds for a load of 1. Collective.
    RoundOutcome balance(std::int64_t step, HomeCells cells, const Disturbance& disturbance);

    const Setting& setting() const { return setting_; }
    const Balancing& state() const { return state_; }
    /// The driver (0) or another contender. On a team of one, a caller may give it a name, a model, a criterion and a
    /// partitioner of its own before the first balance().
    BalancedModel& contender(std::size_t i) { return state_.models[i]; }
    /// The driver, then the others, in the unit of the loads.
    std::vector<ContenderCost> costs() const;
    /// The best schedule, in the unit of the loads, and the steps at which it balances. Collective.
    struct Optimum {
        double seconds = 0;
        std::vector<std::int64_t> steps;
    };
    /// between: called again and again, because the search may take long; what it throws ends the search.
    std::optional<Optimum> optimum(const std::function<void()>& between = [] {}) const;

private:
    Setting setting_;
    double scale_;
    Balancing state_;
    std::optional<Clairvoyant> clairvoyant_;
    std::optional<std::int64_t> last_step_;
};

}  // namespace balance

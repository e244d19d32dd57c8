// SPDX-License-Identifier: MIT
// Observation of a balancing's arithmetic while it goes on.
#pragma once
#include <cstdint>

namespace balance {

/// Parts of a round that take time.
/// Fields: plans between homes and boxes, and packing.
/// Around: the particles in the cells around each cell.
/// Sums: over the pieces of processes in a home.
/// Speeds: of the processes that a member hosts.
/// Medians: on member 0, of all processes or of a sample of very many.
/// Whole: a partition of the whole grid, which the other members wait for.
enum class RoundPart {
    fields,
    around,
    counted,
    owners,
    model,
    lines,
    bisection,
    chain,
    quality,
    sums,
    speeds,
    medians,
    whole
};

/// Watches a round from outside. This one sees nothing; a simulator spends the time of each part.
class Meter {
public:
    virtual ~Meter() = default;
    /// A part begins. The part goes through `processes` processes and `cells` cells, for `lines` lines of cells.
    /// Fields: `cells` counts the numbers that are packed and unpacked. They may be told afterwards.
    /// Quality: `processes` counts the numbers that are added up.
    /// Chain: `processes` counts the parts of all sweeps, `cells` the items that the member collects.
    virtual void part(RoundPart, std::int64_t /*processes*/, std::int64_t /*cells*/) const {}
    /// Seconds on a clock that only goes forward.
    virtual double now() const { return 0; }
};
/// For those who watch nothing.
inline const Meter no_meter{};

}  // namespace balance

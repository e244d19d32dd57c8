// SPDX-License-Identifier: MIT
// What a balancing tells of its arithmetic while it goes on.
#pragma once
#include <cstdint>

namespace balance {

/// Parts of a round that take time. Of fields, plans between homes and boxes, and packing. Around: what is in the cells
/// around each. Sums: of the pieces that processes have in a home. Speeds: of the processes that a member hosts;
/// medians: on member 0, of all processes or of a sample of very many.
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
    medians
};

/// Watches a round from outside. This one sees nothing; a simulator spends the time of each part.
class Meter {
public:
    virtual ~Meter() = default;
    /// A part begins that goes through so many processes and cells, for `lines` lines of cells; of fields cells are the
    /// numbers that are packed and unpacked, which may be told afterwards; of quality processes are the numbers that
    /// are added up; of the chain these are the parts of all sweeps, and the items that the member collects.
    virtual void part(RoundPart, std::int64_t /*processes*/, std::int64_t /*cells*/) const {}
    /// Seconds on a clock that only goes forward.
    virtual double now() const { return 0; }
};
/// For those who watch nothing.
inline const Meter no_meter{};

}  // namespace balance

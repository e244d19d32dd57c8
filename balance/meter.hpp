// SPDX-License-Identifier: MIT
// What a balancing tells of its arithmetic while it goes on.
#pragma once
#include <cstdint>

namespace balance {

/// Parts of a round that take time. Of fields, plans between homes and boxes, and packing. Around: what is in the cells
/// around each. Sums: of the pieces that processes have in a home. The others belong to the search for slow processes.
/// Blocks: what each member sums of its cells. Look: at the times of the processes that a member hosts. Medians and
/// prior: on member 0, of the times and of the costs that are fitted to them. Where something is not explained yet,
/// also shares: of blocks, on each member; sift: what a searching member chooses from them; and the search itself.
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
    blocks,
    look,
    medians,
    prior,
    shares,
    sift,
    search
};

/// Watches a round from outside. This one sees nothing; a simulator spends the time of each part.
class Meter {
public:
    virtual ~Meter() = default;
    /// A part begins that goes through so many processes and cells, for `lines` lines of cells; of fields cells are the
    /// numbers that are packed and unpacked, which may be told afterwards; of quality processes are the numbers that
    /// are added up; of the chain these are the parts of all sweeps, and the items that the member collects; in a look
    /// processes count a quarter more for each record after the first that has to be looked at anew; from medians on
    /// they count once for each record; of the search itself they are about its multiplications, and cells the numbers
    /// of its matrix that are not zero. It is told of twice: with zeros when it begins, and with these as soon as they
    /// are known.
    virtual void part(RoundPart, std::int64_t /*processes*/, std::int64_t /*cells*/) const {}
    /// Seconds on a clock that only goes forward.
    virtual double now() const { return 0; }
};
/// For those who watch nothing.
inline const Meter no_meter{};

}  // namespace balance

// SPDX-License-Identifier: MIT
// What a replay refuses, of its deck and of its load series, and what disturbs its measurements. Neither files nor
// ranks are needed. In messages `name` stands for the series.
#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <string>

#include "app/deck/deck.hpp"
#include "balance/replay.hpp"

namespace app {

/// The numbers of a load series that were seen.
struct SeriesNumbers {
    std::array<std::int64_t, 2> bad{};  ///< loads and counts of the last entry that are none
    double largest = 0, most_particles = 0;
    /// An entry, or a rank's part of it. particles: empty if the series has none.
    void see(std::span<const double> load, std::span<const double> particles);
};
/// These throw InputError: for bad numbers of an entry, for numbers that cannot be summed exactly, and for steps that
/// do not ascend.
void require_entry(const SeriesNumbers& seen, std::int64_t time, const std::string& name);
void require_sums(const SeriesNumbers& seen, std::int64_t cells, const std::string& name);
void require_ascending(std::span<const std::int64_t> steps, const std::string& name);

struct SeriesFacts {
    balance::Grid grid;
    std::string lack;  ///< the words of a series without particles; empty: it has some
};
/// Throws DeckError for a deck that does not fit the series, or the ranks of the replay.
void check_replayable(const Deck& deck, const SeriesFacts& series, bool optimum, int ranks);

/// Throws DeckError if no partition kept the limit.
void require_partition(std::int64_t step, const balance::Outcome& outcome);

balance::Replay::Disturbance disturbance_of(const Deck& deck, const balance::Range& processes, std::int64_t step);

}  // namespace app

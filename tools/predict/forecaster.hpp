// SPDX-License-Identifier: MIT
// What the library predict is asked for a deck: a partition and the steps of its ranks, over the first steps of the
// run.
#pragma once
#include <cstdint>
#include <functional>

#include "app/deck/deck.hpp"
#include "md/domain.hpp"
#include "tools/predict/forecast.hpp"
#include "tools/predict/sample.hpp"

namespace app {

/// Most ranks that the grid can have.
std::int64_t most_ranks(const Deck& deck, const balance::Grid& grid);

/// Forecasts by numbers of ranks: of a mean step among those that were sampled. A forecast throws DeckError if no
/// partition keeps the deck's limit; for one rank, which is there to be compared with, there is none.
///
/// sampled: some steps of the deck on one rank.
///
/// length: factor of all lengths of the deck.
///
/// nodes: that the ranks are on. They and all before must stay.
std::function<predict::Forecast(std::int64_t ranks)> make_forecaster(const Deck& deck, const md::Domain& domain,
                                                                     const Deck::Machine& nodes,
                                                                     const predict::Machine& machine,
                                                                     const SampledCourse& sampled,
                                                                     double steps_per_rebuild, double length);

}  // namespace app

// SPDX-License-Identifier: MIT
// What the library predict is asked for a deck: a partition and the steps of its ranks, over the first steps of the
// run.
#pragma once
#include <cstdint>
#include <vector>

#include "app/deck/deck.hpp"
#include "md/domain.hpp"
#include "tools/predict/course.hpp"
#include "tools/predict/forecast.hpp"
#include "tools/predict/placement.hpp"
#include "tools/predict/sample.hpp"

namespace app {

/// Most ranks that the grid can have.
std::int64_t most_ranks(const Deck& deck, const balance::Grid& grid);

class Forecaster {
public:
    /// sampled: some steps of the deck on one rank. length: all lengths of the deck are taken so many times as large.
    /// nodes: that the ranks are on.
    Forecaster(const Deck& deck, const md::Domain& domain, const Deck::Machine& nodes, const predict::Machine& machine,
               const SampledCourse& sampled, double steps_per_rebuild, double length);

    /// Of a mean step among those that were sampled. Throws DeckError where no partition keeps the deck's limit; for
    /// one rank, which is there to be compared with, there is none.
    predict::Forecast operator()(std::int64_t ranks) const;

private:
    predict::Forecast forecast_with(int parts, std::int64_t ranks) const;
    predict::Conditions conditions_for(const RankPlacement& placement) const;
    predict::RankSteps steps_of(const predict::CellField& field, const balance::Partition& partition,
                                const RankPlacement& placement, const predict::Conditions& conditions) const;
    predict::Rules rules_for(const RankPlacement& placement, int parts) const;
    /// predict::follow() for this deck.
    predict::Course follow(const predict::Rules& rules) const;
    struct Balanced {
        predict::Course course;
        predict::RankSteps steps;  ///< of its first stretch
    };
    Balanced balanced(const RankPlacement& placement, predict::Conditions& conditions, int parts) const;
    /// Of what the cells hold from one snapshot to the next; of the last one what they hold then.
    predict::CellField mean_field(std::size_t snapshot, int parts) const;
    /// So many particles one stands for if cells are cut.
    double content(int parts) const {
        const predict::CellField& field = snapshots_.front().field;
        return field.content() / predict::grown(parts, field.grid.dimensions);
    }

    const Deck& deck_;
    const md::Domain& domain_;
    const Deck::Machine& nodes_;
    const predict::Machine& machine_;
    double steps_per_rebuild_;
    std::vector<predict::Snapshot> snapshots_;
};

}  // namespace app

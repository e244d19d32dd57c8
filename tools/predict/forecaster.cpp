// SPDX-License-Identifier: MIT
#include "tools/predict/forecaster.hpp"

#include <fmt/format.h>
#include <omp.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "app/common/words.hpp"
#include "app/deck/setup.hpp"
#include "balance/partition/bisection.hpp"
#include "balance/partition/chain.hpp"
#include "md/particles.hpp"
#include "tools/partition/load_field.hpp"
#include "tools/predict/balancing_cost.hpp"
#include "tools/predict/course.hpp"
#include "tools/predict/placement.hpp"

namespace app {
namespace {

constexpr std::size_t most_forecasts = 6;  // stretches of steps in a mean

predict::CellField loads_of(const CountedField& counted, const predict::Machine& machine, double length) {
    predict::CellField field{counted.grid, counted.work, {}, counted.halo, counted.reach};
    field.load.resize(counted.cells.size());
    for (const balance::CellCounts& cell : counted.cells) field.items.push_back(cell.n);
    field.item_bytes = static_cast<double>(ghost_bytes(counted.grid.dimensions));
    field.length = length;
    const predict::ComputeCosts& c = machine.compute;
    const balance::Unknowns costs{c.cell, c.particle, c.candidate, c.pair};
    for (std::size_t i = 0; i < field.load.size(); ++i) {
        if (!machine.deck_costs) field.load[i] = balance::to_ticks(balance::dot(counted.counts[i], costs));
        if (machine.accelerator_speed > 0)
            field.load[i] =
                static_cast<std::int64_t>(static_cast<double>(field.load[i]) / (1 + machine.accelerator_speed));
    }
    return field;
}

double last_end(const std::vector<predict::RankStep>& exchange, const predict::Conditions& c) {
    const std::vector<double> begins(exchange.size(), 0.0),
        ends = predict::Timeline(exchange, c.nodes).step_ends(begins, c.machine, comm::Overlap::links);
    return *std::ranges::max_element(ends);
}

bool balances(const Deck& deck) {
    return deck.balance.every > 0 && balance::kind_of(deck.balance.partition).follows_loads;
}

class Forecaster {
public:
    Forecaster(const Deck& deck, const md::Domain& domain, const Deck::Machine& nodes, const predict::Machine& machine,
               const SampledCourse& sampled, double steps_per_rebuild, double length)
        : deck_(deck), domain_(domain), nodes_(nodes), machine_(machine), steps_per_rebuild_(steps_per_rebuild) {
        for (const CountedField& f : sampled.fields)
            snapshots_.push_back({f.step, loads_of(f, machine, length), f.cells});
    }

    predict::Forecast forecast_for(std::int64_t ranks) const {
        const predict::CellField& field = snapshots_.front().field;
        const int parts = predict::parts_of_cells(field.grid, field.length, ranks, deck_.balance.partition.min_width);
        predict::Forecast f = forecast_with(parts, ranks);
        // Cuts beside whole cells need not keep the limit.
        if (parts == 1 || (ranks <= most_ranks(deck_, field.grid) && deck_.balance.partition.max_size == 0))
            f.undivided_imbalance = (parts == 1 ? f : forecast_with(1, ranks)).terms.imbalance;
        return f;
    }

private:
    predict::Forecast forecast_with(int parts, std::int64_t ranks) const {
        const RankPlacement placement = placement_of(nodes_, machine_, deck_.comm.ranks_per_node, ranks);
        predict::Conditions conditions = conditions_for(placement);
        const bool balancing = balances(deck_) && ranks > 1;
        Balanced run;
        std::vector<predict::Stretch>& stretches = run.course.stretches;
        if (balancing) {
            run = balanced(placement, conditions, parts);
        } else {
            const balance::Grid grid = predict::cut_cells(snapshots_.front().field.grid, parts);
            const balance::Partition even = balance::one_box_each(balance::even_partition(grid, ranks));
            for (std::size_t k = 0; k < snapshots_.size(); ++k) stretches.push_back({k, even});
        }
        // One rank, which is there to be compared with, takes the mean of the loads of the same steps.
        const std::int64_t every = balances(deck_) ? deck_.balance.every : 0;
        std::vector<predict::Forecast> forecasts;
        std::vector<double> weights;
        for (const predict::StretchShare& share :
             predict::shares_of_run(stretches.size(), snapshots_.back().step, deck_.run.steps, every, most_forecasts)) {
            const predict::Stretch& s = stretches[share.stretch];
            if (!balancing || s.snapshot > 0)
                run.steps = steps_of(mean_field(s.snapshot, parts), s.partition, placement, conditions);
            forecasts.push_back(forecast(run.steps, conditions));
            weights.push_back(share.of_steps);
        }
        return mean_of(forecasts, weights);
    }
    predict::Conditions conditions_for(const RankPlacement& placement) const {
        predict::Conditions conditions;
        conditions.nodes = comm::NodeMap(placement.node, static_cast<int>(machine_.nodes_per_switch));
        conditions.machine = machine_;
        conditions.overlap = deck_.comm.overlap;
        conditions.steps_per_rebuild = steps_per_rebuild_;
        return conditions;
    }
    predict::RankSteps steps_of(const predict::CellField& field, const balance::Partition& partition,
                                const RankPlacement& placement, const predict::Conditions& conditions) const {
        const std::int64_t ranks = partition.processes();
        const balance::TileShape tile = deck_.grid.tile.value_or(
            balance::choose_tile(field.grid, domain_.axis[1].cell_width(), ranks * omp_get_max_threads()));
        const balance::Decomposition owners(field.grid, partition, {ranks, static_cast<int>(ranks)}, tile);
        const comm::Schedule schedule = schedule_of(deck_.comm, [&](std::size_t most) {
            return std::min(most, static_cast<std::size_t>(machine_.eager_bytes));
        });
        predict::RankSteps steps = rank_steps(field, owners, conditions.nodes, schedule);
        placement.slow_down(steps.steps);
        return steps;
    }
    // How a run of the deck balances, in particles of the field.
    predict::Rules rules_for(const RankPlacement& placement, int parts) const {
        const Deck::Balance& b = deck_.balance;
        const double particles = content(parts);  // that one of the field stands for
        predict::Rules rules;
        rules.parts = parts;
        rules.model = b.model;
        rules.constants = b.constants;
        balance::Policy& policy = rules.policy;
        policy.clock = b.clock;
        policy.criterion = b.criterion;
        policy.speeds = b.speeds == balance::SpeedSource::off ? b.speeds : balance::SpeedSource::given;
        policy.partition = b.partition;
        policy.partition.processes = static_cast<std::int64_t>(placement.node.size());
        std::int64_t& limit = policy.partition.max_size;
        if (limit > 0)
            limit = std::max<std::int64_t>(1, static_cast<std::int64_t>(static_cast<double>(limit) / particles));
        policy.start = b.constants.start;
        policy.counting.work.move = b.work.move * particles;
        policy.counting.work.balancing = b.work.balancing;
        rules.speeds = placement.speed;
        return rules;
    }
    // predict::follow() for this deck.
    predict::Course follow(const predict::Rules& rules) const {
        const std::int64_t ranks = rules.policy.partition.processes;
        try {
            return predict::follow(snapshots_, ranks, rules);
        } catch (const balance::Infeasible& e) {
            throw DeckError(
                "balance.partition.max_particles_per_process: no cut keeps {} within {}; the smallest limit that works "
                "is "
                "{}; use it, or predict for more",
                counted(ranks, "process"), counted(deck_.balance.partition.max_size, "particle"),
                std::llround(std::ceil(static_cast<double>(e.smallest) * content(rules.parts))));
        }
    }
    struct Balanced {
        predict::Course course;
        predict::RankSteps steps;  //< of its first stretch
    };
    // The partitions of a run that balances, and the part of balancing in a mean step. That part has the first
    // partition, spread over all steps of the run, and the balancings between the snapshots.
    Balanced balanced(const RankPlacement& placement, predict::Conditions& conditions, int parts) const {
        const auto ranks = static_cast<std::int64_t>(placement.node.size());
        const Deck::Balance& b = deck_.balance;
        predict::Rules rules = rules_for(placement, parts);
        const bool counted_work = b.clock == balance::BalanceClock::work;
        const predict::CellField first = cut_cells(snapshots_.front().field, parts);
        BalancingSeconds cost;
        double rebuild = 0, moving = 0;
        predict::RankSteps steps;
        rules.migration_seconds = [&](const balance::Partition& start) {
            cost = balancing_cost(b, static_cast<double>(first.grid.box().cells()) * first.content(), first.grid, start,
                                  conditions);
            steps = steps_of(mean_field(0, parts), start, placement, conditions);
            rebuild = rebuild_seconds(steps, conditions);
            moving = cost.migration + rebuild;
            return cost.look + cost.partition + moving;
        };
        predict::Course course = follow(rules);

        const auto move_seconds = [&](const predict::CellField& field, const balance::Partition& from,
                                      const balance::Partition& to) {
            const double particle_bytes =
                field.grid.dimensions == 2 ? sizeof(md::Particle<2>) : sizeof(md::Particle<3>);
            const std::vector<predict::RankStep> exchange = migration_exchange(field, from, to, particle_bytes);
            double most = 0;  // particles that a rank packs
            for (const predict::RankStep& r : exchange) {
                double bytes = 0;
                for (const predict::Message& m : r.sends) bytes += m.bytes;
                most = std::max(most, bytes / particle_bytes);
            }
            return last_end(exchange, conditions) + (machine_.simulated ? 0 : most * machine_.move_seconds);
        };
        double seconds =
            static_cast<double>(course.kept + course.partitioned) * (cost.look + (counted_work ? rebuild : 0)) +
            static_cast<double>(course.partitioned) * cost.partition +
            static_cast<double>(course.migrations.size()) * moving;
        for (const std::size_t k : course.migrations)
            seconds += move_seconds(cut_cells(snapshots_[k].field, parts), course.stretches[k - 1].partition,
                                    course.stretches[k].partition);
        if (snapshots_.size() > 1)
            conditions.rebalancing_seconds =
                seconds / static_cast<double>(b.every * static_cast<std::int64_t>(snapshots_.size() - 1));
        const balance::Partition even = balance::one_box_each(balance::even_partition(first.grid, ranks));
        const double once =
            cost.look + cost.partition + moving + move_seconds(first, even, course.stretches.front().partition);
        conditions.rebalancing_seconds += once / static_cast<double>(std::max(deck_.run.steps, b.every));
        // By counted work a balancing rebuilds the neighbour lists, and their steps begin anew.
        if (counted_work) {
            const auto usual = static_cast<double>(b.every);
            const double between = std::ceil(usual / steps_per_rebuild_) - 1;
            conditions.steps_per_rebuild = between > 0 ? usual / between : 1e300;
        } else if (!balance::make_criterion(b.criterion)->always()) {  // at the next rebuild that is due
            const auto every = static_cast<double>(b.every);
            conditions.rebalancing_seconds *= every / (every + std::min(every, steps_per_rebuild_ / 2));
        }
        return {std::move(course), std::move(steps)};
    }
    // Of what the cells hold from one snapshot to the next; of the last one what they hold then.
    predict::CellField mean_field(std::size_t snapshot, int parts) const {
        if (snapshot + 1 == snapshots_.size()) return cut_cells(snapshots_.back().field, parts);
        return cut_cells(predict::between(snapshots_[snapshot], snapshots_[snapshot + 1]), parts);
    }
    // So many particles one stands for if cells are cut.
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

}  // namespace

std::int64_t most_ranks(const Deck& deck, const balance::Grid& grid) {
    return balances(deck) ? balance::capacity(grid.box(), deck.balance.partition.min_width) : grid.box().cells();
}

std::function<predict::Forecast(std::int64_t ranks)> make_forecaster(const Deck& deck, const md::Domain& domain,
                                                                     const Deck::Machine& nodes,
                                                                     const predict::Machine& machine,
                                                                     const SampledCourse& sampled,
                                                                     double steps_per_rebuild, double length) {
    return [f = Forecaster(deck, domain, nodes, machine, sampled, steps_per_rebuild, length)](std::int64_t ranks) {
        return f.forecast_for(ranks);
    };
}

}  // namespace app

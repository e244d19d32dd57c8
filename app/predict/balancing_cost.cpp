// SPDX-License-Identifier: MIT
// The list follows app/balancing/load_balancer.cpp: what each part charges to a simulated clock, and how often all
// ranks reduce, spread, collect or exchange something in it.
#include "app/predict/balancing_cost.hpp"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <vector>

#include "app/balancing/simulated_cost.hpp"
#include "balance/grid/field.hpp"
#include "predict/timeline.hpp"

namespace app {
namespace {

// Without what is packed, which is part of an exchange.
constexpr PartCost plan_of_fields{cost::fields.once, cost::fields.process, 0};

// How often something is done in a part of a balancing.
struct Messages {
    double reductions = 0, broadcasts = 0, gathers = 0, exchanges = 0, deliveries = 0;
    double messages = 0;                           ///< one after the other
    double gathered_bytes = 0, reduced_bytes = 0;  ///< by one rank; in all reductions
};

class Prices {
public:
    Prices(const balance::Grid& grid, const balance::Partition& partition, double cells,
           const predict::Conditions& conditions)
        : ranks_(static_cast<double>(partition.processes())), cells_(cells), conditions_(conditions) {
        const std::vector<double> begins(partition.processes(), 0.0);
        reduction_ = largest(predict::reduction_ends(begins, conditions.nodes, conditions.machine));
        packs_ = balance::worth_packing(static_cast<std::int64_t>(cells), partition.processes());
        const double number = packs_ ? 3 : 8;  // bytes; packed about so many (bench/bench_wide)
        const predict::Timeline fields(
            predict::field_exchange(grid, partition, number * cells / static_cast<double>(grid.box().cells())),
            conditions.nodes);
        exchange_ = largest(fields.step_ends(begins, conditions.machine, comm::Overlap::links));
        if (packs_) exchange_ += 2 * cost::fields.cell * cells_of_a_rank();
    }
    double of(const Messages& m) const {
        const predict::Machine& machine = conditions_.machine;
        constexpr double conclusions = 1024;  // bytes that are spread
        const auto each = [](double bytes, double times) { return times > 0 ? bytes / times : 0; };
        return m.reductions * reduction_ + 2 * m.reduced_bytes / machine.between.bytes_per_second +
               m.broadcasts * broadcast_seconds(conditions_.nodes, machine, conclusions) +
               m.gathers * gather_seconds(conditions_.nodes, machine, each(m.gathered_bytes, m.gathers)) +
               m.exchanges * exchange_ +
               (m.messages + m.deliveries * std::ceil(std::log2(ranks_))) *
                   (machine.message_seconds + machine.between.latency_seconds);
    }
    double cells_of_a_rank() const { return cells_ / ranks_; }
    // What comes from the homes around one comes at the same time; where it is packed, its size before it.
    double frame_messages() const { return packs_ ? 2 : 1; }
    double home(const PartCost& c) const { return part(c, cells_of_a_rank(), ranks_); }
    // Of a part that goes through the processes around a rank, not through all.
    double around(const PartCost& c) const { return part(c, cells_of_a_rank(), 16); }
    static double part(const PartCost& c, double cells, double processes) {
        return c.once + c.process * processes + c.cell * cells;
    }
    double ranks() const { return ranks_; }

private:
    static double largest(const std::vector<double>& v) { return *std::max_element(v.begin(), v.end()); }

    double ranks_, cells_;
    const predict::Conditions& conditions_;
    double reduction_ = 0, exchange_ = 0;
    bool packs_ = false;
};

double look_seconds(const Prices& price, bool counted_work) {
    // Times go to rank 0, with those of the even partition, and what follows from them to all.
    Messages m{.reductions = 1, .broadcasts = 1, .gathers = 1, .deliveries = 1, .gathered_bytes = 16 * price.ranks()};
    double seconds = price.part(cost::quality, 0, price.ranks());  // on rank 0
    if (!counted_work) return seconds + price.of(m);
    for (const PartCost& c : {cost::tiles, plan_of_fields, plan_of_fields, plan_of_fields, plan_of_fields, cost::around,
                              cost::counted, cost::sums, cost::sums})
        seconds += price.around(c);
    // Who owns what around each home; particles and neighbours go home, and particles around each home to it; what the
    // processes have in a home to their hosts.
    m.reductions += 1, m.exchanges += 2, m.messages += 2 + price.frame_messages();
    return seconds + price.of(m);
}

double partition_seconds(const Deck::Balance& balance, const Prices& price, int dimensions, double cells) {
    const bool counted_work = balance.clock == balance::Clock::work;
    const double ranks = price.ranks();
    const balance::CutTogether together = balance::cut_together_of(cells, dimensions, static_cast<int>(ranks));
    double seconds = price.part(cost::lines, static_cast<double>(together.lines), 0);
    for (const PartCost& c : {cost::model, cost::quality}) seconds += price.home(c);
    for (const PartCost& c : {cost::owners, plan_of_fields, plan_of_fields, cost::owners, cost::sums, cost::sums})
        seconds += price.around(c);
    seconds += price.part(cost::bisection, price.cells_of_a_rank(), 1);
    constexpr double model = 48, features = 32, loads = 16;
    // r1 learns from six numbers of each process, on one rank, to whose host they come from the homes of its cells; the
    // time and two numbers go back. Other models are told what the cells of their process hold, and get their states,
    // which go home again with the loads. Then the loads of the partition in use and of the next one go to the hosts,
    // and to rank 0, and their quality in one reduction to all.
    const bool additive = balance::make_model(balance.model, balance.constants)->additive();
    Messages m{.reductions = 3,
               .broadcasts = 2,
               .gathers = 3,
               .exchanges = additive ? 0.0 : 4.0,
               .deliveries = 1,
               .messages = additive ? 6.0 : 2.0,
               .gathered_bytes = (model + loads) * ranks};
    // The bisection: sums of lines, until there are boxes for all. Its loads travel twice where blocks of ranks go on
    // by themselves, and what it remembers goes with them and comes back.
    m.reductions += static_cast<double>(together.sums);
    m.reduced_bytes += 8 * static_cast<double>(together.lines);
    m.exchanges += 6;
    if (balance::kind_of(balance.partition).chained) {
        balance::PartitionOptions options = balance.partition;
        options.processes = static_cast<std::int64_t>(ranks);
        const double items = balance::expected_chain_items(options, dimensions, cells);
        const int leaders = balance::chain_leaders(static_cast<std::int64_t>(items), static_cast<std::int64_t>(ranks),
                                                   static_cast<int>(ranks));
        const balance::ChainCourse chain = balance::chain_course(items, ranks, leaders);
        seconds += cost::chain.process * chain.parts + cost::chain.cell * chain.items;
        m.reductions += chain.reductions, m.gathers += 1, m.exchanges += 1;
        // Long lists of cuts take another broadcast, after that of the first of them.
        m.broadcasts += ranks / leaders > 125 ? 2 : 1;
        // Patches to their places on the curve, and to those who have their items; to the homes of their cells; the
        // next boxes to their hosts. And the items before those of each rank.
        m.deliveries += 5;
        m.messages += chain.messages;
        m.gathered_bytes += 8 * chain.items;
    }
    if (balance.speeds == balance::SpeedSource::measured) {
        // Nothing stands out: where something does, the search takes more.
        seconds += price.home(cost::blocks) + price.home(cost::told);
        m.broadcasts += 1, m.gathers += 1, m.messages += 2;
        m.gathered_bytes += features * ranks;
    }
    if (!counted_work) {  // only now, as counted work has before
        seconds += price.around(cost::tiles) + price.around(plan_of_fields) + price.around(cost::around);
        m.reductions += 3, m.exchanges += 1, m.deliveries += 1, m.messages += price.frame_messages();
    }
    return seconds + price.of(m);
}

}  // namespace

BalancingCost balancing_cost(const Deck::Balance& balance, double cells, const balance::Grid& grid,
                             const balance::Partition& partition, const predict::Conditions& conditions) {
    const Prices price(grid, partition, cells, conditions);
    const bool counted_work = balance.clock == balance::Clock::work;
    return {look_seconds(price, counted_work), partition_seconds(balance, price, grid.dimensions, cells),
            price.around(cost::tiles) + price.of({.deliveries = 2})};
}

}  // namespace app

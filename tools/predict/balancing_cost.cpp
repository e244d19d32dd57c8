// SPDX-License-Identifier: MIT
// The list follows app/balancing/load_balancer.cpp: what each part charges to a simulated clock, and how often all
// ranks reduce, spread, collect or exchange something in it.
#include "tools/predict/balancing_cost.hpp"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <vector>

#include "app/balancing/simulated_cost.hpp"
#include "balance/grid/field.hpp"
#include "balance/over_all.hpp"
#include "tools/predict/timeline.hpp"

namespace app {
namespace {

// Without what is packed, which is part of an exchange.
constexpr PartCost plan_of_fields{cost::fields.once, cost::fields.process, 0};

// How often something is done in a part of a balancing.
struct Messages {
    double reductions = 0, broadcasts = 0, gathers = 0, exchanges = 0, deliveries = 0;
    double messages = 0;                           ///< one after the other
    double gathered_bytes = 0, reduced_bytes = 0;  ///< by one rank; in all reductions

    // balance::over_all() of `lists` lists. added_up: numbers of each list that one rank adds up.
    void over_all(double lists, double added_up) {
        const bool gathered = added_up > 1;
        gathers += gathered ? 1 : 0, gathered_bytes += gathered ? 8 * lists * added_up : 0;
        reductions += gathered ? 1 : 2;
    }
};

class Prices {
public:
    Prices(const balance::Grid& grid, const balance::Partition& partition, double cells,
           const predict::Conditions& conditions)
        : ranks_(static_cast<double>(partition.processes())), cells_(cells), conditions_(conditions) {
        const std::vector<double> begins(partition.processes(), 0.0);
        reduction_ = largest(predict::reduction_ends(begins, conditions.nodes, conditions.machine));
        packs_ = balance::worth_packing(static_cast<std::int64_t>(cells), partition.processes());
        const double number = packs_ ? 3 : 8;  // bytes; 3 is typical of packed numbers (bench/bench_wide)
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
    // Messages from neighbouring homes arrive together and count as one. If they are packed, their sizes come first.
    double frame_messages() const { return packs_ ? 2 : 1; }
    // Cost of a part that goes through the processes around a rank, not through all.
    double around(const PartCost& c) const { return part(c, cells_of_a_rank(), 16); }
    static double part(const PartCost& c, double cells, double processes) {
        return c.once + c.process * processes + c.cell * cells;
    }
    double ranks() const { return ranks_; }
    // Numbers of a list that one rank adds up.
    double added_up() const { return ranks_ <= static_cast<double>(balance::most_known_to_one) ? ranks_ : 1; }

private:
    static double largest(const std::vector<double>& v) { return *std::ranges::max_element(v); }

    double ranks_, cells_;
    const predict::Conditions& conditions_;
    double reduction_ = 0, exchange_ = 0;
    bool packs_ = false;
};

double look_seconds(const Prices& price, bool counted_work) {
    // over_all() of seven lists: times, what was spent, and what balance::WorthSums needs.
    Messages m{.reductions = 1, .deliveries = 1};
    m.over_all(7, price.added_up());
    double seconds = price.part(cost::quality, 0, 7 * price.added_up());
    if (!counted_work) return seconds + price.of(m);
    for (const PartCost& c : {cost::tiles, plan_of_fields, plan_of_fields, plan_of_fields, plan_of_fields, cost::around,
                              cost::counted, cost::sums, cost::sums})
        seconds += price.around(c);
    // Owners of the cells around each home are learnt by messages. Counts of particles and neighbours are sent to the
    // homes, and each home gets the counts around it. Sums over the cells of a process are sent to its host.
    m.reductions += 1, m.exchanges += 2, m.messages += 2 + price.frame_messages();
    return seconds + price.of(m);
}

double partition_seconds(const Deck::Balance& balance, const Prices& price, int dimensions, double cells) {
    const bool counted_work = balance.clock == balance::BalanceClock::work;
    const double ranks = price.ranks();
    const balance::CutTogether together = balance::cut_together_of(cells, dimensions, static_cast<int>(ranks));
    double seconds = price.part(cost::lines, static_cast<double>(together.lines), 0);
    for (const PartCost& c : {cost::owners, plan_of_fields, plan_of_fields, cost::owners, cost::sums, cost::sums})
        seconds += price.around(c);
    seconds += price.part(cost::bisection, price.cells_of_a_rank(), 1);
    constexpr double model = 64, ratio = 8;
    // r1 learns from times and six numbers of each process, or of some of many, on one rank, to whose host they come
    // from the homes of its cells; the time and two numbers go back. Other models are told what the cells of their
    // process hold, and get their states, which go home again with the loads. Then the loads of the partition in use
    // and of the next one go to the hosts, and what follows from them to all.
    const double concluded = std::min(ranks, static_cast<double>(balance::most_concluded));
    seconds += price.part(cost::model, price.cells_of_a_rank(), concluded);
    seconds += price.part(cost::quality, price.cells_of_a_rank(), 4 * price.added_up());
    const bool additive = balance::make_model(balance.model, balance.constants)->additive();
    Messages m{.reductions = 1,
               .broadcasts = 2,
               .gathers = 2,
               .exchanges = additive ? 0.0 : 4.0,
               .deliveries = 1,
               .messages = additive ? 6.0 : 2.0,
               .gathered_bytes = model * concluded};
    m.over_all(1, price.added_up());
    m.over_all(4, price.added_up());
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
        seconds += price.part(cost::speeds, 0, 1) + price.part(cost::medians, 0, concluded);
        m.broadcasts += 2, m.gathers += 2;
        m.gathered_bytes += 2 * ratio * concluded;
    }
    if (!counted_work) {  // only now, as counted work has before
        seconds += price.around(cost::tiles) + price.around(plan_of_fields) + price.around(cost::around);
        m.reductions += 3, m.exchanges += 1, m.deliveries += 1, m.messages += price.frame_messages();
    }
    return seconds + price.of(m);
}

}  // namespace

BalancingSeconds balancing_cost(const Deck::Balance& balance, double cells, const balance::Grid& grid,
                                const balance::Partition& partition, const predict::Conditions& conditions) {
    const Prices price(grid, partition, cells, conditions);
    const bool counted_work = balance.clock == balance::BalanceClock::work;
    return {look_seconds(price, counted_work), partition_seconds(balance, price, grid.dimensions, cells),
            price.around(cost::tiles) + price.of({.deliveries = 2})};
}

}  // namespace app

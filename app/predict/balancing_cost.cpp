// SPDX-License-Identifier: MIT
#include "app/predict/balancing_cost.hpp"

#include <cmath>
#include <initializer_list>

#include "app/balancing/simulated_cost.hpp"

namespace app {
namespace {

// Of the particles, in one migration: the README's studies of sticky and other partitions of 240 processes.
constexpr double moved_if_sticky = 0.12, moved_else = 0.42;
// Of the balancings, with migrate: gain: 4 of 14 of inputs/quickstart.yaml on two ranks.
constexpr double worth_it = 0.3;

// Pieces between which the chain may be cut, of which the rates' chain has as many as there are cells.
double chain_items(const balance::PartitionOptions& options, double ranks, double cells) {
    const double patches = static_cast<double>(options.patches_per_process) * ranks;
    if (!balance::kind_of(options).chained || options.cut == balance::CutAt::patches) return patches;
    return options.cut == balance::CutAt::cells ? cells : std::sqrt(cells * patches);  // strips of squares
}

// The arithmetic of one balancing on the rank that does most.
double arithmetic_seconds(const balance::PartitionOptions& options, double ranks, double cells) {
    const auto part = [&](const PartCost& c, double of) { return c.once + c.process * ranks + c.cell * of; };
    double seconds = 0;
    for (const PartCost& c : {cost::tiles, cost::tiles, cost::bisection}) seconds += part(c, cells);
    seconds += part(cost::chain, chain_items(options, ranks, cells));
    for (const PartCost& c : {cost::gathered, cost::fields, cost::fields, cost::fields, cost::owners, cost::owners,
                              cost::owners, cost::quality, cost::counted, cost::model})
        seconds += part(c, cells / ranks);
    return seconds;
}

// Simulated balancings of 24, 96, 384 and 2400 ranks sent 95, 155, 169 and 140 messages a rank, and 0.4, 0.7, 0.7 and
// 2.0 MB; some of the messages wait for one another.
double message_seconds(double ranks, const predict::Machine& machine) {
    const double doublings = std::log2(ranks), messages = 60 + 12 * doublings, bytes = 0.4e6 + 650 * ranks;
    return messages * (machine.message_seconds + machine.between.latency_seconds) +
           bytes / machine.copy_bytes_per_second;
}

}  // namespace

double rebalancing_seconds(const Deck::Balance& balance, std::int64_t ranks, double cells, double particles,
                           const predict::Machine& machine) {
    if (balance.every == 0 || ranks == 1) return 0;
    const auto p = static_cast<double>(ranks);
    const double moved = (balance.partition.sticky ? moved_if_sticky : moved_else) * particles / p;
    const double each =
        arithmetic_seconds(balance.partition, p, cells) + message_seconds(p, machine) + moved * machine.move_seconds;
    return each * (balance.migrate == balance::Migrate::gain ? worth_it : 1) / static_cast<double>(balance.every);
}

}  // namespace app

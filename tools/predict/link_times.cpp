// SPDX-License-Identifier: MIT
#include "tools/predict/link_times.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "balance/model/median.hpp"
#include "comm/clock.hpp"
#include "comm/exchange.hpp"

namespace app {
namespace {

using balance::median;

struct LinkTimes {
    predict::Link link;
    double message_seconds = 0;        ///< of a core, for each message
    double copy_bytes_per_second = 0;  ///< of messages shorter than the eager limit
    double spread = 0;                 ///< relative, of repeated measurements; 1 where longer messages seemed faster
};

constexpr std::size_t burst = 17, short_bytes = 8, page_bytes = 2048, long_bytes = std::size_t{1} << 20;

// Seconds of an exchange of `count` messages of `bytes` each way between a and b: the median of each of some rounds.
std::vector<double> exchange_seconds(const comm::Communicator& comm, const comm::Network& network, int a, int b,
                                     std::size_t count, std::size_t bytes) {
    constexpr int rounds = 9, inside = 40;
    const bool takes_part = comm.rank() == a || comm.rank() == b;
    std::vector<balance::Part> parts;
    if (takes_part) parts.assign(count, {comm.rank() == a ? b : a, bytes});
    comm::Exchange exchange(comm, network);
    exchange.lay_out(parts, parts);
    std::vector<std::byte> sent(count * bytes), received(count * bytes);
    std::vector<double> medians;
    for (int round = 0; round < rounds; ++round) {
        comm.barrier();
        std::vector<double> seconds;
        for (int i = 0; i < inside && takes_part; ++i) {
            const double start = comm::now();
            exchange.start(sent, received);
            exchange.finish();
            seconds.push_back(comm::now() - start);
        }
        medians.push_back(median(std::move(seconds)));
    }
    return medians;
}

LinkTimes measure_once(const comm::Communicator& comm, int a, int b) {
    comm::Schedule schedule;
    schedule.aggregate = comm::Aggregate::none;
    const comm::Network network = comm::make_network(schedule, comm, 1);
    schedule.one_by_one = true;
    const comm::Network waiting = comm::make_network(schedule, comm, 1);
    const auto seconds = [&](std::size_t count, std::size_t bytes, const comm::Network& by) {
        std::vector<double> all = exchange_seconds(comm, by, a, b, count, bytes);
        comm.broadcast(std::as_writable_bytes(std::span(all)));  // from rank 0, which is `a`
        return all;
    };
    const std::vector<double> one = seconds(1, short_bytes, network), many = seconds(burst, short_bytes, network);
    const double pages = median(seconds(burst, page_bytes, network)), large = median(seconds(1, long_bytes, network)),
                 one_by_one =
                     (median(seconds(burst, short_bytes, waiting)) - median(seconds(1, short_bytes, waiting))) /
                     (burst - 1);
    constexpr double least = 1e-9;  // of what is a difference of two medians
    LinkTimes t;
    t.message_seconds = std::max(least, (median(many) - median(one)) / (burst - 1));
    t.link.latency_seconds = std::max(least, median(one) - t.message_seconds);
    t.copy_bytes_per_second = burst * (page_bytes - short_bytes) / std::max(least, pages - median(many));
    t.link.bytes_per_second = long_bytes / std::max(least, large - median(one));
    t.link.acknowledgement_seconds = std::max(0.0, one_by_one - t.message_seconds - t.link.latency_seconds);
    const auto [low, high] = std::minmax_element(many.begin(), many.end());
    const bool sensible = median(many) > median(one) && pages > median(many) && large > median(one);
    t.spread = sensible ? std::min(1.0, (*high - *low) / (2 * median(many))) : 1;
    return t;
}

// Messages between ranks a and b, in both directions at once, as halos are: one or a burst, short and long. The same on
// all ranks.
LinkTimes measure_link(const comm::Communicator& comm, int a, int b) {
    constexpr int tries = 5;
    constexpr double quiet = 0.2;
    LinkTimes best = measure_once(comm, a, b);
    for (int i = 1; i < tries && best.spread > quiet; ++i)  // other programs were at work
        if (const LinkTimes t = measure_once(comm, a, b); t.spread < best.spread) best = t;
    return best;
}

}  // namespace

std::string measure_messages(predict::Machine& machine, const comm::Communicator& comm) {
    if (comm.size() == 1) return "assumed, because one rank alone cannot measure them";
    const comm::NodeMap nodes = comm::make_network({}, comm).nodes;
    int near = 0, far = 0;  // the first of each kind, seen from rank 0
    for (int r = comm.size() - 1; r > 0; --r) (nodes.of(r) == nodes.of(0) ? near : far) = r;
    const auto take = [&](const LinkTimes& t) {
        machine.message_seconds = t.message_seconds;
        machine.copy_bytes_per_second = t.copy_bytes_per_second;
        machine.message_uncertainty = t.spread;
    };
    machine.eager_bytes = static_cast<std::int64_t>(comm::measure_eager_limit(comm));
    if (near > 0) {
        const LinkTimes t = measure_link(comm, 0, near);
        machine.inside = machine.between = t.link;
        take(t);
    }
    if (far == 0) return "measured inside a node; between nodes assumed to be the same";
    const LinkTimes t = measure_link(comm, 0, far);
    machine.between = t.link;
    if (near == 0) machine.inside = t.link;
    take(t);
    return near > 0 ? "measured inside a node and between nodes"
                    : "measured between nodes; inside a node assumed to be the same";
}

}  // namespace app

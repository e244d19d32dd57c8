// SPDX-License-Identifier: MIT
// bench_message_costs FILE, on two ranks: what a rank's core takes for a message besides the wire, as the simulated
// cluster is told (scripts/simulate/platform.py). Both ranks send each other the same number of messages at the same
// time, so that the time of an exchange grows by the sender's and the receiver's work for each message, and by the copy
// into MPI's buffers and out of them for each byte. Where ranks share memory there is no wire but these copies.
#include <algorithm>
#include <cstdio>
#include <numeric>
#include <vector>

#include "comm/clock.hpp"
#include "comm/exchange.hpp"
#include "comm/session.hpp"

namespace {

constexpr int trials = 21, rounds = 200;

double median(std::vector<double> values) {
    std::nth_element(values.begin(), values.begin() + values.size() / 2, values.end());
    return values[values.size() / 2];
}

// Seconds of the slower rank to send `count` messages of `bytes` bytes and to receive as many: the median.
double exchange_seconds(int count, std::size_t bytes, const comm::Communicator& world) {
    const comm::Network network{{comm::MessageOrder::plain, comm::Aggregate::none}, comm::NodeMap(2), std::nullopt};
    const std::vector<balance::Part> parts(count, {1 - world.rank(), bytes});
    comm::Exchange exchange(world, network);
    exchange.lay_out(parts, parts);
    const std::vector<std::byte> out(count * bytes);
    std::vector<std::byte> in(out.size());
    std::vector<double> seconds;
    for (int round = 0; round < rounds; ++round) {
        world.barrier();
        const double start = comm::now();
        exchange.start(out, in);
        exchange.finish();
        const std::vector<double> mine{comm::now() - start};
        seconds.push_back(world.spread(mine)[0].max);
    }
    return median(seconds);
}

// Of the straight line nearest to the points, by least squares.
double slope(const std::vector<double>& x, const std::vector<double>& y) {
    const double n = static_cast<double>(x.size()), mx = std::accumulate(x.begin(), x.end(), 0.0) / n,
                 my = std::accumulate(y.begin(), y.end(), 0.0) / n;
    double xy = 0, xx = 0;
    for (std::size_t i = 0; i < x.size(); ++i) xy += (x[i] - mx) * (y[i] - my), xx += (x[i] - mx) * (x[i] - mx);
    return xy / xx;
}

// Slopes of all trials, ascending.
template <class Seconds>
std::vector<double> slopes(const std::vector<double>& x, Seconds seconds) {
    std::vector<double> all;
    for (int trial = 0; trial < trials; ++trial) {
        std::vector<double> y;
        for (const double value : x) y.push_back(seconds(value));
        all.push_back(slope(x, y));
    }
    std::sort(all.begin(), all.end());
    return all;
}

}  // namespace

int main(int argc, char** argv) {
    comm::Session session(argc, argv);
    const comm::Communicator world;
    if (argc != 2 || world.size() != 2) {
        if (world.rank() == 0) std::fprintf(stderr, "usage: mpiexec -n 2 bench_message_costs FILE\n");
        return 2;
    }
    constexpr std::size_t small = 8;
    constexpr int burst = 16;
    const std::size_t eager = comm::measure_eager_limit(world);
    const std::vector<double> counts{8, 16, 32, 48, 64, 96, 128};
    const std::vector<double> a_message =
        slopes(counts, [&](double n) { return exchange_seconds(static_cast<int>(n), small, world); });
    std::vector<double> sizes;
    for (int i = 1; i <= 7; ++i) sizes.push_back(static_cast<double>(eager) * i / 8);
    std::vector<double> a_byte = slopes(
        sizes, [&](double bytes) { return exchange_seconds(burst, static_cast<std::size_t>(bytes), world) / burst; });
    if (world.rank() != 0) return 0;
    std::vector<double> rates;
    for (const double seconds : a_byte) rates.insert(rates.begin(), 1 / seconds);
    const auto quartile = [](const std::vector<double>& list, int q) { return list[list.size() * q / 4]; };
    std::printf("MEASURED on 2 ranks of this machine: median, and quartiles of %d trials\n", trials);
    std::printf("a message                %8.3f us    (%.3f to %.3f)\n", quartile(a_message, 2) * 1e6,
                quartile(a_message, 1) * 1e6, quartile(a_message, 3) * 1e6);
    std::printf("copies in and out of MPI %8.2f GB/s  (%.2f to %.2f), up to %zu bytes\n", quartile(rates, 2) * 1e-9,
                quartile(rates, 1) * 1e-9, quartile(rates, 3) * 1e-9, eager);
    std::FILE* file = std::fopen(argv[1], "w");
    if (!file) return std::fprintf(stderr, "bench_message_costs: cannot write %s\n", argv[1]), 5;
    std::fprintf(file,
                 "{\"simulated\": false, \"ranks\": 2, \"trials\": %d, \"eager_bytes\": %zu,\n"
                 " \"message_seconds\": %.4g, \"message_seconds_quartiles\": [%.4g, %.4g],\n"
                 " \"copy_bytes_per_second\": %.4g, \"copy_bytes_per_second_quartiles\": [%.4g, %.4g]}\n",
                 trials, eager, quartile(a_message, 2), quartile(a_message, 1), quartile(a_message, 3),
                 quartile(rates, 2), quartile(rates, 1), quartile(rates, 3));
    return std::fclose(file) == 0 ? 0 : 5;
}

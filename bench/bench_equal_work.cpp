// SPDX-License-Identifier: MIT
// bench_equal_work PIECES STEPS MICROSECONDS INTERVALS, on any number of ranks: the load balance efficiency that
// timers show where there is nothing to balance. PIECES of the same arithmetic, spread evenly over the ranks and each
// about MICROSECONDS long, are done in every step as processes of a run are, one after the other on their rank; the
// ranks meet after each step. A piece's time is summed over the STEPS of an interval, and its LBE is the mean of all
// pieces over the longest one. What is missing to 1 is the noise of the machine and of the clocks, by the wall clock
// and by the threads' CPU time. No balancing can reach more by the same clock.
#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "comm/clock.hpp"
#include "comm/communicator.hpp"
#include "comm/session.hpp"

namespace {

// Sums numbers that stay in the core's own cache, `passes` times.
double work(const std::vector<double>& numbers, int passes) {
    double sum = 0;
    for (int pass = 0; pass < passes; ++pass)
        for (const double x : numbers) sum += x * pass;
    return sum;
}

// As many passes as take about `seconds`: of several trials the shortest, which nothing disturbed.
int passes_in(double seconds, const std::vector<double>& numbers) {
    constexpr int trials = 50, passes = 20;
    double shortest = 1, result = 0;
    for (int i = 0; i < trials; ++i) {
        const double start = comm::now();
        result += work(numbers, passes);
        shortest = std::min(shortest, comm::now() - start);
    }
    return std::max(1, static_cast<int>(seconds * passes / shortest) + (result < 0));
}

struct Lbe {
    double mean = 0, longest = 0;  // nanoseconds, summed over the intervals
    std::vector<double> of_interval;
};

}  // namespace

int main(int argc, char** argv) {
    const comm::Session session(argc, argv);
    const comm::Communicator world;
    if (argc != 5) {
        std::fprintf(stderr, "usage: bench_equal_work PIECES STEPS MICROSECONDS INTERVALS\n");
        return 1;
    }
    const int pieces = std::atoi(argv[1]) / world.size(), steps = std::atoi(argv[2]), intervals = std::atoi(argv[4]);
    const std::vector<double> numbers(8192, 1.0);
    std::array<std::int64_t, 1> passes{passes_in(std::atof(argv[3]) * 1e-6, numbers)};
    world.max(passes);
    double result = 0;
    std::array<Lbe, 2> lbe;  // by the wall clock, by CPU time
    for (int interval = 0; interval < intervals; ++interval) {
        std::vector<std::int64_t> ns(2 * pieces, 0);
        for (int step = 0; step < steps; ++step) {
            for (int i = 0; i < pieces; ++i) {
                const double wall = comm::now(), cpu = comm::thread_cpu_seconds();
                result += work(numbers, static_cast<int>(passes[0]));
                ns[i] += static_cast<std::int64_t>((comm::now() - wall) * 1e9);
                ns[pieces + i] += static_cast<std::int64_t>((comm::thread_cpu_seconds() - cpu) * 1e9);
            }
            world.barrier();
        }
        for (int clock = 0; clock < 2; ++clock) {
            const auto begin = ns.begin() + clock * pieces;
            std::array<std::int64_t, 1> sum{0}, longest{*std::max_element(begin, begin + pieces)};
            for (auto i = begin; i != begin + pieces; ++i) sum[0] += *i;
            world.sum(sum);
            world.max(longest);
            const double mean = static_cast<double>(sum[0]) / (pieces * world.size());
            lbe[clock].mean += mean;
            lbe[clock].longest += static_cast<double>(longest[0]);
            lbe[clock].of_interval.push_back(mean / static_cast<double>(longest[0]));
        }
    }
    if (world.rank() > 0) return 0;
    for (Lbe& of : lbe)
        std::nth_element(of.of_interval.begin(), of.of_interval.begin() + intervals / 2, of.of_interval.end());
    const auto print = [&](const char* clock, const Lbe& of, const char* after) {
        std::printf("\"%s\": {\"microseconds\": %.4g, \"overall_lbe\": %.6f, \"median_lbe\": %.6f}%s", clock,
                    of.mean / intervals / steps * 1e-3, of.mean / of.longest, of.of_interval[intervals / 2], after);
    };
    std::printf("{\"pieces\": %d, \"steps\": %d, \"intervals\": %d, ", pieces * world.size(), steps, intervals);
    print("wall", lbe[0], ", ");
    print("cpu", lbe[1], result < 0 ? " }\n" : "}\n");  // a sum that is used cannot be left out by a compiler
}

// SPDX-License-Identifier: MIT
// bench_search: CPU time of the parts of the search for slow processes on a member that hosts all processes, in one
// balancing. From its table come the rates in app/balancing/simulated_cost.hpp.
#include <time.h>

#include <array>
#include <cmath>
#include <cstdio>
#include <random>
#include <tuple>

#include "app/common/heap.hpp"
#include "balance/model/speeds.hpp"
#include "balance/partition/partition.hpp"

using namespace balance;

namespace {

double cpu_seconds() {
    timespec t{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

// Microseconds of the parts of the last search for slow processes.
class PartTimes final : public Meter {
public:
    void part(RoundPart part, std::int64_t processes, std::int64_t cells) const override {
        end();
        now_ = static_cast<std::size_t>(part);
        processes_[now_] += processes;
        cells_[now_] += cells;
    }
    void end() const {
        const double now = cpu_seconds();
        microseconds_[now_] += 1e6 * (now - begin_);
        begin_ = cpu_seconds();
    }
    double of(RoundPart part) const { return microseconds_[static_cast<std::size_t>(part)]; }
    std::int64_t processes(RoundPart part) const { return processes_[static_cast<std::size_t>(part)]; }
    std::int64_t cells(RoundPart part) const { return cells_[static_cast<std::size_t>(part)]; }

private:
    mutable std::array<double, 32> microseconds_{};
    mutable std::array<std::int64_t, 32> processes_{}, cells_{};
    mutable std::size_t now_ = 0;
    mutable double begin_ = cpu_seconds();
};

// What times do not tell of costs: noise, a hundredth of the processes at half speed in the last balancing, or cells of
// a twentieth of the width that are dearer than they look.
struct Unknown {
    const char* name;
    double noise;
    bool slow;
    double surcharge;
};

// The search for slow processes, in the first or in the sixth balancing; the loads change a little each time.
void speeds(int nx, int ny, int ranks, const Unknown& unknown, int balancings) {
    const Grid grid{{nx, ny, 1}};
    const SerialTeam one;
    std::vector<CellCounts> counts;
    std::vector<std::int64_t> loads;
    for (int x = 0; x < nx; ++x)
        for (int y = 0; y < ny; ++y) {
            const int n = 4 + (std::abs(x - nx / 2) < nx / 20 ? 4 : 0) + (x * 7 + y * 5) % 2;
            counts.push_back({n, 9 * n, 25 * n});
            loads.push_back(n * n);
        }
    PartitionOptions options;
    options.processes = ranks;
    options.cut = CutAt::cells;
    Speeds found(ranks, {});
    std::mt19937 random(1);
    std::normal_distribution<double> normal;
    Scattered<Split> memory;
    PartTimes last;
    for (int round = 1; round <= balancings; ++round) {
        for (std::size_t i = 0; i < loads.size(); ++i) loads[i] += static_cast<std::int64_t>((37 * round + 7 * i) % 5);
        const ProcessBoxes known = make_partition({one, grid, {ranks, 1}, loads, {}, {}}, options, memory);
        const ProcessCells cells = ProcessCells::at_home(one, grid, known, Hosts(ranks, 1));
        const std::vector<CellCounts> here = cells.to_pieces(std::span<const CellCounts>(counts));
        std::vector<double> times;
        for (const Piece& p : cells.pieces()) {
            double time = 0;
            const CellCounts* c = &here[p.first];
            for (const Box& box : p.boxes)
                for (int x = box.lower[0]; x < box.upper[0]; ++x) {
                    const bool dear = x >= nx / 4 && x < nx / 4 + nx / 20;
                    for (int y = box.lower[1]; y < box.upper[1]; ++y, ++c)
                        time += (dear ? unknown.surcharge : 1) * (1e-9 + 8e-9 * c->n + 4e-10 * c->n * c->n3);
                }
            if (unknown.slow && round == balancings && p.process % 100 == 50) time *= 2;
            times.push_back(time * (1 + unknown.noise * normal(random)));
        }
        last = PartTimes();
        found.learn(one, grid, cells, counts, times, last);
        last.end();
    }
    std::printf("%8d %6d %-20s %8d | %6.2f %7.1f %7.1f %7.1f %7.1f %7.1f %8.1f | %8lld %7lld\n", nx * ny, ranks,
                unknown.name, balancings, 1e3 * last.of(RoundPart::blocks) / (nx * ny), last.of(RoundPart::look),
                last.of(RoundPart::medians), last.of(RoundPart::prior), last.of(RoundPart::shares),
                last.of(RoundPart::sift), last.of(RoundPart::search),
                static_cast<long long>(last.processes(RoundPart::search) / 1000),
                static_cast<long long>(last.cells(RoundPart::search)));
}

}  // namespace

int main() {
    app::give_arrays_their_own_pages(true);
    const app::FieldsOnHeap fields;  // as in runs
    std::printf(
        "%8s %6s %-20s %8s | %6s %7s %7s %7s %7s %7s %8s | %8s %7s  (nanoseconds a cell; microseconds; thousands of "
        "multiplications; numbers of the matrix)\n",
        "cells", "ranks", "not known", "records", "blocks", "look", "medians", "prior", "shares", "sift", "search",
        "products", "matrix");
    for (const Unknown& unknown :
         {Unknown{"nothing", 0, false, 1}, Unknown{"noise", 0.01, false, 1}, Unknown{"some slow", 0.01, true, 1},
          Unknown{"dear cells, 1.3 x", 0.01, false, 1.3}, Unknown{"much noise", 0.1, false, 1}})
        for (const auto& [nx, ny, ranks] : {std::tuple{1140, 228, 96}, {1140, 912, 384}, {1140, 4564, 2400}})
            for (const int balancings : {1, 6}) speeds(nx, ny, ranks, unknown, balancings);
}

// SPDX-License-Identifier: MIT
// A world with processes of unknown speeds. Again and again a chain of cells is dealt to processes by the loads and
// speeds that are known so far. Their times follow from the world's own costs and speeds.
#pragma once
#include <algorithm>
#include <cmath>
#include <memory>
#include <random>
#include <vector>

#include "balance/model/evaluate.hpp"
#include "balance/model/speeds.hpp"
#include "balance/partition/partition.hpp"
#include "random_partition.hpp"

namespace test {

using namespace balance;

struct World {
    std::int64_t processes = 40;
    std::vector<double> speed = std::vector<double>(40, 1.0);
    double surcharge = 1;  // factor on the costs of a region that no feature shows
    double noise = 0;
    double noise_of_reference = 1;  // relative to that of the times
    int balancings = 12;
    int change_at = -1;  // All speeds are 1 from this balancing on.
    int slow_from = 0;   // All speeds are 1 before this balancing.
    double pace = 0;     // Growth of all times at each balancing, as a part of the first ones.
    bool use = true;     // Use the speeds that are found.
    int seed = 0;        // Of the noise and of the dear cells.

    Grid grid() const { return {{120, static_cast<int>(processes), 1}, {false, false, false}}; }
};

struct Outcome {
    std::vector<double> relative, efficiency;
    std::vector<double> memory;
    friend bool operator==(const Outcome&, const Outcome&) = default;
};

inline CellCounts counts_at(int x, int y) {
    const auto n = static_cast<std::int32_t>(4 + (x * 7 + y * 3) % 3 + (x > 50 && x < 62 ? 8 : 0));
    return {n, 9 * n, 25 * n};
}
inline double true_cost(const World& w, int x, int y) {
    const CellCounts c = counts_at(x, y);
    const double cost = 1e-9 + 8e-9 * c.n + 1e-9 * c.n * c.n3;
    const int first = 20 + 3 * w.seed;
    return x >= first && x < first + 12 ? cost * w.surcharge : cost;
}

/// speeds: who finds them, as class Speeds does, from the times of a reference.
template <class Finder>
Outcome simulate(const Team& team, const World& w, Finder speeds) {
    const Grid grid = w.grid();
    const Box home = Homes{grid, team.size()}.of(team.rank());
    std::vector<CellCounts> counts;
    for_each_cell(home, [&](int x, int y, int) { counts.push_back(counts_at(x, y)); });
    PartitionOptions options;
    options.processes = w.processes;
    options.cut = CutAt::cells;
    const std::unique_ptr<LoadModel> model = make_model("r1", {});
    std::vector<double> state(counts.size(), 1.0);
    std::vector<std::int64_t> load = first_loads(Start::particles, counts).load;
    Outcome outcome;
    for (int k = 0; k < w.balancings; ++k) {
        Scattered<Split> memory;
        const Partition partition = whole(
            team,
            make_partition({team, grid, {w.processes, team.size()}, load, {}, speeds.targets()}, options, memory));
        std::vector<double> times(w.processes, 0.0);
        std::mt19937 random(1000 * w.seed + k);
        const auto speed_now = [&](std::int64_t p) {
            return k >= w.slow_from && (w.change_at < 0 || k < w.change_at) ? w.speed[p] : 1;
        };
        double largest = 0, sum = 0;
        for (std::int64_t p = 0; p < w.processes; ++p) {
            for (std::int64_t b = partition.first[p]; b < partition.first[p + 1]; ++b)
                for_each_cell(partition.boxes[b], [&](int x, int y, int) { times[p] += true_cost(w, x, y); });
            times[p] /= speed_now(p);
            times[p] *= 1 + w.pace * k;
            largest = std::max(largest, times[p]), sum += times[p];
            times[p] *= 1 + w.noise * std::normal_distribution<double>()(random);
        }
        outcome.efficiency.push_back(sum / static_cast<double>(w.processes) / largest);
        const ProcessBoxes known = all_of(partition);
        const ProcessCells cells = ProcessCells::at_home(team, grid, known, Hosts(w.processes, team.size()));
        const IndexRange hosted = cells.hosted();
        times = {times.begin() + hosted.begin, times.begin() + hosted.end};
        std::vector<double> reference;
        std::mt19937 other(77777 + 1000 * w.seed + k);
        for (std::int64_t p = 0; p < w.processes; ++p) {
            const double seconds =
                (1 + w.pace * k) * (1 + w.noise_of_reference * w.noise * std::normal_distribution<double>()(other));
            if (p >= hosted.begin && p < hosted.end) reference.push_back(1e-5 * seconds / speed_now(p));
        }
        if (w.use) speeds.learn(team, hosted, reference);
        load = evaluate(*model, team, grid, cells, counts, state, speeds.at_mean_speed(times, hosted.begin)).load;
    }
    outcome.relative = speeds.relative();
    if constexpr (requires { speeds.memory(team); }) outcome.memory = speeds.memory(team);
    return outcome;
}

inline Outcome simulate(const Team& team, const World& w) { return simulate(team, w, Speeds(w.processes)); }

/// All at the same speed.
inline World equal_speeds(std::int64_t processes = 40) {
    World w;
    w.processes = processes;
    w.speed.assign(static_cast<std::size_t>(processes), 1.0);
    return w;
}

inline World some_slow(std::int64_t processes = 40) {
    World w = equal_speeds(processes);
    for (std::int64_t p = 5; p < w.processes; p += 10) w.speed[p] = 0.5;
    return w;
}

inline double largest_error(const World& w, const std::vector<double>& relative) {
    double mean = 0, worst = 0;
    for (const double s : w.speed) mean += s / static_cast<double>(w.speed.size());
    for (std::size_t p = 0; p < relative.size(); ++p)
        worst = std::max(worst, std::abs(relative[p] / (w.speed[p] / mean) - 1));
    return worst;
}

}  // namespace test

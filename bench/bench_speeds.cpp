// SPDX-License-Identifier: MIT
// The finder of speeds (balance/model/speeds.hpp) beside the simplest one that could do: for each process the median,
// over the last six balancings, of its time over what its cells should cost. bench_speeds prints for each case the
// largest and the root mean square error of the speeds in the end, and the mean efficiency from the fifth balancing on.
// bench_speeds [PROCESSES]: 40 by default; with more of them the grid is higher.
#include <cstdio>
#include <functional>
#include <numeric>
#include <string>

#include "balance/model/median.hpp"
#include "speed_world.hpp"

using namespace test;

namespace {

class MedianSpeeds {
public:
    /// dead_zone: a speed that differs from 1 by less is 1.
    MedianSpeeds(std::int64_t processes, double dead_zone)
        : processes_(static_cast<std::size_t>(processes)), dead_zone_(dead_zone), known_(processes_) {}

    void learn(const Team& team, const Grid&, const ProcessCells& cells, std::span<const CellCounts> counts,
               std::span<const double> times) {
        const std::vector<CellCounts> here = cells.to_pieces(counts);
        std::vector<std::int64_t> sums(processes_ * features, 0);
        for (const Piece& p : cells.pieces())
            for (const CellCounts& c : std::span(here).subspan(p.first, p.cells)) {
                const Features f = features_of(c);
                for (int i = 0; i < features; ++i) sums[p.process * features + i] += static_cast<std::int64_t>(f[i]);
            }
        team.sum(sums);
        fit(sums, times);
        std::vector<double> ratios;
        for (std::size_t p = 0; p < processes_; ++p) ratios.push_back(std::log(times[p] / prior_.cost(row(sums, p))));
        const double usual = median(ratios);
        std::vector<double> found;
        for (std::size_t p = 0; p < processes_; ++p) {
            if (known_[p].size() == 6) known_[p].erase(known_[p].begin());
            known_[p].push_back(usual - ratios[p]);
            const double speed = std::exp(median(known_[p]));
            found.push_back(std::abs(speed - 1) < dead_zone_ ? 1.0 : std::clamp(speed, slowest_speed, fastest_speed));
        }
        speeds_.set(found);
    }
    std::vector<double> relative() const { return speeds_.relative(); }
    PartTargets targets() const { return speeds_.targets(); }
    std::vector<double> at_mean_speed(std::span<const double> times, std::int64_t first = 0) const {
        return speeds_.at_mean_speed(times, first);
    }

private:
    static Features row(std::span<const std::int64_t> sums, std::size_t p) {
        Features f;
        for (int i = 0; i < features; ++i) f[i] = static_cast<double>(sums[p * features + i]);
        return f;
    }
    // Costs from times at the speeds that are known.
    void fit(std::span<const std::int64_t> sums, std::span<const double> times) {
        const std::vector<double> work = at_mean_speed(times);
        std::vector<double> rows;
        for (std::size_t p = 0; p < processes_; ++p)
            for (const double f : row(sums, p)) rows.push_back(f / work[p]);
        prior_.fit(rows, std::vector<double>(processes_, 1.0), 0.8);
    }

    std::size_t processes_;
    double dead_zone_;
    std::vector<std::vector<double>> known_;  // logarithms of speeds, by process
    Prior prior_{ModelConstants{}.costs};
    Speeds speeds_{static_cast<std::int64_t>(processes_), {}};
};

struct Case {
    const char* name;
    std::function<void(World&)> change;
};

const Case cases[] = {
    {"equal", [](World&) {}},
    {"equal, noise 1 %", [](World& w) { w.noise = 0.01; }},
    {"equal, noise 5 %", [](World& w) { w.noise = 0.05; }},
    {"a tenth at half speed", [](World& w) { w = some_slow(w.processes); }},
    {"a tenth at half speed, noise 1 %", [](World& w) { w = some_slow(w.processes), w.noise = 0.01; }},
    {"a tenth at half speed, noise 5 %", [](World& w) { w = some_slow(w.processes), w.noise = 0.05; }},
    {"all differ, 0.7 to 1.3",
     [](World& w) {
         for (std::size_t p = 0; p < w.speed.size(); ++p)
             w.speed[p] = 0.7 + 0.6 * static_cast<double>(p * 17 % 40) / 40;
     }},
    {"six neighbours at 0.7", [](World& w) { std::fill_n(w.speed.begin() + 10, 6, 0.7); }},
    {"dear cells, 1.3 x", [](World& w) { w.surcharge = 1.3; }},
    {"dear cells, 2 x", [](World& w) { w.surcharge = 2; }},
    {"dear cells, 2 x, noise 1 %", [](World& w) { w.surcharge = 2, w.noise = 0.01; }},
    {"dear cells, 1.3 x, a tenth at half speed", [](World& w) { w = some_slow(w.processes), w.surcharge = 1.3; }},
    {"dear cells, 2 x, a tenth at half speed, noise 1 %",
     [](World& w) { w = some_slow(w.processes), w.surcharge = 2, w.noise = 0.01; }},
    {"a tenth at half speed, equal from the 8th on", [](World& w) { w = some_slow(w.processes), w.change_at = 8; }},
};

struct Figures {
    double worst = 0, mean_square = 0, efficiency = 0;
};

template <class Finder>
Figures figures_of_one(World w, Finder finder) {
    w.balancings = 20;
    constexpr int first = 4;
    const Outcome outcome = simulate(SerialTeam(), w, std::move(finder));
    if (w.change_at >= 0) w.speed.assign(w.speed.size(), 1.0);
    const double mean = std::accumulate(w.speed.begin(), w.speed.end(), 0.0) / static_cast<double>(w.speed.size());
    Figures f;
    f.worst = largest_error(w, outcome.relative);
    for (std::size_t p = 0; p < w.speed.size(); ++p) {
        const double error = outcome.relative[p] / (w.speed[p] / mean) - 1;
        f.mean_square += error * error / static_cast<double>(w.speed.size());
    }
    f.efficiency = std::accumulate(outcome.efficiency.begin() + first, outcome.efficiency.end(), 0.0) /
                   static_cast<double>(w.balancings - first);
    return f;
}

// The worst error, and means, of several worlds.
template <class Finder>
Figures figures_of(World w, const Finder& finder) {
    constexpr int seeds = 5;
    Figures all;
    for (w.seed = 0; w.seed < seeds; ++w.seed) {
        const Figures f = figures_of_one(w, finder);
        all.worst = std::max(all.worst, f.worst);
        all.mean_square += f.mean_square / seeds;
        all.efficiency += f.efficiency / seeds;
    }
    return all;
}

struct NoFinder : MedianSpeeds {
    explicit NoFinder(std::int64_t processes) : MedianSpeeds(processes, 0) {}
    void learn(const Team&, const Grid&, const ProcessCells&, std::span<const CellCounts>, std::span<const double>) {}
};

}  // namespace

int main(int arguments, char** values) {
    std::printf(
        "| times of | finder: worst | rms | LBE | median: worst | rms | LBE | median, 5 %% dead: worst | rms | LBE | "
        "none: LBE |\n"
        "|---|---|---|---|---|---|---|---|---|---|---|\n");
    for (const Case& c : cases) {
        World w = equal_speeds(arguments > 1 ? std::stoll(values[1]) : 40);
        c.change(w);
        std::printf("| %s |", c.name);
        for (const Figures& f : {figures_of(w, Speeds(w.processes, {})), figures_of(w, MedianSpeeds(w.processes, 0)),
                                 figures_of(w, MedianSpeeds(w.processes, 0.05))})
            std::printf(" %.1f | %.1f | %.1f |", 100 * f.worst, 100 * std::sqrt(f.mean_square), 100 * f.efficiency);
        std::printf(" %.1f |\n", 100 * figures_of(w, NoFinder(w.processes)).efficiency);
    }
}

// SPDX-License-Identifier: MIT
// zone_turns FILE [PARTICLES]: is a border that finds its place as good as the best one that never moves? Runs of the
// same system take turns in one process, some steps each time and in a random order: so whatever else happens on the
// machine slows all of them alike. Threads of this processor stand in for the accelerator, as many as compute beside
// them. Prints each run's rate, and writes FILE (JSON). Moves of the border are not timed.
#include <omp.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <random>
#include <string>

#include "examples/gpu/slabs.hpp"
#include "examples/gpu/zone_run.hpp"

namespace {

struct Case {
    std::string name;
    double share;
    std::string_view controller;
    std::unique_ptr<ZoneRun> run{};
    std::vector<double> seconds{};  // of each turn
    double rate() const {           // atom-steps a second
        return static_cast<double>(run->particles() * steps_a_turn) * static_cast<double>(seconds.size()) /
               std::accumulate(seconds.begin(), seconds.end(), 0.0);
    }
    static constexpr std::int64_t steps_a_turn = 25;
};

constexpr std::int64_t warm = 200, turns = 40, every = 50;

// The median over turns of ratio(t).
template <class Ratio>
double median_of_turns(Ratio ratio) {
    std::vector<double> ratios;
    for (std::size_t t = 0; t < turns; ++t) ratios.push_back(ratio(t));
    std::nth_element(ratios.begin(), ratios.begin() + turns / 2, ratios.end());
    return ratios[turns / 2];
}

void take_turns(std::vector<Case>& cases, double particles) {
    Problem problem = slabs(particles);
    problem.method.modelled = problem.method.time_tiles = true;
    app::Setup setup = app::make_setup(problem.system, problem.method);
    setup.accelerators.devices = {0};  // the host's stand-in
    setup.accelerators.threads = omp_get_max_threads();
    std::vector<Case*> order;
    for (Case& c : cases) {
        c.run = std::make_unique<ZoneRun>(setup, problem.system, c.share);
        c.run->steps(warm, c.controller, every);
        order.push_back(&c);
    }
    std::mt19937 random(1);
    for (std::int64_t t = 1; t <= turns; ++t) {
        std::shuffle(order.begin(), order.end(), random);
        for (Case* c : order) c->seconds.push_back(c->run->steps(warm + t * Case::steps_a_turn, c->controller, every));
    }
}

}  // namespace

int main(int argc, char** argv) {
    const double particles = argc == 3 ? std::atof(argv[2]) : 1e6;
    if (argc < 2 || argc > 3 || !(particles >= 1e4)) {
        std::fprintf(stderr, "usage: zone_turns FILE [PARTICLES], of which there are 1e6, and at least 1e4\n");
        return 2;
    }
    omp_set_num_threads(std::max(1, omp_get_max_threads() / 2));
    std::vector<Case> cases;
    cases.push_back({"CPU alone", 0, "fixed"});
    cases.push_back({"stand-in alone", 1, "fixed"});
    cases.push_back({"measured_speed", 0.5, "measured_speed"});
    const std::size_t first_fixed = cases.size();
    for (const int percent : {7, 9, 11, 13, 15, 17, 19})
        cases.push_back({"fixed " + std::to_string(percent) + " %", percent / 100.0, "fixed"});
    try {
        take_turns(cases, particles);
    } catch (const std::exception& e) {
        std::fprintf(stderr, "zone_turns: %s\n", e.what());
        return 1;
    }
    const Case& best = *std::max_element(cases.begin() + static_cast<std::ptrdiff_t>(first_fixed), cases.end(),
                                         [](const Case& a, const Case& b) { return a.rate() < b.rate(); });
    const double both = cases[0].rate() + cases[1].rate();
    const auto over_best = [&](const Case& c) {
        return median_of_turns([&](std::size_t t) { return c.seconds[t] / best.seconds[t]; });
    };
    const auto of_both = [&](const Case& c) {
        return median_of_turns(
            [&](std::size_t t) { return 1 / c.seconds[t] / (1 / cases[0].seconds[t] + 1 / cases[1].seconds[t]); });
    };
    std::ofstream json(argv[1]);
    json << "{\"stand_in\": true, \"particles\": " << cases[0].run->particles() << ", \"cases\": [";
    bool equal = true;
    const std::uint64_t hash = cases[0].run->finish();
    std::printf("%-16s%16s%12s%10s%16s%10s%12s\n", "", "M atom-steps/s", "time/best", "median", "of both alone",
                "median", "last share");
    for (Case& c : cases) {
        equal = equal && (&c == &cases[0] || c.run->finish() == hash);
        std::printf("%-16s%16.2f%12.3f%10.3f%16.3f%10.3f%10.1f %%\n", c.name.c_str(), c.rate() * 1e-6,
                    best.rate() / c.rate(), over_best(c), c.rate() / both, of_both(c), 100 * c.run->share());
        json << (&c == &cases[0] ? "" : ", ") << "{\"case\": \"" << c.name << "\", \"rate\": " << c.rate()
             << ", \"last_share\": " << c.run->share() << ", \"time_over_best\": " << best.rate() / c.rate()
             << ", \"median_of_turns\": " << over_best(c) << ", \"of_both_alone\": " << c.rate() / both
             << ", \"median_of_both_alone\": " << of_both(c) << "}";
    }
    json << "], \"hash_equal\": " << (equal ? "true" : "false") << "}\n";
    if (!equal) std::fprintf(stderr, "zone_turns: the states differ\n");
    return equal ? 0 : 1;
}

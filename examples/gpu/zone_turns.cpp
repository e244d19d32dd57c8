// SPDX-License-Identifier: MIT
// zone_turns FILE [PARTICLES]: is a border that finds its place as good as the best one that never moves? Runs of the
// same system take turns in one process, some steps each time and in a random order. So other programs on the machine
// slow all of them alike. Threads of this processor stand in for the accelerator, as many as compute beside them.
// Prints each run's rate, and writes FILE (JSON). Moves of the border are not timed.
#include <fmt/format.h>
#include <omp.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <fstream>
#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "app/balancing/load_balancer.hpp"
#include "app/deck/setup.hpp"
#include "app/engine/engine.hpp"
#include "comm/session.hpp"

namespace {

constexpr std::int64_t warm = 200, turns = 40, steps_a_turn = 25, every = 50;

// The collision of inputs/slab.yaml, larger or smaller. share: of the accelerator at the start.
app::Deck deck_of(double particles, const std::string& controller, double share) {
    const double scale = std::sqrt(particles / 116700), gap = 180 * scale + 3;
    const std::string text = fmt::format(
        "system: {{box: [{}, {}], seed: 42, slabs: [\n"
        "  {{lower: [{}, {}], upper: [{}, {}], density: 1, temperature: 0.05, velocity: [14, 0]}},\n"
        "  {{lower: [{}, {}], upper: [{}, {}], density: 1, temperature: 0.05, velocity: [-6, 0]}}]}}\n"
        "run: {{dt: 0.0005, steps: {}}}\n"
        "accelerator: {{backend: host, controller: {}, share: {}, threads: {}, every: {}}}\n",
        560 * scale, 340 * scale, 40 * scale, 100 * scale, 180 * scale, 300 * scale, gap, 30 * scale, 500 * scale,
        310 * scale, warm + turns * steps_a_turn, controller, share, omp_get_max_threads(), every);
    return app::parse_deck(text, "zone_turns");
}

// A run on one rank, some steps at a time.
class Run {
public:
    Run(std::string name, app::Deck deck)
        : name_(std::move(name)),
          deck_(std::move(deck)),
          setup_(setup_of(deck_)),
          balancer_(deck_, setup_.domain.grid(), 1, alone_, timers_, {1, setup_.halo}),
          engine_(app::make_engine(setup_, owners(), alone_, timers_)) {
        engine_->fill(deck_.system, owners());
        steps(warm);
    }

    const std::string& name() const { return name_; }
    double share() const { return balancer_.zones().share(); }
    std::int64_t particles() const { return engine_->particles(); }
    const std::vector<double>& seconds() const { return seconds_; }  // of each turn
    double rate() const {                                            // atom-steps a second
        return static_cast<double>(particles() * steps_a_turn) * static_cast<double>(seconds_.size()) /
               std::accumulate(seconds_.begin(), seconds_.end(), 0.0);
    }
    void turn() { seconds_.push_back(steps(steps_a_turn)); }
    std::uint64_t finish() {
        if (engine_->displaced()) rebuild(false);
        engine_->force_pass({md::Kick::last});
        return engine_->state_hash();
    }

private:
    static app::Setup setup_of(const app::Deck& deck) {
        app::Setup setup = app::make_setup(deck, "");
        app::add_accelerators(setup, deck, 0, 1);
        return setup;
    }
    balance::Decomposition owners() const {
        return balancer_.decomposition(app::tile_shape(deck_, setup_.domain, omp_get_max_threads()));
    }
    void rebuild(bool move) {
        engine_->rebin();
        if (move) balancer_.move_border(step_, *engine_);
        engine_->build_neighbour_lists();
    }
    // Returns the seconds that the steps took, without those of checks: with these, particles are sorted and lists
    // rebuilt out of turn.
    double steps(std::int64_t number) {
        double seconds = 0, start = comm::now();
        for (const std::int64_t last = step_ + number; step_ < last; ++step_) {
            const bool move = balancer_.border_due(step_, engine_->displaced());
            if (move) seconds += comm::now() - start;
            if (move || engine_->displaced()) rebuild(move);
            if (move) start = comm::now();
            engine_->force_pass({step_ == 0 ? md::Kick::first : md::Kick::middle});
        }
        return seconds + comm::now() - start;
    }

    const comm::Communicator alone_;
    app::Timers timers_;
    const std::string name_;
    const app::Deck deck_;
    const app::Setup setup_;
    app::LoadBalancer balancer_;
    std::unique_ptr<app::Engine> engine_;
    std::int64_t step_ = 0;
    std::vector<double> seconds_;
};

std::deque<Run> take_turns(double particles) {
    std::deque<Run> runs;
    const auto add = [&](const std::string& name, const std::string& controller, double share) {
        runs.emplace_back(name, deck_of(particles, controller, share));
    };
    add("CPU alone", "fixed", 0);
    add("stand-in alone", "fixed", 1);
    add("measured_speed", "measured_speed", 0.5);
    for (const int percent : {7, 9, 11, 13, 15, 17, 19})
        add(fmt::format("fixed {} %", percent), "fixed", percent / 100.0);
    std::vector<Run*> order;
    for (Run& run : runs) order.push_back(&run);
    std::mt19937 random(1);
    for (std::int64_t t = 0; t < turns; ++t) {
        std::shuffle(order.begin(), order.end(), random);
        for (Run* run : order) run->turn();
    }
    return runs;
}

// The median over turns of ratio(t).
template <class Ratio>
double median_of_turns(Ratio ratio) {
    std::vector<double> ratios;
    for (std::size_t t = 0; t < turns; ++t) ratios.push_back(ratio(t));
    std::nth_element(ratios.begin(), ratios.begin() + turns / 2, ratios.end());
    return ratios[turns / 2];
}

// Prints the table and writes the file. Returns whether all runs end in the same state.
bool report(std::deque<Run> runs, const std::string& path) {
    const Run &cpu = runs[0], &stand_in = runs[1];
    const Run& best =
        *std::max_element(runs.begin() + 3, runs.end(), [](const Run& a, const Run& b) { return a.rate() < b.rate(); });
    const std::uint64_t hash = runs[0].finish();
    std::ofstream json(path);
    json << "{\"stand_in\": true, \"particles\": " << cpu.particles() << ", \"cases\": [";
    bool equal = true;
    std::printf("%-16s%16s%12s%10s%16s%10s%12s\n", "", "M atom-steps/s", "time/best", "median", "of both alone",
                "median", "last share");
    for (Run& run : runs) {
        const auto &s = run.seconds(), &b = best.seconds(), &c = cpu.seconds(), &i = stand_in.seconds();
        const double over_best = median_of_turns([&](std::size_t t) { return s[t] / b[t]; });
        const double of_both = median_of_turns([&](std::size_t t) { return 1 / s[t] / (1 / c[t] + 1 / i[t]); });
        const double rate = run.rate(), time = best.rate() / rate, part = rate / (cpu.rate() + stand_in.rate());
        std::printf("%-16s%16.2f%12.3f%10.3f%16.3f%10.3f%10.1f %%\n", run.name().c_str(), rate * 1e-6, time, over_best,
                    part, of_both, 100 * run.share());
        json << fmt::format(
            "{}{{\"case\": \"{}\", \"rate\": {}, \"last_share\": {}, \"time_over_best\": {}, "
            "\"median_of_turns\": {}, \"of_both_alone\": {}, \"median_of_both_alone\": {}}}",
            &run == &cpu ? "" : ", ", run.name(), rate, run.share(), time, over_best, part, of_both);
        equal = (&run == &cpu || run.finish() == hash) && equal;
    }
    json << "], \"hash_equal\": " << (equal ? "true" : "false") << "}\n";
    if (!equal) std::fprintf(stderr, "zone_turns: the states differ\n");
    return equal;
}

}  // namespace

int main(int argc, char** argv) {
    const double particles = argc == 3 ? std::atof(argv[2]) : 1e6;
    if (argc < 2 || argc > 3 || !(particles >= 1e4)) {
        std::fprintf(stderr, "usage: zone_turns FILE [PARTICLES], of which there are 1e6, and at least 1e4\n");
        return 2;
    }
    comm::Session session(argc, argv);
    omp_set_num_threads(std::max(1, omp_get_max_threads() / 2));
    try {
        const bool equal = report(take_turns(particles), argv[1]);  // Communicators end before the session.
        return session.end(equal ? 0 : 1);
    } catch (const std::exception& e) {
        std::fprintf(stderr, "zone_turns: %s\n", e.what());
        return session.end(1);
    }
}

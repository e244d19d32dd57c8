// SPDX-License-Identifier: MIT
// bench_zones DIRECTORY: controllers of the border between zones on a model of a machine (simulated_zone.hpp), as CSV
// files that scripts/reproduce/zones.py reads: cases.csv, shares.csv, fixed.csv.
#include <cstdio>
#include <fstream>
#include <string>

#include "simulated_zone.hpp"

using namespace balance;

namespace {

constexpr double starts[]{1, 0.75, 0.5, 0};
constexpr std::string_view kinds[]{"cpu_load", "measured_speed"};
constexpr double near_best = 0.01;  // share
constexpr double noise = 0.05;
constexpr int checks = 400, seeds = 500, change_at = 60;

// The band of cpu_load ends somewhat above the best share, so that it counts as there within two per cent.
double off_of(std::string_view kind) { return kind == "cpu_load" ? 2 * near_best : near_best; }

// From the 4th correction after check `begin` on, or from the last where there are fewer, for 100 checks since `begin`.
double time_over_best(const SimulatedMachine& machine, const SimulatedRun& run, std::size_t begin = 0) {
    const int before = run.corrections(0, begin);
    const std::size_t check = std::max(begin, run.checks_until(before + 4));
    return run.mean_seconds(std::min(check, begin + 99), begin + 100) / machine.step_seconds(machine.best_share());
}

class Cases {
public:
    explicit Cases(const std::string& path) : file_(path) {
        file_ << "kind,controller,start_share,best_share,seed,corrections,final_share,time_over_best,reversals,"
                 "largest_error\n";
    }
    void add(const char* kind, std::string_view controller, double start, double best, int seed, int corrections,
             const SimulatedRun& run, double time, int reversals, double error) {
        file_ << kind << ',' << controller << ',' << start << ',' << best << ',' << seed << ',' << corrections << ','
              << run.shares.back() << ',' << time << ',' << reversals << ',' << error << '\n';
    }

private:
    std::ofstream file_;
};

// From each start, without noise: also the share at each check.
void converge(Cases& cases, std::ofstream& shares) {
    for (const std::string_view kind : kinds)
        for (const double best : {0.87, 0.2, 0.5, 0.7, 0.95, 0.99})
            for (const double start : starts) {
                const SimulatedMachine machine = machine_with_best(best);
                const SimulatedRun run = simulate(machine, kind, start, checks);
                cases.add("converge", kind, start, best, 0, run.corrections_until(best, off_of(kind)), run,
                          time_over_best(machine, run), run.reversals(0, checks),
                          run.largest_error(best, run.checks_until(4)));
                if (best != 0.87) continue;
                for (std::size_t c = 0; c < run.shares.size(); ++c)
                    shares << kind << ',' << start << ',' << c << ',' << run.shares[c] << ','
                           << machine.step_seconds(run.shares[c]) << '\n';
            }
}

// With an error of 5 % of each measured time: reversals in checks 20 to 70, errors from check 20 on.
void with_noise(Cases& cases) {
    for (const std::string_view kind : kinds)
        for (const double best : {0.87, 0.2, 0.5, 0.7, 0.95, 0.99})
            for (const double start : starts)
                for (int seed = 0; seed < seeds; ++seed) {
                    SimulatedMachine machine = machine_with_best(best);
                    machine.noise = noise;
                    const SimulatedRun run = simulate(machine, kind, start, 100, seed);
                    cases.add("noise", kind, start, best, seed, run.corrections_until(best, off_of(kind)), run,
                              time_over_best(machine, run), run.reversals(20, 70), run.largest_error(best, 20));
                }
}

// The accelerator gets twice or half as fast at check 60: corrections and times from then on.
void with_change(Cases& cases) {
    for (const std::string_view kind : kinds)
        for (const double error : {0.0, noise})
            for (const double factor : {2.0, 0.5})
                for (int seed = 0; seed < (error > 0 ? seeds : 1); ++seed) {
                    SimulatedMachine machine;
                    machine.noise = error;
                    const SimulatedRun run =
                        simulate(machine, kind, 0.75, 160, seed, [&](SimulatedMachine& m, int check) {
                            if (check == change_at) m.accelerator_speed *= factor;
                        });
                    machine.accelerator_speed *= factor;
                    const double best = factor * 0.87 / (factor * 0.87 + 0.13);
                    cases.add(error > 0 ? "change_noise" : "change", kind, 0.75, best, seed,
                              run.corrections_until(best, off_of(kind), change_at), run,
                              time_over_best(machine, run, change_at), run.reversals(change_at, 160),
                              run.largest_error(best, 80));
                }
}

// Seconds of a step with borders that never move.
void fixed_shares(std::ofstream& file) {
    const SimulatedMachine machine;
    for (int percent = 0; percent <= 100; ++percent)
        file << percent / 100.0 << ',' << simulate(machine, "fixed", percent / 100.0, 1).seconds[0] << '\n';
}

}  // namespace

int main(int arguments, char** argument) {
    if (arguments != 2) {
        std::fputs("bench_zones DIRECTORY\n", stderr);
        return 2;
    }
    const std::string directory = argument[1];
    Cases cases(directory + "/cases.csv");
    std::ofstream shares(directory + "/shares.csv"), fixed(directory + "/fixed.csv");
    shares << "controller,start_share,check,share,seconds\n";
    fixed << "share,seconds\n";
    converge(cases, shares);
    with_noise(cases);
    with_change(cases);
    fixed_shares(fixed);
}

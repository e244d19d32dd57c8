// SPDX-License-Identifier: MIT
// A1 and B1 (Liu et al. 2015): the nearest load to a reference that agrees with each process's measured time.
#include <algorithm>
#include <cmath>

#include "balance/model/load_model.hpp"
#include "balance/model/projection.hpp"

namespace balance {
namespace {

// A process whose measured time is as expected, to alpha of the mean, keeps its reference untouched.
bool as_expected(std::span<const double> reference, const ProcessView& p, const Totals& totals, double alpha) {
    if (alpha == 0) return false;
    double sum = 0;
    for (double l : reference) sum += l;
    return std::abs(p.time - sum) < alpha * totals.time / static_cast<double>(totals.processes);
}

void project(std::vector<double> reference, const ProcessView& p, const Totals& totals, double alpha,
             std::span<double> load) {
    if (!as_expected(reference, p, totals, alpha)) reference = project_to_sum(reference, p.time);
    std::copy(reference.begin(), reference.end(), load.begin());
}

// Seconds by one factor for all particles.
std::vector<double> by_particles(const ProcessView& p, double factor) {
    std::vector<double> load(p.cells.size());
    for (std::size_t i = 0; i < load.size(); ++i) load[i] = p.cells[i].n * factor;
    return load;
}
double seconds_per_particle(const Totals& t) {
    return t.particles > 0 ? t.time / static_cast<double>(t.particles) : 0.0;
}

// Reference: the previous model.
struct A1 final : LoadModel {
    explicit A1(const ModelConstants& c) : constants(c) {}
    bool needs_particles() const override { return false; }
    double first_state(const CellCounts& c) const override { return first_load(constants.start, c); }
    // Before the first measurement the state has no unit; the first one brings it to seconds.
    int rounds() const override { return 1; }
    std::vector<double> contribution(int, const ProcessView& p) const override {
        double sum = 0;
        for (double l : p.state) sum += l;
        return {sum};
    }
    std::vector<double> conclude(int, std::span<const double> rows, std::span<const double> times) const override {
        double state = 0, time = 0;
        for (double r : rows) state += r;
        for (double t : times) time += t;
        return {in_seconds || state <= 0 ? 1 : time / state};
    }
    void learn(int, std::span<const double> conclusions) override {
        factor = conclusions[0];
        in_seconds = true;
    }
    void update(const ProcessView& p, const Totals& totals, std::span<double> load) const override {
        std::vector<double> reference(p.state.begin(), p.state.end());
        for (double& l : reference) l *= factor;
        project(std::move(reference), p, totals, constants.threshold, load);
        std::copy(load.begin(), load.end(), p.state.begin());
    }
    std::vector<double> memory() const override { return {in_seconds ? 1.0 : 0.0}; }
    void set_memory(std::span<const double> m) override { in_seconds = m[0] != 0; }
    bool accepts_memory(std::span<const double> m) const override { return m.size() == 1 && (m[0] == 0 || m[0] == 1); }
    ModelConstants constants;
    double factor = 1;
    bool in_seconds = false;
};

// Reference: the user's model, here the particle count, in seconds by one global factor.
struct B1 final : LoadModel {
    explicit B1(const ModelConstants& c) : constants(c) {}
    double first_state(const CellCounts&) const override { return 0; }
    void update(const ProcessView& p, const Totals& totals, std::span<double> load) const override {
        project(by_particles(p, seconds_per_particle(totals)), p, totals, constants.threshold, load);
    }
    ModelConstants constants;
};

}  // namespace

std::unique_ptr<LoadModel> make_a1(const ModelConstants& c) { return std::make_unique<A1>(c); }
std::unique_ptr<LoadModel> make_b1(const ModelConstants& c) { return std::make_unique<B1>(c); }

}  // namespace balance

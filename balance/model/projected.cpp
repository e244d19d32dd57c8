// SPDX-License-Identifier: MIT
// A1 and B1 (Liu et al. 2015): the nearest load to a reference that agrees with each process's measured time.
#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "balance/model/load_model.hpp"
#include "balance/model/projection.hpp"

namespace balance {
namespace {

struct Sums {
    double sum = 0, smallest = 0;
};

// Eight partial sums: independent additions, and an error that grows with N/8. A non-finite value makes the sum so.
Sums sums_of(std::span<const double> v) {
    double part[8] = {}, low[8];
    std::fill_n(low, 8, v.empty() ? 0.0 : v[0]);
    std::size_t i = 0;
    for (; i + 8 <= v.size(); i += 8)
        for (int k = 0; k < 8; ++k) part[k] += v[i + k], low[k] = v[i + k] < low[k] ? v[i + k] : low[k];
    for (; i < v.size(); ++i) part[0] += v[i], low[0] = v[i] < low[0] ? v[i] : low[0];
    Sums s{0, *std::min_element(low, low + 8)};
    for (double p : part) s.sum += p;
    return s;
}

// The constant `shift` for which sum of max(0, v + shift) over all v is `time`, 0 < time < sum of v.
double shift_of(std::span<const double> previous, double time, double sum) {
    std::vector<double> active(previous.begin(), previous.end());
    for (;;) {
        const double shift = (time - sum) / static_cast<double>(active.size());
        // Cells that the shift makes negative end at 0 and leave; the rest has to be shifted further.
        const std::size_t before = active.size();
        std::size_t kept = 0;
        for (std::size_t i = 0; i < before; ++i) {
            active[kept] = active[i];
            kept += active[i] + shift > 0;
        }
        if (kept == before || kept == 0) return shift;
        active.resize(kept);
        sum = sums_of(active).sum;
    }
}

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

std::vector<double> project_to_sum(std::span<const double> previous, double time) {
    const auto [sum, smallest] = sums_of(previous);
    if (!(time >= 0) || !std::isfinite(time))
        throw std::invalid_argument("a measured time must be finite and not negative");
    if (!(smallest >= 0) || !std::isfinite(sum)) throw std::invalid_argument("loads must be finite and not negative");
    std::vector<double> load(previous.size(), 0.0);
    if (previous.empty() || time == 0) return load;
    double shift = (time - sum) / static_cast<double>(previous.size());
    if (smallest + shift < 0) shift = shift_of(previous, time, sum);
    for (std::size_t i = 0; i < load.size(); ++i) {
        const double l = previous[i] + shift;
        load[i] = l > 0 ? l : 0.0;
    }
    // The rounding error is shared in proportion, so the sum is `time` to the last digits.
    const double got = sums_of(load).sum;
    if (got > 0) {
        const double factor = time / got;
        for (double& l : load) l *= factor;
    } else {
        // time is so small beside the loads that adding it rounds away: the largest cells share it.
        const double largest = *std::max_element(previous.begin(), previous.end());
        const auto count = static_cast<double>(std::count(previous.begin(), previous.end(), largest));
        for (std::size_t i = 0; i < load.size(); ++i) load[i] = previous[i] == largest ? time / count : 0.0;
    }
    return load;
}

std::unique_ptr<LoadModel> make_a1(const ModelConstants& c) { return std::make_unique<A1>(c); }
std::unique_ptr<LoadModel> make_b1(const ModelConstants& c) { return std::make_unique<B1>(c); }

}  // namespace balance

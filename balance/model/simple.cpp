// SPDX-License-Identifier: MIT
// Models without a fit: four that spread a process's time by a fixed rule (Liu et al. 2015, section 3, and the works
// they cite), and that of studies.
#include <algorithm>

#include "balance/model/load_model.hpp"

namespace balance {
namespace {

void spread_evenly(const ProcessView& p, std::span<double> load) {
    std::ranges::fill(load, p.time / static_cast<double>(load.size()));
}

struct Stateless : LoadModel {
    double first_state(const CellCounts&) const override { return 0; }
};

// l_c = t_p / N_Cp.
struct TimeAverage final : Stateless {
    bool needs_particles() const override { return false; }
    void update(const ProcessView& p, const Totals&, std::span<double> load) const override { spread_evenly(p, load); }
};

// Exponential smoothing of the cell's share t_p / N_Cp (Luitjens & Berzins, IPDPS 2010); its history travels with the
// cell.
struct MovingAverage final : LoadModel {
    explicit MovingAverage(const ModelConstants& c) : weight(c.weight) {}
    bool needs_particles() const override { return false; }
    static constexpr double no_history = -1;
    double first_state(const CellCounts&) const override { return no_history; }
    bool accepts_state(double value) const override { return value == no_history || LoadModel::accepts_state(value); }
    void update(const ProcessView& p, const Totals&, std::span<double> load) const override {
        const double share = p.time / static_cast<double>(load.size());
        for (std::size_t i = 0; i < load.size(); ++i)
            load[i] = p.state[i] = p.state[i] < 0 ? share : weight * share + (1 - weight) * p.state[i];
    }
    double weight;  // of the new value
};

// l_c = n_c.
struct ParticleCount final : Stateless {
    void update(const ProcessView& p, const Totals&, std::span<double> load) const override {
        for (std::size_t i = 0; i < load.size(); ++i) load[i] = p.cells[i].n;
    }
};

// l_c = n_c t_p / (sum of n over C_p) (Ishiyama et al., SC12).
struct Hybrid final : Stateless {
    void update(const ProcessView& p, const Totals&, std::span<double> load) const override {
        std::int64_t n = 0;
        for (const CellCounts& c : p.cells) n += c.n;
        if (n == 0) return spread_evenly(p, load);
        for (std::size_t i = 0; i < load.size(); ++i) load[i] = p.cells[i].n * (p.time / static_cast<double>(n));
    }
};

// For studies by counted work: the model gets the true cost of each cell. So it separates the errors of other models
// from the limits of partitions.
struct Exact final : Stateless {
    bool wants_costs() const override { return true; }
    bool needs_particles() const override { return false; }
    void update(const ProcessView& p, const Totals&, std::span<double> load) const override {
        double sum = 0;
        for (const double c : p.costs) sum += c;
        if (sum == 0) return spread_evenly(p, load);
        for (std::size_t i = 0; i < load.size(); ++i) load[i] = p.costs[i] * (p.time / sum);
    }
};

}  // namespace

std::unique_ptr<LoadModel> make_time_average(const ModelConstants&) { return std::make_unique<TimeAverage>(); }
std::unique_ptr<LoadModel> make_moving_average(const ModelConstants& c) { return std::make_unique<MovingAverage>(c); }
std::unique_ptr<LoadModel> make_particle_count(const ModelConstants&) { return std::make_unique<ParticleCount>(); }
std::unique_ptr<LoadModel> make_hybrid(const ModelConstants&) { return std::make_unique<Hybrid>(); }
std::unique_ptr<LoadModel> make_exact(const ModelConstants&) { return std::make_unique<Exact>(); }

}  // namespace balance

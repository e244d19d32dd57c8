// SPDX-License-Identifier: MIT
// R1, ours: a prior m_c = theta . f(c) fitted to the times of all processes, times a ratio U_c that each cell keeps.
// The prior explains costs that depend on particle counts. U learns the rest, slowly from noisy times and fast from
// exact ones. r1_ahead learns in the same way, and gives the loads of the particles at their places to come. Measured
// loads are late if a load moves, by the time until the next measurement.
#include <algorithm>
#include <cmath>

#include "balance/model/exact_sum.hpp"
#include "balance/model/load_model.hpp"
#include "balance/model/median.hpp"
#include "balance/model/prior.hpp"

namespace balance {
namespace {

class R1 final : public LoadModel {
public:
    R1(const ModelConstants& c, bool ahead) : constants_(c), prior_(c.costs), ahead_(ahead) {}

    double first_state(const CellCounts&) const override { return 1; }
    int rounds() const override { return 2; }
    bool additive() const override { return true; }
    bool wants_ahead() const override { return ahead_; }

    // Round 0: feature sums, for the prior. Round 1: what the model expects with it, for the ratios.
    std::vector<double> contribution(int round, const ProcessView& p) const override {
        if (round == 1) {
            ExactSum expected;
            for (std::size_t i = 0; i < p.cells.size(); ++i)
                expected.add(prior_.cost(features_of(p.cells[i])) * p.state[i]);
            return {expected.coarse, expected.fine};
        }
        double cells = 0, particles = 0, near = 0, farther = 0;  // an array would be read in pairs and written singly
        for (const CellCounts& cell : p.cells) {
            const auto [one, n, n_n3, n_n5] = features_of(cell);
            cells += one, particles += n, near += n_n3, farther += n_n5;
        }
        return {cells, particles, near, farther};
    }

    // Round 0: the prior; round 1: how far processes usually are from what is expected of them.
    std::vector<double> conclude(int round, std::span<const double> rows,
                                 std::span<const double> times) const override {
        if (round == 1) return {usual_deviation(rows, times)};
        Prior fitted = prior_;
        fitted.fit(rows, times, constants_.forgetting);
        return fitted.numbers();
    }

    void learn(int round, std::span<const double> conclusions) override {
        if (round == 0) prior_.set_numbers(conclusions);
        else noise_ = noise_ < 0 ? conclusions[0] : 0.5 * noise_ + 0.5 * conclusions[0];
    }

    void update(const ProcessView& p, const Totals&, std::span<double> load) const override {
        const std::span<const CellCounts> cells = p.ahead.empty() ? p.cells : p.ahead;
        const double factor = factor_of(expected_in(p.contribution), p.time);
        for (std::size_t i = 0; i < load.size(); ++i) {
            p.state[i] *= factor;
            load[i] = prior_.cost(features_of(cells[i])) * p.state[i];
        }
    }

    std::vector<double> memory() const override {
        std::vector<double> m = prior_.numbers();
        m.push_back(noise_);
        return m;
    }
    void set_memory(std::span<const double> m) override {
        prior_.set_numbers(m.first(Prior::count));
        noise_ = m.back();
    }
    bool accepts_memory(std::span<const double> m) const override {
        std::vector<double> known(m.begin(), m.end());
        if (!known.empty() && known.back() == unknown_noise) known.back() = 0;
        return LoadModel::accepts_memory(known);
    }

private:
    static constexpr double unknown_noise = -1;

    static double deviation_of(double expected, double time) { return expected > 0 ? time / expected - 1 : 0.0; }

    static double expected_in(std::span<const double> row) { return ExactSum{row[0], row[1]}.seconds(); }

    static double usual_deviation(std::span<const double> rows, std::span<const double> times) {
        std::vector<double> size;
        for (std::size_t p = 0; p < times.size(); ++p)
            if (const double expected = expected_in(rows.subspan(2 * p, 2)); expected > 0)
                size.push_back(std::abs(deviation_of(expected, times[p])));
        return 1.4826 * median(std::move(size));
    }

    // How much of its deviation a process's cells take over.
    double factor_of(double expected, double time) const {
        const double e = deviation_of(expected, time), e2 = e * e;
        const double gain =
            e2 > 0 ? std::max(constants_.floor, e2 / (e2 + constants_.noise_weight * noise_ * noise_)) : 0.0;
        return std::max(0.05, 1 + gain * e);
    }

    ModelConstants constants_;
    Prior prior_;
    bool ahead_;
    double noise_ = unknown_noise;
};

}  // namespace

std::unique_ptr<LoadModel> make_r1(const ModelConstants& c) { return std::make_unique<R1>(c, false); }
std::unique_ptr<LoadModel> make_r1_ahead(const ModelConstants& c) { return std::make_unique<R1>(c, true); }

}  // namespace balance

// SPDX-License-Identifier: MIT
// R1, ours: a prior m_c = theta . f(c) fitted to the times of all processes, times a ratio U_c that each cell keeps.
// The prior explains what depends on particle counts; U learns, slowly where times are noisy and fast where they are
// not, what it cannot explain.
#include <algorithm>
#include <array>
#include <cmath>

#include "balance/model/load_model.hpp"

namespace balance {
namespace {

constexpr int features = 4;
using Vector = std::array<double, features>;
using Matrix = std::array<Vector, features>;

// Seconds for a cell, a particle, and a particle's neighbours near and farther.
Vector features_of(const CellCounts& c) {
    return {1.0, static_cast<double>(c.n), static_cast<double>(c.n) * c.n3, static_cast<double>(c.n) * c.n5};
}

double dot(const Vector& a, const Vector& b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3]; }

// Solves a x = b on the features in `active` (bits) by elimination with pivoting; false if it is singular.
bool solve(Matrix a, Vector b, unsigned active, Vector& x) {
    std::array<int, features> index{};
    int n = 0;
    for (int i = 0; i < features; ++i)
        if (active >> i & 1) index[n++] = i;
    for (int c = 0; c < n; ++c) {
        int pivot = c;
        for (int r = c + 1; r < n; ++r)
            if (std::abs(a[index[r]][index[c]]) > std::abs(a[index[pivot]][index[c]])) pivot = r;
        std::swap(a[index[c]], a[index[pivot]]);
        std::swap(b[index[c]], b[index[pivot]]);
        const double p = a[index[c]][index[c]];
        if (!(std::abs(p) > 1e-12)) return false;
        for (int r = c + 1; r < n; ++r) {
            const double f = a[index[r]][index[c]] / p;
            for (int k = c; k < n; ++k) a[index[r]][index[k]] -= f * a[index[c]][index[k]];
            b[index[r]] -= f * b[index[c]];
        }
    }
    x = {};
    for (int c = n - 1; c >= 0; --c) {
        double s = b[index[c]];
        for (int k = c + 1; k < n; ++k) s -= a[index[c]][index[k]] * x[index[k]];
        x[index[c]] = s / a[index[c]][index[c]];
    }
    return true;
}

// Smallest x^T a x - 2 b^T x with x >= 0, among all 15 sets of features that may be positive.
Vector non_negative_least_squares(const Matrix& a, const Vector& b) {
    Vector best{};
    double lowest = 0;
    for (unsigned active = 1; active < 1u << features; ++active) {
        Vector x;
        if (!solve(a, b, active, x) ||
            std::any_of(x.begin(), x.end(), [](double v) { return v < 0 || !std::isfinite(v); }))
            continue;
        double value = -2 * dot(b, x);
        for (int i = 0; i < features; ++i) value += x[i] * dot(a[i], x);
        if (value < lowest) lowest = value, best = x;
    }
    return best;
}

double median(std::vector<double> v) {
    if (v.empty()) return 0;
    const auto middle = v.begin() + static_cast<std::ptrdiff_t>(v.size() / 2);
    std::nth_element(v.begin(), middle, v.end());
    return *middle;
}

class R1 final : public LoadModel {
public:
    explicit R1(const ModelConstants& c) : constants_(c) {
        for (int i = 0; i < features; ++i) theta_[i] = c.costs[i];
    }

    double first_state(const CellCounts&) const override { return 1; }
    int rounds() const override { return 2; }

    // Round 0: feature sums, for the prior. Round 1: what the model expects with it, for the ratios.
    std::vector<double> contribution(int round, const ProcessView& p) const override {
        Vector sum{};
        double expected = 0;
        for (std::size_t i = 0; i < p.cells.size(); ++i) {
            const Vector f = features_of(p.cells[i]);
            if (round == 1) expected += dot(theta_, f) * p.state[i];
            else
                for (int k = 0; k < features; ++k) sum[k] += f[k];
        }
        if (round == 1) return {expected};
        return {sum.begin(), sum.end()};
    }

    void conclude(int round, std::span<const double> rows, std::span<const double> times) override {
        if (round == 0) fit(rows, times);
        else learn(rows, times);
    }

    void update(const ProcessView& p, const Totals&, std::span<double> load) const override {
        for (std::size_t i = 0; i < load.size(); ++i) {
            p.state[i] *= factor_[p.index];
            load[i] = dot(theta_, features_of(p.cells[i])) * p.state[i];
        }
    }

    std::vector<double> memory() const override {
        std::vector<double> m(theta_.begin(), theta_.end());
        for (const Vector& row : normal_) m.insert(m.end(), row.begin(), row.end());
        m.insert(m.end(), right_.begin(), right_.end());
        m.push_back(noise_);
        return m;
    }
    void set_memory(std::span<const double> m) override {
        const double* next = m.data();
        for (double& v : theta_) v = *next++;
        for (Vector& row : normal_)
            for (double& v : row) v = *next++;
        for (double& v : right_) v = *next++;
        noise_ = *next;
    }
    bool accepts_memory(std::span<const double> m) const override {
        std::vector<double> known(m.begin(), m.end());
        if (!known.empty() && known.back() == unknown_noise) known.back() = 0;
        return LoadModel::accepts_memory(known);
    }

private:
    static constexpr double unknown_noise = -1;

    // Normal equations with forgetting, in units in which every feature's sum of squares is 1; a weak pull to the last
    // solution decides where the processes can't tell features apart.
    void fit(std::span<const double> rows, std::span<const double> times) {
        for (Vector& row : normal_)
            for (double& v : row) v *= constants_.forgetting;
        for (double& v : right_) v *= constants_.forgetting;
        for (std::size_t p = 0; p < times.size(); ++p)
            for (int i = 0; i < features; ++i) {
                for (int k = 0; k < features; ++k) normal_[i][k] += rows[p * features + i] * rows[p * features + k];
                right_[i] += rows[p * features + i] * times[p];
            }
        Vector scale;
        for (int i = 0; i < features; ++i) scale[i] = normal_[i][i] > 0 ? std::sqrt(normal_[i][i]) : 1.0;
        Matrix a;
        Vector b;
        constexpr double pull = 1e-6;
        for (int i = 0; i < features; ++i) {
            for (int k = 0; k < features; ++k) a[i][k] = normal_[i][k] / (scale[i] * scale[k]);
            a[i][i] += pull;
            b[i] = right_[i] / scale[i] + pull * theta_[i] * scale[i];
        }
        const Vector x = non_negative_least_squares(a, b);
        if (dot(x, x) > 0)
            for (int i = 0; i < features; ++i) theta_[i] = x[i] / scale[i];
    }

    // How much of its deviation each process's cells take over.
    void learn(std::span<const double> expected, std::span<const double> times) {
        std::vector<double> deviation(times.size(), 0.0), size;
        for (std::size_t p = 0; p < times.size(); ++p)
            if (expected[p] > 0) {
                deviation[p] = times[p] / expected[p] - 1;
                size.push_back(std::abs(deviation[p]));
            }
        const double now = 1.4826 * median(std::move(size));
        noise_ = noise_ < 0 ? now : 0.5 * noise_ + 0.5 * now;
        factor_.assign(times.size(), 1.0);
        for (std::size_t p = 0; p < times.size(); ++p) {
            const double e = deviation[p], e2 = e * e;
            const double gain =
                e2 > 0 ? std::max(constants_.floor, e2 / (e2 + constants_.noise_weight * noise_ * noise_)) : 0.0;
            factor_[p] = std::max(0.05, 1 + gain * e);
        }
    }

    ModelConstants constants_;
    Vector theta_{}, right_{};
    Matrix normal_{};
    double noise_ = unknown_noise;
    std::vector<double> factor_;  // of each process, this balancing
};

}  // namespace

std::unique_ptr<LoadModel> make_r1(const ModelConstants& c) { return std::make_unique<R1>(c); }

}  // namespace balance

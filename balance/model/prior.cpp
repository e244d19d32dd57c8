// SPDX-License-Identifier: MIT
#include "balance/model/prior.hpp"

#include <algorithm>
#include <cmath>

namespace balance {
namespace {

using Matrix = std::array<Features, features>;

double dot(const Features& a, const Features& b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3]; }

// Solves a x = b on the features in `active` (bits) by elimination with pivoting; false if it is singular.
bool solve(Matrix a, Features b, unsigned active, Features& x) {
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
Features non_negative_least_squares(const Matrix& a, const Features& b) {
    Features best{};
    double lowest = 0;
    for (unsigned active = 1; active < 1u << features; ++active) {
        Features x;
        if (!solve(a, b, active, x) ||
            std::any_of(x.begin(), x.end(), [](double v) { return v < 0 || !std::isfinite(v); }))
            continue;
        double value = -2 * dot(b, x);
        for (int i = 0; i < features; ++i) value += x[i] * dot(a[i], x);
        if (value < lowest) lowest = value, best = x;
    }
    return best;
}

}  // namespace

Features features_of(const CellCounts& c) {
    return {1.0, static_cast<double>(c.n), static_cast<double>(c.n) * c.n3, static_cast<double>(c.n) * c.n5};
}

Prior::Prior(std::span<const double> costs) {
    for (int i = 0; i < features; ++i) theta_[i] = costs[i];
}

double Prior::cost(const Features& f) const { return dot(theta_, f); }

void Prior::scale(double factor) {
    for (double& v : theta_) v *= factor;
}

// Normal equations in units in which every feature's sum of squares is 1.
void Prior::fit(std::span<const double> rows, std::span<const double> times, double forgetting, double pull) {
    for (Features& row : normal_)
        for (double& v : row) v *= forgetting;
    for (double& v : right_) v *= forgetting;
    for (std::size_t p = 0; p < times.size(); ++p)
        for (int i = 0; i < features; ++i) {
            for (int k = 0; k < features; ++k) normal_[i][k] += rows[p * features + i] * rows[p * features + k];
            right_[i] += rows[p * features + i] * times[p];
        }
    Features scale;
    for (int i = 0; i < features; ++i) scale[i] = normal_[i][i] > 0 ? std::sqrt(normal_[i][i]) : 1.0;
    Matrix a;
    Features b;
    for (int i = 0; i < features; ++i) {
        for (int k = 0; k < features; ++k) a[i][k] = normal_[i][k] / (scale[i] * scale[k]);
        a[i][i] += pull;
        b[i] = right_[i] / scale[i] + pull * theta_[i] * scale[i];
    }
    const Features x = non_negative_least_squares(a, b);
    if (dot(x, x) > 0)
        for (int i = 0; i < features; ++i) theta_[i] = x[i] / scale[i];
}

std::vector<double> Prior::numbers() const {
    std::vector<double> m(theta_.begin(), theta_.end());
    for (const Features& row : normal_) m.insert(m.end(), row.begin(), row.end());
    m.insert(m.end(), right_.begin(), right_.end());
    return m;
}

void Prior::set_numbers(std::span<const double> m) {
    const double* next = m.data();
    for (double& v : theta_) v = *next++;
    for (Features& row : normal_)
        for (double& v : row) v = *next++;
    for (double& v : right_) v = *next++;
}

}  // namespace balance

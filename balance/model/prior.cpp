// SPDX-License-Identifier: MIT
#include "balance/model/prior.hpp"

#include <cmath>

namespace balance {

Prior::Prior(std::span<const double> costs) {
    for (int i = 0; i < features; ++i) theta_[i] = costs[i];
}

// Normal equations in units in which every feature's sum of squares is 1.
void Prior::fit(std::span<const double> rows, std::span<const double> times, double forgetting) {
    constexpr double pull = 1e-6;
    // Copies, which stay in registers: for all a compiler knows, the rows could overlap the members.
    Normal normal = normal_;
    Unknowns right = right_;
    for (Features& row : normal)
        for (double& v : row) v *= forgetting;
    for (double& v : right) v *= forgetting;
    for (std::size_t p = 0; p < times.size(); ++p) {
        const double* const row = &rows[p * features];
        for (int i = 0; i < features; ++i) {
            for (int k = i; k < features; ++k) normal[i][k] += row[i] * row[k];
            right[i] += row[i] * times[p];
        }
    }
    for (int i = 0; i < features; ++i)
        for (int k = 0; k < i; ++k) normal[i][k] = normal[k][i];
    normal_ = normal;
    right_ = right;
    Features scale;
    for (int i = 0; i < features; ++i) scale[i] = normal_[i][i] > 0 ? std::sqrt(normal_[i][i]) : 1.0;
    Normal a;
    Unknowns b;
    for (int i = 0; i < features; ++i) {
        for (int k = 0; k < features; ++k) a[i][k] = normal_[i][k] / (scale[i] * scale[k]);
        a[i][i] += pull;
        b[i] = right_[i] / scale[i] + pull * theta_[i] * scale[i];
    }
    const Unknowns x = least_squares(a, b);
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

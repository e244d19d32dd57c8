// SPDX-License-Identifier: MIT
#include "balance/model/least_squares.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace balance {
namespace {

// Solves a x = b for the unknowns in `active` (bits) by elimination with pivoting; false if it is singular.
bool solve(Normal a, Unknowns b, unsigned active, Unknowns& x) {
    std::array<int, unknowns> index{};
    int n = 0;
    for (int i = 0; i < unknowns; ++i)
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

}  // namespace

Unknowns least_squares(const Normal& a, const Unknowns& b) {
    Unknowns best{};
    double lowest = 0;
    for (unsigned active = 1; active < 1u << unknowns; ++active) {
        Unknowns x;
        if (!solve(a, b, active, x) ||
            std::any_of(x.begin(), x.end(), [](double v) { return v < 0 || !std::isfinite(v); }))
            continue;
        double value = -2 * dot(b, x);
        for (int i = 0; i < unknowns; ++i) value += x[i] * dot(a[i], x);
        if (value < lowest) lowest = value, best = x;
    }
    return best;
}

Unknowns least_squares(std::span<const Unknowns> rows, std::span<const double> values) {
    Unknowns scale{};  // columns of very different units
    for (const Unknowns& row : rows)
        for (int k = 0; k < unknowns; ++k) scale[k] += row[k] * row[k];
    for (double& s : scale) s = s > 0 ? std::sqrt(s) : 1;
    Normal a{};
    Unknowns b{};
    for (std::size_t r = 0; r < rows.size(); ++r)
        for (int i = 0; i < unknowns; ++i) {
            b[i] += rows[r][i] / scale[i] * values[r];
            for (int k = 0; k < unknowns; ++k) a[i][k] += rows[r][i] / scale[i] * rows[r][k] / scale[k];
        }
    Unknowns x = least_squares(a, b);
    for (int i = 0; i < unknowns; ++i) x[i] /= scale[i];
    return x;
}

}  // namespace balance

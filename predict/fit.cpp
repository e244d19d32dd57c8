// SPDX-License-Identifier: MIT
#include "predict/fit.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

namespace predict {
namespace {

// Solves a small symmetric system by elimination with pivots; nothing where it is singular to rounding.
std::optional<std::vector<double>> solve(std::vector<std::vector<double>> a, std::vector<double> b) {
    const std::size_t n = b.size();
    for (std::size_t k = 0; k < n; ++k) {
        std::size_t pivot = k;
        for (std::size_t i = k + 1; i < n; ++i)
            if (std::abs(a[i][k]) > std::abs(a[pivot][k])) pivot = i;
        if (std::abs(a[pivot][k]) < 1e-10) return std::nullopt;
        std::swap(a[k], a[pivot]), std::swap(b[k], b[pivot]);
        for (std::size_t i = k + 1; i < n; ++i) {
            const double factor = a[i][k] / a[k][k];
            for (std::size_t j = k; j < n; ++j) a[i][j] -= factor * a[k][j];
            b[i] -= factor * b[k];
        }
    }
    std::vector<double> x(n);
    for (std::size_t k = n; k-- > 0;) {
        x[k] = b[k];
        for (std::size_t j = k + 1; j < n; ++j) x[k] -= a[k][j] * x[j];
        x[k] /= a[k][k];
    }
    return x;
}

}  // namespace

FitRow fit_nonnegative(std::span<const FitRow> rows, std::span<const double> values) {
    FitRow scale{};  // columns of very different units
    for (const FitRow& row : rows)
        for (int k = 0; k < fit_unknowns; ++k) scale[k] += row[k] * row[k];
    for (double& s : scale) s = s > 0 ? std::sqrt(s) : 1;
    FitRow best{};
    double least = std::numeric_limits<double>::infinity();
    for (unsigned chosen = 0; chosen < 1u << fit_unknowns; ++chosen) {
        std::vector<int> of;
        for (int k = 0; k < fit_unknowns; ++k)
            if (chosen >> k & 1) of.push_back(k);
        std::vector<std::vector<double>> a(of.size(), std::vector<double>(of.size(), 0.0));
        std::vector<double> b(of.size(), 0.0);
        for (std::size_t r = 0; r < rows.size(); ++r)
            for (std::size_t i = 0; i < of.size(); ++i) {
                b[i] += rows[r][of[i]] / scale[of[i]] * values[r];
                for (std::size_t j = 0; j < of.size(); ++j)
                    a[i][j] += rows[r][of[i]] / scale[of[i]] * rows[r][of[j]] / scale[of[j]];
            }
        const auto x = solve(std::move(a), std::move(b));
        if (!x || std::any_of(x->begin(), x->end(), [](double v) { return v < 0; })) continue;
        FitRow candidate{};
        for (std::size_t i = 0; i < of.size(); ++i) candidate[of[i]] = (*x)[i] / scale[of[i]];
        double error = 0;
        for (std::size_t r = 0; r < rows.size(); ++r) {
            double difference = -values[r];
            for (int k = 0; k < fit_unknowns; ++k) difference += candidate[k] * rows[r][k];
            error += difference * difference;
        }
        if (error < least) least = error, best = candidate;
    }
    return best;
}

}  // namespace predict

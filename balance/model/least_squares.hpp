// SPDX-License-Identifier: MIT
// Linear least squares with four unknowns that are not negative: the costs of what is counted in cells.
#pragma once
#include <array>
#include <span>

namespace balance {

inline constexpr int unknowns = 4;
using Unknowns = std::array<double, unknowns>;
using Normal = std::array<Unknowns, unknowns>;

inline double dot(const Unknowns& a, const Unknowns& b) {
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3];
}

/// The x >= 0 with the smallest x^T a x - 2 b^T x, or 0 if none is better. Each choice of unknowns, with the others 0,
/// gives a solution of a x = b. The best of these counts. a: symmetric normal equations, scaled to about 1 on the
/// diagonal.
Unknowns least_squares(const Normal& a, const Unknowns& b);

/// The x >= 0 with the least sum over rows of (row . x - value)^2. As many values as rows, at least one.
Unknowns least_squares(std::span<const Unknowns> rows, std::span<const double> values);

}  // namespace balance

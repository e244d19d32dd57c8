// SPDX-License-Identifier: MIT
// Linear least squares with unknowns that are not negative, for a few unknowns.
#pragma once
#include <array>
#include <span>

namespace predict {

inline constexpr int fit_unknowns = 4;
using FitRow = std::array<double, fit_unknowns>;

/// The x >= 0 with the least sum over rows of (row . x - value)^2: the best of the solutions that each choice of
/// unknowns gives when the others are 0 (2^4 of them). As many values as rows, at least one.
FitRow fit_nonnegative(std::span<const FitRow> rows, std::span<const double> values);

}  // namespace predict

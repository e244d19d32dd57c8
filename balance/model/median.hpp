// SPDX-License-Identifier: MIT
#pragma once
#include <algorithm>
#include <span>
#include <vector>

namespace balance {

/// The upper one of the two in the middle where there is an even number; 0 of nothing. Changes the order.
inline double median_in(std::span<double> values) {
    if (values.empty()) return 0;
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
}
inline double median(std::vector<double> values) { return median_in(values); }

}  // namespace balance

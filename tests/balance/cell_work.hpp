// SPDX-License-Identifier: MIT
// The counted work of one cell.
#pragma once
#include <cstdint>

#include "balance/model/work.hpp"

namespace balance {

/// Ticks a step of one cell at (x, y).
inline std::int64_t cell_work(const WorkCosts& costs, const CellCounts& c, std::int64_t neighbours, double x,
                              double y) {
    std::int64_t work = 0;
    cell_works(costs, in_region(costs, x, y), {&c, 1}, {&neighbours, 1}, {&work, 1});
    return work;
}

}  // namespace balance

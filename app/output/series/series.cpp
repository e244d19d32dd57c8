// SPDX-License-Identifier: MIT
#include "app/output/series/series.hpp"

#include "app/deck/outputs.hpp"

namespace app {

#define STEELYARD_DECLARE(name, meaning) SeriesKind name##_series();
STEELYARD_OUTPUTS(STEELYARD_DECLARE)
#undef STEELYARD_DECLARE

const std::vector<SeriesKind>& series_kinds() {
    static const std::vector<SeriesKind> kinds = [] {
        std::vector<SeriesKind> all;
#define STEELYARD_ENTRY(kind, meaning) all.push_back(kind##_series()), all.back().name = #kind;
        STEELYARD_OUTPUTS(STEELYARD_ENTRY)
#undef STEELYARD_ENTRY
        return all;
    }();
    return kinds;
}

}  // namespace app

// SPDX-License-Identifier: MIT
#include "app/output/series/tables.hpp"

namespace app {

void add_resources(Table<ResourceRow>& table, std::span<const ResourceRow> hosted, std::int64_t processes,
                   const balance::Team& team) {
    constexpr std::int64_t at_a_time = balance::most_known_to_one;
    for (std::int64_t first = 0; first < processes; first += at_a_time) {
        std::vector<ResourceRow> rows;
        for (const ResourceRow& row : hosted)
            if (row.resource >= first && row.resource < first + at_a_time) rows.push_back(row);
        table.add(balance::gather<ResourceRow>(team, rows));
    }
}

}  // namespace app

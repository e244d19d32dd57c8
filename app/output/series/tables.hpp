// SPDX-License-Identifier: MIT
// The CSV files of every run, by their columns (table.hpp). docs/output.md has the same names, units and meanings.
#pragma once
#include <array>
#include <cstdint>

#include "app/balancing/load_balancer.hpp"
#include "app/balancing/zone_balancer.hpp"
#include "app/common/timers.hpp"
#include "app/output/series/table.hpp"
#include "md/observables.hpp"

namespace app {

/// A block of cells at a step.
struct MapRow {
    std::int64_t step = 0;
    balance::Box cells;
    std::int64_t particles = 0;
    double load = 0;
    std::int64_t owner = 0;
    int zone = 0;
};

/// A rank at a step; seconds and messages since this start of the program.
struct RankRow {
    std::int64_t step = 0, start = 0, rank = 0, node = 0, particles = 0;
    double wall_seconds = 0;
    std::array<double, static_cast<int>(Phase::count)> phases{};
    double wait_seconds = 0;
    std::int64_t messages = 0, bytes = 0;
};

struct ThermoRow {
    std::int64_t step = 0;
    double time = 0;
    std::int64_t particles = 0;
    md::Thermo values;
};

struct TimingRow {
    std::int64_t step = 0;
    double wall_seconds = 0, cpu_seconds = 0;
};

/// Columns of thermo.csv. The dimensions, walls and thermostat of the system decide which there are.
Columns<ThermoRow> thermo_columns(const md::System& system);
const Columns<TimingRow>& timing_columns();      ///< of timing.csv
const Columns<BalanceRow>& balance_columns();    ///< of balance.csv
const Columns<ResourceRow>& resource_columns();  ///< of resources.csv
const Columns<ZoneRow>& zone_columns();          ///< of zones.csv
const Columns<MapRow>& map_columns();            ///< of map.csv
const Columns<RankRow>& rank_columns();          ///< of ranks.csv

/// Adds the rows of one balancing. hosted: of the processes that this member hosts, in their order. They come to rank 0
/// balance::most_known_to_one at a time. Collective. Throws OutputError.
inline void add_resources(Table<ResourceRow>& table, std::span<const ResourceRow> hosted, std::int64_t processes,
                          const balance::Team& team) {
    constexpr std::int64_t at_a_time = balance::most_known_to_one;
    for (std::int64_t first = 0; first < processes; first += at_a_time) {
        std::vector<ResourceRow> rows;
        for (const ResourceRow& row : hosted)
            if (row.process >= first && row.process < first + at_a_time) rows.push_back(row);
        table.add(balance::gather<ResourceRow>(team, rows));
    }
}

}  // namespace app

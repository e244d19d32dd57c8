// SPDX-License-Identifier: MIT
// The CSV files of every run, by their columns (table.hpp). docs/output.md has the same names, units and meanings.
#pragma once
#include <cstdint>

#include "app/balancing/load_balancer.hpp"
#include "app/balancing/zone_balancer.hpp"
#include "app/output/table.hpp"
#include "md/observables.hpp"

namespace app {

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

/// Of thermo.csv, for a system whose particles lie in as many dimensions and on which so much acts.
Columns<ThermoRow> thermo_columns(const md::System& system);
const Columns<TimingRow>& timing_columns();      ///< of timing.csv
const Columns<BalanceRow>& balance_columns();    ///< of balance.csv
const Columns<ResourceRow>& resource_columns();  ///< of resources.csv
const Columns<ZoneRow>& zone_columns();          ///< of zones.csv

}  // namespace app

// SPDX-License-Identifier: MIT
// The table and the files of `steelyard partition`.
#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "app/output/series/cell_fields.hpp"
#include "balance/nested/nested.hpp"
#include "comm/communicator.hpp"

namespace app {

/// A partition and its quality; the same on all ranks.
struct PartitionReport {
    std::string deck;  ///< its name
    balance::Grid grid;
    balance::MachineSpec machine;
    std::string algorithm;  ///< its name
    int ghost_width = 1;    ///< cells
    balance::NestedPartition partition = {};
    balance::NestedQuality quality = {};
    double bound = 1,
           bound_of_cells = 1;  ///< of LBE_m; the second because cells are not divided, whatever the algorithm
    balance::NestedTraffic traffic = {};
    std::int64_t item_bytes = 8;  ///< of what the traffic counts
    double unit = 1;              ///< of loads
    std::string unit_name = {};
    std::vector<balance::Resource> resources = balance::resources_of(machine);
};

/// Fields of the cells of this rank's home: load (given for each cell, or empty: 1), owner (resource), node, kind (0
/// core, 1 accelerator). box: lengths.
CellFields cell_fields(const PartitionReport& report, std::span<const std::int64_t> load,
                       const std::array<double, 3>& box, const comm::Communicator& comm);

/// The text of partition.json: a key a line, and in `resources` a resource a line.
std::string to_json(const PartitionReport& report);

/// The table on the terminal. directory: where the files are.
void say_partition(const PartitionReport& report, const std::string& directory);

}  // namespace app

// SPDX-License-Identifier: MIT
#include "balance/sides.hpp"

#include <algorithm>

#include "balance/grid/field.hpp"
#include "balance/model/counted_work.hpp"
#include "balance/partition/region.hpp"

namespace balance {

std::vector<double> side_times(const Team& team, const Decomposition& owners, std::span<const std::int64_t> work,
                               std::span<const double> accelerator_speeds) {
    Partition sides{{}, {0}};
    std::vector<double> devices;
    for (int r = 0; r < team.size(); ++r) {
        const Range mine = owners.processes_of(r);
        const Partition& whole = owners.partition();
        const Region cells(whole.boxes.begin() + whole.first[mine.begin], whole.boxes.begin() + whole.first[mine.end]);
        Region blocks;
        for (const Box& b : owners.zones().of(r))
            if (!b.empty()) blocks.push_back(b);
        for (const Region& side : {without(cells, blocks), blocks}) {
            sides.boxes.insert(sides.boxes.end(), side.begin(), side.end());
            sides.first.push_back(static_cast<std::int64_t>(sides.boxes.size()));
        }
        devices.push_back(std::max(1.0, static_cast<double>(blocks.size())));
    }
    const Box home = Homes{owners.grid(), team.size()}.of(team.rank());
    std::vector<double> times = counted_times(team, {owners.grid(), home, sides}, work, sides.processes());
    for (int r = 0; r < team.size(); ++r) times[2 * r + 1] /= devices[r] * accelerator_speeds[r];
    return times;
}

}  // namespace balance

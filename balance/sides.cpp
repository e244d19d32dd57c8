// SPDX-License-Identifier: MIT
#include "balance/sides.hpp"

#include <algorithm>
#include <set>
#include <stdexcept>

#include "balance/grid/field.hpp"
#include "balance/model/counted_work.hpp"
#include "balance/partition/region.hpp"

namespace balance {

std::vector<double> side_times(const Team& team, const Decomposition& owners, std::span<const std::int64_t> work,
                               std::span<const double> accelerator_speeds) {
    if (owners.known().size() != owners.processes())
        throw std::logic_error("the sides of all members are asked for, and some processes are not known");
    ProcessBoxes sides;
    std::vector<double> devices;
    for (int r = 0; r < team.size(); ++r) {
        const IndexRange mine = owners.processes_of(r);
        const ProcessBoxes& all = owners.known();
        const Region cells(all.boxes.begin() + all.first[mine.begin], all.boxes.begin() + all.first[mine.end]);
        Region blocks;
        std::set<int> at_work;
        for (const ZoneBlock& b : owners.zones().of(r)) blocks.push_back(b.box), at_work.insert(b.accelerator);
        for (const Region& side : {without(cells, blocks), blocks}) sides.add(sides.size(), side);
        devices.push_back(std::max(1.0, static_cast<double>(at_work.size())));
    }
    const Box home = Homes{owners.grid(), team.size()}.of(team.rank());
    std::vector<double> times = counted_times(team, {owners.grid(), home, sides}, work, sides.size());
    for (int r = 0; r < team.size(); ++r) times[2 * r + 1] /= devices[r] * accelerator_speeds[r];
    return times;
}

}  // namespace balance

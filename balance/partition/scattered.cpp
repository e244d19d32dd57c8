// SPDX-License-Identifier: MIT
#include "balance/partition/scattered.hpp"

namespace balance {

ScatteredPartition::ScatteredPartition(const Team& team, const Partition& whole, const Hosts& hosts) {
    const Range mine = hosts.processes_of(team.rank());
    for (std::int64_t p = mine.begin; p < mine.end; ++p) {
        mine_.push_back(static_cast<std::int32_t>(whole.first[p + 1] - whole.first[p]));
        for (std::int64_t b = whole.first[p]; b < whole.first[p + 1]; ++b)
            for (const std::array<int, 3>& corner : {whole.boxes[b].lower, whole.boxes[b].upper})
                mine_.insert(mine_.end(), corner.begin(), corner.end());
    }
}

Partition ScatteredPartition::whole(const Team& team) const {
    const std::vector<std::int32_t> all = all_gather<std::int32_t>(team, mine_);
    constexpr int numbers = 6;  // of a box
    std::int64_t processes = 0;
    for (auto next = all.begin(); next != all.end(); next += 1 + numbers * std::int64_t{*next}) ++processes;
    Partition p;
    p.boxes.reserve((all.size() - processes) / numbers);  // all ranks have it at the same time: no more than it takes
    p.first.reserve(processes + 1);
    p.first.push_back(0);
    for (auto next = all.begin(); next != all.end();) {
        for (std::int32_t boxes = *next++; boxes > 0; --boxes, next += numbers)
            p.boxes.push_back({{next[0], next[1], next[2]}, {next[3], next[4], next[5]}});
        p.first.push_back(static_cast<std::int64_t>(p.boxes.size()));
    }
    return p;
}

}  // namespace balance

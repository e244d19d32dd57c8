// SPDX-License-Identifier: MIT
#include "balance/partition/process_boxes.hpp"

namespace balance {

void ProcessBoxes::add(std::int64_t process, std::span<const Box> its_boxes) {
    processes.push_back(process);
    boxes.insert(boxes.end(), its_boxes.begin(), its_boxes.end());
    first.push_back(static_cast<std::int64_t>(boxes.size()));
}

std::int64_t ProcessBoxes::bytes() const {
    return static_cast<std::int64_t>((processes.capacity() + first.capacity()) * sizeof(std::int64_t) +
                                     boxes.capacity() * sizeof(Box));
}

namespace {

ProcessBoxes processes_in(const Partition& partition, Range range) {
    ProcessBoxes some;
    some.processes.reserve(range.size());
    some.first.reserve(range.size() + 1);
    some.boxes.reserve(partition.first[range.end] - partition.first[range.begin]);
    for (std::int64_t p = range.begin; p < range.end; ++p)
        some.add(p,
                 std::span(partition.boxes).subspan(partition.first[p], partition.first[p + 1] - partition.first[p]));
    return some;
}

}  // namespace

ProcessBoxes all_of(const Partition& partition) { return processes_in(partition, {0, partition.processes()}); }

ProcessBoxes hosted_of(const Partition& partition, const Hosts& hosts, int member) {
    return processes_in(partition, hosts.processes_of(member));
}

// Members send of each process the number of its boxes, then their corners.
Partition whole(const Team& team, const ProcessBoxes& hosted) {
    constexpr int numbers = 6;  // of a box
    std::vector<std::int32_t> mine;
    mine.reserve(hosted.size() + numbers * hosted.boxes.size());
    for (std::int64_t i = 0; i < hosted.size(); ++i) {
        mine.push_back(static_cast<std::int32_t>(hosted.of(i).size()));
        for (const Box& b : hosted.of(i))
            for (const std::array<int, 3>& corner : {b.lower, b.upper})
                mine.insert(mine.end(), corner.begin(), corner.end());
    }
    const std::vector<std::int32_t> all = all_gather<std::int32_t>(team, mine);
    std::int64_t processes = 0;
    for (auto next = all.begin(); next != all.end(); next += 1 + numbers * std::int64_t{*next}) ++processes;
    Partition p;
    p.boxes.reserve((all.size() - processes) / numbers);  // all members have it at the same time: no more than it takes
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

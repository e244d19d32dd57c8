// SPDX-License-Identifier: MIT
#include "balance/partition/process_boxes.hpp"

#include <algorithm>
#include <utility>

namespace balance {

namespace {

constexpr int numbers_of_a_box = 6;

ProcessBoxes processes_in(const Partition& partition, IndexRange range) {
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

ProcessBoxes united(std::span<const ProcessBoxes> lists) {
    struct Place {
        std::int64_t process;
        const ProcessBoxes* list;
        std::int64_t at;
    };
    std::vector<Place> places;
    for (const ProcessBoxes& list : lists)
        for (std::int64_t i = 0; i < list.size(); ++i) places.push_back({list.processes[i], &list, i});
    std::ranges::stable_sort(places, {}, &Place::process);
    ProcessBoxes all;
    for (const Place& p : places)
        if (all.processes.empty() || all.processes.back() != p.process) all.add(p.process, p.list->of(p.at));
    return all;
}

// For each process its number, the number of its boxes, and their corners.
std::vector<std::int32_t> to_words(const ProcessBoxes& some) {
    std::vector<std::int32_t> words;
    words.reserve(2 * some.size() + numbers_of_a_box * some.boxes.size());
    for (std::int64_t i = 0; i < some.size(); ++i) {
        words.push_back(static_cast<std::int32_t>(some.processes[i]));
        words.push_back(static_cast<std::int32_t>(some.of(i).size()));
        for (const Box& b : some.of(i))
            for (const std::array<int, 3>& corner : {b.lower, b.upper})
                words.insert(words.end(), corner.begin(), corner.end());
    }
    return words;
}

ProcessBoxes from_words(std::span<const std::int32_t> words) {
    ProcessBoxes some;
    std::vector<Box> boxes;
    for (auto next = words.begin(); next != words.end();) {
        const std::int32_t process = *next++;
        boxes.clear();
        for (std::int32_t n = *next++; n > 0; --n, next += numbers_of_a_box)
            boxes.push_back({{next[0], next[1], next[2]}, {next[3], next[4], next[5]}});
        some.add(process, boxes);
    }
    return some;
}

Partition whole(const Team& team, const ProcessBoxes& hosted) {
    ProcessBoxes all = from_words(all_gather<std::int32_t>(team, to_words(hosted)));
    return {std::move(all.boxes), std::move(all.first)};
}

}  // namespace balance

// SPDX-License-Identifier: MIT
// Partitions, and what a member knows of one: the boxes of the processes that it hosts, or of those around it. No
// member has to know all, so what each one holds does not grow with their number.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "balance/partition/hosts.hpp"
#include "balance/team.hpp"

namespace balance {

/// Boxes of process p: boxes[first[p]] .. boxes[first[p + 1]]. They tile the grid; a process may have none.
struct Partition {
    std::vector<Box> boxes;
    std::vector<std::int64_t> first;
    std::int64_t processes() const { return std::ssize(first) - 1; }
    friend bool operator==(const Partition&, const Partition&) = default;
};

/// Some processes of a partition and all their boxes.
struct ProcessBoxes {
    std::vector<std::int64_t> processes;  ///< in ascending order
    std::vector<std::int64_t> first{0};   ///< boxes of processes[i]: boxes[first[i]] .. boxes[first[i + 1]]
    std::vector<Box> boxes;

    std::int64_t size() const { return std::ssize(processes); }
    std::span<const Box> of(std::int64_t place) const {
        return std::span(boxes).subspan(first[place], first[place + 1] - first[place]);
    }
    /// A process behind all others.
    void add(std::int64_t process, std::span<const Box> its_boxes) {
        processes.push_back(process);
        boxes.insert(boxes.end(), its_boxes.begin(), its_boxes.end());
        first.push_back(std::ssize(boxes));
    }
    std::int64_t bytes() const {
        return static_cast<std::int64_t>((processes.capacity() + first.capacity()) * sizeof(std::int64_t) +
                                         boxes.capacity() * sizeof(Box));
    }
    friend bool operator==(const ProcessBoxes&, const ProcessBoxes&) = default;
};

/// Every process of a partition.
ProcessBoxes all_of(const Partition& partition);
/// Those that a member hosts.
ProcessBoxes hosted_of(const Partition& partition, const Hosts& hosts, int member);
/// Several lists as one, in which a process that several have comes once.
ProcessBoxes united(std::span<const ProcessBoxes> lists);

/// As numbers for messages, and back.
std::vector<std::int32_t> to_words(const ProcessBoxes& some);
ProcessBoxes from_words(std::span<const std::int32_t> words);

/// The partition of which each member gives the processes that it hosts. Takes 24 bytes and more a process on every
/// member: for files, and for what has to look at all processes at once. Collective.
Partition whole(const Team& team, const ProcessBoxes& hosted);

}  // namespace balance

// SPDX-License-Identifier: MIT
// A bisection is a tree of nodes, and a node's *split* says how it was cut. A team remembers the splits of the nodes
// that its members cut together. Each member keeps the splits of an even share of these nodes. recall() makes splits
// known to all members.
#pragma once
#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "balance/partition/bisection.hpp"
#include "balance/partition/scattered.hpp"
#include "balance/team.hpp"

namespace balance {

class TeamMemory {
public:
    /// ids: ids of the team's nodes.
    /// splits: splits of share_of(ids, ...).
    /// anything: false if all splits are empty.
    /// known: splits that all members know already, by id; perhaps of other nodes, too.
    TeamMemory(const Team& team, IndexRange ids, std::vector<Split> splits, bool anything,
               std::map<std::int64_t, Split> known = {})
        : here_(share_of(ids, team.rank(), team.size())),
          splits_(std::move(splits)),
          anything_(anything),
          known_(std::move(known)) {}

    bool anything() const { return anything_; }
    std::vector<Split>& splits() { return splits_; }
    const std::map<std::int64_t, Split>& known() const { return known_; }

    /// One number for each of these nodes, 0 if another member keeps its split. The sum of a node's number over the
    /// members goes to learn().
    std::vector<std::int64_t> ask(std::span<const std::int64_t> ids) const {
        std::vector<std::int64_t> words;
        for (const std::int64_t id : ids) words.push_back(here_.contains(id) ? packed(splits_[id - here_.begin]) : 0);
        return words;
    }
    void learn(std::span<const std::int64_t> ids, std::span<const std::int64_t> sums) {
        for (std::size_t i = 0; i < ids.size(); ++i) known_[ids[i]] = unpacked(sums[i]);
    }
    /// Makes the splits of these nodes known to all members. Needs one reduction, or none if all are known. Collective.
    void recall(const Team& team, std::span<const std::int64_t> ids) {
        std::vector<std::int64_t> missing;
        for (const std::int64_t id : ids)
            if (anything_ && !known_.contains(id)) missing.push_back(id);
        if (missing.empty()) return;
        std::vector<std::int64_t> words = ask(missing);
        team.sum(words);
        learn(missing, words);
    }
    /// Split of a known node; an empty one if nothing is remembered.
    Split of(std::int64_t id) const { return anything_ ? known_.at(id) : Split{}; }
    /// Keeps a new split, if the node is in this member's share.
    void keep(std::int64_t id, const Split& split) {
        if (here_.contains(id)) splits_[id - here_.begin] = split;
    }

private:
    // An empty split is packed as 0. Members that don't keep a split give 0 too, so a sum over the members yields the
    // split.
    static constexpr std::int64_t each_axis = std::int64_t{1} << 32;
    static std::int64_t packed(const Split& s) { return (s.axis + 1) * each_axis + s.left; }
    static Split unpacked(std::int64_t word) {
        return {static_cast<std::int32_t>(word / each_axis) - 1, static_cast<std::int32_t>(word % each_axis)};
    }

    IndexRange here_;
    std::vector<Split> splits_;
    bool anything_;
    std::map<std::int64_t, Split> known_;
};

}  // namespace balance

// SPDX-License-Identifier: MIT
// Where the nodes of a bisection are cut, given the loads of their lines of cells. A node is described by its box, its
// number of parts and its split, remembered or empty. Which members hold the loads does not matter here.
#pragma once
#include <array>
#include <cstdint>
#include <limits>
#include <numeric>
#include <span>
#include <vector>

#include "balance/grid/grid.hpp"
#include "balance/partition/bisection.hpp"

namespace balance {

/// A box that is to become `parts` parts.
struct CutNode {
    Box box;
    std::int64_t parts, id, first_leaf;  ///< id in preorder

    IndexRange ids() const { return {id, id + 2 * parts - 1}; }  ///< of the node and all below it
};

/// A node with more lines of cells than this may be cut while only a few lines are known. The loads below each place
/// are then exact sums, rounded once. In other nodes they are rounded line by line.
inline constexpr int many_lines = 512;

/// Loads of a box's lines of cells across an axis. Only some consecutive lines need be known one by one.
struct Lines {
    std::span<const std::int64_t> loads;  ///< of the known lines
    int first = 0;                        ///< the place of the first known line among all lines
    std::int64_t before = 0;              ///< the sum over the lines in front of it
    std::int64_t total = 0;               ///< the sum over all

    /// All lines are known.
    static Lines whole(std::span<const std::int64_t> loads) {
        return {loads, 0, 0, std::accumulate(loads.begin(), loads.end(), std::int64_t{0})};
    }
};

/// The rules of one bisection: as bisect() says.
class CutRules {
public:
    /// Throws std::invalid_argument if the region can't hold `parts` parts.
    CutRules(const Box& region, std::int64_t parts, int width, std::span<const double> targets);

    const CutNode& root() const { return root_; }
    /// The axis across which a node of more than one part is cut. split: from the last balancing. The function sets its
    /// axis, and keeps its count of parts if the axis stays the same.
    int axis_for(const CutNode& node, Split& split) const;
    /// The count of parts that a split from the last balancing asks for on the lower side; 0: any.
    static std::int64_t kept_left(const CutNode& node, const Split& split) {
        return split.left < node.parts ? split.left : 0;
    }
    /// Cuts a node across the axis of its split, and writes the count of parts on the lower side to the split. lines:
    /// all lines of window() must be known.
    std::array<CutNode, 2> cut(const CutNode& node, Split& split, const Lines& lines);
    /// The lines [begin, end) of a node that can have the best cut. bundles: the loads of its lines in bundles of
    /// `each`. The last bundle may be smaller.
    IndexRange window(const CutNode& node, const Split& split, std::span<const std::int64_t> bundles, int each) const;
    /// Cuts a node and all nodes below it. load: covers the cells of the node. splits: one for each of node.ids().
    /// parts: gets the boxes of the node's parts.
    void cut_below(const CutNode& node, const SummedArea& load, std::span<Split> splits, std::span<Box> parts);

private:
    // Sums of targets over consecutive parts; without targets, their number.
    class Shares {
    public:
        explicit Shares(std::span<const double> targets);
        double of(std::int64_t first, std::int64_t parts) const {
            return before_.empty() ? static_cast<double>(parts) : before_[first + parts] - before_[first];
        }
        // The largest number of a node's first parts whose targets sum to at most load / total of the node's targets.
        std::int64_t parts_within(const CutNode& node, double load, double total) const;

    private:
        std::vector<double> before_;
    };
    struct Place {
        double worst = std::numeric_limits<double>::infinity();  // load over target on the worse side
        int at = -1;
        std::int64_t left = 0;
    };
    class PlaceSearch;
    Place best_place(const CutNode& node, int axis, const Lines& lines, std::int64_t wanted);

    CutNode root_;
    int width_;
    Shares shares_;
    std::vector<double> below_;  // of best_place(), kept to save an allocation for each node
};

}  // namespace balance

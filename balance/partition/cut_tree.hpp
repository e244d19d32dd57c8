// SPDX-License-Identifier: MIT
// The tree of cuts of a bisection: where each node is cut, given the sums of loads over its lines of cells. Knows
// nothing of who has the loads.
#pragma once
#include <array>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "balance/grid/grid.hpp"
#include "balance/partition/bisection.hpp"

namespace balance {

/// A box that is to become so many parts.
struct CutNode {
    Box box;
    std::int64_t parts, id, first_leaf;  ///< id in preorder

    Range ids() const { return {id, id + 2 * parts - 1}; }  ///< of the node and all below it
};

/// Where a node was cut, as members tell each other.
struct NodeCut {
    std::int32_t axis = -1, left = 0, at = 0;  ///< at: cells below the cut; 0: not cut
};

/// A node with more lines of cells than this may be cut with few of them known: the loads below each place are exact
/// sums then, rounded once. Of others they are rounded line by line.
inline constexpr int many_lines = 512;

/// Loads of a box's lines of cells across an axis, of which some are known one by one.
struct Lines {
    std::span<const std::int64_t> loads;  ///< of these
    int first = 0;                        ///< the place of the first of them among all lines
    std::int64_t before = 0;              ///< the sum over those in front of it
    std::int64_t total = 0;               ///< the sum over all

    /// All of them.
    static Lines whole(std::span<const std::int64_t> loads);
};

/// The tree of one bisection: as bisect() says.
class CutTree {
public:
    /// Throws std::invalid_argument when the region can't hold so many parts.
    CutTree(const Box& region, std::int64_t parts, int width, std::span<const Split> memory,
            std::span<const double> targets);

    const CutNode& root() const { return root_; }
    /// The axis across which a node of more than one part is cut.
    int axis_for(const CutNode& node);
    /// Cuts a node across that axis. lines: its lines; those that are known must be all of window().
    std::array<CutNode, 2> cut(const CutNode& node, const Lines& lines);
    /// The lines [begin, end) of a node beyond which no cut can be the best. bundles: the loads of its lines in bundles
    /// of `each`, of which the last one may have fewer.
    Range window(const CutNode& node, std::span<const std::int64_t> bundles, int each);
    /// Everything at a node and below it. load: of its cells at least.
    void cut_below(const CutNode& node, const SummedArea& load);

    /// Adds the cuts made here at nodes of these ids, in preorder.
    void add_cuts(Range ids, std::vector<NodeCut>& made) const;
    /// The parts. made: the cuts of all nodes of more than one part, in preorder.
    std::vector<Box> parts(std::span<const NodeCut> made);
    /// When parts() was called.
    std::vector<Split> memory() const;

private:
    // Sums of targets over consecutive parts; without targets, their number.
    class Shares {
    public:
        explicit Shares(std::span<const double> targets);
        double of(std::int64_t first, std::int64_t parts) const {
            return before_.empty() ? static_cast<double>(parts) : before_[first + parts] - before_[first];
        }
        // The largest number of a node's parts whose targets are no more than load / total of all of its.
        std::int64_t parts_within(const CutNode& node, double load, double total) const;

    private:
        std::vector<double> before_;
    };
    struct Place {
        double worst = std::numeric_limits<double>::infinity();  // load for a part's target, of the worse side
        int at = -1;
        std::int64_t left = 0;
    };
    class Search;
    Place best_place(const CutNode& node, const Lines& lines, std::int64_t wanted);
    // The count of parts on the lower side that a node shall keep; 0: any.
    std::int64_t wanted_of(const CutNode& node) const {
        const std::int64_t left = cuts_[node.id].left;
        return left < node.parts ? left : 0;
    }

    CutNode root_;
    int width_;
    Shares shares_;
    std::vector<NodeCut> cuts_;  // by id
    std::vector<double> below_;  // of best_place(): no memory for each node
};

}  // namespace balance

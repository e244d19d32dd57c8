// SPDX-License-Identifier: MIT
// Steps on all ranks: the times of sends, arrivals and computing. It generalises T, T1 and T2 of Shu et al.
// (scripts/reproduce/data_parallel.py) to ranks that differ in work, neighbours and messages. Each rank begins a step
// when it can, so a rank that waits in one step may have caught up in the next.
#pragma once
#include <cstddef>
#include <span>
#include <vector>

#include "app/deck/machine_file.hpp"
#include "comm/schedule.hpp"

namespace predict {

struct Message {
    int to = 0;
    double bytes = 0;
};

/// A tile that is computed when the ghosts from these ranks are there.
struct RimTile {
    double seconds = 0;
    std::vector<int> sources{};
};

/// The work of a rank in a step.
struct RankStep {
    double inner_seconds = 0;      ///< Computing of tiles without ghosts from other ranks.
    std::vector<RimTile> rim{};    ///< The other tiles.
    std::vector<Message> sends{};  ///< In the order of issue.
    double seconds() const;
};

/// An exchange of messages between the ranks of a step, laid out to be followed many times.
class Timeline {
public:
    Timeline(std::span<const RankStep> ranks, const comm::NodeMap& nodes);

    /// The end of the step on each rank that begins it at `begins` (seconds; one of each rank).
    ///
    /// A message takes message_seconds of its sender's core, and its copy, if it is shorter than eager_bytes. Longer
    /// messages start to travel when both sides have begun. On a simulated machine short ones do so too. Messages of a
    /// node's ranks to other nodes leave the node one after the other, at the bandwidth of its link. Inside a node they
    /// do not disturb each other.
    ///
    /// overlap: as in the deck's comm.overlap. With `none` a message starts when its sender knows that the one before
    /// was received. With `full` each tile is computed when its ghosts are there. Forwarded ghosts count as arriving
    /// with the last message.
    std::vector<double> step_ends(std::span<const double> begins, const Machine& machine, comm::Overlap overlap) const;

    /// The ranks of each node, in ascending order.
    struct ByNode {
        std::vector<int> ranks, first;  ///< those of node n: ranks[first[n]] .. ranks[first[n + 1]]

        explicit ByNode(const comm::NodeMap& nodes);
        int nodes() const { return static_cast<int>(first.size()) - 1; }
        std::span<const int> of(int node) const {
            return std::span(ranks).subspan(first[node], first[node + 1] - first[node]);
        }
    };

private:
    struct Sent {
        int to;
        int distance;  // between the nodes of both sides
        double bytes;
    };
    struct Tile {
        double seconds;
        std::size_t first_awaited;  // Its messages: awaited_[first_awaited] up to that of the next tile.
        bool awaits_all;            // True if another rank forwards ghosts of one of its sources.
    };
    // Times of an exchange on each rank.
    struct Exchanged {
        std::vector<double> issued;   // All messages are issued (or received, if the rank waits for that).
        std::vector<double> sent;     // All messages that wait for their receivers have arrived there.
        std::vector<double> last;     // The last message from others arrives.
        std::vector<double> arrived;  // Each message arrives, if asked for.
    };
    Exchanged exchange(std::span<const double> begins, const Machine& machine, comm::Overlap overlap) const;

    ByNode by_node_;
    std::vector<Sent> messages_;  // of rank r, in the order of issue: from first_message_[r] to first_message_[r + 1]
    std::vector<std::size_t> first_message_;
    std::vector<double> seconds_, inner_seconds_;  // of each rank
    std::vector<Tile> rim_;                        // of rank r: from first_tile_[r] to first_tile_[r + 1]
    std::vector<std::size_t> first_tile_, awaited_;
};

/// The end of a reduction of a few numbers on each rank that begins it at `begins`. It goes by recursive doubling among
/// the ranks of each node, then among the first ranks of the nodes. These hand the result on along a tree. If ranks are
/// not a power of two, those beyond it hand their numbers to another rank first, and get the result from it. Source:
/// Thakur, Rabenseifner and Gropp, Int. J. High Perform. Comput. Appl. 19(1), 2005, section 4.5.
std::vector<double> reduction_ends(std::span<const double> begins, const comm::NodeMap& nodes, const Machine& machine);

/// Seconds until all ranks have the bytes of rank 0, which go along a binomial tree of the ranks.
double broadcast_seconds(const comm::NodeMap& nodes, const Machine& machine, double bytes);

/// Seconds until rank 0 has the data of all ranks, `bytes` in all: along the same tree, the size before the bytes.
double gather_seconds(const comm::NodeMap& nodes, const Machine& machine, double bytes);

}  // namespace predict

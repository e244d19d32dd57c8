// SPDX-License-Identifier: MIT
// Steps on all ranks: who sends when, when it arrives, who computes meanwhile. The generalisation of T, T1 and T2 of
// Shu et al. (data_parallel.hpp) to ranks that differ in work, neighbours and messages. Each rank begins a step when it
// can: a rank that waits in one step may have caught up in the next.
#pragma once
#include <cstddef>
#include <span>
#include <vector>

#include "comm/schedule.hpp"
#include "predict/machine.hpp"

namespace predict {

struct Message {
    int to = 0;
    double bytes = 0;
};

/// What can be computed when the ghosts from these ranks are there.
struct RimTile {
    double seconds = 0;
    std::vector<int> sources{};
};

/// What a rank does in a step.
struct RankStep {
    double inner_seconds = 0;      ///< to compute what needs no ghosts from other ranks
    std::vector<RimTile> rim{};    ///< and the rest
    std::vector<Message> sends{};  ///< in the order of issue
    double seconds() const;
};

/// An exchange of messages between the ranks of a step, laid out to be followed many times.
class Timeline {
public:
    Timeline(std::span<const RankStep> ranks, const comm::NodeMap& nodes);

    /// The end of the step on each rank that begins it at `begins` (seconds; one of each rank).
    /// A message takes message_seconds of its sender's core, and its copy, if it is shorter than eager_bytes. Longer
    /// ones start to travel when both sides have begun; on a simulated machine short ones do so too. Messages of a
    /// node's ranks to other nodes leave the node one after the other, at the bandwidth of its link; inside a node they
    /// do not disturb each other. overlap: as in the deck's comm.overlap; with `none` a message starts when its sender
    /// knows that the one before it was received, with `full` each tile is computed when its ghosts are there; those
    /// that other ranks forward are taken to be there with the last message.
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
        std::size_t first_awaited;  // its messages: awaited_[first_awaited] up to that of the next tile
        bool awaits_all;            // for a source that sends no message itself: what it has is forwarded
    };
    // What an exchange is for each rank.
    struct Exchanged {
        std::vector<double> issued;   // all messages, or received by the other side where a rank waits for that
        std::vector<double> sent;     // all that wait for their receivers have arrived there
        std::vector<double> last;     // when the last one from others arrives
        std::vector<double> arrived;  // each message, where that is asked for
    };
    Exchanged exchange(std::span<const double> begins, const Machine& machine, comm::Overlap overlap) const;

    ByNode by_node_;
    std::vector<Sent> messages_;  // of rank r, in the order of issue: from first_message_[r] to first_message_[r + 1]
    std::vector<std::size_t> first_message_;
    std::vector<double> seconds_, inner_seconds_;  // of each rank
    std::vector<Tile> rim_;                        // of rank r: from first_tile_[r] to first_tile_[r + 1]
    std::vector<std::size_t> first_tile_, awaited_;
};

/// The end of a reduction of a few numbers on each rank that begins it at `begins`: by recursive doubling among the
/// ranks of each node, then among the first ranks of the nodes, which then hand the result on along a tree. Where ranks
/// are not a power of two, those beyond it hand their numbers to another one first, and get the result from it. Source:
/// Thakur, Rabenseifner and Gropp, Int. J. High Perform. Comput. Appl. 19(1), 2005, section 4.5.
std::vector<double> reduction_ends(std::span<const double> begins, const comm::NodeMap& nodes, const Machine& machine);

/// Seconds until all ranks have the bytes of rank 0, which go along a binomial tree of the ranks.
double broadcast_seconds(const comm::NodeMap& nodes, const Machine& machine, double bytes);

/// Seconds until rank 0 has what all ranks give, `bytes` in all: along the same tree, the size before the bytes.
double gather_seconds(const comm::NodeMap& nodes, const Machine& machine, double bytes);

}  // namespace predict

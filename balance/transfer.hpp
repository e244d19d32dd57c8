// SPDX-License-Identifier: MIT
// The one mechanism for everything that moves between members of a team: ghosts, particles of cells that change their
// owner, values of cell fields. A plan lists the moves (balance/partition/plan.hpp, balance/grid/field.hpp). Both sides
// of a message derive the same moves in the same order, so its structure is never sent. A caller gives the number of
// elements of a move, a function that packs them, and one that unpacks them.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "balance/team.hpp"

namespace balance {

/// All that goes to one other member and comes from it.
template <class Move>
struct PeerMoves {
    int member;
    std::vector<Move> outgoing, incoming;
};

/// Calls body(0), body(1), ..., body(n - 1), one after the other. Callers with threads pass a loop of their own.
struct SerialLoop {
    template <class Body>
    void operator()(std::size_t n, Body body) const {
        for (std::size_t i = 0; i < n; ++i) body(i);
    }
};

/// Carries elements of type T along links. The links must not change between lay_out() and the last finish().
template <class Move, class T>
class Transfer {
    static_assert(std::is_trivially_copyable_v<T>);

public:
    explicit Transfer(std::unique_ptr<Channel> channel) : channel_(std::move(channel)) {}

    /// How many elements each move carries: outgoing(move) of what is sent, incoming(move) of what is received. Holds
    /// for all transfers up to the next call. Moves that carry nothing are left out.
    template <class Sent, class Received>
    void lay_out(std::span<const PeerMoves<Move>> links, Sent outgoing, Received incoming) {
        std::vector<Part> sent, received;
        out_.clear();
        in_.clear();
        for (const PeerMoves<Move>& link : links) {
            add(link.member, link.outgoing, outgoing, out_, sent);
            add(link.member, link.incoming, incoming, in_, received);
        }
        const Channel::Places places = channel_->lay_out(sent, received);
        buffers_->sent.resize(put(out_, sent, places.sent));
        buffers_->received.resize(put(in_, received, places.received));
    }

    /// Packs and sends. pack(move, elements) writes the number of elements that lay_out() got. loop may call pack for
    /// several moves at the same time.
    template <class Loop, class Pack>
    void start(Loop loop, Pack pack) {
        std::vector<T>&sent = buffers_->sent, &received = buffers_->received;
        loop(out_.size(), [&](std::size_t i) { pack(*out_[i].move, sent.data() + out_[i].at); });
        channel_->start(std::as_bytes(std::span(sent)), std::as_writable_bytes(std::span(received)), buffers_);
    }

    /// Waits for what start() has announced, and unpacks it: unpack(move, elements). last: the transfer is not started
    /// again before the next lay_out(), so the memory of what was sent is given up before anything is unpacked.
    template <class Loop, class Unpack>
    void finish(Loop loop, Unpack unpack, bool last = false) {
        channel_->finish();
        if (last) std::vector<T>().swap(buffers_->sent);
        loop(in_.size(), [&](std::size_t i) { unpack(*in_[i].move, element(i)); });
    }

    /// The same for some moves that have arrived; arrived(move) tells of each, when all of them are unpacked. false:
    /// there was nothing left, and the transfer is finished.
    template <class Loop, class Unpack, class Arrived>
    bool finish_some(Loop loop, Unpack unpack, Arrived arrived) {
        const std::vector<std::size_t> some = channel_->wait_for_some();
        if (some.empty()) {
            channel_->finish();
            return false;
        }
        loop(some.size(), [&](std::size_t k) { unpack(*in_[some[k]].move, element(some[k])); });
        for (const std::size_t i : some) arrived(*in_[i].move);
        return true;
    }

    /// Memory of the buffers.
    std::int64_t bytes() const {
        return static_cast<std::int64_t>((buffers_->sent.capacity() + buffers_->received.capacity()) * sizeof(T));
    }

private:
    struct Item {
        const Move* move;
        std::size_t at;  // of its elements in the buffer
    };
    template <class Count>
    static void add(int member, const std::vector<Move>& moves, Count count, std::vector<Item>& items,
                    std::vector<Part>& parts) {
        for (const Move& m : moves)
            if (const std::size_t n = count(m); n > 0) {
                items.push_back({&m, 0});
                parts.push_back({member, n * sizeof(T)});
            }
    }
    // Returns the elements of the buffer.
    static std::size_t put(std::vector<Item>& items, std::span<const Part> parts, std::span<const std::size_t> at) {
        std::size_t bytes = 0;
        for (std::size_t i = 0; i < items.size(); ++i) {
            items[i].at = at[i] / sizeof(T);
            bytes += parts[i].bytes;
        }
        return bytes / sizeof(T);
    }
    const T* element(std::size_t i) const { return buffers_->received.data() + in_[i].at; }

    std::unique_ptr<Channel> channel_;
    std::vector<Item> out_, in_;
    struct Buffers {
        std::vector<T> sent, received;
    };
    std::shared_ptr<Buffers> buffers_ =
        std::make_shared<Buffers>();  // the channel's, too, while messages are under way
};

}  // namespace balance

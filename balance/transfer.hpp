// SPDX-License-Identifier: MIT
// The one mechanism for everything that moves between members of a team: ghosts, particles of cells that change their
// owner, values of cell fields. What moves is listed by a plan (balance/partition/plan.hpp, balance/grid/field.hpp):
// both sides of a message derive the same moves in the same order, so its structure is never sent. A caller says how
// many elements a move carries, how they are packed, and how they are unpacked.
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
struct Link {
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
    /// for all transfers up to the next call.
    template <class Sent, class Received>
    void lay_out(std::span<const Link<Move>> links, Sent outgoing, Received incoming) {
        buffers_.resize(links.size());
        out_.clear();
        in_.clear();
        for (std::size_t l = 0; l < links.size(); ++l) {
            std::size_t sent = 0, received = 0;
            for (const Move& m : links[l].outgoing) out_.push_back({l, &m, std::exchange(sent, sent + outgoing(m))});
            for (const Move& m : links[l].incoming)
                in_.push_back({l, &m, std::exchange(received, received + incoming(m))});
            buffers_[l].member = links[l].member;
            buffers_[l].sent.resize(sent);
            buffers_[l].received.resize(received);
        }
    }

    /// Packs and sends. pack(move, elements) writes as many elements as lay_out() was told; loop calls it for several
    /// moves at the same time if it likes.
    template <class Loop, class Pack>
    void start(Loop loop, Pack pack) {
        loop(out_.size(), [&](std::size_t i) { pack(*out_[i].move, buffers_[out_[i].link].sent.data() + out_[i].at); });
        std::vector<Outgoing> out;
        std::vector<Incoming> in;
        for (Buffers& b : buffers_) {
            if (!b.sent.empty()) out.push_back({b.member, std::as_bytes(std::span(b.sent))});
            if (!b.received.empty()) in.push_back({b.member, std::as_writable_bytes(std::span(b.received))});
        }
        channel_->start(out, in);
    }

    /// Waits for what start() has announced, and unpacks it: unpack(move, elements).
    template <class Loop, class Unpack>
    void finish(Loop loop, Unpack unpack) {
        channel_->finish();
        loop(in_.size(), [&](std::size_t i) {
            unpack(*in_[i].move, static_cast<const T*>(buffers_[in_[i].link].received.data() + in_[i].at));
        });
    }

    /// Memory of the buffers.
    std::int64_t bytes() const {
        std::size_t n = 0;
        for (const Buffers& b : buffers_) n += (b.sent.capacity() + b.received.capacity()) * sizeof(T);
        return static_cast<std::int64_t>(n);
    }

private:
    struct Buffers {
        int member;
        std::vector<T> sent, received;
    };
    struct Item {
        std::size_t link;
        const Move* move;
        std::size_t at;  // among the elements of the link
    };
    std::unique_ptr<Channel> channel_;
    std::vector<Buffers> buffers_;  // by link
    std::vector<Item> out_, in_;
};

}  // namespace balance

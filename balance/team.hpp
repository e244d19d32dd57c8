// SPDX-License-Identifier: MIT
// The members that balance together. Each holds a part of every field and a block of the processes. All sums are of
// integers and so exact. So results do not depend on the number of members. A program without MPI is a team of one
// (SerialTeam). With MPI, each rank is a member (comm/team.hpp).
#pragma once
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <span>
#include <stdexcept>
#include <type_traits>
#include <utility>
#include <vector>

namespace balance {

/// The bytes of one move of a plan, to another member or from it.
struct Part {
    int member;
    std::size_t bytes;  ///< > 0
};

/// Messages between pairs of members. Both members of a pair know the parts that go between them. The channel decides
/// on the messages of the parts, and on their order.
class Channel {
public:
    virtual ~Channel() = default;
    /// Offset of each part in the send or receive buffer, in bytes. If all part sizes are multiples of k, so are the
    /// offsets.
    struct Places {
        std::vector<std::size_t> sent, received;
    };
    /// Sets the parts of all transfers up to the next call. The parts from one member to another come in the same order
    /// on both sides. Every member of the team calls it.
    virtual Places lay_out(std::span<const Part> sent, std::span<const Part> received) = 0;
    /// Starts to send and receive. The bytes must stay as they are until finish(), which comes before the next
    /// start(). owner: keeps both alive. A channel that is destroyed before finish(), because of an error, never
    /// releases it: messages on their way may still be written there. Without an owner the caller keeps the bytes.
    virtual void start(std::span<const std::byte> sent, std::span<std::byte> received,
                       std::shared_ptr<const void> owner = nullptr) = 0;
    /// Waits for more of the parts and returns which have arrived, as their places in the list that lay_out() was
    /// given; none when all were returned before. Needs finish() in the end.
    virtual std::vector<std::size_t> wait_for_some() = 0;
    virtual void finish() = 0;
};

/// All functions but rank() and size() are collective: every member calls them, in the same order.
class Team {
public:
    virtual ~Team() = default;
    virtual int rank() const = 0;
    virtual int size() const = 0;
    /// Element by element over all members, on all of them.
    virtual void sum(std::span<std::int64_t> values) const = 0;
    virtual void max(std::span<std::int64_t> values) const = 0;
    /// The same for one value: both return the result.
    std::int64_t sum_of(std::int64_t value) const { return sum(std::span(&value, 1)), value; }
    std::int64_t max_of(std::int64_t value) const { return max(std::span(&value, 1)), value; }
    /// The members' bytes, one after the other, on member 0; empty elsewhere.
    virtual std::vector<std::byte> gather(std::span<const std::byte> mine) const = 0;
    /// Sends member 0's bytes to all. All give the same size.
    virtual void broadcast(std::span<std::byte> bytes) const = 0;
    /// The members' bytes, one after the other, on all of them. A team that can do it at once does.
    virtual std::vector<std::byte> all_gather(std::span<const std::byte> mine) const {
        std::vector<std::byte> all = gather(mine);
        auto size = static_cast<std::int64_t>(all.size());
        broadcast(std::as_writable_bytes(std::span(&size, 1)));
        all.resize(size);
        broadcast(all);
        return all;
    }
    virtual std::unique_ptr<Channel> channel() const = 0;
    /// All members stand in a circle. Sends bytes to the member `distance` (1 .. size() - 1) places further on, and
    /// returns the bytes of the member `distance` places behind. A team that can do it at once does.
    virtual std::vector<std::byte> pass_on(int distance, std::span<const std::byte> bytes) const;
    /// A team of the members that give the same colour (>= 0), in the order of their ranks here.
    virtual std::unique_ptr<Team> split(int colour) const = 0;

    /// All members in blocks of about equal size that follow each other.
    struct Blocks {
        int mine;                      ///< the number of this member's block
        std::unique_ptr<Team> inside;  ///< the members of this block
        std::unique_ptr<Team> across;  ///< the members at the same place of all blocks
    };
    /// count: of blocks, 1 .. size(). Collective when it is first asked for; from then on kept for as long as the team.
    const Blocks& blocks(int count) const {
        Blocks& kept = blocks_[count];
        if (!kept.inside) {
            const auto first = [&](int b) { return static_cast<int>(std::int64_t{size()} * b / count); };
            kept.mine = static_cast<int>(((std::int64_t{rank()} + 1) * count - 1) / size());
            kept.inside = split(kept.mine);
            kept.across = split(rank() - first(kept.mine));
        }
        return kept;
    }

private:
    mutable std::map<int, Blocks> blocks_;
};

// The size first, for a channel wants to know it.
inline std::vector<std::byte> Team::pass_on(int distance, std::span<const std::byte> bytes) const {
    const int ahead = (rank() + distance) % size(), behind = (rank() - distance + size()) % size();
    const std::unique_ptr<Channel> to_next = channel();
    const auto send = [&](std::span<const std::byte> sent, std::span<std::byte> received) {
        const Part out{ahead, sent.size()}, in{behind, received.size()};
        to_next->lay_out({&out, sent.empty() ? 0u : 1u}, {&in, received.empty() ? 0u : 1u});
        to_next->start(sent, received);
        to_next->finish();
    };
    std::int64_t size = static_cast<std::int64_t>(bytes.size()), size_behind = 0;
    send(std::as_bytes(std::span(&size, 1)), std::as_writable_bytes(std::span(&size_behind, 1)));
    std::vector<std::byte> arrived(size_behind);
    send(bytes, arrived);
    return arrived;
}

/// A team of one.
class SerialTeam final : public Team {
public:
    int rank() const override { return 0; }
    int size() const override { return 1; }
    void sum(std::span<std::int64_t>) const override {}
    void max(std::span<std::int64_t>) const override {}
    std::vector<std::byte> gather(std::span<const std::byte> mine) const override { return {mine.begin(), mine.end()}; }
    std::vector<std::byte> all_gather(std::span<const std::byte> mine) const override { return gather(mine); }
    void broadcast(std::span<std::byte>) const override {}
    std::unique_ptr<Channel> channel() const override { return std::make_unique<NoMessages>(); }
    std::unique_ptr<Team> split(int) const override { return std::make_unique<SerialTeam>(); }

private:
    struct NoMessages final : Channel {
        Places lay_out(std::span<const Part> sent, std::span<const Part> received) override {
            if (!sent.empty() || !received.empty()) throw std::logic_error("a team of one sends no messages");
            return {};
        }
        void start(std::span<const std::byte>, std::span<std::byte>, std::shared_ptr<const void>) override {}
        std::vector<std::size_t> wait_for_some() override { return {}; }
        void finish() override {}
    };
};

/// Adds the bytes of a value.
template <class T>
void append(std::vector<std::byte>& bytes, const T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    const auto its = std::as_bytes(std::span(&value, 1));
    bytes.insert(bytes.end(), its.begin(), its.end());
}

/// The elements that lie in these bytes.
template <class T>
std::vector<T> elements_in(std::span<const std::byte> bytes) {
    static_assert(std::is_trivially_copyable_v<T>);
    std::vector<T> all(bytes.size() / sizeof(T));
    if (!all.empty()) std::memcpy(all.data(), bytes.data(), bytes.size());
    return all;
}

/// The members' lists, one after the other, on member 0; empty elsewhere.
template <class T>
std::vector<T> gather(const Team& team, std::span<const T> mine) {
    return elements_in<T>(team.gather(std::as_bytes(mine)));
}

/// The list of member 0, on all members.
template <class T>
std::vector<T> from_first(const Team& team, std::vector<T> list) {
    struct {
        std::int64_t size;
        std::array<std::byte, 1016> first;  // a list that fits in here takes one broadcast
    } head{std::ssize(list), {}};
    const auto known = [&] { return std::min(list.size() * sizeof(T), head.first.size()); };
    if (known() > 0) std::memcpy(head.first.data(), list.data(), known());
    team.broadcast(std::as_writable_bytes(std::span(&head, 1)));
    list.resize(static_cast<std::size_t>(head.size));
    if (known() > 0) std::memcpy(list.data(), head.first.data(), known());
    if (list.size() * sizeof(T) > known()) team.broadcast(std::as_writable_bytes(std::span(list)).subspan(known()));
    return list;
}

/// The members' lists, one after the other, on all of them.
template <class T>
std::vector<T> all_gather(const Team& team, std::span<const T> mine) {
    return elements_in<T>(team.all_gather(std::as_bytes(mine)));
}

}  // namespace balance

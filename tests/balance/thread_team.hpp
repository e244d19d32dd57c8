// SPDX-License-Identifier: MIT
// A team whose members are threads of this process: tests of what members do together, without MPI.
#pragma once
#include <algorithm>
#include <condition_variable>
#include <deque>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <numeric>
#include <set>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

#include "balance/team.hpp"

/// Places of parts that lie one behind the other.
inline std::vector<std::size_t> places_in_line(std::span<const balance::Part> parts) {
    std::vector<std::size_t> at;
    std::size_t next = 0;
    for (const balance::Part& p : parts) at.push_back(std::exchange(next, next + p.bytes));
    return at;
}

/// Threads that wait here sleep. std::barrier first gives its core away some times, which on a busy machine costs a
/// time slice of each other program.
class Barrier {
public:
    explicit Barrier(int members) : members_(members) {}
    void arrive_and_wait() {
        std::unique_lock lock(mutex_);
        const int round = round_;
        if (++arrived_ < members_) return all_arrived_.wait(lock, [&] { return round_ != round; });
        arrived_ = 0, ++round_;
        all_arrived_.notify_all();
    }

private:
    const int members_;
    std::mutex mutex_;
    std::condition_variable all_arrived_;
    int arrived_ = 0, round_ = 0;
};

class ThreadTeam final : public balance::Team {
public:
    /// Runs body(team) on `members` threads and returns what they return, in their order. Catch's assertions are for
    /// one thread, so they belong behind this call. An exception of a member is thrown again here, when all have ended.
    template <class Body>
    static auto run(int members, Body body) {
        using Result = decltype(body(std::declval<const balance::Team&>()));
        std::vector<Result> results(members);
        std::vector<std::exception_ptr> errors(members);
        const auto board = std::make_shared<Board>(members);
        std::vector<std::thread> threads;
        for (int m = 0; m < members; ++m)
            threads.emplace_back([&, m] {
                const ThreadTeam team(board, m);
                try {
                    results[m] = body(team);
                } catch (...) {
                    errors[m] = std::current_exception();
                }
            });
        for (std::thread& t : threads) t.join();
        for (const std::exception_ptr& e : errors)
            if (e) std::rethrow_exception(e);
        return results;
    }

    int rank() const override { return rank_; }
    int size() const override { return board_->members; }
    void sum(std::span<std::int64_t> values) const override {
        reduce(values, [](std::int64_t a, std::int64_t b) { return a + b; });
    }
    void max(std::span<std::int64_t> values) const override {
        reduce(values, [](std::int64_t a, std::int64_t b) { return std::max(a, b); });
    }
    std::vector<std::byte> gather(std::span<const std::byte> mine) const override {
        const auto all = publish({mine.begin(), mine.end()});
        std::vector<std::byte> joined;
        if (rank_ == 0)
            for (const auto& bytes : all) joined.insert(joined.end(), bytes.begin(), bytes.end());
        counts_->gathered += static_cast<std::int64_t>(joined.size());
        return joined;
    }
    void broadcast(std::span<std::byte> bytes) const override {
        const auto all = publish({bytes.begin(), bytes.end()});
        if (all[0].size() != bytes.size()) throw std::logic_error("members give room for different numbers of bytes");
        std::copy(all[0].begin(), all[0].end(), bytes.begin());
    }
    std::vector<std::byte> all_gather(std::span<const std::byte> mine) const override {
        std::vector<std::byte> joined;
        for (const auto& bytes : publish({mine.begin(), mine.end()}))
            joined.insert(joined.end(), bytes.begin(), bytes.end());
        counts_->gathered += static_cast<std::int64_t>(joined.size());
        return joined;
    }
    std::unique_ptr<balance::Channel> channel() const override {
        return std::make_unique<Mail>(board_, rank_, counts_);
    }
    std::unique_ptr<balance::Team> split(int colour) const override {
        std::vector<std::byte> mine(sizeof colour);
        std::memcpy(mine.data(), &colour, sizeof colour);
        int rank = 0, members = 0;
        const auto all = publish(mine);
        ++counts_->splits;
        for (int m = 0; m < size(); ++m) {
            if (all[m] != mine) continue;
            rank += m < rank_;
            ++members;
        }
        const std::lock_guard lock(board_->mutex);
        std::shared_ptr<Board>& part = board_->parts[{splits_++, colour}];
        if (!part) part = std::make_shared<Board>(members);
        return std::make_unique<ThreadTeam>(part, rank, counts_);
    }

    /// Messages that a member has sent, collective calls that it has taken part in, the most bytes that one transfer
    /// has brought it, the bytes that it has gathered, and its splits, so far; in this team and in those split from it.
    struct Counts {
        std::int64_t messages = 0, collectives = 0, largest_transfer = 0, gathered = 0, splits = 0;
    };
    static Counts counts_of(const balance::Team& team) { return *dynamic_cast<const ThreadTeam&>(team).counts_; }

    struct Board {
        explicit Board(int n) : members(n), barrier(n), published(n) {}
        const int members;
        Barrier barrier;
        std::vector<std::vector<std::byte>> published;
        std::mutex mutex;
        struct Box {
            std::deque<std::vector<std::byte>> parts;
            std::condition_variable arrived;
        };
        std::map<std::pair<int, int>, Box> mail;                      // by sender and receiver
        std::map<std::pair<int, int>, std::shared_ptr<Board>> parts;  // by split and colour
    };
    ThreadTeam(std::shared_ptr<Board> board, int rank, std::shared_ptr<Counts> counts = std::make_shared<Counts>())
        : board_(std::move(board)), rank_(rank), counts_(std::move(counts)) {}

private:
    struct Mail final : balance::Channel {
        Mail(std::shared_ptr<Board> b, int r, std::shared_ptr<Counts> c)
            : board(std::move(b)), rank(r), counts(std::move(c)) {}
        Places lay_out(std::span<const balance::Part> sent, std::span<const balance::Part> received) override {
            out.assign(sent.begin(), sent.end());
            in.assign(received.begin(), received.end());
            return {places_in_line(sent), places_in_line(received)};
        }
        void start(std::span<const std::byte> sent, std::span<std::byte> received,
                   std::shared_ptr<const void>) override {
            const std::lock_guard lock(board->mutex);
            std::set<int> members;
            for (const balance::Part& p : out) {
                const auto bytes = sent.first(p.bytes);
                Board::Box& box = board->mail[{rank, p.member}];
                box.parts.emplace_back(bytes.begin(), bytes.end());
                box.arrived.notify_one();
                members.insert(p.member);
                sent = sent.subspan(p.bytes);
            }
            counts->messages += static_cast<std::int64_t>(members.size());
            counts->largest_transfer = std::max(counts->largest_transfer, static_cast<std::int64_t>(received.size()));
            room = received;
        }
        std::vector<std::size_t> wait_for_some() override {
            if (room.empty()) return {};
            finish();
            std::vector<std::size_t> all(in.size());
            std::iota(all.begin(), all.end(), 0);
            return all;
        }
        void finish() override {
            if (room.empty()) return;
            std::unique_lock lock(board->mutex);
            for (const balance::Part& p : in) {
                Board::Box& box = board->mail[{p.member, rank}];
                box.arrived.wait(lock, [&] { return !box.parts.empty(); });
                if (box.parts.front().size() != p.bytes)
                    throw std::logic_error("a part has another size than was announced");
                std::copy(box.parts.front().begin(), box.parts.front().end(), room.begin());
                box.parts.pop_front();
                room = room.subspan(p.bytes);
            }
        }
        std::shared_ptr<Board> board;
        int rank;
        std::shared_ptr<Counts> counts;
        std::vector<balance::Part> out, in;
        std::span<std::byte> room;
    };

    // What all members give.
    std::vector<std::vector<std::byte>> publish(std::vector<std::byte> mine) const {
        ++counts_->collectives;
        board_->published[rank_] = std::move(mine);
        board_->barrier.arrive_and_wait();
        auto all = board_->published;
        board_->barrier.arrive_and_wait();
        return all;
    }
    template <class Operation>
    void reduce(std::span<std::int64_t> values, Operation operation) const {
        const auto bytes = std::as_bytes(values);
        const auto all = publish({bytes.begin(), bytes.end()});
        for (int m = 0; m < size(); ++m) {
            std::vector<std::int64_t> theirs(values.size());
            if (all[m].size() != bytes.size()) throw std::logic_error("members reduce different numbers of values");
            if (!theirs.empty()) std::memcpy(theirs.data(), all[m].data(), all[m].size());
            for (std::size_t i = 0; i < values.size(); ++i)
                values[i] = m == 0 ? theirs[i] : operation(values[i], theirs[i]);
        }
    }

    std::shared_ptr<Board> board_;
    int rank_;
    std::shared_ptr<Counts> counts_;
    mutable int splits_ = 0;
};

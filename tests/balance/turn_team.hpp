// SPDX-License-Identifier: MIT
// Teams without MPI. Each member runs the real code of the library, and all share one process. Members take turns in
// one thread (Turns), so there may be 100,000 of them, or each has a thread of its own (thread_team.hpp). A member's
// clock adds up the time of its messages by a model of a network without contention (Network). A program that replaces
// operator new counts the memory that a member holds (bench/counting_new.cpp).
#pragma once
#include <sys/mman.h>
#include <ucontext.h>

#include <algorithm>
#include <cstring>
#include <deque>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <numeric>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include "balance/team.hpp"

namespace turns {

/// Bytes that somebody holds.
struct Memory {
    std::int64_t now = 0, most = 0;
};
/// Who is charged for what this thread allocates from now on; null: nobody.
inline thread_local Memory* charged = nullptr;

/// What is allocated here belongs to the network, not to a member.
class NobodyIsCharged {
public:
    NobodyIsCharged() : before_(std::exchange(charged, nullptr)) {}
    ~NobodyIsCharged() { charged = before_; }

private:
    Memory* before_;
};

/// What messages take.
struct Network {
    double message_seconds = 4.3e-7;  ///< of the sender's core, the receiver's part included
    double latency_seconds = 1.57e-6;
    double bytes_per_second = 6.34e9;

    double hop(double bytes) const { return message_seconds + latency_seconds + bytes / bytes_per_second; }
};

/// Collective calls of teams of one size.
struct Calls {
    std::int64_t calls = 0, bytes = 0;  ///< bytes: of a list that is summed, or that is known to all afterwards
};

/// What a member has done in its team and in those split from it.
struct Counts {
    std::int64_t messages = 0;          ///< that it has sent to another member, those of collective calls left out
    std::int64_t collectives = 0;       ///< calls
    std::int64_t largest_transfer = 0;  ///< the most bytes that one transfer has brought
    std::int64_t gathered = 0;          ///< bytes
    std::int64_t splits = 0;
};

/// What a member has done, with the messages of collective calls, and by the clock.
struct Account {
    double clock = 0;  ///< seconds
    std::int64_t messages = 0, bytes = 0;
    std::map<int, Calls> together;  ///< by the size of the team
    Memory memory;
    Counts counts;
};

/// Lets members wait for each other.
class Scheduler {
public:
    Scheduler(int members, const Network& network) : network_(network), accounts_(members) {}
    virtual ~Scheduler() = default;

    Account& account(int member) { return accounts_[member]; }
    const Network& network() const { return network_; }
    /// Needed to read or change what members share. Empty where members take turns in one thread.
    virtual std::unique_lock<std::mutex> lock() { return {}; }
    /// Lets the member sleep until another one wakes it. held: the lock, which is free meanwhile.
    virtual void wait(int member, std::unique_lock<std::mutex>& held) = 0;
    virtual void wake(int member) = 0;

private:
    Network network_;
    std::vector<Account> accounts_;
};

/// Runs members by turns.
class Turns final : public Scheduler {
public:
    Turns(int members, const Network& network) : Scheduler(members, network), members_(members) {}

    /// Runs body(member) for all members, each on a stack of so many bytes. Throws what a member throws, and
    /// std::logic_error where all wait.
    void run(std::size_t stack_bytes, const std::function<void(int)>& body) {
        const std::size_t all = stack_bytes * members_.size();
        void* const stacks =
            mmap(nullptr, all, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (stacks == MAP_FAILED) throw std::bad_alloc();
        body_ = &body;
        for (std::size_t m = 0; m < members_.size(); ++m) {
            Member& member = members_[m];
            getcontext(&member.context);
            member.context.uc_stack = {static_cast<char*>(stacks) + m * stack_bytes, 0, stack_bytes};
            member.context.uc_link = &scheduler_;
            const auto self = reinterpret_cast<std::uintptr_t>(this);
            makecontext(&member.context, reinterpret_cast<void (*)()>(begin), 3, static_cast<unsigned>(self >> 32),
                        static_cast<unsigned>(self), static_cast<unsigned>(m));
            ready_.push_back(static_cast<int>(m));
        }
        std::size_t done = 0;
        while (!ready_.empty()) {
            now_ = ready_.front();
            ready_.pop_front();
            charged = &account(now_).memory;
            swapcontext(&scheduler_, &members_[now_].context);
            charged = nullptr;
            if (error_) break;
            done += members_[now_].done;
        }
        // Those that cannot go on let go of what they hold.
        abandoned_ = done < members_.size();
        for (now_ = 0; abandoned_ && now_ < static_cast<int>(members_.size()); ++now_)
            if (members_[now_].begun && !members_[now_].done) swapcontext(&scheduler_, &members_[now_].context);
        munmap(stacks, all);
        if (error_) std::rethrow_exception(error_);
        if (done < members_.size()) throw std::logic_error("all members wait");
    }

    void wait(int member, std::unique_lock<std::mutex>&) override {
        swapcontext(&members_[member].context, &scheduler_);
        if (abandoned_) throw Abandoned();
    }
    void wake(int member) override {
        const NobodyIsCharged network;
        ready_.push_back(member);
    }

private:
    struct Member {
        ucontext_t context;
        bool begun = false, done = false;
    };
    struct Abandoned {};

    static void begin(unsigned high, unsigned low, unsigned m) {
        auto& all = *reinterpret_cast<Turns*>(static_cast<std::uintptr_t>(high) << 32 | low);
        all.members_[m].begun = true;
        try {
            (*all.body_)(static_cast<int>(m));
        } catch (const Abandoned&) {
        } catch (...) {
            all.error_ = std::current_exception();
        }
        all.members_[m].done = true;
    }

    std::vector<Member> members_;
    ucontext_t scheduler_{};
    const std::function<void(int)>* body_ = nullptr;
    std::deque<int> ready_;
    std::exception_ptr error_;
    int now_ = 0;
    bool abandoned_ = false;
};

using Bytes = std::vector<std::byte>;

/// Places of parts that lie one behind the other.
inline std::vector<std::size_t> places_in_line(std::span<const balance::Part> parts) {
    std::vector<std::size_t> at;
    std::size_t next = 0;
    for (const balance::Part& p : parts) at.push_back(std::exchange(next, next + p.bytes));
    return at;
}

/// What the members of one team share.
struct Board {
    Board(Scheduler& s, std::vector<int> m)
        : scheduler(s), members(std::move(m)), mail(members.size()), waits(members.size()) {}

    /// A collective call that members are entering; the last one completes it.
    struct Call {
        int arrived = 0;
        double latest = 0, first = 0;      ///< clocks: of the last member to come, and of member 0
        std::vector<std::int64_t> values;  ///< of a reduction
        std::int64_t bytes = 0;            ///< of all that is given
        std::vector<Bytes> given;          ///< of each member
        std::vector<std::pair<std::shared_ptr<Board>, int>> parts;  ///< of a split: each member's team and rank
    };
    struct Letter {
        Bytes bytes;
        std::vector<std::size_t> parts;  ///< their sizes
        double arrival;
    };

    Scheduler& scheduler;
    std::vector<int> members;  ///< among all
    std::shared_ptr<Call> call;
    std::vector<int> asleep;                              ///< those that wait for the call's completion
    std::vector<std::map<int, std::deque<Letter>>> mail;  ///< to each member, by sender
    std::vector<bool> waits;                              ///< for mail
};

class Team final : public balance::Team {
public:
    Team(std::shared_ptr<Board> board, int rank) : board_(std::move(board)), rank_(rank) {}
    /// All members; each makes its own.
    static std::shared_ptr<Board> all(Scheduler& scheduler, int members) {
        std::vector<int> everybody(members);
        std::iota(everybody.begin(), everybody.end(), 0);
        return std::make_shared<Board>(scheduler, std::move(everybody));
    }
    static const Counts& counts_of(const balance::Team& team) {
        return dynamic_cast<const Team&>(team).account().counts;
    }

    int rank() const override { return rank_; }
    int size() const override { return static_cast<int>(board_->members.size()); }
    void sum(std::span<std::int64_t> values) const override {
        reduce(values, [](std::int64_t a, std::int64_t b) { return a + b; });
    }
    void max(std::span<std::int64_t> values) const override {
        reduce(values, [](std::int64_t a, std::int64_t b) { return std::max(a, b); });
    }
    Bytes gather(std::span<const std::byte> mine) const override {
        const auto call = meet([&](Board::Call& c) { give(c, mine); });
        const std::int64_t bytes = call->bytes;
        if (rank_ == 0) clock() = call->latest + rounds() * network().hop(0) + transfer(bytes);
        sent(1, static_cast<std::int64_t>(mine.size()));
        together(rank_ == 0 ? bytes : 0);
        account().counts.gathered += rank_ == 0 ? bytes : 0;
        return rank_ == 0 ? joined(*call) : Bytes();
    }
    Bytes all_gather(std::span<const std::byte> mine) const override {
        const auto call = meet([&](Board::Call& c) { give(c, mine); });
        const std::int64_t bytes = call->bytes;
        clock() = call->latest + rounds() * network().hop(0) + transfer(bytes);
        sent(rounds(), bytes);
        together(bytes);
        account().counts.gathered += bytes;
        return joined(*call);
    }
    void broadcast(std::span<std::byte> bytes) const override {
        const auto call = meet([&](Board::Call& c) {
            if (rank_ > 0) return;
            c.first = clock();
            c.given.emplace_back(bytes.begin(), bytes.end());
        });
        if (call->given.front().size() != bytes.size()) throw std::logic_error("unequal rooms in a broadcast");
        std::ranges::copy(call->given.front(), bytes.begin());
        clock() = std::max(clock(), call->first + rounds() * network().hop(static_cast<double>(bytes.size())));
        sent(1, static_cast<std::int64_t>(bytes.size()));
        together(static_cast<std::int64_t>(bytes.size()));
    }
    Bytes pass_on(int distance, std::span<const std::byte> bytes) const override {
        post((rank_ + distance) % size(), bytes, {bytes.size()});
        Bytes arrived = receive((rank_ - distance + size()) % size()).bytes;
        count_transfer(arrived.size());
        return arrived;
    }
    std::unique_ptr<balance::Channel> channel() const override { return std::make_unique<Letters>(*this); }
    std::unique_ptr<balance::Team> split(int colour) const override {
        const auto call = meet([&](Board::Call& c) { give(c, std::as_bytes(std::span(&colour, 1))); },
                               [&](Board::Call& c) {
                                   std::map<int, std::vector<int>> groups;
                                   for (int m = 0; m < size(); ++m) {
                                       int its = 0;
                                       std::memcpy(&its, c.given[m].data(), sizeof its);
                                       groups[its].push_back(m);
                                   }
                                   c.parts.resize(size());
                                   for (const auto& [its, group] : groups) {
                                       std::vector<int> ids;
                                       for (const int m : group) ids.push_back(board_->members[m]);
                                       const auto part = std::make_shared<Board>(board_->scheduler, std::move(ids));
                                       for (int i = 0; i < static_cast<int>(group.size()); ++i)
                                           c.parts[group[i]] = {part, i};
                                   }
                               });
        clock() = call->latest + rounds() * network().hop(0);
        ++account().counts.splits;
        return std::make_unique<Team>(call->parts[rank_].first, call->parts[rank_].second);
    }

private:
    // Rounds in which each member hands on to another.
    int rounds() const {
        int rounds = 0;
        while ((std::int64_t{1} << rounds) < size()) ++rounds;
        return rounds;
    }
    double transfer(std::int64_t bytes) const { return static_cast<double>(bytes) / network().bytes_per_second; }
    const Network& network() const { return board_->scheduler.network(); }
    Account& account() const { return board_->scheduler.account(board_->members[rank_]); }
    double& clock() const { return account().clock; }
    void sent(std::int64_t messages, std::int64_t bytes) const {
        account().messages += messages;
        account().bytes += bytes;
    }
    void together(std::int64_t bytes) const {
        const NobodyIsCharged network;
        Calls& calls = account().together[size()];
        ++calls.calls;
        calls.bytes += bytes;
    }

    void count_transfer(std::size_t bytes) const {
        std::int64_t& largest = account().counts.largest_transfer;
        largest = std::max(largest, static_cast<std::int64_t>(bytes));
    }

    void give(Board::Call& c, std::span<const std::byte> mine) const {
        c.given.resize(size());
        c.given[rank_].assign(mine.begin(), mine.end());
        c.bytes += static_cast<std::int64_t>(mine.size());
    }
    static Bytes joined(const Board::Call& c) {
        Bytes all;
        all.reserve(c.bytes);
        for (const Bytes& b : c.given) all.insert(all.end(), b.begin(), b.end());
        return all;
    }

    // A call that all members come to, each with enter(call); the last one completes it.
    template <class Enter>
    std::shared_ptr<Board::Call> meet(Enter enter) const {
        return meet(enter, [](Board::Call&) {});
    }
    template <class Enter, class Complete>
    std::shared_ptr<Board::Call> meet(Enter enter, Complete complete) const {
        ++account().counts.collectives;
        std::unique_lock held = board_->scheduler.lock();
        std::shared_ptr<Board::Call> call;
        {
            const NobodyIsCharged network;
            Board& b = *board_;
            if (!b.call) b.call = std::make_shared<Board::Call>();
            call = b.call;
            enter(*call);
            call->latest = std::max(call->latest, clock());
            if (++call->arrived == size()) {
                complete(*call);
                b.call = nullptr;
                for (const int m : std::exchange(b.asleep, {})) b.scheduler.wake(m);
                return call;
            }
            b.asleep.push_back(board_->members[rank_]);
        }
        board_->scheduler.wait(board_->members[rank_], held);
        return call;
    }

    template <class Operation>
    void reduce(std::span<std::int64_t> values, Operation operation) const {
        const auto call = meet([&](Board::Call& c) {
            if (c.arrived == 0) c.values.assign(values.begin(), values.end());
            else {
                if (c.values.size() != values.size()) throw std::logic_error("unequal lists in a reduction");
                std::ranges::transform(c.values, values, c.values.begin(), operation);
            }
        });
        std::ranges::copy(call->values, values.begin());
        // Recursive doubling where the list is short, else halving and doubling (Thakur et al. 2005).
        const auto bytes = static_cast<std::int64_t>(8 * values.size());
        const bool is_short = bytes <= 2048;
        clock() = call->latest + (is_short ? rounds() * network().hop(static_cast<double>(bytes))
                                           : 2 * rounds() * network().hop(0) + 2 * transfer(bytes));
        sent(is_short ? rounds() : 2 * rounds(), is_short ? rounds() * bytes : 2 * bytes);
        together(bytes);
    }

    void post(int member, std::span<const std::byte> bytes, std::vector<std::size_t> parts) const {
        const NobodyIsCharged nobody;
        ++account().counts.messages;
        const std::unique_lock held = board_->scheduler.lock();
        clock() += network().message_seconds;
        sent(1, static_cast<std::int64_t>(bytes.size()));
        board_->mail[member][rank_].push_back(
            {{bytes.begin(), bytes.end()},
             std::move(parts),
             clock() + network().latency_seconds + transfer(static_cast<std::int64_t>(bytes.size()))});
        if (!board_->waits[member]) return;
        board_->waits[member] = false;
        board_->scheduler.wake(board_->members[member]);
    }
    Board::Letter receive(int member) const {
        std::unique_lock held = board_->scheduler.lock();
        auto& mine = board_->mail[rank_];
        auto from = mine.find(member);
        for (; from == mine.end(); from = mine.find(member)) {
            board_->waits[rank_] = true;
            board_->scheduler.wait(board_->members[rank_], held);
        }
        Board::Letter letter = from->second.front();
        clock() = std::max(clock(), letter.arrival);
        const NobodyIsCharged nobody;
        from->second.pop_front();
        if (from->second.empty()) mine.erase(from);
        return letter;
    }

    class Letters final : public balance::Channel {
    public:
        explicit Letters(const Team& team) : team_(team) {}
        Places lay_out(std::span<const balance::Part> sent, std::span<const balance::Part> received) override {
            out_.assign(sent.begin(), sent.end());
            in_.assign(received.begin(), received.end());
            return {places_in_line(sent), places_in_line(received)};
        }
        void start(std::span<const std::byte> sent, std::span<std::byte> received,
                   std::shared_ptr<const void>) override {
            std::map<int, std::pair<Bytes, std::vector<std::size_t>>> letters;  // one to each member
            for (const balance::Part& p : out_) {
                const auto bytes = sent.first(p.bytes);
                auto& [all, sizes] = letters[p.member];
                all.insert(all.end(), bytes.begin(), bytes.end());
                sizes.push_back(p.bytes);
                sent = sent.subspan(p.bytes);
            }
            for (const auto& [member, letter] : letters) team_.post(member, letter.first, letter.second);
            team_.count_transfer(received.size());
            room_ = received;
        }
        std::vector<std::size_t> wait_for_some() override {
            if (room_.empty()) return {};
            finish();
            std::vector<std::size_t> all(in_.size());
            std::iota(all.begin(), all.end(), 0);
            return all;
        }
        void finish() override {
            if (room_.empty()) return;
            struct Opened {
                Board::Letter letter;
                std::size_t parts, bytes;  // that were taken from it
            };
            std::map<int, Opened> letters;
            for (const balance::Part& p : in_) letters[p.member] = {};
            for (auto& [member, opened] : letters) opened.letter = team_.receive(member);
            for (const balance::Part& p : in_) {
                auto& [letter, parts, taken] = letters[p.member];
                if (parts == letter.parts.size() || letter.parts[parts++] != p.bytes)
                    throw std::logic_error("a part has another size than was announced");
                std::copy_n(letter.bytes.begin() + static_cast<std::ptrdiff_t>(taken), p.bytes, room_.begin());
                taken += p.bytes;
                room_ = room_.subspan(p.bytes);
            }
        }

    private:
        const Team& team_;  // lives longer
        std::vector<balance::Part> out_, in_;
        std::span<std::byte> room_;
    };

    std::shared_ptr<Board> board_;
    int rank_;
};

}  // namespace turns

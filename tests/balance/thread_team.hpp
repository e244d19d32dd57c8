// SPDX-License-Identifier: MIT
// A team whose members are threads of this process: tests of what members do together, without MPI.
#pragma once
#include <condition_variable>
#include <deque>
#include <exception>
#include <thread>
#include <utility>
#include <vector>

#include "turn_team.hpp"

using turns::places_in_line;

/// Threads that wait here sleep. std::barrier first gives its core away some times, which on a busy machine costs a
/// time slice of each other program.
class Threads final : public turns::Scheduler {
public:
    explicit Threads(int members) : Scheduler(members, {}), beds_(members) {}
    std::unique_lock<std::mutex> lock() override { return std::unique_lock(mutex_); }
    void wait(int member, std::unique_lock<std::mutex>& held) override {
        beds_[member].called.wait(held, [&] { return std::exchange(beds_[member].awake, false); });
    }
    void wake(int member) override {
        beds_[member].awake = true;
        beds_[member].called.notify_one();
    }

private:
    struct Bed {
        std::condition_variable called;
        bool awake = false;
    };
    std::mutex mutex_;
    std::deque<Bed> beds_;  // one for each member
};

class ThreadTeam {
public:
    /// Runs body(team) on `members` threads and returns what they return, in their order. Catch's assertions are for
    /// one thread, so they belong behind this call. An exception of a member is thrown again here, when all have ended.
    template <class Body>
    static auto run(int members, Body body) {
        using Result = decltype(body(std::declval<const balance::Team&>()));
        std::vector<Result> results(members);
        std::vector<std::exception_ptr> errors(members);
        Threads scheduler(members);
        const auto board = turns::Team::all(scheduler, members);
        std::vector<std::thread> threads;
        for (int m = 0; m < members; ++m)
            threads.emplace_back([&, m] {
                const turns::Team team(board, m);
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

    using Counts = turns::Counts;
    static Counts counts_of(const balance::Team& team) { return turns::Team::counts_of(team); }
};

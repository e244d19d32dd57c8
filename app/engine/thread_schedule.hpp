// SPDX-License-Identifier: MIT
// Loops over tiles on all threads.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace app {

/// Items by the thread that does them first: thread t those at [first[t], first[t + 1]).
struct ThreadSchedule {
    std::vector<std::size_t> items, first{0};
};

/// Gives each thread consecutive items of about equal weight, some exchanged where that makes the threads' sums more
/// equal. With several threads each one starts with its heaviest items, so that what others steal in the end is small.
/// weight_of(item) >= 0.
ThreadSchedule split_by_weight(std::vector<std::size_t> items, std::size_t threads,
                               const std::function<std::int64_t(std::size_t)>& weight_of);

/// Runs body(i) for i in [0, first.back()). Thread t begins with [first[t], first[t + 1]). Then each thread runs
/// done(), if there is one. An exception of any thread is thrown again here, because it may not leave the region. Loop
/// after loop a thread gets the same items first, so its caches hold them already. Stealing evens out the rest in the
/// end.
void parallel_runs(std::span<const std::size_t> first, const std::function<void(std::size_t)>& body,
                   const std::function<void()>& done);

/// parallel_runs over [0, n), with equal numbers of items for all threads.
void parallel_for(std::size_t n, const std::function<void(std::size_t)>& body);
/// parallel_for as a loop that balance::Transfer takes.
inline constexpr auto on_all_threads = [](std::size_t n, auto body) { parallel_for(n, body); };

}  // namespace app

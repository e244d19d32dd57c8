// SPDX-License-Identifier: MIT
// A loop over tiles on all threads.
#pragma once
#include <omp.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <vector>

namespace app {

/// What one thread still has to do, items [first, last): it takes from the front, those that are through with theirs from the back.
class alignas(64) Share {
public:
    static constexpr std::uint32_t none = UINT32_MAX;

    void set(std::size_t first, std::size_t last) { range_ = first << 32 | last; }
    std::uint32_t take_front() { return take(std::uint64_t{1} << 32, [](std::uint64_t range) { return range >> 32; }); }
    std::uint32_t take_back() { return take(UINT64_MAX, [](std::uint64_t range) { return (range & UINT32_MAX) - 1; }); }

private:
    template <class Item>
    std::uint32_t take(std::uint64_t change, Item item) {
        std::uint64_t range = range_;
        do {
            if (range >> 32 >= (range & UINT32_MAX)) return none;
        } while (!range_.compare_exchange_weak(range, range + change));
        return static_cast<std::uint32_t>(item(range));
    }

    std::atomic<std::uint64_t> range_{0};
};

/// Runs body(i) for i in [0, n) on all threads, then, if there was any, done() on each; an exception of any of them is thrown again here (it may not
/// leave the region). Loop after loop a thread gets the same items first, which its caches know; the rest evens out.
template <class Body, class Done>
void parallel_for(std::size_t n, Body body, Done done) {
    if (n == 0) return;
    const auto threads = static_cast<std::size_t>(omp_get_max_threads());
    std::vector<Share> shares(threads);
    for (std::size_t t = 0; t < threads; ++t) shares[t].set(n * t / threads, n * (t + 1) / threads);
    std::exception_ptr error;
#pragma omp parallel
    {
        const auto run = [&](std::uint32_t i) {
            try {
                body(static_cast<std::size_t>(i));
            } catch (...) {
#pragma omp critical(steelyard_error)
                error = std::current_exception();
            }
        };
        const auto mine = static_cast<std::size_t>(omp_get_thread_num());
        for (std::uint32_t i; (i = shares[mine].take_front()) != Share::none;) run(i);
        for (std::size_t t = 1; t < threads; ++t)
            for (std::uint32_t i; (i = shares[(mine + t) % threads].take_back()) != Share::none;) run(i);
        done();
    }
    if (error) std::rethrow_exception(error);
}
template <class Body>
void parallel_for(std::size_t n, Body body) {
    parallel_for(n, body, [] {});
}

}  // namespace app

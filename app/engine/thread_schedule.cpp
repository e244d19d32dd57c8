// SPDX-License-Identifier: MIT
// An item is a tile of thousands of particles, beside which a call through std::function costs nothing.
#include "app/engine/thread_schedule.hpp"

#include <omp.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <utility>

namespace app {
namespace {

// Work that is left to one thread, items [first, last). Its owner takes items from the front; threads that have
// finished theirs steal from the back.
class alignas(64) WorkRange {
public:
    static constexpr std::uint32_t none = UINT32_MAX;

    void set(std::size_t first, std::size_t last) { range_ = first << 32 | last; }
    std::uint32_t take_front() {
        return take(std::uint64_t{1} << 32, [](std::uint64_t range) { return range >> 32; });
    }
    std::uint32_t take_back() {
        return take(UINT64_MAX, [](std::uint64_t range) { return (range & UINT32_MAX) - 1; });
    }

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

}  // namespace

ThreadSchedule split_by_weight(std::vector<std::size_t> items, std::size_t threads,
                               const std::function<std::int64_t(std::size_t)>& weight_of) {
    ThreadSchedule schedule{std::move(items), {0}};
    double total = 0, sum = 0;
    for (std::size_t i : schedule.items) total += static_cast<double>(weight_of(i));
    for (std::size_t k = 0; k < schedule.items.size(); ++k) {
        const auto weight = static_cast<double>(weight_of(schedule.items[k]));
        while (schedule.first.size() < threads &&
               sum + weight / 2 > total * static_cast<double>(schedule.first.size()) / static_cast<double>(threads))
            schedule.first.push_back(k);
        sum += weight;
    }
    schedule.first.resize(threads + 1, schedule.items.size());
    const auto heavier = [&](std::size_t a, std::size_t b) { return weight_of(a) > weight_of(b); };
    for (std::size_t t = 0; threads > 1 && t < threads; ++t)
        std::stable_sort(schedule.items.begin() + static_cast<std::ptrdiff_t>(schedule.first[t]),
                         schedule.items.begin() + static_cast<std::ptrdiff_t>(schedule.first[t + 1]), heavier);
    return schedule;
}

void parallel_runs(std::span<const std::size_t> first, const std::function<void(std::size_t)>& body,
                   const std::function<void()>& done) {
    const std::size_t threads = first.size() - 1;
    if (first.back() == 0) return;
    std::vector<WorkRange> shares(threads);
    for (std::size_t t = 0; t < threads; ++t) shares[t].set(first[t], first[t + 1]);
    std::exception_ptr error;
#pragma omp parallel num_threads(static_cast <int>(threads))
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
        for (std::uint32_t i; (i = shares[mine].take_front()) != WorkRange::none;) run(i);
        for (std::size_t t = 1; t < threads; ++t)
            for (std::uint32_t i; (i = shares[(mine + t) % threads].take_back()) != WorkRange::none;) run(i);
        done();
    }
    if (error) std::rethrow_exception(error);
}

void parallel_for(std::size_t n, const std::function<void(std::size_t)>& body) {
    const auto threads = static_cast<std::size_t>(omp_get_max_threads());
    std::vector<std::size_t> first;
    for (std::size_t t = 0; t <= threads; ++t) first.push_back(n * t / threads);
    parallel_runs(first, body, [] {});
}

}  // namespace app

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

struct Item {
    std::size_t index;
    std::int64_t weight;
};

// The items of one thread.
struct ThreadItems {
    std::vector<Item> items;
    std::int64_t weight = 0;
};

// Consecutive items for each thread.
std::vector<ThreadItems> consecutive(const std::vector<Item>& items, std::size_t threads) {
    std::vector<ThreadItems> shares(threads);
    double total = 0, sum = 0;
    for (const Item& item : items) total += static_cast<double>(item.weight);
    std::size_t t = 0;
    for (const Item& item : items) {
        const auto weight = static_cast<double>(item.weight);
        while (t + 1 < threads && sum + weight / 2 > total * static_cast<double>(t + 1) / static_cast<double>(threads))
            ++t;
        shares[t].items.push_back(item);
        shares[t].weight += item.weight;
        sum += weight;
    }
    return shares;
}

// The heaviest share exchanges an item with the lightest one, or gives one away, as long as they differ by more than a
// percent and come much closer. An item that changes its thread leaves the caches; so does all that is stolen.
void even_out(std::vector<ThreadItems>& shares) {
    const auto lighter = [](const ThreadItems& a, const ThreadItems& b) { return a.weight < b.weight; };
    for (;;) {
        const auto [least, most] = std::minmax_element(shares.begin(), shares.end(), lighter);
        const std::int64_t gap = most->weight - least->weight;
        if (gap <= most->weight / 100) return;
        std::int64_t left = gap;  // of the gap, after the best exchange
        std::size_t given = 0, taken = 0;
        for (std::size_t i = 0; i < most->items.size(); ++i)
            for (std::size_t j = 0; j <= least->items.size(); ++j) {  // the last is no item
                const std::int64_t back = j < least->items.size() ? least->items[j].weight : 0;
                if (const std::int64_t gap_left = std::abs(gap - 2 * (most->items[i].weight - back)); gap_left < left) {
                    left = gap_left;
                    given = i;
                    taken = j;
                }
            }
        if (left >= gap - gap / 4) return;
        if (taken == least->items.size()) {
            least->items.push_back(most->items[given]);
            most->items.erase(most->items.begin() + static_cast<std::ptrdiff_t>(given));
        } else {
            std::swap(most->items[given], least->items[taken]);
        }
        for (ThreadItems* share : {&*least, &*most}) {
            share->weight = 0;
            for (const Item& item : share->items) share->weight += item.weight;
        }
    }
}

}  // namespace

ThreadSchedule split_by_weight(std::vector<std::size_t> items, std::size_t threads,
                               const std::function<std::int64_t(std::size_t)>& weight_of) {
    if (threads == 1) return {items, {0, items.size()}};
    std::vector<Item> weighed;
    for (const std::size_t i : items) weighed.push_back({i, weight_of(i)});
    std::vector<ThreadItems> shares = consecutive(weighed, threads);
    even_out(shares);
    ThreadSchedule schedule;
    for (ThreadItems& share : shares) {
        std::ranges::stable_sort(share.items, [](const Item& a, const Item& b) { return a.weight > b.weight; });
        for (const Item& item : share.items) schedule.items.push_back(item.index);
        schedule.first.push_back(schedule.items.size());
    }
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

// SPDX-License-Identifier: MIT
#include <algorithm>
#include <catch2/catch.hpp>
#include <limits>
#include <numeric>
#include <random>
#include <string>

#include "balance/partition/chain.hpp"

using namespace balance;

namespace {

constexpr std::int64_t impossible = std::numeric_limits<std::int64_t>::max();

// Smallest largest load of any cut, by trying all of them.
std::int64_t brute_force(const ChainItems& items, std::size_t from, std::int64_t parts, std::int64_t limit) {
    if (parts == 0) return from == items.load.size() ? 0 : impossible;
    std::int64_t best = impossible, load = 0, size = 0;
    for (std::size_t to = from;; ++to) {
        const std::int64_t rest = brute_force(items, to, parts - 1, limit);
        if (rest != impossible) best = std::min(best, std::max(load, rest));
        if (to == items.load.size()) break;
        load += items.load[to];
        if (!items.size.empty()) size += items.size[to];
        if (limit > 0 && size > limit) break;
    }
    return best;
}

struct Largest {
    std::int64_t load = 0, size = 0;
};
Largest largest_run(const ChainItems& items, const std::vector<std::int64_t>& cuts) {
    Largest l;
    for (std::size_t p = 0; p + 1 < cuts.size(); ++p) {
        std::int64_t load = 0, size = 0;
        for (std::int64_t i = cuts[p]; i < cuts[p + 1]; ++i) {
            load += items.load[i];
            if (!items.size.empty()) size += items.size[i];
        }
        l = {std::max(l.load, load), std::max(l.size, size)};
    }
    return l;
}

}  // namespace

TEST_CASE("no cut of a chain is better: 10,000 small cases against brute force, with and without limits") {
    std::mt19937_64 random(11);
    int infeasible = 0, limited = 0;
    for (int c = 0; c < 10000; ++c) {
        ChainItems items;
        const int n = static_cast<int>(random() % 9), parts = 1 + static_cast<int>(random() % 5);
        const bool with_sizes = c % 2;
        for (int i = 0; i < n; ++i) {
            items.load.push_back(static_cast<std::int64_t>(random() % 3 == 0 ? 0 : random() % 20));
            if (with_sizes) items.size.push_back(static_cast<std::int64_t>(random() % 6));
        }
        const std::int64_t limit = with_sizes ? 1 + static_cast<std::int64_t>(random() % 15) : 0;
        const std::int64_t expected = brute_force(items, 0, parts, limit);
        if (expected == impossible) {
            ++infeasible;
            try {
                chain_partition(items, parts, limit);
                FAIL("a limit that cannot be met is accepted");
            } catch (const Infeasible& e) {  // what it says would work does, and nothing smaller
                REQUIRE((e.parts == parts && e.limit == limit && e.smallest > limit));
                REQUIRE(brute_force(items, 0, parts, e.smallest) != impossible);
                REQUIRE(brute_force(items, 0, parts, e.smallest - 1) == impossible);
                REQUIRE(largest_run(items, chain_partition(items, parts, e.smallest)).size == e.smallest);
                const std::string end = "the smallest limit that works is " + std::to_string(e.smallest);
                REQUIRE(std::string(e.what()).ends_with(end));
                if (e.smallest - 1 > limit)
                    REQUIRE_THROWS_AS(chain_partition(items, parts, e.smallest - 1), Infeasible);
            }
            continue;
        }
        const std::vector<std::int64_t> cuts = chain_partition(items, parts, limit);
        REQUIRE(static_cast<int>(cuts.size()) == parts + 1);
        REQUIRE((cuts.front() == 0 && cuts.back() == n));
        REQUIRE(std::is_sorted(cuts.begin(), cuts.end()));
        const Largest l = largest_run(items, cuts);
        REQUIRE(l.load == expected);
        if (limit > 0) {
            REQUIRE(l.size <= limit);
            limited += expected > brute_force(items, 0, parts, 0);
        }
    }
    CHECK(infeasible > 100);
    CHECK(limited > 100);  // cases where the limit costs balance
}

TEST_CASE("cuts of a long chain reach the bound that one item sets, and lie near even shares") {
    std::mt19937_64 random(3);
    ChainItems items;
    for (int i = 0; i < 20000; ++i) items.load.push_back(static_cast<std::int64_t>(900 + random() % 200));
    const std::int64_t total = std::accumulate(items.load.begin(), items.load.end(), std::int64_t{0});
    const std::vector<std::int64_t> cuts = chain_partition(items, 200);
    const Largest l = largest_run(items, cuts);
    CHECK(l.load >= (total + 199) / 200);
    CHECK(l.load <= total / 200 + 1100);
    std::int64_t sum = 0, next = 1, worst = 0;
    for (std::int64_t i = 0; i < 20000; ++i) {
        if (next < 200 && i == cuts[next]) worst = std::max(worst, std::abs(sum - total * next++ / 200));
        sum += items.load[i];
    }
    CHECK(worst < 5 * 1100);
}

TEST_CASE("with targets no cut of a chain has a smaller largest share: 5,000 small cases against brute force") {
    std::mt19937_64 random(17);
    // Smallest possible largest load / target, of items [from, end) in the parts from p on.
    const auto best_share = [](const std::vector<std::int64_t>& load, const std::vector<std::int64_t>& targets) {
        const auto search = [&](auto self, std::size_t from, std::size_t p) -> double {
            if (p == targets.size()) return from == load.size() ? 0 : 1e300;
            double best = 1e300, sum = 0;
            for (std::size_t to = from;; ++to) {
                best = std::min(best, std::max(sum / static_cast<double>(targets[p]), self(self, to, p + 1)));
                if (to == load.size()) break;
                sum += static_cast<double>(load[to]);
            }
            return best;
        };
        return search(search, 0, 0);
    };
    for (int c = 0; c < 5000; ++c) {
        ChainItems items;
        std::vector<std::int64_t> targets;
        const int n = static_cast<int>(random() % 9), parts = 1 + static_cast<int>(random() % 4);
        for (int i = 0; i < n; ++i)
            items.load.push_back(static_cast<std::int64_t>(random() % 3 == 0 ? 0 : random() % 20));
        for (int p = 0; p < parts; ++p) targets.push_back(static_cast<std::int64_t>(1 + random() % 9));
        const std::vector<std::int64_t> cuts = chain_partition(items, parts, 0, targets);
        REQUIRE((cuts.front() == 0 && cuts.back() == n && std::is_sorted(cuts.begin(), cuts.end())));
        double share = 0;
        for (int p = 0; p < parts; ++p) {
            std::int64_t load = 0;
            for (std::int64_t i = cuts[p]; i < cuts[p + 1]; ++i) load += items.load[i];
            share = std::max(share, static_cast<double>(load) / static_cast<double>(targets[p]));
        }
        // Exact up to one unit of load of the part with the largest target.
        const double unit = 1.0 / static_cast<double>(*std::max_element(targets.begin(), targets.end()));
        REQUIRE(share <= best_share(items.load, targets) + unit);
    }
    const ChainItems items{{1, 2, 3}, {}};
    CHECK_THROWS_AS(chain_partition(items, 2, 0, std::vector<std::int64_t>{1, 2, 3}), std::invalid_argument);
    CHECK_THROWS_AS(chain_partition(items, 2, 0, std::vector<std::int64_t>{0, 1}), std::invalid_argument);
}

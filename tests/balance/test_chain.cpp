// SPDX-License-Identifier: MIT
#include <algorithm>
#include <catch2/catch.hpp>
#include <functional>
#include <limits>
#include <numeric>
#include <random>
#include <string>

#include "balance/partition/chain.hpp"
#include "balance/partition/chain_sweep.hpp"
#include "sanitized.hpp"
#include "thread_team.hpp"

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

// The same cuts item by item, for loads that are so small that all bottlenecks can be tried.
std::vector<std::int64_t> cuts_item_by_item(const ChainItems& items, std::int64_t parts, std::int64_t limit,
                                            const std::vector<std::int64_t>& targets) {
    const auto n = static_cast<std::int64_t>(items.load.size());
    const std::int64_t total = std::accumulate(items.load.begin(), items.load.end(), std::int64_t{0});
    const std::int64_t largest = *std::max_element(targets.begin(), targets.end());
    const auto fits = [&](std::int64_t begin, std::int64_t end, std::int64_t p, std::int64_t bottleneck) {
        std::int64_t load = 0, size = 0;
        for (std::int64_t i = begin; i < end; ++i) load += items.load[i], size += limit > 0 ? items.size[i] : 0;
        return load <= bottleneck * targets[p] / largest && (limit == 0 || size <= limit);
    };
    const auto furthest = [&](std::int64_t begin, std::int64_t p, std::int64_t bottleneck) {
        std::int64_t end = begin;
        while (end < n && fits(begin, end + 1, p, bottleneck)) ++end;
        return end;
    };
    std::int64_t bottleneck = 0;
    for (std::int64_t end = -1; end < n; bottleneck += end < n) {
        end = 0;
        for (std::int64_t p = 0; p < parts; ++p) end = furthest(end, p, bottleneck);
    }
    std::vector<std::int64_t> earliest(parts + 1, n), cuts(parts + 1, 0);
    for (std::int64_t p = parts - 1; p >= 0; --p) {
        earliest[p] = earliest[p + 1];
        while (earliest[p] > 0 && fits(earliest[p] - 1, earliest[p + 1], p, bottleneck)) --earliest[p];
    }
    const std::int64_t all = std::accumulate(targets.begin(), targets.end(), std::int64_t{0});
    std::int64_t before = 0;
    for (std::int64_t p = 1; p <= parts; ++p) {
        before += targets[p - 1];
        const std::int64_t share = total * before / all;
        std::int64_t sum = 0, nearest = 0;  // items whose middle lies below the share
        while (nearest < n && 2 * sum + items.load[nearest] < 2 * share) sum += items.load[nearest++];
        cuts[p] = p == parts ? n
                             : std::min(std::max({nearest, cuts[p - 1], earliest[p]}),
                                        furthest(cuts[p - 1], p - 1, bottleneck));
    }
    return cuts;
}

std::vector<std::int64_t> random_targets(std::mt19937_64& random, std::int64_t parts, std::int64_t most) {
    std::vector<std::int64_t> targets;
    for (std::int64_t p = 0; p < parts; ++p) targets.push_back(1 + static_cast<std::int64_t>(random() % most));
    return targets;
}

// Equal ones, few and many zeros, large ones, one that is larger than all others, growing ones.
ChainItems random_items(std::mt19937_64& random, std::int64_t count, bool with_sizes) {
    ChainItems items;
    const auto kind = random() % 6;
    for (std::int64_t i = 0; i < count; ++i) {
        const auto any = static_cast<std::int64_t>(random() >> 1);
        items.load.push_back(kind == 0   ? 5
                             : kind == 1 ? any % 3 * (any % 19)
                             : kind == 2 ? any % 10 / 9 * (any % 9973)
                             : kind == 3 ? any % 1'000'000'007
                             : kind == 4 ? (i == count / 3 ? 100'000 : any % 10)
                                         : i);
        if (with_sizes) items.size.push_back(static_cast<std::int64_t>(random() % 6));
    }
    return items;
}

// Its place in the chain is given by the ranks; some members have few items or none.
ChainItems items_of_member(const ChainItems& all, const std::vector<std::int64_t>& first, int member) {
    const auto some = [&](const std::vector<std::int64_t>& v) -> std::vector<std::int64_t> {
        if (v.empty()) return {};
        return {v.begin() + first[member], v.begin() + first[member + 1]};
    };
    return {some(all.load), some(all.size)};
}

// What a member with items [begin, end) is to learn of all cuts.
ChainCuts cuts_of_member(const std::vector<std::int64_t>& cuts, std::int64_t begin, std::int64_t end) {
    ChainCuts mine;
    for (std::int64_t at = begin, p = 0; at < end; ++p) {
        if (cuts[p + 1] <= begin) continue;
        if (mine.at.empty()) mine.first_part = p;
        mine.at.push_back(at = std::min(cuts[p + 1], end));
    }
    return mine;
}

struct Found {
    ChainCuts cuts;
    std::int64_t smallest_limit = 0;  // that would work, where the one asked for does not
    friend bool operator==(const Found&, const Found&) = default;
};

// Cuts, or the smallest limit that works.
std::vector<std::int64_t> cuts_or_limit(const std::function<std::vector<std::int64_t>()>& partition) {
    try {
        return partition();
    } catch (const Infeasible& e) {
        return {-e.smallest};
    }
}

}  // namespace

TEST_CASE(
    "what a part may get is exact, whether or not the bottleneck is small enough to be found without a division") {
    std::mt19937_64 random(11);
    const auto up_to = [&](int bits) { return static_cast<std::int64_t>(random() >> (64 - bits)); };
    for (int i = 0; i < 2000; ++i) {
        const std::vector<std::int64_t> targets{1 + up_to(1 + i % 31), 1 + up_to(31), 1 + up_to(3), 1 + up_to(31)};
        const chain::Targets seen(PartTargets(targets), 4);
        // Multiples of the largest target, and their neighbours, are where a quotient changes.
        const std::int64_t largest = *std::ranges::max_element(targets);
        for (const chain::Int128 b : {chain::Int128{up_to(1 + i % 62)}, chain::Int128{largest} * up_to(1 + i % 30),
                                      chain::Int128{largest} * (1 + up_to(20)) - 1,
                                      (chain::Int128{1} << 51) - 1 - up_to(3), chain::Int128{1} << 80}) {
            const chain::Targets::Rooms rooms(seen, b);
            for (std::int64_t p = 0; p < 4; ++p) REQUIRE(rooms.of(targets[p]) == seen.room(targets[p], b));
        }
    }
}

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
        const std::vector<std::int64_t> cuts = chain_partition(items, parts, 0, PartTargets(targets));
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
    CHECK_THROWS_AS(chain_partition(items, 2, 0, PartTargets(std::vector<std::int64_t>{1, 2, 3})),
                    std::invalid_argument);
    CHECK_THROWS_AS(chain_partition(items, 2, 0, PartTargets(std::vector<std::int64_t>{0, 1})), std::invalid_argument);
}

TEST_CASE("cuts lie where those lie that are found item by item: 3,000 small cases") {
    std::mt19937_64 random(29);
    int limited = 0;
    for (int c = 0; c < 3000; ++c) {
        const auto parts = 1 + static_cast<std::int64_t>(random() % 7);
        ChainItems items;
        for (auto n = random() % 24; n > 0; --n) {
            items.load.push_back(static_cast<std::int64_t>(random() % 3 == 0 ? 0 : random() % 20));
            items.size.push_back(static_cast<std::int64_t>(random() % 4));
        }
        const std::int64_t sizes = std::accumulate(items.size.begin(), items.size.end(), std::int64_t{0});
        const std::int64_t limit = c % 2 ? sizes / parts + 2 + static_cast<std::int64_t>(random() % 4) : 0;
        const std::vector<std::int64_t> targets = random_targets(random, parts, c % 3 ? 9 : 1);
        const auto cuts = cuts_or_limit([&] { return chain_partition(items, parts, limit, PartTargets(targets)); });
        if (cuts[0] < 0) continue;
        CAPTURE(c);
        REQUIRE(cuts == cuts_item_by_item(items, parts, limit, targets));
        limited += limit > 0;
    }
    CHECK(limited > 1000);
}

TEST_CASE("a leader of the chain knows each target, whichever of them are listed") {
    std::mt19937_64 random(6);
    for (const std::int64_t parts : {1, 63, 64, 65, 128, 300})
        for (int c = 0; c < 30; ++c) {
            const std::vector<std::int64_t> each = random_targets(random, parts, 1 + c % 3);
            // Those that are not the usual target, or some that are as well, or all.
            const std::int64_t usual = each[random() % each.size()];
            std::vector<PartTargets::Target> listed;
            for (std::int64_t p = 0; p < parts; ++p)
                if (each[p] != usual || c % 5 == 0 || (c % 5 == 1 && p % 3 == 0)) listed.push_back({p, each[p]});
            const chain::Targets known(PartTargets(parts, usual, listed), parts);
            const bool alike = std::ranges::all_of(each, [&](std::int64_t t) { return t == each[0]; });
            const std::int64_t total = 1 << 20, of_all = std::accumulate(each.begin(), each.end(), std::int64_t{0});
            std::int64_t before = 0;
            chain::Targets::Walk up(known, 0), down(known, parts);
            for (std::int64_t p = 0; p < parts; before += each[p], ++p, up.go_up()) {
                REQUIRE(known.share_before(p, total) == chain::Int128{total} * before / of_all);
                REQUIRE(known.of(p) == (alike ? 1 : each[p]));
                REQUIRE(up.target() == known.of(p));
            }
            REQUIRE(known.share_before(parts, total) == total);
            for (std::int64_t p = parts - 1; p >= 0; --p) {
                down.go_down();
                REQUIRE(down.target() == known.of(p));
            }
        }
}

TEST_CASE("targets of parts are those of the list that they are made from") {
    std::mt19937_64 random(5);
    for (int c = 0; c < 100; ++c) {
        std::vector<std::int64_t> each =
            random_targets(random, 1 + static_cast<std::int64_t>(random() % 50), 1 + c % 3);
        const PartTargets targets(each);
        CHECK_NOTHROW(targets.require(std::ssize(each)));
        CHECK_THROWS_AS(targets.require(std::ssize(each) + 1), std::invalid_argument);
        for (std::size_t p = 0; p < each.size(); ++p) REQUIRE(targets.of(static_cast<std::int64_t>(p)) == each[p]);
        const bool alike = std::ranges::all_of(each, [&](std::int64_t t) { return t == each[0]; });
        REQUIRE(targets.equal() == alike);
        REQUIRE(targets.each() == (alike ? std::vector<std::int64_t>() : each));
    }
    CHECK(PartTargets().equal());
    CHECK(PartTargets().of(12) == 1);
    CHECK_NOTHROW(PartTargets().require(12));
    CHECK_THROWS_AS(PartTargets(4, 0, {}), std::invalid_argument);
    CHECK_THROWS_AS(PartTargets(4, 1, {{4, 2}}), std::invalid_argument);
    CHECK_THROWS_AS(PartTargets(4, 1, {{-1, 2}}), std::invalid_argument);
    CHECK_THROWS_AS(PartTargets(4, 1, {{2, 2}, {1, 2}}), std::invalid_argument);
    CHECK_THROWS_AS(PartTargets(4, 1, {{2, (std::int64_t{1} << 31) + 1}}), std::invalid_argument);
}

TEST_CASE(
    "members find the cuts that one finds alone, each those of its items, however the chain lies on them: 1,000 "
    "cases") {
    std::mt19937_64 random(31);
    std::vector<int> teams(17);
    std::iota(teams.begin(), teams.end(), 1);
    teams.insert(teams.end(), {31, 33, 64, 100});
    int infeasible = 0, feasible = 0;
    constexpr int cases = test::cases(1000);
    for (int c = 0; c < cases; ++c) {
        const int members = c < 21 ? teams[c % 21] : 1 + static_cast<int>(random() % 12);
        const int leaders = c % 2 == 0 ? members : 1 + static_cast<int>(random() % members);
        const auto count = static_cast<std::int64_t>(random() % (c % 4 == 0 ? 12 : 600));
        const auto parts = 1 + static_cast<std::int64_t>(random() % (c % 5 == 0 ? 400 : 20));
        const ChainItems items = random_items(random, count, c % 3 == 1);
        const std::int64_t sizes = std::accumulate(items.size.begin(), items.size.end(), std::int64_t{0});
        const std::int64_t limit = c % 3 == 1 ? 1 + sizes / parts + static_cast<std::int64_t>(random() % 8) : 0;
        std::vector<std::int64_t> targets;
        if (c % 4 == 1) targets = random_targets(random, parts, c % 8 == 1 ? 9 : std::int64_t{1} << 31);
        std::vector<std::int64_t> first;
        for (int m = 0; m <= members; ++m)
            first.push_back(m == 0 || m == members || random() % 2
                                ? count * m / members
                                : static_cast<std::int64_t>(random() % (static_cast<std::uint64_t>(count) + 1)));
        std::sort(first.begin(), first.end());
        const auto expected = cuts_or_limit([&] { return chain_partition(items, parts, limit, PartTargets(targets)); });
        const auto found = ThreadTeam::run(members, [&](const Team& team) -> Found {
            try {
                return {chain_partition(team, items_of_member(items, first, team.rank()), first[team.rank()], parts,
                                        limit, PartTargets(targets), leaders)};
            } catch (const Infeasible& e) {
                return {{}, e.smallest};
            }
        });
        CAPTURE(c, members, leaders, count, parts, limit);
        for (int m = 0; m < members; ++m) {
            CAPTURE(m);
            if (expected[0] < 0) REQUIRE(found[m] == Found{{}, -expected[0]});
            else REQUIRE(found[m] == Found{cuts_of_member(expected, first[m], first[m + 1])});
        }
        (expected[0] < 0 ? infeasible : feasible) += 1;
    }
    CHECK(infeasible > cases * 3 / 100);
    CHECK(feasible > cases * 7 / 10);
}

TEST_CASE("no member has many items of a chain, and messages do not grow with the team, nor collective calls") {
    struct Watch final : Meter {
        void part(RoundPart part, std::int64_t parts, std::int64_t count) const override {
            if (part == RoundPart::chain) items += count, passed += parts;
        }
        mutable std::int64_t items = 0, passed = 0;
    };
    std::mt19937_64 random(37);
    ChainItems items;
    for (int i = 0; i < 96'000; ++i) items.load.push_back(static_cast<std::int64_t>(100'000 + random() % 70'000));
    const std::int64_t parts = 640;
    std::vector<std::int64_t> collectives;
    for (const int members : {8, 16, 32, 64}) {
        const int leaders = members / 2;
        struct Seen {
            std::int64_t items, passed;
            ThreadTeam::Counts counts;
        };
        std::vector<std::int64_t> first;
        for (int m = 0; m <= members; ++m) first.push_back(static_cast<std::int64_t>(items.load.size()) * m / members);
        const auto seen = ThreadTeam::run(members, [&](const Team& team) {
            const Watch watch;
            chain_partition(team, items_of_member(items, first, team.rank()), first[team.rank()], parts, 0, {}, leaders,
                            watch);
            return Seen{watch.items, watch.passed, ThreadTeam::counts_of(team)};
        });
        CAPTURE(members);
        for (int m = 0; m < members; ++m) {
            const bool leads = m % 2 == 0;
            CHECK(seen[m].items == (leads ? 96'000 / leaders : 0));
            CHECK(seen[m].counts.messages <= (leads ? 4 * 16 + 2 : 0));
            CHECK(seen[m].passed <= (leads ? 4 * 64 * (parts / leaders + 3) : 0));
        }
        collectives.push_back(seen[0].counts.collectives);
    }
    // What a sweep has reached, and what would have changed it, end the search at once where few sums of loads occur.
    items.load.assign(96'000, 1'000'000'007);
    const auto equal = ThreadTeam::run(4, [&](const Team& team) {
        const ChainItems mine = items_of_member(items, {0, 24'000, 48'000, 72'000, 96'000}, team.rank());
        chain_partition(team, mine, 24'000 * team.rank(), 1000, 0, {}, 4);
        return ThreadTeam::counts_of(team).messages;
    });
    CHECK(*std::max_element(equal.begin(), equal.end()) == 16 + 1);
    // A leader's list of 160 cuts takes one more than shorter lists.
    const std::int64_t usual = collectives[3];
    CHECK(collectives == std::vector<std::int64_t>{usual + 1, usual, usual, usual});
    CHECK(collectives[0] < 15);
    CHECK(chain_leaders(60'000, 50, 100) == 1);
    CHECK(chain_leaders(70'000, 50, 100) == 8);
    CHECK(chain_leaders(5'200'000, 2400, 2400) == 64);
    CHECK(chain_leaders(130'000'000, 2400, 2400) == 256);
    CHECK(chain_leaders(130'000'000, 24, 24) == 24);
}

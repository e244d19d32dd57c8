// SPDX-License-Identifier: MIT
// Sums and largest numbers of all processes, on any number of members.
#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <random>

#include "balance/over_all.hpp"
#include "balance/partition/hosts.hpp"
#include "sanitized.hpp"
#include "thread_team.hpp"

using namespace balance;

namespace {

bool same(const OverAll& a, const OverAll& b) { return a.sum == b.sum && a.mean == b.mean && a.largest == b.largest; }

std::vector<OverAll> of_team(int members, const std::vector<std::vector<double>>& all) {
    const std::int64_t processes = std::ssize(all.front());
    const auto told = ThreadTeam::run(members, [&](const Team& team) {
        const IndexRange mine = Hosts(processes, members).processes_of(team.rank());
        std::vector<std::vector<double>> hosted;
        for (const auto& list : all) hosted.emplace_back(list.begin() + mine.begin, list.begin() + mine.end);
        std::array<std::int64_t, 2> also{1, team.rank()};
        const std::vector<OverAll> over = over_all(team, processes, hosted, also);
        return std::pair(over, also);
    });
    for (const auto& [over, also] : told) {
        REQUIRE(also == std::array<std::int64_t, 2>{members, members * (members - 1) / 2});
        REQUIRE(std::ranges::equal(over, told[0].first, same));
    }
    return told[0].first;
}

}  // namespace

TEST_CASE("sums over processes are the same on any number of members, and nearly exact") {
    std::mt19937_64 random(7);
    for (int c = 0; c < 40; ++c) {
        const int processes = static_cast<int>(c % 4 < 2 ? 1 + random() % 300 : most_known_to_one + 1 + random() % 300);
        std::uniform_real_distribution<double> exponent(c % 2 ? -300 : -3, c % 2 ? 290 : 3), mantissa(1, 2);
        std::vector<std::vector<double>> lists(2, std::vector<double>(processes));
        for (auto& list : lists)
            for (double& v : list) v = random() % 8 == 0 ? 0 : std::ldexp(mantissa(random), int(exponent(random)));
        const std::vector<OverAll> alone = of_team(1, lists);
        for (std::size_t i = 0; i < lists.size(); ++i) {
            long double sum = 0;
            for (const double v : lists[i]) sum += v;
            const double few = processes <= most_known_to_one ? processes : 1;  // sums in doubles, one after the other
            CHECK(alone[i].sum == Approx(static_cast<double>(sum)).epsilon(1e-15 * few));
            CHECK(alone[i].mean == Approx(static_cast<double>(sum / processes)).epsilon(1e-15 * few));
            CHECK(alone[i].largest == std::ranges::max(lists[i]));
        }
        for (const int members : test::teams({2, 7, 400})) {  // also more members than processes
            const std::vector<OverAll> shared = of_team(members, lists);
            CHECK(std::ranges::equal(shared, alone, same));
        }
    }
}

TEST_CASE("the sum of equal numbers is a multiple of them, also of tiny ones, and nothing adds up to nothing") {
    for (const double v : {0.1, 1e-9, 5e-324, 1e-310, 1.0 / 3, 1e300}) {
        const std::vector<std::vector<double>> list{std::vector(8192, v)};
        const OverAll all = over_all(SerialTeam(), 8192, list)[0];
        CHECK(all.sum == 8192 * v);
        CHECK((all.mean == v && all.largest == v));
    }
    const std::vector<std::vector<double>> lists{{0, 0}};
    for (const std::int64_t processes : {2, 5000}) CHECK(same(over_all(SerialTeam(), processes, lists)[0], OverAll{}));
}

TEST_CASE("what is not finite has no finite sum") {
    const double infinite = std::numeric_limits<double>::infinity();
    const std::vector<std::vector<double>> lists{{1, infinite, 2}, {1, 2, 3}, {-std::nan(""), infinite, 1}};
    for (const std::int64_t processes : {3, 5000}) {
        const std::vector<OverAll> all = over_all(SerialTeam(), processes, lists);
        CHECK((all[0].sum == infinite && all[0].largest == infinite));
        CHECK((all[1].sum == 6 && all[1].largest == 3));
        CHECK(std::isnan(all[2].sum));
    }
}

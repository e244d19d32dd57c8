// SPDX-License-Identifier: MIT
// Each criterion on load curves drawn by hand, where its answer is known.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "balance/criterion/criterion.hpp"

using namespace balance;

namespace {

constexpr double steps = 10;  // from one opportunity to the next

// What two processes take a step at each opportunity since the last migration: the mean and the slower one.
struct Curve {
    std::function<double(int)> mean, largest;
};

// The opportunities, from 1, at which a run balances whose loads begin anew with each migration. ends: the run ends
// with the last one, and knows it.
std::vector<int> balanced_at(const Criterion& criterion, const Curve& curve, double cost, int opportunities,
                             double reachable = 1, bool ends = false) {
    std::vector<int> at;
    std::vector<double> memory(criterion.memory_size());
    Opportunity now;
    now.steps = steps;
    now.reachable = reachable;
    int since = 0;
    for (int k = 1; k <= opportunities; ++k) {
        ++since;
        now.mean = curve.mean(since), now.largest = curve.largest(since);
        if (ends) now.left = steps * (opportunities - k);
        now.untried = ends && at.empty();
        now.lost_before = criterion.lost(now, memory);
        REQUIRE(now.lost_before >= 0);
        if (!criterion.balances(now.lost_before, cost)) continue;
        at.push_back(k);
        since = 0;
        now.lost_before = 0;
        std::fill(memory.begin(), memory.end(), 0.0);
    }
    return at;
}
std::vector<int> balanced_at(const std::string& name, const Curve& curve, double cost, int opportunities,
                             double reachable = 1, bool ends = false) {
    return balanced_at(*make_criterion({name}), curve, cost, opportunities, reachable, ends);
}

std::vector<int> multiples_of(int n, int most) {
    std::vector<int> all;
    for (int k = n; k <= most; k += n) all.push_back(k);
    return all;
}

double one(int) { return 1; }
const Curve even{one, one};                                   // nothing to gain
const Curve level{one, [](int) { return 1.5; }};              // a balancing gains nothing more
const Curve growing{one, [](int k) { return 1 + 0.1 * k; }};  // u = 0.1 k
const Curve heavier{[](int k) { return 1 + 0.1 * k; }, [](int k) { return 1 + 0.1 * k; }};  // no imbalance: more work

}  // namespace

TEST_CASE("every balances at each opportunity, never at none, whatever the times are") {
    for (const Curve& curve : {even, level, growing}) {
        CHECK(balanced_at("every", curve, 1e9, 5) == multiples_of(1, 5));
        CHECK(balanced_at("never", curve, 0, 50).empty());
    }
    std::vector<double> none;
    Opportunity now{steps, 1, 1.5};
    now.lost_before = 7;
    CHECK(make_criterion({"never"})->lost(now, none) == Approx(7 + 5));
    for (const std::string& name : criterion_names()) CHECK(make_criterion({name})->always() == (name == "every"));
}

TEST_CASE("threshold balances when the LBE is below the number given") {
    CHECK(balanced_at(*make_criterion({"threshold", 0.8}), growing, 0, 12) ==
          std::vector<int>{3, 6, 9, 12});  // LBE 1 / 1.1, 1 / 1.2, 1 / 1.3
    CHECK(balanced_at(*make_criterion({"threshold", 0.8}), growing, 1e9, 12).size() == 4);  // whatever it costs
    CHECK(balanced_at(*make_criterion({"threshold", 0.66}), level, 0, 12).empty());
    CHECK(balanced_at(*make_criterion({"threshold", 0.67}), level, 0, 12) == multiples_of(1, 12));
    CHECK(balanced_at(*make_criterion({"threshold", 1}), even, 0, 12).empty());
}

TEST_CASE("gain counts what could have been saved, and weighs the partition") {
    CHECK(make_criterion({"gain"})->weighs_partitions());
    for (const std::string& name : criterion_names())
        CHECK(make_criterion({name})->weighs_partitions() == (name == "gain"));
    // Of 0.5 s a step 0.25 s can be saved where 1 / 1.25 is the best: 2.5 s an opportunity.
    CHECK(balanced_at("gain", level, 7, 9, 0.8) == multiples_of(3, 9));
    CHECK(balanced_at("gain", level, 0, 9, 0.6).empty());
    std::vector<double> nothing(2), memory{30, 4};
    Opportunity now{steps, 1, 1.5, 20, 26, 0.8, 5};
    CHECK(make_criterion({"gain"})->lost(now, nothing) == Approx(5 + 2.5));  // of a checkpoint without memory
    CHECK(make_criterion({"gain"})->lost(now, memory) == Approx(4 + 2.5));
    now.scatters = true;  // what one process has lost over all the time
    CHECK(make_criterion({"gain"})->lost(now, memory) == Approx(1));
}

TEST_CASE("gain counts no more than what is left of the run will lose") {
    // After the first balancing 5.9 s are lost at the third opportunity, but at the eighth only 3 s are to come.
    CHECK(balanced_at("gain", growing, 5.9, 9) == multiples_of(3, 9));
    CHECK(balanced_at("gain", growing, 5.9, 9, 1, true) == std::vector<int>{2, 5});
    CHECK(balanced_at("gain", growing, 6.1, 9, 1, true) == std::vector<int>{2, 6});
    CHECK(balanced_at("gain", level, 0, 9, 1, true) == multiples_of(1, 8));  // at the end nothing is saved
    // By times that scatter, the mean loss since the last migration goes on: 1 s in 40 steps, of which 20 are left.
    std::vector<double> memory{30, 0};
    Opportunity now{steps, 1, 1.5, 20, 26, 0.8, 0, 20};
    now.scatters = true;
    CHECK(make_criterion({"gain"})->lost(now, memory) == Approx(0.5));
    CHECK(memory == std::vector<double>{40, 1});
}

TEST_CASE("gain gives up a bad start the sooner the more it will lose") {
    // 5 s an opportunity: (5 k) (5 (n - k)) > cost^2 at the first k. After that lost > cost, and ahead > cost.
    CHECK(balanced_at("gain", level, 14, 10, 1, true) == std::vector<int>{1, 4, 7});
    CHECK(balanced_at("gain", level, 16, 10, 1, true) == std::vector<int>{2, 6});
    CHECK(balanced_at("gain", level, 16, 40, 1, true).front() == 1);
    CHECK(balanced_at("gain", level, 24, 10, 1, true) == std::vector<int>{4});
    CHECK(balanced_at("gain", level, 26, 10, 1, true).empty());                  // never more to come than is lost
    CHECK(balanced_at("menon", level, 22, 10, 1, true) == multiples_of(5, 10));  // the published ones know no end
}

TEST_CASE("menon balances when the waiting since the last migration exceeds the cost") {
    CHECK(balanced_at("menon", level, 12, 9) == multiples_of(3, 9));     // 5, 10, 15
    CHECK(balanced_at("menon", growing, 5.9, 9) == multiples_of(3, 9));  // 1, 3, 6
    CHECK(balanced_at("menon", growing, 6.1, 9) == multiples_of(4, 9));
    CHECK(balanced_at("menon", even, 0, 9).empty());
    CHECK(balanced_at("menon", heavier, 0, 9).empty());
}

TEST_CASE("boulmier balances where the mean loss a step has its minimum") {
    // At opportunity k: tau u - integral = 10 k 0.1 k - 10 (0.1 + ... + 0.1 k) = k (k - 1) / 2.
    CHECK(balanced_at("boulmier", growing, 5.9, 8) == multiples_of(4, 8));
    CHECK(balanced_at("boulmier", growing, 6.1, 10) == multiples_of(5, 10));
    CHECK(balanced_at("boulmier", level, 0.1, 50).empty());  // what no balancing improves triggers none
    // The interval that a search over all finds, of equally good ones the longer, and one more before it is known.
    for (const double cost : {1.0, 10.0, 40.0, 200.0}) {
        int best = 1;
        const auto loss = [&](int n) { return (cost + 0.5 * n * (n + 1)) / n; };
        for (int n = 2; n < 100; ++n)
            if (loss(n) <= loss(best)) best = n;
        const std::vector<int> at = balanced_at("boulmier", growing, cost, 200);
        REQUIRE(!at.empty());
        CHECK(std::abs(at[0] - best) <= 1);
    }
}

TEST_CASE("zhai balances when steps have become longer by the cost, for whatever reason") {
    // Median of the last three: 0.1 (k - 1) above 1; mean since the beginning: 0.1 (k + 1) / 2 above 1; the difference
    // 0.05 (k - 3) a step, from the third on: 0, 0.5, 1.5, 3, 5.
    CHECK(balanced_at("zhai", growing, 2.9, 12) == multiples_of(6, 12));
    CHECK(balanced_at("zhai", growing, 3.1, 14) == multiples_of(7, 14));
    CHECK(balanced_at("zhai", heavier, 2.9, 12) == multiples_of(6, 12));
    CHECK(balanced_at("zhai", level, 0.1, 50).empty());
    const Curve once{one, [](int k) { return k == 5 ? 9.0 : 1.5; }};  // one that stands out is no median
    CHECK(balanced_at("zhai", once, 0, 30).empty());
}

TEST_CASE("zhai weighs intervals by their steps") {
    const std::unique_ptr<Criterion> zhai = make_criterion({"zhai"});
    std::vector<double> memory(zhai->memory_size());
    Opportunity now{1, 1, 1};
    zhai->lost(now, memory);
    now.steps = 7, now.largest = 2;
    zhai->lost(now, memory);
    now.steps = 2, now.largest = 3;
    // Median 2; mean (1 + 14 + 6) / 10 = 2.1: nothing lost. Then median 3 and mean (21 + 30) / 20 = 2.55, 10 steps.
    CHECK(zhai->lost(now, memory) == 0);
    now.steps = 10, now.largest = 3;
    CHECK(zhai->lost(now, memory) == Approx(-2 * 0.1 + 10 * 0.45));
}

TEST_CASE("procassini balances when the efficiency after the last balancing would save the cost") {
    // LBE 1 / 1.1 at first; at k the interval takes 10 (1 + 0.1 k) and would take 10 * 1.1: k - 1 seconds are saved.
    CHECK(balanced_at("procassini", growing, 2.9, 8) == multiples_of(4, 8));
    CHECK(balanced_at("procassini", growing, 3.1, 10) == multiples_of(5, 10));
    CHECK(balanced_at("procassini", level, 0, 50).empty());
    CHECK(balanced_at("procassini", heavier, 0, 50).empty());
    const Curve better{one, [](int k) { return 1 + 1.0 / k; }};
    CHECK(balanced_at("procassini", better, 0, 50).empty());
}

TEST_CASE("a criterion balances no sooner where a balancing costs more") {
    for (const std::string& name : criterion_names()) {
        CAPTURE(name);
        std::size_t before = 1000;
        for (const double cost : {0.0, 0.5, 2.0, 8.0, 32.0}) {
            const std::size_t now = balanced_at(name, growing, cost, 100).size();
            CHECK(now <= before);
            before = now;
        }
    }
}

TEST_CASE("names are those of the deck, each once, and an unknown one is refused") {
    const std::vector<std::string> names = criterion_names();
    CHECK(names.front() == "gain");
    CHECK(std::set<std::string>(names.begin(), names.end()).size() == names.size());
    CHECK_THROWS_AS(make_criterion({"always"}), std::invalid_argument);
}

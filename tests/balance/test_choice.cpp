// SPDX-License-Identifier: MIT
// When a run chooses another candidate: by ratings that are more than noise.
#include <catch2/catch.hpp>
#include <limits>
#include <random>

#include "balance/round.hpp"

using namespace balance;

namespace {

// Candidates that took these excesses at each look; the first one is in use.
std::vector<BalancedModel> rated(const std::vector<std::vector<double>>& looks) {
    std::vector<BalancedModel> all(looks.front().size());
    for (const std::vector<double>& look : looks)
        for (std::size_t i = 0; i < all.size(); ++i) all[i].rating.add(look[i], look[0]);
    return all;
}

}  // namespace

TEST_CASE("the best candidate is chosen if it is better by more than the margin") {
    const auto all = rated({{0.10, 0.08, 0.05}, {0.11, 0.08, 0.06}, {0.12, 0.10, 0.07}, {0.10, 0.07, 0.05}});
    CHECK(best_of(all, 0, 0.002) == 2);
    CHECK(best_of(all, 0, 0.06) == 0);
}

TEST_CASE("two looks are too few, and equal candidates change nothing") {
    CHECK(best_of(rated({{0.1, 0}, {0.1, 0}}), 0, 0.002) == 0);
    CHECK(best_of(rated({{0.1, 0.1}, {0.2, 0.2}, {0.1, 0.1}}), 0, 0) == 0);
    CHECK(best_of(rated({{0.1, 0}, {0.1, 0}, {0.1, 0}}), 0, 0.002) == 1);
}

TEST_CASE("noise is rarely taken for a difference, and a difference is found in noise") {
    std::mt19937 random(3);
    std::normal_distribution<double> noise(0, 0.02);
    int wrong = 0, found = 0;
    constexpr int runs = 400, looks = 12;
    for (int run = 0; run < runs; ++run) {
        std::vector<std::vector<double>> alike, unlike;
        for (int i = 0; i < looks; ++i) {
            alike.push_back({0.1 + noise(random), 0.1 + noise(random)});
            unlike.push_back({0.1 + noise(random), 0.06 + noise(random)});
        }
        wrong += best_of(rated(alike), 0, 0.002) != 0;
        found += best_of(rated(unlike), 0, 0.002) != 0;
    }
    CHECK(wrong < runs / 12);
    CHECK(found > runs * 9 / 10);
}

TEST_CASE("a jump that all but one candidate missed once is no reason") {
    CHECK(best_of(rated({{0.02, 0.02}, {0.02, 0.02}, {0.9, 0.02}, {0.02, 0.02}}), 0, 0.002) == 0);
}

TEST_CASE("a rating and a choice come back from their numbers, and nonsense does not") {
    const Rating rating = rated({{0.1, 0.2}, {0.3, 0.1}})[1].rating;
    const auto again = Rating::from_numbers(rating.to_numbers());
    REQUIRE(again);
    CHECK(again->to_numbers() == rating.to_numbers());
    for (const double bad : {-1.0, std::numeric_limits<double>::quiet_NaN(), 1e300}) {
        auto numbers = rating.to_numbers();
        numbers[0] = bad;
        CHECK(!Rating::from_numbers(numbers));
    }
    Candidates candidates;
    candidates.models.resize(3), candidates.partitions.resize(2);
    Choice choice;
    CHECK(choice.restore(std::vector<std::int64_t>{2, 1, 3, 16}, candidates));
    CHECK(choice.to_numbers() == std::vector<std::int64_t>{2, 1, 3, 16});
    for (const auto& bad : std::vector<std::vector<std::int64_t>>{
             {3, 0, 0, 1}, {0, 2, 0, 1}, {0, 0, 4, 1}, {0, 0, 0, 0}, {-1, 0, 0, 1}, {0, 0, 0}})
        CHECK(!choice.restore(bad, candidates));
}

TEST_CASE("a trial begins with the update that is due, if there is time for it") {
    Choice choice;
    choice.next = 16;
    CHECK(!choice.tries(15, {}));
    CHECK(choice.tries(16, {}));
    CHECK(choice.tries(16, 0.1));
    CHECK(!choice.tries(16, -0.1));
    choice.round = 1;
    CHECK(choice.tries(3, -0.1));
}

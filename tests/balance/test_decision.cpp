// SPDX-License-Identifier: MIT
// When a migration pays, by both clocks.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <memory>

#include "balance/decision.hpp"

using namespace balance;

namespace {

const std::unique_ptr<Criterion> gain = make_criterion({"gain"}), every = make_criterion({"every"}),
                                 menon = make_criterion({"menon"});

void observe(History& history, Watch& watch, std::span<const double> times, double steps, BalanceClock clock,
             const Criterion& criterion) {
    spend(times, steps, watch);
    const std::vector<std::vector<double>> lists{{times.begin(), times.end()}, watch.spent};
    const std::vector<OverAll> over = over_all(SerialTeam(), std::ssize(times), lists);
    account(history, watch, over[0], over[1], steps, clock, criterion);
}

}  // namespace

TEST_CASE("by counted work the losses of all intervals add up until a migration pays") {
    History h;
    h.lbe_reachable = 0.9;
    h.move_seconds = 1.0;
    Watch watch;
    const std::vector<double> times{1, 2, 3};  // mean 2: the best known partition would need 2 / 0.9 a step
    const double lost = 3 - 2 / 0.9;
    int intervals = 0;
    while (decide(h, *gain) == Decision::kept_gain && intervals < 1000) {
        observe(h, watch, times, 0.5, BalanceClock::work, *gain);
        ++intervals;
        CHECK(h.lost_seconds == Approx(intervals * 0.5 * lost));
    }
    CHECK(intervals == static_cast<int>(std::floor(1.0 / (0.5 * lost))) + 1);
    CHECK(h.sum_mean == Approx(2.0 * intervals));
    CHECK(h.sum_max == Approx(3.0 * intervals));
    CHECK(watch.spent == std::vector<double>{0.5 * intervals, 1.0 * intervals, 1.5 * intervals});
}

TEST_CASE("by the wall clock a process that is slow now and then is not the slowest of the whole time") {
    History steady, jumping;
    Watch watch_steady, watch_jumping;
    for (int i = 0; i < 30; ++i) {
        std::vector<double> times{1, 1, 1};
        times[i % 3] = 2;  // another one each time: together they are even
        observe(jumping, watch_jumping, times, 10, BalanceClock::wall, *gain);
        observe(steady, watch_steady, std::vector<double>{1, 1, 2}, 10, BalanceClock::wall, *gain);
    }
    CHECK(jumping.lost_seconds == Approx(0).margin(1e-9));
    CHECK(steady.lost_seconds == Approx(30 * 10 * (2 - 4.0 / 3)));
}

TEST_CASE("a partition better than the one that was promised loses nothing") {
    for (const BalanceClock clock : {BalanceClock::work, BalanceClock::wall}) {
        History h;
        h.lbe_reachable = 0.5;
        h.updates = 1;
        Watch watch;
        observe(h, watch, std::vector<double>{1, 1.2}, 5, clock, *gain);
        CHECK(h.lost_seconds == 0);
        CHECK(decide(h, *gain) == Decision::kept_gain);
        // But loads that no measured time has changed yet are refuted by it, and say nothing of what could be reached.
        History first;
        first.lbe_reachable = 0.5;
        watch = {};
        observe(first, watch, std::vector<double>{1, 1.2}, 5, clock, *gain);
        CHECK(first.lost_seconds == Approx(5 * 0.1));
        first = {};
        first.lbe_reachable = 0.95;  // not refuted
        watch = {};
        observe(first, watch, std::vector<double>{1, 1.2}, 5, clock, *gain);
        CHECK(first.lost_seconds == Approx(5 * (1.2 - 1.1 / 0.95)));
    }
}

TEST_CASE("the decision: a criterion asks for a balancing, and gain weighs its partition, too") {
    History h;
    h.lost_seconds = 1, h.move_seconds = 2;
    const Moved some{3, 40}, nothing{0, 0};
    CHECK(decide(h, *gain) == Decision::kept_gain);
    CHECK(decide(h, *menon) == Decision::kept_criterion);
    CHECK(decide(h, *every) == Decision::none);
    CHECK(decide(h, *gain, true, some) == Decision::kept_gain);
    CHECK(decide(h, *gain, true, nothing) == Decision::kept_gain);
    CHECK(decide(h, *menon, true, some) == Decision::moved);  // it was asked before the partition was made
    CHECK(decide(h, *every, true, some) == Decision::moved);
    CHECK(decide(h, *every, true, nothing) == Decision::kept_same);
    CHECK(decide(h, *gain, false, some) == Decision::moved);  // the first partition, before anything was measured
    h.lost_seconds = 2;
    CHECK(decide(h, *gain, true, some) == Decision::kept_gain);  // as much as it costs is not more
    CHECK(decide(h, *menon) == Decision::kept_criterion);
    h.lost_seconds = 2.001;
    CHECK(decide(h, *gain, true, some) == Decision::moved);
    CHECK(decide(h, *gain, true, nothing) == Decision::kept_same);
    CHECK(decide(h, *menon) == Decision::none);
    h.lost_seconds = 1;  // of a cost of 2, of which 1.5 were spent by making the partition
    CHECK(decide(h, *gain, true, some, 1.5) == Decision::moved);
    CHECK(decide(h, *gain, true, some, 1) == Decision::kept_gain);
}

TEST_CASE("times before the first measured update are told apart") {
    History h;
    Watch watch;
    observe(h, watch, std::vector<double>{1, 3}, 1, BalanceClock::work, *every);
    h.updates = 1;
    observe(h, watch, std::vector<double>{2, 2}, 1, BalanceClock::work, *every);
    CHECK((h.early_mean == 2 && h.early_max == 3));
    CHECK((h.sum_mean == 4 && h.sum_max == 5));
    CHECK(h.lost_seconds == 0);  // nobody asks what was lost
}

TEST_CASE("the memory of a criterion stays until a migration") {
    const std::unique_ptr<Criterion> boulmier = make_criterion({"boulmier"});
    History h;
    Watch watch;
    observe(h, watch, std::vector<double>{1, 3}, 10, BalanceClock::work, *boulmier);
    CHECK(watch.memory == std::vector<double>{10, 10});
    observe(h, watch, std::vector<double>{1, 5}, 10, BalanceClock::work, *boulmier);
    CHECK(watch.memory == std::vector<double>{20, 30});
    CHECK(h.lost_seconds == Approx(20 * 2 - 30));
    watch = {};
    observe(h, watch, std::vector<double>{1, 5}, 10, BalanceClock::work, *boulmier);
    CHECK(h.lost_seconds == 0);
}

TEST_CASE("a history survives as numbers, and nonsense is refused") {
    History h{10, 12, 1, 2, 0.9, 500, 0.8, 70, 3, 4, 5};
    const auto numbers = h.to_numbers();
    CHECK(History::from_numbers(numbers).to_numbers() == numbers);
    CHECK(History::from_numbers(numbers).load_step == 70);
    CHECK(History::accepts(numbers, 2, 70));
    CHECK_FALSE(History::accepts(std::span(numbers).first(10), 2, 70));
    const auto refused = [&](std::size_t place, double value) {
        auto changed = numbers;
        changed[place] = value;
        return !History::accepts(changed, 2, 70);
    };
    for (std::size_t i = 0; i < numbers.size(); ++i) CHECK((refused(i, -1) && refused(i, NAN) && refused(i, 1e31)));
    CHECK(refused(0, 12.1));  // a mean above its maximum
    CHECK(refused(4, 0));
    CHECK(refused(4, 1.1));
    CHECK(refused(6, 1.1));
    CHECK(refused(8, 10.1));
    CHECK(refused(9, 12.1));
    CHECK(refused(8, 1e-9));  // the rest then has a larger mean than maximum
    CHECK(refused(1, 20.1));  // a mean that is less than half the maximum, of two processes
    CHECK(refused(9, 6.1));   // likewise before the first measured update
    CHECK(refused(7, 71));    // loads of a step to come
    CHECK(refused(7, 69.5));
    CHECK(refused(5, 0.5));
    CHECK(refused(10, 0.5));
}

// SPDX-License-Identifier: MIT
#include <catch2/catch.hpp>
#include <random>
#include <vector>

#include "balance/model/least_squares.hpp"

using namespace balance;

TEST_CASE("the fit finds what a combination is made of, and nothing negative") {
    std::mt19937_64 random(7);
    std::uniform_real_distribution<double> up_to_one(0, 1);
    for (int i = 0; i < 200; ++i) {
        Unknowns truth{};
        for (double& t : truth) t = random() % 3 == 0 ? 0 : 1e-9 * up_to_one(random);
        std::vector<Unknowns> rows;
        std::vector<double> values;
        for (int r = 0; r < 12; ++r) {
            rows.push_back(
                {1e3 * up_to_one(random), 1e4 * up_to_one(random), 1e6 * up_to_one(random), 1e5 * up_to_one(random)});
            values.push_back(0);
            for (int k = 0; k < unknowns; ++k) values.back() += rows.back()[k] * truth[k];
        }
        const Unknowns found = least_squares(rows, values);
        for (int k = 0; k < unknowns; ++k) CHECK(found[k] == Approx(truth[k]).margin(1e-15));
        for (double& v : values) v *= up_to_one(random);  // what no combination makes
        for (const double x : least_squares(rows, values)) CHECK(x >= 0);
    }
    // Columns that are multiples of each other: one of them stands for both.
    const std::vector<Unknowns> same{{1, 2, 0, 0}, {2, 4, 0, 0}};
    const std::vector<double> values{3, 6};
    const Unknowns found = least_squares(same, values);
    CHECK(found[0] + 2 * found[1] == Approx(3));
}

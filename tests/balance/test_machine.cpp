// SPDX-License-Identifier: MIT
#include <catch2/catch.hpp>
#include <cmath>

#include "balance/nested/machine.hpp"
#include "balance/nested/nested.hpp"

using namespace balance;

TEST_CASE("resources are the cores of each CPU and then the accelerators, node by node") {
    const MachineSpec machine{{{2, 2, 1, 1.5, 9}, {1, 1, 0, 2, 12}}};
    const std::vector<Resource> expected{{ResourceKind::core, 0, 0, 1.5},       {ResourceKind::core, 0, 0, 1.5},
                                         {ResourceKind::core, 0, 1, 1.5},       {ResourceKind::core, 0, 1, 1.5},
                                         {ResourceKind::accelerator, 0, -1, 9}, {ResourceKind::core, 1, 0, 2}};
    CHECK(resources_of(machine) == expected);
    CHECK(machine.nodes[0].resources() == 5);
    CHECK(machine.nodes[0].speed() == 15);
    CHECK(word_of(ResourceKind::accelerator) == "accelerator");
}

TEST_CASE("machines that can't compute are refused") {
    CHECK_THROWS_AS(resources_of({}), std::invalid_argument);
    for (const NodeSpec& node : {NodeSpec{0, 1}, NodeSpec{1, 0}, NodeSpec{1, 1, -1}, NodeSpec{1, 1, 0, 0.0},
                                 NodeSpec{1, 1, 0, std::nan("")}, NodeSpec{1, 1, 1, 1, INFINITY}})
        CHECK_THROWS_AS(resources_of({{node}}), std::invalid_argument);
    CHECK_NOTHROW(resources_of({{NodeSpec{1, 1, 0, 1, 0}}}));  // no accelerator, so its speed means nothing
    const SerialTeam alone;
    CHECK_THROWS_AS(nested_partition(alone, {{2, 1, 1}, {}}, {}, {std::vector<NodeSpec>(3)}, {}),
                    std::invalid_argument);
}

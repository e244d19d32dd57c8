// SPDX-License-Identifier: MIT
// Bisections by teams: the same as by one member alone, whatever the loads, and no member holds or sends much.
#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <numeric>
#include <random>
#include <string>

#include "balance/partition/bisection.hpp"
#include "random_partition.hpp"
#include "sanitized.hpp"
#include "thread_team.hpp"

using namespace balance;

namespace {

struct Problem {
    std::string name;
    Grid grid;
    std::int64_t (*load)(const Grid&, int, int, int);
    std::int64_t parts;
    int width = 1;
    bool targets = false;

    std::vector<std::int64_t> loads(const Box& box, int round) const {
        std::vector<std::int64_t> all;
        for_each_cell(box, [&](int x, int y, int z) { all.push_back(load(grid, (x + round) % grid.cells[0], y, z)); });
        return all;
    }
    std::vector<double> of_parts() const {
        std::vector<double> some;
        for (std::int64_t p = 0; targets && p < parts; ++p)
            some.push_back(p % 5 == 0 ? 4 : 1 + 0.1 * static_cast<double>(p % 3));
        return some;
    }
};

std::int64_t uneven(const Grid&, int x, int y, int z) { return 100 + (x * 31 + y * 17 + z * 11) % 97; }
// Nothing in 80 % of the cells.
std::int64_t vacuum(const Grid& g, int x, int y, int z) { return x < g.cells[0] / 5 ? uneven(g, x, y, z) : 0; }
// Hardly anything in 99 % of them.
std::int64_t thin(const Grid& g, int x, int y, int z) {
    const bool dense = x < g.cells[0] / 10 && y < g.cells[1] / 10;
    return dense ? 1000 * uneven(g, x, y, z) : (x + y + z) % 2;
}
std::int64_t one_cell(const Grid& g, int x, int y, int z) {
    return x == g.cells[0] / 3 && y == g.cells[1] / 2 && z == g.cells[2] / 2 ? 1000000 : 0;
}
// In four lines of cells. One round later the first of them is the last, and another count of parts than before would
// be better than that which is kept.
std::int64_t lumps(const Grid& g, int x, int, int) {
    constexpr std::array loads{10, 30, 25, 35};
    const int quarter = g.cells[0] / 4;
    return x % quarter == 0 && x / quarter < 4 ? loads[x / quarter] : 0;
}
std::int64_t nothing(const Grid&, int, int, int) { return 0; }

const Grid flat{{61, 47, 1}, {}}, tiny{{5, 7, 1}, {}}, column{{1, 90, 1}, {}}, space{{14, 11, 17}, {}, 3},
    long_ones{{5000, 3, 1}, {}};

const Problem problems[] = {{"uneven", flat, uneven, 150, 2},
                            {"as many parts as cells", tiny, uneven, 35},
                            {"two parts", flat, vacuum, 2},
                            {"one part", flat, uneven, 1},
                            {"vacuum", flat, vacuum, 400},
                            {"thin", flat, thin, 700},
                            {"thin, targets", flat, thin, 301, 1, true},
                            {"one cell", flat, one_cell, 200},
                            {"no loads", flat, nothing, 130, 3},
                            {"column", column, uneven, 37},
                            {"many lines", long_ones, uneven, 150, 2},
                            {"many lines, vacuum, targets", long_ones, vacuum, 331, 1, true},
                            {"many lines, one cell", long_ones, one_cell, 90},
                            {"many lines, no loads", long_ones, nothing, 77},
                            {"many lines, lumps", long_ones, lumps, 5},
                            {"many lines, few parts", long_ones, vacuum, 3, 3},
                            {"space", space, uneven, 200},
                            {"space, wide", space, thin, 40, 2, true},
                            {"space, vacuum", space, vacuum, 500}};

// The boxes of three rounds, whose loads differ, and the memory after them.
struct Made {
    std::vector<std::vector<Box>> boxes;
    std::vector<Split> memory;
    friend bool operator==(const Made&, const Made&) = default;
};
Made alone(const Problem& p, std::vector<Split> memory) {
    Made made;
    const Box all = p.grid.box();
    for (int round = 0; round < 3; ++round)
        made.boxes.push_back(bisect(all, SummedArea(all, p.loads(all, round)), p.parts, p.width, memory, p.of_parts()));
    made.memory = std::move(memory);
    return made;
}
Made together(const Problem& p, const Team& team, const std::vector<Split>& memory) {
    Made made;
    Scattered<Split> kept(team, memory);
    for (int round = 0; round < 3; ++round) {
        const std::vector<std::int64_t> load = p.loads(Homes{p.grid, team.size()}.of(team.rank()), round);
        const Leaves mine = bisect(team, p.grid, load, p.parts, p.width, kept, p.of_parts());
        made.boxes.push_back(all_gather<Box>(team, mine.boxes));
        const std::array numbers{mine.first, std::ssize(mine.boxes)};
        std::int64_t before = 0, member = 0;
        for (const auto& [first, parts] : all_gather<std::array<std::int64_t, 2>>(team, std::span(&numbers, 1))) {
            if (first != before) throw std::logic_error("parts of members do not follow each other");
            before += parts, ++member;
        }
    }
    made.memory = kept.whole(team);
    return made;
}
// As if loads had been altogether different before, or a file had been tampered with.
std::vector<Split> any_memory(const Problem& p) {
    std::mt19937 random(5);
    std::vector<Split> memory;
    for (std::int64_t id = 0; id + 1 < 2 * p.parts; ++id)
        memory.push_back({static_cast<std::int32_t>(random() % (p.grid.dimensions + 1)) - 1,
                          static_cast<std::int32_t>(random() % p.parts)});
    return memory;
}

void check_teams(const std::vector<int>& sizes, const auto& memory_of) {
    std::vector<Made> expected;
    for (const Problem& p : problems) expected.push_back(alone(p, memory_of(p)));
    for (const int members : sizes) {
        const auto good = ThreadTeam::run(members, [&](const Team& team) {
            std::vector<bool> same;
            for (std::size_t i = 0; i < std::size(problems); ++i)
                same.push_back(together(problems[i], team, memory_of(problems[i])) == expected[i]);
            return same;
        });
        for (std::size_t i = 0; i < std::size(problems); ++i) {
            CAPTURE(members, problems[i].name);
            CHECK(std::all_of(good.begin(), good.end(), [&](const auto& same) { return same[i]; }));
        }
    }
}

// Of the second of two bisections, with the memory of the first one or without: the most of any member.
struct Taken {
    ThreadTeam::Counts counts;
    std::int64_t parts = 0, remembered = 0;
};
Taken most_taken(const Problem& p, int members, bool sticky) {
    const auto all = ThreadTeam::run(members, [&](const Team& team) {
        const std::vector<std::int64_t> load = p.loads(Homes{p.grid, team.size()}.of(team.rank()), 0);
        Scattered<Split> memory;
        bisect(team, p.grid, load, p.parts, p.width, memory);  // makes the blocks of the team
        const ThreadTeam::Counts before = ThreadTeam::counts_of(team);
        if (!sticky) memory = {};
        const Leaves mine = bisect(team, p.grid, load, p.parts, p.width, memory);
        Taken taken{ThreadTeam::counts_of(team), std::ssize(mine.boxes), std::ssize(memory.mine())};
        taken.counts.messages -= before.messages, taken.counts.collectives -= before.collectives;
        return taken;
    });
    Taken most;
    for (const Taken& t : all) {
        most.counts.messages = std::max(most.counts.messages, t.counts.messages);
        most.counts.collectives = std::max(most.counts.collectives, t.counts.collectives);
        most.counts.largest_transfer = std::max(most.counts.largest_transfer, t.counts.largest_transfer);
        most.counts.gathered = std::max(most.counts.gathered, t.counts.gathered);
        most.parts = std::max(most.parts, t.parts);
        most.remembered = std::max(most.remembered, t.remembered);
    }
    return most;
}

}  // namespace

TEST_CASE("a team of any size bisects any loads as one member does, from scratch and from memory") {
    check_teams(test::teams({2, 3, 7, 33}), [](const Problem&) { return std::vector<Split>(); });
}

TEST_CASE("a team bisects as one member does from a memory in which nothing fits") {
    check_teams(test::teams({3, 33}), any_memory);
}

TEST_CASE("a cut that is remembered along an axis without room for it is forgotten") {
    const Box line{{0, 0, 0}, {1, 20, 1}};
    const SummedArea loads(line, std::vector<std::int64_t>(20, 1));
    std::vector<Split> none, memory;
    bisect(line, loads, 5, 1, none);
    memory.assign(none.size(), {});
    memory[0] = {0, 5 - none[0].left};
    bisect(line, loads, 5, 1, memory);
    CHECK(memory[0].axis == 1);
    CHECK(memory[0].left == none[0].left);
}

TEST_CASE("the first cut is the best of all with 40 to 60 % of the parts on each side") {
    std::mt19937_64 random(8);
    for (int trial = 0; trial < 300; ++trial) {
        const int length = 5 + static_cast<int>(random() % 60);
        const Box row{{0, 0, 0}, {length, 3, 1}};
        const std::int64_t parts = 2 + static_cast<std::int64_t>(random() % std::min<std::uint64_t>(length, 30));
        std::vector<std::int64_t> load(row.cells(), 0);
        for (std::int64_t& l : load)
            if (trial % 3 == 0 || random() % 8 == 0)
                l = 1 + static_cast<std::int64_t>(random() % (trial % 2 ? 10 : 1000));
        load[0] = 1;
        std::vector<double> targets;
        for (std::int64_t p = 0; trial % 4 == 0 && p < parts; ++p) targets.push_back(1 + double(random() % 7));
        const auto target = [&](std::int64_t begin, std::int64_t end) {
            return targets.empty() ? double(end - begin)
                                   : std::accumulate(targets.begin() + begin, targets.begin() + end, 0.0);
        };
        const SummedArea sums(row, load);
        const auto worse = [&](int at, std::int64_t left) {
            return std::max(double(sums.of({{0, 0, 0}, {at, 3, 1}})) / target(0, left),
                            double(sums.of({{at, 0, 0}, {length, 3, 1}})) / target(left, parts));
        };
        double best = 1e300;
        for (int at = 1; at < length; ++at)
            for (std::int64_t left = 1; left < parts; ++left) {
                const bool even = left >= std::min(parts / 2, (2 * parts + 4) / 5) &&
                                  left <= std::max(parts - parts / 2, 3 * parts / 5);
                if (even && left <= 3 * at && parts - left <= 3 * (length - at)) best = std::min(best, worse(at, left));
            }
        std::vector<Split> memory;
        const std::vector<Box> boxes = bisect(row, sums, parts, 1, memory, targets);
        REQUIRE(memory[0].axis == 0);
        const std::int64_t left = memory[0].left;
        int at = 0;
        for (std::int64_t p = 0; p < left; ++p) at = std::max(at, boxes[p].upper[0]);
        CAPTURE(trial, length, parts, left, at);
        CHECK(worse(at, left) <= best * (1 + 1e-12));
    }
}

TEST_CASE("no member of a bisecting team gets more than a few times its share of cells and parts, or many messages") {
    const Grid wide{{240, 180, 1}, {}}, deep{{35, 30, 40}, {}, 3};
    for (const Problem& p : {Problem{"uneven", wide, uneven, 800},
                             {"vacuum", wide, vacuum, 800},
                             {"thin", wide, thin, 800},
                             {"one cell", wide, one_cell, 800},
                             {"few parts", wide, thin, 70},
                             {"space", deep, uneven, 800},
                             {"space, thin", deep, thin, 800}})
        for (const int members : test::teams({33, 130}))
            for (const bool sticky : {false, true}) {
                const Taken most = most_taken(p, members, sticky);
                const double share = static_cast<double>(p.grid.box().cells()) / members,
                             cells = static_cast<double>(most.counts.largest_transfer) / sizeof(std::int64_t);
                CAPTURE(p.name, members, sticky, share, cells, most.counts.messages, most.counts.collectives,
                        most.parts);
                CHECK(cells < 4 * share);
                CHECK(most.counts.messages <= 40);
                CHECK(most.counts.collectives <= 20);
                CHECK(most.counts.gathered == 0);
                // Where cells are dear there may be as many parts as cells.
                CHECK(static_cast<double>(most.parts) < 4 * share);
                if (p.load == uneven) CHECK(most.parts * members <= 4 * p.parts);
                CHECK(most.remembered * members < 2 * p.parts + 2 * members);
            }
}

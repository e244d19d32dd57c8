// SPDX-License-Identifier: MIT
// Partitions as a team makes them: the same whatever its size. Runs under mpiexec.
#include <catch2/catch.hpp>

#include <cmath>
#include <set>

#include "balance/curve.hpp"
#include "balance/partition.hpp"
#include "comm/team.hpp"

using namespace balance;

namespace {

const Grid grid{{61, 47, 1}, {true, false, false}};

// A hot stripe, an empty corner.
std::int64_t load_at(int x, int y) { return x < 15 && y < 20 ? 0 : x > 30 && x < 36 ? 9000 + 13 * y : 1000 + (x * 31 + y * 17) % 200; }
std::int64_t size_at(int x, int y) { return x < 15 && y < 20 ? 0 : 1 + (x + y) % 3; }

struct Field {
    std::vector<std::int64_t> load, size;
    explicit Field(const Box& slab, int shift = 0) {
        for (int x = slab.lower[0]; x < slab.upper[0]; ++x)
            for (int y = 0; y < slab.upper[1]; ++y) load.push_back(load_at((x + shift) % grid.cells[0], y)), size.push_back(size_at(x, y));
    }
};

const comm::Communicator& world() {
    static const comm::Communicator w;
    return w;
}

struct Loads {
    double efficiency;
    std::int64_t largest_size;
};
Loads loads_of(const Partition& p) {
    double sum = 0, largest = 0;
    std::int64_t size = 0;
    for (std::int64_t q = 0; q < p.processes(); ++q) {
        std::int64_t load = 0, n = 0;
        for (std::int64_t b = p.first[q]; b < p.first[q + 1]; ++b)
            for (int x = p.boxes[b].lower[0]; x < p.boxes[b].upper[0]; ++x)
                for (int y = p.boxes[b].lower[1]; y < p.boxes[b].upper[1]; ++y) load += load_at(x, y), n += size_at(x, y);
        sum += static_cast<double>(load), largest = std::max(largest, static_cast<double>(load)), size = std::max(size, n);
    }
    return {sum / static_cast<double>(p.processes()) / largest, size};
}

void check_tiling(const Partition& p) {
    std::vector<int> owners(grid.box().cells(), 0);
    for (const Box& b : p.boxes) {
        CHECK_FALSE(b.empty());
        for (int x = b.lower[0]; x < b.upper[0]; ++x)
            for (int y = b.lower[1]; y < b.upper[1]; ++y) ++owners[x * grid.cells[1] + y];
    }
    CHECK(std::all_of(owners.begin(), owners.end(), [](int n) { return n == 1; }));
}

}  // namespace

TEST_CASE("every partition tiles the grid, keeps its limit and does not depend on the team") {
    const comm::Ranks ranks(world());
    const Alone alone;
    const Field mine(Slabs{grid, ranks.size()}.of(ranks.rank())), whole(grid.box());
    std::vector<PartitionOptions> all;
    for (const CutAt cut : {CutAt::patches, CutAt::strips, CutAt::cells})
        for (const Order order : {Order::morton, Order::hilbert, Order::tree})
            for (const std::int64_t k : {1, 3})
                for (const bool limited : {false, true}) {
                    PartitionOptions o;
                    o.order = order, o.cut = cut, o.patches_per_process = k, o.max_size = !limited ? 0 : cut == CutAt::patches ? 1200 : 400, o.processes = 17;
                    all.push_back(o);
                }
    for (const std::string& kind : partition_kind_names()) {
        if (kind == "chain") continue;
        PartitionOptions o;
        o.kind = kind, o.processes = 17;
        all.push_back(o);
    }
    for (const PartitionOptions& o : all) {
        std::vector<Split> memory, memory_alone;
        const Partition p = make_partition(ranks, grid, mine.load, mine.size, o, memory);
        const Partition q = make_partition(alone, grid, whole.load, whole.size, o, memory_alone);
        CAPTURE(o.kind, static_cast<int>(o.cut), static_cast<int>(o.order), o.patches_per_process, o.max_size);
        const bool same = p == q && memory == memory_alone;
        CHECK(same);
        CHECK(p.processes() == 17);
        check_tiling(p);
        const Loads l = loads_of(p);
        if (o.max_size > 0) CHECK(l.largest_size <= o.max_size);
        else if (o.kind == "chain") CHECK(l.efficiency > (o.cut == CutAt::cells ? 0.93 : o.cut == CutAt::strips ? 0.75 : 0.5));
    }
    PartitionOptions o;
    o.processes = 17, o.max_size = 100;
    std::vector<Split> memory;
    // The smallest limit that works; 0: the present one does.
    const auto smallest = [&](const Team& team, const Field& field) -> std::int64_t {
        memory.clear();
        try {
            make_partition(team, grid, field.load, field.size, o, memory);
        } catch (const Infeasible& e) {
            return e.smallest;
        }
        return 0;
    };
    o.max_size = smallest(alone, whole);
    CHECK(o.max_size > 100);
    CHECK(smallest(ranks, mine) == 0);
    --o.max_size;
    CHECK(smallest(ranks, mine) == o.max_size + 1);
    o.kind = "simulated annealing";
    CHECK_THROWS_AS(make_partition(ranks, grid, mine.load, mine.size, o, memory), std::invalid_argument);
}

TEST_CASE("a sticky bisection keeps its axes and counts, and moves fewer cells") {
    const comm::Ranks ranks(world());
    const Box slab = Slabs{grid, ranks.size()}.of(ranks.rank());
    const auto moved = [&](bool sticky) {
        PartitionOptions o;
        o.processes = 25, o.sticky = sticky, o.order = Order::tree;
        std::vector<Split> memory;
        std::vector<int> before;
        std::int64_t cells = 0;
        for (int step = 0; step < 12; ++step) {
            const Field f(slab, step);
            const std::vector<Split> last = memory;
            const Partition p = make_partition(ranks, grid, f.load, f.size, o, memory);
            if (sticky && step > 0) CHECK(memory == last);
            std::vector<int> owner(grid.box().cells());
            for (std::int64_t q = 0; q < p.processes(); ++q)
                for (std::int64_t b = p.first[q]; b < p.first[q + 1]; ++b)
                    for (int x = p.boxes[b].lower[0]; x < p.boxes[b].upper[0]; ++x)
                        for (int y = p.boxes[b].lower[1]; y < p.boxes[b].upper[1]; ++y) owner[x * grid.cells[1] + y] = static_cast<int>(q);
            for (std::size_t i = 0; i < before.size(); ++i) cells += owner[i] != before[i];
            before = owner;
        }
        return cells;
    };
    CHECK(moved(true) < moved(false));
}

TEST_CASE("no patch is narrower than asked, and fewer are made where there is no room") {
    const Alone alone;
    const Field whole(grid.box());
    for (const int width : {1, 3, 6})
        for (const std::int64_t parts : {1, 2, 7, 40, 70}) {
            std::vector<Split> memory;
            const SummedArea sums(grid.box(), whole.load);
            if (parts > capacity(grid.box(), width)) {
                CHECK_THROWS_AS(bisect(alone, grid, sums, parts, width, memory), std::invalid_argument);
                continue;
            }
            for (const Box& b : bisect(alone, grid, sums, parts, width, memory)) CHECK(std::min(b.extent(0), b.extent(1)) >= width);
        }
    PartitionOptions o;
    o.processes = 60, o.patches_per_process = 8, o.min_width = 6;
    std::vector<Split> memory;
    check_tiling(make_partition(alone, grid, whole.load, whole.size, o, memory));
}

TEST_CASE("curves visit every cell of a square once; the Hilbert curve only steps to neighbours") {
    constexpr int n = 16;
    std::vector<std::pair<std::uint64_t, std::pair<int, int>>> hilbert;
    std::set<std::uint64_t> morton;
    for (int x = 0; x < n; ++x)
        for (int y = 0; y < n; ++y) {
            hilbert.push_back({hilbert_key(x, y), {x, y}});
            morton.insert(morton_key(x, y));
        }
    CHECK(morton.size() == n * n);
    CHECK(*morton.rbegin() == n * n - 1);
    CHECK(morton_key(1, 0) == 2);
    std::sort(hilbert.begin(), hilbert.end());
    for (int i = 0; i < n * n; ++i) {
        CHECK(hilbert[i].first == static_cast<std::uint64_t>(i));
        if (i > 0) CHECK(std::abs(hilbert[i].second.first - hilbert[i - 1].second.first) + std::abs(hilbert[i].second.second - hilbert[i - 1].second.second) == 1);
    }
}

TEST_CASE("values go to boxes and back, whatever the team") {
    const comm::Ranks ranks(world());
    const Slabs slabs{grid, ranks.size()};
    const Box slab = slabs.of(ranks.rank());
    const Partition p = one_box_each(even_partition(grid, 23));
    const BoxList list = boxes_by_process(p, ranks.size());
    std::vector<std::int64_t> field;
    for (int x = slab.lower[0]; x < slab.upper[0]; ++x)
        for (int y = 0; y < grid.cells[1]; ++y) field.push_back(1000 * x + y);
    const std::vector<std::int64_t> values = to_boxes<std::int64_t>(ranks, slabs, list, field);
    std::size_t at = 0;
    bool right = true;
    for (std::int64_t b = list.first[ranks.rank()]; b < list.first[ranks.rank() + 1]; ++b)
        for (int x = p.boxes[b].lower[0]; x < p.boxes[b].upper[0]; ++x)
            for (int y = p.boxes[b].lower[1]; y < p.boxes[b].upper[1]; ++y) right = right && values[at++] == 1000 * x + y;
    CHECK(right);
    CHECK(at == values.size());
    std::vector<std::int64_t> back(field.size(), -1);
    to_slab<std::int64_t>(ranks, slabs, list, values, back);
    CHECK(back == field);
    const SummedArea sums(slab, field);
    for (const Box& box : p.boxes) {
        std::int64_t expected = 0;
        for (int x = std::max(box.lower[0], slab.lower[0]); x < std::min(box.upper[0], slab.upper[0]); ++x)
            for (int y = box.lower[1]; y < box.upper[1]; ++y) expected += 1000 * x + y;
        CHECK(sums.of(box) == expected);
    }
}

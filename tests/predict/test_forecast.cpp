// SPDX-License-Identifier: MIT
// The model of a step on ranks that differ: by hand for a few ranks, against the model of Shu et al. where all ranks
// are alike, and against the exchange's own counts for a real decomposition.
#include <catch2/catch.hpp>
#include <cmath>
#include <map>
#include <random>
#include <set>
#include <vector>

#include "app/common/errors.hpp"
#include "balance/grid/field.hpp"
#include "balance/grid/for_each.hpp"
#include "balance/model/work.hpp"
#include "balance/partition/plan.hpp"
#include "tools/predict/decomposed.hpp"
#include "tools/predict/forecast.hpp"
#include "tools/predict/timeline.hpp"

using namespace predict;
using comm::Overlap;

namespace {

// Powers of two: sums are exact.
Machine round_machine() {
    Machine m;
    m.inside = {0x1p-10, 0x1p20};
    m.between = {0x1p-8, 0x1p16};
    m.message_seconds = 0x1p-12;
    m.copy_bytes_per_second = 0x1p22;
    m.eager_bytes = 1 << 12;
    return m;
}

// All ranks begin together.
std::vector<double> ends_of(const std::vector<RankStep>& ranks, const comm::NodeMap& nodes, const Machine& machine,
                            Overlap overlap) {
    return Timeline(ranks, nodes).step_ends(std::vector<double>(ranks.size(), 0.0), machine, overlap);
}

double last(const std::vector<double>& ends) { return *std::max_element(ends.begin(), ends.end()); }

double rim_seconds(const RankStep& step) { return step.seconds() - step.inner_seconds; }

using Cells = std::array<int, 3>;

// In the plane, and in space.
const std::array<Cells, 2> grids{{{48, 36, 1}, {27, 15, 12}}};

CellField random_field(Cells cells, std::uint64_t seed) {
    std::mt19937_64 random(seed);
    const bool space = cells[2] > 1;
    CellField field{balance::Grid{cells, {true, true, space}, space ? 3 : 2}, {}, {}};
    field.halo = 2;
    for (std::int64_t c = 0; c < field.grid.box().cells(); ++c) {
        field.items.push_back(static_cast<std::int64_t>(random() % 12));
        field.load.push_back(balance::to_ticks(1e-8 * double(field.items.back() * field.items.back() + 1)));
    }
    return field;
}

balance::Decomposition even(const CellField& field, int ranks) {
    return {field.grid, balance::one_box_each(balance::even_partition(field.grid, ranks)), {ranks, ranks}, {8, 8, 8}};
}

// Calls visit(cell), which may lie beyond a side of the grid.
template <class Visit>
void for_each_place(const balance::Box& box, Visit visit) {
    balance::for_each_cell(box, [&](int x, int y, int z) { visit(Cells{x, y, z}); });
}

// All axes wrap around.
std::int64_t place(const CellField& field, Cells at) {
    for (int a = 0; a < 3; ++a) at[a] = (at[a] + field.grid.cells[a]) % field.grid.cells[a];
    return balance::place_in(field.grid.box(), at[0], at[1], at[2]);
}

balance::Box around(const CellField& field, balance::Box box, int width) {
    for (int a = 0; a < field.grid.dimensions; ++a) box.lower[a] -= width, box.upper[a] += width;
    return box;
}

Conditions conditions_of(int ranks, const Machine& machine, Overlap overlap) {
    std::vector<int> node;
    for (int r = 0; r < ranks; ++r) node.push_back(machine.ranks_per_node > 0 ? r / int(machine.ranks_per_node) : 0);
    return {comm::NodeMap(node, int(machine.nodes_per_switch)), machine, overlap, 10, 0};
}

}  // namespace

TEST_CASE("two ranks by hand") {
    const Machine m = round_machine();
    const double inner = 0x1p-9, rim = 0x1p-10, bytes = 1024, o = m.message_seconds + bytes / m.copy_bytes_per_second;
    const std::vector<RankStep> ranks{{inner, {{rim, {1}}}, {{1, bytes}}}, {inner / 2, {{rim, {0}}}, {{0, bytes}}}};
    const double travel = m.inside.latency_seconds + bytes / m.inside.bytes_per_second;
    const comm::NodeMap together(2), apart(std::vector<int>{0, 1});
    CHECK(ends_of(ranks, together, m, Overlap::links)[0] == o + travel + inner + rim);
    CHECK(ends_of(ranks, together, m, Overlap::none)[0] == o + travel + inner + rim);
    CHECK(ends_of(ranks, together, m, Overlap::full)[0] == std::max(o + inner, o + travel) + rim);
    CHECK(ends_of(ranks, together, m, Overlap::full)[1] == std::max(o + inner / 2, o + travel) + rim);
    const double far = m.between.latency_seconds + bytes / m.between.bytes_per_second;
    CHECK(ends_of(ranks, apart, m, Overlap::links)[0] == o + far + inner + rim);
    // A message that is not copied takes the core no time for its bytes.
    const std::vector<RankStep> large{{0, {}, {{1, 8192}}}, {}};
    CHECK(ends_of(large, together, m, Overlap::links)[1] ==
          m.message_seconds + m.inside.latency_seconds + 8192 / m.inside.bytes_per_second);
    CHECK(ends_of(large, together, m, Overlap::links)[0] == ends_of(large, together, m, Overlap::links)[1]);
}

TEST_CASE("one after the other: messages of a rank without overlap, and those of a node to others") {
    const Machine m = round_machine();
    const double bytes = 8192, far = m.between.latency_seconds + bytes / m.between.bytes_per_second;
    const std::vector<RankStep> ranks{{0, {}, {{1, bytes}, {2, bytes}}}, {}, {}};
    const comm::NodeMap apart(std::vector<int>{0, 1, 2});
    CHECK(ends_of(ranks, apart, m, Overlap::none)[0] == 2 * (m.message_seconds + far));
    // The sender waits until it knows.
    Machine told = m;
    told.inside.acknowledgement_seconds = 0x1p-6, told.between.acknowledgement_seconds = 0x1p-5;
    CHECK(ends_of(ranks, apart, told, Overlap::none)[0] == 2 * (m.message_seconds + far + 0x1p-5));
    CHECK(ends_of(ranks, apart, told, Overlap::none)[2] == 2 * (m.message_seconds + far) + 0x1p-5);
    CHECK(ends_of(ranks, comm::NodeMap(3), told, Overlap::none)[0] ==
          2 * (m.message_seconds + m.inside.latency_seconds + bytes / m.inside.bytes_per_second + 0x1p-6));
    CHECK(ends_of(ranks, apart, told, Overlap::links) == ends_of(ranks, apart, m, Overlap::links));
    // Both leave by the link of node 0.
    CHECK(ends_of(ranks, apart, m, Overlap::links)[2] == m.message_seconds + bytes / m.between.bytes_per_second + far);
    const comm::NodeMap tree(std::vector<int>{0, 1, 16}, 16);
    Machine fat = m;
    fat.nodes_per_switch = 16;
    const std::vector<RankStep> one{{0, {}, {{1, bytes}}}, {}, {}};
    CHECK(ends_of(one, tree, fat, Overlap::links)[1] == m.message_seconds + far - m.between.latency_seconds / 2);
}

TEST_CASE("ranks that are all alike take the times of Shu et al.: T, T1 and T2") {
    // 9 squares on a torus, 4 messages of one side each; all links at once, as in T1. There, a message starts at both
    // ends: 8 t_s.
    const double n = 300 / 3, e = 2, points = n * n, inner = (n - 2 * e) * (n - 2 * e), t_calc = 1e-6, t_s = 1e-5,
                 point = 64;
    for (const double bandwidth : {1e6, 1e8, 1e10}) {
        Machine m;
        m.message_seconds = 2 * t_s, m.eager_bytes = 0;
        m.inside = {0, bandwidth};
        std::vector<RankStep> ranks;
        for (int r = 0; r < 9; ++r) {
            const int x = r / 3, y = r % 3;
            RankStep step{inner * t_calc, {{(points - inner) * t_calc, {}}}, {}};
            for (const auto& [dx, dy] : std::vector<std::pair<int, int>>{{1, 0}, {2, 0}, {0, 1}, {0, 2}}) {
                const int other = (x + dx) % 3 * 3 + (y + dy) % 3;
                step.sends.push_back({other, e * n * point});
                step.rim.front().sources.push_back(other);
            }
            ranks.push_back(step);
        }
        const double link = e * n * point / bandwidth, start = 8 * t_s;
        const comm::NodeMap one_node(9);
        CHECK(last(ends_of(ranks, one_node, m, Overlap::links)) == Approx(link + start + points * t_calc));
        CHECK(last(ends_of(ranks, one_node, m, Overlap::full)) ==
              Approx(start + std::max(link, inner * t_calc) + (points - inner) * t_calc));
        // Without overlap a rank sends 4 sides. The paper counts 8, because it counts received ones too.
        CHECK(last(ends_of(ranks, one_node, m, Overlap::none)) == Approx(4 * link + start + points * t_calc));
    }
}

TEST_CASE("a tile at the rim is computed when its own ghosts are there, a message waits for nobody but its receiver") {
    const Machine m = round_machine();
    const double bytes = 1024, o = m.message_seconds + bytes / m.copy_bytes_per_second,
                 travel = m.inside.latency_seconds + bytes / m.inside.bytes_per_second, late = 0x1p-3, rim = 0x1p-5;
    const std::vector<RankStep> ranks{
        {0, {{rim, {2}}, {rim, {1}}, {rim, {1, 2}}}, {}}, {0, {}, {{0, bytes}}}, {0, {}, {{0, bytes}}}};
    const Timeline line(ranks, comm::NodeMap(3));
    const std::vector<double> begins{0, 0, late};
    // The tile that waits for rank 1 alone is ready long before rank 2 begins.
    CHECK(line.step_ends(begins, m, Overlap::full)[0] == late + o + travel + 2 * rim);
    CHECK(line.step_ends(begins, m, Overlap::links)[0] == late + o + travel + 3 * rim);
    const std::vector<double> receiver_late{late, 0, 0};
    CHECK(line.step_ends(receiver_late, m, Overlap::links)[0] == late + 3 * rim);
    CHECK(line.step_ends(receiver_late, m, Overlap::links)[1] == o);
    CHECK(line.step_ends(receiver_late, m, Overlap::none)[1] == late + travel);
    Machine simulated = m;
    simulated.simulated = true;
    CHECK(line.step_ends(receiver_late, simulated, Overlap::links)[0] == late + travel + 3 * rim);
    CHECK(line.step_ends(receiver_late, simulated, Overlap::links)[1] == late + travel);
}

TEST_CASE("a tile waits for all messages of its source, and where that sends none itself, for all that come") {
    const Machine m = round_machine();
    const double bytes = 1024, o = m.message_seconds + bytes / m.copy_bytes_per_second,
                 travel = m.inside.latency_seconds + bytes / m.inside.bytes_per_second, late = 0x1p-3, rim = 0x1p-5;
    const std::vector<double> begins{0, 0, late, 0};
    const auto ends = [&](const std::vector<int>& sources) {
        // Rank 2 begins late; rank 3 has nothing for rank 0 but what others forward.
        const std::vector<RankStep> ranks{
            {0, {{rim, sources}}, {}}, {0, {}, {{0, bytes}, {0, bytes}}}, {0, {}, {{0, bytes}}}, {}};
        return Timeline(ranks, comm::NodeMap(4)).step_ends(begins, m, Overlap::full)[0];
    };
    CHECK(ends({1}) == 2 * o + travel + rim);  // its second one
    CHECK(ends({2}) == late + o + travel + rim);
    CHECK(ends({3}) == ends({2}));
}

TEST_CASE("a reduction goes by doublings inside the nodes, then among them, then along a tree") {
    Machine m = round_machine();
    const double o = m.message_seconds, in = m.inside.latency_seconds, far = m.between.latency_seconds;
    const auto ends = [&](int ranks, int a_node) {
        std::vector<int> node;
        for (int r = 0; r < ranks; ++r) node.push_back(r / a_node);
        return reduction_ends(std::vector<double>(ranks, 0.0), comm::NodeMap(node), m);
    };
    CHECK(ends(1, 1) == std::vector<double>{0});
    CHECK(ends(8, 8) == std::vector<double>(8, 3 * (o + in)));
    CHECK(ends(8, 1) == std::vector<double>(8, 3 * (o + far)));
    // Rank 0 hands its number to rank 1 and gets the result from it.
    CHECK(ends(3, 3) == std::vector<double>{3 * o + 2 * in, 3 * o + in, 2 * (o + in)});
    CHECK(ends(4, 2) ==
          std::vector<double>{2 * o + in + far + o, 3 * o + 2 * in + far, 2 * o + in + far + o, 3 * o + 2 * in + far});
    m.simulated = true;
    CHECK(ends(2, 2) == std::vector<double>(2, o + 2 * in));
    CHECK(last(ends(4, 2)) == 2 * o + 2 * in + far);
    const comm::NodeMap apart(std::vector<int>{0, 1});
    CHECK(reduction_ends(std::vector<double>{1, 0}, apart, m) == std::vector<double>(2, 1 + o + far));
    CHECK(reduction_ends(std::vector<double>{0, 1}, apart, m) == std::vector<double>(2, 1 + o + far));
    m.simulated = false;
    CHECK(reduction_ends(std::vector<double>{1, 0}, apart, m) == std::vector<double>{1 + o, 1 + o + far});
    CHECK(reduction_ends(std::vector<double>{0, 1}, apart, m) == std::vector<double>{1 + o + far, 1 + o});
    // Whoever is last has to do its part, and nobody is done before it has begun.
    for (const int ranks : {2, 5, 12, 16}) {
        std::vector<double> begins(ranks, 0.0);
        begins[ranks / 2] = 1;
        for (const double end : reduction_ends(begins, comm::NodeMap(ranks), m)) {
            CHECK(end > 1);
            CHECK(end < 1 + last(ends(ranks, ranks)) + o);
        }
    }
}

TEST_CASE("in the course of steps only the slowest rank counts where the others have time to wait") {
    Machine m = round_machine();
    const double bytes = 64, most = 1;
    RankSteps ranks;
    for (int r = 0; r < 8; ++r) {
        ranks.steps.push_back({r == 5 ? most : most / 2, {}, {{(r + 1) % 8, bytes}}});
        ranks.steps.back().rim.push_back({0, {(r + 7) % 8}});
        ranks.counts.push_back({0, {}, ranks.steps.back().sends}), ranks.records.push_back({});
    }
    Conditions c = conditions_of(8, m, Overlap::full);
    c.steps_per_rebuild = 1e300;
    const double sends = m.message_seconds + bytes / m.copy_bytes_per_second;
    CHECK(mean_step_seconds(ranks, c) == Approx(most + sends).epsilon(1e-12));
    c.steps_per_rebuild = 1;  // the counts' messages are sent too; those that it waits for have come
    CHECK(mean_step_seconds(ranks, c) == Approx(most + 2 * sends).epsilon(1e-12));
    c.steps_per_rebuild = 1e300;
    c.machine.reductions_travel = false;  // its own messages, and waits for partners that have waited for it
    CHECK(mean_step_seconds(ranks, c) > most + sends + 3 * m.message_seconds - 1e-12);
    CHECK(mean_step_seconds(ranks, c) < most + sends + 3 * (m.message_seconds + m.inside.latency_seconds) + 1e-12);
}

TEST_CASE("ranks compute all loads and send all that others see, in the messages of the schedule") {
    for (const auto& [cells, ranks] : std::vector<std::pair<Cells, int>>{{grids[0], 1},
                                                                         {grids[0], 2},
                                                                         {grids[0], 7},
                                                                         {grids[0], 12},
                                                                         {grids[1], 1},
                                                                         {grids[1], 7},
                                                                         {grids[1], 12}}) {
        CellField field = random_field(cells, 3);
        field.item_bytes = 4 * field.grid.dimensions;
        const balance::Decomposition owners = even(field, ranks);
        const comm::NodeMap nodes(ranks);
        double load = 0, expected_bytes = 0;
        for (const std::int64_t l : field.load) load += balance::to_seconds(l);
        std::int64_t parts = 0, links = 0;
        for (int r = 0; r < ranks; ++r)
            for (const auto& link : balance::halo_plan(owners, r, field.reach).links) {
                double of_link = 0;
                for (const balance::Move& move : link.outgoing) {
                    double bytes = 0;
                    for_each_place(move.box, [&](const Cells& at) {
                        bytes += field.item_bytes * double(field.items[place(field, at)]);
                    });
                    parts += bytes > 0;
                    of_link += bytes;
                }
                links += of_link > 0;
                expected_bytes += of_link;
            }
        for (const comm::Aggregate aggregate :
             {comm::Aggregate::none, comm::Aggregate::process, comm::Aggregate::node}) {
            comm::Schedule schedule;
            schedule.aggregate = aggregate;
            const RankSteps steps = rank_steps(field, owners, nodes, schedule);
            double seconds = 0, bytes = 0;
            std::int64_t messages = 0;
            for (const RankStep& s : steps.steps) {
                seconds += s.seconds();
                messages += std::int64_t(s.sends.size());
                for (const Message& m : s.sends) bytes += m.bytes;
            }
            CHECK(seconds == Approx(load));
            CHECK(bytes == expected_bytes);
            CHECK(messages == (aggregate == comm::Aggregate::none ? parts : links));
            CHECK(steps.messages * ranks == Approx(double(messages)));
        }
    }
}

TEST_CASE("a tile is at the rim where another rank's cells are in reach; what it counts lies in its whole halo") {
    const Cells grid = GENERATE(grids[0], grids[1]);
    const CellField field = random_field(grid, 8);
    const int ranks = 3;
    const balance::Decomposition owners(field.grid, balance::one_box_each(balance::even_partition(field.grid, ranks)),
                                        {ranks, ranks}, {3, 3, 3});
    std::vector<int> rank_of_cell(field.grid.box().cells());
    for (int r = 0; r < ranks; ++r)
        for (const balance::Box& box : owners.tiles_of(r))
            for_each_place(box, [&](const Cells& at) { rank_of_cell[place(field, at)] = r; });
    const RankSteps steps = rank_steps(field, owners, comm::NodeMap(ranks), {});
    std::int64_t halo_cells = 0;
    double count_bytes = 0;
    for (int r = 0; r < ranks; ++r) {
        double rim = 0;
        std::vector<std::vector<int>> sources;  // of each tile at the rim
        for (const balance::Box& box : owners.tiles_of(r)) {
            std::set<int> others;
            double load = 0;
            for_each_place(box, [&](const Cells& at) { load += balance::to_seconds(field.load[place(field, at)]); });
            for_each_place(around(field, box, field.reach), [&](const Cells& at) {
                if (const int owner = rank_of_cell[place(field, at)]; owner != r) others.insert(owner);
            });
            for_each_place(around(field, box, field.halo),
                           [&](const Cells& at) { halo_cells += rank_of_cell[place(field, at)] != r; });
            if (others.empty()) continue;
            rim += load;
            sources.emplace_back(others.begin(), others.end());
        }
        CHECK(rim > 0);
        std::vector<std::vector<int>> found;
        for (const RimTile& tile : steps.steps[r].rim) found.push_back(tile.sources);
        CHECK(found == sources);
        CHECK(rim_seconds(steps.steps[r]) == Approx(rim));
        CHECK(steps.steps[r].inner_seconds > 0);
        for (const Message& m : steps.counts[r].sends) count_bytes += m.bytes;
    }
    CHECK(count_bytes == 4.0 * double(halo_cells));  // all that is received is sent
}

TEST_CASE("a byte that is forwarded is sent twice, but for those that the aggregator keeps") {
    const CellField field = random_field(grids[0], 4);
    const int ranks = 12;
    const balance::Decomposition owners = even(field, ranks);
    comm::Schedule process, node;
    node.aggregate = comm::Aggregate::node;
    node.threshold = std::size_t{1} << 20;
    std::vector<int> of;
    for (int r = 0; r < ranks; ++r) of.push_back(r / 4);
    const comm::NodeMap nodes(of);
    const RankSteps direct = rank_steps(field, owners, nodes, process),
                    forwarded = rank_steps(field, owners, nodes, node);
    CHECK(forwarded.bytes > direct.bytes);
    CHECK(forwarded.bytes < 2 * direct.bytes);
    double across = 0, across_forwarded = 0;
    for (int r = 0; r < ranks; ++r) {
        for (const Message& m : direct.steps[r].sends) across += nodes.of(r) == nodes.of(m.to) ? 0 : m.bytes;
        for (const Message& m : forwarded.steps[r].sends)
            across_forwarded += nodes.of(r) == nodes.of(m.to) ? 0 : m.bytes;
    }
    CHECK(across == across_forwarded);
    for (int r = 0; r < ranks; ++r)
        for (const Message& m : forwarded.steps[r].sends) CHECK(m.to != r);
}

TEST_CASE("longer lengths: work grows with the square and bytes with the length, in space with cube and square") {
    const auto [cells, work, border] =
        GENERATE(table<Cells, double, double>({{grids[0], 100, 10}, {grids[1], 1000, 100}}));
    CellField field = random_field(cells, 5);
    const balance::Decomposition owners = even(field, 6);
    const balance::Partition from{owners.known().boxes, owners.known().first};
    balance::Partition to = from;
    std::swap(to.boxes[0], to.boxes[1]);
    const auto all_of = [&](const std::vector<RankStep>& exchange) {
        double bytes = 0;
        for (const RankStep& r : exchange)
            for (const Message& m : r.sends) bytes += m.bytes;
        return bytes;
    };
    const RankSteps one = rank_steps(field, owners, comm::NodeMap(6), {});
    const double moved = all_of(migration_exchange(field, from, to, 8));
    field.length = 10;
    const RankSteps ten = rank_steps(field, owners, comm::NodeMap(6), {});
    CHECK(ten.bytes == Approx(border * one.bytes));
    CHECK(all_of(ten.counts) == Approx(border * all_of(one.counts)));
    CHECK(all_of(migration_exchange(field, from, to, 8)) == Approx(work * moved));
    for (int r = 0; r < 6; ++r) {
        CHECK(ten.steps[r].seconds() == Approx(work * one.steps[r].seconds()));
        CHECK(rim_seconds(ten.steps[r]) == Approx(border * rim_seconds(one.steps[r])));
    }
}

TEST_CASE("a field goes from the homes of its cells to their owners, in one message from one to the other") {
    const CellField field = random_field(GENERATE(grids[0], grids[1]), 3);
    const int ranks = 5;
    const balance::Homes homes{field.grid, ranks};
    // Each rank has two boxes, which meet several homes.
    const std::vector<balance::Box> boxes = balance::even_partition(field.grid, 2 * ranks);
    balance::Partition partition{{}, {0}};
    for (int p = 0; p < ranks; ++p) {
        partition.boxes.insert(partition.boxes.end(), {boxes[p], boxes[2 * ranks - 1 - p]});
        partition.first.push_back(std::ssize(partition.boxes));
    }
    std::map<std::pair<int, int>, double> expected, sent;  // bytes, by home and owner
    for (int p = 0; p < ranks; ++p)
        for (std::int64_t b = partition.first[p]; b < partition.first[p + 1]; ++b)
            for_each_place(partition.boxes[b], [&](const Cells& at) {
                homes.for_each_in({at, {at[0] + 1, at[1] + 1, at[2] + 1}}, [&](int home) {
                    if (home != p) expected[{home, p}] += 8;
                });
            });
    const std::vector<RankStep> exchange = field_exchange(field.grid, partition, 8);
    std::size_t messages = 0;
    for (int r = 0; r < ranks; ++r)
        for (const Message& m : exchange[r].sends) sent[{r, m.to}] += m.bytes, ++messages;
    CHECK(sent == expected);
    CHECK(messages == expected.size());
}

TEST_CASE("forecasts: terms add up, overlap and better machines never harm, the best is the shortest") {
    for (const Overlap overlap : {Overlap::none, Overlap::links, Overlap::full}) {
        std::vector<Forecast> all;
        for (const int ranks : {1, 2, 4, 8, 16, 32}) {
            const CellField field = random_field({64, 64, 1}, 6);
            Machine m;
            m.ranks_per_node = 4;
            m.compute_uncertainty = 0.1;
            Conditions c = conditions_of(ranks, m, overlap);
            const RankSteps steps = rank_steps(field, even(field, ranks), c.nodes, {});
            c.rebalancing_seconds = 1e-6;
            const Forecast f = forecast(steps, c);
            CHECK(f.terms.seconds() == Approx(mean_step_seconds(steps, c)));
            CHECK(f.lbe <= 1);
            for (const double part : {f.terms.compute, f.terms.imbalance, f.terms.messages, f.terms.bytes})
                CHECK(part >= -1e-15);
            const double seconds = f.terms.seconds() * (1 + 1e-12);
            CHECK(f.balanced_seconds <= seconds);
            if (ranks > 1) CHECK(f.terms.seconds() - f.balanced_seconds > 0.5 * f.terms.imbalance);
            CHECK(f.fast_network_seconds <= seconds);
            CHECK(f.full_seconds <= f.links_seconds * (1 + 1e-12));
            CHECK(f.links_seconds <= f.none_seconds * (1 + 1e-12));
            CHECK(f.low_seconds < f.terms.seconds());
            CHECK(f.high_seconds > f.terms.seconds());
            if (ranks == 1) CHECK(f.terms.communication() == Approx(0).margin(1e-15));
            all.push_back(f);
        }
        for (const Forecast& f : all) CHECK(best_of(all).terms.seconds() <= f.terms.seconds());
        CHECK(all.front().terms.compute == Approx(32 * all.back().terms.compute));
    }
}

TEST_CASE("cells are cut as far as ranks need it, never smaller than those of the problem") {
    for (const int dimensions : {2, 3})
        for (const int side : {1, 3, 20, 500})
            for (const double length : {1.0, 1.9, 2.0, 14.0, 1e4})
                for (const std::int64_t ranks : {1, 384, 1'000'000})
                    for (const int min_width : {1, 40}) {
                        const balance::Grid grid{{side, side, dimensions == 3 ? side : 1}, {}, dimensions};
                        const int parts = parts_of_cells(grid, length, ranks, min_width);
                        CAPTURE(dimensions, side, length, ranks, min_width, parts);
                        const auto cells = [&](int n) { return double(cut_cells(grid, n).box().cells()); };
                        const double enough = double(ranks) * std::max(1000.0, grown(2 * min_width, dimensions));
                        CHECK((parts >= 1 && parts <= length));
                        CHECK((parts == 1 || cells(parts - 1) < enough));  // no more than needed
                        CHECK((parts == 1 || cells(parts) <= 1 << 24));
                        CHECK((cells(parts) >= enough || parts + 1 > length || cells(parts + 1) > 1 << 24));
                    }
}

TEST_CASE("a field with cut cells is the same problem on a finer grid") {
    for (const Cells cells : grids) {
        CellField large = random_field(cells, 5);
        large.halo = 1, large.length = 6;
        const CellField fine = cut_cells(large, 3);
        CHECK(fine.length == 2);
        CHECK(fine.content() * double(fine.grid.box().cells()) == large.content() * double(large.grid.box().cells()));
        for_each_place(fine.grid.box(), [&](const Cells& at) {
            Cells coarse = at;
            for (int a = 0; a < fine.grid.dimensions; ++a) coarse[a] /= 3;
            REQUIRE(fine.load[place(fine, at)] == large.load[place(large, coarse)]);
            REQUIRE(fine.items[place(fine, at)] == large.items[place(large, coarse)]);
        });
        // Ranks with the same regions have the same work. Their halos lose only what a wide cell adds at their edges.
        balance::Partition coarse = balance::one_box_each(balance::even_partition(large.grid, 4)), same = coarse;
        for (balance::Box& box : same.boxes)
            for (int a = 0; a < fine.grid.dimensions; ++a) box.lower[a] *= 3, box.upper[a] *= 3;
        const RankSteps a = rank_steps(large, {large.grid, coarse, {4, 4}, {8, 8, 8}}, comm::NodeMap(4), {}),
                        b = rank_steps(fine, {fine.grid, same, {4, 4}, {24, 24, 24}}, comm::NodeMap(4), {});
        CHECK(a.messages == b.messages);
        CHECK(b.bytes < a.bytes);
        CHECK(b.bytes > 0.7 * a.bytes);
        for (int r = 0; r < 4; ++r) CHECK(a.steps[r].seconds() == Approx(b.steps[r].seconds()).epsilon(1e-12));
    }
    CellField dear = random_field(grids[0], 5);
    dear.load.assign(dear.load.size(), balance::most_ticks / 4000);
    CHECK_THROWS_AS(cut_cells(dear, 3), app::UsageError);
}

TEST_CASE("what limits a step is its largest part: computing, or most of what is lost") {
    CHECK(limit_of({1, 2, 0, 0, 0}).name == "imbalance of the ranks' loads");
    CHECK(limit_of({1, 0, 0, 0, 2}).name == "balancing and migration");
    CHECK(limit_of({6, 3, 1, 0, 0}).name == "computing itself");
    const Limit most_is_lost = limit_of({35.8, 27.3, 30.0, 4.9, 2.0});
    CHECK(most_is_lost.name == "the number of messages and their latency");
    CHECK(most_is_lost.seconds == 30.0);
}

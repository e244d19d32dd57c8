// SPDX-License-Identifier: MIT
// Neighbour lists of one tile: each neighbour once, and room for all of them.
#include <catch2/catch.hpp>
#include <map>
#include <set>

#include "tests/md/one_tile.hpp"

using md::Precision;

namespace {

template <int D>
const md::Domain box = test::walled_box(40.0, 2.5, D);

// The slot of a place, from the cluster's base.
std::int32_t slot_of(const md::Neighbourhood<2>& hood, int place) {
    return hood.start[place / md::window] + place % md::window;
}
std::int32_t slot_of(const md::Neighbourhood<3>&, int place) { return place; }

}  // namespace

TEMPLATE_TEST_CASE_SIG("runs of one candidate each have room for all their neighbourhoods", "", ((int D), D), 2, 3) {
    // 35 narrow columns of cells are in reach, each with one particle.
    constexpr int columns = 40, particles = 35, in_reach = 17;
    constexpr double spacing = 0.59, radius = in_reach * spacing + 0.12;
    md::Domain d;
    d.dimensions = D;
    for (md::Axis& a : d.axes()) a = {md::to_edge_units(2.0), 1, false};
    d.axis[0] = {md::to_edge_units(columns * 0.6), columns, false};
    std::vector<md::Particle<D>> row;
    for (int i = 0; i < particles; ++i) {
        md::Particle<D> p{i, {}, {}};
        std::fill(p.x, p.x + D, std::llrint(1.0 / md::position_unit));
        p.x[0] = std::llrint((12.3 + (i - in_reach) * spacing) / md::position_unit);
        row.push_back(p);
    }
    for (const md::Kernels* k : md::available_kernels()) {
        CAPTURE(k->isa);
        md::Tile<D> tile(d, d.grid().box(), 2, 2);
        md::TileScratch scratch;
        tile.insert(row);
        tile.sort(*k, scratch);
        tile.lay_slots();
        tile.build_neighbour_lists(*k, radius, scratch);
        const md::ListView<D> v = tile.lists();
        REQUIRE(v.cluster_count == particles);
        std::size_t most = 0;
        for (int c = 0; c < v.cluster_count; ++c)
            most = std::max(most, static_cast<std::size_t>(v.clusters[c].last - v.clusters[c].first));
        CHECK(most == (D == 2 ? 4 : 1));
        CHECK(most <= scratch.hoods<D>().size());
        std::vector<std::int32_t> within(particles + md::lanes);
        md::kernels_of<D>(*k).neighbours(v, radius, within.data());
        for (int i = 0; i < particles; ++i)
            CHECK(within[i] == std::min(i, in_reach) + std::min(particles - 1 - i, in_reach));
    }
}

TEMPLATE_TEST_CASE_SIG("rows that have too little room are refused and nothing is written beyond it", "", ((int D), D),
                       2, 3) {
    constexpr int candidates = 35;
    std::vector<std::uint16_t> along(2 * candidates + 32), across(along.size());
    std::vector<std::int32_t> ranges;  // 35 runs of one slot each, all within reach of the first
    for (int i = 0; i < candidates; ++i) {
        along[2 * i] = static_cast<std::uint16_t>(100 * i);
        ranges.insert(ranges.end(), {2 * i, 2 * i + 1});
    }
    const auto hoods = static_cast<std::int32_t>(md::most_neighbourhoods<D>(candidates, candidates));
    const auto elements = static_cast<std::int64_t>(md::most_row_elements(candidates));
    CHECK(hoods == (D == 2 ? 4 : 1));
    for (const md::Kernels* k : md::available_kernels()) {
        const auto build = [&](std::int32_t hoods_room, std::int64_t rows_room) {
            constexpr int stride = 96;
            alignas(64) static std::uint16_t x[D][stride], place[stride], lane_rows[md::lanes * stride + 32];
            static std::int32_t start[stride];
            std::vector<md::Neighbourhood<D>> hood(hoods);
            std::vector<md::Place<D>> rows(elements, 255);
            md::RowsArgs<D> a{};
            for (int axis = 0; axis < D; ++axis) a.coarse[axis] = axis == 0 ? along.data() : across.data();
            a.limit = 1000;  // reaches 5724
            a.ranges = ranges.data();
            a.range_count = candidates;
            a.count = 1;
            a.far_place = 1;
            for (int axis = 0; axis < D; ++axis) a.x[axis] = x[axis];
            a.place = place, a.start = start, a.lane_rows = lane_rows, a.stride = stride;
            a.neighbourhoods = hood.data(), a.neighbourhoods_room = hoods_room;
            a.rows = rows.data(), a.rows_room = rows_room;
            const std::int32_t built = md::kernels_of<D>(*k).rows(a);
            for (std::size_t i = rows_room; i < rows.size(); ++i) REQUIRE(rows[i] == 255);
            return built;
        };
        CAPTURE(k->isa);
        CHECK(build(hoods, elements) == hoods);
        if (D == 2) CHECK(build(hoods - 1, elements) == -1);  // in space one always has room
        CHECK(build(hoods, 256) == -1);
    }
}

TEMPLATE_TEST_CASE_SIG("what only reads the neighbour lists leaves particles sorted, what moves them does not", "",
                       ((int D), D), 2, 3) {
    const md::Kernels& k = md::choose_kernels();
    test::OneTile t(box<D>, {}, Precision::mixed, k, test::jittered<D>(D == 2 ? 20 : 6, 1.1, 0.1, 4.0, 1.0));
    std::vector<std::int32_t> within(t.tile.size() + md::lanes);
    CHECK(t.tile.sorted());
    md::kernels_of<D>(k).neighbours(t.tile.lists(), t.potential.cutoff, within.data());
    t.pairs();
    t.pass(md::Kick::none, 1e-3);
    CHECK(t.tile.sorted());
    t.pass(md::Kick::first, 1e-3);
    CHECK_FALSE(t.tile.sorted());
    t.rebuild();
    CHECK(t.tile.sorted());
}

TEMPLATE_TEST_CASE_SIG("rows hold every neighbour once, in as many neighbourhoods as it takes", "", ((int D), D), 2,
                       3) {
    const double spacing = GENERATE(2.6, 1.0, 0.6, 0.3);
    const int n = std::min(D == 2 ? 45 : 9, static_cast<int>(30 / spacing));
    const auto particles = test::jittered<D>(n, spacing, 0.45 * spacing, 4.0, 1.0);
    int most = 0;
    for (const md::Kernels* k : md::available_kernels())
        for (const Precision precision : {Precision::mixed, Precision::double_}) {
            test::OneTile t(box<D>, {}, precision, *k, particles);
            const md::ListView<D> v = t.tile.lists();
            const double radius = t.potential.cutoff + t.skin;
            std::map<std::int32_t, std::int64_t> own_of;  // by slot
            for (int c = 0; c < v.cluster_count; ++c)
                for (int l = 0; l < v.clusters[c].count; ++l) own_of[v.clusters[c].slot + l] = v.clusters[c].own + l;
            REQUIRE(own_of.size() == particles.size());
            const auto distance = [&](std::int64_t a, std::int64_t b) {
                const md::Particle<D> p = t.tile.particle(a), q = t.tile.particle(b);
                double r2 = 0;
                for (int k = 0; k < D; ++k) {
                    const double x = static_cast<double>(p.x[k] - q.x[k]) * md::position_unit;
                    r2 += x * x;
                }
                return std::sqrt(r2);
            };
            // Places in a row of which a position is out of reach of the lane: they fill it up.
            const auto is_far = [&](const md::Cluster& c, int place, int lane) {
                if constexpr (D == 2) return place == md::far_place;
                const md::Packed<D> far = v.packed[c.base + place];
                if (own_of.count(c.base + place) || !(far == md::Packed<D>{{c.far_x}})) return false;
                return lane >= c.count ||
                       md::distance2(far, v.packed[c.slot + lane]) > std::pow(2 * radius / t.domain.packed_unit(), 2);
            };
            std::vector<std::set<std::int64_t>> rows(particles.size());
            bool good = true;
            for (int c = 0; c < v.cluster_count; ++c) {
                const md::Cluster& cluster = v.clusters[c];
                most = std::max(most, cluster.last - cluster.first);
                for (int h = cluster.first; h < cluster.last; ++h)
                    for (int i = 0; i < v.neighbourhoods[h].length * md::lanes; ++i) {
                        const int place = v.rows[v.neighbourhoods[h].row + i], lane = i % md::lanes;
                        if (is_far(cluster, place, lane)) continue;
                        const std::int32_t slot = cluster.base + slot_of(v.neighbourhoods[h], place);
                        good = good && lane < cluster.count && own_of.count(slot) &&
                               own_of[slot] != cluster.own + lane &&
                               distance(own_of[slot], cluster.own + lane) < radius * 1.01 &&  // see CoarseSearch
                               rows[cluster.own + lane].insert(own_of[slot]).second;
                    }
            }
            CAPTURE(k->isa, static_cast<int>(precision), spacing);
            REQUIRE(good);
            std::size_t missing = 0;
            for (std::size_t a = 0; a < particles.size(); ++a)
                for (std::size_t b = 0; b < particles.size(); ++b)
                    missing += a != b && distance(a, b) < radius && !rows[a].count(b);
            CHECK(missing == 0);
        }
    CHECK(most >= (D == 3 || spacing > 0.7 ? 1 : spacing > 0.5 ? 2 : 3));
}

// SPDX-License-Identifier: MIT
// The map shows particles and loads of *blocks* of cells. A rank counts the particles of its tiles in each block, and
// adds up the loads of its home's cells. Rank 0 adds up the sums of all ranks. The sums are integers, so equal loads
// give the same map on any number of ranks.
#include "app/output/series/overview.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <span>
#include <tuple>

#include "balance/grid/field.hpp"
#include "balance/grid/for_each.hpp"
#include "comm/clock.hpp"

namespace app {
namespace {

// A rank's part of a block.
struct Share {
    std::int32_t place = 0, owner = -1;  // no owner: only load
    std::int32_t zone = 0, cells = 0;
    std::int64_t particles = 0, load = 0;
    auto key() const { return std::tuple(place, owner, zone); }
};

// Sorts shares by their keys: first by block, then within each block. The second sort is fast, because a block has few
// shares.
std::vector<Share> in_order(std::vector<Share> shares, const Blocks& blocks) {
    const std::array<int, 3> n = blocks.count();
    std::vector<std::size_t> end(static_cast<std::size_t>(n[0]) * n[1] * n[2]);
    for (const Share& s : shares) ++end[s.place];
    std::partial_sum(end.begin(), end.end(), end.begin());
    std::vector<Share> ordered(shares.size());
    for (const Share& s : shares) ordered[--end[s.place]] = s;  // now `end` is where a block's shares begin
    end.push_back(shares.size());
    for (std::size_t place = 0; place + 1 < end.size(); ++place)
        std::sort(ordered.begin() + end[place], ordered.begin() + end[place + 1],
                  [](const Share& a, const Share& b) { return a.key() < b.key(); });
    return ordered;
}

}  // namespace

std::array<int, 3> Blocks::count() const {
    std::array<int, 3> n{};
    for (int a = 0; a < 3; ++a) n[a] = (grid.cells[a] + side - 1) / side;
    return n;
}

balance::Box Blocks::box(std::int64_t place) const {
    const std::array<int, 3> n = count();
    balance::Box box;
    for (int a = 2; a >= 0; place /= n[a--]) {
        box.lower[a] = static_cast<int>(place % n[a]) * side;
        box.upper[a] = std::min(box.lower[a] + side, grid.cells[a]);
    }
    return box;
}

template <class Use>
void Blocks::for_each_in(const balance::Box& cells, Use use) const {
    if (cells.empty()) return;
    const std::array<int, 3> n = count();
    balance::Box touched;  // blocks
    for (int a = 0; a < 3; ++a) {
        touched.lower[a] = cells.lower[a] / side;
        touched.upper[a] = (cells.upper[a] - 1) / side + 1;
    }
    balance::for_each_cell(touched, [&](int x, int y, int z) {
        const std::int64_t place = (std::int64_t{x} * n[1] + y) * n[2] + z;
        use(place, intersection(box(place), cells));
    });
}

Blocks blocks_of(const balance::Grid& grid, std::int64_t most) {
    Blocks blocks{grid, 1};
    for (;; ++blocks.side) {
        const std::array<int, 3> n = blocks.count();
        if (std::int64_t{n[0]} * n[1] * n[2] <= most) return blocks;
    }
}

template <class Row>
Overview::Thinned<Row>::Thinned(const SeriesContext& c, const char* name, const Columns<Row>& columns,
                                std::int64_t most, std::int64_t frames_before)
    : table(c.results, name, columns, {c.first_step + 1, false, {}}),
      frames(frames_for(c.deck.run.steps, std::max<std::int64_t>(2, most))) {
    if (!c.results.continued() || c.deck.output.map_frames == 0) return;
    const bool fewer = frames_before > c.deck.output.map_frames;
    thin(frames.most, [&] {
        if (fewer) c.results.copy_aside(name, "keeps fewer frames");
    });
}

template <class Row>
void Overview::Thinned<Row>::thin(std::int64_t room, const std::function<void()>& before_rows_go) {
    table.rewrite([&](std::string_view rows) {  // on rank 0
        std::string kept = thinned(rows, room, frames);
        if (kept.size() < rows.size() && before_rows_go) before_rows_go();
        return kept;
    });
    table.comm().broadcast(std::as_writable_bytes(std::span(&frames, 1)));
}

template <class Row>
bool Overview::Thinned<Row>::wants(std::int64_t step) {
    if (frames.due(step) && frames.full()) thin(frames.most - 1);
    return frames.due(step);
}

Overview::Overview(const SeriesContext& c, std::int64_t frames_before, double start_seconds)
    : start_(static_cast<std::int64_t>(c.results.lineage().size()) - 1),
      steps_(c.deck.run.steps),
      start_seconds_(start_seconds),
      blocks_(blocks_of(c.domain.grid(), most_blocks)),
      map_(c, "map.csv", map_columns(), c.deck.output.map_frames, frames_before),
      ranks_(c, "ranks.csv", rank_columns(),
             std::min(c.deck.output.map_frames, most_rank_rows / c.results.comm().size()), frames_before) {}

void Overview::write(std::int64_t step, const Engine& engine, const LoadBalancer& balancer, const Timers& timers) {
    if (ranks_.frames.due(step)) {
        if (ranks_.frames.full()) write_ranks(balancer.team());  // before they are thinned out
        if (ranks_.wants(step)) waiting_.push_back(rank_row(step, engine, timers)), ranks_.frames.add(step);
        if (!waiting_.empty() && below(0.0005, ranks_seconds_)) write_ranks(balancer.team());
    }
    constexpr std::int64_t few = 8;  // frames of the map in a short run, spread over its steps
    const bool early = map_.frames.early(step, steps_, few);
    if (!map_.frames.due(step) || !(early || below(0.005, map_seconds_))) return;
    const double begin = comm::now();
    if (map_.wants(step)) {
        map_.table.add(map_rows(step, engine, balancer));
        map_.frames.add(step);
    }
    map_seconds_ += comm::now() - begin;
}

void Overview::write_ranks(const balance::Team& team) {
    const double begin = comm::now();
    std::vector<RankRow> rows = balance::gather<RankRow>(team, waiting_);
    std::stable_sort(rows.begin(), rows.end(), [](const RankRow& a, const RankRow& b) { return a.step < b.step; });
    ranks_.table.add(rows);
    waiting_.clear();
    ranks_seconds_ += comm::now() - begin;
}

bool Overview::below(double share, double seconds) const {
    return map_.table.comm().from_rank_0(seconds < share * (comm::now() - start_seconds_)) != 0;
}

std::vector<MapRow> Overview::map_rows(std::int64_t step, const Engine& engine, const LoadBalancer& balancer) const {
    std::vector<Share> mine;
    const TileSet& tiles = engine.tiles();
    for (std::size_t t = 0; t < tiles.size(); ++t) {
        const bool on_cpu = t < tiles.on_cpu();
        const std::vector<std::int32_t> counts = on_cpu ? tiles.counts(t) : tiles.block_counts(t);
        const int zone = on_cpu ? 0 : 1 + tiles.accelerator_of(t);
        blocks_.for_each_in(tiles.box(t), [&](std::int64_t place, const balance::Box& part) {
            mine.push_back({static_cast<std::int32_t>(place), static_cast<std::int32_t>(tiles.process_of(t)), zone,
                            static_cast<std::int32_t>(part.cells()), balance::sum_in(tiles.box(t), part, counts), 0});
        });
    }
    const balance::CellLoads* load = balancer.home_load();
    if (load)
        blocks_.for_each_in(balancer.home(), [&](std::int64_t place, const balance::Box& part) {
            mine.push_back(
                {static_cast<std::int32_t>(place), -1, 0, 0, 0, balance::sum_in(balancer.home(), part, load->load)});
        });
    const std::vector<Share> all = in_order(balance::gather<Share>(balancer.team(), mine), blocks_);
    std::vector<MapRow> rows;
    rows.reserve(all.size());
    std::int64_t total = 0, most = 0;  // load of the block; cells of its owner
    for (auto s = all.begin(); s != all.end();) {
        const bool begins = s == all.begin() || s->place != (s - 1)->place;
        if (begins) rows.push_back({step, blocks_.box(s->place), 0, 0, 0, 0}), total = most = 0;
        MapRow& row = rows.back();
        std::int64_t cells = 0;
        for (const auto same = s; s != all.end() && s->key() == same->key(); ++s)
            cells += s->cells, row.particles += s->particles, total += s->load;
        if (cells > most) most = cells, row.owner = (s - 1)->owner, row.zone = (s - 1)->zone;
        row.load = load ? static_cast<double>(total) * load->unit : std::numeric_limits<double>::quiet_NaN();
    }
    return rows;
}

RankRow Overview::rank_row(std::int64_t step, const Engine& engine, const Timers& timers) const {
    const int rank = engine.comm().rank();
    return {step,
            start_,
            rank,
            engine.setup().network.nodes.of(rank),
            engine.particles(),
            comm::now() - start_seconds_,
            timers.all(),
            engine.travel_seconds().waited,
            engine.traffic().messages,
            engine.traffic().bytes};
}

}  // namespace app

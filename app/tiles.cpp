// SPDX-License-Identifier: MIT
#include "app/tiles.hpp"

#include <fmt/format.h>
#include <omp.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <exception>
#include <tuple>
#include <utility>

#include "app/parallel.hpp"
#include "md/initial.hpp"
#include "md/potential.hpp"

namespace app {
namespace {

// MPI libraries send so little at once; for more they wait until the receiver is ready, who is busy with a pass of its own.
constexpr std::size_t eager_bytes = 4096;

}  // namespace

Tiles::Tiles(const Setup& setup, balance::Decomposition decomposition, const comm::Communicator& comm, Timers& timers)
    : setup_(setup), decomposition_(std::move(decomposition)), comm_(comm), timers_(timers), exchange_(comm), ghost_exchange_(comm, eager_bytes), scratch_(omp_get_max_threads()), skins_(setup.potential.cutoff, setup.skin, setup.widest_skin), watches_(omp_get_max_threads()) {
    make_tiles();
}

// Tiles for the cells that the decomposition gives this rank; those that it had already stay as they are.
void Tiles::make_tiles() {
    const auto less = [](const balance::Box& a, const balance::Box& b) { return std::tie(a.lower, a.upper) < std::tie(b.lower, b.upper); };
    std::map<balance::Box, md::Tile*, decltype(less)> kept(less);
    for (md::Tile& tile : tiles_) kept.emplace(tile.box(), &tile);
    std::vector<md::Tile> tiles;
    mine_ = decomposition_.processes_of(comm_.rank());
    first_tile_.clear();
    ids_.clear();
    for (std::int64_t p = mine_.begin; p < mine_.end; ++p) {
        first_tile_.push_back(tiles.size());
        int t = 0;
        for (const balance::Box& box : decomposition_.tiles_of(p)) {
            if (const auto it = kept.find(box); it != kept.end()) tiles.push_back(std::move(*it->second));
            else tiles.emplace_back(setup_.domain, box, setup_.frame);
            ids_.push_back({p, t++});
        }
    }
    tiles_ = std::move(tiles);
    pair_sums_.assign(tiles_.size(), {});
    results_.assign(tiles_.size(), {});
    force_x_.assign(tiles_.size(), {});
    force_y_.assign(tiles_.size(), {});
    tile_seconds_.assign(tiles_.size(), 0.0);
    make_plan();
}

// parallel_runs over tiles, whose processes' time is taken. The clock is slow (0.3 us), so a thread reads it only
// where it comes to another process; the first tile of such a run gets the time of all.
template <class Body>
void Tiles::timed_for(const Runs& runs, Body body) {
    if (!setup_.time_tiles) return parallel_runs(runs.first, [&](std::size_t i) { body(runs.items[i]); }, [] {});
    const auto finish = [&](Watch& w) {
        const double now = setup_.thread_seconds();
        if (w.running) tile_seconds_[w.tile] += now - w.start;
        w.start = now;
    };
    const auto watch = [&]() -> Watch& { return watches_[omp_get_thread_num()]; };
    parallel_runs(
        runs.first,
        [&](std::size_t i) {
            const std::size_t t = runs.items[i];
            Watch& w = watch();
            if (!w.running || process_of(w.tile) != process_of(t)) {
                finish(w);
                w.tile = t;
                w.running = true;
            }
            body(t);
        },
        [&] {
            if (!watch().running) return;
            finish(watch());
            watch().running = false;
        });
}

void Tiles::fill(const Deck& deck) {
    const std::size_t slabs = deck.system.slabs.size();
    std::vector<std::int64_t> first_id{0};
    for (const md::Slab& slab : deck.system.slabs) first_id.push_back(first_id.back() + md::particle_count(slab));
    std::vector<md::Int128> sums(2 * slabs, 0);
    parallel_for(tiles_.size(), [&](std::size_t t) {
        std::vector<md::Particle> made;
        for (std::size_t s = 0; s < slabs; ++s) {
            const std::size_t begin = made.size();
            md::make_particles(setup_.domain, deck.system.slabs[s], first_id[s], deck.system.seed, tiles_[t].box(), made);
            md::Int128 sum_x = 0, sum_y = 0;
            for (std::size_t i = begin; i < made.size(); ++i) sum_x += made[i].vx, sum_y += made[i].vy;
#pragma omp critical(steelyard_sums)
            sums[2 * s] += sum_x, sums[2 * s + 1] += sum_y;
        }
        tiles_[t].insert(made);
    });
    comm_.sum(sums);
    // Each slab's mean velocity becomes what the deck says.
    std::vector<std::array<std::int64_t, 2>> change(slabs);
    for (std::size_t s = 0; s < slabs; ++s)
        for (int a = 0; a < 2; ++a) {
            const std::int64_t n = std::max<std::int64_t>(1, first_id[s + 1] - first_id[s]);
            change[s][a] = std::llrint(deck.system.slabs[s].velocity[a] / md::velocity_unit) - static_cast<std::int64_t>(sums[2 * s + a] / n);
        }
    parallel_for(tiles_.size(), [&](std::size_t t) {
        tiles_[t].change_velocities([&](const md::Particle& p) {
            return change[std::upper_bound(first_id.begin(), first_id.end(), p.id) - first_id.begin() - 1];
        });
    });
    displaced_ = true;
}

void Tiles::adopt(const std::vector<md::Particle>& particles) {
    // Consecutive particles mostly lie in one tile: look there first.
    balance::Box known{{0, 0, 0}, {0, 0, 0}};
    balance::TileId id;
    const auto look_up = [&](const md::Particle& p) {
        const std::array<int, 3> c{setup_.domain.axis[0].cell_of(p.x), setup_.domain.axis[1].cell_of(p.y), 0};
        if (known.contains(c)) return;
        known = {{0, 0, 0}, {0, 0, 0}};
        decomposition_.for_each_tile_in({c, {c[0] + 1, c[1] + 1, 1}}, [&](const balance::TileId& owner, const balance::Box& cells) { known = cells, id = owner; });
        if (known.empty()) throw md::SimulationError(fmt::format("particle {} lies outside the box", p.id));
    };
    std::vector<std::vector<std::byte>> to_rank(comm_.size());
    std::vector<std::vector<md::Particle>> by_tile(tiles_.size());
    for (const md::Particle& p : particles) {
        look_up(p);
        const int rank = decomposition_.rank_of(id.process);
        if (rank == comm_.rank()) {
            by_tile[local(id)].push_back(p);
        } else {
            const auto bytes = std::as_bytes(std::span(&p, 1));
            to_rank[rank].insert(to_rank[rank].end(), bytes.begin(), bytes.end());
        }
    }
    const std::vector<std::byte> received = comm_.all_to_all(to_rank);
    for (std::size_t at = 0; at < received.size(); at += sizeof(md::Particle)) {
        md::Particle p;
        std::memcpy(&p, received.data() + at, sizeof p);
        look_up(p);
        by_tile[local(id)].push_back(p);
    }
    parallel_for(tiles_.size(), [&](std::size_t t) {
        if (!by_tile[t].empty()) tiles_[t].insert(by_tile[t]);
    });
    displaced_ = true;
}

void Tiles::repartition(balance::Decomposition next) {
    {
        const Timed phase(timers_, Phase::migration);
        std::vector<md::Particle> moving;
        const auto stays = [&](const balance::Box& box) {
            bool same = false;
            next.for_each_tile_in(box, [&](const balance::TileId& id, const balance::Box& cells) { same = same || (cells == box && next.rank_of(id.process) == comm_.rank()); });
            return same;
        };
        for (const md::Tile& tile : tiles_)
            if (!stays(tile.box()))
                for (std::int64_t i = 0; i < tile.size(); ++i) moving.push_back(tile.particle(i));
        decomposition_ = std::move(next);
        make_tiles();
        adopt(moving);
    }
    sort();  // those that stayed as they were are sorted
}

std::vector<balance::CellCounts> Tiles::cell_counts() const {
    std::vector<std::size_t> first{0};
    for (const md::Tile& tile : tiles_) first.push_back(first.back() + tile.box().cells());
    std::vector<balance::CellCounts> counts(first.back());
    parallel_for(tiles_.size(), [&](std::size_t t) {
        const md::Tile& tile = tiles_[t];
        const balance::Box& b = tile.box();
        const int nx = b.extent(0), ny = b.extent(1);
        // Sums of 3 and 5 cells up each column, then of 3 and 5 columns.
        std::vector<std::int32_t> of3(static_cast<std::size_t>(nx + 4) * ny), of5(of3.size());
        for (int x = -2; x < nx + 2; ++x) {
            const std::int32_t* n = tile.column(b.lower[0] + x, b.lower[1] - 2);
            const std::size_t at = static_cast<std::size_t>(x + 2) * ny;
            for (int y = 0; y < ny; ++y) {
                of3[at + y] = n[y + 1] + n[y + 2] + n[y + 3];
                of5[at + y] = n[y] + of3[at + y] + n[y + 4];
            }
        }
        for (int x = 0; x < nx; ++x) {
            const std::int32_t* n = tile.column(b.lower[0] + x, b.lower[1]);
            const std::int32_t *a = &of3[static_cast<std::size_t>(x + 1) * ny], *c = &of5[static_cast<std::size_t>(x) * ny];
            for (int y = 0; y < ny; ++y)
                counts[first[t] + static_cast<std::size_t>(x) * ny + y] = {n[y], a[y] + a[y + ny] + a[y + 2 * ny],
                                                                           c[y] + c[y + ny] + c[y + 2 * ny] + c[y + 3 * ny] + c[y + 4 * ny]};
        }
    });
    return counts;
}

std::vector<std::int64_t> Tiles::cell_neighbours() {
    std::vector<std::vector<std::int64_t>> by_tile(tiles_.size());
    parallel_for(tiles_.size(), [&](std::size_t t) {
        std::vector<std::int32_t> within(tiles_[t].size());
        setup_.kernels->neighbours(tiles_[t].view(current_), setup_.potential.cutoff, within.data());
        const std::int32_t* next = within.data();
        const balance::Box& b = tiles_[t].box();
        for (int x = b.lower[0]; x < b.upper[0]; ++x)
            for (int y = b.lower[1]; y < b.upper[1]; ++y) {
                std::int64_t sum = 0;
                for (std::int32_t k = 0; k < tiles_[t].count(x, y); ++k) sum += *next++;
                by_tile[t].push_back(sum);
            }
    });
    std::vector<std::int64_t> all;
    for (const auto& v : by_tile) all.insert(all.end(), v.begin(), v.end());
    return all;
}

std::vector<double> Tiles::take_tile_seconds() { return std::exchange(tile_seconds_, std::vector<double>(tiles_.size(), 0.0)); }

void Tiles::rebuild() {
    rebin();
    build_rows();
}

// What a step costs with a skin shows from one rebuild to the next, if that one was due.
void Tiles::tune_skin() {
    const double forces = timers_.seconds(Phase::forces);
    const double rest = timers_.seconds(Phase::neighbours) + timers_.seconds(Phase::ghosts) + timers_.seconds(Phase::migration);
    if (displaced_ && steps_since_ > 0) {
        std::array<std::int64_t, 2> cost{static_cast<std::int64_t>((forces - forces_before_) / steps_since_ * 1e9),
                                         static_cast<std::int64_t>((rest - rest_before_) / steps_since_ * 1e9)};
        if (skins_.searching()) comm_.max(cost);
        skins_.add(static_cast<double>(cost[0]), static_cast<double>(cost[1]));
        setup_.skin = skins_.skin();
    }
    forces_before_ = forces;
    rest_before_ = rest;
    steps_since_ = 0;
}

void Tiles::rebin() {
    if (setup_.tune_skin) tune_skin();
    migrate();
    sort();
}

void Tiles::sort() {
    {
        const Timed phase(timers_, Phase::neighbours);
        timed_for(all_, [&](std::size_t t) { tiles_[t].sort(*setup_.kernels, scratch_[omp_get_thread_num()]); });
    }
    share_out();
    const Timed phase(timers_, Phase::ghosts);
    swap_counts();
}

// Tiles to threads, by the particles that they hold now; cells cost a little too.
void Tiles::share_out() {
    const auto weight = [this](std::size_t t) { return 8 * tiles_[t].size() + tiles_[t].box().cells(); };
    const auto threads = static_cast<std::size_t>(omp_get_max_threads());
    std::vector<std::size_t> all, inner, rim;
    for (std::size_t t = 0; t < tiles_.size(); ++t) {
        all.push_back(t);
        (remote_[t] ? rim : inner).push_back(t);
    }
    all_ = deal(std::move(all), threads, weight);
    inner_ = deal(std::move(inner), threads, weight);
    rim_ = deal(std::move(rim), threads, weight);
}

void Tiles::build_rows() {
    {
        const Timed phase(timers_, Phase::ghosts);
        parallel_for(tiles_.size(), [&](std::size_t t) { tiles_[t].lay_slots(current_); });
        ghosts_filled_ = false;
        start_ghosts();
        finish_ghosts();
        parallel_for(tiles_.size(), [&](std::size_t t) { fill_from_local(t); });
        ghosts_filled_ = true;
    }
    const Timed phase(timers_, Phase::neighbours);
    timed_for(all_, [&](std::size_t t) {
        tiles_[t].build_rows(*setup_.kernels, setup_.radius(), current_, scratch_[omp_get_thread_num()]);
    });
    displaced_ = false;
    ++rebuilds_;
}

void Tiles::force_pass(md::Kick kick, bool sums, bool keep_forces, std::int64_t stop) {
    if (ghosts_filled_) {
        const Timed phase(timers_, Phase::forces);
        advance(inner_, kick, sums, keep_forces);
        advance(rim_, kick, sums, keep_forces);
    } else {
        {
            const Timed phase(timers_, Phase::ghosts);
            start_ghosts();
        }
        {
            const Timed phase(timers_, Phase::forces);
            advance(inner_, kick, sums, keep_forces);
        }
        {
            const Timed phase(timers_, Phase::ghosts);
            finish_ghosts();
        }
        const Timed phase(timers_, Phase::forces);
        advance(rim_, kick, sums, keep_forces);
    }
    ghosts_filled_ = true;
    md::StepResult all;
    for (const md::StepResult& r : results_) {
        all.displacement2 = std::max(all.displacement2, r.displacement2);
        if (r.fault.id < all.fault.id) all.fault = r.fault;
    }
    agree(all, stop);
    if (kick == md::Kick::first || kick == md::Kick::middle) {
        current_ = 1 - current_;  // the kernels wrote the next positions
        ghosts_filled_ = false;
        ++steps_since_;
    }
}

void Tiles::advance(const Runs& which, md::Kick kick, bool sums, bool keep_forces) {
    const int potential = md::potential_index(setup_.potential.kind);
    const auto step = setup_.kernels->step_for(setup_.potential, setup_.precision);
    const auto& axis = setup_.domain.axis;
    md::StepArgs args{};
    args.potential = &setup_.potential;
    args.narrow_g2 = setup_.limits.narrow_g2.data();
    args.safe_r2 = setup_.limits.safe_r2;
    args.dt = setup_.dt;
    args.kick = kick;
    args.sum_kinetic = sums;
    for (int a = 0; a < 2; ++a) {
        args.cell[a] = axis[a].cell_width();
        args.length[a] = axis[a].fixed_length();
    }
    timed_for(which, [&](std::size_t t) {
        if (!ghosts_filled_) fill_from_local(t);
        md::StepArgs mine = args;
        for (int a = 0; a < 2; ++a)
            if (!axis[a].periodic) {  // who can reach a wall before the next rebuild lies in the frame's width of it
                mine.wall[a][0] = tiles_[t].box().lower[a] < setup_.frame;
                mine.wall[a][1] = tiles_[t].box().upper[a] > axis[a].cells - setup_.frame;
            }
        if (keep_forces) {
            force_x_[t].resize(tiles_[t].size());
            force_y_[t].resize(tiles_[t].size());
            mine.force_x = force_x_[t].data();
            mine.force_y = force_y_[t].data();
        }
        const md::TileView view = tiles_[t].view(current_);
        md::StepResult result;  // neighbours in results_ share a cache line with other threads' tiles
        step(view, mine, result);
        results_[t] = result;
        if (sums) {
            md::PairSums pairs;
            setup_.kernels->pair_sums[potential](view, setup_.potential, pairs);
            pair_sums_[t] = pairs;
        }
    });
}

// One reduction a step: how far anybody moved, whether anybody failed, whether anybody was told to stop.
void Tiles::agree(const md::StepResult& mine, std::int64_t stop) {
    std::array<std::int64_t, 3> worst{std::bit_cast<std::int32_t>(mine.displacement2), mine.fault.kind != md::FaultKind::none, stop};
    comm_.max(worst);
    stop_ = worst[2];
    if (worst[1]) {
        std::array<std::int64_t, 1> id{mine.fault.id};
        comm_.min(id);
        std::array<std::int64_t, 1> kind{mine.fault.id == id[0] ? static_cast<std::int64_t>(mine.fault.kind) : 0};
        comm_.max(kind);
        throw md::SimulationError(fmt::format("particle {} {}", id[0],
                                              kind[0] == static_cast<std::int64_t>(md::FaultKind::speed)
                                                  ? "moves more than a cell in one step"
                                                  : "feels a force out of the exact range"),
                                  true);
    }
    const auto moved = std::bit_cast<float>(static_cast<std::int32_t>(worst[0]));
    const double limit = setup_.skin / 2 / setup_.domain.packed_unit();
    displaced_ = displaced_ || moved > limit * limit;
}

Totals Tiles::totals() const {
    std::vector<md::Int128> s(7, 0);
    for (std::size_t t = 0; t < tiles_.size(); ++t) {
        s[0] += tiles_[t].size();
        s[1] += results_[t].momentum[0];
        s[2] += results_[t].momentum[1];
        s[3] += results_[t].kinetic;
        s[4] += pair_sums_[t].energy;
        s[5] += pair_sums_[t].virial;
        s[6] += pair_sums_[t].pairs;
    }
    comm_.sum(s);
    return {static_cast<std::int64_t>(s[0]), static_cast<std::int64_t>(s[6]), {s[1], s[2]}, s[3], s[4], s[5]};
}

std::uint64_t Tiles::state_hash() const {
    std::uint64_t mine = 0;
#pragma omp parallel for reduction(+ : mine)
    for (std::size_t t = 0; t < tiles_.size(); ++t)
        for (std::int64_t i = 0; i < tiles_[t].size(); ++i) {
            md::Particle p = tiles_[t].particle(i);
            p.x = md::wrapped(p.x, setup_.domain.axis[0]);
            p.y = md::wrapped(p.y, setup_.domain.axis[1]);
            mine += md::particle_hash(p);
        }
    std::vector<md::Int128> sum{static_cast<md::Int128>(mine)};
    comm_.sum(sum);
    return static_cast<std::uint64_t>(sum[0]);
}

std::int64_t Tiles::particles() const {
    std::int64_t n = 0;
    for (const md::Tile& t : tiles_) n += t.size();
    return n;
}

std::int64_t Tiles::bytes() const {
    std::int64_t n = 0;
    for (const md::Tile& t : tiles_) n += t.bytes();
    for (const Peer& p : peers_) n += static_cast<std::int64_t>((p.sent.capacity() + p.received.capacity()) * sizeof(std::uint64_t));
    return n;
}

std::array<double, 2> Tiles::force(std::size_t tile, std::int64_t own) const {
    const double quantum = std::ldexp(1.0, -md::force_bits(setup_.precision));
    return {static_cast<double>(force_x_[tile][own]) * quantum, static_cast<double>(force_y_[tile][own]) * quantum};
}

void Tiles::reverse() {
    for (md::Tile& tile : tiles_)
        tile.change_velocities([](const md::Particle& p) { return std::array<std::int64_t, 2>{-2 * p.vx, -2 * p.vy}; });
}

}  // namespace app

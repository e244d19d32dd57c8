// SPDX-License-Identifier: MIT
// When owners change, whole boxes of cells move. Both sides derive the boxes from the two decompositions, so only the
// numbers of particles are sent ahead. Particles from a file come in any order and are looked up one by one.
#include "app/engine/migration.hpp"

#include <map>
#include <span>
#include <utility>

#include "app/engine/channel.hpp"
#include "app/engine/thread_schedule.hpp"
#include "balance/grid/field.hpp"
#include "balance/partition/plan.hpp"
#include "balance/transfer.hpp"
#include "comm/simulation.hpp"

namespace app {
namespace {

using balance::Move;

// Number of particles before each cell of a sorted tile, in the order of its cells. A last entry has the number of all.
std::vector<std::int64_t> particles_before_cells(const std::vector<std::int32_t>& counts) {
    std::vector<std::int64_t> before{0};
    before.reserve(counts.size() + 1);
    for (const std::int32_t n : counts) before.push_back(before.back() + n);
    return before;
}

// The particles of a sorted tile in a box of its cells, in the order of the cells. Calls use(first, number) for each
// column. before: numbers of particles before each of the tile's cells.
template <int D, class Use>
void for_each_run(const balance::Box& tile, const std::vector<std::int64_t>& before, const balance::Box& box, Use use) {
    md::for_each_column<D>(box, [&](const md::CellIndex& c) {
        const std::int64_t low = balance::place_in(tile, c[0], c[1], c[2]);
        use(before[low], before[low + box.extent(D - 1)] - before[low]);
    });
}

struct MigrationPlan {
    balance::Plan moves;
    balance::IndexRange processes;   // of this rank in the old partition
    std::vector<std::size_t> first;  // index of each process's first tile among the rank's old tiles
};

// Takes the old partition, because its memory is not needed afterwards.
MigrationPlan plan_migration(balance::Decomposition old, const balance::Decomposition& next, int rank) {
    MigrationPlan plan{balance::move_plan(old, next, rank), old.processes_of(rank), {0}};
    for (std::int64_t p = plan.processes.begin; p < plan.processes.end; ++p)
        plan.first.push_back(plan.first.back() + old.tiles_of(p).size());
    return plan;
}

}  // namespace

template <int D>
void repartition(Tiles<D>& tiles, const Setup& setup, balance::Decomposition old, const balance::Decomposition& next) {
    const auto [plan, mine, first] = plan_migration(std::move(old), next, tiles.comm().rank());
    tiles.reshape_zones(next);
    std::vector<std::vector<std::int64_t>> before(tiles.size());
    parallel_for(tiles.size(), [&](std::size_t t) { before[t] = particles_before_cells(tiles.counts(t)); });
    std::vector<md::Tile<D>> sources = tiles.replace(next);
    comm::give_back_pages();
    const auto source_of = [&, begin = mine.begin, &first = first](const Move& m) {
        return first[m.source.process - begin] + m.source.tile;
    };
    const auto size_of = [&](const Move& m) {
        std::int64_t n = 0;
        const std::size_t s = source_of(m);
        for_each_run<D>(sources[s].box(), before[s], m.box, [&](std::int64_t, std::int64_t size) { n += size; });
        return n;
    };
    const auto pack = [&](const Move& m, md::Particle<D>* to) {
        const std::size_t s = source_of(m);
        for_each_run<D>(sources[s].box(), before[s], m.box, [&](std::int64_t first, std::int64_t size) {
            for (std::int64_t i = first; i < first + size; ++i) *to++ = sources[s].particle(i);
        });
    };

    // How many particles each move carries, then the particles.
    balance::Transfer<Move, std::int64_t> sizes(make_channel(setup, tiles.comm(), "migration_counts"));
    std::map<Move, std::int64_t> received;
    const auto one = [](const Move&) { return std::size_t{1}; };
    sizes.lay_out(std::span(plan.links), one, one);
    sizes.start(on_all_threads, [&](const Move& m, std::int64_t* to) { *to = size_of(m); });
    sizes.finish(balance::SerialLoop{}, [&](const Move& m, const std::int64_t* from) { received[m] = *from; });
    balance::Transfer<Move, md::Particle<D>> particles(make_channel(setup, tiles.comm(), "migration"));
    particles.lay_out(std::span(plan.links), size_of, [&](const Move& m) { return received.at(m); });
    particles.start(on_all_threads, pack);

    std::vector<std::vector<Move>> local(tiles.size());
    for (const Move& m : plan.local) local[tiles.place_of(m.target)].push_back(m);
    parallel_for(tiles.size(), [&](std::size_t t) {
        std::vector<md::Particle<D>> here;
        for (const Move& m : local[t]) {
            here.resize(size_of(m));
            pack(m, here.data());
            tiles.insert(t, here);
        }
    });
    sources = {};  // all that moves is packed: there is room for what comes
    comm::give_back_pages();
    std::vector<std::vector<std::span<const md::Particle<D>>>> arrived(tiles.size());
    const auto unpack = [&](const Move& m, const md::Particle<D>* from) {
        arrived[tiles.place_of(m.target)].push_back({from, static_cast<std::size_t>(received.at(m))});
    };
    particles.finish(balance::SerialLoop{}, unpack, true);
    parallel_for(tiles.size(), [&](std::size_t t) {
        for (const std::span<const md::Particle<D>> list : arrived[t]) tiles.insert(t, list);
    });
}

template <int D>
void distribute(Tiles<D>& tiles, const Setup& setup, const balance::Decomposition& owners,
                const std::vector<md::Particle<D>>& particles) {
    // Consecutive particles mostly lie in one tile: look there first.
    balance::Box known{{0, 0, 0}, {0, 0, 0}};
    balance::TileId id;
    const auto look_up = [&](const md::Particle<D>& p) {
        md::CellIndex c{};
        for (int a = 0; a < D; ++a) c[a] = setup.domain.axis[a].cell_of(p.x[a]);
        if (known.contains(c)) return;
        known = {{0, 0, 0}, {0, 0, 0}};
        owners.for_each_tile_in(
            {c, {c[0] + 1, c[1] + 1, c[2] + 1}},
            [&](const balance::TileId& owner, const balance::Box& cells) { known = cells, id = owner; });
        if (known.empty()) throw md::SimulationError("particle " + std::to_string(p.id) + " lies outside the box");
    };
    const comm::Communicator& comm = tiles.comm();
    std::vector<std::vector<std::byte>> to_rank(comm.size());
    std::vector<std::vector<md::Particle<D>>> by_tile(tiles.size());
    for (const md::Particle<D>& p : particles) {
        look_up(p);
        const int rank = owners.rank_of(id.process);
        if (rank == comm.rank()) by_tile[tiles.place_of(id)].push_back(p);
        else balance::append(to_rank[rank], p);
    }
    for (const md::Particle<D>& p : balance::elements_in<md::Particle<D>>(comm.all_to_all(to_rank))) {
        look_up(p);
        by_tile[tiles.place_of(id)].push_back(p);
    }
    parallel_for(tiles.size(), [&](std::size_t t) {
        if (!by_tile[t].empty()) tiles.insert(t, by_tile[t]);
    });
}

template void repartition(Tiles<2>&, const Setup&, balance::Decomposition, const balance::Decomposition&);
template void repartition(Tiles<3>&, const Setup&, balance::Decomposition, const balance::Decomposition&);
template void distribute(Tiles<2>&, const Setup&, const balance::Decomposition&, const std::vector<md::Particle<2>>&);
template void distribute(Tiles<3>&, const Setup&, const balance::Decomposition&, const std::vector<md::Particle<3>>&);

}  // namespace app

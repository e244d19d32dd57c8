// SPDX-License-Identifier: MIT
// Tiles that exist in the old and the new decomposition are kept with all that they hold; everything else is made anew
// and filled by others.
#include "app/engine/tiles.hpp"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "app/engine/thread_schedule.hpp"
#include "md/initial.hpp"

namespace app {
namespace {

// Particles in each cell of a block and its halo.
void take_counts(md::Tile& tile, gpu::Zone& zone) {
    const std::vector<std::int32_t> counts = zone.counts();
    const balance::Box& b = tile.box();
    std::copy(counts.begin(), counts.end(), &tile.count(b.lower[0] - tile.halo(), b.lower[1] - tile.halo()));
}

}  // namespace

Tiles::Tiles(const Setup& setup, const balance::Decomposition& decomposition, const comm::Communicator& comm)
    : setup_(setup), comm_(comm), hosts_(decomposition.hosts()) {
    const Accelerators& a = setup.accelerators;
    const gpu::ZoneSetup zone{setup.domain, setup.halo, setup.potential, setup.precision, setup.limits, setup.dt};
    for (const int device : a.devices) zones_.push_back(gpu::make_zone(a.backend, device, a.threads, zone, a.shuffle));
    replace(decomposition);
}

std::vector<md::Tile> Tiles::replace(const balance::Decomposition& next) {
    hosts_ = next.hosts();
    shape_ = next.tile();
    const auto less = [](const balance::Box& a, const balance::Box& b) {
        return std::tie(a.lower, a.upper) < std::tie(b.lower, b.upper);
    };
    std::map<balance::Box, md::Tile*, decltype(less)> old(less);
    for (std::size_t t = 0; t < on_cpu(); ++t) old.emplace(tiles_[t].box(), &tiles_[t]);
    std::vector<md::Tile> tiles;
    std::vector<int> accelerator;
    ids_.clear();
    first_of_process_.clear();
    const balance::Range mine = hosts_.processes_of(comm_.rank());
    for (std::int64_t p = mine.begin; p < mine.end; ++p) {
        int t = 0;
        first_of_process_.push_back(tiles.size());
        for (const balance::Box& box : next.tiles_of(p)) {
            const balance::TileId id{p, t++};
            if (const int a = next.accelerator_of(id); a >= 0) accelerator.push_back(a);
            if (const auto it = old.find(box); it != old.end() && accelerator.empty())
                tiles.push_back(std::move(*it->second));
            else tiles.emplace_back(setup_.domain, box, setup_.halo);
            ids_.push_back(id);
        }
    }
    accelerator_ = std::move(accelerator);
    return std::exchange(tiles_, std::move(tiles));
}

void Tiles::insert(std::size_t t, std::span<const md::Particle> particles) {
    if (t < on_cpu()) tiles_[t].insert(particles);
    else if (!particles.empty()) zone(t).insert(particles);
}

void Tiles::copy_blocks() {
    for (std::size_t t = on_cpu(); t < size(); ++t) {
        md::Tile& tile = tiles_[t];
        tile.clear();
        tile.insert(zone(t).particles());
        take_counts(tile, zone(t));
    }
}

void Tiles::drop_copies() {
    for (std::size_t t = on_cpu(); t < size(); ++t) tiles_[t].clear();
}

void Tiles::reshape_zones(const balance::Decomposition& next) {
    const std::span<const balance::Box> blocks = next.zones().of(comm_.rank());
    md::TileScratch scratch;
    for (std::size_t t = on_cpu(); t < size(); ++t) {
        const std::size_t a = accelerator_[t - on_cpu()];
        tiles_[t].clear();
        tiles_[t].insert(zone(t).set_block(a < blocks.size() ? blocks[a] : balance::Box{{0, 0, 0}, {0, 0, 1}}, {}));
        tiles_[t].sort(*setup_.kernels, scratch);
    }
    // Those that had no block.
    for (std::size_t a = 0; a < blocks.size(); ++a) zones_[a]->set_block(blocks[a], {});
}

void Tiles::fill(const md::System& system) {
    const std::size_t slabs = system.slabs.size();
    std::vector<std::int64_t> first_id{0};
    for (const md::Slab& slab : system.slabs) first_id.push_back(first_id.back() + md::particle_count(slab));
    std::vector<md::Int128> sums(2 * slabs, 0);
    parallel_for(tiles_.size(), [&](std::size_t t) {
        std::vector<md::Particle> made;
        for (std::size_t s = 0; s < slabs; ++s) {
            const std::size_t begin = made.size();
            md::make_particles(setup_.domain, system.slabs[s], first_id[s], system.seed, tiles_[t].box(), made);
            md::Int128 sum_x = 0, sum_y = 0;
            for (std::size_t i = begin; i < made.size(); ++i) sum_x += made[i].vx, sum_y += made[i].vy;
#pragma omp critical(steelyard_sums)
            {
                sums[2 * s] += sum_x;
                sums[2 * s + 1] += sum_y;
            }
        }
        tiles_[t].insert(made);
    });
    comm_.sum(sums);
    // Each slab's mean velocity becomes what the deck says.
    std::vector<std::array<std::int64_t, 2>> change(slabs);
    for (std::size_t s = 0; s < slabs; ++s)
        for (int a = 0; a < 2; ++a) {
            const std::int64_t n = std::max<std::int64_t>(1, first_id[s + 1] - first_id[s]);
            change[s][a] = std::llrint(system.slabs[s].velocity[a] / md::velocity_unit) -
                           static_cast<std::int64_t>(sums[2 * s + a] / n);
        }
    parallel_for(tiles_.size(), [&](std::size_t t) {
        tiles_[t].change_velocities([&](const md::Particle& p) {
            return change[std::upper_bound(first_id.begin(), first_id.end(), p.id) - first_id.begin() - 1];
        });
    });
}

void Tiles::reverse() {
    for (md::Tile& tile : tiles_)
        tile.change_velocities([](const md::Particle& p) { return std::array<std::int64_t, 2>{-2 * p.vx, -2 * p.vy}; });
}

std::vector<balance::CellCounts> Tiles::cell_counts() const {
    std::vector<std::size_t> first{0};
    for (const md::Tile& tile : tiles_) first.push_back(first.back() + tile.box().cells());
    std::vector<balance::CellCounts> counts(first.back());
    const auto add = [&](const md::Tile& tile, std::size_t at) {
        tile.for_each_cell_count([&](std::int32_t n, std::int32_t n3, std::int32_t n5) { counts[at++] = {n, n3, n5}; });
    };
    parallel_for(on_cpu(), [&](std::size_t t) { add(tiles_[t], first[t]); });
    for (std::size_t t = on_cpu(); t < size(); ++t) {
        md::Tile tile(setup_.domain, tiles_[t].box(), tiles_[t].halo());
        take_counts(tile, *zones_[accelerator_[t - on_cpu()]]);
        add(tile, first[t]);
    }
    return counts;
}

std::vector<std::int64_t> Tiles::cell_neighbours() {
    std::vector<std::vector<std::int64_t>> by_tile(tiles_.size());
    parallel_for(on_cpu(), [&](std::size_t t) {
        std::vector<std::int32_t> within(tiles_[t].size());
        setup_.kernels->neighbours(tiles_[t].lists(), setup_.potential.cutoff, within.data());
        const std::int32_t* next = within.data();
        const balance::Box& b = tiles_[t].box();
        for (int x = b.lower[0]; x < b.upper[0]; ++x)
            for (int y = b.lower[1]; y < b.upper[1]; ++y) {
                std::int64_t sum = 0;
                for (std::int32_t k = 0; k < tiles_[t].count(x, y); ++k) sum += *next++;
                by_tile[t].push_back(sum);
            }
    });
    for (std::size_t t = on_cpu(); t < size(); ++t) by_tile[t] = zone(t).cell_neighbours();
    std::vector<std::int64_t> all;
    for (const auto& v : by_tile) all.insert(all.end(), v.begin(), v.end());
    return all;
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
    for (std::size_t t = 0; t < size(); ++t) n += particles(t);
    return n;
}

std::int64_t Tiles::bytes() const {
    std::int64_t n = 0;
    for (const md::Tile& t : tiles_) n += t.bytes();
    if (setup_.accelerators.backend == gpu::Backend::host)  // whose memory is this process's
        for (const auto& z : zones_) n += z->bytes();
    return n;
}

}  // namespace app

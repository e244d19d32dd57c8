// SPDX-License-Identifier: MIT
// Tiles that exist in the old and the new decomposition are kept with all that they hold; everything else is made anew
// and filled by others.
#include "app/engine/tiles.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <tuple>
#include <utility>

#include "app/engine/thread_schedule.hpp"
#include "balance/grid/field.hpp"
#include "balance/model/cell_counts.hpp"
#include "md/initial.hpp"

namespace app {
namespace {

// The numbers of the cells of `part`, of those of a box around it.
std::vector<std::int32_t> cut_out(const balance::Box& part, const balance::Box& box,
                                  std::span<const std::int32_t> values) {
    std::vector<std::int32_t> cut;
    cut.reserve(static_cast<std::size_t>(part.cells()));
    balance::for_each_run(part, {box, part}, [&](int x, int y, std::int64_t cells) {
        const std::int32_t* first = &values[balance::place_in(box, x, y, part.lower[2])];
        cut.insert(cut.end(), first, first + cells);
    });
    return cut;
}

}  // namespace

template <int D>
Tiles<D>::Tiles(const Setup& setup, const balance::Decomposition& decomposition, const comm::Communicator& comm)
    : TileSet(setup, comm, decomposition.hosts()) {
    const Accelerators& a = setup.accelerators;
    const gpu::ZoneSetup zone{setup.domain,    setup.halo,   setup.potential, setup.external,
                              setup.precision, setup.limits, setup.dt,        setup.kernels->isa};
    for (const int device : a.devices)
        zones_.push_back(gpu::make_zone<D>(a.backend, device, a.threads, zone, a.shuffle));
    replace(decomposition);
}

template <int D>
std::vector<md::Tile<D>> Tiles<D>::replace(const balance::Decomposition& next) {
    const auto less = [](const balance::Box& a, const balance::Box& b) {
        return std::tie(a.lower, a.upper) < std::tie(b.lower, b.upper);
    };
    std::map<balance::Box, md::Tile<D>*, decltype(less)> old(less);
    for (std::size_t t = 0; t < on_cpu(); ++t) old.emplace(box(t), &tiles_[t]);
    own(next);
    std::vector<md::Tile<D>> tiles;
    for (std::size_t t = 0; t < size(); ++t) {
        if (const auto it = old.find(box(t)); it != old.end() && t < on_cpu()) tiles.push_back(std::move(*it->second));
        else tiles.emplace_back(setup_.domain, box(t), setup_.halo, setup_.reach);
    }
    for (md::Tile<D>& left : tiles_) left.free_all_but_particles();
    return std::exchange(tiles_, std::move(tiles));
}

template <int D>
void Tiles<D>::insert(std::size_t t, std::span<const md::Particle<D>> particles) {
    if (t < on_cpu()) tiles_[t].insert(particles);
    else if (!particles.empty()) zone(t).insert(particles);
}

template <int D>
void Tiles<D>::copy_blocks() {
    for (std::size_t t = on_cpu(); t < size(); ++t) {
        md::Tile<D>& tile = tiles_[t];
        tile.clear();
        tile.insert(zone(t).particles());
        std::vector<std::int32_t> counts = zone(t).counts();
        tile.swap_counts(counts);
    }
}

template <int D>
void Tiles<D>::drop_copies() {
    for (std::size_t t = on_cpu(); t < size(); ++t) tiles_[t].clear();
}

template <int D>
void Tiles<D>::reshape_zones(const balance::Decomposition& next) {
    const std::span<const balance::Box> blocks = next.zones().of(comm().rank());
    md::TileScratch scratch;
    for (std::size_t t = on_cpu(); t < size(); ++t) {
        const std::size_t a = accelerator_of(t);
        tiles_[t].clear();
        tiles_[t].insert(zone(t).set_block(a < blocks.size() ? blocks[a] : balance::Box{{0, 0, 0}, {0, 0, 1}}, {}));
        tiles_[t].sort(*setup_.kernels, scratch);
    }
    // Those that had no block.
    for (std::size_t a = 0; a < blocks.size(); ++a) zones_[a]->set_block(blocks[a], {});
}

template <int D>
void Tiles<D>::fill(std::span<const md::Body> bodies, std::span<const std::int64_t> first_id, std::uint64_t seed) {
    std::vector<std::size_t> filled;  // by lattices
    for (std::size_t i = 0; i < bodies.size(); ++i)
        if (bodies[i].fill == md::Fill::lattice) filled.push_back(i);
    std::vector<md::Lattice> lattices;
    for (const std::size_t i : filled) lattices.emplace_back(bodies[i]);
    std::vector<md::Int128> sums(D * bodies.size(), 0);
    parallel_for(tiles_.size(), [&](std::size_t t) {
        std::vector<md::Particle<D>> made;
        for (std::size_t s = 0; s < filled.size(); ++s) {
            const std::size_t begin = made.size();
            md::make_particles(setup_.domain, lattices[s], first_id[filled[s]], seed, tiles_[t].box(), made);
            const auto sum = md::velocity_sum<D>(std::span(made).subspan(begin));
#pragma omp critical(steelyard_sums)
            for (int a = 0; a < D; ++a) sums[D * filled[s] + a] += sum[a];
        }
        tiles_[t].insert(made);
    });
    comm().sum(sums);
    // Each body's mean velocity becomes what the deck says.
    std::vector<std::array<std::int64_t, D>> change(bodies.size());
    for (std::size_t i = 0; i < bodies.size(); ++i)
        change[i] =
            md::to_drift<D>(bodies[i], std::span<const md::Int128, D>(&sums[D * i], D), first_id[i + 1] - first_id[i]);
    parallel_for(tiles_.size(), [&](std::size_t t) {
        tiles_[t].change_velocities([&](const md::Particle<D>& p) {
            return change[std::ranges::upper_bound(first_id, p.id) - first_id.begin() - 1];
        });
    });
}

template <int D>
void Tiles<D>::reverse() {
    for (md::Tile<D>& tile : tiles_)
        tile.change_velocities([](const md::Particle<D>& p) {
            std::array<std::int64_t, D> dv{};
            for (int a = 0; a < D; ++a) dv[a] = -2 * p.v[a];
            return dv;
        });
}

template <int D>
md::Particle<3> Tiles<D>::particle(std::size_t t, std::int64_t own) const {
    const md::Particle<D> p = tiles_[t].particle(own);
    md::Particle<3> all{p.id, {}, {}};
    for (int a = 0; a < D; ++a) all.x[a] = p.x[a], all.v[a] = p.v[a];
    return all;
}

template <int D>
std::vector<std::int32_t> Tiles<D>::counts(std::size_t t) const {
    return cut_out(box(t), tiles_[t].counted(), tiles_[t].counts());
}

template <int D>
std::vector<std::int32_t> Tiles<D>::block_counts(std::size_t t) const {
    return cut_out(box(t), tiles_[t].counted(), zones_[accelerator_of(t)]->counts());
}

template <int D>
std::vector<balance::CellCounts> Tiles<D>::cell_counts_of(std::size_t t) const {
    return balance::counts_in(box(t), D, tiles_[t].counted(), tiles_[t].counts());
}

template <int D>
void Tiles<D>::count_cells(const balance::Box& within, const CountsUse& use) const {
    struct Part {
        std::size_t tile;
        balance::Box cells;
        std::span<const std::int32_t> particles;
    };
    std::vector<Part> parts;
    std::vector<std::vector<std::int32_t>> of_blocks(size());
    for (std::size_t t = 0; t < size(); ++t) {
        const balance::Box cells = intersection(box(t), within);
        if (cells.empty()) continue;
        if (t >= on_cpu()) of_blocks[t] = zones_[accelerator_of(t)]->counts();
        const std::span particles = t < on_cpu() ? tiles_[t].counts() : of_blocks[t];
        const int thickness = static_cast<int>(1 + 4096 * cells.extent(0) / cells.cells());  // it fits into a cache
        for (int x = cells.lower[0]; x < cells.upper[0]; x += thickness)
            parts.push_back({t, slab(cells, 0, x, std::min(x + thickness, cells.upper[0])), particles});
    }
    parallel_for(parts.size(), [&](std::size_t i) {
        const auto& [t, cells, particles] = parts[i];
        use(t, cells, balance::counts_in(cells, D, tiles_[t].counted(), particles));
    });
}

template <int D>
std::vector<std::int64_t> Tiles<D>::cell_neighbours() {
    std::vector<std::vector<std::int64_t>> by_tile(size());
    parallel_for(on_cpu(), [&](std::size_t t) {
        std::vector<std::int32_t> within(tiles_[t].size());
        md::kernels_of<D>(*setup_.kernels).neighbours(tiles_[t].lists(), setup_.potential.cutoff, within.data());
        const std::int32_t* next = within.data();
        for (const std::int32_t n : counts(t)) {
            std::int64_t sum = 0;
            for (std::int32_t k = 0; k < n; ++k) sum += *next++;
            by_tile[t].push_back(sum);
        }
    });
    for (std::size_t t = on_cpu(); t < size(); ++t) by_tile[t] = zone(t).cell_neighbours();
    std::vector<std::int64_t> all;
    for (const auto& v : by_tile) all.insert(all.end(), v.begin(), v.end());
    return all;
}

template <int D>
std::uint64_t Tiles<D>::state_hash() const {
    std::uint64_t mine = 0;
#pragma omp parallel for reduction(+ : mine)
    for (std::size_t t = 0; t < tiles_.size(); ++t)
        for (std::int64_t i = 0; i < tiles_[t].size(); ++i) {
            md::Particle<D> p = tiles_[t].particle(i);
            for (int a = 0; a < D; ++a) p.x[a] = md::wrapped(p.x[a], setup_.domain.axis[a]);
            mine += md::particle_hash(p);
        }
    std::vector<md::Int128> sum{static_cast<md::Int128>(mine)};
    comm().sum(sum);
    return static_cast<std::uint64_t>(sum[0]);
}

template <int D>
std::int64_t Tiles<D>::bytes() const {
    std::int64_t n = 0;
    for (const md::Tile<D>& t : tiles_) n += t.bytes();
    if (setup_.accelerators.backend == gpu::Backend::host)  // whose memory is this process's
        for (const auto& z : zones_) n += z->bytes();
    return n;
}

template class Tiles<2>;
template class Tiles<3>;

}  // namespace app

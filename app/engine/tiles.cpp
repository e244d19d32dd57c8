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
    if (t < on_cpu()) return tiles_[t].insert(particles);
    if (particles.empty()) return;
    const std::lock_guard one(inserting_);
    zone(accelerator_of(t)).insert(particles);
}

template <int D>
std::vector<balance::Box> Tiles<D>::blocks(int accelerator) const {
    std::vector<balance::Box> all;
    for (std::size_t t = on_cpu(); t < size(); ++t)
        if (accelerator_of(t) == accelerator) all.push_back(box(t));
    return all;
}

template <int D>
void Tiles<D>::copy_blocks() {
    std::vector<md::Particle<D>> all;
    for (std::size_t t = on_cpu(), first = 0; t < size(); ++t) {
        if (block_of(t) == 0) all = zone(accelerator_of(t)).particles(), first = 0;
        const auto n = static_cast<std::size_t>(particles(t));
        tiles_[t].clear();
        tiles_[t].insert(std::span(all).subspan(std::exchange(first, first + n), n));
        std::vector<std::int32_t> counts = block_counts_with_halo(t);
        tiles_[t].swap_counts(counts);
    }
}

template <int D>
void Tiles<D>::drop_copies() {
    for (std::size_t t = on_cpu(); t < size(); ++t) tiles_[t].clear();
}

template <int D>
void Tiles<D>::reshape_zones(const balance::Decomposition& next) {
    const std::span<const balance::ZoneBlock> blocks = next.zones().of(comm().rank());
    for (std::size_t t = on_cpu(); t < size(); ++t) tiles_[t].clear();
    for (int a = 0; a < accelerators(); ++a) {
        std::vector<balance::Box> boxes;
        for (const balance::ZoneBlock& b : blocks)
            if (b.accelerator == a) boxes.push_back(b.box);
        std::vector<std::vector<md::Particle<D>>> leavers(size());
        for (const md::Particle<D>& p : zone(a).set_blocks(boxes, {})) {
            md::CellIndex cell{};
            for (int k = 0; k < D; ++k) cell[k] = setup_.domain.axis[k].cell_of(p.x[k]);
            std::size_t t = first_of_accelerator(a);
            while (t + 1 < size() && !box(t).contains(cell)) ++t;
            leavers[t].push_back(p);
        }
        for (std::size_t t = on_cpu(); t < size(); ++t) tiles_[t].insert(leavers[t]);
    }
    md::TileScratch scratch;
    for (std::size_t t = on_cpu(); t < size(); ++t) tiles_[t].sort(*setup_.kernels, scratch);
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
    return zones_[accelerator_of(t)]->counts(block_of(t));
}

// In the order of md::Tile::counts(), whose halo has been filled in for a block too.
template <int D>
std::vector<std::int32_t> Tiles<D>::block_counts_with_halo(std::size_t t) const {
    const md::Tile<D>& tile = tiles_[t];
    std::vector<std::int32_t> all(tile.counts().begin(), tile.counts().end());
    const std::vector<std::int32_t> own = block_counts(t);
    const std::int32_t* next = own.data();
    balance::for_each_run(box(t), {tile.counted(), box(t)}, [&](int x, int y, std::int64_t cells) {
        std::copy_n(std::exchange(next, next + cells), cells,
                    &all[balance::place_in(tile.counted(), x, y, box(t).lower[2])]);
    });
    return all;
}

template <int D>
std::vector<balance::CellCounts> Tiles<D>::cell_counts_of(std::size_t t) const {
    return balance::counts_in(box(t), D, tiles_[t].counted(), tiles_[t].counts());
}

template <int D>
void Tiles<D>::for_each_part(const balance::Box& within, const PartUse& use) const {
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
        if (t >= on_cpu()) of_blocks[t] = block_counts_with_halo(t);
        const std::span particles = t < on_cpu() ? tiles_[t].counts() : of_blocks[t];
        const int thickness = static_cast<int>(1 + 4096 * cells.extent(0) / cells.cells());  // it fits into a cache
        for (int x = cells.lower[0]; x < cells.upper[0]; x += thickness)
            parts.push_back({t, slab(cells, 0, x, std::min(x + thickness, cells.upper[0])), particles});
    }
    parallel_for(parts.size(), [&](std::size_t i) {
        const auto& [t, cells, particles] = parts[i];
        use(t, cells, tiles_[t].counted(), particles);
    });
}

template <int D>
std::vector<std::int64_t> Tiles<D>::cell_neighbours() {
    std::vector<std::vector<std::int64_t>> by_tile(on_cpu());
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
    std::vector<std::int64_t> all;
    for (const auto& v : by_tile) all.insert(all.end(), v.begin(), v.end());
    for (int a = 0; a < accelerators(); ++a)
        if (has_blocks(a)) {
            const std::vector<std::int64_t> of_blocks = zone(a).cell_neighbours();
            all.insert(all.end(), of_blocks.begin(), of_blocks.end());
        }
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

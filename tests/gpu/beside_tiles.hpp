// SPDX-License-Identifier: MIT
// A zone beside tiles that do the same by md's kernels. One tile covers the whole box and its own images, as the world
// around; another covers the cells of the zone. The zone has them as one block or as several. Positions that come to
// the zone are those of the world.
#pragma once
#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <iostream>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "balance/grid/grid.hpp"
#include "gpu/zone.hpp"
#include "md/initial.hpp"
#include "md/potential.hpp"
#include "md/thermostat.hpp"
#include "md/tile.hpp"
#include "tests/md/one_tile.hpp"

namespace test {

/// What a zone runs on.
struct Accelerator {
    gpu::Backend backend;
    int threads;
    std::uint64_t shuffle;
};

/// The host backend in different ways, and the device if there is one.
inline std::vector<Accelerator> accelerators() {
    std::vector<Accelerator> all{
        {gpu::Backend::host, 1, 0}, {gpu::Backend::host, 3, 0}, {gpu::Backend::host, 1, 7}, {gpu::Backend::host, 3, 8}};
    if (gpu::accelerator_count(gpu::Backend::cuda) > 0) all.push_back({gpu::Backend::cuda, 1, 0});
    else {
        [[maybe_unused]] static const bool said = [] {
            std::cout << "not tested on a device: " << gpu::why_no_cuda() << '\n';
            return true;
        }();
    }
    return all;
}

/// Of each instruction set in turn, so that zones are compared with all of them.
inline const md::Kernels& kernels_in_turn() {
    static std::size_t turn = 0;
    const std::vector<const md::Kernels*> all = md::available_kernels();
    return *all[turn++ % all.size()];
}

/// In how many blocks zones have their cells: 1, 3, 4 in turn.
inline std::int64_t next_number_of_parts() {
    static std::size_t turn = 0;
    return std::array{1, 3, 4}[turn++ % 3];
}

/// A zone, with the instruction set of these kernels on the host.
template <int D>
std::unique_ptr<gpu::Zone<D>> zone_beside(const md::Kernels& kernels, const Accelerator& on, gpu::ZoneSetup setup) {
    setup.isa = kernels.isa;
    return gpu::make_zone<D>(on.backend, 0, on.threads, setup, on.shuffle);
}

template <int D>
bool same(const md::Particle<D>& p, const md::Particle<D>& q) {
    return p.id == q.id && std::ranges::equal(p.x, q.x) && std::ranges::equal(p.v, q.v);
}

template <int D>
class BesideTiles {
public:
    BesideTiles(const gpu::ZoneSetup& setup, double skin, const Accelerator& on, const balance::Box& block,
                const std::vector<md::Particle<D>>& particles)
        : setup_(setup),
          skin_(skin),
          kernels_(kernels_in_turn()),
          zone_(zone_beside<D>(kernels_, on, setup)),
          world_(setup.domain, setup.domain.grid().box(), setup.halo, setup.halo) {
        world_.insert(particles);
        world_.sort(kernels_, scratch_);
        take_block(block);
    }

    gpu::Zone<D>& zone() { return *zone_; }
    const md::Tile<D>& tile() const { return *tile_; }
    /// Whether a particle has moved so far that lists must be built.
    bool displaced() const { return displaced_; }

    /// Gives the zone another block, after its particles have been sorted, and builds the lists of all.
    void take_block(const balance::Box& block) {
        block_ = block;
        const auto before = by_id(zone_->particles());
        ById leavers;
        for (const auto& [id, p] : before)
            if (!inside(p)) leavers[id] = p;
        blocks_ = pieces(block, parts_);
        CHECK(equal(by_id(zone_->set_blocks(blocks_, border())), leavers));
        insert_missing();
        build();
    }

    /// Takes particles to where they belong and builds the lists.
    void rebuild() {
        const auto before = by_id(zone_->particles());
        ById leavers;
        for (const auto& [id, p] : before)
            if (!inside(p)) leavers[id] = p;
        CHECK(equal(by_id(zone_->take_emigrants()), leavers));
        CHECK(zone_->size() == static_cast<std::int64_t>(before.size() - leavers.size()));
        emigrants_ += leavers.size();

        std::vector<md::Particle<D>> moved;
        const std::vector<md::HaloBox> around{
            {balance::with_halo(setup_.domain.grid().box(), balance::halo_of(setup_.domain.grid(), 100)), {0, 0, 0}}};
        world_.remove_emigrants(around, [&](md::Particle<D> p, int) {
            for (int a = 0; a < D; ++a) p.x[a] = md::wrapped(p.x[a], setup_.domain.axis[a]);
            moved.push_back(p);
        });
        world_.insert(moved);
        world_.sort(kernels_, scratch_);
        insert_missing();
        build();
    }

    /// A pass of all; checks that the zone's results are the tile's. Returns them.
    gpu::ZoneResult pass(const gpu::ZonePassOptions& pass) {
        CAPTURE(kernels_.isa);
        send();
        zone_->start(pass);
        std::array<std::vector<std::int64_t>, D> forces;
        md::StepArgs args = step_arguments(setup_.domain, setup_.potential, setup_.limits, pass.kick, setup_.dt,
                                           pass.sums, setup_.external, pass.step);
        md::StepResult of_world, of_tile;
        for (std::int64_t i = 0; pass.sums && i < tile_->size(); ++i) {
            const md::Particle<D> p = tile_->particle(i);
            of_tile.external += setup_.external.energy(md::vec<D>([&](int a) { return p.x[a]; }));
        }
        md::PairSums pairs;
        const md::KernelsOf<D>& kernels = md::kernels_of<D>(kernels_);
        const auto step = kernels.step_for(setup_.potential, setup_.precision);
        step(world_.view(), args, of_world);
        for (int a = 0; a < D; ++a) {
            forces[a].resize(tile_->size());
            args.force[a] = forces[a].data();
        }
        if (pass.sums)
            kernels.pair_sums[md::potential_index(setup_.potential.kind)](tile_->lists(), setup_.potential, pairs);
        // A tile's walls are those in reach, but others are never met.
        step(tile_->view(), args, of_tile);
        const gpu::ZoneResult result = zone_->finish();
        check(result, of_tile, pairs, pass);
        if (result.step.fault.kind != md::FaultKind::none) return result;
        check_particles();
        if (pass.keep_forces) check_forces(forces);
        if (pass.kick == md::Kick::first || pass.kick == md::Kick::middle) {
            world_.flip();
            tile_->flip();
            fill(world_);
            fill(*tile_);
            const double limit = skin_ / 2 / setup_.domain.packed_unit();
            displaced_ = displaced_ || of_world.displacement2 > limit * limit;
        }
        check_outgoing();
        return result;
    }

    /// Counts of cells and of neighbours.
    void check_cells() {
        std::size_t wrong = 0;
        for (std::size_t b = 0; b < blocks_.size(); ++b) {
            const std::vector<std::int32_t> counts = zone_->counts(b);
            REQUIRE(counts.size() == static_cast<std::size_t>(blocks_[b].cells()));
            std::size_t k = 0;
            md::for_each_cell<D>(blocks_[b], [&](const md::CellIndex& c) { wrong += counts[k++] != tile_->count(c); });
            CHECK(zone_->size(b) == std::accumulate(counts.begin(), counts.end(), std::int64_t{0}));
        }
        CHECK(wrong == 0);
        std::vector<std::int32_t> within(tile_->size() + md::lanes);
        md::kernels_of<D>(kernels_).neighbours(tile_->lists(), setup_.potential.cutoff, within.data());
        std::map<md::CellIndex, std::int64_t> of_cell;
        std::int64_t own = 0;
        md::for_each_cell<D>(block_, [&](const md::CellIndex& c) {
            for (int i = 0; i < tile_->count(c); ++i) of_cell[c] += within[own++];
        });
        std::vector<std::int64_t> expected;
        for (const balance::Box& b : blocks_)
            md::for_each_cell<D>(b, [&](const md::CellIndex& c) { expected.push_back(of_cell[c]); });
        CHECK(zone_->cell_neighbours() == expected);
    }

    std::size_t emigrants() const { return emigrants_; }

    /// The zone's velocities change as the tile's do.
    void change_velocities(const md::VelocityChange<D>& change) {
        md::Int128 heat = 0;
        const auto of = [&](md::Int128* sum) {
            return [&change, sum](const md::Particle<D>& p) {
                const auto before = md::vec<D>([&](int a) { return p.v[a]; }), after = change(p.id, before);
                if (sum) *sum += md::gained(before, after);
                return md::vec<D>([&](int a) { return after[a] - before[a]; });
            };
        };
        tile_->change_velocities(of(&heat));
        world_.change_velocities(of(nullptr));
        CHECK((zone_->change_velocities(change) == heat));
        CHECK((heat != 0));
        check_particles();
    }

private:
    using ById = std::map<std::int64_t, md::Particle<D>>;
    static ById by_id(const std::vector<md::Particle<D>>& particles) {
        ById all;
        for (const md::Particle<D>& p : particles) all[p.id] = p;
        CHECK(all.size() == particles.size());
        return all;
    }
    static bool equal(const ById& a, const ById& b) {
        return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin(), [](const auto& p, const auto& q) {
                   return p.first == q.first && same(p.second, q.second);
               });
    }
    static std::vector<md::Particle<D>> all_of(const md::Tile<D>& tile) {
        std::vector<md::Particle<D>> all;
        for (std::int64_t i = 0; i < tile.size(); ++i) all.push_back(tile.particle(i));
        return all;
    }
    bool inside(const md::Particle<D>& p) const {
        md::CellIndex cell{};
        for (int a = 0; a < D; ++a) cell[a] = setup_.domain.axis[a].cell_of(p.x[a]);
        return block_.contains(cell);
    }
    balance::Box with_halo(const balance::Box& block) const {
        return balance::with_halo(block, balance::halo_of(setup_.domain.grid(), setup_.halo));
    }

    // The cell of the world that a cell, perhaps beyond the box, is an image of, and the shift from there.
    struct Source {
        md::CellIndex cell;
        md::Packed<D> shift;
    };
    std::optional<Source> source_of(const md::CellIndex& cell) const {
        Source s{cell, {}};
        for (int a = 0; a < D; ++a) {
            const md::Axis& axis = setup_.domain.axis[a];
            const int image = s.cell[a] < 0 ? -1 : s.cell[a] >= axis.cells;
            if (image && !axis.periodic) return {};
            s.cell[a] -= image * axis.cells;
            s.shift.at[a] = static_cast<std::uint32_t>(image * axis.fixed_length() >> setup_.domain.packed_shift());
        }
        return s;
    }
    template <class Use>  // use(cell, source) for the cells of a tile's halo that have one
    void for_each_ghost_cell(const balance::Box& block, Use use) const {
        if (block.empty()) return;
        md::for_each_cell<D>(with_halo(block), [&](const md::CellIndex& c) {
            if (block.contains(c)) return;
            if (const auto s = source_of(c)) use(c, *s);
        });
    }

    // A box in up to `parts` pieces, cut along its longer sides; an empty one has none.
    static std::vector<balance::Box> pieces(const balance::Box& box, std::int64_t parts) {
        std::vector<balance::Box> all;
        const std::int64_t n = std::min(parts, box.cells());
        for (std::int64_t k = 0; k < n; ++k) all.push_back(balance::even_part(box, n, k));
        return all;
    }

    static balance::Box box_of(const md::CellIndex& c) { return {c, {c[0] + 1, c[1] + 1, c[2] + 1}}; }
    // Whether a box of the border's lists goes on in another one, which is `next`.
    template <class Part>
    static bool goes_on(const Part& part, const Part& other, const balance::Box& next) {
        if (other.block != part.block || other.box != next || other.shift != part.shift) return false;
        if constexpr (requires { part.from; })
            for (int a = 0; a < D; ++a)
                if (other.from[a] - part.from[a] != other.box.lower[a] - part.box.lower[a]) return false;
        return true;
    }
    // Appends a cell, or makes the last box higher by it.
    template <class Part>
    static void append(std::vector<Part>& list, const Part& cell) {
        constexpr int up = D - 1;
        if (!list.empty()) {
            balance::Box next = list.back().box;
            next.lower[up] = std::exchange(next.upper[up], next.upper[up] + 1);
            if (goes_on(list.back(), cell, next)) return void(++list.back().box.upper[up]);
        }
        list.push_back(cell);
    }
    // Two boxes that are equal but for their places along an axis become one.
    template <class Part>
    static void join(std::vector<Part>& list, int axis) {
        md::CellIndex one{};
        one[axis] = 1;
        for (std::size_t k = 0; k < list.size(); ++k) {
            const balance::Box next = balance::shifted(list[k].box, one);
            const auto other = std::find_if(list.begin() + static_cast<std::ptrdiff_t>(k) + 1, list.end(),
                                            [&](const Part& p) { return goes_on(list[k], p, next); });
            if (list[k].box.extent(axis) != 1 || other == list.end()) continue;
            ++list[k].box.upper[axis];
            list.erase(other);
        }
    }

    // A frame of the block goes out. Cells that come, and images, are listed in boxes. These are as long as they can be
    // along the last axis, and two cells wide along the others where that is possible.
    gpu::BlockBorder<D> border() {
        gpu::BlockBorder<D> b;
        outgoing_.clear();
        incoming_.clear();
        if (block_.empty()) return b;
        balance::Box rest = block_;
        for (int a = 0; a < D; ++a) {
            balance::Box above = rest, below = rest;
            above.lower[a] = std::max(rest.lower[a], rest.upper[a] - setup_.halo);
            below.upper[a] = std::min(rest.lower[a] + setup_.halo, above.lower[a]);
            outgoing_.push_back(above);
            outgoing_.push_back(below);
            rest.lower[a] = below.upper[a], rest.upper[a] = above.lower[a];
        }
        b.counted = b.outgoing = outgoing_;
        for (std::size_t k = 0; k < blocks_.size(); ++k)
            for_each_ghost_cell(blocks_[k], [&](const md::CellIndex& c, const Source& s) {
                if (!block_.contains(s.cell)) append(b.incoming, {k, box_of(c), s.shift});
                else append(b.images, {k, box_of(c), s.cell, s.shift});
            });
        for (int a = D - 2; a >= 0; --a) {
            join(b.incoming, a);
            join(b.images, a);
        }
        incoming_ = b.incoming;
        return b;
    }

    void insert_missing() {
        const auto here = by_id(zone_->particles());
        std::vector<md::Particle<D>> missing;
        for (const md::Particle<D>& p : all_of(world_))
            if (inside(p) && !here.count(p.id)) missing.push_back(p);
        zone_->insert(missing);
    }

    void fill_counts(md::Tile<D>& tile) {
        for_each_ghost_cell(tile.box(),
                            [&](const md::CellIndex& c, const Source& s) { tile.count(c) = world_.count(s.cell); });
    }
    void fill(md::Tile<D>& tile) {
        for_each_ghost_cell(tile.box(), [&](const md::CellIndex& c, const Source& s) {
            const auto to = tile.run(c, 1), from = world_.run(s.cell, 1);
            for (int k = 0; k < from.size; ++k)
                tile.packed()[to.begin + k] = md::shifted(world_.packed()[from.begin + k], s.shift);
        });
    }

    void build() {
        tile_ = std::make_unique<md::Tile<D>>(setup_.domain, block_, setup_.halo, setup_.halo);
        std::vector<md::Particle<D>> mine;
        for (const md::Particle<D>& p : all_of(world_))
            if (inside(p)) mine.push_back(p);
        tile_->insert(mine);
        const double radius = setup_.potential.cutoff + skin_;
        tile_->sort(kernels_, scratch_);
        for (md::Tile<D>* t : {&world_, tile_.get()}) {
            fill_counts(*t);
            t->lay_slots();
        }
        for (md::Tile<D>* t : {&world_, tile_.get()}) {
            fill(*t);
            t->build_neighbour_lists(kernels_, radius, scratch_);
        }
        zone_->sort();
        check_outgoing_counts();
        std::vector<std::int32_t> counts;
        for_each_incoming_cell([&](const md::CellIndex& c) { counts.push_back(world_.count(source_of(c)->cell)); });
        zone_->lay_slots(counts);
        check_outgoing();
        send();
        zone_->build_neighbour_lists(radius);
        check_particles();
        displaced_ = false;
    }

    template <class Use>
    void for_each_incoming_cell(Use use) const {
        for (const auto& b : incoming_) md::for_each_cell<D>(b.box, use);
    }
    // The owners' positions, as a message would bring them.
    void send() {
        std::vector<md::Packed<D>> positions;
        for_each_incoming_cell([&](const md::CellIndex& c) {
            const auto from = world_.run(source_of(c)->cell, 1);
            positions.insert(positions.end(), world_.packed() + from.begin, world_.packed() + from.begin + from.size);
        });
        REQUIRE(zone_->incoming().size() == positions.size());
        std::copy(positions.begin(), positions.end(), zone_->incoming().begin());
    }

    template <class Use>
    void for_each_outgoing_cell(Use use) const {
        for (const balance::Box& box : outgoing_) md::for_each_cell<D>(box, use);
    }
    void check_outgoing_counts() {
        std::vector<std::int32_t> expected;
        for_each_outgoing_cell([&](const md::CellIndex& c) { expected.push_back(tile_->count(c)); });
        const auto counts = zone_->border_counts();
        CHECK(std::vector<std::int32_t>(counts.begin(), counts.end()) == expected);
    }
    // In each cell the same positions, in any order.
    void check_outgoing() {
        const auto sent = zone_->outgoing();
        std::size_t at = 0, wrong = 0;
        const auto sorted = [](const md::Packed<D>* from, std::size_t n) {
            std::vector<std::array<std::uint32_t, D>> all;
            for (std::size_t k = 0; k < n; ++k) all.push_back(std::to_array(from[k].at));
            std::sort(all.begin(), all.end());
            return all;
        };
        for_each_outgoing_cell([&](const md::CellIndex& c) {
            const auto run = tile_->run(c, 1);
            const auto size = static_cast<std::size_t>(run.size);
            if (at + size > sent.size()) return void(++wrong);
            wrong += sorted(sent.data() + at, size) != sorted(tile_->packed() + run.begin, size);
            at += size;
        });
        CHECK(wrong == 0);
        CHECK(at == sent.size());
    }

    void check(const gpu::ZoneResult& zone, const md::StepResult& step, const md::PairSums& pairs,
               const gpu::ZonePassOptions& pass) {
        CHECK(zone.step.fault.kind == step.fault.kind);
        CHECK(zone.step.fault.id == step.fault.id);
        if (step.fault.kind != md::FaultKind::none) return;  // what follows a fault is never used
        CHECK(zone.step.displacement2 == step.displacement2);
        CHECK(zone.seconds > 0);
        if (!pass.sums) return;
        for (int a = 0; a < 3; ++a) CHECK((zone.step.momentum[a] == step.momentum[a]));
        CHECK((zone.step.kinetic == step.kinetic));
        CHECK((zone.step.work == step.work));
        CHECK((zone.step.external == step.external));
        CHECK((zone.pairs.energy == pairs.energy));
        CHECK((zone.pairs.virial == pairs.virial));
        CHECK(zone.pairs.pairs == pairs.pairs);
    }
    void check_particles() {
        CHECK(zone_->size() == tile_->size());
        CHECK(equal(by_id(zone_->particles()), by_id(all_of(*tile_))));
    }
    void check_forces(const std::array<std::vector<std::int64_t>, D>& forces) {
        const std::vector<md::Particle<D>> all = zone_->particles();
        for (int axis = 0; axis < D; ++axis) {
            std::map<std::int64_t, std::int64_t> expected, mine;
            for (std::int64_t i = 0; i < tile_->size(); ++i) expected[tile_->id(i)] = forces[axis][i];
            const std::vector<std::int64_t> of_zone = zone_->forces(axis);
            REQUIRE(of_zone.size() == all.size());
            for (std::size_t i = 0; i < all.size(); ++i) mine[all[i].id] = of_zone[i];
            CHECK((mine == expected));
        }
    }

    const gpu::ZoneSetup setup_;
    const double skin_;
    const md::Kernels& kernels_;
    std::unique_ptr<gpu::Zone<D>> zone_;
    md::Tile<D> world_;
    std::unique_ptr<md::Tile<D>> tile_;
    md::TileScratch scratch_;
    balance::Box block_;                // all cells of the zone
    std::vector<balance::Box> blocks_;  // the same in pieces
    const std::int64_t parts_ = next_number_of_parts();
    std::vector<balance::Box> outgoing_;
    std::vector<typename gpu::BlockBorder<D>::Incoming> incoming_;
    bool displaced_ = false;
    std::size_t emigrants_ = 0;
};

}  // namespace test

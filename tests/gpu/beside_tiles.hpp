// SPDX-License-Identifier: MIT
// A zone beside tiles that do the same by md's kernels. One tile covers the whole box and its own images, as the world
// around; another covers the zone's block. Positions that come to the zone are those of the world.
#pragma once
#include <algorithm>
#include <catch2/catch.hpp>
#include <iostream>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "gpu/zone.hpp"
#include "md/initial.hpp"
#include "md/potential.hpp"
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

class BesideTiles {
public:
    BesideTiles(const gpu::ZoneSetup& setup, double skin, const Accelerator& on, const balance::Box& block,
                const std::vector<md::Particle>& particles)
        : setup_(setup),
          skin_(skin),
          kernels_(md::choose_kernels()),
          zone_(gpu::make_zone(on.backend, 0, on.threads, setup, on.shuffle)),
          world_(setup.domain, setup.domain.grid().box(), setup.halo) {
        world_.insert(particles);
        world_.sort(kernels_, scratch_);
        take_block(block);
    }

    gpu::Zone& zone() { return *zone_; }
    const md::Tile& tile() const { return *tile_; }
    /// Whether a particle has moved so far that lists must be built.
    bool displaced() const { return displaced_; }

    /// Gives the zone another block, after its particles have been sorted, and builds the lists of all.
    void take_block(const balance::Box& block) {
        block_ = block;
        const auto before = by_id(zone_->particles());
        std::map<std::int64_t, md::Particle> leavers;
        for (const auto& [id, p] : before)
            if (!inside(p)) leavers[id] = p;
        CHECK(equal(by_id(zone_->set_block(block, border())), leavers));
        insert_missing();
        build();
    }

    /// Takes particles to where they belong and builds the lists.
    void rebuild() {
        const auto before = by_id(zone_->particles());
        std::map<std::int64_t, md::Particle> leavers;
        for (const auto& [id, p] : before)
            if (!block_.contains(cell_of(p))) leavers[id] = p;
        CHECK(equal(by_id(zone_->take_emigrants()), leavers));
        CHECK(zone_->size() == static_cast<std::int64_t>(before.size() - leavers.size()));
        emigrants_ += leavers.size();

        std::vector<md::Particle> moved;
        std::vector<md::HaloBox> around{{{{-100, -100, 0}, {100, 100, 1}}, {0, 0}}};
        world_.remove_emigrants(around, [&](md::Particle p, int) {
            p.x = md::wrapped(p.x, setup_.domain.axis[0]);
            p.y = md::wrapped(p.y, setup_.domain.axis[1]);
            moved.push_back(p);
        });
        world_.insert(moved);
        world_.sort(kernels_, scratch_);
        insert_missing();
        build();
    }

    /// A pass of all; checks that the zone's results are the tile's. Returns them.
    gpu::Zone::Result pass(const gpu::Zone::Pass& pass) {
        send();
        zone_->start(pass);
        std::vector<std::int64_t> fx(tile_->size()), fy(tile_->size());
        md::StepArgs args =
            step_arguments(setup_.domain, setup_.potential, setup_.limits, pass.kick, setup_.dt, pass.sums);
        md::StepResult of_world, of_tile;
        md::PairSums pairs;
        const auto step = kernels_.step_for(setup_.potential, setup_.precision);
        step(world_.view(), args, of_world);
        args.force_x = fx.data(), args.force_y = fy.data();
        if (pass.sums)
            kernels_.pair_sums[md::potential_index(setup_.potential.kind)](tile_->lists(), setup_.potential, pairs);
        // A tile's walls are those in reach, but others are never met.
        step(tile_->view(), args, of_tile);
        const gpu::Zone::Result result = zone_->finish();
        check(result, of_tile, pairs, pass);
        if (result.step.fault.kind != md::FaultKind::none) return result;
        check_particles();
        if (pass.keep_forces) check_forces(fx, fy);
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
        const std::vector<std::int32_t> counts = zone_->counts();
        const balance::Box all = balance::with_halo(block_, {setup_.halo, setup_.halo, 0});
        REQUIRE(counts.size() == static_cast<std::size_t>(all.cells()));
        std::size_t k = 0, wrong = 0;
        for (int x = all.lower[0]; x < all.upper[0]; ++x)
            for (int y = all.lower[1]; y < all.upper[1]; ++y) wrong += counts[k++] != tile_->count(x, y);
        CHECK(wrong == 0);
        std::vector<std::int32_t> within(tile_->size() + md::lanes);
        kernels_.neighbours(tile_->lists(), setup_.potential.cutoff, within.data());
        std::vector<std::int64_t> expected;
        std::int64_t own = 0;
        for (int x = block_.lower[0]; x < block_.upper[0]; ++x)
            for (int y = block_.lower[1]; y < block_.upper[1]; ++y) {
                expected.push_back(0);
                for (int i = 0; i < tile_->count(x, y); ++i) expected.back() += within[own++];
            }
        CHECK(zone_->cell_neighbours() == expected);
    }

    std::size_t emigrants() const { return emigrants_; }

private:
    using ById = std::map<std::int64_t, md::Particle>;
    static ById by_id(const std::vector<md::Particle>& particles) {
        ById all;
        for (const md::Particle& p : particles) all[p.id] = p;
        CHECK(all.size() == particles.size());
        return all;
    }
    static bool equal(const ById& a, const ById& b) {
        return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin(), [](const auto& p, const auto& q) {
                   return p.first == q.first && p.second.x == q.second.x && p.second.y == q.second.y &&
                          p.second.vx == q.second.vx && p.second.vy == q.second.vy;
               });
    }
    static std::vector<md::Particle> all_of(const md::Tile& tile) {
        std::vector<md::Particle> all;
        for (std::int64_t i = 0; i < tile.size(); ++i) all.push_back(tile.particle(i));
        return all;
    }
    std::array<int, 3> cell_of(const md::Particle& p) const {
        return {setup_.domain.axis[0].cell_of(p.x), setup_.domain.axis[1].cell_of(p.y), 0};
    }
    bool inside(const md::Particle& p) const { return block_.contains(cell_of(p)); }

    // The cell of the world that a cell, perhaps beyond the box, is an image of, and the shift from there.
    struct Source {
        std::array<int, 3> cell;
        std::uint32_t dx, dy;
        friend bool operator==(const Source&, const Source&) = default;
    };
    std::optional<Source> source_of(int x, int y) const {
        Source s{{x, y, 0}, 0, 0};
        std::uint32_t* shift[2] = {&s.dx, &s.dy};
        for (int a = 0; a < 2; ++a) {
            const md::Axis& axis = setup_.domain.axis[a];
            const int image = s.cell[a] < 0 ? -1 : s.cell[a] >= axis.cells;
            if (image && !axis.periodic) return {};
            s.cell[a] -= image * axis.cells;
            *shift[a] = static_cast<std::uint32_t>(image * axis.fixed_length() >> setup_.domain.packed_shift());
        }
        return s;
    }
    template <class Use>  // use(x, y, source) for the cells of a tile's halo that have one
    void for_each_ghost_cell(const balance::Box& block, Use use) const {
        if (block.empty()) return;
        const balance::Box all = balance::with_halo(block, {setup_.halo, setup_.halo, 0});
        for (int x = all.lower[0]; x < all.upper[0]; ++x)
            for (int y = all.lower[1]; y < all.upper[1]; ++y) {
                if (block.contains({x, y, 0})) continue;
                if (const auto s = source_of(x, y)) use(x, y, *s);
            }
    }

    // A frame of the block goes out. What comes, and what are images, in boxes as long as they can be along y, and two
    // columns wide where that is possible.
    gpu::Border border() {
        gpu::Border b;
        outgoing_.clear();
        incoming_.clear();
        if (block_.empty()) return b;
        const auto [lower, upper] = std::pair(block_.lower, block_.upper);
        const int h = setup_.halo, right = std::max(lower[0], upper[0] - h), left = std::min(lower[0] + h, right),
                  top = std::max(lower[1], upper[1] - h), bottom = std::min(lower[1] + h, top);
        outgoing_ = {{{right, lower[1], 0}, {upper[0], upper[1], 1}},
                     {{lower[0], lower[1], 0}, {left, upper[1], 1}},
                     {{left, top, 0}, {right, upper[1], 1}},
                     {{left, lower[1], 0}, {right, bottom, 1}}};
        b.outgoing = outgoing_;
        const auto grows = [](balance::Box& box, int x, int y) {
            if (x == box.lower[0] && box.extent(0) == 1 && y == box.upper[1]) return ++box.upper[1], true;
            return false;
        };
        for_each_ghost_cell(block_, [&](int x, int y, const Source& s) {
            const balance::Box cell{{x, y, 0}, {x + 1, y + 1, 1}};
            if (!block_.contains(s.cell)) {
                auto& list = b.incoming;
                if (list.empty() || list.back().dx != s.dx || list.back().dy != s.dy || !grows(list.back().box, x, y))
                    list.push_back({cell, s.dx, s.dy});
            } else {
                auto& list = b.images;
                const auto follows = [&] {
                    return list.back().dx == s.dx && list.back().dy == s.dy && list.back().from[0] == s.cell[0] &&
                           list.back().from[1] + list.back().box.extent(1) == s.cell[1];
                };
                if (list.empty() || !follows() || !grows(list.back().box, x, y))
                    list.push_back({cell, s.cell, s.dx, s.dy});
            }
        });
        // Two columns that are equal become one box.
        const auto join = [](auto& list, auto continues) {
            for (std::size_t k = 0; k + 1 < list.size(); ++k) {
                auto &p = list[k].box, q = list[k + 1].box;
                if (p.extent(0) != 1 || q.lower[0] != p.upper[0] || q.lower[1] != p.lower[1] ||
                    q.upper[1] != p.upper[1] || list[k].dx != list[k + 1].dx || list[k].dy != list[k + 1].dy ||
                    !continues(list[k], list[k + 1]))
                    continue;
                p.upper[0] = q.upper[0];
                list.erase(list.begin() + static_cast<std::ptrdiff_t>(k) + 1);
            }
        };
        join(b.incoming, [](const auto&, const auto&) { return true; });
        join(b.images,
             [](const auto& p, const auto& q) { return q.from[0] == p.from[0] + 1 && q.from[1] == p.from[1]; });
        incoming_ = b.incoming;
        return b;
    }

    void insert_missing() {
        const auto here = by_id(zone_->particles());
        std::vector<md::Particle> missing;
        for (const md::Particle& p : all_of(world_))
            if (inside(p) && !here.count(p.id)) missing.push_back(p);
        zone_->insert(missing);
    }

    void fill_counts(md::Tile& tile) {
        for_each_ghost_cell(
            tile.box(), [&](int x, int y, const Source& s) { tile.count(x, y) = world_.count(s.cell[0], s.cell[1]); });
    }
    void fill(md::Tile& tile) {
        for_each_ghost_cell(tile.box(), [&](int x, int y, const Source& s) {
            const md::Tile::Run to = tile.run(x, y, y + 1), from = world_.run(s.cell[0], s.cell[1], s.cell[1] + 1);
            for (int k = 0; k < from.size; ++k) {
                const md::PackedPosition p = md::unpack(world_.packed()[from.begin + k]);
                tile.packed()[to.begin + k] = md::pack(p.x + s.dx, p.y + s.dy, 0);
            }
        });
    }

    void build() {
        tile_ = std::make_unique<md::Tile>(setup_.domain, block_, setup_.halo);
        std::vector<md::Particle> mine;
        for (const md::Particle& p : all_of(world_))
            if (inside(p)) mine.push_back(p);
        tile_->insert(mine);
        const double radius = setup_.potential.cutoff + skin_;
        tile_->sort(kernels_, scratch_);
        for (md::Tile* t : {&world_, tile_.get()}) {
            fill_counts(*t);
            t->lay_slots();
        }
        for (md::Tile* t : {&world_, tile_.get()}) {
            fill(*t);
            t->build_neighbour_lists(kernels_, radius, scratch_);
        }
        zone_->sort();
        check_outgoing_counts();
        std::vector<std::int32_t> counts;
        for_each_incoming_cell([&](int x, int y) { counts.push_back(tile_->count(x, y)); });
        zone_->lay_slots(counts);
        check_outgoing();
        send();
        zone_->build_neighbour_lists(radius);
        check_particles();
        displaced_ = false;
    }

    template <class Use>
    void for_each_incoming_cell(Use use) const {
        for (const auto& b : incoming_)
            for (int x = b.box.lower[0]; x < b.box.upper[0]; ++x)
                for (int y = b.box.lower[1]; y < b.box.upper[1]; ++y) use(x, y);
    }
    // The owners' positions, as a message would bring them.
    void send() {
        std::vector<std::uint64_t> positions;
        for_each_incoming_cell([&](int x, int y) {
            const Source s = *source_of(x, y);
            const md::Tile::Run from = world_.run(s.cell[0], s.cell[1], s.cell[1] + 1);
            positions.insert(positions.end(), world_.packed() + from.begin, world_.packed() + from.begin + from.size);
        });
        REQUIRE(zone_->incoming().size() == positions.size());
        std::copy(positions.begin(), positions.end(), zone_->incoming().begin());
    }

    template <class Use>
    void for_each_outgoing_cell(Use use) const {
        for (const balance::Box& box : outgoing_)
            for (int x = box.lower[0]; x < box.upper[0]; ++x)
                for (int y = box.lower[1]; y < box.upper[1]; ++y) use(x, y);
    }
    void check_outgoing_counts() {
        std::vector<std::int32_t> expected;
        for_each_outgoing_cell([&](int x, int y) { expected.push_back(tile_->count(x, y)); });
        const auto counts = zone_->outgoing_counts();
        CHECK(std::vector<std::int32_t>(counts.begin(), counts.end()) == expected);
    }
    // In each cell the same positions, in any order.
    void check_outgoing() {
        const auto sent = zone_->outgoing();
        std::size_t at = 0, wrong = 0;
        for_each_outgoing_cell([&](int x, int y) {
            const md::Tile::Run run = tile_->run(x, y, y + 1);
            const std::uint64_t* from = tile_->packed() + run.begin;
            std::vector<std::uint64_t> expected(from, from + run.size);
            if (at + expected.size() > sent.size()) return void(++wrong);
            std::vector<std::uint64_t> mine(sent.begin() + at, sent.begin() + at + expected.size());
            std::sort(expected.begin(), expected.end());
            std::sort(mine.begin(), mine.end());
            wrong += mine != expected;
            at += expected.size();
        });
        CHECK(wrong == 0);
        CHECK(at == sent.size());
    }

    void check(const gpu::Zone::Result& zone, const md::StepResult& step, const md::PairSums& pairs,
               const gpu::Zone::Pass& pass) {
        CHECK(zone.step.fault.kind == step.fault.kind);
        CHECK(zone.step.fault.id == step.fault.id);
        if (step.fault.kind != md::FaultKind::none) return;  // what follows a fault is never used
        CHECK(zone.step.displacement2 == step.displacement2);
        CHECK(zone.seconds > 0);
        if (!pass.sums) return;
        CHECK((zone.step.momentum[0] == step.momentum[0]));
        CHECK((zone.step.momentum[1] == step.momentum[1]));
        CHECK((zone.step.kinetic == step.kinetic));
        CHECK((zone.pairs.energy == pairs.energy));
        CHECK((zone.pairs.virial == pairs.virial));
        CHECK(zone.pairs.pairs == pairs.pairs);
    }
    void check_particles() {
        CHECK(zone_->size() == tile_->size());
        CHECK(equal(by_id(zone_->particles()), by_id(all_of(*tile_))));
    }
    void check_forces(const std::vector<std::int64_t>& fx, const std::vector<std::int64_t>& fy) {
        std::map<std::int64_t, std::pair<std::int64_t, std::int64_t>> expected, mine;
        for (std::int64_t i = 0; i < tile_->size(); ++i) expected[tile_->id(i)] = {fx[i], fy[i]};
        std::vector<std::int64_t> x, y;
        zone_->forces(x, y);
        const std::vector<md::Particle> all = zone_->particles();
        REQUIRE(x.size() == all.size());
        for (std::size_t i = 0; i < all.size(); ++i) mine[all[i].id] = {x[i], y[i]};
        CHECK((mine == expected));
    }

    const gpu::ZoneSetup setup_;
    const double skin_;
    const md::Kernels& kernels_;
    std::unique_ptr<gpu::Zone> zone_;
    md::Tile world_;
    std::unique_ptr<md::Tile> tile_;
    md::TileScratch scratch_;
    balance::Box block_;
    std::vector<balance::Box> outgoing_;
    std::vector<gpu::Border::Incoming> incoming_;
    bool displaced_ = false;
    std::size_t emigrants_ = 0;
};

}  // namespace test

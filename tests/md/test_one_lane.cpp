// SPDX-License-Identifier: MIT
// A step by the kernels' functors, one particle at a time, as a thread of a device would take it: for each particle a
// loop over the slots of the cells around its own, without lists. Bit for bit it must be what the kernels of every
// instruction set do.
#include <catch2/catch.hpp>
#include <string>

#include "md/kernels/integration.hpp"
#include "md/kernels/pair.hpp"
#include "md/kernels/sorting_key.hpp"
#include "tests/md/faults.hpp"
#include "tests/md/one_tile.hpp"
#include "tests/md/other_parameters.hpp"

using md::Kick;
using md::Precision;

namespace {

constexpr double side = 16.0, radius = 2.8;  // five cells, each wider than a neighbour is far
constexpr int cells = 5, halo = 1;

md::Domain box_with_walls_at(int axis) {
    md::Domain d;
    for (int a = 0; a < 2; ++a) d.axis[a] = {md::to_edge_units(side), cells, a != axis};
    return d;
}

// Particles all over the box and a row of them that soon hits each wall.
std::vector<md::Particle> sample(int walled) {
    std::vector<md::Particle> all = test::jittered(14, side / 14, 0.08, 0.1, 4.0);
    const auto at = [](double x) { return std::llrint(x / md::position_unit); };
    const auto many = static_cast<std::int64_t>(all.size());
    for (int i = 0; i < 14; ++i)
        all.push_back({many + i, at(0.4 + i * side / 14), at(side - 0.001 * i - 1e-6), 0, at(5)});
    for (md::Particle& p : all)
        if (walled == 0) std::swap(p.x, p.y), std::swap(p.vx, p.vy);
    return all;
}

// A tile that is its own neighbour where the box is periodic: ghosts are its own particles, a box further.
struct Periodic {
    md::Domain domain;
    md::Tile tile;
    md::TileScratch scratch;

    Periodic(const md::Domain& d, const md::Kernels& kernels, const std::vector<md::Particle>& particles)
        : domain(d), tile(d, d.grid().box(), halo) {
        tile.insert(particles);
        tile.sort(kernels, scratch);
        for_each_ghost_cell(
            [&](int x, int y, int from_x, int from_y) { tile.count(x, y) = tile.count(from_x, from_y); });
        tile.lay_slots();
        fill_ghosts();
        tile.build_neighbour_lists(kernels, radius, scratch);
    }
    void fill_ghosts() {
        for_each_ghost_cell([&](int x, int y, int from_x, int from_y) {
            const md::Tile::Run to = tile.run(x, y, y + 1), from = tile.run(from_x, from_y, from_y + 1);
            const auto image = [&](int a, int boxes) {
                return static_cast<std::uint32_t>(boxes * domain.axis[a].fixed_length() >> domain.packed_shift());
            };
            for (int k = 0; k < from.size; ++k) {
                const md::PackedPosition p = md::unpack(tile.packed()[from.begin + k]);
                tile.packed()[to.begin + k] =
                    md::pack(p.x + image(0, (x - from_x) / cells), p.y + image(1, (y - from_y) / cells), 0);
            }
        });
    }
    template <class Body>
    void for_each_ghost_cell(Body body) const {
        const auto inside = [](int c) { return c >= 0 && c < cells; };
        for (int x = -halo; x < cells + halo; ++x)
            for (int y = -halo; y < cells + halo; ++y)
                if (!(inside(x) && inside(y)) && (inside(x) || domain.axis[0].periodic) &&
                    (inside(y) || domain.axis[1].periodic))
                    body(x, y, (x + cells) % cells, (y + cells) % cells);
    }
};

// What a kernel writes, and what the functors say.
struct Outcome {
    std::vector<std::int64_t> fx, fy, x, y, vx, vy;
    std::vector<std::uint64_t> next;  // of own particles
    md::StepResult result;
    md::PairSums sums;
    int wide = 0;  // functors: particles whose forces were summed in 64 bits
};

template <class Body>
void for_each_near_slot(const Periodic& t, int cx, int cy, std::int32_t own, Body body) {
    for (int x = cx - 1; x <= cx + 1; ++x) {
        const md::Tile::Run r = t.tile.run(x, cy - 1, cy + 2);
        for (std::int32_t j = r.begin; j < r.begin + r.size; ++j)
            if (j != own) body(md::unpack(t.tile.packed()[j]));
    }
}

struct Force {
    std::uint64_t x = 0, y = 0;
    bool too_close = false;
};

// In 32 bits, then again in 64 if those might not do.
template <template <class, bool> class P, bool softened>
Force force_on(const md::MixedForce<P, softened>& force, const md::StepArgs& args, const Periodic& t, int cx, int cy,
               std::int32_t slot, int& wide) {
    const md::PackedPosition here = md::unpack(t.tile.packed()[slot]);
    std::uint32_t x = 0, y = 0;
    Force sum;
    float square = 0.0f, closest = force.cutoff2;
    int pairs = 0;
    for_each_near_slot(t, cx, cy, slot, [&](md::PackedPosition there) {
        const auto p = force(md::to_f32(here.x - there.x), md::to_f32(here.y - there.y));
        square = md::fma(p.g, p.g, square);
        x += md::to_i32(p.fx), y += md::to_i32(p.fy);
        sum.x += md::to_i64(p.fx), sum.y += md::to_i64(p.fy);
        closest = md::min(closest, p.s);
        ++pairs;
    });
    if (md::less(square, force.narrow_g2(args.narrow_g2, pairs)))
        return {static_cast<std::uint64_t>(static_cast<std::int32_t>(x)),
                static_cast<std::uint64_t>(static_cast<std::int32_t>(y)), false};
    ++wide;
    sum.too_close = md::less(closest, force.safe2);
    return sum;
}

template <template <class, bool> class P, bool softened>
Force force_on(const md::DoubleForce<P, softened>& force, const md::StepArgs&, const Periodic& t, int cx, int cy,
               std::int32_t slot, int&) {
    const md::PackedPosition here = md::unpack(t.tile.packed()[slot]);
    Force sum;
    double closest = force.cutoff2;
    int pairs = 0;
    for_each_near_slot(t, cx, cy, slot, [&](md::PackedPosition there) {
        const auto p = force(md::to_f64(here.x - there.x), md::to_f64(here.y - there.y));
        sum.x += p.fx, sum.y += p.fy;
        closest = md::min(closest, p.s);
        ++pairs;
    });
    return {sum.x - md::biases(pairs), sum.y - md::biases(pairs), md::less(closest, force.safe2)};
}

// The i-th particle of a tile, as Integration sees it. What it writes goes to the outcome.
struct One {
    using Int = std::uint64_t;
    const md::StepArgs& args;
    const md::TileView& v;
    std::int64_t i;
    Outcome& o;

    Int x() const { return v.x[i]; }
    Int y() const { return v.y[i]; }
    Int vx() const { return v.vx[i]; }
    Int vy() const { return v.vy[i]; }
    void fault(md::FaultKind kind, unsigned mask) {
        if (mask && v.id[i] < o.result.fault.id) o.result.fault = {kind, v.id[i]};
    }
    void whole_step(Int vx, Int vy) {
        o.result.momentum[0] += static_cast<std::int64_t>(vx);
        o.result.momentum[1] += static_cast<std::int64_t>(vy);
        o.result.kinetic += static_cast<std::int64_t>(md::kinetic_energy(vx, vy));
    }
    void set_velocity(Int vx, Int vy) { o.vx[i] = vx, o.vy[i] = vy; }
    void move(Int x, Int y, Int packed) {
        o.x[i] = x, o.y[i] = y;
        o.next.push_back(packed);
        o.result.displacement2 = md::max(o.result.displacement2, md::distance2(packed, v.reference[i]));
    }
};

template <template <class, bool> class P>
void add_energy(const md::PairEnergy<P>& energy, const Periodic& t, int cx, int cy, std::int32_t slot,
                md::PairSums& out) {
    const md::PackedPosition here = md::unpack(t.tile.packed()[slot]);
    for_each_near_slot(t, cx, cy, slot, [&](md::PackedPosition there) {
        const auto p = energy(md::to_f64(here.x - there.x), md::to_f64(here.y - there.y));
        out.energy += static_cast<std::int64_t>(p.energy - md::biases(1));
        out.virial += static_cast<std::int64_t>(p.virial - md::biases(1));
        out.pairs += md::bits(p.near);
    });
}

template <template <class, bool> class P, class PairForce>
Outcome step_by_functors(Periodic& t, const md::StepArgs& args, Precision precision) {
    const md::TileView v = t.tile.view();
    const PairForce force(*args.potential, args.safe_r2, v.packed_bits);
    const md::PairEnergy<P> energy(*args.potential, v.packed_bits);
    const md::Integration step(args, precision, v.packed_bits);
    const std::int64_t n = t.tile.size();
    Outcome o{{}, {}, {v.x, v.x + n}, {v.y, v.y + n}, {v.vx, v.vx + n}, {v.vy, v.vy + n}, {}, {}, {}};
    std::int64_t i = 0;
    for (int x = 0; x < cells; ++x)
        for (int y = 0; y < cells; ++y) {
            const md::Tile::Run own = t.tile.run(x, y, y + 1);
            for (std::int32_t slot = own.begin; slot < own.begin + own.size; ++slot, ++i) {
                add_energy(energy, t, x, y, slot, o.sums);
                const Force f = force_on(force, args, t, x, y, slot, o.wide);
                o.fx.push_back(f.x), o.fy.push_back(f.y);
                One particle{args, v, i, o};
                particle.fault(md::FaultKind::force_range, f.too_close);
                step(particle, f.x, f.y);
            }
        }
    return o;
}

using Step = Outcome (*)(Periodic&, const md::StepArgs&, Precision);
template <class... T>
Step functors_for(const md::PotentialSpec& spec, Precision precision, std::tuple<T...>*) {
    std::vector<Step> steps;
    const bool softened = spec.softening != 0.0, mixed = precision == Precision::mixed;
    const auto add = [&]<template <class, bool> class P>(P<double, true>*) {
        steps.push_back(mixed      ? softened ? step_by_functors<P, md::MixedForce<P, true>>
                                              : step_by_functors<P, md::MixedForce<P, false>>
                             : softened ? step_by_functors<P, md::DoubleForce<P, true>>
                                   : step_by_functors<P, md::DoubleForce<P, false>>);
    };
    (add(static_cast<T*>(nullptr)), ...);
    return steps[md::potential_index(spec.kind)];
}

Outcome step_by_kernels(const md::Kernels& kernels, Periodic& t, md::StepArgs args, Precision precision) {
    const md::TileView v = t.tile.view();
    const std::int64_t n = t.tile.size();
    Outcome o;
    o.fx.resize(n), o.fy.resize(n);
    args.force_x = o.fx.data(), args.force_y = o.fy.data();
    kernels.pair_sums[md::potential_index(args.potential->kind)](v, *args.potential, o.sums);
    kernels.step_for(*args.potential, precision)(v, args, o.result);
    o.x.assign(v.x, v.x + n), o.y.assign(v.y, v.y + n);
    o.vx.assign(v.vx, v.vx + n), o.vy.assign(v.vy, v.vy + n);
    if (args.kick == Kick::none || args.kick == Kick::last) return o;
    for (int c = 0; c < v.cluster_count; ++c)
        for (int l = 0; l < v.clusters[c].count; ++l) o.next.push_back(v.next[v.clusters[c].slot + l]);
    return o;
}

void check_equal(const Outcome& functors, const Outcome& kernels) {
    CHECK(functors.result.fault.kind == kernels.result.fault.kind);
    CHECK(functors.result.fault.id == kernels.result.fault.id);
    if (kernels.result.fault.kind != md::FaultKind::none) return;  // what follows a fault is never used
    CHECK((functors.fx == kernels.fx && functors.fy == kernels.fy));
    CHECK((functors.vx == kernels.vx && functors.vy == kernels.vy));
    CHECK((functors.x == kernels.x && functors.y == kernels.y));
    CHECK((functors.next == kernels.next));
    CHECK(functors.result.displacement2 == kernels.result.displacement2);
    CHECK((functors.result.momentum[0] == kernels.result.momentum[0]));
    CHECK((functors.result.momentum[1] == kernels.result.momentum[1]));
    CHECK((functors.result.kinetic == kernels.result.kinetic));
    CHECK((functors.sums.energy == kernels.sums.energy));
    CHECK((functors.sums.virial == kernels.sums.virial));
    CHECK(functors.sums.pairs == kernels.sums.pairs);
}

}  // namespace

TEST_CASE("one particle at a time, the functors do what the kernels of every instruction set do") {
    const int walled = GENERATE(0, 1);
    const Precision precision = GENERATE(Precision::mixed, Precision::double_);
    const auto particles = sample(walled);
    const md::Domain box = test::packed_for(box_with_walls_at(walled), precision);
    for (const md::PotentialSpec& spec : test::potentials()) {
        const md::ForceLimits limits = md::force_limits(spec);
        const Step by_functors = functors_for(spec, precision, static_cast<md::Potentials<double, true>*>(nullptr));
        for (const md::Kernels* kernels : md::available_kernels()) {
            Periodic t(box, *kernels, particles);
            for (const Kick kick : {Kick::none, Kick::first, Kick::middle, Kick::middle, Kick::last, Kick::first}) {
                const md::StepArgs args = test::step_arguments(box, spec, limits, kick, 0.002);
                const Outcome functors = by_functors(t, args, precision);
                CAPTURE(kernels->isa, spec.kind, spec.softening, static_cast<int>(spec.shift), static_cast<int>(kick));
                CAPTURE(static_cast<int>(precision), walled);
                check_equal(functors, step_by_kernels(*kernels, t, args, precision));
                CHECK(functors.result.fault.kind == md::FaultKind::none);
                if (functors.next.empty()) continue;
                t.tile.flip();
                t.fill_ghosts();
            }
        }
    }
}

TEST_CASE("one particle at a time, the functors find the faults that the kernels find") {
    const Precision precision = GENERATE(Precision::mixed, Precision::double_);
    const md::Domain box = test::packed_for(box_with_walls_at(1), precision);
    for (const test::FaultCase& c : test::fault_cases(15.95))
        for (const md::Kernels* kernels : md::available_kernels())
            for (const Kick kick : {Kick::first, Kick::middle}) {
                CAPTURE(c.name, kernels->isa, static_cast<int>(precision), static_cast<int>(kick));
                const md::ForceLimits limits = md::force_limits(c.spec);
                const md::StepArgs args = test::step_arguments(box, c.spec, limits, kick, c.dt);
                Periodic t(box, *kernels, c.particles);
                const Outcome functors = functors_for(
                    c.spec, precision, static_cast<md::Potentials<double, true>*>(nullptr))(t, args, precision);
                check_equal(functors, step_by_kernels(*kernels, t, args, precision));
                CHECK(functors.result.fault.kind == c.fault);
                CHECK(functors.result.fault.id == c.id);
                if (std::string(c.name).find("close") == 0)
                    CHECK((precision == Precision::double_ || functors.wide > 0));
            }
}

TEST_CASE("floats are multiplied and added with one rounding") {
    const auto two_to_minus = [](int n) { return std::ldexp(1.0f, -n); };
    const float a = 1 + two_to_minus(12);  // a^2 lies halfway between two floats; by way of a double, the rest is lost
    CHECK(md::fma(a, a, two_to_minus(60)) == 1 + two_to_minus(11) + two_to_minus(23));
    CHECK(md::fma(a, a, -two_to_minus(60)) == 1 + two_to_minus(11));
}

TEST_CASE("a sorting key computed for one particle names the same cell as the kernels' keys") {
    const md::Domain box = box_with_walls_at(0);
    const auto particles = sample(0);
    std::vector<std::int64_t> x(particles.size() + md::lanes), y(x.size()), edges[2];
    for (std::size_t i = 0; i < particles.size(); ++i) x[i] = particles[i].x, y[i] = particles[i].y;
    for (int a = 0; a < 2; ++a)
        for (int c = 0; c <= cells; ++c) edges[a].push_back(box.axis[a].edge(c));
    for (int c = 0; c < cells; ++c)
        x[c] = edges[0][c] << md::edge_shift, y[c] = (edges[1][c + 1] << md::edge_shift) - 1;
    constexpr int slices = 4;
    for (const md::Kernels* kernels : md::available_kernels()) {
        std::vector<std::uint32_t> key(particles.size()), bin(cells * cells * slices + 1);
        md::KeysArgs args{x.data(),   y.data(),  static_cast<std::int64_t>(key.size()), {}, {}, {}, slices,
                          key.data(), bin.data()};
        for (int a = 0; a < 2; ++a) {
            args.edges[a] = edges[a].data();
            args.cells[a] = cells;
            args.per_cell[a] = cells / static_cast<double>(box.axis[a].length);
        }
        kernels->keys(args);
        std::size_t wrong = 0;
        for (std::size_t i = 0; i < key.size(); ++i) {
            const std::int64_t one = md::sorting_key(args, x[i], y[i]);
            wrong += key[i] / slices != one / slices ||
                     one / slices != box.axis[0].cell_of(x[i]) * cells + box.axis[1].cell_of(y[i]);
        }
        CHECK(wrong == 0);
    }
}

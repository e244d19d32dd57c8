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

constexpr double radius = 2.8;
constexpr int halo = 1;

// Each cell is wider than a neighbour is far. In space it takes fewer to have as many neighbours.
struct Size {
    double side;
    int cells;
};
constexpr Size plane{16.0, 5}, space{8.6, 3};
template <int D>
constexpr Size usual = D == 2 ? plane : space;

template <int D>
md::Domain box_with_walls_at(int axis, const Size& size = usual<D>) {
    md::Domain d;
    d.dimensions = D;
    for (int a = 0; a < D; ++a) d.axis[a] = {md::to_edge_units(size.side), size.cells, a != axis};
    return d;
}

// Particles all over the box and a row of them that soon hits each wall.
template <int D>
std::vector<md::Particle<D>> sample(int walled) {
    constexpr double side = usual<D>.side;
    constexpr int n = D == 2 ? 14 : 7;
    std::vector<md::Particle<D>> all = test::jittered<D>(n, side / n, 0.08, 0.1, 4.0);
    const auto at = [](double x) { return std::llrint(x / md::position_unit); };
    const auto many = static_cast<std::int64_t>(all.size());
    for (int i = 0; i < n; ++i) {
        md::Particle<D> p{many + i, {}, {}};
        std::fill(p.x, p.x + D, at(0.4 + i * side / n));
        p.x[1] = at(side - 0.001 * i - 1e-6);
        p.v[1] = at(5);
        all.push_back(p);
    }
    for (md::Particle<D>& p : all) std::swap(p.x[1], p.x[walled]), std::swap(p.v[1], p.v[walled]);
    return all;
}

// A tile that is its own neighbour where the box is periodic: ghosts are its own particles, a box further.
template <int D>
struct Periodic {
    md::Domain domain;
    md::Tile<D> tile;
    md::TileScratch scratch;

    Periodic(const md::Domain& d, const md::Kernels& kernels, const std::vector<md::Particle<D>>& particles)
        : domain(d), tile(d, d.grid().box(), halo, halo) {
        tile.insert(particles);
        tile.sort(kernels, scratch);
        for_each_ghost_cell(
            [&](const md::CellIndex& ghost, const md::CellIndex& own) { tile.count(ghost) = tile.count(own); });
        tile.lay_slots();
        fill_ghosts();
        tile.build_neighbour_lists(kernels, radius, scratch);
    }
    void fill_ghosts() {
        for_each_ghost_cell([&](const md::CellIndex& ghost, const md::CellIndex& own) {
            const auto to = tile.run(ghost, 1), from = tile.run(own, 1);
            md::Packed<D> shift;
            for (int a = 0; a < D; ++a) {
                const int boxes = (ghost[a] - own[a]) / domain.axis[a].cells;
                shift.at[a] =
                    static_cast<std::uint32_t>(boxes * domain.axis[a].fixed_length() >> domain.packed_shift());
            }
            for (int k = 0; k < from.size; ++k)
                tile.packed()[to.begin + k] = md::shifted(tile.packed()[from.begin + k], shift);
        });
    }
    template <class Body>
    void for_each_ghost_cell(Body body) const {
        md::for_each_cell<D>(balance::with_halo(tile.box(), {halo, halo, D == 2 ? 0 : halo}), [&](md::CellIndex c) {
            md::CellIndex own = c;
            for (int a = 0; a < D; ++a) {
                const int cells = domain.axis[a].cells;
                own[a] = (c[a] + cells) % cells;
                if (own[a] != c[a] && !domain.axis[a].periodic) return;
            }
            if (own != c) body(c, own);
        });
    }
};

// What a kernel writes, and what the functors say.
template <int D>
struct Outcome {
    std::vector<std::int64_t> f[D], x[D], v[D];
    std::vector<md::Packed<D>> next;  // of own particles
    md::StepResult result;
    md::PairSums sums;
    int wide = 0;  // functors: particles whose forces were summed in 64 bits
};

// Calls body(displacement) for each other particle in the cells around cell c, that of the particle in slot `own`.
template <int D, class Body>
void for_each_near_slot(const Periodic<D>& t, const md::CellIndex& c, std::int32_t own, Body body) {
    const md::Packed<D>* packed = t.tile.packed();
    const balance::Box around = balance::with_halo({c, {c[0] + 1, c[1] + 1, c[2] + 1}}, {1, 1, D == 2 ? 0 : 1});
    t.tile.for_each_run(around, [&](const auto& r) {
        for (std::int32_t j = r.begin; j < r.begin + r.size; ++j)
            if (j != own) body(md::displacement(packed[own], packed[j]));
    });
}

template <int D>
struct Force {
    md::Vec<std::uint64_t, D> sum{};
    bool too_close = false;
};

// In 32 bits, then again in 64 if those might not do.
template <template <class, bool> class P, bool softened, int D>
Force<D> force_on(const md::MixedForce<P, softened>& force, const md::StepArgs& args, const Periodic<D>& t,
                  const md::CellIndex& cell, std::int32_t slot, int& wide) {
    md::Vec<std::uint32_t, D> narrow{};
    Force<D> f;
    float square = 0.0f, closest = force.cutoff2;
    int pairs = 0;
    for_each_near_slot(t, cell, slot, [&](const md::Vec<std::uint32_t, D>& d) {
        const auto p = force(md::to_f32(d));
        square = md::fma(p.g, p.g, square);
        for (int a = 0; a < D; ++a) narrow[a] += md::to_i32(p.f[a]), f.sum[a] += md::to_i64(p.f[a]);
        closest = md::min(closest, p.s);
        ++pairs;
    });
    if (md::less(square, force.narrow_g2(args.narrow_g2, pairs))) {
        for (int a = 0; a < D; ++a) f.sum[a] = static_cast<std::uint64_t>(static_cast<std::int32_t>(narrow[a]));
        return f;
    }
    ++wide;
    f.too_close = md::less(closest, force.safe2);
    return f;
}

template <template <class, bool> class P, bool softened, int D>
Force<D> force_on(const md::DoubleForce<P, softened>& force, const md::StepArgs&, const Periodic<D>& t,
                  const md::CellIndex& cell, std::int32_t slot, int&) {
    Force<D> f;
    double closest = force.cutoff2;
    int pairs = 0;
    for_each_near_slot(t, cell, slot, [&](const md::Vec<std::uint32_t, D>& d) {
        const auto p = force(md::to_f64(d));
        for (int a = 0; a < D; ++a) f.sum[a] += p.f[a];
        closest = md::min(closest, p.s);
        ++pairs;
    });
    for (int a = 0; a < D; ++a) f.sum[a] -= md::biases(pairs);
    f.too_close = md::less(closest, force.safe2);
    return f;
}

// The i-th particle of a tile, as Integration sees it. What it writes goes to the outcome.
template <int D>
struct One {
    using Int = std::uint64_t;
    const md::TileView<D>& tile;
    std::int64_t i;
    Outcome<D>& o;

    Int x(int axis) const { return tile.x[axis][i]; }
    Int v(int axis) const { return tile.v[axis][i]; }
    void fault(md::FaultKind kind, unsigned mask) {
        if (mask && tile.id[i] < o.result.fault.id) o.result.fault = {kind, tile.id[i]};
    }
    void whole_step(const md::Vec<Int, D>& v) {
        fault(md::FaultKind::velocity, md::bits(md::beyond_51_bits(v)));
        for (int a = 0; a < D; ++a) o.result.momentum[a] += static_cast<std::int64_t>(v[a]);
        o.result.kinetic += static_cast<std::int64_t>(md::kinetic_energy(v));
    }
    md::Vec<Int, D> with_external(const md::Integration<D>& step, const md::Vec<Int, D>& dv) const {
        return step.external_kicks(*this, dv);
    }
    md::Drifted<Int, D> reflected(const md::Integration<D>& step, const md::Drifted<Int, D>& d) {
        return step.reflected_by_moved(*this, d);
    }
    void pushed(const md::Vec<Int, D>& before, const md::Vec<Int, D>& v) {
        o.result.work += static_cast<std::int64_t>(md::kinetic_energy(v) - md::kinetic_energy(before));
    }
    void set_velocity(const md::Vec<Int, D>& v) {
        for (int a = 0; a < D; ++a) o.v[a][i] = v[a];
    }
    void move(const md::Vec<Int, D>& to) {
        std::int64_t x[D];
        for (int a = 0; a < D; ++a) o.x[a][i] = x[a] = to[a];
        o.next.push_back(md::pack(x, md::position_bits - tile.packed_bits));
        o.result.displacement2 = md::max(o.result.displacement2, md::distance2(o.next.back(), tile.reference[i]));
    }
};

template <template <class, bool> class P, int D>
void add_energy(const md::PairEnergy<P>& energy, const Periodic<D>& t, const md::CellIndex& cell, std::int32_t slot,
                md::PairSums& out) {
    for_each_near_slot(t, cell, slot, [&](const md::Vec<std::uint32_t, D>& d) {
        const auto p = energy(md::to_f64(d));
        out.energy += static_cast<std::int64_t>(p.energy - md::biases(1));
        out.virial += static_cast<std::int64_t>(p.virial - md::biases(1));
        out.pairs += md::bits(p.near);
    });
}

template <int D, template <class, bool> class P, class PairForce>
Outcome<D> step_by_functors(Periodic<D>& t, const md::StepArgs& args, Precision precision) {
    const md::TileView<D> v = t.tile.view();
    const PairForce force(*args.potential, args.safe_r2, v.packed_bits);
    const md::PairEnergy<P> energy(*args.potential, v.packed_bits);
    const md::Integration<D> step(args, precision);
    const std::int64_t n = t.tile.size();
    Outcome<D> o;
    for (int a = 0; a < D; ++a) o.x[a].assign(v.x[a], v.x[a] + n), o.v[a].assign(v.v[a], v.v[a] + n);
    std::int64_t i = 0;
    md::for_each_cell<D>(t.tile.box(), [&](const md::CellIndex& cell) {
        const auto own = t.tile.run(cell, 1);
        for (std::int32_t slot = own.begin; slot < own.begin + own.size; ++slot, ++i) {
            add_energy(energy, t, cell, slot, o.sums);
            const Force<D> f = force_on(force, args, t, cell, slot, o.wide);
            for (int a = 0; a < D; ++a) o.f[a].push_back(f.sum[a]);
            One<D> particle{v, i, o};
            particle.fault(md::FaultKind::force_range, f.too_close);
            step(particle, f.sum);
        }
    });
    return o;
}

template <int D>
using Step = Outcome<D> (*)(Periodic<D>&, const md::StepArgs&, Precision);
template <int D, class... T>
Step<D> functors_among(const md::PotentialSpec& spec, Precision precision, std::tuple<T...>*) {
    std::vector<Step<D>> steps;
    const bool softened = spec.softening != 0.0, mixed = precision == Precision::mixed;
    const auto add = [&]<template <class, bool> class P>(P<double, true>*) {
        steps.push_back(mixed      ? softened ? step_by_functors<D, P, md::MixedForce<P, true>>
                                              : step_by_functors<D, P, md::MixedForce<P, false>>
                             : softened ? step_by_functors<D, P, md::DoubleForce<P, true>>
                                   : step_by_functors<D, P, md::DoubleForce<P, false>>);
    };
    (add(static_cast<T*>(nullptr)), ...);
    return steps[md::potential_index(spec.kind)];
}
template <int D>
Step<D> functors_for(const md::PotentialSpec& spec, Precision precision) {
    return functors_among<D>(spec, precision, static_cast<md::Potentials<double, true>*>(nullptr));
}

template <int D>
Outcome<D> step_by_kernels(const md::Kernels& kernels, Periodic<D>& t, md::StepArgs args, Precision precision) {
    const md::TileView<D> v = t.tile.view();
    const md::KernelsOf<D>& k = md::kernels_of<D>(kernels);
    const std::int64_t n = t.tile.size();
    Outcome<D> o;
    for (int a = 0; a < D; ++a) {
        o.f[a].resize(n);
        args.force[a] = o.f[a].data();
    }
    k.pair_sums[md::potential_index(args.potential->kind)](v, *args.potential, o.sums);
    k.step_for(*args.potential, precision)(v, args, o.result);
    for (int a = 0; a < D; ++a) o.x[a].assign(v.x[a], v.x[a] + n), o.v[a].assign(v.v[a], v.v[a] + n);
    if (args.kick == Kick::none || args.kick == Kick::last) return o;
    for (int c = 0; c < v.cluster_count; ++c)
        for (int l = 0; l < v.clusters[c].count; ++l) o.next.push_back(v.next[v.clusters[c].slot + l]);
    return o;
}

template <int D>
void check_equal(const Outcome<D>& functors, const Outcome<D>& kernels) {
    CHECK(functors.result.fault.kind == kernels.result.fault.kind);
    CHECK(functors.result.fault.id == kernels.result.fault.id);
    if (kernels.result.fault.kind != md::FaultKind::none) return;  // what follows a fault is never used
    for (int a = 0; a < D; ++a) {
        CHECK((functors.f[a] == kernels.f[a]));
        CHECK((functors.v[a] == kernels.v[a]));
        CHECK((functors.x[a] == kernels.x[a]));
        CHECK((functors.result.momentum[a] == kernels.result.momentum[a]));
    }
    CHECK((functors.next == kernels.next));
    CHECK(functors.result.displacement2 == kernels.result.displacement2);
    CHECK((functors.result.kinetic == kernels.result.kinetic));
    CHECK((functors.result.work == kernels.result.work));
    CHECK((functors.sums.energy == kernels.sums.energy));
    CHECK((functors.sums.virial == kernels.sums.virial));
    CHECK(functors.sums.pairs == kernels.sums.pairs);
}

}  // namespace

TEMPLATE_TEST_CASE_SIG("one particle at a time, the functors do what the kernels of every instruction set do", "",
                       ((int D), D), 2, 3) {
    const int walled = GENERATE(range(0, D));
    const Precision precision = GENERATE(Precision::mixed, Precision::double_);
    const auto particles = sample<D>(walled);
    std::vector<Kick> kicks{Kick::none, Kick::first, Kick::middle, Kick::last};
    if (D == 2) kicks = {Kick::none, Kick::first, Kick::middle, Kick::middle, Kick::last, Kick::first};
    const md::Domain box = test::packed_for(box_with_walls_at<D>(walled), precision);
    for (const md::PotentialSpec& spec : test::potentials()) {
        const md::ForceLimits limits = md::force_limits(spec);
        const Step<D> by_functors = functors_for<D>(spec, precision);
        for (const md::Kernels* kernels : md::available_kernels()) {
            Periodic<D> t(box, *kernels, particles);
            for (const Kick kick : kicks) {
                const md::StepArgs args = test::step_arguments(box, spec, limits, kick, 0.002);
                const Outcome<D> functors = by_functors(t, args, precision);
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

TEMPLATE_TEST_CASE_SIG("so they do where gravity, a wall that attracts and a face that moves act", "", ((int D), D), 2,
                       3) {
    const int walled = GENERATE(range(0, D));
    const Precision precision = GENERATE(Precision::mixed, Precision::double_);
    const auto particles = sample<D>(walled);
    const md::Domain box = test::packed_for(box_with_walls_at<D>(walled), precision);
    md::System system;
    system.dimensions = D;
    system.gravity = {0.5, -0.25, D == 2 ? 0 : 1.0};
    const auto face = [&](int side) { return static_cast<md::BoxFace>(2 * walled + side); };
    system.walls = {{.face = face(0), .epsilon = 2, .sigma = 0.02, .cutoff = 1.5},
                    {.face = face(1), .velocity = 0.5, .to = 1}};
    const double dt = 0.0005;
    const md::External external = md::external_of(system, box, dt);
    const md::PotentialSpec spec;
    const md::ForceLimits limits = md::force_limits(spec);
    for (const md::Kernels* kernels : md::available_kernels()) {
        Periodic<D> t(box, *kernels, particles);
        md::Int128 work = 0;
        for (const std::int64_t step : {0, 1, 2, 3}) {
            const Kick kick = step == 0 ? Kick::first : step == 3 ? Kick::last : Kick::middle;
            const md::StepArgs args = test::step_arguments(box, spec, limits, kick, dt, true, external, step);
            const Outcome<D> functors = functors_for<D>(spec, precision)(t, args, precision);
            const Outcome<D> by_kernels = step_by_kernels(*kernels, t, args, precision);
            CAPTURE(kernels->isa, step, walled, static_cast<int>(precision));
            check_equal(functors, by_kernels);
            CHECK(functors.result.fault.kind == md::FaultKind::none);
            CHECK((step == 0 || functors.result.work == 0));  // it moves no longer
            work += functors.result.work;
            const md::StepArgs alone = test::step_arguments(box, spec, limits, kick, dt);
            if (step == 0) CHECK((step_by_kernels(*kernels, t, alone, precision).v[1] != by_kernels.v[1]));
            if (functors.next.empty()) continue;
            t.tile.flip();
            t.fill_ghosts();
        }
        CHECK((work > 0));
    }
}

TEMPLATE_TEST_CASE_SIG("one particle at a time, the functors find the faults that the kernels find", "", ((int D), D),
                       2, 3) {
    const Precision precision = GENERATE(Precision::mixed, Precision::double_);
    const md::Domain box = test::packed_for(box_with_walls_at<D>(1, plane), precision);
    for (const test::FaultCase<D>& c : test::fault_cases<D>(15.95))
        for (const md::Kernels* kernels : md::available_kernels())
            for (const Kick kick : {Kick::first, Kick::middle}) {
                CAPTURE(c.name, kernels->isa, static_cast<int>(precision), static_cast<int>(kick));
                const md::ForceLimits limits = md::force_limits(c.spec);
                const md::StepArgs args = test::step_arguments(box, c.spec, limits, kick, c.dt);
                Periodic<D> t(box, *kernels, c.particles);
                const Outcome<D> functors = functors_for<D>(c.spec, precision)(t, args, precision);
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

TEMPLATE_TEST_CASE_SIG("a sorting key computed for one particle names the same cell as the kernels' keys", "",
                       ((int D), D), 2, 3) {
    const md::Domain box = box_with_walls_at<D>(0);
    constexpr int cells = usual<D>.cells, slices = 4;
    const auto particles = sample<D>(0);
    std::vector<std::int64_t> x[D], edges[D];
    std::size_t bins = slices;
    for (int a = 0; a < D; ++a) {
        x[a].resize(particles.size() + md::lanes);
        for (std::size_t i = 0; i < particles.size(); ++i) x[a][i] = particles[i].x[a];
        for (int c = 0; c <= cells; ++c) edges[a].push_back(box.axis[a].edge(c));
        for (int c = 0; c < cells; ++c)  // the first positions of cells along x, their last ones along the others
            x[a][c] = a == 0 ? edges[a][c] << md::edge_shift : (edges[a][c + 1] << md::edge_shift) - 1;
        bins *= cells;
    }
    for (const md::Kernels* kernels : md::available_kernels()) {
        std::vector<std::uint32_t> key(particles.size()), bin(bins + 1);
        md::KeysArgs<D> args{};
        args.count = static_cast<std::int64_t>(key.size());
        args.slices = slices;
        args.key = key.data();
        args.bin = bin.data();
        for (int a = 0; a < D; ++a) {
            args.x[a] = x[a].data();
            args.edges[a] = edges[a].data();
            args.cells[a] = cells;
            args.per_cell[a] = cells / static_cast<double>(box.axis[a].length);
        }
        md::kernels_of<D>(*kernels).keys(args);
        std::size_t wrong = 0;
        for (std::size_t i = 0; i < key.size(); ++i) {
            std::int64_t at[D], cell = 0;
            for (int a = 0; a < D; ++a) {
                at[a] = x[a][i];
                cell = cell * cells + box.axis[a].cell_of(at[a]);
            }
            const std::int64_t one = md::sorting_key(args, at);
            wrong += key[i] / slices != one / slices || one / slices != cell;
        }
        CHECK(wrong == 0);
    }
}

TEST_CASE("the wall at the upper end of an axis kicks as the mirror image of the wall at the lower end") {
    constexpr std::int64_t length = std::int64_t{1} << 44;
    constexpr md::WallPotential wall{.epsilon = 1, .sigma = 1, .cutoff = 2.5};
    const md::WallKicks kicks{true, true, length, 0x1p40, {wall, wall}};
    for (std::int64_t inside = std::int64_t{1} << 39; inside < length / 2; inside += length / 1000) {
        std::uint64_t low = inside, high = length - 1 - inside, up = 0, down = 0;
        kicks(low, up), kicks(high, down);
        CHECK(up == 0 - down);
    }
}

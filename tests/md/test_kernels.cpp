// SPDX-License-Identifier: MIT
// Forces, kicks, faults and sorting of the kernels on one tile, for every instruction set.
#include <catch2/catch.hpp>

#include "tests/md/faults.hpp"
#include "tests/md/one_tile.hpp"
#include "tests/md/other_parameters.hpp"

using md::Precision;

namespace {

// Sparse enough to leave partly filled clusters, dense enough to have full ones; some cells stay empty.
template <int D>
std::vector<md::Particle<D>> sample() {
    return test::jittered<D>(D == 2 ? 23 : 9, 1.08, 0.12, 3.0, 1.0);
}
template <int D>
const md::Domain box = test::walled_box(40.0, 2.5, D);

// Few particles along each column, a cutoff's length apart.
template <int D>
std::vector<md::Particle<D>> dilute() {
    auto all = test::jittered<D>(13, 2.6, 0.9, 3.0, 1.0);
    if (D == 3)  // a few columns do
        std::erase_if(all, [](const md::Particle<D>& p) {
            return std::max(p.x[0], p.x[1]) > std::llrint(12.0 / md::position_unit);
        });
    return all;
}

/// Checks that a tile with these particles holds each of them, sorted into its cell.
template <int D>
void check_sorted(const md::Domain& d, const balance::Box& own, int tile_cells,
                  const std::vector<md::Particle<D>>& particles, const md::Kernels& k) {
    md::Tile<D> tile(d, own, tile_cells, tile_cells);
    md::TileScratch scratch;
    tile.insert(particles);
    tile.sort(k, scratch);
    std::int64_t i = 0, wrong = 0;
    md::for_each_cell<D>(own, [&](const md::CellIndex& c) {
        for (std::int32_t n = 0; n < tile.count(c); ++n, ++i)
            for (int a = 0; a < D; ++a) wrong += d.axis[a].cell_of(tile.particle(i).x[a]) != c[a];
    });
    CHECK(i == static_cast<std::int64_t>(particles.size()));
    CHECK(i == tile.size());
    CHECK(wrong == 0);
}

}  // namespace

TEMPLATE_TEST_CASE_SIG("forces are minus the gradient of the energy", "", ((int D), D), 2, 3) {
    const auto particles = sample<D>();
    for (const md::PotentialSpec& spec : test::potentials())
        for (const Precision precision : {Precision::mixed, Precision::double_}) {
            if (spec.shift == md::Shift::none) continue;  // the energy jumps at the cutoff: no finite difference there
            test::OneTile t(box<D>, spec, precision, md::choose_kernels(), particles);
            t.pass(md::Kick::none, 0.001);
            double rms = 0, worst = 0;
            for (std::int64_t i = 0; i < t.tile.size(); i += 7) {
                const std::size_t id = t.tile.particle(i).id;
                const double h = 1e-5;
                const auto f = t.force(i);
                for (int axis = 0; axis < D; ++axis) {
                    std::array<double, D> up{}, down{};
                    up[axis] = h, down[axis] = -h;
                    const double gradient = (test::brute_energy<D>(particles, spec, id, up) -
                                             test::brute_energy<D>(particles, spec, id, down)) /
                                            (2 * h);
                    worst = std::max(worst, std::abs(f[axis] + gradient));
                    rms += f[axis] * f[axis];
                }
            }
            rms = std::sqrt(rms / (static_cast<double>(t.tile.size()) / 7));
            CAPTURE(spec.kind, spec.softening, static_cast<int>(spec.shift), static_cast<int>(precision), rms, worst);
            // An energy shift leaves a kink at the cutoff, which a difference quotient may straddle: 1e-2 of jump at
            // most.
            const double kink = spec.shift == md::Shift::energy ? 0.05 : 0.0;
            CHECK(worst < (precision == Precision::mixed ? 2e-4 : 3e-6) * rms + kink);
            CHECK(rms > 1);
        }
}

TEMPLATE_TEST_CASE_SIG("forces, energy, virial and pairs equal a double loop", "", ((int D), D), 2, 3) {
    // The dilute one has clusters that reach as far as packed positions allow before they wrap.
    const auto particles = GENERATE(sample<D>(), dilute<D>());
    for (const md::PotentialSpec& spec : test::potentials())
        for (const Precision precision : {Precision::mixed, Precision::double_}) {
            const int shift = test::packed_for(box<D>, precision).packed_shift();
            const double unit = test::packed_for(box<D>, precision).packed_unit();
            const auto cut = [&](std::int64_t x) { return x >> shift; };
            test::OneTile t(box<D>, spec, precision, md::choose_kernels(), particles);
            t.pass(md::Kick::none, 0.001);
            double energy = 0, virial = 0, worst = 0, square = 0;
            std::int64_t pairs = 0;
            for (std::int64_t i = 0; i < t.tile.size(); ++i) {
                const md::Particle<D> a = t.tile.particle(i);
                std::array<double, D> force{};
                for (const md::Particle<D>& b : particles) {
                    if (a.id == b.id) continue;
                    std::array<double, D> d;
                    double r2 = 0;
                    for (int k = 0; k < D; ++k) {
                        d[k] = static_cast<double>(cut(a.x[k]) - cut(b.x[k])) * unit;
                        r2 += d[k] * d[k];
                    }
                    const double r = std::sqrt(r2);
                    if (r >= spec.cutoff) continue;
                    const md::PairValue v = md::pair_value(spec, r);
                    energy += v.energy;
                    virial += v.force * r;
                    for (int k = 0; k < D; ++k) force[k] += v.force / r * d[k];
                    ++pairs;
                }
                const auto f = t.force(i);
                for (int k = 0; k < D; ++k) {
                    worst = std::max(worst, std::abs(force[k] - f[k]));
                    square += force[k] * force[k];
                }
            }
            const md::PairSums s = t.pairs();
            CAPTURE(spec.kind, spec.softening, static_cast<int>(spec.shift), static_cast<int>(precision));
            CHECK(s.pairs == pairs);
            CHECK(std::ldexp(static_cast<double>(s.energy), -md::energy_bits) ==
                  Approx(energy).epsilon(1e-9).margin(1e-5));
            CHECK(std::ldexp(static_cast<double>(s.virial), -md::energy_bits) ==
                  Approx(virial).epsilon(1e-9).margin(1e-5));
            // Floats in mixed, and each of some 20 to 70 pairs rounded to a quantum.
            const double rms = std::sqrt(square / static_cast<double>(t.tile.size())),
                         rounding = 10 * std::ldexp(1.0, -md::force_bits(precision));
            CHECK(worst < (precision == Precision::mixed ? 5e-5 : 1e-9) * rms + rounding);
        }
}

TEMPLATE_TEST_CASE_SIG("a particle outside its tile ends the run before the kernels write its bin", "", ((int D), D), 2,
                       3) {
    const md::Domain d = test::walled_box(30, 2.8, D);
    const std::int64_t side = d.axis[0].fixed_length(), middle = side / 2;
    const auto at = [](std::int64_t id, const std::array<std::int64_t, D>& x) {
        md::Particle<D> p{id, {}, {}};
        std::copy(x.begin(), x.end(), p.x);
        return p;
    };
    std::array<std::int64_t, D> centre;
    centre.fill(middle);
    std::vector<std::array<std::int64_t, D>> places;
    for (int axis = 0; axis < D; ++axis)
        for (const std::int64_t x : {std::int64_t{-1}, side}) {
            places.push_back(centre);
            places.back()[axis] = x;
        }
    places.push_back(centre);
    places.back()[0] = -1000 * side, places.back()[1] = 1000 * side;
    std::array<std::int64_t, D> last{}, first{};
    last[D - 1] = first[0] = side - 1;
    for (const md::Kernels* kernels : md::available_kernels())
        for (const std::array<std::int64_t, D>& place : places) {
            md::Tile<D> tile(d, d.grid().box(), 1, 1);
            md::TileScratch scratch;
            tile.insert(std::vector{at(0, last), at(1, first)});
            CHECK_NOTHROW(tile.sort(*kernels, scratch));
            tile.insert(std::vector{at(7, place)});
            CAPTURE(place);
            CHECK_THROWS_WITH(tile.sort(*kernels, scratch),
                              Catch::StartsWith("particle 7 at (") && Catch::Contains("outside the tile"));
        }
}

TEMPLATE_TEST_CASE_SIG("every instruction set gives the same bits", "", ((int D), D), 2, 3) {
    const auto particles = sample<D>();
    for (const md::PotentialSpec& spec : test::potentials())
        for (const Precision precision : {Precision::mixed, Precision::double_}) {
            std::vector<std::uint64_t> hashes;
            std::vector<md::Int128> energies;
            for (const md::Kernels* k : md::available_kernels()) {
                test::OneTile t(box<D>, spec, precision, *k, particles);
                t.pass(md::Kick::first, 0.002);
                for (int s = 0; s < (D == 2 ? 40 : 10); ++s) t.pass(md::Kick::middle, 0.002);
                const md::StepResult r = t.pass(md::Kick::last, 0.002);
                hashes.push_back(t.hash());
                energies.push_back(r.kinetic + t.pairs().energy);
            }
            for (std::size_t i = 1; i < hashes.size(); ++i) {
                CAPTURE(md::available_kernels()[i]->isa, spec.kind, static_cast<int>(precision));
                CHECK(hashes[i] == hashes[0]);
                CHECK((energies[i] == energies[0]));
            }
        }
}

TEMPLATE_TEST_CASE_SIG("two half-kicks are one kick, and a reversed run retraces its steps bit by bit, walls included",
                       "", ((int D), D), 2, 3) {
    const bool external = GENERATE(false, true);  // gravity, and walls that attract or repel
    for (const Precision precision : {Precision::mixed, Precision::double_}) {
        const auto particles = test::jittered<D>(D == 2 ? 14 : 9, 1.1, 0.1, 0.4, 4.0);
        const md::Domain small = test::walled_box(D == 2 ? 16.0 : 10.0, 2.5, D);
        const double dt = 0.002;
        test::OneTile merged(small, {}, precision, md::choose_kernels(), particles),
            split(small, {}, precision, md::choose_kernels(), particles);
        if (external) {
            md::System system;
            system.dimensions = D;
            system.gravity = {0.3, -0.2, 0};
            system.walls = {{.face = md::BoxFace::y_upper, .epsilon = 1, .sigma = 0.3, .cutoff = 2.0},
                            {.face = md::BoxFace::x_lower, .epsilon = 1, .sigma = 0.3}};
            merged.external = split.external = md::external_of(system, small, dt);
        }
        const std::uint64_t start = merged.hash();
        const auto run = [&](test::OneTile<D>& t) {
            t.pass(md::Kick::first, dt);
            for (int s = 1; s < 200; ++s) t.pass(md::Kick::middle, dt);
            t.pass(md::Kick::last, dt);
        };
        run(merged);
        for (int s = 0; s < 200; ++s) {
            split.pass(md::Kick::first, dt);
            split.pass(md::Kick::last, dt);
        }
        CHECK(merged.hash() == split.hash());
        CHECK(merged.hash() != start);
        const auto reverse = [&] {
            merged.tile.change_velocities([](const md::Particle<D>& p) {
                std::array<std::int64_t, D> dv;
                for (int a = 0; a < D; ++a) dv[a] = -2 * p.v[a];
                return dv;
            });
        };
        reverse();
        run(merged);
        reverse();
        CHECK(merged.hash() == start);
    }
}

TEMPLATE_TEST_CASE_SIG("32-bit sums that could overflow are redone in 64 bits: same force, never wrapped", "",
                       ((int D), D), 2, 3) {
    // Two particles so close that the pair force exceeds 2^15, but not the exact range.
    md::PotentialSpec spec;
    const double r = 0.52;  // 24 (2 r^-13 - r^-7) = 2.3e5
    const auto at = [](std::int64_t id, double x, double y = 5.0) { return test::particle_at<D>(id, x, y, 0); };
    for (const md::Kernels* k : md::available_kernels()) {
        test::OneTile t(box<D>, spec, Precision::mixed, *k, std::vector{at(0, 5.0), at(1, 5.0 + r)});
        const md::StepResult result = t.pass(md::Kick::none, 1e-6);
        CHECK(result.fault.kind == md::FaultKind::none);
        const double expected = md::pair_value(spec, r).force;
        CHECK(expected > 32768);
        CHECK(t.force(0)[0] == Approx(-expected).epsilon(1e-5));
        CHECK(t.force(1)[0] == Approx(expected).epsilon(1e-5));
        // Three forces that stay below 2^15 one by one, on the same side of a fourth particle: their sum is twice one.
        const double s = 0.63;
        test::OneTile fan(box<D>, spec, Precision::mixed, *k,
                          std::vector{at(0, 5.0), at(1, 5.0 + s), at(2, 5.0 + s / 2, 5.0 + s * std::sqrt(0.75)),
                                      at(3, 5.0 + s / 2, 5.0 - s * std::sqrt(0.75))});
        CHECK(fan.pass(md::Kick::none, 1e-6).fault.kind == md::FaultKind::none);
        const double one = md::pair_value(spec, s).force;
        CHECK(one < 32768);
        CHECK(2 * one > 32768);
        for (std::int64_t i = 0; i < 4; ++i)
            if (fan.tile.particle(i).id == 0) CHECK(fan.force(i)[0] == Approx(-2 * one).epsilon(1e-5));
    }
}

TEMPLATE_TEST_CASE_SIG("particles are sorted into the cells that hold them, on every last bit of an edge", "",
                       ((int D), D), 2, 3) {
    md::Domain d;
    d.dimensions = D;
    d.axis[0] = {md::to_edge_units(47.11), 18, true};
    d.axis[1] = {md::to_edge_units(61.37), 23, true};
    if (D == 3) d.axis[2] = {md::to_edge_units(29.83), 11, true};
    const balance::Box own{{5, 3, D == 2 ? 0 : 4}, {15, 20, D == 2 ? 1 : 9}};
    std::vector<md::Particle<D>> particles;
    const auto put = [&](auto place) {  // along each axis
        md::Particle<D> p{static_cast<std::int64_t>(particles.size()), {}, {}};
        for (int a = 0; a < D; ++a) p.x[a] = place(a);
        particles.push_back(p);
    };
    const auto first = [&](int a, int c) { return d.axis[a].edge(c) << md::edge_shift; };
    md::for_each_cell<D>(own, [&](const md::CellIndex& c) {
        for (int corner = 0; corner < 1 << D; ++corner)
            put([&](int a) { return corner >> a & 1 ? first(a, c[a] + 1) - 1 : first(a, c[a]); });
    });
    for (std::uint64_t k = 0; k < 5000; ++k)
        put([&](int a) {
            const auto span = static_cast<std::uint64_t>(first(a, own.upper[a]) - first(a, own.lower[a]));
            return first(a, own.lower[a]) + static_cast<std::int64_t>(md::mix(D * k + a) % span);
        });
    for (const md::Kernels* k : md::available_kernels()) {
        CAPTURE(k->isa);
        check_sorted(d, own, 2, particles, *k);
    }
}

TEMPLATE_TEST_CASE_SIG("particles are sorted into their cells in tiles of any length, and cells of any width", "",
                       ((int D), D), 2, 3) {
    struct Extent {
        double length;
        int cells, lower, upper;  // of the box along the axis, and of the tile in it
    };
    const Extent e =
        GENERATE(Extent{2300, 766, 0, 766}, Extent{1 << 20, 104857, 0, 104857}, Extent{1 << 20, 104857, 104000, 104857},
                 Extent{47, 400000, 1001, 2000}, Extent{0.001, 1000, 3, 998});
    for (int axis = 0; axis < D; ++axis) {
        md::Domain d;
        d.dimensions = D;
        for (md::Axis& a : d.axes()) a = {md::to_edge_units(10), 2, true};
        d.axis[axis] = {md::to_edge_units(e.length), e.cells, true};
        balance::Box own = d.grid().box();
        own.lower[axis] = e.lower, own.upper[axis] = e.upper;
        std::vector<md::Particle<D>> particles;
        const auto put = [&](std::int64_t c, int place) {  // at both ends of a cell along the axis, and within it
            const std::int64_t first = d.axis[axis].edge(c) << md::edge_shift, end = d.axis[axis].edge(c + 1)
                                                                                     << md::edge_shift;
            md::Particle<D> p{static_cast<std::int64_t>(particles.size()), {}, {}};
            std::fill(p.x, p.x + D, std::llrint(7.5 / md::position_unit));
            p.x[axis] = place == 0 ? first : place == 1 ? end - 1 : first + (end - first) / place;
            particles.push_back(p);
        };
        for (int place = 0; place < 8; ++place) {
            for (int c = e.lower; c < e.upper; c += 1 + (e.upper - e.lower) / 500) put(c, place);
            put(e.upper - 1, place);
        }
        for (const md::Kernels* k : md::available_kernels()) {
            CAPTURE(k->isa, axis, e.length, e.cells);
            check_sorted(d, own, 1, particles, *k);
        }
    }
}

TEMPLATE_TEST_CASE_SIG("kinetic energies are right up to the largest velocities, and faults beyond them", "",
                       ((int D), D), 2, 3) {
    constexpr std::int64_t most = (std::int64_t{1} << 51) - 1;  // just below 2048
    for (const md::Kernels* k : md::available_kernels())
        for (const md::Kick kick : {md::Kick::none, md::Kick::first, md::Kick::middle, md::Kick::last})
            for (const bool too_fast : {false, true}) {
                CAPTURE(k->isa, static_cast<int>(kick), too_fast);
                std::vector<md::Particle<D>> particles;
                for (int id = 0; id < 5; ++id) {
                    particles.push_back(test::particle_at<D>(id, 4.0 + 6 * id, 20, 0));
                    for (int a = 0; a < D; ++a) particles[id].v[a] = (id + a) % 2 ? most : -most - 1;
                }
                if (too_fast) particles[3].v[D - 1] = most + 1;
                test::OneTile<D> t(box<D>, {}, Precision::mixed, *k, particles);
                const md::StepResult r = t.pass(kick, 1e-5);
                CHECK(r.fault.kind == (too_fast ? md::FaultKind::velocity : md::FaultKind::none));
                CHECK(r.fault.id == (too_fast ? 3 : INT64_MAX));
                const auto exact = 5 * D * (md::Int128{1} << (21 + md::kinetic_bits));
                if (!too_fast) CHECK((exact - 5 * D <= r.kinetic && r.kinetic <= exact));
            }
}

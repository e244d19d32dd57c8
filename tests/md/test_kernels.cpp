// SPDX-License-Identifier: MIT
#include <catch2/catch.hpp>
#include <map>
#include <set>

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

// The slot of a place, from the cluster's base.
std::int32_t slot_of(const md::Neighbourhood<2>& hood, int place) {
    return hood.start[place / md::window] + place % md::window;
}
std::int32_t slot_of(const md::Neighbourhood<3>&, int place) { return place; }

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

TEMPLATE_TEST_CASE_SIG("faults name the particle with the smallest id", "", ((int D), D), 2, 3) {
    const auto at = test::particle_at<D>;
    for (const md::Kernels* k : md::available_kernels())
        for (const Precision precision : {Precision::mixed, Precision::double_}) {
            CAPTURE(k->isa, static_cast<int>(precision));
            test::OneTile close(box<D>, {}, precision, *k,
                                std::vector{at(7, 20, 20, 0), at(5, 20.1, 20, 0), at(3, 30, 30, 0)});
            CHECK(close.pass(md::Kick::first, 0.001).fault.kind == md::FaultKind::force_range);
            test::OneTile same(box<D>, {}, precision, *k,
                               std::vector{at(7, 20, 20, 0), at(5, 20, 20, 0), at(3, 30, 30, 0)});
            const md::Fault overlap = same.pass(md::Kick::first, 0.001).fault;
            CHECK(overlap.kind == md::FaultKind::force_range);
            CHECK(overlap.id == 5);
            md::PotentialSpec steep{"mie"};
            steep.own[0] = 64, steep.own[1] = 62;
            test::OneTile infinite(box<D>, steep, precision, *k,
                                   std::vector{at(7, 20, 20, 0), at(5, 20.01, 20, 0), at(3, 30, 30, 0)});  // in floats
            CHECK(infinite.pass(md::Kick::first, 0.001).fault.id == 5);
            test::OneTile fast(box<D>, {}, precision, *k,
                               std::vector{at(7, 20, 20, 3000), at(5, 10, 20, 2400), at(3, 30, 30, 2000)});
            const md::Fault velocity = fast.pass(md::Kick::first, 0.0011).fault;
            CHECK(velocity.kind == md::FaultKind::velocity);
            CHECK(velocity.id == 5);
            test::OneTile far(box<D>, {}, precision, *k,
                              std::vector{at(7, 20, 20, 2000), at(5, 10, 20, 1900), at(3, 30, 30, 1600)});
            const md::Fault speed = far.pass(md::Kick::first, 0.0014).fault;  // a cell is 2.5
            CHECK(speed.kind == md::FaultKind::speed);
            CHECK(speed.id == 5);
            test::OneTile calm(box<D>, {}, precision, *k,
                               std::vector{at(7, 20, 20, 30), at(5, 10, 20, 24), at(3, 30, 30, 20)});
            CHECK(calm.pass(md::Kick::first, 0.001).fault.kind == md::FaultKind::none);
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
        md::Tile<D> tile(d, own, 2, 2);
        md::TileScratch scratch;
        tile.insert(particles);
        tile.sort(*k, scratch);
        std::int64_t i = 0, wrong = 0;
        md::for_each_cell<D>(own, [&](const md::CellIndex& c) {
            for (std::int32_t n = 0; n < tile.count(c); ++n, ++i)
                for (int a = 0; a < D; ++a) wrong += d.axis[a].cell_of(tile.particle(i).x[a]) != c[a];
        });
        CHECK(i == tile.size());
        CHECK(wrong == 0);
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
            md::Tile<D> tile(d, own, 1, 1);
            md::TileScratch scratch;
            tile.insert(particles);
            tile.sort(*k, scratch);
            std::int64_t i = 0, wrong = 0;
            md::for_each_cell<D>(own, [&](const md::CellIndex& c) {
                for (std::int32_t n = 0; n < tile.count(c); ++n, ++i)
                    for (int a = 0; a < D; ++a) wrong += d.axis[a].cell_of(tile.particle(i).x[a]) != c[a];
            });
            CHECK(i == tile.size());
            CHECK(wrong == 0);
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

TEMPLATE_TEST_CASE_SIG("runs of one candidate each have room for all their neighbourhoods", "", ((int D), D), 2, 3) {
    // 35 narrow columns of cells are in reach, each with one particle.
    constexpr int columns = 40, particles = 35, in_reach = 17;
    constexpr double spacing = 0.59, radius = in_reach * spacing + 0.12;
    md::Domain d;
    d.dimensions = D;
    for (md::Axis& a : d.axes()) a = {md::to_edge_units(2.0), 1, false};
    d.axis[0] = {md::to_edge_units(columns * 0.6), columns, false};
    std::vector<md::Particle<D>> row;
    for (int i = 0; i < particles; ++i) {
        md::Particle<D> p{i, {}, {}};
        std::fill(p.x, p.x + D, std::llrint(1.0 / md::position_unit));
        p.x[0] = std::llrint((12.3 + (i - in_reach) * spacing) / md::position_unit);
        row.push_back(p);
    }
    for (const md::Kernels* k : md::available_kernels()) {
        CAPTURE(k->isa);
        md::Tile<D> tile(d, d.grid().box(), 2, 2);
        md::TileScratch scratch;
        tile.insert(row);
        tile.sort(*k, scratch);
        tile.lay_slots();
        tile.build_neighbour_lists(*k, radius, scratch);
        const md::ListView<D> v = tile.lists();
        REQUIRE(v.cluster_count == particles);
        std::size_t most = 0;
        for (int c = 0; c < v.cluster_count; ++c)
            most = std::max(most, static_cast<std::size_t>(v.clusters[c].last - v.clusters[c].first));
        CHECK(most == (D == 2 ? 4 : 1));
        CHECK(most <= scratch.hoods<D>().size());
        std::vector<std::int32_t> within(particles + md::lanes);
        md::kernels_of<D>(*k).neighbours(v, radius, within.data());
        for (int i = 0; i < particles; ++i)
            CHECK(within[i] == std::min(i, in_reach) + std::min(particles - 1 - i, in_reach));
    }
}

TEMPLATE_TEST_CASE_SIG("rows that have too little room are refused and nothing is written beyond it", "", ((int D), D),
                       2, 3) {
    constexpr int candidates = 35;
    std::vector<std::uint16_t> along(2 * candidates + 32), across(along.size());
    std::vector<std::int32_t> ranges;  // 35 runs of one slot each, all within reach of the first
    for (int i = 0; i < candidates; ++i) {
        along[2 * i] = static_cast<std::uint16_t>(100 * i);
        ranges.insert(ranges.end(), {2 * i, 2 * i + 1});
    }
    const auto hoods = static_cast<std::int32_t>(md::most_neighbourhoods<D>(candidates, candidates));
    const auto elements = static_cast<std::int64_t>(md::most_row_elements(candidates));
    CHECK(hoods == (D == 2 ? 4 : 1));
    for (const md::Kernels* k : md::available_kernels()) {
        const auto build = [&](std::int32_t hoods_room, std::int64_t rows_room) {
            constexpr int stride = 96;
            alignas(64) static std::uint16_t x[D][stride], place[stride], lane_rows[md::lanes * stride + 32];
            static std::int32_t start[stride];
            std::vector<md::Neighbourhood<D>> hood(hoods);
            std::vector<md::Place<D>> rows(elements, 255);
            md::RowsArgs<D> a{};
            for (int axis = 0; axis < D; ++axis) a.coarse[axis] = axis == 0 ? along.data() : across.data();
            a.limit = 1000;  // reaches 5724
            a.ranges = ranges.data();
            a.range_count = candidates;
            a.count = 1;
            a.far_place = 1;
            for (int axis = 0; axis < D; ++axis) a.x[axis] = x[axis];
            a.place = place, a.start = start, a.lane_rows = lane_rows, a.stride = stride;
            a.neighbourhoods = hood.data(), a.neighbourhoods_room = hoods_room;
            a.rows = rows.data(), a.rows_room = rows_room;
            const std::int32_t built = md::kernels_of<D>(*k).rows(a);
            for (std::size_t i = rows_room; i < rows.size(); ++i) REQUIRE(rows[i] == 255);
            return built;
        };
        CAPTURE(k->isa);
        CHECK(build(hoods, elements) == hoods);
        if (D == 2) CHECK(build(hoods - 1, elements) == -1);  // in space one always has room
        CHECK(build(hoods, 256) == -1);
    }
}

TEMPLATE_TEST_CASE_SIG("what only reads the neighbour lists leaves particles sorted, what moves them does not", "",
                       ((int D), D), 2, 3) {
    const md::Kernels& k = md::choose_kernels();
    test::OneTile t(box<D>, {}, Precision::mixed, k, test::jittered<D>(D == 2 ? 20 : 6, 1.1, 0.1, 4.0, 1.0));
    std::vector<std::int32_t> within(t.tile.size() + md::lanes);
    CHECK(t.tile.sorted());
    md::kernels_of<D>(k).neighbours(t.tile.lists(), t.potential.cutoff, within.data());
    t.pairs();
    t.pass(md::Kick::none, 1e-3);
    CHECK(t.tile.sorted());
    t.pass(md::Kick::first, 1e-3);
    CHECK_FALSE(t.tile.sorted());
    t.rebuild();
    CHECK(t.tile.sorted());
}

TEMPLATE_TEST_CASE_SIG("rows hold every neighbour once, in as many neighbourhoods as it takes", "", ((int D), D), 2,
                       3) {
    const double spacing = GENERATE(2.6, 1.0, 0.6, 0.3);
    const int n = std::min(D == 2 ? 45 : 9, static_cast<int>(30 / spacing));
    const auto particles = test::jittered<D>(n, spacing, 0.45 * spacing, 4.0, 1.0);
    int most = 0;
    for (const md::Kernels* k : md::available_kernels())
        for (const Precision precision : {Precision::mixed, Precision::double_}) {
            test::OneTile t(box<D>, {}, precision, *k, particles);
            const md::ListView<D> v = t.tile.lists();
            const double radius = t.potential.cutoff + t.skin;
            std::map<std::int32_t, std::int64_t> own_of;  // by slot
            for (int c = 0; c < v.cluster_count; ++c)
                for (int l = 0; l < v.clusters[c].count; ++l) own_of[v.clusters[c].slot + l] = v.clusters[c].own + l;
            REQUIRE(own_of.size() == particles.size());
            const auto distance = [&](std::int64_t a, std::int64_t b) {
                const md::Particle<D> p = t.tile.particle(a), q = t.tile.particle(b);
                double r2 = 0;
                for (int k = 0; k < D; ++k) {
                    const double x = static_cast<double>(p.x[k] - q.x[k]) * md::position_unit;
                    r2 += x * x;
                }
                return std::sqrt(r2);
            };
            // Places in a row of which a position is out of reach of the lane: they fill it up.
            const auto is_far = [&](const md::Cluster& c, int place, int lane) {
                if constexpr (D == 2) return place == md::far_place;
                const md::Packed<D> far = v.packed[c.base + place];
                if (own_of.count(c.base + place) || !(far == md::Packed<D>{{c.far_x}})) return false;
                return lane >= c.count ||
                       md::distance2(far, v.packed[c.slot + lane]) > std::pow(2 * radius / t.domain.packed_unit(), 2);
            };
            std::vector<std::set<std::int64_t>> rows(particles.size());
            bool good = true;
            for (int c = 0; c < v.cluster_count; ++c) {
                const md::Cluster& cluster = v.clusters[c];
                most = std::max(most, cluster.last - cluster.first);
                for (int h = cluster.first; h < cluster.last; ++h)
                    for (int i = 0; i < v.neighbourhoods[h].length * md::lanes; ++i) {
                        const int place = v.rows[v.neighbourhoods[h].row + i], lane = i % md::lanes;
                        if (is_far(cluster, place, lane)) continue;
                        const std::int32_t slot = cluster.base + slot_of(v.neighbourhoods[h], place);
                        good = good && lane < cluster.count && own_of.count(slot) &&
                               own_of[slot] != cluster.own + lane &&
                               distance(own_of[slot], cluster.own + lane) < radius * 1.01 &&  // see CoarseSearch
                               rows[cluster.own + lane].insert(own_of[slot]).second;
                    }
            }
            CAPTURE(k->isa, static_cast<int>(precision), spacing);
            REQUIRE(good);
            std::size_t missing = 0;
            for (std::size_t a = 0; a < particles.size(); ++a)
                for (std::size_t b = 0; b < particles.size(); ++b)
                    missing += a != b && distance(a, b) < radius && !rows[a].count(b);
            CHECK(missing == 0);
        }
    CHECK(most >= (D == 3 || spacing > 0.7 ? 1 : spacing > 0.5 ? 2 : 3));
}

// SPDX-License-Identifier: MIT
// What acts on particles besides each other: random numbers of thermostats, potentials of walls, faces that move.
#include <catch2/catch.hpp>
#include <cmath>

#include "md/external.hpp"
#include "md/system.hpp"
#include "md/thermostat.hpp"
#include "tests/md/one_tile.hpp"

TEST_CASE("Philox4x32-10 gives the known answers of Random123") {
    struct Known {
        md::Philox::Counter counter;
        md::Philox philox;
        md::Philox::Counter answer;
    };
    for (const Known& k : {Known{{{0, 0, 0, 0}}, {{0, 0}}, {{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}}},
                           Known{{{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}},
                                 {{0xffffffff, 0xffffffff}},
                                 {{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}}},
                           Known{{{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}},
                                 {{0xa4093822, 0x299f31d0}},
                                 {{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}}}}) {
        const md::Philox::Counter c = k.philox(k.counter);
        for (int i = 0; i < 4; ++i) CHECK(c.word[i] == k.answer.word[i]);
    }
}

namespace {

// Moments of the noise that a Langevin thermostat of temperature 2 gives to particles at rest, over the spread.
template <int D>
void check_noise(std::uint64_t seed, std::int64_t step) {
    const md::Thermostat langevin{.kind = md::ThermostatKind::langevin, .temperature = 2, .friction = 1, .every = 5};
    const auto change = md::velocity_change<D>(langevin, seed, 0.004, step, {});
    CHECK(change.keep == Approx(std::exp(-1 * 5 * 0.004)).epsilon(1e-6));
    const double spread = std::sqrt(2 * (1 - change.keep * change.keep));
    constexpr int n = 60000;
    md::Vec<double, D> sum{}, square{}, fourth{};
    double cross = 0;
    for (std::int64_t id = 0; id < n; ++id) {
        const auto v = change(id, md::Vec<std::int64_t, D>{});
        const auto r = md::vec<D>([&](int a) { return static_cast<double>(v[a]) * md::velocity_unit / spread; });
        for (int a = 0; a < D; ++a) {
            sum[a] += r[a] / n, square[a] += r[a] * r[a] / n, fourth[a] += std::pow(r[a], 4) / n;
            cross += r[a] * r[(a + 1) % D] / n;
        }
    }
    for (int a = 0; a < D; ++a) {  // five standard errors
        CHECK(sum[a] == Approx(0).margin(5 / std::sqrt(n)));
        CHECK(square[a] == Approx(1).margin(5 * std::sqrt(2.0 / n)));
        CHECK(fourth[a] == Approx(3).margin(5 * std::sqrt(96.0 / n)));
    }
    CHECK(cross == Approx(0).margin(5 * D / std::sqrt(n)));
}

// The noise of one particle.
template <int D>
md::Vec<std::int64_t, D> noise(std::uint64_t seed, std::int64_t id, std::int64_t step) {
    const md::Thermostat langevin{.kind = md::ThermostatKind::langevin};
    return md::velocity_change<D>(langevin, seed, 0.004, step, {})(id, md::Vec<std::int64_t, D>{});
}

}  // namespace

TEST_CASE("noise is normal, along all axes, and another one for each seed, particle and step") {
    check_noise<2>(3, 0);
    check_noise<2>(std::uint64_t{1} << 63, 999'999'999'999'990);
    check_noise<3>(4, 5);
    const auto first = noise<3>(1, 2, 3);
    for (const auto& other :
         {noise<3>(2, 2, 3), noise<3>(1 + (std::uint64_t{1} << 32), 2, 3), noise<3>(1, 3, 3),
          noise<3>(1, 2 + (std::int64_t{1} << 39), 3), noise<3>(1, 2, 4), noise<3>(1, 2, 3 + (std::int64_t{1} << 49))})
        for (int a = 0; a < 3; ++a) CHECK(first[a] != other[a]);
    for (int a = 0; a < 3; ++a) CHECK(first[a] == noise<3>(1, 2, 3)[a]);
}

TEST_CASE("rescaling gives the temperature, and keeps the mean velocity and what rests") {
    using Velocities = std::vector<md::Vec<std::int64_t, 2>>;
    const auto sums_of = [](const Velocities& all) {
        md::SystemSums sums;
        for (const auto& v : all) {
            ++sums.particles;
            for (int a = 0; a < 2; ++a) sums.momentum[a] += v[a];
            sums.kinetic += md::gained({}, v);
        }
        return sums;
    };
    Velocities all;
    for (std::int64_t id = 0; id < 1000; ++id) all.push_back(noise<2>(7, id, 0));
    for (auto& v : all) v[0] += std::int64_t{3} << md::position_bits;
    const md::SystemSums before = sums_of(all);
    const md::Thermostat to{.kind = md::ThermostatKind::rescale, .temperature = 0.3};
    const auto change = md::velocity_change<2>(to, 1, 0.004, 10, before);
    md::Int128 heat = 0;
    for (auto& v : all) {
        const auto after = change(0, v);
        heat += md::gained(v, after);
        v = after;
    }
    const md::SystemSums sums = sums_of(all);
    CHECK(md::temperature_of(sums, 2) == Approx(0.3).epsilon(1e-7));
    CHECK((sums.kinetic - before.kinetic == heat));
    for (int a = 0; a < 2; ++a)  // one quantum for each particle at most
        CHECK(std::abs(static_cast<double>(sums.momentum[a] - before.momentum[a])) <= 1000);
    const Velocities rest{{{5, -7}}, {{5, -7}}};
    const auto still = md::velocity_change<2>(to, 1, 0.004, 10, sums_of(rest))(0, rest[0]);
    CHECK((still[0] == 5 && still[1] == -7));
}

TEST_CASE("a thermostat acts at its steps") {
    const md::Thermostat t{.kind = md::ThermostatKind::rescale, .every = 4, .from = 3, .to = 12};
    std::vector<std::int64_t> steps;
    for (std::int64_t s = 0; s < 30; ++s)
        if (t.acts(s)) steps.push_back(s);
    CHECK(steps == std::vector<std::int64_t>{3, 7, 11});
    CHECK_FALSE(md::Thermostat{}.acts(0));
}

TEST_CASE("the force of a wall is the slope of its energy, which ends at the cutoff, and is lowest where it says") {
    md::System system;
    system.walls = {{.face = md::BoxFace::x_lower, .epsilon = 1.5, .sigma = 0.9, .cutoff = 2.5},
                    {.face = md::BoxFace::y_upper, .epsilon = 1.5, .sigma = 0.9}};
    const md::Domain box = test::walled_box(20, 2.5);
    const md::External e = md::external_of(system, box, 0.001);
    const md::WallPotential &attracts = e.wall[0][0], &repels = e.wall[1][1];
    for (double z = 0.6; z < 2.5; z += 0.1) {
        const double h = 1e-6;
        CHECK(attracts.force(z) == Approx((attracts.energy(z - h) - attracts.energy(z + h)) / (2 * h)).epsilon(1e-6));
    }
    CHECK(attracts.energy(2.5) == 0);
    CHECK(attracts.energy(0.9) + attracts.shift == Approx(1.5 * (2.0 / 15 - 1)));
    CHECK(repels.cutoff == Approx(0.9 * std::pow(0.4, 1.0 / 6)));
    CHECK(repels.force(repels.cutoff) == Approx(0).margin(1e-12));
    CHECK(repels.energy(0.99 * repels.cutoff) > 0);
    // Of a particle one length from both, between them, and in the middle of the box.
    const auto energy = [&](double x, double y) {
        const auto at = [](double u) { return std::llrint(u / md::position_unit); };
        return std::ldexp(static_cast<double>(e.energy(md::Vec<std::int64_t, 2>{{at(x), at(y)}})), -md::kinetic_bits);
    };
    const double at_wall = attracts.energy(1.0), near = repels.energy(0.7);
    CHECK(energy(1, 10) == Approx(at_wall).epsilon(1e-7));
    CHECK(energy(10, 19.3) == Approx(near).epsilon(1e-7));
    CHECK(energy(1, 19.3) == Approx(at_wall + near).epsilon(1e-7));
    CHECK(energy(10, 10) == 0);
}

TEST_CASE("a face is where its step says, and is told to the cells that particles may meet it from") {
    md::System system;
    system.walls = {{.face = md::BoxFace::x_lower, .velocity = 2, .from = 10, .to = 1010}};
    const md::Domain box = test::walled_box(20, 2.5);  // 8 cells
    const md::External e = md::external_of(system, box, 0.004);
    const std::int64_t stride = std::llrint(0.008 / md::position_unit);
    const md::FaceMotion& m = e.motion[0][0];
    for (const auto& [step, strides] :
         std::vector<std::pair<int, int>>{{0, 0}, {10, 0}, {11, 1}, {500, 490}, {1010, 1000}, {2000, 1000}})
        CHECK(m.way(step) == strides * stride);
    CHECK((!m.moves(9) && m.moves(10) && m.moves(1009) && !m.moves(1010)));
    const auto face_of = [&](int first_cell, std::int64_t step) {
        md::StepArgs args{};
        e.tell(args, box, {{first_cell, 0, 0}, {8, 8, 1}}, 1, step);
        return args.face[0][0];
    };
    CHECK(face_of(0, 0).reflects);
    CHECK_FALSE(face_of(1, 0).reflects);
    CHECK(face_of(0, 0).at == 0);
    CHECK(face_of(0, 5).velocity == 0);
    CHECK(face_of(0, 10).at == stride);
    CHECK(face_of(0, 10).velocity == std::llrint(2 / md::velocity_unit));
    CHECK(face_of(2, 400).reflects);  // at 3.128, in cell 1
    CHECK_FALSE(face_of(3, 400).reflects);
    CHECK(face_of(3, 3000).reflects);  // at 8, in cell 3
    CHECK(face_of(3, 3000).velocity == 0);
}

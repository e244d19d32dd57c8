// SPDX-License-Identifier: MIT
// Slabs and bodies of a deck, completed and checked when the whole deck has been read.
#include <fmt/format.h>

#include <cmath>
#include <span>

#include "app/deck/checks.hpp"
#include "app/deck/deck.hpp"
#include "app/deck/from_file.hpp"
#include "app/deck/key.hpp"
#include "app/deck/wording.hpp"
#include "md/closest.hpp"
#include "md/initial.hpp"
#include "md/lattice.hpp"
#include "md/profile.hpp"
#include "md/random_filling.hpp"

namespace app {

std::string path_in(const md::System& s, std::size_t body, const char* key) {
    return below(md::body_path(s, body), key);
}

// The corners of shapes that are given by their centre, and the density of a number of particles.
void complete_bodies(Deck::System& s, std::span<const FoundState> found, const Where& where) {
    std::size_t file = 0;
    for (std::size_t i = 0; i < s.bodies.size(); ++i) {
        md::Body& body = s.bodies[i];
        const std::string path = fmt::format("system.bodies.{}", i);
        if (body.shape == md::BodyShape::cylinder && s.dimensions == 2)
            fail(where(path + ".shape"), "a cylinder needs three dimensions", "write ball, which is a disc in two");
        if (s.dimensions == 2 && (body.spin[0] != 0 || body.spin[1] != 0))
            fail(where(path + ".spin"), "in two dimensions a body turns about z alone", "give one number");
        if (body.shape == md::BodyShape::shell && body.inner_radius >= body.radius)
            fail(where(path + ".inner_radius"),
                 fmt::format("the hole of body {} is as wide as its radius, {}", i, body.radius),
                 "use a smaller inner_radius");
        for (int a = 0; body.shape != md::BodyShape::box && a < s.dimensions; ++a) {
            const bool along = body.shape == md::BodyShape::cylinder && a == static_cast<int>(body.axis);
            body.lower[a] = body.center[a] - (along ? body.length / 2 : body.radius);
            body.upper[a] = body.center[a] + (along ? body.length / 2 : body.radius);
        }
        if (body.fill == md::Fill::file)
            complete_fill(body, found.empty() ? nullptr : &found[file++], s.dimensions, path, where);
        if (!body.particles) continue;
        body.density = static_cast<double>(*body.particles) / md::volume(body);
        if (!(body.density > 0 && body.density <= densest))
            fail(where(path + ".particles"),
                 fmt::format("body {} has a volume of {:.3g} for them", i, md::volume(body)),
                 fmt::format("make it wider, so that the density is at most {}", densest));
    }
}

namespace {

constexpr double thermal_widths = 6;  // a particle this many standard deviations fast is still handled

// A ball touches all faces of the box between its corners.
void check_ball(const md::Body& s, std::size_t i, const Where& where) {
    const double diameter = s.upper[0] - s.lower[0];
    for (int a = 1; a < md::dimensions_of(s.lattice); ++a)
        if (const double side = s.upper[a] - s.lower[a]; std::abs(side - diameter) > md::edge_unit)
            fail(where(fmt::format("system.slabs.{}.upper.{}", i, a)),
                 fmt::format("slab {} is a ball, {:.10g} wide along x and {:.10g} along {}", i, diameter, side,
                             "xyz"[a]),
                 fmt::format("give equal sides, for those of x {:.10g}", s.lower[a] + diameter));
}

// Rows of a lattice in a round shape, or cells with trials: the places that filling a body goes through. A thin body
// may have many more of them than particles.
void check_work(const md::System& s, const md::Body& body, std::size_t i, const Where& where) {
    constexpr double most_rows = 1 << 25, most_cells = 1 << 22, most_a_particle = 1024;
    const bool random = body.fill == md::Fill::random;
    if (body.fill == md::Fill::file || (!random && body.shape == md::BodyShape::box)) return;
    const double mean =
        md::lattice_constant(s.dimensions == 2 ? md::LatticeKind::hexagonal : md::LatticeKind::sc, body.density);
    const double width = random ? std::max(body.spacing, mean) : md::lattice_constant(body.lattice, body.density);
    double places = random ? 1 : md::sites_of_cell(body.lattice);
    for (int a = random ? 0 : 1; a < s.dimensions; ++a) places *= (body.upper[a] - body.lower[a]) / width + 1;
    const double allowed = random ? most_cells + most_a_particle * body.density * md::volume(body) : most_rows;
    if (!(places <= allowed))
        fail(where(path_in(s, i, i < s.slabs.size() || body.shape == md::BodyShape::box ? "upper" : "radius")),
             fmt::format("{} is so wide and thin that {:.3g} {} are looked through for its particles",
                         md::body_name(s, i), places, random ? "places" : "rows"),
             "make it thicker, or less wide");
}

// Along which a body's density varies, and by how much.
md::ProfileMeans check_profile(const md::System& s, const md::Body& body, std::size_t i, const Where& where) {
    const md::Profile& p = body.profile;
    if (s.dimensions == 2 && p.axis == md::AxisName::z)
        fail(where(path_in(s, i, "profile.axis")), "a box of two dimensions has no axis z", "write x or y");
    if (p.kind == md::ProfileKind::linear && p.ends[0] == 0 && p.ends[1] == 0)
        fail(where(path_in(s, i, "profile.ends")),
             fmt::format("{} has a density of 0 at both ends", md::body_name(s, i)),
             "give one of them that is above 0");
    const md::ProfileMeans means = md::means_of(body);
    if (!(means.peak() <= md::steepest))
        fail(where(path_in(s, i, p.kind == md::ProfileKind::geometric ? "profile.ratio" : "profile.kind")),
             fmt::format("{} is {:.3g} times as dense somewhere as in the mean, more than {}", md::body_name(s, i),
                         means.peak(), md::steepest),
             "use a flatter profile, or a shorter body");
    return means;
}

// Checks of a body that is filled at random.
void check_random(const Deck& deck, const md::Body& body, std::size_t i, const Where& where) {
    const md::System& s = deck.system;
    const md::ProfileMeans profile = check_profile(s, body, i, where);
    double crowd = body.density * profile.peak();
    for (int a = 0; a < s.dimensions; ++a) {
        crowd *= body.spacing;
        if (s.boundary[a] == md::Boundary::periodic && body.spacing > s.box[a])
            fail(where(path_in(s, i, "spacing")), fmt::format("the box is shorter along {}", "xyz"[a]),
                 "use a smaller spacing");
    }
    if (crowd > md::fullest)
        fail(where(path_in(s, i, "spacing")),
             fmt::format(
                 "{} is too dense: its {}density times the spacing^{} is {:.3g}, and random places are found up to {}",
                 md::body_name(s, i), profile.peak() > 1 ? "largest " : "", s.dimensions, crowd, md::fullest),
             fmt::format("use a spacing of at most {:.3f}, or a lower density",
                         std::floor(1000 * body.spacing * std::pow(md::fullest / crowd, 1.0 / s.dimensions)) / 1000));
}

void check_overlap(const md::System& s, std::span<const md::Body> bodies, std::size_t i, const Where& where) {
    for (std::size_t j = 0; j < i; ++j) {
        // Corners that are sums round.
        const double least = j < s.slabs.size() && i < s.slabs.size() ? 0 : -md::edge_unit;
        if (md::distance(bodies[i], bodies[j]) < least)
            fail(where(path_in(s, i, i < s.slabs.size() || bodies[i].shape == md::BodyShape::box ? "lower" : "center")),
                 fmt::format("{} overlaps {}", md::body_name(s, i), md::body_name(s, j)), "move or shrink one of them");
    }
}

void check_speed(const Deck& deck, const md::Body& body, std::size_t i, const Where& where) {
    // From a file: its velocities, less their mean.
    const double speed = md::speed_of(body),
                 thermal = thermal_widths * std::sqrt(body.temperature) + 2 * body.from.fastest,
                 drift = std::hypot(body.velocity[0], body.velocity[1], body.velocity[2]);
    constexpr double fastest_of_all = 2 * fastest;  // of velocities whose components are below `fastest`
    const char* key = speed < thermal         ? body.fill == md::Fill::file ? "from.file" : "temperature"
                      : drift < speed - drift ? "spin"
                                              : "velocity";
    if (!(speed + thermal <= fastest_of_all))
        fail(where(path_in(deck.system, i, key)),
             fmt::format("particles of {} have speeds up to {:.4g}", md::body_name(deck.system, i), speed + thermal),
             fmt::format("use at most {}", fastest_of_all));
    if (!((speed + thermal) * deck.run.dt < deck.grid.cell))
        fail(where(path_in(deck.system, i, key)),
             fmt::format("particles of {} cross a cell of {} in one step: speeds up to {:.4g}, dt {}",
                         md::body_name(deck.system, i), deck.grid.cell, speed + thermal, deck.run.dt),
             fmt::format("use a smaller run.dt or a slower {}", i < deck.system.slabs.size() ? "slab" : "body"));
    // The run checks the sum of drift, heat and spin, particle by particle.
    for (int a = 0; a < deck.system.dimensions; ++a)
        if (!(std::abs(body.velocity[a]) < most_velocity))
            fail(where(fmt::format("{}.{}", path_in(deck.system, i, "velocity"), a)),
                 fmt::format("{} drifts at {} along {}, and velocities stay below {}", md::body_name(deck.system, i),
                             body.velocity[a], "xyz"[a], most_velocity),
                 fmt::format("use a slower {}", i < deck.system.slabs.size() ? "slab" : "body"));
}

}  // namespace

void check_bodies(const Deck& deck, const Where& where) {
    const md::System& system = deck.system;
    const std::vector<md::Body> bodies = md::all_bodies(system);
    if (bodies.empty() && deck.system.from.file.empty())
        fail(where("system"), "there are no particles: system has neither slabs nor bodies",
             "give a list of either, or a file by from");
    double particles = 0;
    for (std::size_t i = 0; i < bodies.size(); ++i) {
        const md::Body& body = bodies[i];
        for (int a = 0; a < system.dimensions; ++a)
            if (!(body.lower[a] < body.upper[a]))
                fail(where(fmt::format("{}.{}", path_in(system, i, "upper"), a)),
                     fmt::format("{} has no width along {}", md::body_name(system, i), "xyz"[a]),
                     fmt::format("use more than {}, its lower corner", body.lower[a]));
        if (i < system.slabs.size() && body.shape == md::BodyShape::ball) check_ball(body, i, where);
        check_overlap(system, bodies, i, where);
        double more = md::sites_of_cell(body.lattice);
        for (int a = 0; body.cells && a < system.dimensions; ++a) more *= static_cast<double>((*body.cells)[a]);
        particles += body.cells ? more : body.density * md::volume(body);
        if (!(particles <= static_cast<double>(most_particles)))
            fail(where(path_in(system, i,
                               body.cells                    ? "cells"
                               : body.particles              ? "particles"
                               : body.fill == md::Fill::file ? "from.file"
                                                             : "density")),
                 fmt::format("about {:.3g} particles, more than 2^40", particles),
                 "use a lower density or smaller slabs");
        check_speed(deck, body, i, where);
        check_work(system, body, i, where);
        const bool random = body.fill == md::Fill::random;
        if (body.fill != md::Fill::file && md::particle_count(body) == 0)
            fail(where(path_in(system, i, "density")), fmt::format("{} has no particle", md::body_name(system, i)),
                 random ? "use a higher density, or give particles" : "use a higher density");
        if (random) check_random(deck, body, i, where);
    }
}

}  // namespace app

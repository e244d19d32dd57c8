// SPDX-License-Identifier: MIT
#include "app/engine/setup.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "md/limits.hpp"
#include "md/skin.hpp"

namespace app {
namespace {

double typical_speed(const md::System& system) {
    // The fastest of many particles, after a collision has turned the bodies' motion into heat.
    double speed = std::max(0.1, system.from.fastest);
    for (const md::Body& body : md::all_bodies(system))
        speed = std::max(speed, 1.5 * md::speed_of(body) + 4 * std::sqrt(body.temperature) + body.from.fastest);
    if (system.thermostat.kind != md::ThermostatKind::none)
        speed = std::max(speed, 4 * std::sqrt(system.thermostat.temperature));
    for (const md::Wall& wall : system.walls) speed = std::max(speed, 2 * wall.velocity);
    // Speed of a fall through half the box.
    for (int a = 0; a < system.dimensions; ++a)
        speed = std::max(speed, std::sqrt(std::abs(system.gravity[a]) * system.box[a]));
    return speed;
}

std::string in_words(double x) {
    char text[32];
    std::snprintf(text, sizeof text, "%.6g", x);
    return text;
}

bool fits_before_wrap(int packed_bits, double radius, const md::Domain& domain) {
    for (const md::Axis& axis : domain.axes())
        if (!md::fits_before_wrap(packed_bits, radius, axis.cell_width())) return false;
    return true;
}

// Can this skin be used with the cell reach and the halo width that were chosen for s.skin?
bool allows(const Setup& s, double skin) {
    const double radius = s.potential.cutoff + skin;
    if (radius > md::longest_reach || !fits_before_wrap(s.domain.packed_bits, radius, s.domain)) return false;
    for (const md::Axis& axis : s.domain.axes())
        if (md::cells_within(radius, axis.least_width()) > md::cells_within(s.radius(), axis.least_width()) ||
            md::cells_within(skin / 2 + axis.cell_width(), axis.least_width()) > s.halo)
            return false;
    return true;
}

// In double precision the packing step would be visible, so it is the finest that the cells allow. It must not depend
// on the skin, or the skin would change the trajectory.
int choose_packed_bits(md::Precision precision, double cutoff, const md::Domain& domain) {
    int bits = precision == md::Precision::mixed ? md::edge_bits : md::finest_packed_bits;
    while (bits > md::edge_bits && !fits_before_wrap(bits, 1.6 * cutoff, domain)) --bits;
    return bits;
}

}  // namespace

Setup make_setup(const md::System& system, const Method& method) {
    Setup s;
    s.potential = system.potential;
    s.precision = method.precision;
    s.dt = method.dt;
    const double cutoff = s.potential.cutoff;
    s.skin = method.skin ? *method.skin
                         : std::min(md::guess_skin(system.dimensions, cutoff, s.dt, typical_speed(system)),
                                    md::longest_reach - cutoff);
    const double cell = method.cell > 0 ? method.cell : cutoff;
    s.domain.dimensions = system.dimensions;
    for (int a = 0; a < system.dimensions; ++a) {
        md::Axis& axis = s.domain.axis[a];
        axis.length = md::to_edge_units(system.box[a]);
        axis.periodic = system.boundary[a] == md::Boundary::periodic;
        axis.cells = std::max(1, static_cast<int>(std::floor(system.box[a] / cell)));
    }
    s.external = md::external_of(system, s.domain, s.dt);
    s.thermostat = system.thermostat;
    s.seed = system.seed;
    s.domain.packed_bits = choose_packed_bits(s.precision, cutoff, s.domain);
    if (!fits_before_wrap(s.domain.packed_bits, s.radius(), s.domain))
        throw GeometryError("a skin of " + in_words(s.skin) + " is too wide for packed positions of 2^-" +
                            std::to_string(s.domain.packed_bits) + "; make it thinner or auto");
    s.work = method.work;
    s.time_tiles = method.time_tiles;
    for (const md::Axis& axis : s.domain.axes())
        s.reach = std::max(s.reach, md::cells_within(s.radius(), axis.least_width()));
    s.halo = std::max(s.reach, method.modelled ? 2 : 1);
    // Between two rebuilds no particle moves further than half the skin and one more step of at most a cell.
    for (const md::Axis& axis : s.domain.axes())
        s.halo = std::max(s.halo, md::cells_within(s.skin / 2 + axis.cell_width(), axis.least_width()));
    for (int a = 0; a < system.dimensions; ++a)
        if (s.domain.axis[a].periodic && s.halo > s.domain.axis[a].cells)
            throw GeometryError("the box is " + std::to_string(s.domain.axis[a].cells) + " cells along " + "xyz"[a] +
                                " and neighbours reach over " + std::to_string(s.halo) +
                                "; make the box longer, the cells wider or the skin thinner");
    s.tune_skin = !method.skin;
    // In space lists grow with the cube of their reach, and the guess is rather wide: a search that tried wider skins
    // would cost memory for good.
    for (s.widest_skin = s.skin; system.dimensions == 2 && allows(s, s.widest_skin + 0.01);) s.widest_skin += 0.01;
    s.limits = md::force_limits(s.potential);
    s.kernels = &md::choose_kernels(method.kernels);
    s.overlap = method.overlap;
    return s;
}

}  // namespace app

// SPDX-License-Identifier: MIT
#include "app/setup.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "md/initial.hpp"
#include "md/potential.hpp"

namespace app {
namespace {

// Measured on this kernel: one rebuild (sort, ghosts, rows) costs about as much as this many force passes without skin.
constexpr double rebuild_cost = 5.0;

double typical_speed(const Deck& deck) {
    // The fastest of many particles, after a collision has turned the slabs' motion into heat.
    double speed = 0.1;
    for (const md::Slab& s : deck.system.slabs)
        speed = std::max(speed, 1.5 * std::hypot(s.velocity[0], s.velocity[1]) + 4 * std::sqrt(s.temperature));
    return speed;
}

bool fits_before_wrap(int packed_bits, double radius, const md::Domain& domain) {
    for (const md::Axis& axis : domain.axis)
        if (!md::fits_before_wrap(packed_bits, radius, axis.cell_width())) return false;
    return true;
}

// Doubles show a position's last bit: as fine as the cells allow, whatever the skin, which may not change a bit.
int choose_packed_bits(md::Precision precision, double cutoff, const md::Domain& domain) {
    int bits = precision == md::Precision::mixed ? md::edge_bits : md::finest_packed_bits;
    while (bits > md::edge_bits && !fits_before_wrap(bits, 1.6 * cutoff, domain)) --bits;
    return bits;
}

}  // namespace

double choose_skin(double cutoff, double dt, double speed) {
    double best = 0.1, lowest = 1e300;
    for (double skin = 0.1; skin <= 1.0; skin += 0.02) {
        const double ratio = 1 + skin / cutoff;
        const double cost = ratio * ratio * (1 + rebuild_cost * std::min(1.0, 2 * speed * dt / skin));
        if (cost < lowest) lowest = cost, best = skin;
    }
    return best;
}

Setup make_setup(const Deck& deck, const std::string& kernels) {
    Setup s;
    s.potential = deck.system.potential;
    s.precision = deck.run.precision;
    s.dt = deck.run.dt;
    const double cutoff = s.potential.cutoff;
    s.skin = deck.grid.skin ? *deck.grid.skin : std::min(choose_skin(cutoff, s.dt, typical_speed(deck)), 10.0 - cutoff);
    for (int a = 0; a < 2; ++a) {
        md::Axis& axis = s.domain.axis[a];
        axis.length = md::to_edge_units(deck.system.box[a]);
        axis.periodic = deck.system.boundary[a] == Boundary::periodic;
        axis.cells = std::max(1, static_cast<int>(std::floor(deck.system.box[a] / deck.grid.cell)));
    }
    s.domain.packed_bits = choose_packed_bits(s.precision, cutoff, s.domain);
    if (!fits_before_wrap(s.domain.packed_bits, s.radius(), s.domain))
        throw DeckError(fmt::format("{}.yaml: a skin of {} is too wide for packed positions of 2^-{}; make it thinner or auto", deck.name, s.skin, s.domain.packed_bits));
    s.time_tiles = deck.balance.every > 0 && deck.balance.clock == Timing::wall;
    s.frame = deck.balance.every > 0 ? 2 : 1;  // load models look two cells far
    // Between two rebuilds nobody moves further than half the skin and one more step of at most a cell.
    for (const md::Axis& axis : s.domain.axis)
        s.frame = std::max({s.frame, md::cells_within(s.radius(), axis.least_width()), md::cells_within(s.skin / 2 + axis.cell_width(), axis.least_width())});
    for (int a = 0; a < 2; ++a)
        if (s.domain.axis[a].periodic && s.frame > s.domain.axis[a].cells)
            throw DeckError(fmt::format("{}.yaml: the box is {} cells along {} and neighbours reach over {}; make the box longer, "
                                        "the cells wider or the skin thinner", deck.name, s.domain.axis[a].cells, "xy"[a], s.frame));
    s.limits = md::force_limits(s.potential);
    s.kernels = &md::choose_kernels(kernels);
    return s;
}

std::int64_t particle_count(const Deck& deck) {
    std::int64_t n = 0;
    for (const md::Slab& slab : deck.system.slabs) n += md::particle_count(slab);
    return n;
}

}  // namespace app

// SPDX-License-Identifier: MIT
#include "app/engine/setup.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "md/initial.hpp"
#include "md/limits.hpp"
#include "md/potential.hpp"
#include "md/skin.hpp"

namespace app {
namespace {

double typical_speed(const Deck& deck) {
    // The fastest of many particles, after a collision has turned the slabs' motion into heat.
    double speed = 0.1;
    for (const md::Slab& s : deck.system.slabs)
        speed = std::max(speed, 1.5 * std::hypot(s.velocity[0], s.velocity[1]) + 4 * std::sqrt(s.temperature));
    return speed;
}

std::string in_words(double x) {
    char text[32];
    std::snprintf(text, sizeof text, "%.6g", x);
    return text;
}

bool fits_before_wrap(int packed_bits, double radius, const md::Domain& domain) {
    for (const md::Axis& axis : domain.axis)
        if (!md::fits_before_wrap(packed_bits, radius, axis.cell_width())) return false;
    return true;
}

// Can this skin be used with the cell reach and the halo width that were chosen for s.skin?
bool allows(const Setup& s, double skin) {
    const double radius = s.potential.cutoff + skin;
    if (radius > md::longest_reach || !fits_before_wrap(s.domain.packed_bits, radius, s.domain)) return false;
    for (const md::Axis& axis : s.domain.axis)
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

Setup make_setup(const Deck& deck, const std::string& kernels) {
    Setup s;
    s.potential = deck.system.potential;
    s.precision = deck.run.precision;
    s.dt = deck.run.dt;
    const double cutoff = s.potential.cutoff;
    s.skin = deck.grid.skin ? *deck.grid.skin
                            : std::min(md::guess_skin(cutoff, s.dt, typical_speed(deck)), md::longest_reach - cutoff);
    for (int a = 0; a < 2; ++a) {
        md::Axis& axis = s.domain.axis[a];
        axis.length = md::to_edge_units(deck.system.box[a]);
        axis.periodic = deck.system.boundary[a] == Boundary::periodic;
        axis.cells = std::max(1, static_cast<int>(std::floor(deck.system.box[a] / deck.grid.cell)));
    }
    s.domain.packed_bits = choose_packed_bits(s.precision, cutoff, s.domain);
    if (!fits_before_wrap(s.domain.packed_bits, s.radius(), s.domain))
        throw DeckError(deck.name + ".yaml: a skin of " + in_words(s.skin) +
                        " is too wide for packed positions of 2^-" + std::to_string(s.domain.packed_bits) +
                        "; make it thinner or auto");
    s.work = deck.balance.work;
    s.time_tiles = deck.balance.every > 0 && deck.balance.clock == balance::Clock::wall;
    const bool modelled = deck.balance.every > 0 || deck.accelerator.backend != AcceleratorBackend::none;
    s.halo = modelled ? 2 : 1;  // load models look two cells far
    // Between two rebuilds no particle moves further than half the skin and one more step of at most a cell.
    for (const md::Axis& axis : s.domain.axis)
        s.halo = std::max({s.halo, md::cells_within(s.radius(), axis.least_width()),
                           md::cells_within(s.skin / 2 + axis.cell_width(), axis.least_width())});
    for (int a = 0; a < 2; ++a)
        if (s.domain.axis[a].periodic && s.halo > s.domain.axis[a].cells)
            throw DeckError(deck.name + ".yaml: the box is " + std::to_string(s.domain.axis[a].cells) +
                            " cells along " + "xy"[a] + " and neighbours reach over " + std::to_string(s.halo) +
                            "; make the box longer, the cells wider or the skin thinner");
    s.tune_skin = !deck.grid.skin;
    for (s.widest_skin = s.skin; allows(s, s.widest_skin + 0.01);) s.widest_skin += 0.01;
    s.limits = md::force_limits(s.potential);
    s.kernels = &md::choose_kernels(kernels);
    s.overlap = deck.comm.overlap;
    return s;
}

balance::TileShape tile_shape(const Deck& deck, const md::Domain& domain, std::int64_t threads) {
    return deck.grid.tile.value_or(balance::choose_tile(domain.grid(), domain.axis[1].cell_width(), threads));
}

void add_accelerators(Setup& setup, const Deck& deck, int node_rank, int node_size) {
    const Deck::Accelerator& a = deck.accelerator;
    if (a.backend == AcceleratorBackend::none) return;
    setup.time_tiles = true;
    Accelerators& mine = setup.accelerators;
    mine.threads = static_cast<int>(a.threads);
    if (a.backend == AcceleratorBackend::host) {
        mine.devices.assign(a.devices.value_or(1), 0);
        return;
    }
    mine.backend = gpu::Backend::cuda;
    const int found = gpu::accelerator_count(mine.backend);
    if (found == 0)
        throw DeckError("accelerator.backend: cuda: " + gpu::why_no_cuda() +
                        "; write host or none, or use a machine with a GPU");
    // Devices are dealt to the ranks of a node: several to each where there are more, else round-robin.
    const int each = static_cast<int>(a.devices.value_or(std::max(1, found / node_size)));
    for (int d = 0; d < each; ++d) mine.devices.push_back((node_rank * each + d) % found);
}

std::int64_t particle_count(const Deck& deck) {
    std::int64_t n = 0;
    for (const md::Slab& slab : deck.system.slabs) n += md::particle_count(slab);
    return n;
}

}  // namespace app

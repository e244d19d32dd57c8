// SPDX-License-Identifier: MIT
#include "md/external.hpp"

#include <algorithm>
#include <cmath>

#include "md/system.hpp"

namespace md {

void External::tell(StepArgs& args, const Domain& domain, const balance::Box& box, int halo, std::int64_t step) const {
    for (int k = 0; k < domain.dimensions; ++k) {
        const Axis& axis = domain.axis[k];
        args.gravity[k] = gravity[k];
        args.length[k] = axis.fixed_length();
        const std::int64_t ways[2] = {motion[k][0].way(step + 1), motion[k][1].way(step + 1)};
        const std::int64_t at[2] = {ways[0], axis.fixed_length() - ways[1]};
        // How far particles of these cells may be from where the faces were at first.
        const std::int64_t within[2] = {axis.edge(box.lower[k] - halo) << edge_shift,
                                        axis.fixed_length() - (axis.edge(box.upper[k] + halo) << edge_shift)};
        for (int side = 0; side < 2; ++side) {
            const WallPotential& w = wall[k][side];
            const bool felt = w.epsilon != 0 && static_cast<double>(within[side]) * position_unit < w.cutoff;
            const bool reflects = !axis.periodic && within[side] < ways[side],
                       moves = reflects && motion[k][side].moves(step);
            args.face[k][side] = {reflects, at[side], moves ? motion[k][side].velocity : 0, felt ? &w : nullptr};
        }
    }
}

bool has_external_energy(const System& system) {
    return system.gravity != std::array<double, 3>{} ||
           std::any_of(system.walls.begin(), system.walls.end(), [](const Wall& w) { return w.epsilon > 0; });
}

bool has_motion(const System& system) {
    return std::any_of(system.walls.begin(), system.walls.end(), [](const Wall& w) { return w.moves(); });
}

External external_of(const System& system, const Domain& domain, double dt) {
    External e;
    for (int a = 0; a < system.dimensions; ++a) {
        e.gravity[a] = system.gravity[a];
        e.length[a] = domain.axis[a].fixed_length();
    }
    for (const Wall& w : system.walls) {
        WallPotential& p = e.wall[w.axis()][w.side()];
        p = {w.epsilon, w.sigma, w.cutoff.value_or(lowest_of_wall * w.sigma), 0};
        p.shift = p.energy(p.cutoff);
        const double quanta = w.velocity / velocity_unit;  // decks allow 2^10 times 2^40
        e.motion[w.axis()][w.side()] = {w.from, w.to.value_or(INT64_MAX), std::llrint(quanta * dt),
                                        std::llrint(w.side() == 0 ? quanta : -quanta)};
    }
    return e;
}

}  // namespace md

// SPDX-License-Identifier: MIT
// External forces on single particles: gravity, and the faces of the box. A face may attract, repel or move. The forces
// depend on the particle's position alone, so they are as exact and as reversible as forces of pairs. Mass 1.
#pragma once
#include <cstdint>

#include "balance/grid/box.hpp"
#include "md/domain.hpp"
#include "md/kernels/hd.hpp"
#include "md/kernels/pair.hpp"
#include "md/kernels/scalar.hpp"
#include "md/kernels/vec.hpp"

namespace md {

struct System;

/// The 9-3 potential of a face: of particles spread evenly in the half-space behind it, each with the Lennard-Jones
/// potential. At the distance z (lengths) the energy is epsilon (2/15 (sigma/z)^9 - (sigma/z)^3) - shift.
struct WallPotential {
    double epsilon = 0, sigma = 1;  ///< epsilon 0: there is none
    double cutoff = 0;              ///< it is 0 from there on; shift: what it would be there
    double shift = 0;

    HD double cubed(double z) const {
        const double s = sigma / z;
        return s * s * s;
    }
    HD double energy(double z) const {
        const double s3 = cubed(z);
        return epsilon * (2.0 / 15 * (s3 * s3 * s3) - s3) - shift;
    }
    /// Away from the face.
    HD double force(double z) const {
        const double s3 = cubed(z);
        return epsilon * (1.2 * (s3 * s3 * s3) - 3 * s3) / z;
    }
};
/// Distance at which the potential is lowest, in sigma: (2/5)^(1/6).
inline constexpr double lowest_of_wall = 0.858374218932557;

/// A face that moves into the box, as a piston.
struct FaceMotion {
    std::int64_t from = 0, to = 0;  ///< the steps between which it moves
    std::int64_t stride = 0;        ///< 2^-40 a step; 0: it stands still
    std::int64_t velocity = 0;      ///< 2^-40 per time, along the axis

    /// How far it has come at this step, 2^-40.
    std::int64_t way(std::int64_t step) const { return step <= from ? 0 : stride * ((step < to ? step : to) - from); }
    bool moves(std::int64_t step) const { return stride > 0 && from <= step && step < to; }
};

/// Distance from the face of a particle `inside` quanta from the first or last position. The face is half a quantum
/// outside of that position.
HD double distance_to_face(std::int64_t inside) { return (static_cast<double>(inside) + 0.5) * position_unit; }

struct External {
    double gravity[3] = {0, 0, 0};  ///< acceleration, lengths / time^2
    WallPotential wall[3][2];       ///< of the lower and upper face of each axis
    FaceMotion motion[3][2];
    std::int64_t length[3] = {0, 0, 0};  ///< of the box, 2^-40

    /// Is there a potential, of gravity or of a face?
    HD bool any_potential() const {
        bool any = false;
        for (int a = 0; a < 3; ++a) any = any || gravity[a] != 0 || wall[a][0].epsilon != 0 || wall[a][1].epsilon != 0;
        return any;
    }
    bool any_motion() const {
        bool any = false;
        for (const auto& axis : motion) any = any || axis[0].stride > 0 || axis[1].stride > 0;
        return any;
    }
    /// Potential energy of a particle, quanta of 2^-kinetic_bits; that of gravity is 0 at the origin.
    template <int D>
    HD std::int64_t energy(const Vec<std::int64_t, D>& x) const {
        double e = 0;
        for (int a = 0; a < D; ++a) {
            e -= gravity[a] * (static_cast<double>(x[a]) * position_unit);
            e += wall_energy(wall[a][0], x[a]);
            e += wall_energy(wall[a][1], length[a] - 1 - x[a]);
        }
        const double most = two_to(61);  // a particle so close to a face stops the run as too fast
        return static_cast<std::int64_t>(to_i64(min(e * two_to(kinetic_bits), most)));
    }
    /// Gravity and the faces that particles of a box of cells may feel or meet in a pass at this step. The particles
    /// may have strayed `halo` cells from the box.
    void tell(StepArgs& args, const Domain& domain, const balance::Box& box, int halo, std::int64_t step) const;

private:
    HD static double wall_energy(const WallPotential& wall, std::int64_t inside) {
        const double z = distance_to_face(inside);
        return z < wall.cutoff ? wall.energy(z) : 0;
    }
};

/// The external forces of a system in its domain, in steps of dt.
External external_of(const System& system, const Domain& domain, double dt);

}  // namespace md

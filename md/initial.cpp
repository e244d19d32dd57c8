// SPDX-License-Identifier: MIT
// Each particle follows from its number alone, so that every rank makes those of its own cells, whatever the partition.
#include "md/initial.hpp"

#include <xxhash.h>

#include <algorithm>
#include <cmath>

#include "md/random.hpp"

namespace md {
namespace {

// Rows of sites along x, every other one shifted by half a lattice constant.
struct Lattice {
    std::int64_t rows = 0;
    std::array<std::int64_t, 2> sites{0, 0};  // in even and odd rows

    std::int64_t first_site(std::int64_t row) const {
        return row / 2 * (sites[0] + sites[1]) + (row % 2 ? sites[0] : 0);
    }
};

// Sites lower + (i + shift) step below upper.
std::int64_t sites_below(double lower, double upper, double step, double shift) {
    auto n = static_cast<std::int64_t>(std::max(0.0, std::ceil((upper - lower) / step - shift)));
    while (n > 0 && lower + (static_cast<double>(n - 1) + shift) * step >= upper) --n;
    while (lower + (static_cast<double>(n) + shift) * step < upper) ++n;
    return n;
}

Lattice lattice_of(const Slab& slab) {
    if (slab.cells) return {2 * (*slab.cells)[1], {(*slab.cells)[0], (*slab.cells)[0]}};
    const double a = lattice_constant(slab.density), height = a * std::sqrt(3.0) / 2;
    return {sites_below(slab.lower[1], slab.upper[1], height, 0),
            {sites_below(slab.lower[0], slab.upper[0], a, 0), sites_below(slab.lower[0], slab.upper[0], a, 0.5)}};
}

}  // namespace

double lattice_constant(double density) { return std::sqrt(2.0 / (std::sqrt(3.0) * density)); }

std::int64_t particle_count(const Slab& slab) {
    const Lattice l = lattice_of(slab);
    return l.first_site(l.rows);
}

void make_particles(const Domain& domain, const Slab& slab, std::int64_t first_id, std::uint64_t seed,
                    const balance::Box& cells, std::vector<Particle>& out) {
    const Lattice lattice = lattice_of(slab);
    const double a = lattice_constant(slab.density), height = a * std::sqrt(3.0) / 2;
    const double thermal = std::sqrt(slab.temperature) / velocity_unit;
    // A site just below the end of the box may round up to it.
    const auto inside = [&](int axis, double quanta) {
        return std::min<std::int64_t>(std::llrint(quanta), domain.axis[axis].fixed_length() - 1);
    };
    const auto x_of = [&](std::int64_t row, std::int64_t i) -> std::int64_t {
        if (slab.cells)  // a quarter of a site from the edge, exact fractions of the box: no seam
            return static_cast<std::int64_t>(Int128{4 * i + 1 + 2 * (row % 2)} * domain.axis[0].fixed_length() /
                                             (4 * (*slab.cells)[0]));
        return inside(0, (slab.lower[0] + (static_cast<double>(i) + (row % 2 ? 0.5 : 0.0)) * a) / position_unit);
    };
    const auto y_of = [&](std::int64_t row) -> std::int64_t {
        if (slab.cells)
            return static_cast<std::int64_t>(Int128{2 * row + 1} * domain.axis[1].fixed_length() /
                                             (4 * (*slab.cells)[1]));
        return inside(1, (slab.lower[1] + static_cast<double>(row) * height) / position_unit);
    };
    // First index in [0, n) whose position is not below `edge` (positions ascend).
    const auto first_from = [](std::int64_t n, std::int64_t edge, auto position) {
        std::int64_t low = 0, high = n;
        while (low < high) {
            const std::int64_t mid = low + (high - low) / 2;
            if (position(mid) < edge) low = mid + 1;
            else high = mid;
        }
        return low;
    };
    const auto edge = [&](int axis, int cell) { return domain.axis[axis].edge(cell) << edge_shift; };
    const std::int64_t row_end = first_from(lattice.rows, edge(1, cells.upper[1]), y_of);
    for (std::int64_t row = first_from(lattice.rows, edge(1, cells.lower[1]), y_of); row < row_end; ++row) {
        const auto x_in_row = [&](std::int64_t i) { return x_of(row, i); };
        const std::int64_t n = lattice.sites[row % 2], end = first_from(n, edge(0, cells.upper[0]), x_in_row);
        for (std::int64_t i = first_from(n, edge(0, cells.lower[0]), x_in_row); i < end; ++i) {
            const std::int64_t id = first_id + lattice.first_site(row) + i;
            const std::array<double, 2> v = normal_pair(seed, id);
            out.push_back({id, x_of(row, i), y_of(row), std::llrint(thermal * v[0]), std::llrint(thermal * v[1])});
        }
    }
}

std::uint64_t particle_hash(const Particle& p) { return XXH64(&p, sizeof p, 0); }

std::int64_t wrapped(std::int64_t position, const Axis& axis) {
    if (!axis.periodic) return position;
    const std::int64_t length = axis.fixed_length(), r = position % length;
    return r < 0 ? r + length : r;
}

}  // namespace md

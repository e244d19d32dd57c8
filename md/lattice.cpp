// SPDX-License-Identifier: MIT
#include "md/lattice.hpp"

#include <cmath>

namespace md {
namespace {

// Sites lower + (i + shift) step below upper.
std::int64_t sites_below(double lower, double upper, double step, double shift) {
    auto n = static_cast<std::int64_t>(std::max(0.0, std::ceil((upper - lower) / step - shift)));
    while (n > 0 && lower + (static_cast<double>(n - 1) + shift) * step >= upper) --n;
    while (lower + (static_cast<double>(n) + shift) * step < upper) ++n;
    return n;
}

// A site just below the end of the box may round up to it.
std::int64_t inside(const Axis& axis, double quanta) {
    return std::min<std::int64_t>(std::llrint(quanta), axis.fixed_length() - 1);
}

}  // namespace

double lattice_constant(double density) { return std::sqrt(2.0 / (std::sqrt(3.0) * density)); }

std::array<double, 2> fitted_box(const Slab& slab) {
    const double a = lattice_constant(slab.density);
    return {static_cast<double>((*slab.cells)[0]) * a, static_cast<double>((*slab.cells)[1]) * a * std::sqrt(3.0)};
}

Lattice::Lattice(const Slab& slab)
    : slab_(slab), spacing_(lattice_constant(slab.density)), height_(spacing_ * std::sqrt(3.0) / 2) {
    if (slab.cells) {
        rows_ = 2 * (*slab.cells)[1];
        sites_ = {(*slab.cells)[0], (*slab.cells)[0]};
        return;
    }
    rows_ = sites_below(slab.lower[1], slab.upper[1], height_, 0);
    sites_ = {sites_below(slab.lower[0], slab.upper[0], spacing_, 0),
              sites_below(slab.lower[0], slab.upper[0], spacing_, 0.5)};
}

std::int64_t Lattice::x(const Domain& domain, std::int64_t row, std::int64_t i) const {
    if (slab_.cells)  // a quarter of a site from the edge, exact fractions of the box: no seam
        return static_cast<std::int64_t>(Int128{4 * i + 1 + 2 * (row % 2)} * domain.axis[0].fixed_length() /
                                         (4 * (*slab_.cells)[0]));
    const double place = static_cast<double>(i) + (row % 2 ? 0.5 : 0.0);
    return inside(domain.axis[0], (slab_.lower[0] + place * spacing_) / position_unit);
}

std::int64_t Lattice::y(const Domain& domain, std::int64_t row) const {
    if (slab_.cells)
        return static_cast<std::int64_t>(Int128{2 * row + 1} * domain.axis[1].fixed_length() / (4 * (*slab_.cells)[1]));
    return inside(domain.axis[1], (slab_.lower[1] + static_cast<double>(row) * height_) / position_unit);
}

}  // namespace md

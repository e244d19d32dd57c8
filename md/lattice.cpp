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

struct LatticeCell {
    double volume;                           // (in two dimensions area) of each particle
    std::array<double, 3> side;              // of a cell
    std::vector<std::array<int, 3>> places;  // of the sites in a cell, in twelfths of its sides
};
// Where neighbours lie 1 apart.
LatticeCell cell_of(LatticeKind kind) {
    const double root2 = std::sqrt(2.0), root3 = std::sqrt(3.0), bcc = 2 / root3;
    switch (kind) {
        case LatticeKind::hexagonal: return {root3 / 2, {1, root3, 0}, {{0, 0, 0}, {6, 6, 0}}};
        case LatticeKind::sc: return {1, {1, 1, 1}, {{0, 0, 0}}};
        case LatticeKind::bcc: return {4 / (3 * root3), {bcc, bcc, bcc}, {{0, 0, 0}, {6, 6, 6}}};
        case LatticeKind::fcc: return {1 / root2, {root2, root2, root2}, {{0, 0, 0}, {6, 6, 0}, {6, 0, 6}, {0, 6, 6}}};
        case LatticeKind::hcp:
            return {1 / root2, {1, root3, std::sqrt(8.0 / 3)}, {{0, 0, 0}, {6, 6, 0}, {6, 10, 6}, {0, 4, 6}}};
    }
    return {};
}

// By Newton's method from above, until rounding stops it: std::cbrt isn't the same on all machines.
double cube_root(double x) {
    double root = std::max(x, 1.0);
    for (double next = root;; root = next) {
        next = root - (root - x / (root * root)) / 3;
        if (!(next < root)) return root;
    }
}

std::array<double, 3> sides_of(const Body& body) {
    std::array<double, 3> sides = cell_of(body.lattice).side;
    for (double& side : sides) side *= lattice_constant(body.lattice, body.density);
    return sides;
}

}  // namespace

double lattice_constant(LatticeKind kind, double density) {
    if (kind == LatticeKind::hexagonal) return std::sqrt(2.0 / (std::sqrt(3.0) * density));
    return cube_root(1 / (density * cell_of(kind).volume));
}

double lattice_density(LatticeKind kind, double a) {
    return 1 / (cell_of(kind).volume * (dimensions_of(kind) == 2 ? a * a : a * a * a));
}

int sites_of_cell(LatticeKind kind) { return static_cast<int>(cell_of(kind).places.size()); }

std::array<double, 3> fitted_box(const Body& body) {
    std::array<double, 3> box = sides_of(body);
    for (int a = 0; a < 3; ++a) box[a] *= static_cast<double>((*body.cells)[a]);
    return box;
}

Lattice::Lattice(const Body& body)
    : body_(body), dimensions_(dimensions_of(body.lattice)), side_(sides_of(body)), region_(body) {
    for (int a = 0; centred() && a < dimensions_; ++a)
        from_end_[a] = sites_below(0, (body.upper[a] - body.lower[a]) / 2, side_[a], 0);
    for (const std::array<int, 3>& place : cell_of(body.lattice).places) {
        for (int a = 0; a < 3; ++a) from_edge_[a] = std::min(from_edge_[a], 11 - place[a]);
        Train t{place, {1, 1, 1}};
        for (int a = 0; a < dimensions_; ++a)
            t.count[a] = body.cells  ? (*body.cells)[a]
                         : centred() ? 2 * from_end_[a] + 1
                                     : sites_below(body.lower[a], body.upper[a], side_[a], place[a] / 12.0);
        trains_.push_back(t);
    }
    if (centred()) {
        number_rows();
        return;
    }
    for (Train& t : trains_) {
        t.first = sites_;
        t.next = {t.count[0], t.count[0] * t.count[1]};
        sites_ += t.sites();
    }
    if (dimensions_ == 2) {  // row by row
        const std::int64_t row = trains_[0].count[0], two_rows = row + trains_[1].count[0];
        trains_[0].next = trains_[1].next = {two_rows, 0};
        trains_[1].first = row;
    }
}

// Nothing but counting says how many sites of a lattice lie in a ball.
void Lattice::number_rows() {
    for (Train& t : trains_) {
        std::vector<std::int64_t> rows;
        for_each_row({}, t.count, [&](std::int64_t y, std::int64_t z) {
            const SiteRow row = row_of(t, y, z);
            rows.push_back(sites_);
            sites_ += row.number_of(row.end) - row.number;
        });
        t.rows = std::move(rows);
    }
}

Lattice::SiteRow Lattice::row_of(const Train& t, std::int64_t y, std::int64_t z) const {
    if (!centred()) return {0, t.count[0], 0, 0, t.first + y * t.next[0] + z * t.next[1]};
    const Point row{0, y, z};
    Int128 across = 0;  // from the axes through the centre, squared
    for (int a = 1; a < dimensions_; ++a) {
        const std::int64_t at = from_centre(t, a, row[a]);
        if (region_.round[a]) across += square(at);
        else if (region_.centre[a] + at < region_.lower[a] || region_.centre[a] + at >= region_.upper[a]) return {};
    }
    // Squares with the sign of the coordinate ascend along the row. A site on the surface does not belong to the ball.
    const auto at = [&](std::int64_t x) { return from_centre(t, 0, x); };
    const auto signed_square = [&](std::int64_t x) { return at(x) < 0 ? -square(at(x)) : square(at(x)); };
    const auto within = [&](std::int64_t radius) -> std::array<std::int64_t, 2> {
        const Int128 left = square(radius) - across;
        if (left <= 0) return {0, 0};
        if (region_.round[0])
            return {first_from(t.count[0], 1 - left, signed_square), first_from(t.count[0], left, signed_square)};
        return {first_from(t.count[0], region_.lower[0] - region_.centre[0], at),
                first_from(t.count[0], region_.upper[0] - region_.centre[0], at)};
    };
    const auto [begin, end] = within(region_.radius);
    const auto [hole_begin, hole_end] = within(region_.inner);
    return {begin, end, hole_begin, hole_end, t.rows.empty() ? 0 : t.rows[y + z * t.count[1]]};
}

bool Lattice::has_neighbours() const {
    if (centred()) return sites_ > 1;
    int filled = 0;
    bool along_axis = false;
    for (const Train& t : trains_) {
        filled += t.sites() > 0;
        along_axis =
            along_axis || (t.sites() > 0 && (t.count[0] > 1 || (body_.lattice == LatticeKind::sc && t.sites() > 1)));
    }
    return filled > 1 || (along_axis && body_.lattice != LatticeKind::bcc && body_.lattice != LatticeKind::fcc);
}

// Place of a centred lattice: opposite sites have opposite coordinates, exactly.
std::int64_t Lattice::from_centre(const Train& t, int axis, std::int64_t i) const {
    const double place = static_cast<double>(i - from_end_[axis]) + t.place[axis] / 12.0;
    return std::llrint(place * side_[axis] / position_unit);
}

std::int64_t Lattice::position(const Domain& domain, const Train& t, int axis, std::int64_t i) const {
    if (centred()) return region_.centre[axis] + from_centre(t, axis, i);
    if (body_.cells)  // away from the edges, at exact fractions of the box: no seam
        return static_cast<std::int64_t>(Int128{12 * i + t.place[axis] + from_edge_[axis]} *
                                         domain.axis[axis].fixed_length() / (12 * (*body_.cells)[axis]));
    const double place = static_cast<double>(i) + t.place[axis] / 12.0;
    return inside(domain.axis[axis], (body_.lower[axis] + place * side_[axis]) / position_unit);
}

}  // namespace md

// SPDX-License-Identifier: MIT
// The sites of a body's lattice. A site follows from its number alone. Cells of the lattice are boxes that repeat along
// all axes; each has the same few sites.
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "md/body.hpp"
#include "md/domain.hpp"
#include "md/region.hpp"

namespace md {

/// Distance of neighbours on a lattice of this density (per area, or per volume), lengths.
double lattice_constant(LatticeKind kind, double density);

/// Density of the lattice whose neighbours lie this far apart.
double lattice_density(LatticeKind kind, double constant);

/// Sides of the periodic box that a body with `cells` fills without a seam, lengths.
std::array<double, 3> fitted_box(const Body& body);

/// Sites of a cell of the lattice.
int sites_of_cell(LatticeKind kind);

class Lattice {
public:
    /// body: must outlive the lattice.
    explicit Lattice(const Body& body);

    const Body& body() const { return body_; }
    std::int64_t sites() const { return sites_; }
    /// Do any two sites lie a lattice constant apart?
    bool has_neighbours() const;

    /// Calls use(site, position) for each site with lower <= position < upper; positions in 2^-40 lengths.
    template <class Use>
    void for_each_in(const Domain& domain, const Point& lower, const Point& upper, Use use) const {
        for (const Train& t : trains_) {
            Point begin{}, end{1, 1, 1};
            for (int a = 0; a < dimensions_; ++a) {
                const auto at = [&](std::int64_t i) { return position(domain, t, a, i); };
                begin[a] = first_from(t.count[a], lower[a], at);
                end[a] = first_from(t.count[a], upper[a], at);
            }
            for_each_row(begin, end, [&](std::int64_t y, std::int64_t z) {
                const SiteRow row = row_of(t, y, z);
                const Point i{std::max(begin[0], row.begin), y, z};
                for (Point j = i; j[0] < std::min(end[0], row.end); ++j[0]) {
                    if (j[0] >= row.hole_begin && j[0] < row.hole_end) continue;
                    Point at{};
                    for (int a = 0; a < dimensions_; ++a) at[a] = position(domain, t, a, j[a]);
                    use(row.number_of(j[0]), at);
                }
            });
        }
    }

private:
    /// The sites that stand at the same place of all cells: their number along each axis.
    struct Train {
        std::array<int, 3> place;            ///< Place in the cell, in twelfths of its sides.
        std::array<std::int64_t, 3> count;   ///< Sites along each axis.
        std::int64_t first = 0;              ///< Number of the first site.
        std::array<std::int64_t, 2> next{};  ///< Steps from a row's first number to the next row's along y and z.
        std::vector<std::int64_t> rows{};    ///< The rows' first numbers, plane by plane. Empty in a box.

        std::int64_t sites() const { return count[0] * count[1] * count[2]; }
    };
    /// Sites in a row along x.
    struct SiteRow {
        std::int64_t begin = 0, end = 0;            ///< first index along x, and one more than the last
        std::int64_t hole_begin = 0, hole_end = 0;  ///< the same of those in between that are left out
        std::int64_t number = 0;                    ///< of the first site

        std::int64_t number_of(std::int64_t x) const {
            return number + x - begin - (x >= hole_end ? hole_end - hole_begin : 0);
        }
    };
    SiteRow row_of(const Train& train, std::int64_t y, std::int64_t z) const;
    void number_rows();
    std::int64_t position(const Domain& domain, const Train& train, int axis, std::int64_t i) const;
    bool centred() const { return body_.shape != BodyShape::box; }
    std::int64_t from_centre(const Train& train, int axis, std::int64_t i) const;

    template <class Use>
    static void for_each_row(const Point& begin, const Point& end, Use use) {
        for (std::int64_t z = begin[2]; z < end[2]; ++z)
            for (std::int64_t y = begin[1]; y < end[1]; ++y) use(y, z);
    }
    // First index in [0, n) whose position is not below `edge` (positions ascend).
    template <class Edge, class Position>
    static std::int64_t first_from(std::int64_t n, Edge edge, Position position) {
        std::int64_t low = 0, high = n;
        while (low < high) {
            const std::int64_t mid = low + (high - low) / 2;
            if (position(mid) < edge) low = mid + 1;
            else high = mid;
        }
        return low;
    }

    const Body& body_;
    int dimensions_;
    std::array<double, 3> side_;             // of a cell of the lattice
    std::array<int, 3> from_edge_{3, 3, 3};  // of the first site with `cells`, in twelfths of a side
    Region region_;
    Point from_end_{};  // unless in a box: index of the cell at the centre
    std::vector<Train> trains_;
    std::int64_t sites_ = 0;
};

}  // namespace md

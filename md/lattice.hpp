// SPDX-License-Identifier: MIT
// The sites of a slab's hexagonal lattice: rows along x, every other one shifted by half a lattice constant. A site
// follows from its number alone.
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>

#include "md/domain.hpp"
#include "md/slab.hpp"

namespace md {

/// Lattice constant of a hexagonal lattice of `density` particles per area: a = sqrt(2 / (sqrt(3) density)).
double lattice_constant(double density);

/// Sides of the periodic box that a slab with `cells` fills without a seam, lengths.
std::array<double, 2> fitted_box(const Slab& slab);

class Lattice {
public:
    /// slab: must outlive the lattice.
    explicit Lattice(const Slab& slab);

    std::int64_t sites() const { return first_site(rows_); }
    /// Do any two sites lie a lattice constant apart?
    bool has_neighbours() const { return sites_[0] > 1 || (rows_ > 1 && sites_[1] > 0); }

    /// Calls use(site, x, y) for each site with lower <= position < upper, row by row; positions in 2^-40 lengths.
    template <class Use>
    void for_each_in(const Domain& domain, const std::array<std::int64_t, 2>& lower,
                     const std::array<std::int64_t, 2>& upper, Use use) const {
        const auto y_of = [&](std::int64_t row) { return y(domain, row); };
        const std::int64_t row_end = first_from(rows_, upper[1], y_of);
        for (std::int64_t row = first_from(rows_, lower[1], y_of); row < row_end; ++row) {
            const auto x_of = [&](std::int64_t i) { return x(domain, row, i); };
            const std::int64_t n = sites_[row % 2], end = first_from(n, upper[0], x_of);
            for (std::int64_t i = first_from(n, lower[0], x_of); i < end; ++i)
                use(first_site(row) + i, x_of(i), y_of(row));
        }
    }

private:
    std::int64_t first_site(std::int64_t row) const {
        return row / 2 * (sites_[0] + sites_[1]) + (row % 2 ? sites_[0] : 0);
    }
    std::int64_t x(const Domain& domain, std::int64_t row, std::int64_t i) const;
    std::int64_t y(const Domain& domain, std::int64_t row) const;

    // First index in [0, n) whose position is not below `edge` (positions ascend).
    template <class Position>
    static std::int64_t first_from(std::int64_t n, std::int64_t edge, Position position) {
        std::int64_t low = 0, high = n;
        while (low < high) {
            const std::int64_t mid = low + (high - low) / 2;
            if (position(mid) < edge) low = mid + 1;
            else high = mid;
        }
        return low;
    }

    const Slab& slab_;
    double spacing_, height_;  // of sites in a row, of rows
    std::int64_t rows_ = 0;
    std::array<std::int64_t, 2> sites_{0, 0};  // in even and odd rows
};

}  // namespace md

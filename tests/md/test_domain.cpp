// SPDX-License-Identifier: MIT
#include <catch2/catch.hpp>

#include "md/domain.hpp"
#include "md/random.hpp"

TEST_CASE("cells tile the axis and beyond, exactly") {
    for (const int cells : {1, 3, 7, 280, 11400})
        for (const double length : {7.3, 700.0, 28500.123}) {
            const md::Axis a{md::to_edge_units(length), cells, true};
            CHECK(a.edge(0) == 0);
            CHECK(a.edge(cells) == a.length);
            for (std::uint64_t k = 0; k < 2000; ++k) {
                const int c = static_cast<int>(md::mix(k) % (3 * cells)) - cells;
                const std::int64_t first = a.edge(c) << md::edge_shift;
                CHECK(a.cell_of(first) == c);
                CHECK(a.cell_of(first - 1) == c - 1);
                CHECK(a.edge(c + cells) - a.edge(c) == a.length);  // images have the same cells
            }
        }
}

TEST_CASE("a periodic image is an exact shift of packed positions") {
    const md::Axis a{md::to_edge_units(123.456), 40, true};
    for (std::uint64_t k = 0; k < 1000; ++k) {
        const auto x = static_cast<std::int64_t>(md::mix(k) % static_cast<std::uint64_t>(a.fixed_length()));
        for (int bits = md::edge_bits; bits <= md::finest_packed_bits; ++bits) {
            const int shift = md::position_bits - bits;
            const auto low = [&](std::int64_t p) { return md::pack({p, std::int64_t{0}}, shift).at[0]; };
            const auto length = static_cast<std::uint32_t>(a.fixed_length() >> shift);
            CHECK(low(x + a.fixed_length()) == low(x) + length);
            CHECK(low(x - a.fixed_length()) == low(x) - length);
            CHECK(md::pack({std::int64_t{0}, x}, shift) == md::Packed<2>{{0, low(x)}});
            CHECK(md::pack({x, std::int64_t{0}, x}, shift) == md::Packed<3>{{low(x), 0, low(x)}});
            const md::Packed<3> image = md::shifted(md::pack({x, x, -x}, shift), {{length, 0, 0 - length}});
            CHECK(image == md::pack({x + a.fixed_length(), x, -x - a.fixed_length()}, shift));
        }
    }
}

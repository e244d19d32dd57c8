// SPDX-License-Identifier: MIT
// Loops over the cells of a box and over the periodic images of a grid.
#pragma once
#include <array>

#include "balance/grid/grid.hpp"

namespace balance {

/// Calls visit(x, y, z) for each cell of a box, in the order of a field's values: z is fastest.
template <class Visit>
void for_each_cell(const Box& box, Visit visit) {
    for (int x = box.lower[0]; x < box.upper[0]; ++x)
        for (int y = box.lower[1]; y < box.upper[1]; ++y)
            for (int z = box.lower[2]; z < box.upper[2]; ++z) visit(x, y, z);
}

/// How many cells an image lies away. image: its number along each axis, 0 for the grid itself.
constexpr std::array<int, 3> offset_of(const Grid& grid, const std::array<int, 3>& image) {
    return {image[0] * grid.cells[0], image[1] * grid.cells[1], image[2] * grid.cells[2]};
}

/// Calls visit(image) for the grid and for each periodic image of which some cells are at most `width` cells away.
/// image: as in offset_of(), in ascending order.
template <class Visit>
void for_each_image(const Grid& grid, int width, Visit visit) {
    Box images{{0, 0, 0}, {1, 1, 1}};
    for (int a = 0; a < grid.dimensions; ++a)
        if (grid.periodic[a]) {
            images.upper[a] += (width + grid.cells[a] - 1) / grid.cells[a];
            images.lower[a] = 1 - images.upper[a];
        }
    for_each_cell(images, [&](int x, int y, int z) { visit(std::array<int, 3>{x, y, z}); });
}

}  // namespace balance

// SPDX-License-Identifier: MIT
#include "balance/plan.hpp"

#include <stdexcept>

namespace balance {
namespace {

std::array<int, 3> scaled(std::array<int, 3> image, const Grid& grid, int sign) {
    for (int a = 0; a < 3; ++a) image[a] *= sign * grid.cells[a];
    return image;
}

}  // namespace

FramePlan frame_plan(const Decomposition& decomposition, int rank, int width) {
    const Grid& grid = decomposition.grid();
    for (int a = 0; a < 2; ++a)
        if (grid.periodic[a] && width > grid.cells[a])
            throw std::invalid_argument("a frame of " + std::to_string(width) + " cells does not fit a periodic axis of " +
                                        std::to_string(grid.cells[a]) + " cells");
    const std::array<int, 3> frame{width, width, 0};
    FramePlan plan;
    const Range mine = decomposition.processes_of(rank);
    for (std::int64_t p = mine.begin; p < mine.end; ++p) {
        const std::vector<Box> tiles = decomposition.tiles_of(p);
        for (int t = 0; t < static_cast<int>(tiles.size()); ++t) {
            const TileId id{p, t};
            for (int ix = -1; ix <= 1; ++ix)
                for (int iy = -1; iy <= 1; ++iy) {
                    if ((ix && !grid.periodic[0]) || (iy && !grid.periodic[1])) continue;
                    const std::array<int, 3> image{ix, iy, 0};
                    // Sources of this tile's frame: its frame moved back by the image, met with the tiles that own it.
                    const Box seen = shifted(framed(tiles[t], frame), scaled(image, grid, -1));
                    decomposition.for_each_tile_in(seen, [&](const TileId& other, const Box& cells) {
                        if (other == id && ix == 0 && iy == 0) return;
                        plan.incoming.push_back({other, id, intersection(seen, cells), image});
                        if (decomposition.rank_of(other.process) == rank) return;
                        // The mirror entry: what of this tile the other one sees.
                        const std::array<int, 3> mirrored{-ix, -iy, 0};
                        const Box theirs = shifted(framed(cells, frame), scaled(mirrored, grid, -1));
                        if (const Box box = intersection(theirs, tiles[t]); !box.empty()) plan.outgoing.push_back({id, other, box, mirrored});
                    });
                }
        }
    }
    std::sort(plan.incoming.begin(), plan.incoming.end());
    std::sort(plan.outgoing.begin(), plan.outgoing.end());
    return plan;
}

}  // namespace balance

// SPDX-License-Identifier: MIT
// Tiles lie at multiples of their size on the grid, not within their box. So if only a side of a box moves, the tiles
// away from it do not change and keep their particles.
#include "balance/partition/decomposition.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>

#include "balance/grid/for_each.hpp"
#include "balance/partition/region.hpp"

namespace balance {
namespace {

// The side of tiles, a sixth more or less than wanted, whose last tile along an axis is most like the others.
int most_even(int cells, int wanted) {
    const auto unlike = [cells](int side) { return std::min(cells % side, side - cells % side); };
    int best = wanted;
    for (int off = 1; off <= wanted / 6; ++off)
        for (const int side : {wanted - off, wanted + off})
            if (unlike(side) < unlike(best)) best = side;
    return best;
}

}  // namespace

std::vector<Box> even_partition(const Grid& grid, std::int64_t processes) {
    return even_processes(grid, processes, {0, processes}).boxes;
}

ProcessBoxes even_processes(const Grid& grid, std::int64_t processes, IndexRange some) {
    if (processes < 1 || processes > grid.box().cells())
        throw std::invalid_argument("cannot split " + std::to_string(grid.box().cells()) + " cells over " +
                                    std::to_string(processes) + " processes");
    ProcessBoxes even;
    for (std::int64_t p = some.begin; p < some.end; ++p) even.add(p, std::array{even_part(grid.box(), processes, p)});
    return even;
}

std::vector<Box> joined(std::vector<Box> boxes) {
    const bool flat = std::all_of(boxes.begin(), boxes.end(), [&](const Box& b) {
        return b.lower[2] == boxes.front().lower[2] && b.upper[2] == boxes.front().upper[2];
    });
    for (bool changed = true; changed;) {
        changed = false;
        for (const int axis : {2, 1, 0}) {
            if (axis == 2 && flat) continue;
            const int u = axis == 0 ? 1 : 0, v = axis == 2 ? 1 : 2;
            const auto across = [=](const Box& b) {
                return std::tuple(b.lower[u], b.upper[u], b.lower[v], b.upper[v]);
            };
            std::sort(boxes.begin(), boxes.end(), [&](const Box& a, const Box& b) {
                return std::tuple(across(a), a.lower[axis]) < std::tuple(across(b), b.lower[axis]);
            });
            std::vector<Box> fewer;
            for (const Box& b : boxes) {
                if (!fewer.empty() && across(fewer.back()) == across(b) && fewer.back().upper[axis] == b.lower[axis]) {
                    fewer.back().upper[axis] = b.upper[axis];
                    changed = true;
                } else {
                    fewer.push_back(b);
                }
            }
            boxes = std::move(fewer);
        }
    }
    return boxes;
}

std::vector<Box> split_into_tiles(const Box& box, TileShape shape) {
    const auto cuts = [&](int axis) {
        const int lower = box.lower[axis], upper = box.upper[axis], side = std::max(1, shape[axis]),
                  half = (side + 1) / 2;
        std::vector<int> at{lower};
        for (int cut = lower + half; cut <= upper - half; ++cut)
            if (cut % side == 0) at.push_back(cut);
        at.push_back(upper);
        return at;
    };
    const std::vector<int> x = cuts(0), y = cuts(1), z = cuts(2);
    const auto ends = [](const std::vector<int>& at) { return static_cast<int>(at.size()) - 1; };
    std::vector<Box> tiles;
    for_each_cell({{0, 0, 0}, {ends(x), ends(y), ends(z)}}, [&](int i, int j, int k) {
        tiles.push_back({{x[i], y[j], z[k]}, {x[i + 1], y[j + 1], z[k + 1]}});
    });
    return tiles;
}

TileShape choose_tile(const Grid& grid, double cell_height, std::int64_t threads) {
    constexpr std::int64_t tiles_a_thread = 8;
    constexpr double usual_height = 2.5;  // of the cells that these were measured with
    if (grid.dimensions == 3) {
        // Small tiles have many ghosts: 4^3 instead of 11^3 cells cost a quarter of a melt's speed.
        const std::int64_t tiles = threads == 1 ? 1 : 2 * threads;
        int side = grid.box().cells() < tiles_a_thread * threads * 16 * 16 * 16 ? 12 : 16;
        while (side > 4 && grid.box().cells() < tiles * side * side * side) side -= 2;
        return {most_even(grid.cells[0], side), most_even(grid.cells[1], side), most_even(grid.cells[2], side)};
    }
    TileShape tile;
    for (const TileShape& measured : {TileShape{24, 192}, {16, 128}, {16, 64}, {16, 32}}) {
        tile = {measured[0], std::max(16, static_cast<int>(measured[1] * std::min(1.0, usual_height / cell_height))),
                0};
        if (grid.box().cells() >= tiles_a_thread * threads * tile[0] * tile[1]) break;
    }
    return tile;
}

bool is_partition_of(const Partition& partition, const Grid& grid) {
    const std::vector<Box>& boxes = partition.boxes;
    const std::vector<std::int64_t>& first = partition.first;
    if (first.size() < 2 || first.front() != 0 || first.back() != std::ssize(boxes) || !std::ranges::is_sorted(first))
        return false;
    std::int64_t cells = 0;
    for (const Box& b : boxes) {
        if (b.empty() || intersection(b, grid.box()) != b) return false;
        cells += b.cells();
        if (cells > grid.box().cells()) return false;
    }
    if (cells != grid.box().cells()) return false;
    // As many cells as the grid: they fill it unless two boxes meet.
    const BoxIndex index(grid.box(), boxes);
    for (std::size_t i = 0; i < boxes.size(); ++i) {
        bool alone = true;
        index.for_each_in(boxes[i],
                          [&](std::int32_t k, const Box&) { alone = alone && static_cast<std::size_t>(k) == i; });
        if (!alone) return false;
    }
    return true;
}

Partition one_box_each(std::vector<Box> boxes) {
    Partition p;
    p.first.resize(boxes.size() + 1);
    std::iota(p.first.begin(), p.first.end(), 0);
    p.boxes = std::move(boxes);
    return p;
}

Decomposition::Decomposition(Grid grid, ProcessBoxes known, Hosts hosts, TileShape tile, Zones zones)
    : grid_(grid),
      known_(std::move(known)),
      hosts_(std::move(hosts)),
      tile_(tile),
      zones_(std::move(zones)),
      bounds_(bounds()) {}

Decomposition::Decomposition(const Grid& grid, const Partition& partition, const Hosts& hosts, TileShape tile,
                             Zones zones)
    : Decomposition(grid, all_of(partition), hosts, tile, std::move(zones)) {
    if (hosts.processes() != partition.processes())
        throw std::invalid_argument("the hosts are those of another number of processes");
}

std::int64_t Decomposition::place_of(std::int64_t process) const {
    const auto place = std::ranges::lower_bound(known_.processes, process);
    if (place == known_.processes.end() || *place != process)
        throw std::logic_error("a decomposition was asked for a process that it does not know");
    return place - known_.processes.begin();
}

// With those of a rank's blocks where its last process is asked for: their tiles have its name.
BoxIndex Decomposition::bounds() const {
    std::vector<Box> bounds;
    std::vector<Box> some;  // that are not empty
    for (std::int64_t i = 0; i < known_.size(); ++i) {
        std::vector<Box> own(known_.of(i).begin(), known_.of(i).end());
        const std::int64_t p = known_.processes[i];
        if (const int rank = rank_of(p); p + 1 == processes_of(rank).end)
            for (const ZoneBlock& block : zones_.of(rank)) own.push_back(block.box);
        bounds.push_back(own.empty() ? Box{{0, 0, 0}, {0, 0, 0}} : bounds_of(own));
        if (!own.empty()) some.push_back(bounds.back());
    }
    return {some.empty() ? grid_.box() : bounds_of(some), std::move(bounds)};
}

const Decomposition::Tiles& Decomposition::of(std::int64_t process) const {
    const auto known = tiles_.find(process);
    return known != tiles_.end() ? known->second : tiles_.emplace(process, cut(process)).first->second;
}

Decomposition::Tiles Decomposition::cut(std::int64_t process) const {
    const int rank = rank_of(process);
    const std::span<const ZoneBlock> blocks = zones_.of(rank);
    const std::span<const Box> own = boxes_of(process);
    Region cells = joined({own.begin(), own.end()});
    for (const ZoneBlock& block : blocks) cells = without(cells, block.box);
    std::vector<Box> tiles;
    for (const Box& box : cells) {
        const std::vector<Box> pieces = split_into_tiles(box, tile_);
        tiles.insert(tiles.end(), pieces.begin(), pieces.end());
    }
    const int on_cpu = static_cast<int>(tiles.size());
    std::vector<int> accelerator;
    if (process + 1 == processes_of(rank).end)
        for (const ZoneBlock& block : blocks) {
            tiles.push_back(block.box);
            accelerator.push_back(block.accelerator);
        }
    return {BoxIndex(bounds_.boxes()[place_of(process)], std::move(tiles)), on_cpu, std::move(accelerator)};
}

std::vector<Box> Decomposition::tiles_of_rank(int rank) const {
    std::vector<Box> all;
    const IndexRange mine = processes_of(rank);
    for (std::int64_t p = mine.begin; p < mine.end; ++p) all.insert(all.end(), tiles_of(p).begin(), tiles_of(p).end());
    return all;
}

std::vector<std::int64_t> Decomposition::processes_around(const Box& box) const {
    std::vector<std::int64_t> found;
    bounds_.for_each_in(box, [&](std::int32_t place, const Box&) { found.push_back(known_.processes[place]); });
    std::sort(found.begin(), found.end());
    return found;
}

std::vector<int> Decomposition::ranks_around(const Box& box) const {
    std::vector<int> found;
    for (const std::int64_t p : processes_around(box))
        if (found.empty() || rank_of(p) != found.back()) found.push_back(rank_of(p));
    return found;
}

}  // namespace balance

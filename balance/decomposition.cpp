// SPDX-License-Identifier: MIT
#include "balance/decomposition.hpp"

#include <cmath>
#include <numeric>
#include <stdexcept>
#include <string>
#include <utility>

namespace balance {
namespace {

void bisect(const Box& box, std::int64_t parts, std::vector<Box>& out) {
    if (parts == 1) {
        out.push_back(box);
        return;
    }
    int axis = 0;
    for (int a = 1; a < 3; ++a)
        if (box.extent(a) > box.extent(axis)) axis = a;
    const std::int64_t extent = box.extent(axis), across = box.cells() / extent;
    std::int64_t left = parts / 2;
    const std::int64_t cut = std::clamp<std::int64_t>((2 * extent * left + parts) / (2 * parts), 1, extent - 1);
    left = std::clamp(left, parts - (extent - cut) * across, cut * across);  // never more parts than cells on a side
    Box lower = box, upper = box;
    lower.upper[axis] = upper.lower[axis] = box.lower[axis] + static_cast<int>(cut);
    bisect(lower, left, out);
    bisect(upper, parts - left, out);
}

}  // namespace

std::vector<Box> even_partition(const Grid& grid, std::int64_t processes) {
    if (processes < 1 || processes > grid.box().cells())
        throw std::invalid_argument("cannot split " + std::to_string(grid.box().cells()) + " cells over " +
                                    std::to_string(processes) + " processes");
    std::vector<Box> patches;
    patches.reserve(processes);
    bisect(grid.box(), processes, patches);
    return patches;
}

std::vector<Box> split_into_tiles(const Box& patch, int side) {
    const auto pieces = [side](int extent) { return (extent + side - 1) / side; };
    const auto cut = [](int lower, int extent, int piece, int of) {
        return lower + static_cast<int>(std::int64_t{extent} * piece / of);
    };
    const int nx = pieces(patch.extent(0)), ny = pieces(patch.extent(1));
    std::vector<Box> tiles;
    for (int i = 0; i < nx; ++i)
        for (int j = 0; j < ny; ++j) {
            Box tile = patch;
            tile.lower[0] = cut(patch.lower[0], patch.extent(0), i, nx);
            tile.upper[0] = cut(patch.lower[0], patch.extent(0), i + 1, nx);
            tile.lower[1] = cut(patch.lower[1], patch.extent(1), j, ny);
            tile.upper[1] = cut(patch.lower[1], patch.extent(1), j + 1, ny);
            tiles.push_back(tile);
        }
    return tiles;
}

Partition one_box_each(std::vector<Box> boxes) {
    Partition p;
    p.first.resize(boxes.size() + 1);
    std::iota(p.first.begin(), p.first.end(), 0);
    p.boxes = std::move(boxes);
    return p;
}

Decomposition::Decomposition(Grid grid, Partition partition, int ranks, int tile_side) : grid_(grid), partition_(std::move(partition)), ranks_(ranks), tile_side_(tile_side) {
    for (std::int64_t p = 0; p < processes(); ++p) {
        first_tile_.push_back(static_cast<std::int64_t>(tiles_.size()));
        int count = 0;
        for (std::int64_t b = partition_.first[p]; b < partition_.first[p + 1]; ++b)
            for (const Box& tile : split_into_tiles(partition_.boxes[b], tile_side)) {
                tiles_.push_back(tile);
                ids_.push_back({p, count++});
            }
    }
    first_tile_.push_back(static_cast<std::int64_t>(tiles_.size()));
    // About one tile a bucket.
    const double side = std::sqrt(static_cast<double>(grid_.box().cells()) / static_cast<double>(tiles_.size()));
    for (int a = 0; a < 2; ++a) {
        bucket_cells_[a] = std::clamp(static_cast<int>(side), 1, grid_.cells[a]);
        buckets_[a] = (grid_.cells[a] + bucket_cells_[a] - 1) / bucket_cells_[a];
    }
    const auto for_each_bucket = [this](const Box& b, auto visit) {
        for (int i = b.lower[0] / bucket_cells_[0]; i <= (b.upper[0] - 1) / bucket_cells_[0]; ++i)
            for (int j = b.lower[1] / bucket_cells_[1]; j <= (b.upper[1] - 1) / bucket_cells_[1]; ++j)
                visit(i * buckets_[1] + j);
    };
    bucket_begin_.assign(static_cast<std::size_t>(buckets_[0]) * buckets_[1] + 1, 0);
    for (const Box& b : tiles_) for_each_bucket(b, [this](int k) { ++bucket_begin_[k + 1]; });
    for (std::size_t k = 1; k < bucket_begin_.size(); ++k) bucket_begin_[k] += bucket_begin_[k - 1];
    bucket_tile_.resize(bucket_begin_.back());
    std::vector<std::int32_t> next(bucket_begin_.begin(), bucket_begin_.end() - 1);
    for (std::size_t t = 0; t < tiles_.size(); ++t)
        for_each_bucket(tiles_[t], [&](int k) { bucket_tile_[next[k]++] = static_cast<std::int32_t>(t); });
}

std::vector<Box> Decomposition::tiles_of(std::int64_t process) const {
    return {tiles_.begin() + first_tile_[process], tiles_.begin() + first_tile_[process + 1]};
}

int Decomposition::rank_of(std::int64_t process) const {
    // Inverse of processes_of: the largest rank whose block begins at or before `process`.
    return static_cast<int>(((process + 1) * ranks_ - 1) / processes());
}

Range Decomposition::processes_of(int rank) const {
    return {processes() * rank / ranks_, processes() * (rank + 1) / ranks_};
}

std::vector<std::int64_t> Decomposition::candidates(const Box& box) const {
    std::vector<std::int64_t> found;
    const Box b = intersection(box, grid_.box());
    if (b.empty()) return found;
    for (int i = b.lower[0] / bucket_cells_[0]; i <= (b.upper[0] - 1) / bucket_cells_[0]; ++i)
        for (int j = b.lower[1] / bucket_cells_[1]; j <= (b.upper[1] - 1) / bucket_cells_[1]; ++j) {
            const int k = i * buckets_[1] + j;
            found.insert(found.end(), bucket_tile_.begin() + bucket_begin_[k], bucket_tile_.begin() + bucket_begin_[k + 1]);
        }
    std::sort(found.begin(), found.end());
    found.erase(std::unique(found.begin(), found.end()), found.end());
    return found;
}

}  // namespace balance

// SPDX-License-Identifier: MIT
#include "app/engine/tile_set.hpp"

namespace app {

void TileSet::own(const balance::Decomposition& next) {
    hosts_ = next.hosts();
    shape_ = next.tile();
    boxes_.clear();
    accelerator_.clear();
    ids_.clear();
    first_of_process_.clear();
    const balance::IndexRange mine = hosts_.processes_of(comm_.rank());
    for (std::int64_t p = mine.begin; p < mine.end; ++p) {
        int t = 0;
        first_of_process_.push_back(boxes_.size());
        for (const balance::Box& box : next.tiles_of(p)) {
            const balance::TileId id{p, t++};
            if (const int a = next.accelerator_of(id); a >= 0) accelerator_.push_back(a);
            boxes_.push_back(box);
            ids_.push_back(id);
        }
    }
}

std::int64_t TileSet::particles() const {
    std::int64_t n = 0;
    for (std::size_t t = 0; t < size(); ++t) n += particles(t);
    return n;
}

std::vector<std::int32_t> TileSet::cell_particles() const {
    std::vector<std::int32_t> all;
    for (std::size_t t = 0; t < size(); ++t) {
        const std::vector<std::int32_t> of_tile = t < on_cpu() ? counts(t) : block_counts(t);
        all.insert(all.end(), of_tile.begin(), of_tile.end());
    }
    return all;
}

}  // namespace app

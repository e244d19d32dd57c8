// SPDX-License-Identifier: MIT
#include "app/engine/tile_set.hpp"

#include <algorithm>

#include "app/engine/thread_schedule.hpp"
#include "balance/grid/field.hpp"
#include "balance/model/cell_counts.hpp"

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

std::vector<std::int64_t> TileSet::first_cells() const {
    std::vector<std::int64_t> first{0};
    for (const balance::Box& b : boxes_) first.push_back(first.back() + b.cells());
    return first;
}

std::vector<std::int32_t> TileSet::cell_particles() const {
    const std::vector<std::int64_t> first = first_cells();
    std::vector<std::int32_t> all(static_cast<std::size_t>(first.back()));
    parallel_for(on_cpu(), [&](std::size_t t) { std::ranges::copy(counts(t), all.begin() + first[t]); });
    for (std::size_t t = on_cpu(); t < size(); ++t) std::ranges::copy(block_counts(t), all.begin() + first[t]);
    return all;
}

std::vector<balance::CellCounts> TileSet::cell_counts() const {
    const std::vector<std::int64_t> first = first_cells();
    std::vector<balance::CellCounts> all(static_cast<std::size_t>(first.back()));
    const auto count = [&](std::size_t t, const balance::Box& part, const balance::Box& frame, auto particles) {
        const auto& [x, y, z] = part.lower;
        std::ranges::copy(balance::counts_in(part, setup_.domain.dimensions, frame, particles),
                          all.begin() + first[t] + balance::place_in(box(t), x, y, z));
    };
    for_each_part(setup_.domain.grid().box(), count);
    return all;
}

}  // namespace app

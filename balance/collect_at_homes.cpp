// SPDX-License-Identifier: MIT
// Values of tiles travel to the homes of their cells, which do the rest without the tiles.
#include <cstdint>
#include <span>
#include <vector>

#include "balance/grid/field.hpp"
#include "balance/model/cell_counts.hpp"
#include "balance/round.hpp"

namespace balance {

HomeCells collect_at_homes(const Team& team, const Decomposition& owners, const TileCells& tiles,
                           const Counting* counting, const Meter& meter) {
    const Homes homes{owners.grid(), team.size()};
    const Box home = homes.of(team.rank());
    const FieldPlan plan(team, homes, owners.ranks_around(home),
                         [&](int member) { return owners.tiles_of_rank(member); });
    const auto to_home = [&]<class T>(const std::vector<T>& in_tiles) {  // values of cells
        std::vector<T> at_home(home.cells());
        meter.part(RoundPart::fields, owners.known().size(),
                   plan.to_home(std::span<const T>(in_tiles), std::span(at_home)));
        return at_home;
    };
    const auto around = [&](const std::vector<std::int32_t>& in_tiles) {
        const std::vector<std::int32_t> particles = to_home(in_tiles);
        meter.part(RoundPart::around, 0, home.cells());
        return counts_around(team, owners.grid(), particles);
    };
    HomeCells cells{around(tiles.particles), {}};
    if (tiles.ahead) cells.ahead = around(*tiles.ahead);
    if (!counting) return cells;
    const std::vector<std::int64_t> neighbours = to_home(tiles.neighbours);
    const CountedCells counted{home, counting->cell_width, cells.counts, neighbours};
    cells.work = counted_work(counting->work, counted);
    meter.part(RoundPart::counted, 0, home.cells());
    if (const auto excess = excessive(team, counting->work, counted, cells.work)) throw TooMuchWork(*excess);
    return cells;
}

}  // namespace balance

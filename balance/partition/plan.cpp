// SPDX-License-Identifier: MIT
// Every rank looks up the tiles around its own in the decomposition and lists both directions; the order of Move makes
// both sides list the same.
#include "balance/partition/plan.hpp"

#include <algorithm>
#include <map>
#include <stdexcept>
#include <string>
#include <utility>

#include "balance/grid/for_each.hpp"

namespace balance {
namespace {

// Calls visit(id, cells) for each tile of a rank.
template <class Visit>
void for_each_tile_of(const Decomposition& decomposition, int rank, Visit visit) {
    const IndexRange mine = decomposition.processes_of(rank);
    for (std::int64_t p = mine.begin; p < mine.end; ++p) {
        const std::vector<Box>& tiles = decomposition.tiles_of(p);
        for (int t = 0; t < static_cast<int>(tiles.size()); ++t) visit(TileId{p, t}, tiles[t]);
    }
}

// Collects the moves of one rank, in any order.
class Moves {
public:
    void local(const Move& m) { plan_.local.push_back(m); }
    void outgoing(int rank, const Move& m) { links_[rank].outgoing.push_back(m); }
    void incoming(int rank, const Move& m) { links_[rank].incoming.push_back(m); }
    Plan plan() {
        std::sort(plan_.local.begin(), plan_.local.end());
        for (auto& [rank, link] : links_) {
            link.member = rank;
            std::sort(link.outgoing.begin(), link.outgoing.end());
            std::sort(link.incoming.begin(), link.incoming.end());
            plan_.links.push_back(std::move(link));
        }
        return std::move(plan_);
    }

private:
    Plan plan_;
    std::map<int, PeerMoves<Move>> links_;
};

// The cells of an image of the box that tile `id` of `rank` sees, and the cells of the tile that the tiles there see.
void add_halo(const Decomposition& decomposition, int rank, int width, TileId id, const Box& cells,
              std::array<int, 3> image, Moves& moves) {
    const Grid& grid = decomposition.grid();
    const std::array<int, 3> halo = halo_of(grid, width), mirrored{-image[0], -image[1], -image[2]};
    const Box seen = shifted(with_halo(cells, halo), offset_of(grid, mirrored));
    decomposition.for_each_tile_in(seen, [&](const TileId& other, const Box& others_cells) {
        if (other == id && image == std::array<int, 3>{}) return;
        const Move in{other, id, intersection(seen, others_cells), image};
        const int owner = decomposition.rank_of(other.process);
        if (owner == rank) return moves.local(in);
        moves.incoming(owner, in);
        const Box theirs = shifted(with_halo(others_cells, halo), offset_of(grid, image));
        if (const Box box = intersection(theirs, cells); !box.empty())
            moves.outgoing(owner, {id, other, box, mirrored});
    });
}

}  // namespace

Plan halo_plan(const Decomposition& decomposition, int rank, int width) {
    const Grid& grid = decomposition.grid();
    for (int a = 0; a < grid.dimensions; ++a)
        if (grid.periodic[a] && width > grid.cells[a])
            throw std::invalid_argument("a halo of " + std::to_string(width) +
                                        " cells does not fit a periodic axis of " + std::to_string(grid.cells[a]) +
                                        " cells");
    Moves moves;
    for_each_tile_of(decomposition, rank, [&](TileId id, const Box& cells) {
        for_each_image(grid, width, [&](const std::array<int, 3>& image) {
            add_halo(decomposition, rank, width, id, cells, image, moves);
        });
    });
    return moves.plan();
}

Plan move_plan(const Decomposition& old, const Decomposition& next, int rank) {
    Moves moves;
    for_each_tile_of(old, rank, [&](TileId source, const Box& cells) {
        next.for_each_tile_in(cells, [&](const TileId& target, const Box& targets_cells) {
            const Move m{source, target, intersection(cells, targets_cells)};
            const int owner = next.rank_of(target.process);
            const bool stays = cells == targets_cells && old.accelerator_of(source) == next.accelerator_of(target);
            if (owner != rank) moves.outgoing(owner, m);
            else if (!stays) moves.local(m);
        });
    });
    for_each_tile_of(next, rank, [&](TileId target, const Box& cells) {
        old.for_each_tile_in(cells, [&](const TileId& source, const Box& sources_cells) {
            const int owner = old.rank_of(source.process);
            if (owner != rank) moves.incoming(owner, {source, target, intersection(sources_cells, cells)});
        });
    });
    return moves.plan();
}

}  // namespace balance

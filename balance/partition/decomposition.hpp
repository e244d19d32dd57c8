// SPDX-License-Identifier: MIT
// Ownership of cells: patches of processes, processes of ranks, and the tiles into which a patch is cut for storage. A
// rank learns the boxes of the processes around its own once at each balancing. All ranks then derive the same answers
// from them, and no rank asks another for the owner of a cell.
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <unordered_map>
#include <vector>

#include "balance/grid/grid.hpp"
#include "balance/partition/box_index.hpp"
#include "balance/partition/process_boxes.hpp"

namespace balance {

/// A box of cells that an accelerator of a rank computes, in cells of the rank's processes.
struct ZoneBlock {
    Box box;
    int accelerator = 0;  ///< of the rank's
    friend bool operator==(const ZoneBlock&, const ZoneBlock&) = default;
};
/// The blocks of all accelerators. Rank r has blocks[first[r]] .. blocks[first[r + 1]], in ascending order of its
/// accelerators. They are disjoint. Without accelerators, both are empty.
struct Zones {
    std::vector<ZoneBlock> blocks;
    std::vector<std::int64_t> first;
    std::span<const ZoneBlock> of(int rank) const {
        if (first.empty()) return {};
        return std::span(blocks).subspan(first[rank], first[rank + 1] - first[rank]);
    }
};

/// Whether every cell of the grid lies in exactly one box, and every box with exactly one process: for partitions from
/// files.
bool is_partition_of(const Partition& partition, const Grid& grid);

/// One box a process.
Partition one_box_each(std::vector<Box> boxes);

/// Splits `grid` into `processes` patches of about equal numbers of cells by recursive bisection of the longer side, in
/// the order of the recursion. Throws std::invalid_argument when there are more processes than cells.
std::vector<Box> even_partition(const Grid& grid, std::int64_t processes);
/// Some of its processes, found without making the others. Throws as it.
ProcessBoxes even_processes(const Grid& grid, std::int64_t processes, IndexRange some);

/// Cells of a tile along each axis; in two dimensions z means nothing.
using TileShape = std::array<int, 3>;

/// The same cells in fewer boxes: boxes that share a whole side are joined, as long as there are any.
std::vector<Box> joined(std::vector<Box> boxes);

/// Cuts a box into tiles, x slowest, at cells with numbers that are multiples of the shape. So if only a side of the
/// box moves, tiles away from that side do not change. Tiles at a side of the box are from half to one and a half times
/// as wide as the others, or the whole box.
std::vector<Box> split_into_tiles(const Box& box, TileShape shape);

/// Tiles that are quick on this grid, smaller where `threads`, those of all ranks, would get too few. In two dimensions
/// these are high ones, because columns are contiguous in memory; in three they are cubes.
TileShape choose_tile(const Grid& grid, double cell_height, std::int64_t threads);

/// One tile, named the same way on all ranks: the process that owns it and its place among that process's tiles.
struct TileId {
    std::int64_t process = 0;
    int tile = 0;
    friend auto operator<=>(const TileId&, const TileId&) = default;
};

/// Patches, the processes that own them, the ranks that host the processes, and their tiles. It knows all processes, or
/// only those around a rank, because a rank asks for no others. Each block of an accelerator is one tile. It comes
/// after all other tiles of its rank and has the name of the rank's last process, for any owner of its cells.
///
/// The tiles of a process are cut when somebody first asks for them: a rank looks only at processes around its own,
/// however many there are. So even const functions must not be called by several threads at the same time.
class Decomposition {
public:
    /// known: the processes of which somebody will ask. hosts: the ranks of all processes. tile: see split_into_tiles.
    Decomposition(Grid grid, ProcessBoxes known, Hosts hosts, TileShape tile, Zones zones = {});
    /// Of all processes.
    Decomposition(const Grid& grid, const Partition& partition, const Hosts& hosts, TileShape tile, Zones zones = {});

    const Grid& grid() const { return grid_; }
    const ProcessBoxes& known() const { return known_; }
    std::int64_t processes() const { return hosts_.processes(); }
    const Hosts& hosts() const { return hosts_; }
    int ranks() const { return hosts_.members(); }
    TileShape tile() const { return tile_; }
    const Zones& zones() const { return zones_; }
    /// Which accelerator of its rank computes a tile; -1: none.
    int accelerator_of(TileId id) const {
        const Tiles& tiles = of(id.process);
        return id.tile < tiles.on_cpu ? -1 : tiles.accelerator[id.tile - tiles.on_cpu];
    }
    int rank_of(std::int64_t process) const { return hosts_.member_of(process); }
    IndexRange processes_of(int rank) const { return hosts_.processes_of(rank); }
    std::span<const Box> boxes_of(std::int64_t process) const { return known_.of(place_of(process)); }
    /// Tiles of a process, in their order.
    const std::vector<Box>& tiles_of(std::int64_t process) const { return of(process).index.boxes(); }
    /// The tiles of a rank, process by process.
    std::vector<Box> tiles_of_rank(int rank) const;

    /// Calls visit(tile, its cells) for every tile that meets `box`, in ascending order. Throws std::logic_error where
    /// the owner of a cell is not known.
    template <class Visit>
    void for_each_tile_in(const Box& box, Visit visit) const {
        std::int64_t cells = 0;
        for (const std::int64_t p : processes_around(box)) {
            const BoxIndex& tiles = of(p).index;
            std::vector<int> found;
            tiles.for_each_in(box, [&](std::int32_t t, const Box& common) {
                found.push_back(t);
                cells += common.cells();
            });
            std::sort(found.begin(), found.end());
            for (const int t : found) visit(TileId{p, t}, tiles.boxes()[t]);
        }
        if (cells != intersection(box, grid_.box()).cells())
            throw std::logic_error("a decomposition was asked for cells whose owners it does not know");
    }
    /// Ranks that have all the tiles which meet `box`, and perhaps others, in ascending order.
    std::vector<int> ranks_around(const Box& box) const;

private:
    struct Tiles {
        BoxIndex index;
        int on_cpu;                    // behind them come blocks of accelerators
        std::vector<int> accelerator;  // of each block
    };
    const Tiles& of(std::int64_t process) const;
    Tiles cut(std::int64_t process) const;
    /// Where a process stands among those that are known. Throws std::logic_error where it is not.
    std::int64_t place_of(std::int64_t process) const;
    /// In whose bounds `box` lies, in ascending order.
    std::vector<std::int64_t> processes_around(const Box& box) const;
    BoxIndex bounds() const;

    Grid grid_;
    ProcessBoxes known_;
    Hosts hosts_;
    TileShape tile_;
    Zones zones_;
    BoxIndex bounds_;  // of the cells of each process that is known
    mutable std::unordered_map<std::int64_t, Tiles> tiles_;
};

}  // namespace balance

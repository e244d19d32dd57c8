// SPDX-License-Identifier: MIT
// A tile: the particles of a small box of cells, the ghosts in the halo around it, and its neighbour lists.
//
// Storage is by columns of cells, which run along the last axis. A *slot* holds a packed position. Slots run up each
// column of the box with its halo, cell by cell. So the particles of any box of cells are one contiguous run in each
// column, and ghosts, messages and candidates are such runs. The other arrays hold own particles only (*own* order: the
// same order without ghosts).
#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "balance/grid/box.hpp"
#include "md/buffers.hpp"
#include "md/cell_table.hpp"
#include "md/domain.hpp"
#include "md/kernels/kernels.hpp"
#include "md/kernels/vec.hpp"
#include "md/neighbour_lists.hpp"
#include "md/particles.hpp"
#include "md/simulation_error.hpp"

namespace md {

/// A box of cells of a tile's halo that another tile (or an image) owns. shift: what to add to the owner's positions
/// to see them here, 2^-40.
struct HaloBox {
    balance::Box box;  ///< in this tile's cells, beyond the grid for images
    std::array<std::int64_t, 3> shift;
};

/// The box that holds a particle which has left its tile, as an index into `boxes`. Throws SimulationError for one that
/// is in none of them: it moved further than the halo, or left the simulated box.
template <int D>
int holder_of(const Particle<D>& particle, std::span<const HaloBox> boxes, const std::array<Axis, 3>& axis);

template <int D>
class Tile {
public:
    /// box: own cells. halo: width of the halo in cells. Particles of the halo are counted. reach: width of the part of
    /// the halo that can hold neighbours and has slots.
    Tile(const Domain& domain, balance::Box box, int halo, int reach);

    const balance::Box& box() const { return cells_.box; }
    const balance::Box& seen() const { return cells_.seen; }  ///< with the part of the halo that has slots
    int halo() const { return cells_.halo; }
    std::int64_t size() const { return particles_.size; }
    std::int64_t id(std::int64_t own) const { return particles_.id[own]; }
    Particle<D> particle(std::int64_t own) const { return particles_.get(own); }
    std::int64_t bytes() const;

    /// Adds particles (unsorted until sort()).
    void insert(std::span<const Particle<D>> particles);
    /// Takes out all particles.
    void clear() { particles_.resize(0); }
    /// Gives up the memory of all but the particles and their counts, for a tile that goes away.
    void free_all_but_particles() {
        packed_ = {};
        reference_ = {};
        lists_ = {};
    }

    /// Adds dv[axis] to the velocity of every particle p; dv = change(p).
    template <class Change>
    void change_velocities(Change change) {
        for (std::int64_t i = 0; i < size(); ++i) {
            const auto dv = change(particle(i));
            for (int a = 0; a < D; ++a) particles_.v[a][i] += dv[a];
        }
    }

    /// Takes out every particle whose position is no longer in this tile's cells and calls
    /// leave(particle with wrapped position, index of the HaloBox that holds it). Throws SimulationError as
    /// holder_of().
    template <class Leave>
    void remove_emigrants(std::span<const HaloBox> halo_boxes, Leave leave) {
        const auto x = vec<D>([&](int a) { return static_cast<const std::int64_t*>(particles_.x[a].data()); });
        const auto lower = vec<D>([&](int a) { return cells_.edges[a].front(); });
        const auto upper = vec<D>([&](int a) { return cells_.edges[a].back(); });
        const auto inside = [=](std::int64_t i) {
            int all = 1;
            for_each_axis<D>([&](int a) {
                const std::int64_t at = x[a][i] >> edge_shift;
                all &= int{at >= lower[a]} & int{at < upper[a]};
            });
            return all != 0;
        };
        sorted_ = false;
        std::int64_t kept = 0;
        for (std::int64_t i = 0; i < size(); ++i) {
            if (inside(i)) {
                particles_.move(i, kept++);
                continue;
            }
            Particle<D> p = particle(i);
            const int k = holder_of(p, halo_boxes, axis_);
            for (int a = 0; a < D; ++a) p.x[a] -= halo_boxes[k].shift[a];
            leave(p, k);
        }
        particles_.resize(kept);
    }

    /// Sorts own particles into cells (and by height within a cell) and counts them, unless no particle has moved or
    /// come since. Throws SimulationError for a particle outside the tile.
    void sort(const Kernels& kernels, TileScratch& scratch);
    bool sorted() const { return sorted_; }

    /// Particles in each cell of the box with its halo if the own particles flew straight on for `time` and there were
    /// no others. Particles that would leave the halo, or a box that is not periodic, stay at its rim. In the order of
    /// swap_counts(). After sort().
    std::vector<std::int32_t> counts_after(double time) const;
    /// Puts other numbers in the place of those that count() gives.
    void swap_counts(std::vector<std::int32_t>& counts) { cells_.counts.swap(counts); }

    /// Number of particles in a cell of the box with its halo (grid coordinates of this tile); those of the cells above
    /// it in its column follow.
    std::int32_t& count(const CellIndex& c) { return cells_.counts[cells_.cell(c)]; }
    const std::int32_t& count(const CellIndex& c) const { return cells_.counts[cells_.cell(c)]; }

    /// All these numbers, in the order of the cells of counted().
    std::span<std::int32_t> counts() { return cells_.counts; }
    std::span<const std::int32_t> counts() const { return cells_.counts; }
    /// The box with its halo.
    const balance::Box& counted() const { return cells_.all; }

    /// Elements of the neighbour lists' rows, which the kernels go through; those of the last lists that were built.
    std::int64_t list_length() const { return lists_.length(); }

    /// Lays out the slots from the counts of all cells and writes own positions.
    void lay_slots();

    /// The run of slots of `height` cells within reach, from `low` upwards in its column: first slot and number.
    using Run = typename CellTable<D>::Run;
    Run run(const CellIndex& low, int height) const { return cells_.run(low, height); }
    /// Calls use(run) for each column of a box of cells: what a plan moves, in its order.
    template <class Use>
    void for_each_run(const balance::Box& cells, Use use) const {
        for_each_column<D>(cells, [&](const CellIndex& c) { use(run(c, cells.extent(D - 1))); });
    }
    /// Packed positions by slot, as they are now.
    Packed<D>* packed() { return packed_[current_].data(); }
    const Packed<D>* packed() const { return packed_[current_].data(); }
    /// After a kernel has moved the own particles: the positions that it wrote are those of now, and the particles may
    /// have left their cells.
    void flip() {
        current_ = 1 - current_;
        sorted_ = false;
    }

    /// Builds the neighbour lists for `radius` = cutoff + skin (lengths).
    void build_neighbour_lists(const Kernels& kernels, double radius, TileScratch& scratch);

    /// View for the kernels of a step, which read the current positions and write the next ones.
    TileView<D> view();
    /// View for kernels that only read positions and neighbour lists.
    ListView<D> lists() const;

private:
    std::array<Axis, 3> axis_;
    int packed_bits_;
    CellTable<D> cells_;
    ParticleArrays<D> particles_;  // own order
    bool sorted_ = false;
    std::vector<Packed<D>> reference_;              // packed positions at the last rebuild, own order
    std::array<std::vector<Packed<D>>, 2> packed_;  // by slot: positions of now and the next ones
    int current_ = 0;                               // index of the present positions
    NeighbourLists<D> lists_;
};

}  // namespace md

// SPDX-License-Identifier: MIT
// A tile: the particles of a small box of cells, the ghosts in the halo around it, and its neighbour lists.
//
// Storage is by columns of cells. A *slot* holds a packed position; slots run up each column of the box with its halo,
// cell by cell, so that the particles of any box of cells are one contiguous run a column: ghosts, messages and
// candidates are such runs. The other arrays hold own particles only (*own* order: the same order without ghosts).
#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "balance/grid/box.hpp"
#include "md/buffers.hpp"
#include "md/cell_table.hpp"
#include "md/domain.hpp"
#include "md/kernels/kernels.hpp"
#include "md/neighbour_lists.hpp"
#include "md/particles.hpp"
#include "md/simulation_error.hpp"

namespace md {

/// A box of cells of a tile's halo that another tile (or an image) owns. shift: what to add to the owner's positions
/// to see them here, 2^-40.
struct HaloBox {
    balance::Box box;  ///< in this tile's cells, beyond the grid for images
    std::array<std::int64_t, 2> shift;
};

/// The box that holds a particle which has left its tile, as an index into `boxes`. Throws SimulationError for one that
/// is in none of them: it moved further than the halo, or left the simulated box.
int holder_of(const Particle& particle, std::span<const HaloBox> boxes, const std::array<Axis, 2>& axis);

class Tile {
public:
    /// box: own cells; halo: width of the halo in cells.
    Tile(const Domain& domain, balance::Box box, int halo);

    const balance::Box& box() const { return cells_.box; }
    int halo() const { return cells_.halo; }
    std::int64_t size() const { return particles_.size; }
    std::int64_t id(std::int64_t own) const { return particles_.id[own]; }
    Particle particle(std::int64_t own) const { return particles_.get(own); }
    std::int64_t bytes() const;

    /// Adds particles (unsorted until sort()).
    void insert(std::span<const Particle> particles);
    /// Takes out all particles.
    void clear() { particles_.resize(0); }

    /// Adds dv[0], dv[1] to the velocity of every particle p; dv = change(p).
    template <class Change>
    void change_velocities(Change change) {
        for (std::int64_t i = 0; i < size(); ++i) {
            const std::array<std::int64_t, 2> dv = change(particle(i));
            particles_.vx[i] += dv[0];
            particles_.vy[i] += dv[1];
        }
    }

    /// Takes out every particle whose position is no longer in this tile's cells and calls
    /// leave(particle with wrapped position, index of the HaloBox that holds it). Throws SimulationError as
    /// holder_of().
    template <class Leave>
    void remove_emigrants(std::span<const HaloBox> halo_boxes, Leave leave) {
        const auto inside = [this](std::int64_t i) {
            const std::int64_t x = particles_.x[i] >> edge_shift, y = particles_.y[i] >> edge_shift;
            const std::vector<std::int64_t>&along_x = cells_.edges[0], &along_y = cells_.edges[1];
            return (int{x >= along_x.front()} & int{x < along_x.back()} & int{y >= along_y.front()} &
                    int{y < along_y.back()}) != 0;
        };
        sorted_ = false;
        std::int64_t kept = 0;
        for (std::int64_t i = 0; i < size(); ++i) {
            if (inside(i)) {
                particles_.move(i, kept++);
                continue;
            }
            Particle p = particle(i);
            const int k = holder_of(p, halo_boxes, axis_);
            p.x -= halo_boxes[k].shift[0];
            p.y -= halo_boxes[k].shift[1];
            leave(p, k);
        }
        particles_.resize(kept);
    }

    /// Sorts own particles into cells (and by height within a cell) and counts them, unless no particle has moved or
    /// come since. Throws SimulationError for a particle outside the tile.
    void sort(const Kernels& kernels, TileScratch& scratch);
    bool sorted() const { return sorted_; }

    /// Number of particles in a cell of the box with its halo (grid coordinates of this tile).
    std::int32_t& count(int cx, int cy) { return cells_.counts[cells_.cell(cx, cy)]; }
    std::int32_t count(int cx, int cy) const { return cells_.counts[cells_.cell(cx, cy)]; }
    /// The counts from a cell on upwards.
    const std::int32_t* column(int cx, int cy) const { return &cells_.counts[cells_.cell(cx, cy)]; }

    /// Elements of the neighbour lists' rows, which the kernels go through; those of the last lists that were built.
    std::int64_t list_length() const { return lists_.length(); }

    /// Calls use(n, n3, n5) for each own cell, column by column: particles in it, in the 3 x 3 and in the 5 x 5 cells
    /// around it. The counts of the halo must be there, and it at least two cells wide.
    template <class Use>
    void for_each_cell_count(Use use) const;

    /// Lays out the slots from the counts of all cells and writes own positions.
    void lay_slots();

    /// The run of slots of cells [y0, y1) in column x: first slot and number.
    using Run = CellTable::Run;
    Run run(int x, int y0, int y1) const { return cells_.run(x, y0, y1); }
    /// Packed positions by slot, as they are now.
    std::uint64_t* packed() { return packed_[current_].data(); }
    const std::uint64_t* packed() const { return packed_[current_].data(); }
    /// After a kernel has moved the own particles: the positions that it wrote are those of now, and the particles may
    /// have left their cells.
    void flip() {
        current_ = 1 - current_;
        sorted_ = false;
    }

    /// Builds the neighbour lists for `radius` = cutoff + skin (lengths).
    void build_neighbour_lists(const Kernels& kernels, double radius, TileScratch& scratch);

    /// What the kernels of a step see; they read the positions of now and write the next ones.
    TileView view();
    /// What kernels see that only read positions and neighbour lists.
    ListView lists() const;

private:
    std::array<Axis, 2> axis_;
    int packed_bits_;
    CellTable cells_;
    ParticleArrays particles_;  // own order
    bool sorted_ = false;
    std::vector<std::uint64_t> reference_;              // packed positions at the last rebuild, own order
    std::array<std::vector<std::uint64_t>, 2> packed_;  // by slot: positions of now and the next ones
    int current_ = 0;                                   // which of them are those of now
    NeighbourLists lists_;
};

template <class Use>
void Tile::for_each_cell_count(Use use) const {
    const balance::Box& b = box();
    const int nx = b.extent(0), ny = b.extent(1);
    // Sums of 3 and 5 cells up each column, then of 3 and 5 columns.
    std::vector<std::int32_t> of3(static_cast<std::size_t>(nx + 4) * ny), of5(of3.size());
    for (int x = -2; x < nx + 2; ++x) {
        const std::int32_t* n = column(b.lower[0] + x, b.lower[1] - 2);
        const std::size_t at = static_cast<std::size_t>(x + 2) * ny;
        for (int y = 0; y < ny; ++y) {
            of3[at + y] = n[y + 1] + n[y + 2] + n[y + 3];
            of5[at + y] = n[y] + of3[at + y] + n[y + 4];
        }
    }
    for (int x = 0; x < nx; ++x) {
        const std::int32_t* n = column(b.lower[0] + x, b.lower[1]);
        const std::int32_t *a = &of3[static_cast<std::size_t>(x + 1) * ny], *c = &of5[static_cast<std::size_t>(x) * ny];
        for (int y = 0; y < ny; ++y)
            use(n[y], a[y] + a[y + ny] + a[y + 2 * ny],
                c[y] + c[y + ny] + c[y + 2 * ny] + c[y + 3 * ny] + c[y + 4 * ny]);
    }
}

}  // namespace md

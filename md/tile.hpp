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
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "balance/grid/box.hpp"
#include "md/domain.hpp"
#include "md/kernels/kernels.hpp"

namespace md {

/// One particle in exact integers: what migrates, and what a state is made of.
struct Particle {
    std::int64_t id;
    std::int64_t x, y;    ///< 2^-40 lengths; in [0, box) but between rebuilds
    std::int64_t vx, vy;  ///< 2^-40 lengths per time
};

/// The simulation cannot go on (lost or too fast particle, force out of range, too dense). what() names the particle.
struct SimulationError : std::runtime_error {
    explicit SimulationError(const std::string& what, bool all_ranks = false,
                             std::string what_helps = "use a smaller dt or a softer start")
        : std::runtime_error(what), on_all_ranks(all_ranks), remedy(std::move(what_helps)) {}
    bool on_all_ranks;   ///< every rank throws the same
    int passes_ago = 0;  ///< it happened so many passes before it was noticed
    std::string remedy;  ///< what the user can do about it
};

/// Reusable buffers of one thread.
struct TileScratch {
    std::vector<std::uint32_t> key, order, bin;
    std::vector<std::int64_t> values, edges;
    std::vector<float> x, y;
    std::vector<std::uint8_t> rows;
    std::vector<Neighbourhood> hoods;
    std::vector<std::int32_t> place, start, lane_rows, ranges;
};

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

    const balance::Box& box() const { return box_; }
    int halo() const { return halo_; }
    std::int64_t size() const { return size_; }
    std::int64_t ghosts() const { return slots_ - size_; }
    std::int64_t id(std::int64_t own) const { return id_[own]; }
    Particle particle(std::int64_t own) const { return {id_[own], x_[own], y_[own], vx_[own], vy_[own]}; }
    std::int64_t bytes() const;

    /// Adds particles (unsorted until sort()).
    void insert(std::span<const Particle> particles);
    /// Takes out all particles.
    void clear() { resize(0); }

    /// Adds dv[0], dv[1] to the velocity of every particle p; dv = change(p).
    template <class Change>
    void change_velocities(Change change) {
        for (std::int64_t i = 0; i < size_; ++i) {
            const std::array<std::int64_t, 2> dv = change(particle(i));
            vx_[i] += dv[0];
            vy_[i] += dv[1];
        }
    }

    /// Takes out every particle whose position is no longer in this tile's cells and calls
    /// leave(particle with wrapped position, index of the HaloBox that holds it). Throws SimulationError as
    /// holder_of().
    template <class Leave>
    void remove_emigrants(std::span<const HaloBox> halo_boxes, Leave leave) {
        const auto inside = [this](std::int64_t i) {
            const std::int64_t x = x_[i] >> edge_shift, y = y_[i] >> edge_shift;
            return (x >= edges_[0].front()) & (x < edges_[0].back()) & (y >= edges_[1].front()) &
                   (y < edges_[1].back());
        };
        sorted_ = false;
        std::int64_t kept = 0;
        for (std::int64_t i = 0; i < size_; ++i) {
            if (inside(i)) {
                move_own(i, kept++);
                continue;
            }
            Particle p = particle(i);
            const int k = holder_of(p, halo_boxes, axis_);
            p.x -= halo_boxes[k].shift[0];
            p.y -= halo_boxes[k].shift[1];
            leave(p, k);
        }
        resize(kept);
    }

    /// Sorts own particles into cells (and by height within a cell) and counts them, unless no particle has moved or
    /// come since.
    void sort(const Kernels& kernels, TileScratch& scratch);

    /// Number of particles in a cell of the box with its halo (grid coordinates of this tile).
    std::int32_t& count(int cx, int cy) { return counts_[cell_index(cx, cy)]; }
    std::int32_t count(int cx, int cy) const { return counts_[cell_index(cx, cy)]; }
    /// The counts from a cell on upwards.
    const std::int32_t* column(int cx, int cy) const { return &counts_[cell_index(cx, cy)]; }

    /// Elements of the neighbour lists' rows, which the kernels go through; those of the last lists that were built.
    std::int64_t list_length() const;

    /// Calls use(n, n3, n5) for each own cell, column by column: particles in it, in the 3 x 3 and in the 5 x 5 cells
    /// around it. The counts of the halo must be there, and it at least two cells wide.
    template <class Use>
    void for_each_cell_count(Use use) const;

    /// Lays out the slots from the counts of all cells and writes own positions.
    void lay_slots();

    /// The run of slots of cells [y0, y1) in column x: first slot and number.
    struct Run {
        std::int32_t begin, size;
    };
    Run run(int x, int y0, int y1) const {
        const std::int32_t begin = slot_[slot_index(x, y0)];
        return {begin, slot_[slot_index(x, y1)] - begin};
    }
    /// Packed positions by slot, as they are now.
    std::uint64_t* packed() { return packed_[current_].data(); }
    const std::uint64_t* packed() const { return packed_[current_].data(); }
    /// After a kernel has moved the own particles: the positions that it wrote are those of now.
    void flip() { current_ = 1 - current_; }

    /// Builds the neighbour lists for `radius` = cutoff + skin (lengths).
    void build_neighbour_lists(const Kernels& kernels, double radius, TileScratch& scratch);

    /// What the kernels see; they read the positions of now and write the next ones.
    TileView view();

private:
    int cell_index(int cx, int cy) const { return (cx - box_.lower[0] + halo_) * rows_ + (cy - box_.lower[1] + halo_); }
    int slot_index(int cx, int cy) const {
        return (cx - box_.lower[0] + halo_) * (rows_ + 1) + (cy - box_.lower[1] + halo_);
    }
    void move_own(std::int64_t from, std::int64_t to) {
        if (from == to) return;
        id_[to] = id_[from];
        x_[to] = x_[from];
        y_[to] = y_[from];
        vx_[to] = vx_[from];
        vy_[to] = vy_[from];
    }
    struct ListBuild;
    struct ClusterExtent {
        std::int32_t size;
        std::int64_t lowest, highest;  // 2^-26
    };
    ClusterExtent cluster_extent(const ListBuild& b, std::int64_t own, std::int32_t left) const;
    std::size_t find_candidates(ListBuild& b, const ClusterExtent& c) const;
    std::int32_t append_cluster(ListBuild& b, std::int64_t own, std::int32_t slot, std::int32_t left);
    void resize(std::int64_t n);

    std::array<Axis, 2> axis_;
    int packed_bits_;
    balance::Box box_;
    std::array<std::vector<std::int64_t>, 2> edges_;  // of own cells, 2^-26; one more than cells
    int halo_, columns_, rows_;                       // of the box with its halo
    std::int64_t size_ = 0;
    std::int32_t slots_ = 0;
    bool sorted_ = false;
    std::vector<std::int64_t> id_, x_, y_, vx_, vy_;
    std::vector<std::uint64_t> reference_;              // packed positions at the last rebuild
    std::array<std::vector<std::uint64_t>, 2> packed_;  // positions of now and the next ones
    int current_ = 0;                                   // which of them are those of now
    std::vector<std::int32_t> counts_, slot_;
    std::vector<Cluster> clusters_;
    std::vector<Neighbourhood> neighbourhoods_;
    std::vector<std::uint8_t> rows_list_;
};

template <class Use>
void Tile::for_each_cell_count(Use use) const {
    const balance::Box& b = box_;
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

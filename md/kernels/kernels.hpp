// SPDX-License-Identifier: MIT
// The kernels of a step as plain function tables, one table for each instruction set; all give the same bits.
// Arguments are raw views: a translation unit compiled for AVX-512 must not instantiate library templates that the
// linker could then use everywhere.
#pragma once
#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

#include "md/domain.hpp"
#include "md/kernels/hd.hpp"
#include "md/potential_spec.hpp"

namespace md {

inline constexpr int lanes = 16;  ///< particles of a full cluster
inline constexpr int window = 8;  ///< slots that follow each other
inline constexpr int windows = 12;
inline constexpr int near_places = window * windows;
inline constexpr int far_place = near_places - 1;  ///< of a particle that is out of reach of all: fills rows up

/// In two dimensions the particles around a cluster, few enough for their positions to stay in registers while rows of
/// neighbours pick from them. Place p is slot start[p / window] + p % window; far_place holds a position out of the
/// cluster's reach. In three dimensions there are five times as many: all of a cluster's neighbours are in one
/// neighbourhood, and place p is slot p from the cluster's base.
template <int D>
struct Neighbourhood {
    std::int32_t row;  ///< first element of the rows: element [k * lanes + lane] is the place of lane's k-th neighbour
    std::int32_t length;  ///< longest row; shorter ones are filled with a far place
};
template <>
struct Neighbourhood<2> {
    std::uint16_t start[windows];  ///< first slots, from the cluster's base
    std::int32_t row, length;
};
template <int D>
using Place = std::conditional_t<D == 2, std::uint8_t, std::uint16_t>;

/// Up to `lanes` particles that follow each other in a column, and the neighbourhoods that hold all their neighbours.
struct Cluster {
    std::int32_t own;          ///< index of the first particle among the tile's own
    std::int32_t slot;         ///< its slot
    std::int32_t base;         ///< slot from which neighbourhoods count
    std::int32_t count;        ///< particles, 1..lanes
    std::int32_t first, last;  ///< neighbourhoods [first, last)
    std::uint32_t far_x;       ///< packed x that is out of reach
};

/// View of a tile for kernels that only read. Slots hold packed positions of own particles and ghosts.
template <int D>
struct ListView {
    const Packed<D>* packed;
    const Cluster* clusters;
    std::int32_t cluster_count;
    const Neighbourhood<D>* neighbourhoods;
    const Place<D>* rows;
    std::int32_t packed_bits;  ///< see Domain
};

/// View of a tile for the kernels of a step. The arrays of own particles are in own order and readable up to 16
/// elements beyond their end.
template <int D>
struct TileView : ListView<D> {
    Packed<D>* next;  ///< by slot: positions after a drift
    std::int64_t *x[D], *v[D];
    const std::int64_t* id;
    const Packed<D>* reference;
};

/// Force sums are exact integers: quanta of 2^-16 (mixed) or 2^-32 (double).
HD constexpr int force_bits(Precision p) { return p == Precision::mixed ? 16 : 32; }
inline constexpr int energy_bits = 32;   ///< pair energies and virials are rounded to 2^-32
inline constexpr int kinetic_bits = 28;  ///< kinetic energies to 2^-28

/// Velocity Verlet in half-kicks. `first`: half-kick, drift. `middle`: two half-kicks, drift. `last`: a half-kick only;
/// it leaves positions and velocities at the same time. `none`: forces and sums only, for such a state.
enum class Kick { none, first, middle, last };

inline constexpr int narrow_rows = 256;  ///< longer rows are always summed in 64 bits
/// How far the exact force sums of a potential reach.
struct ForceLimits {
    /// [narrow_rows]: entry n is a limit for sums over n pairs. Below the limit, the sum of the pairs' (F/r)^2 ensures
    /// that force sums fit 32 bits (mixed).
    std::vector<double> narrow_g2;
    double safe_r2;  ///< closer pairs are out of the exact range
};
ForceLimits force_limits(const PotentialSpec& potential);

struct WallPotential;  // md/external.hpp
/// A face of the box, within a tile's reach or not.
struct Face {
    bool reflects;  ///< True if particles of this tile may meet it.
    /// Place after the drift, 2^-40. A lower face reflects positions below it, an upper face positions from there on.
    std::int64_t at;
    std::int64_t velocity;           ///< Velocity of the face during the drift, 2^-40 per time.
    const WallPotential* potential;  ///< Null: none, or out of this tile's reach.
};

struct StepArgs {
    const PotentialSpec* potential;
    const double* narrow_g2;  ///< see ForceLimits
    double safe_r2;
    double dt;
    Kick kick;
    bool sum_kinetic;        ///< Add up kinetic energy and momentum at the whole step.
    double cell[3];          ///< Widths of a cell, lengths. No particle may move further in one step.
    Face face[3][2];         ///< Faces at the lower and upper end of each axis.
    std::int64_t length[3];  ///< Sides of the box, 2^-40.
    double gravity[3];       ///< Acceleration, lengths / time^2.
    std::int64_t* force[3];  ///< Out: force quanta of each axis, own order; may be null.
};

/// velocity: of 2048 or more along an axis. speed: more than a cell in one step.
enum class FaultKind : std::int32_t { none, force_range, velocity, speed };
struct Fault {
    FaultKind kind = FaultKind::none;
    std::int64_t id = INT64_MAX;  ///< the smallest id where several particles fail
};

struct StepResult {
    float displacement2 = 0;         ///< largest since the last rebuild, squared packed units
    Int128 momentum[3] = {0, 0, 0};  ///< 2^-40
    Int128 kinetic = 0;              ///< 2^-28
    Int128 work = 0;                 ///< 2^-28, kinetic energy that moving faces gave in the drift
    Int128 external = 0;             ///< 2^-28, md::External::energy(); the caller adds it up
    Fault fault;
};

struct PairSums {
    Int128 energy = 0, virial = 0;  ///< 2^-32, every pair counted from both sides
    std::int64_t pairs = 0;         ///< within the cutoff, from both sides
};

/// Slices of a cell's height by which its particles are sorted: near in memory is near in space, so clusters are
/// shorter and have fewer candidates.
inline constexpr int slices_of_cell = 4;
/// Where to sort particles to: by cells in columns, by slices of a cell's height within each.
template <int D>
struct KeysArgs {
    const std::int64_t* x[D];
    std::int64_t count;
    const std::int64_t* edges[D];  ///< of the tile's cells, 2^-26
    std::int32_t cells[D];
    double per_cell[D];  ///< cells in 2^-26
    std::int32_t slices;
    std::uint32_t* key;  ///< out: (number of the cell, column by column) * slices + slice
    std::uint32_t* bin;  ///< bin[key + 1] is increased for each particle
};

/// Neighbourhoods and rows of one cluster. Neighbours are searched among positions of 16 bits, which wrap: their
/// differences tell which particles may be in reach. See CoarseSearch.
template <int D>
struct RowsArgs {
    const std::uint16_t* coarse[D];  ///< Positions by slot, axis by axis; readable 32 elements beyond the end.
    std::uint16_t limit;             ///< Largest sum of squares of a difference in reach, see CoarseSearch.
    const std::int32_t* ranges;      ///< [2 * range_count]: runs of candidate slots.
    std::int32_t range_count;
    std::int32_t slot, base, count;    ///< As in Cluster.
    std::int32_t far_place;            ///< In three dimensions: place of a slot out of reach.
    std::uint16_t* x[D];               ///< Scratch for all candidates + 48.
    std::uint16_t* place;              ///< Scratch of the same length.
    std::int32_t* start;               ///< Scratch of the same length.
    std::uint16_t* lane_rows;          ///< Scratch: 16 rows of `stride`, + 32.
    std::int32_t stride;               ///< At least all candidates + 48.
    Neighbourhood<D>* neighbourhoods;  ///< Out. `row` counts from `rows`.
    Place<D>* rows;                    ///< Out.
    std::int32_t neighbourhoods_room;  ///< Capacity: most_neighbourhoods().
    std::int64_t rows_room;            ///< Capacity in elements: most_row_elements().
};
/// Neighbourhoods of a cluster at most. A run of n candidates lies in up to 1 + (n - 1) / window windows, and one more
/// may follow for the far place. The first neighbourhood takes `windows` of them, each further one windows - 1, because
/// it overlaps with the one before.
template <int D>
constexpr std::size_t most_neighbourhoods(std::size_t runs, std::size_t candidates) {
    if (D == 3) return 1;
    const std::size_t used = runs + (candidates - runs) / window;
    return (used + windows - 2) / (windows - 1);
}
/// Bound of the elements of a cluster's rows. The longest row of a neighbourhood has at most as many elements as there
/// are candidates out of reach of the neighbourhood before. The last row is written in blocks of 16 columns.
constexpr std::size_t most_row_elements(std::size_t candidates) { return lanes * (candidates + 16); }

/// The kernels for particles in D dimensions.
template <int D>
struct KernelsOf {
    /// Forces on all own particles, then the half-kicks and the drift of args.kick, in one pass.
    /// [potential][double][softened].
    using Step = void (*)(const TileView<D>&, const StepArgs&, StepResult&);
    Step step[8][2][2];
    /// Potential energy and virial of all own particles, in double precision.
    void (*pair_sums[8])(const ListView<D>&, const PotentialSpec&, PairSums&);
    /// Neighbours within the cutoff (lengths) of each own particle, by the rows.
    void (*neighbours)(const ListView<D>&, double cutoff, std::int32_t* within);
    /// Sorting keys of particles that lie in the tile's cells.
    void (*keys)(const KeysArgs<D>&);
    /// Positions of `count` slots in 16 bits, axis by axis. They are packed positions without the lowest `shift` bits
    /// and without the highest ones. `to` has room for whole vectors.
    void (*coarse)(const Packed<D>* packed, std::int64_t count, int shift, std::uint16_t* const* to);
    /// Builds the rows of a cluster, returns the number of its neighbourhoods; -1, having written nothing beyond its
    /// room, where that does not suffice.
    std::int32_t (*rows)(const RowsArgs<D>&);

    /// The step for this potential in this precision.
    Step step_for(const PotentialSpec& potential, Precision precision) const;
};

struct Kernels {
    const char* isa;
    KernelsOf<2> in_plane;
    KernelsOf<3> in_space;
};

template <int D>
const KernelsOf<D>& kernels_of(const Kernels& kernels) {
    if constexpr (D == 2) return kernels.in_plane;
    else return kernels.in_space;
}

/// The instruction sets of this program's tables, best first, whether this processor can run them or not.
std::vector<std::string> built_kernels();

/// The tables that this processor can run, wider vectors first. On x86-64 these are "avx512vbmi2", "avx512", "avx2",
/// "portable" and "scalar". On 64-bit Arm they are "neon" and "scalar", elsewhere "portable" and "scalar".
std::vector<const Kernels*> available_kernels();

/// The first table, or the one named: nothing is measured at the start (docs/architecture.md, "Vectors"). Throws
/// std::invalid_argument when this processor can't run it or there is none.
const Kernels& choose_kernels(const std::string& name = "");

}  // namespace md

// SPDX-License-Identifier: MIT
// Blocks of cells whose particles live on an accelerator. They stay there from step to step: what crosses are the
// positions in a border of cells, and the particles that leave or come. One thread at a time may call a zone, any one.
// Positions, velocities and forces are the same bits as those of md::Tile and its kernels.
//
// The order of calls is that of a tile. insert() and sort() come first, then lay_slots() with the counts of the halo.
// The ghosts' positions go into incoming() before build_neighbour_lists(). Passes follow until a particle has moved too
// far. After take_emigrants() the order begins again.
#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "balance/grid/box.hpp"
#include "md/domain.hpp"
#include "md/external.hpp"
#include "md/kernels/kernels.hpp"
#include "md/tile.hpp"

namespace md {
template <int D>
struct VelocityChange;  // md/thermostat.hpp
}

namespace gpu {

enum class Backend { host, cuda };

/// The setup of a zone, constant during a run.
struct ZoneSetup {
    md::Domain domain;
    int halo = 1;  ///< width in cells, as of the tiles
    md::PotentialSpec potential;
    md::External external;
    md::Precision precision = md::Precision::mixed;
    md::ForceLimits limits;
    double dt = 0;
    std::string isa = {};  ///< of the tiles' kernels: the host backend goes no further; empty: the best there is
};

/// The cells that the blocks of a zone share with others. A block is named by its place in the zone.
template <int D>
struct BlockBorder {
    /// Cells of blocks whose particles others count, and cells whose particles they see; each at most once in a list.
    std::vector<balance::Box> counted, outgoing;
    /// Cells of a block's halo that others fill, in the block's coordinates (beyond the grid for images).
    struct Incoming {
        std::size_t block;
        balance::Box box;
        md::Packed<D> shift;  ///< what to add to the packed positions that come
    };
    std::vector<Incoming> incoming;
    /// Cells of a block's halo that are cells of the zone, or images of them: box is what the block sees, `from` the
    /// cell of its lower corner.
    struct Image {
        std::size_t block;
        balance::Box box;
        std::array<int, 3> from;
        md::Packed<D> shift;
    };
    std::vector<Image> images;
};

/// Options of a pass over the particles of a zone.
struct ZonePassOptions {
    md::Kick kick = md::Kick::none;
    bool sums = false;         ///< also energies and momenta
    bool keep_forces = false;  ///< for forces()
    std::int64_t step = 0;     ///< its number, by which faces move
};
/// Result of a pass.
struct ZoneResult {
    md::StepResult step;
    md::PairSums pairs;  ///< with ZonePassOptions::sums
    double seconds = 0;  ///< that the accelerator was at work: timed by itself
};

/// Throws gpu::Error (an accelerator that fails, or memory that does not suffice) and md::SimulationError as md::Tile
/// does. Not copied.
template <int D>
class Zone {
public:
    virtual ~Zone() = default;

    // --- the blocks and their particles
    /// Changes the blocks and their border. Blocks are disjoint, and none is empty; there may be none. Particles that
    /// lie in a new block stay; the others are taken out and returned. Positions must lie in the box (as after sort()).
    virtual std::vector<md::Particle<D>> set_blocks(const std::vector<balance::Box>& blocks,
                                                    const BlockBorder<D>& border) = 0;
    /// Adds particles that lie in the blocks' cells.
    virtual void insert(std::span<const md::Particle<D>> particles) = 0;
    /// Takes out every particle that is no longer in the blocks' cells; positions as they are, perhaps beyond the box.
    virtual std::vector<md::Particle<D>> take_emigrants() = 0;
    virtual std::int64_t size() const = 0;                   ///< particles
    virtual std::int64_t size(std::size_t block) const = 0;  ///< in one block; after sort()

    // --- a rebuild
    /// Sorts the particles into cells and counts them. Throws md::SimulationError if one lies outside the blocks.
    virtual void sort() = 0;
    /// Particles in the cells of the counted boxes: box after box, in each column after column. Valid until the next
    /// sort().
    virtual std::span<const std::int32_t> border_counts() = 0;
    /// Lays out slots. counts: of the cells of the incoming boxes, in the same order. After it, outgoing() holds the
    /// positions of now and incoming() waits for those of the others.
    virtual void lay_slots(std::span<const std::int32_t> counts) = 0;
    /// Builds the neighbour lists for `radius` = cutoff + skin (lengths). After incoming() has been filled.
    virtual void build_neighbour_lists(double radius) = 0;

    // --- a step
    /// Current packed positions of the particles in the outgoing boxes, box after box, column after column, upwards.
    /// Valid until the next start() or rebuild.
    virtual std::span<const md::Packed<D>> outgoing() const = 0;
    /// Where the positions of the particles in the incoming boxes go, in the same order, before start(). They are the
    /// owner's: the zone adds the shift.
    virtual std::span<md::Packed<D>> incoming() = 0;
    /// Starts a pass over all particles (forces, kick, drift) and returns at once.
    virtual void start(const ZonePassOptions& pass) = 0;
    /// Waits, asleep, for the end of the pass. After a drift, outgoing() holds the positions after it.
    virtual ZoneResult finish() = 0;

    /// Changes all velocities, after finish(); returns the kinetic energy that this gives, 2^-kinetic_bits.
    virtual md::Int128 change_velocities(const md::VelocityChange<D>& change) = 0;

    // --- what is read from time to time
    /// All particles, block by block, in the order of cells.
    virtual std::vector<md::Particle<D>> particles() = 0;
    /// Force quanta along an axis of the last pass with keep_forces, in the order of particles().
    virtual std::vector<std::int64_t> forces(int axis) = 0;
    /// Particles in each cell of a block, column by column. After sort().
    virtual std::vector<std::int32_t> counts(std::size_t block) = 0;
    /// Directed pairs within the cutoff of each cell's particles, block by block, column by column. After
    /// build_neighbour_lists().
    virtual std::vector<std::int64_t> cell_neighbours() = 0;
    virtual std::int64_t bytes() const = 0;   ///< of the accelerator's memory
    virtual std::int64_t copied() const = 0;  ///< bytes between that memory and the processor's, so far

protected:
    Zone() = default;
    Zone(const Zone&) = delete;
    Zone& operator=(const Zone&) = delete;
};

/// Failure of an accelerator. what() names the failure and its place, `remedy` the user's way out.
struct Error : std::runtime_error {
    Error(const std::string& what, std::string what_helps) : std::runtime_error(what), remedy(std::move(what_helps)) {}
    std::string remedy;
};

/// Number of accelerators of this backend. The host backend has any number and returns 1. With CUDA it is the number of
/// visible devices, 0 without a driver or in a program built without CUDA.
int accelerator_count(Backend backend);
/// Whether this program was built with CUDA, and why no device can be used ("" if one can).
bool built_with_cuda();
std::string why_no_cuda();
/// For the log: "NVIDIA H100, 79 GiB"; of the host backend "2 threads of this processor, in the place of a device".
std::string accelerator_name(Backend backend, int accelerator, int threads);

/// An empty zone.
/// accelerator: number of the device (cuda).
/// threads: number of its own threads (host), which compute while the caller's threads go on.
/// shuffle: if not 0, the host backend takes blocks and threads of each launch in a random order with this seed. For
/// tests.
template <int D>
std::unique_ptr<Zone<D>> make_zone(Backend backend, int accelerator, int threads, const ZoneSetup& setup,
                                   std::uint64_t shuffle = 0);

}  // namespace gpu

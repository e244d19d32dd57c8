// SPDX-License-Identifier: MIT
// Derived quantities of a system before any particle exists: the fixed-point domain, the skin, the width of the halo,
// force limits.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "balance/model/work.hpp"
#include "balance/partition/decomposition.hpp"
#include "comm/clock.hpp"
#include "comm/exchange.hpp"
#include "comm/schedule.hpp"
#include "gpu/zone.hpp"
#include "md/domain.hpp"
#include "md/external.hpp"
#include "md/kernels/kernels.hpp"
#include "md/system.hpp"
#include "md/thermostat_spec.hpp"

namespace app {

/// The accelerators that a rank may give blocks of its cells to.
struct Accelerators {
    gpu::Backend backend = gpu::Backend::host;
    std::vector<int> devices;   ///< their numbers on this node; empty: none
    int threads = 1;            ///< of each, with Backend::host
    std::uint64_t shuffle = 0;  ///< see gpu::make_zone()
};

/// Told of a plan before it is carried out: what it is, and the parts that this rank sends by it. Called on all ranks.
using PlanObserver = std::function<void(std::string_view kind, std::span<const balance::Part> sent)>;

struct Setup {
    md::Domain domain;
    md::PotentialSpec potential;
    md::External external;
    md::Thermostat thermostat;
    std::uint64_t seed = 1;  ///< of the thermostat
    /// Whether a velocity may change at once by any amount, which no step before has announced (agreement.hpp).
    bool sudden() const { return thermostat.kind != md::ThermostatKind::none || external.any_motion(); }
    md::Precision precision = md::Precision::mixed;
    double skin = 0;         ///< by which the neighbour lists reach further than the cutoff, lengths
    bool tune_skin = false;  ///< to be changed by measurements (SkinSearch)
    double widest_skin = 0;  ///< the most that the cells and the halo allow
    double dt = 0;
    int reach = 1;  ///< Largest distance of neighbours in cells. A tile gets the particles of these cells as ghosts.
    /// Width in cells of the frame around a tile in which particles are counted. The tile's own particles may move into
    /// it between rebuilds.
    int halo = 1;
    md::ForceLimits limits;
    const md::Kernels* kernels = nullptr;
    bool time_tiles = false;                                ///< for balancing by the wall clock
    double (*thread_seconds)() = comm::thread_cpu_seconds;  ///< the clock for that, of the calling thread
    Accelerators accelerators;
    comm::Network network;  ///< how the ranks' messages go
    PlanObserver on_plan;   ///< may be empty
    comm::Overlap overlap = comm::Overlap::full;
    balance::WorkCosts work{};  ///< on a simulated cluster: what a pass takes there

    double radius() const { return potential.cutoff + skin; }
};

/// How an engine computes a system.
struct Method {
    double dt = 0;
    md::Precision precision = md::Precision::mixed;
    double cell = 0;             ///< smallest side of a cell, lengths; 0: the cutoff
    std::optional<double> skin;  ///< lengths; empty: guessed, then tuned
    bool modelled = false;       ///< load models look at the cells: ghosts are two cells wide
    bool time_tiles = false;     ///< as in Setup
    comm::Overlap overlap = comm::Overlap::full;
    balance::WorkCosts work{};
    std::string kernels;  ///< name of a kernel table; empty: the best
};

/// Cells, skin and box that do not go together; says what to change.
struct GeometryError : std::runtime_error {
    using std::runtime_error::runtime_error;
};
/// Throws GeometryError, and std::invalid_argument for kernels that are not here.
Setup make_setup(const md::System& system, const Method& method);

}  // namespace app

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
    int threads = 1;            ///< threads that stand in for each accelerator, with Backend::host
    std::uint64_t shuffle = 0;  ///< see gpu::make_zone()
};

/// A function that all ranks call before a plan is carried out. kind: name of the plan. sent: size and receiver of each
/// move that this rank sends.
using PlanObserver = std::function<void(std::string_view kind, std::span<const balance::Part> sent)>;

struct Setup {
    md::Domain domain;
    md::PotentialSpec potential;
    md::External external;
    md::Thermostat thermostat;
    std::uint64_t seed = 1;  ///< of the thermostat
    /// True if a thermostat or a moving face may change a velocity suddenly, by any amount (agreement.hpp).
    bool sudden() const { return thermostat.kind != md::ThermostatKind::none || external.any_motion(); }
    md::Precision precision = md::Precision::mixed;
    double skin = 0;         ///< Radius of the neighbour lists minus the cutoff, lengths.
    bool tune_skin = false;  ///< True if the run chooses the skin by measurements (SkinSearch).
    double widest_skin = 0;  ///< Largest skin that the cells and the halo allow, lengths.
    double dt = 0;
    /// Largest distance of neighbours, in cells. Particles up to this distance outside a tile are its ghosts.
    int reach = 1;
    /// Width in cells of the frame around a tile in which particles are counted. The tile's own particles may move into
    /// it between rebuilds.
    int halo = 1;
    md::ForceLimits limits;
    const md::Kernels* kernels = nullptr;
    bool time_tiles = false;                                ///< for balancing by the wall clock
    double (*thread_seconds)() = comm::thread_cpu_seconds;  ///< clock of the calling thread for these times
    Accelerators accelerators;
    comm::Network network;  ///< how messages between ranks are merged and ordered
    PlanObserver on_plan;   ///< may be empty
    comm::Overlap overlap = comm::Overlap::full;
    balance::WorkCosts work{};  ///< computing time of a pass on a simulated cluster

    double radius() const { return potential.cutoff + skin; }
};

/// Options of a pass over all particles, besides computing their forces.
struct PassOptions {
    md::Kick kick = md::Kick::none;
    bool sums = false;         ///< also add up energies and momenta at this whole step
    bool keep_forces = false;  ///< for force()
    std::int64_t step = 0;     ///< its number, by which faces move
};

/// How an engine computes a system.
struct Method {
    double dt = 0;
    md::Precision precision = md::Precision::mixed;
    double cell = 0;             ///< Smallest side of a cell, lengths; 0: the cutoff.
    std::optional<double> skin;  ///< Lengths; empty: guessed, then tuned.
    bool modelled = false;       ///< True: load models count particles two cells around, so the halo is as wide.
    bool time_tiles = false;     ///< As in Setup.
    comm::Overlap overlap = comm::Overlap::full;
    balance::WorkCosts work{};
    std::string kernels;  ///< name of a kernel table; empty: the best
};

/// The cells, the skin and the box are incompatible. The message says which key to change.
struct GeometryError : std::runtime_error {
    using std::runtime_error::runtime_error;
};
/// Throws GeometryError. Throws std::invalid_argument if this program has no kernels of that name.
Setup make_setup(const md::System& system, const Method& method);

}  // namespace app

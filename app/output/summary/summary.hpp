// SPDX-License-Identifier: MIT
// The end of a run: totals for summary.json, and the table on the terminal.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "app/balancing/load_balancer.hpp"
#include "app/common/timers.hpp"
#include "app/engine/engine.hpp"
#include "app/output/checkpoint/checkpoint.hpp"
#include "app/output/summary/run_context.hpp"
#include "balance/worth.hpp"
#include "comm/communicator.hpp"
#include "comm/simulation.hpp"
#include "md/observables.hpp"

namespace app {

/// Times of the balancings of the run's own model since the start of this run, on rank 0.
struct BalancingCost {
    std::int64_t balancings = 0, migrations = 0;
    double model_seconds = 0, partition_seconds = 0, migrate_seconds = 0;
    void add(const BalanceRow& row);
};

/// Sums from the start of a run to its end.
struct RunTotals {
    std::int64_t particles = 0;
    std::optional<double> first_energy;  ///< conserved energy of the first output step; empty if none was reached
    std::optional<md::Thermo> last;      ///< of the last output step of this start
    double largest_kinetic = 0;
    CheckpointCost checkpoints;
    BalancingCost balancing;
    /// Change of the conserved energy over the largest kinetic energy; empty if no output step was reached.
    std::optional<double> energy_drift() const;
};

/// Values over the ranks.
struct RankSpreads {
    std::vector<comm::Spread> phases;  ///< wall seconds, in the order of Phase, and of everything else
    comm::Spread peak_resident_bytes, particle_bytes, particles, balance_bytes, ownership_bytes;
    comm::Spread useful_seconds;                 ///< in which a rank computed: forces, neighbour lists
    comm::Spread messages, message_bytes;        ///< that a rank has sent: ghosts, particles that left their tiles
    comm::Spread covered_seconds, wait_seconds;  ///< while ghosts were on their way, with comm.overlap: full
    comm::Spread balancing_seconds;              ///< what the run took longer because of balancing itself
    /// Part of that time in which ranks computed; empty where none were on their way.
    std::optional<double> overlap_efficiency() const {
        const double all = covered_seconds.mean + wait_seconds.mean;
        return all > 0 ? std::optional(covered_seconds.mean / all) : std::nullopt;
    }
};
/// Collective. wall: seconds of the run, of which `balancing` would not have gone by without balancing.
RankSpreads spreads_of(const comm::Communicator& comm, const Timers& timers, const Engine& engine,
                       const LoadBalancer& balancer, double wall, double balancing);

/// Where the border of one rank stood in the end.
struct ZoneSummary {
    double share = 0, most_share = 0;  ///< of its load on its accelerators, and the most that they could have
    double speed = 0;                  ///< of its accelerators relative to its CPU, as measured; 0: not found
};
/// Summaries of all ranks' zones; empty without accelerators. Collective.
std::vector<ZoneSummary> zones_of(const LoadBalancer& balancer);

struct Summary {
    const RunContext& run;
    const Engine& engine;
    const LoadBalancer& balancer;
    const RunTotals& totals;
    int ranks = 1;
    std::int64_t step = 0;                     ///< the last one done
    double wall_seconds = 0, cpu_seconds = 0;  ///< of all ranks and threads, the latter
    std::uint64_t state_hash = 0;
    std::vector<ZoneSummary> zones;  ///< of each rank, where it has accelerators
    RankSpreads spreads;
    comm::SimulatedTraffic balancing_traffic{};  ///< on a simulated cluster: of all ranks, in balancing

    /// What a mean step took, of at least one; its communication is all that is neither computing nor balancing, output
    /// too.
    StepSeconds step_seconds() const;

    /// The worth of balancing; nothing if nothing was measured.
    std::optional<balance::WorthSummary> verdict() const;
    /// verdict() is of the whole run's time; else of the time that the processes computed: by counted work, and where
    /// ranks host several processes.
    bool verdict_of_run() const {
        return run.deck.balance.clock == balance::BalanceClock::wall && processes() == ranks;
    }
    /// Part of the run's time that ranks spent balancing and migrating.
    double balancing_cost() const;

    /// The times that net() compares.
    enum class NetOf {
        run,        ///< of this run, real or simulated
        processes,  ///< that the slowest virtual process computes: ranks host several, or the deck slows processes down
    };
    NetOf net_of() const;
    /// The time with balancing and without, on one base; nothing where nothing was measured, or nothing could change.
    std::optional<balance::NetSavings> net() const;

    std::int64_t processes() const { return engine.tiles().hosts().processes(); }
    /// Steps of this start.
    double steps() const { return static_cast<double>(step - run.first_step()); }
    double atom_steps() const { return static_cast<double>(totals.particles) * steps(); }
    /// The figure of merit: atom-steps per second of wall time; 0 without steps.
    double rate() const { return wall_seconds > 0 ? atom_steps() / wall_seconds : 0; }
};

/// "forces", ..., and "other" behind the last one.
std::string phase_name(std::size_t i);

/// The clock that times are measured by, for messages.
std::string clock_name(const Summary& summary);

/// Prints the lines on parallel efficiency, and on what balancing was worth.
void say_worth(const Summary& summary);

/// Prints the table.
void say_summary(const Summary& summary);

}  // namespace app

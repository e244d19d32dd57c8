// SPDX-License-Identifier: MIT
// The commands. All refusals come before the first file is written.
#include "app/run/run.hpp"

#include <fmt/format.h>
#include <omp.h>

#include <cstdlib>
#include <filesystem>

#include "app/common/heap.hpp"
#include "app/common/signals.hpp"
#include "app/common/threads.hpp"
#include "app/common/words.hpp"
#include "app/deck/checks.hpp"
#include "app/deck/deck.hpp"
#include "app/deck/setup.hpp"
#include "app/deck/wording.hpp"
#include "app/output/checkpoint/restart.hpp"
#include "app/output/output.hpp"
#include "app/output/results.hpp"
#include "app/output/series/message_trace.hpp"
#include "app/output/summary/run_context.hpp"
#include "app/run/plain_engine.hpp"
#include "app/run/start.hpp"
#include "app/run/step.hpp"
#include "comm/machine/topology.hpp"
#include "comm/simulation.hpp"
#include "md/initial.hpp"

namespace app {
namespace {

// The kernels that the environment asks for, or the best.
Setup make_checked_setup(const Deck& deck) {
    const char* isa = std::getenv("STEELYARD_ISA");
    try {
        return make_setup(deck, isa ? isa : "");
    } catch (const std::invalid_argument& e) {
        throw UsageError("STEELYARD_ISA: {}, or unset it", e.what());
    }
}

// Threads that stand in for accelerators need cores of their own.
int default_threads(const comm::Topology& topology, const Accelerators& accelerators) {
    const bool host = accelerators.backend == gpu::Backend::host;
    const int taken = host ? static_cast<int>(accelerators.devices.size()) * accelerators.threads : 0;
    return std::max(1, topology.default_threads - taken);
}

constexpr int stopped_early = 75;  // EX_TEMPFAIL: try again, with --restart

std::int64_t process_count(const Deck& deck, const balance::Grid& grid, int ranks) {
    const std::int64_t processes = deck.balance.processes.value_or(ranks);
    if (processes < ranks)
        throw DeckError("balance.processes: {} cannot fill {}; use at least one per rank",
                        counted(processes, "process"), counted(ranks, "rank"));
    if (processes > grid.box().cells())
        throw DeckError("balance.processes: {} for {}; use fewer ranks or processes", counted(processes, "process"),
                        counted(grid.box().cells(), "cell"));
    if (deck.accelerator.backend != AcceleratorBackend::none) {
        const std::size_t speeds = deck.accelerator.speed.size();
        if (speeds > 1 && speeds != static_cast<std::size_t>(ranks))
            throw DeckError("accelerator.speed: {} values for {}; give one, or one of each rank", speeds,
                            counted(ranks, "rank"));
        if (processes > ranks && deck.balance.clock == balance::BalanceClock::wall)
            throw DeckError(
                "balance.processes: {} on {} with accelerators: what an accelerator takes cannot be measured for each "
                "process; write balance.clock: work, or use one process per rank",
                counted(processes, "process"), counted(ranks, "rank"));
        if (processes == ranks && !deck.balance.compare.empty())
            throw DeckError(
                "balance.compare: the accelerators' blocks are those of the driver, and other models would be timed "
                "without any; remove it, or use more processes than ranks");
    }
    if (deck.balance.every > 0) check_partitions(deck.balance, grid, processes);
    check_formats(deck.output, grid);
    return processes;
}

void note_intervals(const Deck& deck, std::vector<std::string>& notes) {
    const Deck::Balance& b = deck.balance;
    if (deck.run.steps == 0 || b.every == 0) return;
    if (b.every > deck.run.steps)
        notes.push_back(fmt::format("balance.every is {}, beyond run.steps = {}: nothing is balanced after the start",
                                    b.every, deck.run.steps));
    else if (b.active.from_step > 0 || b.active.to_step) {
        std::int64_t first = std::max(b.every, b.active.from_step);
        if (b.clock == balance::BalanceClock::work) first += (b.every - first % b.every) % b.every;
        notes.emplace_back(first <= deck.run.steps && balance::is_active(b.active, first)
                               ? "balance.from_step, to_step: the summary's figures on balancing stand for these steps "
                                 "alone"
                               : "balance.from_step, to_step: no step between them is one to balance at, so nothing is "
                                 "balanced after the start");
    }
}

// Results of a run may reach beyond its last checkpoint.
void note_repeated_steps(const Deck& deck, std::int64_t from, std::int64_t reached, bool automatic,
                         std::vector<std::string>& notes) {
    const std::int64_t to = std::min(reached, deck.run.steps);
    if (to <= from) return;
    const std::string steps =
        to - from > 1 ? fmt::format("steps {} to {} are", from + 1, to) : fmt::format("step {} is", to);
    notes.push_back(fmt::format("results reach step {}: {} computed again", reached, steps));
    if (automatic && deck.checkpoint.every == 0)
        notes.back() += "; with checkpoint.every, a run also writes a checkpoint at its last step";
}

void note_thermostat(const md::Thermostat& t, std::vector<std::string>& notes) {
    if (t.kind == md::ThermostatKind::none) return;
    notes.push_back(fmt::format(
        "the thermostat acts every {} from step {} {}: there the run cannot be retraced with reversed velocities{}",
        counted(t.every, "step"), t.from, t.to ? fmt::format("up to {}", *t.to) : "on",
        t.kind == md::ThermostatKind::langevin ? ", and momentum is not kept" : ""));
}

// The usual way, which is slow where a thread waits for one that has no core.
bool threads_wait_actively() {
    const char* policy = std::getenv("OMP_WAIT_POLICY");
    return !policy || (policy[0] != 'p' && policy[0] != 'P');
}

// With --force a trace replaces an existing file. An input of the run must not be replaced.
void refuse_inputs(const Options& options) {
    std::error_code error;
    for (const std::string& input : {options.deck, options.restart, options.prediction})
        if (std::filesystem::equivalent(options.trace, input, error))
            throw UsageError("--trace-messages: {} is read by this run; choose another name", printable(options.trace));
}

// The machine of a run.
struct RunPlace {
    comm::Topology topology;
    Setup setup;
    bool own_units;  // each thread has a core of its own
};

RunPlace place_of(const Deck& deck, const comm::Communicator& comm) {
    const comm::Topology topology = comm::detect(comm);
    Setup setup = agreed(comm, [&] {  // nodes may differ in instruction sets and accelerators
        Setup s = make_checked_setup(deck);
        add_accelerators(s, deck, comm.node_rank(), comm.node_size());
        return s;
    });
    setup.network = network_of(deck.comm, comm);
    agreed(comm, [&] { use_threads(default_threads(topology, setup.accelerators)); });
    const bool own_units = comm::unit_for_each_thread(topology, omp_get_max_threads(), comm);
    // CPU time of a thread does not show other programs on its core, but wall time does. Wall time is used if the
    // threads of the run do not share cores.
    const ThreadTimer timer = deck.balance.timer;
    if (timer == ThreadTimer::wall || (timer == ThreadTimer::automatic && own_units)) setup.thread_seconds = comm::now;
    return {topology, std::move(setup), own_units};
}

// A deck can go on from this checkpoint, or all ranks throw.
void require_continuable(const Deck& deck, const CheckpointInfo& restart, const comm::Communicator& comm) {
    agreed(comm, [&] { require_same_system(deck, restart); });
    refuse_unless<InputError>(comm, restart.step <= deck.run.steps,
                              "{}: is of step {}, beyond run.steps = {}; give more steps", restart.path, restart.step,
                              deck.run.steps);
}

void note_sharing(const comm::Topology& topology, const comm::Communicator& comm, std::vector<std::string>& notes) {
    if (topology.sharing > topology.cores_available && !comm::simulated)
        notes.push_back(
            fmt::format("{} share {}: they take turns, which is slow and makes times mean little; use at most {}",
                        counted(topology.sharing, "rank"), counted(topology.cores_available, "core"),
                        counted(topology.cores_available, "rank")));
    if (const int threads = comm.node_size() * omp_get_max_threads(); threads > topology.cpu_quota)
        notes.push_back(
            fmt::format("{} of {} on a node have a CPU quota of {:.3g}: they are stopped for a part of the time, which "
                        "is slow and makes times mean little; use fewer ranks, or set OMP_NUM_THREADS lower",
                        counted(threads, "thread"), counted(comm.node_size(), "rank"), topology.cpu_quota));
}

// From the first step of this run to its last, or to where a signal or a limit of time stops it.
ExitStatus simulate(RunContext& context, const Setup& setup, RunDirectory& directory, std::int64_t processes,
                    const comm::Communicator& comm) {
    const Deck& deck = context.deck;
    Timers timers;
    LoadBalancer balancer(deck, setup.domain.grid(), processes, comm, timers,
                          {static_cast<int>(setup.accelerators.devices.size()), setup.halo});
    give_arrays_their_own_pages(balancer.on() || !setup.accelerators.devices.empty());
    if (context.restart)
        for (std::string& note : load_balance(*context.restart, balancer, comm))
            context.notes.push_back(std::move(note));
    const balance::TileShape tile = tile_shape(deck, setup.domain, comm.sum_of(omp_get_max_threads()));
    std::optional owners = balancer.decomposition(tile);
    const std::unique_ptr<Engine> made = make_engine(setup, *owners, comm, timers);
    Engine& engine = *made;
    if (context.restart) load_particles(*context.restart, engine, *owners, comm);
    else fill_at_start(deck, engine, *owners, comm);
    owners.reset();  // it knows the boxes of all processes, which a run does not need

    // Files are written from the first result on: a run that fails before leaves the directory as it was.
    Output output(directory, context, setup.domain, comm, timers, balancer);
    output.header(engine);
    const std::int64_t reached = run_steps(engine, balancer, context.first_step(), deck.run.steps, output);
    output.finish(reached, engine);
    // A signal may have reached some ranks only.
    const std::int64_t signal = comm.max_of(signal_seen());
    if (reached == deck.run.steps) return {0};
    if (comm.rank() == 0)
        say(stderr, "steelyard: stopped early at step {} of {}, with a checkpoint; go on with --restart auto\n",
            reached, deck.run.steps);
    return {stopped_early, signal != 0};
}

}  // namespace

ExitStatus run(const Options& options, const comm::Communicator& comm) {
    const Deck deck = read_deck(options, comm);
    RunPlace place = place_of(deck, comm);
    Setup& setup = place.setup;
    const std::int64_t processes = agreed(comm, [&] { return process_count(deck, setup.domain.grid(), comm.size()); });
    const OldResults old = old_results(options);

    std::optional<CheckpointInfo> restart;
    const bool automatic = options.restart == "auto";
    if (!automatic && !options.restart.empty()) restart = read_checkpoint(options.restart, comm);
    std::vector<std::string> notes;
    if (options.restart.empty()) notes = check_start(deck, setup, comm);  // before there is a directory
    agreed(comm, [&] { require_memory(deck, setup, comm); });
    RunDirectory directory(output_path(options, deck, comm), result_kinds(), comm);
    if (automatic) restart = directory.newest_checkpoint(old);
    if (restart) require_continuable(deck, *restart, comm);
    else directory.require_room(old, options.deck);
    if (restart && restart->step == deck.run.steps && !options.force && directory.finished(*restart)) {
        if (comm.rank() == 0 && !options.quiet)
            say(stdout, "{}: the run has reached its last step, {}; there is nothing to do\n", directory.path(),
                restart->step);
        return {};
    }

    if (automatic && !restart) notes = check_start(deck, setup, comm);
    const OldResults kept = automatic && restart ? OldResults::refuse : old;
    if (restart && kept == OldResults::refuse)
        note_repeated_steps(deck, restart->step, directory.last_step(*restart), automatic, notes);
    note_intervals(deck, notes);
    note_sharing(place.topology, comm, notes);
    std::optional<MessageTrace> trace;
    if (!options.trace.empty()) {
        on_rank_0(comm, [&] { refuse_inputs(options); });
        trace.emplace(options.trace, old, result_kinds(), setup.network.nodes, restart ? restart->step : 0, comm);
        setup.on_plan = [&trace](std::string_view kind, auto sent) { trace->add(kind, sent); };
    }
    const bool waits_actively = omp_get_max_threads() > 1 && !place.own_units && threads_wait_actively();
    RunContext context{.deck = deck,
                       .deck_path = options.deck,
                       .restart = restart,
                       .old = kept,
                       .threads_share_cores = waits_actively,
                       .notes = std::move(notes),
                       .topology = place.topology,
                       .start_seconds = comm::now(),
                       .start_cpu_seconds = comm::cpu_seconds(),
                       .quiet = options.quiet,
                       .command_line = options.command_line,
                       .trace = trace ? &*trace : nullptr,
                       .prediction = std::nullopt};
    if (!options.prediction.empty())
        context.prediction = read_prediction(options.prediction, comm.size(), context.particles(), comm);
    return simulate(context, setup, directory, processes, comm);
}

int check(const Options& options, const comm::Communicator& comm) {
    const Deck deck = read_deck(options, comm);
    const Setup setup = agreed(comm, [&] { return make_setup(deck, ""); });
    const balance::Grid grid = setup.domain.grid();
    const int ranks = options.ranks > 0 ? static_cast<int>(options.ranks) : comm.size();
    const std::int64_t processes = agreed(comm, [&] { return process_count(deck, grid, ranks); });
    const std::int64_t particles = md::particle_count(deck.system);
    std::vector<std::string> notes = check_start(deck, setup, comm);
    note_intervals(deck, notes);
    note_thermostat(deck.system.thermostat, notes);
    if (comm.rank() != 0) return 0;
    const balance::TileShape tile = tile_shape(deck, setup.domain, ranks);
    const Memory memory = memory_of(deck, setup, tile, ranks);
    say(stdout, "{}", to_yaml(deck));
    say(stdout, "{}",
        lines_of({counted(particles, "particle"), along_axes(grid.cells, grid.dimensions) + " cells",
                  fmt::format("{} on {}", counted(processes, "process"), counted(ranks, "rank")),
                  fmt::format("skin {:.4g}", setup.skin),
                  fmt::format("about {:.1f} MB per rank for particles", memory.particles * 1e-6),
                  fmt::format("{:.0f} MB with cells and the program",
                              (memory.particles + memory.cells) * 1e-6 + program_megabytes)},
                 ",", "# "));
    for (const std::string& note : notes) say(stdout, "{}", wrapped(note, "# "));
    return 0;
}

}  // namespace app

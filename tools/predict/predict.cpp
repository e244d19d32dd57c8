// SPDX-License-Identifier: MIT
// Everything that predicts is a pure function of the library predict; what is here measures, reads and writes. Rank 0
// predicts, the others only help to measure.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>

#include "app/common/heap.hpp"
#include "app/common/threads.hpp"
#include "app/common/words.hpp"
#include "app/deck/machine_file.hpp"
#include "app/deck/setup.hpp"
#include "app/deck/wording.hpp"
#include "app/output/directory/run_directory.hpp"
#include "app/output/results.hpp"
#include "app/run/start.hpp"
#include "comm/machine/topology.hpp"
#include "tools/commands.hpp"
#include "tools/predict/activity.hpp"
#include "tools/predict/forecast.hpp"
#include "tools/predict/forecaster.hpp"
#include "tools/predict/link_times.hpp"
#include "tools/predict/placement.hpp"
#include "tools/predict/report.hpp"
#include "tools/predict/sample.hpp"

namespace app {
namespace {

// Particles times steps that are run to see how loads change: a second or so.
constexpr double most_particle_steps = 1e7;
constexpr std::int64_t many_ranks = 1024;       // searches for a number of ranks stop there
constexpr std::int64_t most_asked = 1'000'000;  // ranks

// The default: powers of two, as long as each rank has 16 cells.
std::vector<std::int64_t> usual_counts(std::int64_t cells, std::int64_t most) {
    std::vector<std::int64_t> counts{1};
    for (std::int64_t p = 2; p <= std::min<std::int64_t>(256, most) && p * 16 <= cells; p *= 2) counts.push_back(p);
    return counts;
}

// "1,2, 4" as ascending numbers, each once.
std::vector<std::int64_t> process_list(const std::string& text) {
    std::vector<std::int64_t> counts;
    for (const std::string& word : parts_of(text, ',')) {
        const std::int64_t n = number_in<std::int64_t>(word).value_or(0);
        if (n < 1 || n > most_asked)
            throw UsageError(
                "command line: --processes: '{}' is no list of whole numbers from 1 to 1000000; write it as in 1,2,4,8",
                text);
        counts.push_back(n);
    }
    std::ranges::sort(counts);
    counts.erase(std::unique(counts.begin(), counts.end()), counts.end());
    return counts;
}

std::vector<std::int64_t> counts_of(const Options& options, const balance::Grid& grid, std::int64_t most) {
    if (options.processes.empty()) return usual_counts(grid.box().cells(), most);
    const std::vector<std::int64_t> counts = process_list(options.processes);
    if (counts.back() > most)
        throw UsageError("command line: --processes: {} cells hold at most {}, not {}; use fewer",
                         along_axes(grid.cells, grid.dimensions), counted(most, "process"), counts.back());
    return counts;
}

// Measures this machine. field: of this rank's sample. Collective.
void calibrate(Sample& sample, const comm::Communicator& comm, PredictReport& report) {
    const MeasuredCosts mine = agreed(comm, [&] { return sample.measure(); });
    report.fitted = mine.fitted;
    const comm::Topology topology = comm::detect(comm);
    report.machine.name = topology.cpu_model;
    report.cores = topology.cores_available;
    report.calibrated = true;
    // All ranks measure at the same time, as they would compute; the mean of their speeds counts.
    const std::vector<comm::Spread> steps = comm.spread(std::vector<double>{mine.step_seconds});
    const double to_mean = steps[0].mean / mine.step_seconds;
    const balance::Unknowns& s = mine.seconds;
    report.machine.compute = {s[0] * to_mean, s[1] * to_mean, s[2] * to_mean, s[3] * to_mean};
    report.machine.steps_per_rebuild = mine.steps_per_rebuild;
    const auto [low, high] = std::minmax_element(mine.batches.begin(), mine.batches.end());
    report.machine.compute_uncertainty =
        std::min(1.0, (std::max(*high, steps[0].max) - std::min(*low, steps[0].min)) / (2 * steps[0].mean));
    report.messages_how = measure_messages(report.machine, comm);
}

// Other work on the machine may have hidden the cost of pairs.
void note_doubtful(const PredictReport& report, const std::string& machine_file) {
    if (!report.assumed.empty())
        say_note(
            "{}: it has no costs of {}; those of some processor are assumed, and nobody knows how far "
            "they are off: take them from the machine.yaml of a prediction that has measured them",
            printable(machine_file), fmt::join(report.assumed, " and "));
    if (!report.calibrated) return;
    const predict::ComputeCosts& c = report.machine.compute;
    std::vector<std::string> unknown;
    for (const auto& [cost, name] : {std::pair{c.candidate, "candidates"}, {c.pair, "pairs"}})
        if (cost == 0) unknown.emplace_back(name);
    constexpr double doubtful = 0.3;
    const double scatter = std::max(report.machine.compute_uncertainty, report.machine.message_uncertainty);
    if (unknown.empty() && scatter < doubtful) return;
    say_note(
        "the measured times of this machine scatter by {:.0f} %{}; predict again when nothing else "
        "runs",
        100 * scatter,
        unknown.empty() ? ""
                        : fmt::format(", and {} seem to cost nothing, which the costs of particles stand for",
                                      fmt::join(unknown, " and ")));
}

// The forecasts for a scaled system take loads as even within each cell of the deck.
void note_coarse(const PredictReport& report, std::int64_t deck_cells) {
    constexpr std::int64_t least = 30;  // cells a rank
    const auto coarse = std::ranges::find_if(report.forecasts, [&](const predict::Forecast& f) {
        return report.options.length > 1 && f.ranks > 1 && least * f.ranks > deck_cells;
    });
    if (coarse == report.forecasts.end()) return;
    say_note(
        "from {} on a rank has fewer than {} of the deck's {}; loads count as even inside each of "
        "them, so imbalance by anything smaller is not known: predict from a larger deck with a smaller --scale",
        counted(coarse->ranks, "rank"), least, counted(deck_cells, "cell"));
}

// Forecasts for all that is asked for, ascending. Rank 0 alone.
void forecast_all(const Options& options, const Deck& deck,
                  const std::function<predict::Forecast(std::int64_t ranks)>& forecaster, std::int64_t most,
                  const std::vector<std::int64_t>& counts, Activity& activity, PredictReport& report) {
    const auto make = [&](std::int64_t ranks) {
        activity.begin("predicts for " + counted(ranks, "rank"));
        return forecaster(ranks);
    };
    report.most_ranks = most;
    report.most_tried = std::min(most, std::max(many_ranks, counts.back()));
    predict::Forecasts forecasts(make, report.most_tried);
    forecasts.of(1);  // to compare with
    for (const std::int64_t n : counts) forecasts.of(n);
    if (report.calibrated) forecasts.of(std::min<std::int64_t>(report.cores, most));
    if (options.efficiency > 0) report.answer = forecasts.most_with_efficiency(options.efficiency);
    if (options.seconds > 0)
        report.answer = forecasts.fewest_within(options.seconds / static_cast<double>(deck.run.steps)).value_or(0);
    for (const auto& [ranks, f] : forecasts.all()) report.forecasts.push_back(f);
}

// The number of particles or cells after all lengths have grown by the factor `length`. count: their number in the
// deck.
std::int64_t scaled(std::int64_t count, const char* what, double length, int dimensions,
                    const comm::Communicator& comm) {
    constexpr double most = 1e18;
    const double all = static_cast<double>(count) * predict::grown(length, dimensions);
    refuse_unless<UsageError>(comm, all <= most,
                              "command line: --scale: {:g} makes {:.3g} {} of {}, more than {:g}; use a smaller scale",
                              length, all, what, count, most);
    return std::llround(all);
}

// The report before anything is measured.
PredictReport begun(const Options& options, const Deck& deck, const comm::Communicator& comm) {
    PredictReport report{.deck = deck, .options = options};
    report.nodes = deck.machine;
    if (!options.machine.empty()) {
        const MachineFile file = read_machine(options.machine, comm);
        report.machine = file.costs;
        report.messages_how = file.has_messages ? "as in the machine file" : "assumed";
        // Nobody knows how far off assumed costs are.
        if (!file.has_compute) report.machine.compute_uncertainty = 1;
        if (!file.has_messages) report.machine.message_uncertainty = 1;
        if (!file.has_compute) report.assumed.emplace_back("computing");
        if (!file.has_messages) report.assumed.emplace_back("messages");
    }
    if (comm.rank() != 0) return report;
    if (deck.accelerator.backend != AcceleratorBackend::none)
        say_note("accelerator.backend does not count in predictions; accelerator_speed in a machine file does");
    if (deck.balance.active.from_step > 0 || deck.balance.active.to_step)
        say_note("balance.from_step and to_step do not count in predictions, which balance all the time");
    if (deck.balance.chooses)
        say_note("balance.auto does not count in predictions, which use the model {} and the partition {}",
                 deck.balance.model, deck.balance.partition.kind);
    return report;
}

// Measures this machine, unless the options name one, and makes the deck's first steps. Collective.
SampledCourse sampled_course(const Options& options, const Deck& deck, Activity& activity,
                             const comm::Communicator& comm, PredictReport& report) {
    // Each rank runs an engine of its own, for as many steps as its clock gives it. An error may occur on some ranks
    // only, or at another step on each. So the ranks agree on errors after each part.
    const comm::Communicator alone = comm.split(comm.rank());
    if (options.machine.empty()) {
        activity.begin("measures this machine");
        const auto measured = agreed(comm, [&] { return std::make_unique<Sample>(deck, alone); });
        calibrate(*measured, comm, report);
    }
    activity.begin("makes the deck's first steps");
    const auto sample = agreed(comm, [&] { return std::make_unique<Sample>(deck, alone); });
    SampledCourse sampled = agreed(comm, [&] {
        return sample->course(most_particle_steps, report.machine.deck_costs ? Count::work : Count::things,
                              options.length);
    });
    report.steps_per_rebuild = agreed(comm, [&] {
        return report.machine.steps_per_rebuild > 0 ? report.machine.steps_per_rebuild
               : sampled.steps_per_rebuild > 0      ? sampled.steps_per_rebuild
                                                    : sample->steps_per_rebuild();
    });
    return sampled;
}

}  // namespace

int predict(const Options& options, const comm::Communicator& comm) {
    const Deck deck = read_deck(options, comm);
    refuse_unless<DeckError>(comm, deck.load.kind == LoadKind::slabs || deck.load.kind == LoadKind::checkpoint,
                             "load.kind: a prediction needs particles; write slabs or checkpoint");
    const int usual = comm::detect(comm).default_threads;
    agreed(comm, [&] { use_threads(usual); });
    PredictReport report = begun(options, deck, comm);
    const Setup setup = agreed(comm, [&] { return make_setup(deck, ""); });
    if (deck.load.kind == LoadKind::slabs) check_start(deck, setup, comm);
    const balance::Grid grid = setup.domain.grid();
    const int parts = predict::parts_of_cells(grid, options.length, most_asked, deck.balance.partition.min_width);
    const balance::Grid finest = predict::cut_cells(grid, parts);
    std::int64_t most = most_ranks(deck, finest);
    std::vector<std::int64_t> counts = agreed(comm, [&] {
        if (options.seconds > 0 && deck.run.steps == 0)
            throw UsageError("command line: --time: the deck makes no steps; give it some with --set run.steps=...");
        return counts_of(options, finest, most);
    });
    if (const auto on_nodes = most_ranks_on(report.nodes, report.machine, deck.comm.ranks_per_node)) {
        if (options.processes.empty()) std::erase_if(counts, [&](std::int64_t n) { return n > *on_nodes; });
        most = std::min(most, *on_nodes);
    }
    RunDirectory directory(output_path(options, deck, comm), result_kinds(), comm);
    directory.require_room(old_results(options), options.deck);

    Activity activity(comm.rank() == 0 && !options.quiet ? stderr : nullptr);
    const SampledCourse sampled = sampled_course(options, deck, activity, comm, report);
    for (const balance::CellCounts& c : sampled.fields.front().cells) report.particles += c.n;
    report.particles = scaled(report.particles, "particles", options.length, grid.dimensions, comm);
    report.cells = scaled(grid.box().cells(), "cells", options.length, grid.dimensions, comm);
    report.sampled_steps = sampled.fields.back().step;
    on_rank_0(comm, [&] {
        keep_arrays_on_the_heap();
        const auto forecaster = make_forecaster(deck, setup.domain, report.nodes, report.machine, sampled,
                                                report.steps_per_rebuild, options.length);
        forecast_all(options, deck, forecaster, most, counts, activity, report);
        if (!options.quiet) note_doubtful(report, options.machine), note_coarse(report, grid.box().cells());
    });
    directory.prepare(std::nullopt, old_results(options), deck, options.deck);
    on_rank_0(comm, [&] {
        directory.write("deck.yaml", to_yaml(deck));
        directory.write("machine.yaml", to_yaml(MachineFile{report.nodes, report.machine}));
        directory.write("predict.json", to_json(report));
        directory.write("extrap.jsonl", extrap_lines(report));
    });
    if (comm.rank() == 0 && !options.quiet) say_prediction(report, directory.path());
    return 0;
}

}  // namespace app

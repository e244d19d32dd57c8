// SPDX-License-Identifier: MIT
// Everything that predicts is a pure function of the library predict; what is here measures, reads and writes. Rank 0
// predicts, the others only help to measure.
#include "app/predict/predict.hpp"

#include <fmt/format.h>
#include <omp.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <memory>

#include "app/common/say.hpp"
#include "app/common/words.hpp"
#include "app/deck/machine_file.hpp"
#include "app/output/run_directory.hpp"
#include "app/predict/balancing_cost.hpp"
#include "app/predict/data_parallel_file.hpp"
#include "app/predict/link_times.hpp"
#include "app/predict/placement.hpp"
#include "app/predict/report.hpp"
#include "app/predict/sample.hpp"
#include "app/run/network.hpp"
#include "app/run/start.hpp"
#include "balance/partition/bisection.hpp"
#include "balance/partition/chain.hpp"
#include "comm/file/posix_file.hpp"
#include "comm/machine/topology.hpp"
#include "predict/forecast.hpp"

namespace app {
namespace {

// Ranks that a grid can have, by default.
std::vector<std::int64_t> usual_counts(const balance::Grid& grid) {
    std::vector<std::int64_t> counts;
    for (std::int64_t p = 1; p <= 256 && p * 16 <= grid.box().cells(); p *= 2) counts.push_back(p);
    return counts;
}

std::vector<std::int64_t> checked_counts(const Options& options, const Deck& deck, const balance::Grid& grid) {
    std::vector<std::int64_t> counts = options.processes.empty() ? usual_counts(grid) : process_list(options.processes);
    const std::int64_t most = deck.balance.every > 0 && balance::kind_of(deck.balance.partition).follows_loads
                                  ? balance::capacity(grid.box(), deck.balance.partition.min_width)
                                  : grid.box().cells();
    if (counts.back() > most)
        throw UsageError(fmt::format("command line: --processes: {} x {} cells hold at most {}, not {}; use fewer",
                                     grid.cells[0], grid.cells[1], counted(most, "process"), counts.back()));
    return counts;
}

// Measures this machine. field: of this rank's sample. Collective.
void calibrate(Sample& sample, const comm::Communicator& comm, PredictReport& report) {
    const MeasuredCosts mine = agreed(comm, [&] { return sample.measure(); });
    report.fitted = mine.fitted;
    report.machine.name = comm::detect(comm).cpu_model;
    report.calibrated = true;
    // All ranks measure at the same time, as they would compute; the mean of their speeds counts.
    const std::vector<comm::Spread> steps = comm.spread(std::vector<double>{mine.step_seconds});
    const double to_mean = steps[0].mean / mine.step_seconds;
    const predict::FitRow& s = mine.seconds;
    report.machine.compute = {s[0] * to_mean, s[1] * to_mean, s[2] * to_mean, s[3] * to_mean};
    report.machine.steps_per_rebuild = mine.steps_per_rebuild;
    const auto [low, high] = std::minmax_element(mine.batches.begin(), mine.batches.end());
    report.machine.compute_uncertainty =
        std::min(1.0, (std::max(*high, steps[0].max) - std::min(*low, steps[0].min)) / (2 * steps[0].mean));
    report.messages_how = measure_messages(report.machine, comm);
}

predict::CellField loads_of(const CountedField& counted, const PredictReport& report) {
    predict::CellField field{counted.grid, counted.work, counted.particles, counted.halo};
    field.length = report.length;
    const predict::ComputeCosts& c = report.machine.compute;
    const std::array<double, 4> costs{c.cell, c.particle, c.candidate, c.pair};
    for (std::size_t i = 0; i < field.load.size(); ++i) {
        double seconds = 0;
        for (std::size_t k = 0; k < costs.size(); ++k) seconds += counted.counts[i][k] * costs[k];
        if (!report.machine.deck_costs) field.load[i] = balance::to_ticks(seconds);
        if (report.machine.accelerator_speed > 0)
            field.load[i] =
                static_cast<std::int64_t>(static_cast<double>(field.load[i]) / (1 + report.machine.accelerator_speed));
    }
    return field;
}

balance::Partition partition_for(const Deck& deck, const predict::CellField& field, std::int64_t ranks,
                                 std::span<const std::int64_t> targets) {
    if (deck.balance.every == 0 || !balance::kind_of(deck.balance.partition).follows_loads)
        return balance::one_box_each(balance::even_partition(field.grid, ranks));
    balance::PartitionOptions options = deck.balance.partition;
    options.processes = ranks;
    const double particles = field.length * field.length;  // that one of the field stands for
    if (options.max_size > 0)
        options.max_size =
            std::max<std::int64_t>(1, static_cast<std::int64_t>(static_cast<double>(options.max_size) / particles));
    std::vector<balance::Split> memory;
    const balance::SerialTeam team;
    try {
        return balance::make_partition({team, field.grid, field.load, field.items, targets}, options, memory);
    } catch (const balance::Infeasible& e) {
        throw DeckError(fmt::format(
            "balance.partition.max_particles_per_process: no cut keeps {} within {}; the smallest limit that works is "
            "{}; use it, or predict for more",
            counted(ranks, "process"), counted(deck.balance.partition.max_size, "particle"),
            std::llround(std::ceil(static_cast<double>(e.smallest) * particles))));
    }
}

predict::Forecast forecast_for(const Deck& deck, const predict::CellField& field, const md::Domain& domain,
                               const PredictReport& report, std::int64_t ranks) {
    const predict::Machine& machine = report.machine;
    const Placement placement = placement_of(report.nodes, machine, deck.comm.ranks_per_node, ranks);
    const std::vector<std::int64_t> targets =
        deck.balance.speeds == balance::SpeedSource::off ? std::vector<std::int64_t>() : placement.targets();
    const balance::Decomposition owners(field.grid, partition_for(deck, field, ranks, targets),
                                        {ranks, static_cast<int>(ranks)},
                                        tile_shape(deck, domain, ranks * omp_get_max_threads()));
    predict::Conditions conditions;
    conditions.nodes = comm::NodeMap(placement.node, static_cast<int>(machine.nodes_per_switch));
    conditions.machine = machine;
    conditions.overlap = deck.comm.overlap;
    conditions.steps_per_rebuild = report.steps_per_rebuild;
    conditions.rebalancing_seconds = rebalancing_seconds(
        deck.balance, ranks, static_cast<double>(field.grid.box().cells()) * report.length * report.length,
        static_cast<double>(report.particles), machine);
    const comm::Schedule schedule = schedule_of(
        deck.comm, [&](std::size_t most) { return std::min(most, static_cast<std::size_t>(machine.eager_bytes)); });
    predict::RankSteps steps = rank_steps(field, owners, conditions.nodes, schedule);
    placement.slow_down(steps.steps);
    return forecast(steps, conditions);
}

void write(const RunDirectory& directory, const std::vector<std::pair<std::string, std::string>>& files,
           const comm::Communicator& comm) {
    on_rank_0(comm, [&] {
        for (const auto& [name, text] : files)
            if (!comm::replace_file(directory.path() + "/" + name, text))
                throw OutputError(
                    fmt::format("{}: cannot write {}; check that the directory is writable and not full, "
                                "or choose another with --out",
                                directory.path(), name));
    });
}

int predict_deck(const Options& options, const comm::Communicator& comm) {
    const Deck deck = read_deck(options, comm);
    comm::require(comm, deck.load.kind == LoadKind::slabs || deck.load.kind == LoadKind::checkpoint,
                  [] { return DeckError("load.kind: a prediction needs particles; write slabs or checkpoint"); });
    if (!std::getenv("OMP_NUM_THREADS")) omp_set_num_threads(comm::detect(comm).default_threads);
    PredictReport report;
    report.deck = deck.name;
    report.length = options.length;
    report.overlap = deck.comm.overlap;
    if (!options.machine.empty()) {
        const MachineFile file = read_machine(options.machine, comm);
        report.machine = file.costs;
        report.nodes = file.nodes;
        report.messages_how = "as in the machine file";
    }
    if (deck.accelerator.backend != AcceleratorBackend::none && comm.rank() == 0)
        say(stderr,
            "steelyard: note: accelerator.backend does not count in predictions; accelerator_speed in a machine file "
            "does\n");
    const Setup setup = agreed(comm, [&] { return make_setup(deck, ""); });
    if (deck.load.kind == LoadKind::slabs) agreed(comm, [&] { return check_start(deck, setup); });
    const balance::Grid grid = setup.domain.grid();
    std::vector<std::int64_t> counts = agreed(comm, [&] { return checked_counts(options, deck, grid); });
    if (const auto most = most_ranks_on(report.nodes, report.machine, deck.comm.ranks_per_node);
        most && options.processes.empty())
        std::erase_if(counts, [&](std::int64_t n) { return n > *most; });
    RunDirectory directory(output_path(options, deck, comm), comm);
    directory.require_room(old_results(options), options.deck);

    // Each rank runs an engine of its own, for as many steps as its clock gives it. What goes wrong there goes wrong on
    // some ranks, or at another step on each: they find out together after each part.
    const comm::Communicator alone = comm.split(comm.rank());
    const auto own = agreed(comm, [&] { return std::make_unique<Sample>(deck, alone); });
    Sample& sample = *own;
    const CountedField counted = agreed(comm, [&] { return sample.count(); });
    if (options.machine.empty()) calibrate(sample, comm, report);
    report.steps_per_rebuild = agreed(comm, [&] {
        return report.machine.steps_per_rebuild > 0 ? report.machine.steps_per_rebuild : sample.steps_per_rebuild();
    });
    const double area = options.length * options.length;
    for (const std::int64_t n : counted.particles) report.particles += n;
    report.particles = std::llround(static_cast<double>(report.particles) * area);
    report.cells = std::llround(static_cast<double>(grid.box().cells()) * area);
    on_rank_0(comm, [&] {
        const predict::CellField field = loads_of(counted, report);
        Deck unlimited = deck;  // one rank is there to compare with
        unlimited.balance.partition.max_size = 0;
        if (counts.front() != 1) report.forecasts.push_back(forecast_for(unlimited, field, setup.domain, report, 1));
        for (const std::int64_t n : counts)
            report.forecasts.push_back(forecast_for(deck, field, setup.domain, report, n));
    });
    std::vector<std::pair<std::string, std::string>> files;
    if (comm.rank() == 0)
        files = {{"deck.yaml", to_yaml(deck)},
                 {"machine.yaml", to_yaml(MachineFile{report.nodes, report.machine})},
                 {"predict.json", to_json(report)},
                 {"extrap.jsonl", extrap_lines(report)}};
    directory.prepare(std::nullopt, old_results(options), deck, options.deck);
    write(directory, files, comm);
    if (comm.rank() == 0 && !options.quiet) say_prediction(report, directory.path());
    return 0;
}

}  // namespace

std::vector<std::int64_t> process_list(const std::string& text) {
    std::vector<std::int64_t> counts;
    for (std::size_t at = 0; at <= text.size();) {
        const std::size_t end = std::min(text.find(',', at), text.size());
        std::int64_t n = 0;
        const auto [rest, error] = std::from_chars(text.data() + at, text.data() + end, n);
        if (error != std::errc() || rest != text.data() + end || n < 1 || n > 1'000'000)
            throw UsageError(
                fmt::format("command line: --processes: '{}' is no list of whole numbers from 1 to "
                            "1000000; write it as in 1,2,4,8",
                            text));
        counts.push_back(n);
        at = end + 1;
    }
    std::sort(counts.begin(), counts.end());
    counts.erase(std::unique(counts.begin(), counts.end()), counts.end());
    return counts;
}

int predict(const Options& options, const comm::Communicator& comm) {
    if (const auto program = read_data_parallel(options, comm)) return predict_data_parallel(*program, options, comm);
    return predict_deck(options, comm);
}

}  // namespace app

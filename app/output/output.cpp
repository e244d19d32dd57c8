// SPDX-License-Identifier: MIT
// Decides when what is due, and hands it to the files. Every failure to write ends the run on all ranks alike.
#include "app/output/output.hpp"

#include <algorithm>
#include <cstdio>
#include <utility>

#include "app/common/signals.hpp"
#include "app/output/checkpoint/checkpoint.hpp"
#include "app/output/formats/balance_formats.hpp"
#include "app/output/series/overview.hpp"
#include "app/output/series/series.hpp"
#include "app/output/series/tables.hpp"
#include "app/output/summary/summary_json.hpp"
#include "comm/clock.hpp"

namespace app {
namespace {

bool multiple(std::int64_t step, std::int64_t every) { return every > 0 && step % every == 0; }

bool finds_speeds(const Deck& deck) {  // as LoadBalancer::finds_speeds()
    return deck.balance.every > 0 && deck.balance.speeds == balance::SpeedSource::measured &&
           balance::kind_of(deck.balance.partition).follows_loads;
}

}  // namespace

// The files that are open from the first result on.
struct Output::Files {
    Files(RunDirectory& results, const RunContext& run, const md::Domain& domain, const LoadBalancer& balancer);

    // Brings the tables to the disk: a restart from the checkpoint that comes next goes on with them. On rank 0.
    void sync() const;

    struct Running {
        std::int64_t every = 0;
        std::unique_ptr<Series> series;
    };
    Table<ThermoRow> thermo;
    Table<TimingRow> timing;
    std::optional<Table<BalanceRow>> balance;
    std::optional<Table<ResourceRow>> resources;
    std::optional<Table<ZoneRow>> zones;
    std::optional<Overview> overview;
    std::optional<BalanceFormats> formats;
    std::vector<Running> series;
    double wall_before = 0, cpu_before = 0;  // of the run that is continued; on rank 0
};

namespace {

// The past of a table with one row each output.every steps.
GrowingFile::Past steady_past(const RunDirectory& results, const RunContext& run) {
    GrowingFile::Past past{run.first_step(), run.restart.has_value(), {.one_row_a_step = true}};
    if (run.restart && !run.restart->lineage.empty() && results.has_written_checkpoint()) {
        past.rules.begin = run.restart->lineage.back().step;  // earlier starts may have had another interval
        past.rules.every = run.restart->deck.output.every;
    }
    return past;
}

}  // namespace

Output::Files::Files(RunDirectory& results, const RunContext& run, const md::Domain& domain,
                     const LoadBalancer& balancer)
    : thermo(results, "thermo.csv", thermo_columns(run.deck.system), steady_past(results, run)),
      timing(results, "timing.csv", timing_columns(), steady_past(results, run)) {
    // A file of an earlier start has to lose its later rows also where this one writes none.
    const auto wanted = [&](std::string_view name, bool on) {
        return on || (results.continued() && results.has(std::string(name)));
    };
    const auto past = [&](auto writes) {  // a balancing comes before the checkpoint of its step
        return GrowingFile::Past{run.first_step() + 1, run.restart && writes(run.restart->deck), {}};
    };
    const auto balances = [](const Deck& deck) { return deck.balance.every > 0; };
    const auto accelerates = [](const Deck& deck) { return deck.accelerator.backend != AcceleratorBackend::none; };
    if (wanted("balance.csv", balances(run.deck)))
        balance.emplace(results, "balance.csv", balance_columns(), past(balances));
    if (wanted("resources.csv", finds_speeds(run.deck)))
        resources.emplace(results, "resources.csv", resource_columns(), past(finds_speeds));
    if (wanted("zones.csv", accelerates(run.deck)))
        zones.emplace(results, "zones.csv", zone_columns(), past(accelerates));
    const auto context = [&](bool expected) {
        return SeriesContext{
            results, run.deck, domain, run.particles(), run.first_step(), expected, balancer.looks_ahead()};
    };
    if (run.deck.output.map_frames > 0 || wanted("map.csv", false) || wanted("ranks.csv", false))
        overview.emplace(context(false), run.restart ? run.restart->deck.output.map_frames : 0, run.start_seconds);
    formats.emplace(results,
                    run.deck.balance.every > 0 ? run.deck.output.balance_formats : std::vector<BalanceFormat>(),
                    domain.grid(), balancer.hosts().processes(), run.first_step());
    std::sscanf(timing.last_past_row().c_str(), "%*d,%lf,%lf", &wall_before, &cpu_before);
    for (const SeriesKind& kind : series_kinds()) {
        const std::string name(kind.name);
        const std::int64_t every = run.deck.output.interval(name);
        const bool there = std::ranges::any_of(kind.files, [&](std::string_view file) { return wanted(file, false); });
        const bool expected = run.restart && run.restart->deck.output.interval(name) > 0;
        if (every > 0 || there) series.push_back({every, kind.start(context(expected))});
    }
}

void Output::Files::sync() const {
    thermo.sync(), timing.sync();
    if (balance) balance->sync();
    if (resources) resources->sync();
    if (zones) zones->sync();
    if (overview) overview->sync();
}

Output::Output(RunDirectory& directory, const RunContext& run, const md::Domain& domain, const comm::Communicator& comm,
               Timers& timers, const LoadBalancer& balancer)
    : results_(directory),
      run_(run),
      domain_(domain),
      comm_(comm),
      timers_(timers),
      balancer_(balancer),
      progress_(run_, directory.path(), comm),
      clock_{0, 0, run.deck.run.dt} {
    totals_.particles = run.particles();
    if (const std::optional<CheckpointInfo>& restart = run_.restart) {
        totals_.first_energy = restart->energy_first;
        totals_.largest_kinetic = restart->largest_kinetic;
        clock_ = restart->clock;
        if (clock_.dt != run_.deck.run.dt) clock_ = {restart->step, clock_.at(restart->step), run_.deck.run.dt};
    }
}

Output::~Output() = default;

Output::Files& Output::files() {
    if (files_) return *files_;
    results_.prepare(run_.restart, run_.old, run_.deck, run_.deck_path);
    if (run_.trace) run_.trace->open();
    on_rank_0(comm_, [&] { results_.write("deck.yaml", to_yaml(run_.deck), results_.continued()); });
    files_ = std::make_unique<Files>(results_, run_, domain_, balancer_);
    return *files_;
}

Due Output::due(std::int64_t step) const {
    const std::int64_t last = run_.deck.run.steps, every = run_.deck.checkpoint.every, first = run_.first_step();
    Due due;
    due.sums = multiple(step, run_.deck.output.every) || step == 0 || step == last;
    for (const SeriesKind& kind : series_kinds())
        if (multiple(step, run_.deck.output.interval(std::string(kind.name))) && (step > first || step == 0)) {
            const Needs needs = kind.needs(run_.deck);
            due.series = true;
            due.cells |= needs.cells;
            due.forces |= needs.forces;
        }
    const bool at_end = step == last && (step > first || !run_.restart);
    due.checkpoint = every > 0 && ((multiple(step, every) && step > first) || at_end);
    return due;
}

void Output::rebuilt(const Stage& stage, const Engine& engine) {
    const double balancing = timers_.seconds(Phase::balancing);
    stages_.add(stage.step, stage.rebuilt, stage.due, stage.balancing, stage.seconds,
                balancing - std::exchange(balancing_before_, balancing));
    if (!stage.rebuilt || run_.deck.output.map_frames == 0) return;
    const Timed timed(timers_, Phase::output);
    files().overview->write(stage.step, engine, balancer_, timers_);
}

// CPU time of all ranks and threads since this start of the run.
double Output::cpu_seconds() const {
    const auto mine = static_cast<md::Int128>((comm::cpu_seconds() - run_.start_cpu_seconds) * 1e9);
    return static_cast<double>(comm_.wide_sum_of(mine)) * 1e-9;
}

void Output::sums(std::int64_t step, const Engine& engine) {
    const Timed timed(timers_, Phase::output);
    const md::SystemSums sums = engine.sums();
    const md::Thermo now = md::thermo(sums, engine.setup().domain);
    const double cpu = cpu_seconds();
    if (!totals_.first_energy) totals_.first_energy = now.conserved();
    totals_.last = now;
    totals_.particles = sums.particles;
    totals_.largest_kinetic = std::max(totals_.largest_kinetic, now.kinetic);
    Files& f = files();
    const ThermoRow row{step, clock_.at(step), sums.particles, now};
    on_rank_0(comm_, [&] {
        const double wall = comm::now() - run_.start_seconds;
        f.thermo.append(std::array{row});
        f.timing.append(std::array{TimingRow{step, f.wall_before + wall, f.cpu_before + cpu}});
    });
    progress_.line(row);
}

void Output::series(std::int64_t step, Engine& engine) {
    const Timed timed(timers_, Phase::output);
    Files& f = files();
    on_rank_0(comm_, [&] { results_.require_ours(); });
    for (const Files::Running& r : f.series)
        if (multiple(step, r.every)) r.series->write({step, clock_.at(step), engine, balancer_});
}

void Output::checkpoint(std::int64_t step, const Engine& engine) {
    const Timed timed(timers_, Phase::output);
    Files& f = files();
    on_rank_0(comm_, [&] { results_.require_ours(); });
    for (const Files::Running& r : f.series) r.series->flush();
    if (f.overview) f.overview->write_ranks(balancer_.team());
    on_rank_0(comm_, [&] { f.sync(); });
    CheckpointInfo info;
    info.step = step;
    info.energy_first = totals_.first_energy.value_or(0);
    info.largest_kinetic = totals_.largest_kinetic;
    info.clock = clock_;
    info.given = engine.given();
    info.lineage = results_.lineage();
    info.deck = run_.deck;
    totals_.checkpoints += write_checkpoint(results_.path(), info, engine, balancer_, comm_, results_.checkpoints());
}

void Output::balanced(const std::vector<BalanceRow>& rows, const std::vector<ResourceRow>& resources) {
    if (rows.empty()) return;
    const Timed timed(timers_, Phase::output);
    const double begin = comm::now();
    for (const BalanceRow& r : rows)
        if (r.driver) totals_.balancing.add(r);
    files().balance->add(rows);
    if (files().resources && !resources.empty())  // each rank hosts a process: all have rows, or none has
        add_resources(*files().resources, resources, balancer_.hosts().processes(), balancer_.team());
    row_seconds_ += comm::now() - begin;
}

void Output::balanced_cells(const BalancedCells& before) {
    const Timed timed(timers_, Phase::output);
    files().formats->write(before);
}

void Output::border(const std::vector<ZoneRow>& rows) {
    const Timed timed(timers_, Phase::output);
    files().zones->add(rows);
}

std::int64_t Output::stop_wanted() const {
    if (const int signal = signal_seen()) return signal;
    constexpr std::int64_t time_is_up = 1000;
    const std::optional<double>& limit = run_.deck.checkpoint.time_limit_seconds;
    return limit && comm::now() - run_.start_seconds > *limit ? time_is_up : 0;
}

void Output::finish(std::int64_t step, const Engine& engine) {
    files().formats->finish();
    if (files().overview) {
        const Timed timed(timers_, Phase::output);
        files().overview->write_ranks(balancer_.team());
    }
    const double wall = comm::now() - run_.start_seconds;
    const double cpu = cpu_seconds();
    if (!due(step).sums)  // stopped early: a restart goes on counting from here
        on_rank_0(comm_, [&] {
            files().timing.append(std::array{TimingRow{step, files().wall_before + wall, files().cpu_before + cpu}});
        });
    const double for_balancing = stages_.extra_seconds(step - run_.first_step()) + row_seconds_;
    const Summary summary{.run = run_,
                          .engine = engine,
                          .balancer = balancer_,
                          .totals = totals_,
                          .ranks = comm_.size(),
                          .step = step,
                          .wall_seconds = wall,
                          .cpu_seconds = cpu,
                          .state_hash = engine.state_hash(),
                          .zones = zones_of(balancer_),
                          .spreads = spreads_of(comm_, timers_, engine, balancer_, wall, for_balancing),
                          .balancing_traffic = timers_.traffic(Phase::balancing)};
    on_rank_0(comm_, [&] {
        results_.require_ours();
        results_.write("summary.json", to_json(summary), true);
        results_.forget_summary_before();
    });
    if (!progress_.quiet()) say_summary(summary);
}

}  // namespace app

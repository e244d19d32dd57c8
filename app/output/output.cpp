// SPDX-License-Identifier: MIT
// The observer of a run: decides when what is due, and writes the text files on rank 0. Every failure to write ends the
// run on all ranks alike.
#include "app/output/output.hpp"

#include <fmt/format.h>
#include <omp.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <sstream>

#include "app/common/build_info.hpp"
#include "app/common/say.hpp"
#include "app/common/signals.hpp"
#include "app/common/words.hpp"
#include "app/deck/compare.hpp"
#include "app/output/json_text.hpp"
#include "app/output/snapshot.hpp"
#include "app/output/summary.hpp"
#include "comm/clock.hpp"
#include "comm/file/durable.hpp"
#include "comm/simulation.hpp"

namespace app {
namespace {

std::string duration(double seconds) {
    const auto s = static_cast<long long>(seconds + 0.5);
    return s < 60     ? fmt::format("{:.1f} s", seconds)
           : s < 3600 ? fmt::format("{}:{:02} min", s / 60, s % 60)
                      : fmt::format("{}:{:02}:{:02} h", s / 3600, s / 60 % 60, s % 60);
}

bool multiple(std::int64_t step, std::int64_t every) { return every > 0 && step % every == 0; }

// The rows of a CSV file below `step`, head included; what a killed run left of an unfinished last line is dropped.
std::string rows_before(const std::string& path, const std::string& head, std::int64_t step) {
    std::istringstream file(comm::read_text(path));
    std::string kept = head, line;
    std::getline(file, line);
    if (line + "\n" != head) return kept;
    while (std::getline(file, line)) {
        if (file.eof() || std::count(line.begin(), line.end(), ',') != std::count(head.begin(), head.end(), ',')) break;
        if (std::atoll(line.c_str()) >= step) break;
        kept += line + "\n";
    }
    return kept;
}

const std::string thermo_head =
    "step,time,particles,kinetic,potential,total,momentum_x,momentum_y,temperature,pressure\n";
const std::string timing_head = "step,wall_seconds,cpu_seconds\n";
const std::string balance_head =
    "step,model,driver,lbe,lbe_model,mean_seconds,max_seconds,model_seconds,partition_seconds,migrate_seconds,"
    "cells_moved,particles_moved,ghost_cells,lbe_observed,decision,lost_seconds,move_seconds,lbe_reachable,load_step\n";
const std::string resource_head = "step,resource,speed,load,seconds\n";
const std::string zone_head =
    "step,rank,share,cpu_load,cpu_seconds,accelerator_seconds,decision,next_share,most_share,speed\n";

}  // namespace

Output::Output(RunDirectory& directory, const RunContext& run, const md::Domain& domain, const comm::Communicator& comm,
               Timers& timers, const LoadBalancer& balancer)
    : results_(directory),
      directory_(directory.path()),
      run_(run),
      deck_(run.deck),
      comm_(comm),
      timers_(timers),
      balancer_(balancer),
      quiet_(run.quiet || comm.rank() != 0),
      terminal_(isatty(STDOUT_FILENO)),
      fields_(directory_, comm),
      trajectory_(directory_, run.deck, run.restart ? run.restart->particles : particle_count(run.deck), domain, comm),
      clock_{0, 0, run.deck.run.dt} {
    if (const std::optional<CheckpointInfo>& restart = run_.restart) {
        first_step_ = restart->step;
        energy_first_ = restart->energy_first;
        largest_kinetic_ = restart->largest_kinetic;
        clock_ = restart->clock;
        if (clock_.dt != deck_.run.dt) clock_ = {first_step_, clock_.at(first_step_), deck_.run.dt};
    }
    bool good = true;
    if (comm_.rank() == 0) {
        const auto path = [&](const char* name) { return directory_ + "/" + name; };
        const auto past = [&](const char* name, const std::string& head, std::int64_t step) {
            return results_.continued() ? rows_before(path(name), head, step) : head;
        };
        const std::string timing = past("timing.csv", timing_head, first_step_);
        good = comm::replace_file(path("deck.yaml"), to_yaml(deck_)) &&
               thermo_.start(path("thermo.csv"), past("thermo.csv", thermo_head, first_step_)) &&
               timing_.start(path("timing.csv"), timing);
        // A balancing comes before the checkpoint of its step.
        if (deck_.balance.every > 0 || comm::file_size(path("balance.csv")) >= 0)
            good = good && balance_.start(path("balance.csv"), past("balance.csv", balance_head, first_step_ + 1));
        if (balancer.finds_speeds() || comm::file_size(path("resources.csv")) >= 0)
            good =
                good && resource_.start(path("resources.csv"), past("resources.csv", resource_head, first_step_ + 1));
        if (balancer.zones().on() || comm::file_size(path("zones.csv")) >= 0)
            good = good && zone_.start(path("zones.csv"), past("zones.csv", zone_head, first_step_ + 1));
        if (timing != timing_head) {
            const std::size_t last = timing.rfind('\n', timing.size() - 2) + 1;
            std::sscanf(timing.c_str() + last, "%*d,%lf,%lf", &wall_before_, &cpu_before_);
        }
    }
    check(good, "files");
    if (results_.continued()) {
        fields_.go_on(first_step_);
        trajectory_.go_on(first_step_, [&] { results_.put_aside("trajectory.h5"); });
    }
}

void Output::check(bool good, const std::string& file) const {
    comm::require(comm_, good, [&] {
        return OutputError(fmt::format(
            "{}: cannot write {}; check that the directory is writable and not full, or choose another with --out",
            directory_, file));
    });
}

Due Output::due(std::int64_t step) const {
    const Deck::Output& o = deck_.output;
    const std::int64_t last = deck_.run.steps, every = deck_.checkpoint.every;
    const bool first = step == first_step_;  // what the run that is continued has written, stays
    Due due;
    due.sums = multiple(step, o.every) || step == 0 || step == last;
    due.fields = multiple(step, o.fields_every) && (!first || step == 0);
    due.state = multiple(step, o.trajectory_every) && (!first || step == 0);
    due.forces = due.state && std::find(o.trajectory_columns.begin(), o.trajectory_columns.end(), Column::force) !=
                                  o.trajectory_columns.end();
    due.checkpoint = every > 0 && step > first_step_ && (multiple(step, every) || step == last);
    return due;
}

void Output::sums(std::int64_t step, const Engine& engine) {
    const Timed timed(timers_, Phase::output);
    const md::SystemSums totals = engine.sums();
    const md::Thermo t = md::thermo(totals, engine.setup().domain);
    std::vector<md::Int128> cpu{static_cast<md::Int128>((comm::cpu_seconds() - run_.start_cpu_seconds) * 1e9)};
    comm_.sum(cpu);
    if (!energy_first_) energy_first_ = t.total();
    last_ = t;
    particles_ = totals.particles;
    largest_kinetic_ = std::max(largest_kinetic_, t.kinetic);
    bool good = true;
    if (comm_.rank() == 0) {
        good = thermo_.append(fmt::format("{},{},{},{},{},{},{},{},{},{}\n", step, clock_.at(step), totals.particles,
                                          t.kinetic, t.potential, t.total(), t.momentum[0], t.momentum[1],
                                          t.temperature, t.pressure)) &&
               timing_.append(fmt::format("{},{:.6f},{:.6f}\n", step, wall_before_ + comm::now() - run_.start_seconds,
                                          cpu_before_ + static_cast<double>(cpu[0]) * 1e-9));
        progress(step, t);
    }
    check(good, "thermo.csv");
}

void Output::progress(std::int64_t step, const md::Thermo& t) {
    const double now = comm::now(), elapsed = now - run_.start_seconds;
    const bool last = step == deck_.run.steps;
    const std::int64_t done = step - first_step_;
    if (quiet_ || (!last && done > 0 && now - last_progress_ < (terminal_ ? 0.2 : 5.0))) return;
    last_progress_ = now;
    const double rate = elapsed > 0 ? static_cast<double>(done) / elapsed : 0;
    std::vector<std::string> parts{fmt::format("step {}/{}", step, deck_.run.steps)};
    if (done > 0 && !last) parts.push_back("ETA " + duration(static_cast<double>(deck_.run.steps - step) / rate));
    for (const std::string& part : {fmt::format("{:.2f} M atom-steps/s", rate * static_cast<double>(particles_) * 1e-6),
                                    fmt::format("total {:.7g}", t.total()), fmt::format("T {:.4g}", t.temperature),
                                    fmt::format("p {:.4g}", t.pressure)})
        parts.push_back(part);
    say(stdout, "{}{}{}", terminal_ ? "\r\033[K" : "", one_line_of(parts), terminal_ && !last ? "" : "\n");
    std::fflush(stdout);
}

void Output::fields(std::int64_t step, const Engine& engine) {
    const Timed timed(timers_, Phase::output);
    fields_.write(cell_fields(step, clock_.at(step), engine, balancer_));
}

void Output::state(std::int64_t step, const Engine& engine) {
    const Timed timed(timers_, Phase::output);
    trajectory_.write(step, clock_.at(step), engine);
}

void Output::checkpoint(std::int64_t step, const Engine& engine) {
    const Timed timed(timers_, Phase::output);
    trajectory_.flush();  // a restart goes on with it
    CheckpointInfo info;
    info.step = step;
    info.energy_first = energy_first_.value_or(0);
    info.largest_kinetic = largest_kinetic_;
    info.clock = clock_;
    info.lineage = results_.lineage();
    info.deck = deck_;
    const CheckpointCost cost = write_checkpoint(directory_, info, engine, balancer_, comm_, results_.checkpoints());
    checkpoints_.count += cost.count;
    checkpoints_.bytes += cost.bytes;
    checkpoints_.write_seconds += cost.write_seconds;
    checkpoints_.verify_seconds += cost.verify_seconds;
    checkpoints_.remove_seconds += cost.remove_seconds;
}

void Output::balanced(const std::vector<BalanceRow>& rows, const std::vector<ResourceRow>& resources) {
    if (rows.empty()) return;
    const Timed timed(timers_, Phase::output);
    for (const BalanceRow& r : rows)
        if (r.driver) {
            ++balancing_.balancings;
            balancing_.migrations += r.decision == balance::Decision::moved;
            balancing_.model_seconds += r.model_seconds;
            balancing_.partition_seconds += r.partition_seconds;
            balancing_.migrate_seconds += r.migrate_seconds;
        }
    std::string text;
    for (const BalanceRow& r : rows)
        text += fmt::format("{},{},{},{},{},{},{},{:.6f},{:.6f},{:.6f},{},{},{},{},{},{},{},{},{}\n", r.step, r.model,
                            r.driver ? 1 : 0, r.lbe, r.lbe_model, r.mean_seconds, r.max_seconds, r.model_seconds,
                            r.partition_seconds, r.migrate_seconds, r.moved.cells, r.moved.particles, r.ghost_cells,
                            r.lbe_observed, balance::word_of(r.decision), r.lost_seconds, r.move_seconds,
                            r.lbe_reachable, r.load_step);
    check(comm_.rank() != 0 || balance_.append(text), "balance.csv");
    if (resources.empty()) return;
    text.clear();
    for (const ResourceRow& r : resources)
        text += fmt::format("{},{},{:.6g},{:.6g},{:.6g}\n", r.step, r.resource, r.speed, r.load, r.seconds);
    check(comm_.rank() != 0 || resource_.append(text), "resources.csv");
}

void Output::border(const std::vector<ZoneRow>& rows) {
    const Timed timed(timers_, Phase::output);
    std::string text;
    for (const ZoneRow& r : rows)
        text += fmt::format("{},{},{:.6g},{:.4f},{:.6g},{:.6g},{},{:.6g},{:.6g},{:.6g}\n", r.step, r.rank, r.share,
                            r.cpu_load, r.cpu_seconds, r.accelerator_seconds, balance::word_of(r.decision),
                            r.next_share, r.most_share, r.speed);
    check(text.empty() || zone_.append(text), "zones.csv");
}

std::int64_t Output::stop_wanted() const {
    if (const int signal = signal_seen()) return signal;
    constexpr std::int64_t time_is_up = 1000;
    return deck_.checkpoint.time_limit_seconds &&
                   comm::now() - run_.start_seconds > *deck_.checkpoint.time_limit_seconds
               ? time_is_up
               : 0;
}

void Output::header(const Engine& engine, std::int64_t particles) {
    particles_ = particles;
    std::array<std::int64_t, 1> tile_count{static_cast<std::int64_t>(engine.tiles().size())};
    comm_.sum(std::span<std::int64_t>(tile_count));
    if (quiet_) return;
    const Setup& s = engine.setup();
    const balance::Grid grid = s.domain.grid();
    say(stdout, "steelyard {}: {}\n", STEELYARD_VERSION, deck_.name);
    const auto shape = engine.tiles().shape();
    say(stdout, "{}",
        lines_of({counted(particles, "particle"),
                  fmt::format("box {:.6g} x {:.6g}", s.domain.axis[0].real_length(), s.domain.axis[1].real_length()),
                  fmt::format("{} x {} cells", grid.cells[0], grid.cells[1]),
                  counted(engine.tiles().hosts().processes(), "process"),
                  fmt::format("{} of about {} x {} cells", counted(tile_count[0], "tile"), shape[0], shape[1])}));
    say(stdout, "{}",
        lines_of({fmt::format("{} precision", balance::word_of(s.precision)), fmt::format("{} kernels", s.kernels->isa),
                  fmt::format("cutoff {:.4g}", s.potential.cutoff),
                  fmt::format("skin {:.4g}{}", s.skin, deck_.grid.skin ? "" : " (auto, to be tuned)"),
                  fmt::format("dt {:.4g}", deck_.run.dt)}));
    say(stdout, "{}",
        lines_of({fmt::format("{} x {}", counted(comm_.size(), "rank"), counted(omp_get_max_threads(), "thread")),
                  run_.topology.binding, "output in " + directory_}));
    if (run_.threads_share_cores)
        say(stdout,
            "  more threads than cores, and they wait actively, which is slow:\n"
            "  set OMP_NUM_THREADS lower, or OMP_WAIT_POLICY=passive\n");
    if (comm::simulated)
        say(stdout, "  all times are simulated: summary.json says of what cluster, and what is assumed\n");
    const Accelerators& a = s.accelerators;
    for (std::size_t d = 0; d < a.devices.size(); ++d)
        say(stdout, "  accelerator of rank 0: {}\n", gpu::accelerator_name(a.backend, a.devices[d], a.threads));
    say_what_changes();
    for (const std::string& note : run_.notes) say(stdout, "{}", wrapped(note));
    std::fflush(stdout);
}

void Output::say_what_changes() const {
    if (!run_.restart) return;
    say(stdout, "  goes on from {}, step {}\n", run_.restart->path, run_.restart->step);
    for (const DeckChange& c : changes(run_.restart->deck, deck_))
        say(stdout, "    {}: {} instead of {}\n", c.key, c.now.empty() ? "nothing" : c.now,
            c.before.empty() ? "nothing" : c.before);
}

void Output::finish(std::int64_t step, const Engine& engine) {
    const double wall = comm::now() - run_.start_seconds;
    std::vector<md::Int128> cpu{static_cast<md::Int128>((comm::cpu_seconds() - run_.start_cpu_seconds) * 1e9)};
    comm_.sum(cpu);
    Summary summary{.deck = deck_,
                    .engine = engine,
                    .balancer = balancer_,
                    .topology = run_.topology,
                    .command_line = run_.command_line,
                    .ranks = comm_.size(),
                    .particles = particles_,
                    .step = step,
                    .first_step = first_step_,
                    .wall_seconds = wall,
                    .cpu_seconds = static_cast<double>(cpu[0]) * 1e-9,
                    .state_hash = engine.state_hash(),
                    .energy_first = energy_first_,
                    .energy_last = std::nullopt,
                    .energy_drift = std::nullopt,
                    .checkpoints = checkpoints_,
                    .balancing = balancing_,
                    .zones = zones_of(balancer_),
                    .spreads = spreads_of(comm_, timers_, engine, balancer_, wall),
                    .balancing_traffic = timers_.traffic(Phase::balancing),
                    .prediction = run_.prediction};
    if (last_) {  // else the run has stopped before its first output step
        summary.energy_last = last_->total();
        const double change = last_->total() - energy_first_.value_or(last_->total());
        summary.energy_drift = largest_kinetic_ > 0 ? change / largest_kinetic_ : 0.0;
    }
    check(comm_.rank() != 0 || comm::replace_file(directory_ + "/summary.json", to_json(summary)), "summary.json");
    if (!quiet_) say_summary(summary);
}

}  // namespace app

// SPDX-License-Identifier: MIT
#include "app/output/output.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <omp.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <nlohmann/json.hpp>
#include <sstream>

#include "app/common/build_info.hpp"
#include "app/common/say.hpp"
#include "app/common/signals.hpp"
#include "app/common/words.hpp"
#include "app/deck/compare.hpp"
#include "app/output/snapshot.hpp"
#include "comm/clock.hpp"
#include "comm/file/durable.hpp"

namespace app {
namespace {

double peak_resident_bytes() {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return static_cast<double>(usage.ru_maxrss) * 1024;
}

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
    if (!comm_.all_agree(good))
        throw OutputError(fmt::format(
            "{}: cannot write {}; check that the directory is writable and not full, or choose another with --out",
            directory_, file));
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
    fields_.write(step, clock_.at(step), engine, balancer_);
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

void Output::balanced(const std::vector<BalanceRow>& rows) {
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
                            r.lbe_observed, balance::text_of(r.decision), r.lost_seconds, r.move_seconds,
                            r.lbe_reachable, r.load_step);
    check(comm_.rank() != 0 || balance_.append(text), "balance.csv");
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
    const auto shape = engine.decomposition().tile();
    say(stdout, "{}",
        lines_of({counted(particles, "particle"),
                  fmt::format("box {:.6g} x {:.6g}", s.domain.axis[0].real_length(), s.domain.axis[1].real_length()),
                  fmt::format("{} x {} cells", grid.cells[0], grid.cells[1]),
                  counted(engine.decomposition().processes(), "process"),
                  fmt::format("{} of about {} x {} cells", counted(tile_count[0], "tile"), shape[0], shape[1])}));
    say(stdout, "{}",
        lines_of({fmt::format("{} precision", s.precision == md::Precision::mixed ? "mixed" : "double"),
                  fmt::format("{} kernels", s.kernels->isa), fmt::format("cutoff {:.4g}", s.potential.cutoff),
                  fmt::format("skin {:.4g}{}", s.skin, deck_.grid.skin ? "" : " (auto, to be tuned)"),
                  fmt::format("dt {:.4g}", deck_.run.dt)}));
    say(stdout, "{}",
        lines_of({fmt::format("{} x {}", counted(comm_.size(), "rank"), counted(omp_get_max_threads(), "thread")),
                  run_.topology.binding, "output in " + directory_}));
    say_what_changes();
    std::fflush(stdout);
}

void Output::say_what_changes() const {
    if (!run_.restart) return;
    say(stdout, "  goes on from {}, step {}\n", run_.restart->path, run_.restart->step);
    for (const DeckChange& c : changes(run_.restart->deck, deck_))
        say(stdout, "    {}: {} instead of {}\n", c.key, c.now.empty() ? "nothing" : c.now,
            c.before.empty() ? "nothing" : c.before);
    for (const std::string& note : run_.notes) say(stdout, "    {}\n", note);
}

void Output::finish(std::int64_t step, const Engine& engine) {
    const double wall = comm::now() - run_.start_seconds;
    std::vector<md::Int128> cpu{static_cast<md::Int128>((comm::cpu_seconds() - run_.start_cpu_seconds) * 1e9)};
    comm_.sum(cpu);
    const std::uint64_t hash = engine.state_hash();
    std::vector<double> mine(timers_.all().begin(), timers_.all().end());
    double known = 0;
    for (double s : mine) known += s;
    mine.push_back(wall - known);
    mine.push_back(peak_resident_bytes());
    mine.push_back(static_cast<double>(engine.bytes()));
    mine.push_back(static_cast<double>(engine.particles()));
    mine.push_back(static_cast<double>(balancer_.bytes()));
    const auto spread = comm_.spread(mine);
    const double atom_steps = static_cast<double>(particles_) * static_cast<double>(step - first_step_);
    const double rate = wall > 0 ? atom_steps / wall : 0;
    // Nothing was measured where a run stops before its first output step.
    const double drift = last_ && largest_kinetic_ > 0
                             ? (last_->total() - energy_first_.value_or(last_->total())) / largest_kinetic_
                             : 0.0;
    bool good = true;
    if (comm_.rank() == 0) {
        const Setup& s = engine.setup();
        const balance::Grid grid = s.domain.grid();
        nlohmann::ordered_json j;
        j["version"] = STEELYARD_VERSION;
        const BuildInfo build = build_info();
        j["build"] = {{"version", build.version}, {"commit", build.commit}, {"compiler", build.compiler},
                      {"mpi", build.mpi},         {"hdf5", build.hdf5},     {"kernels", build.kernels}};
        j["command_line"] = run_.command_line;
        j["date"] = fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)));  // of the end
        j["deck"] = deck_.name;
        j["ranks"] = comm_.size();
        j["threads"] = omp_get_max_threads();
        j["processes"] = engine.decomposition().processes();
        j["particles"] = particles_;
        j["cells"] = grid.box().cells();
        j["steps"] = step;
        j["first_step"] = first_step_;
        j["wall_seconds"] = wall;
        j["cpu_seconds"] = static_cast<double>(cpu[0]) * 1e-9;
        j["atom_steps_per_second"] = rate;
        j["state_hash"] = fmt::format("{:016x}", hash);
        j["energy_first"] = energy_first_.value_or(0);
        j["energy_last"] = last_ ? nlohmann::ordered_json(last_->total()) : nlohmann::ordered_json(nullptr);
        j["energy_drift"] = last_ ? nlohmann::ordered_json(drift) : nlohmann::ordered_json(nullptr);
        j["overall_lbe"] = nlohmann::json::object();
        j["overall_lbe_measured"] = nlohmann::json::object();
        for (const LoadBalancer::Overall& o : balancer_.overall()) {
            j["overall_lbe"][o.model] = o.lbe;
            j["overall_lbe_measured"][o.model] =
                o.measured ? nlohmann::ordered_json(*o.measured) : nlohmann::ordered_json(nullptr);
        }
        j["clock"] = deck_.balance.clock == balance::Clock::wall ? "wall" : "work";
        j["balance_bytes"] = spread.back().max;  // of a rank
        j["balancing"] = {{"balancings", balancing_.balancings},
                          {"migrations", balancing_.migrations},
                          {"model_seconds", balancing_.model_seconds},
                          {"partition_seconds", balancing_.partition_seconds},
                          {"migrate_seconds", balancing_.migrate_seconds}};
        j["precision"] = s.precision == md::Precision::mixed ? "mixed" : "double";
        j["kernels"] = s.kernels->isa;
        j["skin"] = engine.skin();
        j["rebuilds"] = engine.rebuilds();
        j["checkpoints"] = {{"count", checkpoints_.count},
                            {"bytes", checkpoints_.bytes},
                            {"write_seconds", checkpoints_.write_seconds},
                            {"verify_seconds", checkpoints_.verify_seconds},
                            {"remove_seconds", checkpoints_.remove_seconds}};
        j["binding"] = run_.topology.binding;
        j["host"] = run_.topology.host;
        j["cpu_model"] = run_.topology.cpu_model;
        const auto row = [&](std::size_t i) {
            return nlohmann::ordered_json{{"min", spread[i].min}, {"mean", spread[i].mean}, {"max", spread[i].max}};
        };
        for (std::size_t i = 0; i < phase_names.size(); ++i) j["seconds"][std::string(phase_names[i])] = row(i);
        j["seconds"]["other"] = row(phase_names.size());
        j["peak_resident_bytes"] = row(phase_names.size() + 1);
        j["particle_bytes"] = row(phase_names.size() + 2);
        j["particles_per_rank"] = row(phase_names.size() + 3);
        good = comm::replace_file(directory_ + "/summary.json", j.dump(2) + "\n");
    }
    check(good, "summary.json");
    if (quiet_) return;
    say(stdout, "\n  {:<12}{:>11}{:>11}{:>11}   {}\n", "seconds", "min", "mean", "max", "share of the run");
    for (std::size_t i = 0; i <= phase_names.size(); ++i)
        say(stdout, "  {:<12}{:>11.3f}{:>11.3f}{:>11.3f}   {:5.1f} %\n",
            i < phase_names.size() ? phase_names[i] : "other", spread[i].min, spread[i].mean, spread[i].max,
            wall > 0 ? 100 * spread[i].mean / wall : 0.0);
    const double bytes =
        particles_ > 0 ? spread[phase_names.size() + 2].mean * comm_.size() / static_cast<double>(particles_) : 0.0;
    say(stdout, "{}",
        lines_of({fmt::format("total {:.3f} s", wall), fmt::format("{:.2f} M atom-steps/s", rate * 1e-6),
                  fmt::format("{:.2f} M per CPU second",
                              cpu[0] > 0 ? atom_steps / (static_cast<double>(cpu[0]) * 1e-3) : 0.0),
                  fmt::format("{}, the last with skin {:.3g}", counted(engine.rebuilds(), "rebuild"), engine.skin()),
                  fmt::format("{:.1f} bytes per particle in tiles", bytes),
                  fmt::format("peak {:.1f} MB per rank", spread[phase_names.size() + 1].max * 1e-6)},
                 ";"));
    if (balancing_.balancings > 0)
        say(stdout, "{}",
            lines_of({fmt::format("{} by {}", counted(balancing_.balancings, "balancing"), balancer_.driver()),
                      counted(balancing_.migrations, "migration"),
                      fmt::format("in all {:.3f} s for the model", balancing_.model_seconds),
                      fmt::format("{:.3f} s for the partition", balancing_.partition_seconds),
                      fmt::format("{:.3f} s for moving and sorting anew", balancing_.migrate_seconds)}));
    if (const std::vector<LoadBalancer::Overall> overall = balancer_.overall(); !overall.empty()) {
        say(stdout, "  overall LBE by {}: in all, and after the first measured update\n",
            deck_.balance.clock == balance::Clock::wall ? "thread timers" : "counted work");
        for (const LoadBalancer::Overall& o : overall)
            say(stdout, "    {:<16}{:>7.2f} %{:>13}\n", o.model, 100 * o.lbe,
                o.measured ? fmt::format("{:.2f} %", 100 * *o.measured) : "-");
    }
    say(stdout, "{}",
        lines_of({fmt::format("state hash {:016x} at step {}", hash, step),
                  fmt::format("energy drift {} of the largest kinetic energy",
                              last_ ? fmt::format("{:.2e}", drift) : "not measured")}));
}

}  // namespace app

// SPDX-License-Identifier: MIT
// Rank 0 speaks; lines that a terminal overwrites come often, those of a log every few seconds.
#include "app/output/progress.hpp"

#include <fmt/format.h>
#include <omp.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <utility>

#include "app/common/build_info.hpp"
#include "app/common/say.hpp"
#include "app/common/words.hpp"
#include "app/deck/compare.hpp"
#include "comm/clock.hpp"
#include "comm/simulation.hpp"

namespace app {
Progress::Progress(const RunContext& run, std::string directory, const comm::Communicator& comm)
    : run_(run),
      directory_(std::move(directory)),
      comm_(comm),
      quiet_(run.quiet || comm.rank() != 0),
      terminal_(isatty(STDOUT_FILENO)) {
    if (!run.live || comm.rank() != 0) return;
    Terminal terminal;
    why_not_live_ = terminal.lacks();
    if (why_not_live_.empty())
        live_.emplace(std::move(terminal), run.first_step(), run.deck.run.steps, run.particles());
}

void Progress::line(const ThermoRow& row) {
    if (live_) live_->thermo(row);
    const bool in_place = terminal_ && !live_;
    const std::int64_t step = row.step;
    const md::Thermo& t = row.values;
    const double now = comm::now(), elapsed = now - run_.start_seconds;
    const bool last = step == run_.deck.run.steps;
    const std::int64_t done = step - run_.first_step();
    if (quiet_ || (!last && done > 0 && now - last_line_ < (in_place ? 0.2 : 5.0))) return;
    last_line_ = now;
    const double rate = elapsed > 0 ? static_cast<double>(done) / elapsed : 0;
    std::vector<std::string> parts{fmt::format("step {}/{}", step, run_.deck.run.steps)};
    if (done > 0 && !last) parts.push_back("ETA " + duration(static_cast<double>(run_.deck.run.steps - step) / rate));
    for (const std::string& part :
         {fmt::format("{:.2f} M atom-steps/s", rate * static_cast<double>(row.particles) * 1e-6),
          fmt::format("total {:.7g}", t.total()), fmt::format("T {:.4g}", t.temperature),
          fmt::format("p {:.4g}", t.pressure)})
        parts.push_back(part);
    const std::string text = one_line_of(parts);
    if (live_) return live_->log(text);
    say(stdout, "{}{}{}", in_place ? "\r\033[K" : "", text, in_place && !last ? "" : "\n");
    std::fflush(stdout);
}

void Progress::header(const Engine& engine) const {
    std::array<std::int64_t, 1> tile_count{static_cast<std::int64_t>(engine.tiles().size())};
    comm_.sum(std::span<std::int64_t>(tile_count));
    if (quiet_) return;
    const Setup& s = engine.setup();
    const balance::Grid grid = s.domain.grid();
    say(stdout, "steelyard {}: {}\n", STEELYARD_VERSION, run_.deck.name);
    const auto shape = engine.tiles().shape();
    say(stdout, "{}",
        lines_of(
            {counted(run_.particles(), "particle"),
             fmt::format("box {:.6g} x {:.6g}", s.domain.axis[0].real_length(), s.domain.axis[1].real_length()),
             along_axes(grid.cells, grid.dimensions) + " cells", counted(engine.tiles().hosts().processes(), "process"),
             fmt::format("{} of about {} cells", counted(tile_count[0], "tile"), along_axes(shape, grid.dimensions))}));
    say(stdout, "{}",
        lines_of({fmt::format("{} precision", balance::word_of(s.precision)), fmt::format("{} kernels", s.kernels->isa),
                  fmt::format("cutoff {:.4g}", s.potential.cutoff),
                  fmt::format("skin {:.4g}{}", s.skin, run_.deck.grid.skin ? "" : " (auto, to be tuned)"),
                  fmt::format("dt {:.4g}", run_.deck.run.dt)}));
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
    if (!why_not_live_.empty()) say(stdout, "{}", wrapped("--live: " + why_not_live_ + ", so there is no picture"));
    std::fflush(stdout);
}

void Progress::say_what_changes() const {
    if (!run_.restart) return;
    say(stdout, "  goes on from {}, step {}\n", run_.restart->path, run_.restart->step);
    for (const DeckChange& c : changes(run_.restart->deck, run_.deck))
        say(stdout, "    {}: {} instead of {}\n", c.key, c.now.empty() ? "nothing" : c.now,
            c.before.empty() ? "nothing" : c.before);
}

}  // namespace app

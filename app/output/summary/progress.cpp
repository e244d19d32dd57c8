// SPDX-License-Identifier: MIT
// Rank 0 speaks; lines that a terminal overwrites come often, those of a log every few seconds.
#include "app/output/summary/progress.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <omp.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <utility>

#include "app/common/words.hpp"
#include "app/deck/deck.hpp"
#include "comm/clock.hpp"
#include "comm/simulation.hpp"

namespace app {

namespace {

// The lengths of the box: "260 x 140", in three dimensions "9 x 9 x 30".
std::string box_in_words(const md::Domain& domain) {
    std::vector<std::string> sides;
    for (const md::Axis& axis : domain.axes()) sides.push_back(fmt::format("{:.6g}", axis.real_length()));
    return fmt::format("{}", fmt::join(sides, " x "));
}

// The number of tiles and their size: `shape`, or the mean size if processes are smaller.
std::string tiles_in_words(std::int64_t tiles, const balance::TileShape& shape, const balance::Grid& grid) {
    std::array<int, 3> side{};
    std::int64_t volume = 1;
    for (int a = 0; a < grid.dimensions; ++a) volume *= side[a] = std::min(shape[a], grid.cells[a]);
    const std::int64_t cells = grid.box().cells();
    return fmt::format("{} of about {}", counted(tiles, "tile"),
                       tiles * volume < 2 * cells ? along_axes(side, grid.dimensions) + " cells"
                                                  : counted(std::max<std::int64_t>(1, cells / tiles), "cell"));
}

// The threads of a rank, which may differ between ranks: "1 to 4 threads".
std::string threads_in_words(std::int64_t fewest, std::int64_t most) {
    return fewest == most ? counted(most, "thread") : fmt::format("{} to {}", fewest, counted(most, "thread"));
}

}  // namespace

Progress::Progress(const RunContext& run, std::string directory, const comm::Communicator& comm)
    : run_(run),
      directory_(std::move(directory)),
      comm_(comm),
      quiet_(run.quiet || comm.rank() != 0),
      terminal_(isatty(STDOUT_FILENO)) {}

void Progress::line(const ThermoRow& row) {
    const std::int64_t step = row.step;
    const md::Thermo& t = row.values;
    const double now = comm::now(), elapsed = now - run_.start_seconds;
    const bool last = step == run_.deck.run.steps;
    const std::int64_t done = step - run_.first_step();
    if (quiet_ || (!last && done > 0 && now - last_line_ < (terminal_ ? 0.2 : 5.0))) return;
    last_line_ = now;
    const double rate = elapsed > 0 ? static_cast<double>(done) / elapsed : 0;
    std::vector<std::string> parts{fmt::format("step {}/{}", step, run_.deck.run.steps)};
    if (done > 0 && !last) parts.push_back("ETA " + duration(static_cast<double>(run_.deck.run.steps - step) / rate));
    parts.push_back(fmt::format("{:.2f} M atom-steps/s", rate * static_cast<double>(row.particles) * 1e-6));
    parts.push_back(fmt::format("total {:.7g}", t.total()));
    parts.push_back(fmt::format("T {:.4g}", t.temperature));
    parts.push_back(fmt::format("p {:.4g}", t.pressure));
    const std::string text = one_line_of(parts);
    say(stdout, "{}{}{}", terminal_ ? "\r\033[K" : "", text, terminal_ && !last ? "" : "\n");
    std::fflush(stdout);
}

void Progress::header(const Engine& engine) const {
    const std::int64_t tile_count = comm_.sum_of(static_cast<std::int64_t>(engine.tiles().size()));
    std::array<std::int64_t, 2> threads{omp_get_max_threads(), -omp_get_max_threads()};
    comm_.max(threads);
    if (quiet_) return;
    const Setup& s = engine.setup();
    const balance::Grid grid = s.domain.grid();
    say(stdout, "steelyard {}: {}\n", STEELYARD_VERSION, run_.deck.name);
    say_lines({counted(run_.particles(), "particle"), "box " + box_in_words(s.domain),
               along_axes(grid.cells, grid.dimensions) + " cells",
               counted(engine.tiles().hosts().processes(), "process"),
               tiles_in_words(tile_count, engine.tiles().shape(), grid)});
    say_lines({fmt::format("{} precision", balance::word_of(s.precision)), fmt::format("{} kernels", s.kernels->isa),
               fmt::format("cutoff {:.4g}", s.potential.cutoff),
               fmt::format("skin {:.4g}{}", s.skin, run_.deck.grid.skin ? "" : " (auto, to be tuned)"),
               fmt::format("dt {:.4g}", run_.deck.run.dt)});
    say_lines({fmt::format("{} x {}", counted(comm_.size(), "rank"), threads_in_words(-threads[1], threads[0])),
               run_.topology.binding, "output in " + directory_});
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

void Progress::say_what_changes() const {
    if (!run_.restart) return;
    say(stdout, "  goes on from {}, step {}\n", run_.restart->path, run_.restart->step);
    for (const DeckChange& c : changes(run_.restart->deck, run_.deck))
        say(stdout, "    {}: {} instead of {}\n", c.key, c.now.empty() ? "nothing" : c.now,
            c.before.empty() ? "nothing" : c.before);
}

}  // namespace app

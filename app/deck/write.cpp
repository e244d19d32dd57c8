// SPDX-License-Identifier: MIT
// The effective deck. Numbers are printed in the shortest form that reads back to the same bits, and that YAML 1.1
// takes for a number, too.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <regex>

#include "app/deck/deck.hpp"
#include "md/potential.hpp"

namespace app {
namespace {

std::string pair(const std::array<double, 2>& x) { return fmt::format("[{}, {}]", x[0], x[1]); }

const char* word(Boundary b) { return b == Boundary::periodic ? "periodic" : "reflecting"; }
const char* word(md::Shift s) { return s == md::Shift::none ? "none" : s == md::Shift::energy ? "energy" : "force"; }
const char* word(md::Precision p) { return p == md::Precision::mixed ? "mixed" : "double"; }

// Without a dot, readers of YAML 1.1 take 2e-09 for text: 2.0e-09.
std::string with_dots(std::string_view text) {
    static const std::regex exponent(R"(([ \[]-?[0-9]+)(e[-+][0-9]+))");
    return std::regex_replace(std::string(text), exponent, "$1.0$2");
}

class Lines {
public:
    /// One line `text  # comment`, comments aligned where they can be. Here, so that no key can miss it: with_dots().
    void add(std::string_view line, std::string_view comment = {}) {
        const std::string text = with_dots(line);
        if (comment.empty()) text_ += fmt::format("{}\n", text);
        else text_ += fmt::format("{:<46}  # {}\n", text, comment);
    }
    std::string take() { return std::move(text_); }

private:
    std::string text_;
};

// Comments on the first slab only: hundreds of slabs must not fill a deck's 256 KiB.
void add_slab(Lines& out, const md::Slab& s, bool comments) {
    const auto add = [&](std::string_view text, std::string_view comment) {
        out.add(text, comments ? comment : std::string_view{});
    };
    if (s.cells) {
        add(fmt::format("    - cells: [{}, {}]", (*s.cells)[0], (*s.cells)[1]),
            "lattice cells along x and y, two particles each");
    } else {
        add(fmt::format("    - lower: {}", pair(s.lower)), "corner, sigma");
        add(fmt::format("      upper: {}", pair(s.upper)), "opposite corner, sigma");
    }
    add("      lattice: hexagonal", "the only one");
    add(fmt::format("      density: {}", s.density), "particles / sigma^2");
    add(fmt::format("      temperature: {}", s.temperature), "epsilon / k");
    add(fmt::format("      velocity: {}", pair(s.velocity)), "drift, sigma / tau");
}

void add_system(Lines& out, const Deck::System& s) {
    const md::PotentialSpec& p = s.potential;
    out.add("system:");
    if (s.box_fit) out.add("  box: fit", fmt::format("to the slab's cells: {} sigma", pair(s.box)));
    else out.add(fmt::format("  box: {}", pair(s.box)), "lengths, sigma, whole numbers of 2^-26; or fit");
    out.add(fmt::format("  boundary: [{}, {}]", word(s.boundary[0]), word(s.boundary[1])),
            "each axis: periodic or reflecting");
    out.add(fmt::format("  seed: {}", s.seed), "of the thermal velocities");
    out.add("  potential:");
    out.add(fmt::format("    kind: {}", p.kind), fmt::format("{}", fmt::join(md::potential_kinds(), ", ")));
    out.add(fmt::format("    epsilon: {}", p.epsilon), "depth, energy");
    out.add(fmt::format("    sigma: {}", p.sigma), "diameter, length");
    out.add(fmt::format("    cutoff: {}", p.cutoff), "length");
    out.add(fmt::format("    softening: {}", p.softening), "length; r^2 -> r^2 + softening^2");
    out.add(fmt::format("    shift: {}", word(p.shift)), "what is 0 at the cutoff: none, energy, force");
    for (std::size_t i = 0; const md::Parameter& own : md::own_parameters(p.kind))
        out.add(fmt::format("    {}: {}", own.name, p.own[i++]), own.meaning);
    out.add("  slabs:");
    for (std::size_t i = 0; i < s.slabs.size(); ++i) add_slab(out, s.slabs[i], i == 0);
}

void add_run_and_grid(Lines& out, const Deck& deck) {
    out.add("run:");
    out.add(fmt::format("  dt: {}", deck.run.dt), "time step, tau");
    out.add(fmt::format("  steps: {}", deck.run.steps), "number of the last step");
    out.add(fmt::format("  precision: {}", word(deck.run.precision)), "of pair arithmetic: mixed or double");
    out.add("grid:");
    out.add(fmt::format("  cell: {}", deck.grid.cell), "smallest side of a cell, sigma, at least the cutoff");
    out.add(deck.grid.skin ? fmt::format("  skin: {}", *deck.grid.skin) : "  skin: auto",
            "sigma; auto: guessed from speeds and dt, then tuned; 0: rebuild every step");
    out.add(
        deck.grid.tile ? fmt::format("  tile: [{}, {}]", (*deck.grid.tile)[0], (*deck.grid.tile)[1]) : "  tile: auto",
        "cells of a tile along x and y; auto: by cells and threads");
}

void add_partition(Lines& out, const balance::PartitionOptions& q) {
    static const char* const orders[] = {"morton", "hilbert", "tree"};
    static const char* const cuts[] = {"patches", "strips", "cells"};
    out.add("  partition:");
    out.add(fmt::format("    kind: {}", q.kind),
            fmt::format("{}; none: even and fixed", fmt::join(balance::partition_kind_names(), ", ")));
    out.add(fmt::format("    order: {}", orders[static_cast<int>(q.order)]), "of patches: morton, hilbert, tree");
    out.add(fmt::format("    patches_per_process: {}", q.patches_per_process), "fewer where they would be too narrow");
    out.add(fmt::format("    cut: {}", cuts[static_cast<int>(q.cut)]), "between patches, strips or cells");
    out.add(fmt::format("    sticky: {}", q.sticky), "only the cuts of the bisection move");
    out.add(fmt::format("    min_width: {}", q.min_width), "of a patch, cells");
    out.add(q.max_size > 0 ? fmt::format("    max_particles_per_process: {}", q.max_size)
                           : "    max_particles_per_process: null",
            "null: no limit");
}

void add_constants(Lines& out, const balance::ModelConstants& c) {
    out.add("  constants:");
    out.add(fmt::format("    weight: {}", c.weight), "moving_average: of the new value");
    out.add(fmt::format("    threshold: {}", c.threshold), "a1, b1: alpha; 0: off");
    out.add(fmt::format("    start: {}", c.start == balance::Start::uniform ? "uniform" : "particles"),
            "first loads of all models: 1 for each cell, or its particles");
    out.add(fmt::format("    forgetting: {}", c.forgetting), "r1: weight of the past in its fit");
    out.add(fmt::format("    floor: {}", c.floor), "r1: smallest gain");
    out.add(fmt::format("    noise_weight: {}", c.noise_weight), "r1: squared noise levels to beat");
    out.add(fmt::format("    costs: [{}]", fmt::join(c.costs, ", ")),
            "r1: first guess of its fit, seconds of 1, n, n n3, n n5");
}

void add_work(Lines& out, const balance::WorkCosts& w) {
    out.add("  work:");
    out.add(fmt::format("    cell: {}", w.cell), "clock: work, seconds for each cell");
    out.add(fmt::format("    particle: {}", w.particle), "particle");
    out.add(fmt::format("    candidate: {}", w.candidate), "particle in the 3 x 3 cells around, / 2");
    out.add(fmt::format("    pair: {}", w.pair), "pair within the cutoff");
    out.add(fmt::format("    capacity: {}", w.capacity), "particles in a cell from which on each costs");
    out.add(fmt::format("    spill: {}", w.spill), "so much for each there; 0 particles: off");
    out.add(fmt::format("    move: {}", w.move), "particle that is moved to another process");
    out.add("    region:", "cells that cost more for no visible reason");
    out.add(fmt::format("      lower: {}", pair(w.region_lower)), "sigma");
    out.add(fmt::format("      upper: {}", pair(w.region_upper)), "sigma");
    out.add(fmt::format("      factor: {}", w.region_factor), "times");
}

void add_balance(Lines& out, const Deck::Balance& b) {
    out.add("balance:");
    out.add(fmt::format("  every: {}", b.every), "steps; 0: never");
    out.add(b.processes ? fmt::format("  processes: {}", *b.processes) : "  processes: null",
            "virtual processes; null: one per rank");
    out.add(fmt::format("  model: {}", b.model), fmt::format("{}", fmt::join(balance::model_names(), ", ")));
    out.add(fmt::format("  compare: [{}]", fmt::join(b.compare, ", ")), "models evaluated beside it (clock: work)");
    out.add(fmt::format("  clock: {}", b.clock == balance::Clock::wall ? "wall" : "work"),
            "wall: thread timers; work: counted, deterministic");
    out.add(fmt::format("  migrate: {}", b.migrate == balance::Migrate::gain ? "gain" : "always"),
            "gain: when it saves more than it costs; always");
    out.add(fmt::format("  noise: {}", b.noise), "relative, on the times that models see (studies)");
    add_partition(out, b.partition);
    add_constants(out, b.constants);
    add_work(out, b.work);
}

void add_output(Lines& out, const Deck& deck) {
    out.add("output:");
    out.add(fmt::format("  every: {}", deck.output.every), "steps between rows of thermo.csv; 0: never");
    out.add(fmt::format("  fields_every: {}", deck.output.fields_every), "steps; 0: never");
    out.add(fmt::format("  trajectory_every: {}", deck.output.trajectory_every), "steps; 0: never");
    static const char* const columns[] = {"position", "velocity", "force"};
    std::vector<std::string> names;
    for (const Column c : deck.output.trajectory_columns) names.push_back(columns[static_cast<int>(c)]);
    out.add(fmt::format("  trajectory_columns: [{}]", fmt::join(names, ", ")), "position, velocity, force");
    out.add("checkpoint:");
    out.add(fmt::format("  every: {}", deck.checkpoint.every), "steps; 0: only when stopped early");
    out.add(fmt::format("  keep: {}", deck.checkpoint.keep), "newest checkpoints that stay");
    out.add(deck.checkpoint.time_limit_seconds
                ? fmt::format("  time_limit_seconds: {}", *deck.checkpoint.time_limit_seconds)
                : "  time_limit_seconds: null",
            "wall time, then stop with a checkpoint; null: none");
}

}  // namespace

std::string to_yaml(const Deck& deck) {
    Lines out;
    out.add(
        "# Effective deck: every key. Reduced Lennard-Jones units: length sigma, energy epsilon, mass m, time tau.");
    add_system(out, deck.system);
    add_run_and_grid(out, deck);
    add_balance(out, deck.balance);
    add_output(out, deck);
    return out.take();
}

}  // namespace app

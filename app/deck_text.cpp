// SPDX-License-Identifier: MIT
// The effective deck. Numbers are printed in the shortest form that reads back to the same bits.
#include <fmt/format.h>

#include <algorithm>

#include "app/deck.hpp"
#include "md/potential.hpp"

namespace app {
namespace {

std::string pair(const std::array<double, 2>& x) { return fmt::format("[{}, {}]", x[0], x[1]); }

const char* word(Boundary b) { return b == Boundary::periodic ? "periodic" : "reflecting"; }
const char* word(md::Shift s) { return s == md::Shift::none ? "none" : s == md::Shift::energy ? "energy" : "force"; }
const char* word(md::Precision p) { return p == md::Precision::mixed ? "mixed" : "double"; }

class Lines {
public:
    /// One line `text  # comment`, comments aligned where they can be.
    void add(std::string_view text, std::string_view comment = {}) {
        if (comment.empty())
            text_ += fmt::format("{}\n", text);
        else
            text_ += fmt::format("{:<46}  # {}\n", text, comment);
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

}  // namespace

std::string to_yaml(const Deck& deck) {
    Lines out;
    const Deck::System& s = deck.system;
    const md::PotentialSpec& p = s.potential;
    out.add(
        "# Effective deck: every key. Reduced Lennard-Jones units: length sigma, energy epsilon, mass m, time tau.");
    out.add("system:");
    if (s.box_fit)
        out.add("  box: fit", fmt::format("to the slab's cells: {} sigma", pair(s.box)));
    else
        out.add(fmt::format("  box: {}", pair(s.box)), "lengths, sigma, whole numbers of 2^-26; or fit");
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
    out.add("  slabs:");
    for (std::size_t i = 0; i < s.slabs.size(); ++i) add_slab(out, s.slabs[i], i == 0);
    out.add("run:");
    out.add(fmt::format("  dt: {}", deck.run.dt), "time step, tau");
    out.add(fmt::format("  steps: {}", deck.run.steps), "number of the last step");
    out.add(fmt::format("  precision: {}", word(deck.run.precision)), "of pair arithmetic: mixed or double");
    out.add("grid:");
    out.add(fmt::format("  cell: {}", deck.grid.cell), "smallest side of a cell, sigma, at least the cutoff");
    out.add(deck.grid.skin ? fmt::format("  skin: {}", *deck.grid.skin) : "  skin: auto",
            "sigma; auto: from speeds and dt; 0: rebuild every step");
    out.add(fmt::format("  tile: {}", deck.grid.tile), "largest number of cells along a side of a tile");
    out.add("balance:");
    out.add(fmt::format("  every: {}", deck.balance.every), "steps; 0: never");
    out.add(deck.balance.processes ? fmt::format("  processes: {}", *deck.balance.processes) : "  processes: null",
            "virtual processes; null: one a rank");
    out.add("  partition:");
    out.add(fmt::format("    kind: {}", deck.balance.partition_kind), "none: even and fixed");
    out.add("output:");
    out.add(fmt::format("  every: {}", deck.output.every), "steps between rows of thermo.csv; 0: never");
    out.add(fmt::format("  fields_every: {}", deck.output.fields_every), "steps; 0: never");
    out.add(fmt::format("  trajectory_every: {}", deck.output.trajectory_every), "steps; 0: never");
    out.add("checkpoint:");
    out.add(fmt::format("  every: {}", deck.checkpoint.every), "steps; 0: only when stopped early");
    out.add(fmt::format("  keep: {}", deck.checkpoint.keep), "newest checkpoints that stay");
    out.add(deck.checkpoint.time_limit_seconds ? fmt::format("  time_limit_seconds: {}", *deck.checkpoint.time_limit_seconds)
                                               : "  time_limit_seconds: null",
            "wall time, then stop with a checkpoint; null: none");
    return out.take();
}

}  // namespace app

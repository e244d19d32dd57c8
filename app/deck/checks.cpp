// SPDX-License-Identifier: MIT
// Checks that need more than one key, or the geometry. They come when the whole deck has been read. So the message can
// name the most likely wrong key.
#include "app/deck/checks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/common/words.hpp"
#include "app/deck/deck.hpp"
#include "app/deck/from_file.hpp"
#include "app/deck/key.hpp"
#include "app/deck/wording.hpp"
#include "md/domain.hpp"
#include "md/lattice.hpp"
#include "md/limits.hpp"
#include "md/potential.hpp"

namespace app {
namespace {

constexpr double most_cells_along = 1 << 20;
constexpr double auto_skin_ratio = 1.12;  // least (cutoff + skin) / cutoff that an automatic skin needs

std::string slab_path(std::size_t i, const char* key) { return fmt::format("system.slabs.{}.{}", i, key); }

// By their numbers among all.
std::vector<md::Body*> all_of(md::System& s) {
    std::vector<md::Body*> all;
    for (auto* bodies : {&s.slabs, &s.bodies})
        for (md::Body& body : *bodies) all.push_back(&body);
    return all;
}

std::string axis_path(const Deck& deck, int axis) {
    return deck.system.box_fit ? slab_path(0, "cells") : fmt::format("system.box.{}", axis);
}

std::string axis_remedy(const Deck& deck, const char* change) {
    return fmt::format("{} {}", deck.system.box_fit ? "use more cells or" : "make the box longer or", change);
}

// The box says how many dimensions there are, or the cells that it fits; all else must agree.
void count_dimensions(Deck& deck, const Where& where) {
    Deck::System& s = deck.system;
    const std::string from = s.box_fit ? slab_path(0, "cells") : "system.box";
    if (const auto found = s.given.find(from); found != s.given.end()) s.dimensions = found->second;
    for (const auto& [path, n] : s.given)
        if (n > 1 && n != s.dimensions)
            fail(where(path + (n == 3 ? ".2" : "")),
                 fmt::format("{} has {} values, and {} has {}", path, n, from, s.dimensions),
                 fmt::format("give {}, one for each axis", s.dimensions));
    const std::vector<md::Body*> bodies = all_of(s);
    for (std::size_t i = 0; i < bodies.size(); ++i) {
        md::Body& body = *bodies[i];
        const std::string path = path_in(s, i, "lattice");
        if (!s.given.contains(path))
            body.lattice = s.dimensions == 2 ? md::LatticeKind::hexagonal : md::LatticeKind::fcc;
        if (md::dimensions_of(body.lattice) != s.dimensions)
            fail(where(path),
                 fmt::format("{} is a lattice of {} dimensions", balance::word_of(body.lattice),
                             s.dimensions == 2 ? "three" : "two"),
                 s.dimensions == 2 ? "write hexagonal" : "write sc, bcc, fcc or hcp");
    }
    if (deck.grid.tile && s.dimensions == 2) (*deck.grid.tile)[2] = 1;
}

// The potential's own parameters get their defaults, the cell gets the cutoff, or in three dimensions a skin more:
// then neighbours lie in the 27 cells around.
void complete(Deck& deck, const Where& where) {
    md::PotentialSpec& p = deck.system.potential;
    std::string given = "system.potential";  // the last parameter that the deck gives
    for (std::size_t i = 0; const md::Parameter& own : md::own_parameters(p.kind)) {
        double& x = p.own[i++];
        if (std::isnan(x)) x = own.standard;
        else given = fmt::format("system.potential.{}", own.name);
    }
    if (const std::string conflict = md::conflict(p); !conflict.empty())
        fail(where(given), "system.potential: " + conflict, "change one of them");
    if (deck.grid.cell == 0) deck.grid.cell = deck.system.dimensions == 2 ? p.cutoff : 1.2 * p.cutoff;
}

void fit_box(Deck& deck, const Where& where) {
    Deck::System& s = deck.system;
    if (!s.box_fit) {
        for (std::size_t i = 0; i < s.slabs.size(); ++i)
            if (s.slabs[i].cells)
                fail(where(slab_path(i, "cells")), "cells need a box that fits them",
                     "write box: fit, or lower and upper in place of cells");
        return;
    }
    if (s.slabs.size() != 1 || !s.bodies.empty())
        fail(where(s.slabs.size() > 1 ? "system.slabs.1" : "system.bodies"),
             fmt::format("box: fit with {} and {}", counted(std::ssize(s.slabs), "slab"),
                         counted(std::ssize(s.bodies), "body")),
             "keep one slab, or give the box's lengths");
    md::Body& slab = s.slabs[0];
    if (!slab.cells)
        fail(where("system.slabs.0.lower"), "box: fit needs a slab with cells",
             "write cells: [nx, ny] or [nx, ny, nz] in place of lower and upper");
    for (int a = 0; a < s.dimensions; ++a)
        if (s.boundary[a] != md::Boundary::periodic)
            fail(where(fmt::format("system.boundary.{}", a)), "box: fit needs periodic boundaries",
                 "write periodic, or give the box's lengths");
    s.box = md::fitted_box(slab);
    slab.lower = {0, 0, 0};
    slab.upper = s.box;
}

// Bodies are compared with the lengths as written; one that ends with the box goes on doing so after rounding.
void round_box(Deck& deck, const Where& where) {
    Deck::System& s = deck.system;
    const std::vector<md::Body*> bodies = all_of(s);
    for (std::size_t i = 0; i < bodies.size(); ++i)
        for (int a = 0; a < s.dimensions; ++a) {
            const double lower = bodies[i]->lower[a], upper = bodies[i]->upper[a];
            if (lower >= 0 && upper <= s.box[a]) continue;
            const bool by_corners = i < s.slabs.size() || bodies[i]->shape == md::BodyShape::box;
            const std::string key = fmt::format("{}.{}", by_corners ? lower < 0 ? "lower" : "upper" : "center", a);
            fail(where(path_in(s, i, key.c_str())),
                 lower < 0 ? fmt::format("{} begins outside the box, at {} = {}", md::body_name(s, i), "xyz"[a], lower)
                           : fmt::format("{} ends outside the box, at {} = {}", md::body_name(s, i), "xyz"[a], upper),
                 !by_corners ? "move its center, or make it smaller"
                 : lower < 0 ? "use at least 0"
                             : fmt::format("use at most {}", s.box[a]));
        }
    for (int a = 0; a < s.dimensions; ++a) {
        s.box[a] = static_cast<double>(md::to_edge_units(s.box[a])) * md::edge_unit;  // periodic images are exact
        for (md::Body* body : bodies)
            if (body->cells || body->upper[a] > s.box[a]) body->upper[a] = s.box[a];
    }
}

void check_grid(const Deck& deck, const Where& where) {
    const double cutoff = deck.system.potential.cutoff, cell = deck.grid.cell;
    if (cell < cutoff)
        fail(where("grid.cell"), fmt::format("grid.cell is {}, smaller than the cutoff {}", cell, cutoff),
             fmt::format("use at least {}", cutoff));
    if (cell < 2 * md::edge_unit)
        fail(where("grid.cell"), fmt::format("grid.cell is {}, and cells are multiples of 2^-26 wide", cell),
             "use at least 2^-25");
    if (deck.grid.skin && cutoff + *deck.grid.skin > md::longest_reach)
        fail(where("grid.skin"),
             fmt::format("cutoff + skin is {}, more than {}", cutoff + *deck.grid.skin, md::longest_reach),
             "use a thinner skin or auto");
    const double reach = deck.grid.skin ? cutoff + *deck.grid.skin : cutoff * auto_skin_ratio;
    double cells = 1;
    for (int a = 0; a < deck.system.dimensions; ++a) {
        const double length = deck.system.box[a];
        const std::string along = fmt::format("the box is {} long along {}", length, "xyz"[a]);
        if (length > longest_side) fail(where(axis_path(deck, a)), along + ", more than 2^20", "make it shorter");
        if (length < cell)
            fail(where(axis_path(deck, a)), fmt::format("{}, shorter than a cell of {}", along, cell),
                 axis_remedy(deck, "the cell smaller"));
        if (deck.system.boundary[a] == md::Boundary::periodic && length < 2 * reach)
            fail(where(axis_path(deck, a)),
                 fmt::format("{}, too short for a periodic axis with cutoff + skin = {:.6g}", along, reach),
                 axis_remedy(deck, "the cutoff or skin smaller"));
        const double n = std::floor(length / cell);
        if (n > most_cells_along)
            fail(where("grid.cell"), fmt::format("{:.0f} cells along {}, more than 2^20", n, "xyz"[a]),
                 "use wider cells");
        cells *= n;
    }
    if (deck.balance.processes && static_cast<double>(*deck.balance.processes) > cells)
        fail(where("balance.processes"),
             fmt::format("{} for {}", counted(*deck.balance.processes, "process"),
                         counted(static_cast<std::int64_t>(cells), "cell")),
             fmt::format("use at most {:.0f}", cells));
}

void check_accelerator(const Deck::Accelerator& a, const Where& where) {
    constexpr std::int64_t most_threads = 4096;
    const std::int64_t threads = a.devices.value_or(1) * a.threads;
    if (a.backend == AcceleratorBackend::host && threads > most_threads)
        fail(where("accelerator.threads"),
             fmt::format("{} with {} each on a rank, more than {}", counted(a.devices.value_or(1), "accelerator"),
                         counted(a.threads, "thread"), most_threads),
             "use fewer");
}

}  // namespace

void check_machine(const Deck::Machine& m, const std::string& section, const Where& where) {
    const auto fits = [&](const char* name, std::size_t n) {
        if (n <= 1 || (m.nodes && static_cast<std::size_t>(*m.nodes) == n)) return;
        const std::string nodes = m.nodes ? counted(*m.nodes, "node") : "a number of nodes that is not given";
        const std::string key = below(section, name);
        fail(where(key), fmt::format("{} has {} values for {}", key, n, nodes),
             fmt::format("write {}: {}, or one value for all nodes", below(section, "nodes"), n));
    };
    fits("cpus_per_node", m.cpus_per_node.size());
    fits("cores_per_cpu", m.cores_per_cpu.size());
    fits("accelerators_per_node", m.accelerators_per_node.size());
    fits("core_speed", m.core_speed.size());
    fits("accelerator_speed", m.accelerator_speed.size());
    const std::int64_t nodes = m.nodes.value_or(1);
    std::int64_t resources = 0;
    for (std::int64_t n = 0; n < nodes; ++n)
        resources += Deck::Machine::at(m.cpus_per_node, n, 1) * Deck::Machine::at(m.cores_per_cpu, n, 1) +
                     Deck::Machine::at(m.accelerators_per_node, n, 0);
    if (resources > most_processes)
        fail(where(below(section, "nodes")),
             fmt::format("a machine of {} cores and accelerators, more than 2^24", resources), "use fewer");
}

namespace {

void complete_output(Deck::Output& output, const Where& where) {
    if (output.trajectory_columns.empty())
        fail(where("output.trajectory_columns"), "output.trajectory_columns is empty",
             "name at least one of position, velocity, force");
    std::ranges::sort(output.trajectory_columns);  // their order means nothing
}

}  // namespace

void complete_and_check(Deck& deck, std::span<const FoundState> found, const Where& where) {
    complete_from(deck.system, found.empty() ? nullptr : &found[0], where);
    count_dimensions(deck, where);
    complete(deck, where);
    fit_box(deck, where);
    complete_bodies(deck.system, found, where);
    round_box(deck, where);
    check_grid(deck, where);
    check_bodies(deck, where);
    check_external(deck, where);
    check_balance(deck, where);
    check_accelerator(deck.accelerator, where);
    check_machine(deck.machine, "machine", where);
    complete_output(deck.output, where);
}

}  // namespace app

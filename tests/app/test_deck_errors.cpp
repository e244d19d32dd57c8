// SPDX-License-Identifier: MIT
// Bad decks: each is refused with one line that says where, what and what to do.
#include <catch2/catch.hpp>
#include <chrono>

#include "app/deck/deck.hpp"

namespace {

struct BadDeck {
    std::string text;
    int line, column;  ///< column 0: any
    std::string what;
};

// A good deck of seven lines; cases replace or add lines.
std::string deck(int line = 0, const std::string& replacement = "", const std::string& more = "") {
    const char* lines[] = {
        "system:",
        "  box: [100, 50]",
        "  boundary: [periodic, reflecting]",
        "  potential: {cutoff: 2.5}",
        "  slabs:",
        "    - {lower: [10, 10], upper: [40, 40], velocity: [1, 0]}",
        "run: {dt: 0.001, steps: 10}",
    };
    std::string text;
    for (int i = 1; i <= 7; ++i)
        text += (i == line ? replacement : lines[i - 1]) + std::string(i == line && replacement.empty() ? "" : "\n");
    return text + more;
}

std::string grid(const std::string& keys) { return deck(0, "", "grid: {" + keys + "}\n"); }
std::string with_balance(const std::string& keys) { return deck(0, "", "balance: {" + keys + "}\n"); }
std::string output(const std::string& keys) { return deck(0, "", "output: {" + keys + "}\n"); }
std::string slab(const std::string& keys) { return deck(6, "    - {" + keys + "}"); }
std::string potential(const std::string& keys) { return deck(4, "  potential: {" + keys + "}"); }
// In three dimensions, with a box of 20 along x and y.
std::string space(double height, const std::string& slab, const std::string& boundary = "periodic") {
    return "system:\n  box: [20, 20, " + std::to_string(height) + "]\n  boundary: [periodic, periodic, " + boundary +
           "]\n  slabs:\n    - {lower: [1, 1, 1], " + slab + "}\nrun: {dt: 0.001, steps: 1}\n";
}
std::string fit(const std::string& slab, const std::string& boundary = "[periodic, periodic]") {
    return "system:\n  box: fit\n  boundary: " + boundary + "\n  slabs:\n    - {" + slab +
           "}\nrun: {dt: 0.001, steps: 1}\n";
}
std::string repeat(const std::string& s, int n) {
    std::string out;
    for (int i = 0; i < n; ++i) out += s;
    return out;
}

const std::vector<BadDeck>& bad_decks() {
    static const std::vector<BadDeck> decks = {
        // Text and YAML
        {"", 1, 1, "the deck is empty"},
        {"# only a comment\n\n", 1, 1, "the deck is empty"},
        {"---\n", 1, 1, "the deck is empty"},
        {"just words\n", 1, 1, "the file must be a map of keys, not 'just words'"},
        {"- 1\n- 2\n", 1, 1, "the file must be a map of keys, not a list"},
        {deck(0, "", "---\nrun: 1\n"), 8, 1, "a second document begins here"},
        {deck(0, "", "run: {dt: 0.002, steps: 3}\n"), 8, 1, "'run' stands twice"},
        {deck(7, "run: {dt: 0.001, steps: 10, dt: 0.002}"), 7, 29, "'dt' stands twice"},
        {deck(7, "run: &r {dt: 0.001, steps: 10}"), 7, 6, "anchor '&r'"},
        {"a: &a [*a]\n", 1, 4, "anchor '&a'"},
        {"a: *a\n", 1, 4, "not valid YAML"},
        {deck(7, "run: {dt: !!float 0.001, steps: 10}"), 7, 11, "the tag 'tag:yaml.org,2002:float'"},
        {deck(7, "run: !mine {dt: 0.001, steps: 10}"), 7, 6, "the tag '!mine'"},
        {deck(7, "run: {dt: 0.001, steps: 10"), 8, 0, "not valid YAML"},
        {deck(7, "run: {dt: 0.001: 2, steps: 10}"), 7, 0, "not valid YAML"},
        {deck(4, "\tpotential: {}"), 4, 1, "a tab; YAML indents by spaces: replace it by spaces"},
        {deck(4, "  \tpotential: {}"), 4, 3, "a tab; YAML indents by spaces: replace it by spaces"},
        {deck(7, "run:\n\tdt: 0.001\n\tsteps: 10"), 8, 1, "a tab; YAML indents by spaces: replace it by spaces"},
        {deck(7, "run:\n  dt: 0.001\n\tsteps: 10"), 9, 1, "a tab; YAML indents by spaces: replace it by spaces"},
        {deck(7, "run: {dt: 0.001: 2,\tsteps: 10}"), 7, 0, "not valid YAML"},
        {deck(7, "run: \"dt"), 7, 6, "run must be a map of keys"},
        {deck(7, "run: {dt: 0.001, ? [a] : 1}"), 7, 20, "a list in place of a key"},
        {deck(7, "run: {dt: 0.001, ~: 1}"), 7, 18, "an empty key"},
        {"a: " + repeat("[", 40) + repeat("]", 40) + "\n", 1, 35, "nested deeper than 32 levels"},
        {"a: [" + repeat("1,", 16'000) + "1]\n", 1, 0, "more than 16000 keys and values"},
        {deck(0, "", "# caf\xe9\n"), 8, 6, "byte 0xe9 is not valid UTF-8"},
        {deck(0, "", "# \xed\xa0\x80\n"), 8, 3, "not valid UTF-8"},
        {deck(0, "", "# \xc0\x80\n"), 8, 3, "not valid UTF-8"},
        {deck(0, "", std::string("# \0\n", 4)), 8, 3, "a NUL byte"},
        {deck(0, "", "# \x1b[31m\n"), 8, 3, "control character 0x1b"},
        // Keys
        {"sytem:\n" + deck().substr(8), 1, 1, "unknown key 'sytem'; did you mean 'system'?"},
        {deck(0, "", "dt: 0.1\n"), 8, 1, "unknown key 'dt'; it belongs at run.dt"},
        {deck(0, "", "zzz: 1\n"), 8, 1, "unknown key 'zzz'; use one of system, run, grid, balance, output"},
        {deck(7, "run: {dt: 0.001, steps: 10, presision: mixed}"), 7, 29,
         "unknown key 'presision' in run; did you mean 'precision'?"},
        {potential("cut_off: 3"), 4, 15, "unknown key 'cut_off' in system.potential; did you mean 'cutoff'?"},
        {slab("lower: [10, 10], uper: [40, 40]"), 6, 25,
         "unknown key \'uper\' in system.slabs.0; did you mean 'upper'?"},
        {deck(7, "run: {dt: 0.001, steps: 10, \"a\\nb\": 1}"), 7, 29, "unknown key 'a\\x0ab'"},
        {deck(0, "", "<<: {a: 1}\n"), 8, 1, "unknown key '<<'"},
        {deck(7, ""), 1, 1, "run is missing"},
        {"run: {dt: 0.001, steps: 1}\n", 1, 1, "system is missing"},
        {deck(2, ""), 1, 1, "system.box is missing"},
        {"run: {dt: 0.001, steps: 1}\nsystem: {box: [10, 10]}\n", 2, 1, "system has neither slabs nor bodies"},
        {deck(7, "run: {dt: 0.001}"), 7, 1, "run.steps is missing"},
        {deck(7, "run: {steps: 1}"), 7, 1, "run.dt is missing"},
        {slab("lower: [1, 1]"), 6, 0, "system.slabs.0.upper is missing"},
        {deck(0, "", "grid:\n"), 8, 1, "grid is empty"},
        {deck(0, "", "grid: 5\n"), 8, 7, "grid must be a map of keys, not '5'"},
        {deck(0, "", "grid:\n  - cell\n"), 9, 0, "grid must be a map of keys, not a list"},
        {deck(0, "", "checkpoint: {keep: 0}\n"), 8, 20, ""},
        // Machines and loads
        {deck(0, "", "machine: {nodes: 0}\n"), 8, 18, "machine.nodes is 0; use a whole number from 1"},
        {deck(0, "", "machine: {node: 2}\n"), 8, 11, "unknown key 'node' in machine; did you mean 'nodes'?"},
        {deck(0, "", "machine: {nodes: 3, accelerators_per_node: [1, 2]}\n"), 8, 44,
         "machine.accelerators_per_node has 2 values for 3 nodes; write machine.nodes: 2, or one value for all nodes"},
        {deck(0, "", "machine: {core_speed: [1, 2]}\n"), 8, 23, "2 values for a number of nodes that is not given"},
        {deck(0, "", "machine: {nodes: 2, cores_per_cpu: [8, 4, 2]}\n"), 8, 36,
         "machine.cores_per_cpu has 3 values for 2 nodes; write machine.nodes: 3"},
        {deck(0, "", "machine: {nodes: 2, accelerator_speed: [6, 3, 1]}\n"), 8, 40,
         "machine.accelerator_speed has 3 values for 2 nodes"},
        {"name: node\nnodes: 2\ncore_speed: [1, 2]\n", 1, 1, "a machine file, not a deck; give it by --machine"},
        {deck(0, "", "machine: {core_speed: []}\n"), 8, 23, "machine.core_speed is empty"},
        {deck(0, "", "machine: {nodes: 2, core_speed: [1, 0]}\n"), 8, 37, "machine.core_speed.1 is 0"},
        {deck(0, "", "machine: {nodes: 100000, cpus_per_node: 1000}\n"), 8, 18, "more than 2^24"},
        {deck(0, "", "load: {kind: slab}\n"), 8, 14, "load.kind can't be 'slab'; did you mean 'slabs'?"},
        {deck(0, "", "load: {kind: checkpoint}\n"), 8, 1, "load.file is missing; give the path of the file"},
        {deck(0, "", "load: {file: a.h5}\n"), 8, 14, "load.file has no meaning for this load.kind; remove it"},
        {deck(0, "", "load: {kind: dataset, file: [a]}\n"), 8, 29, "load.file must be a path"},
        {deck(0, "", "load: {kind: dataset, file: a.h5, cells: [3, 4]}\n"), 8, 42, "load.cells has no meaning"},
        {deck(0, "", "load: {kind: uniform, cells: [3]}\n"), 8, 30, "load.cells has 1 element, not 2 or 3"},
        {deck(0, "", "load: {kind: uniform, cells: [3, 0]}\n"), 8, 34, "load.cells.1 is 0"},
        {with_balance("partition: {algorithm: outer}"), 8, 34, "balance.partition.algorithm can't be 'outer'"},
        // Not in this version
        {deck(0, "", "accelerator: {backend: gpu}\n"), 8, 24, "accelerator.backend"},
        {deck(0, "", "accelerator: {backend: host}\nbalance: {every: 5, model: r1_ahead}\n"), 9, 28,
         "r1_ahead doesn't know where the particles of an accelerator fly; use r1, or no accelerator"},
        {deck(0, "", "accelerator: {share: 1.5}\n"), 8, 22, "accelerator.share"},
        {deck(0, "", "comm: {order: fast}\n"), 8, 15, "comm.order can't be 'fast'"},
        {with_balance("model: a3"), 8, 18, "balance.model can't be 'a3'; did you mean 'a1'?"},
        {with_balance("noise: 1.5"), 8, 18, "balance.noise is 1.5"},
        {with_balance("compare: [hybrid, hybrid]"), 8, 29, "hybrid is there twice"},
        {with_balance("compare: [r1]"), 8, 21, "r1 is there twice"},
        {with_balance("compare: [a1]"), 8, 20, "models can be compared by counted work only"},
        {with_balance("compare: [{criterion: menon}]"), 8, 21, "balance.compare.0.model is missing"},
        {with_balance("compare: [{model: r2}]"), 8, 29, "balance.compare.0.model can't be 'r2'; did you mean 'r1'?"},
        {with_balance("compare: [{model: a1, citerion: zhai}]"), 8, 33, "did you mean 'criterion'?"},
        {with_balance("compare: [{model: a1, criterion: zai}]"), 8, 44, "balance.compare.0.criterion can't be 'zai'"},
        {with_balance("compare: [{model: a1, criteria: {threshold: 2}}]"), 8, 55,
         "balance.compare.0.criteria.threshold is 2"},
        {with_balance("compare: [{model: a1, partition: {kind: morton}}]"), 8, 51,
         "balance.compare.0.partition.kind can't be 'morton'"},
        {with_balance("compare: [{model: a1, partition: {algorithm: greedy}}]"), 8, 45,
         "unknown key 'algorithm' in balance.compare.0.partition"},
        {with_balance("compare: [{model: a1, partition: {kind: rcb, max_particles_per_process: 9}}]"), 8, 20,
         "compared by counted work only"},
        {with_balance("clock: work, compare: [{model: a1, partition: {kind: rcb, max_particles_per_process: 9}}]"), 8,
         96, "partitions of kind rcb know no limit"},
        {with_balance("compare: [{model: a1, name: a b}]"), 8, 39, "balance.compare.0.name must be 1 to 60 letters"},
        {with_balance("compare: [{model: a1, name: .}]"), 8, 39, "balance.compare.0.name must be 1 to 60 letters"},
        {with_balance("compare: [{model: a1, name: x/y}]"), 8, 39, "balance.compare.0.name must be 1 to 60 letters"},
        {with_balance("compare: [{model: a1, name: speeds}]"), 8, 39, "balance.compare.0.name can't be speeds"},
        {with_balance("compare: [{model: a1, name: r1}]"), 8, 21, "r1 is there twice; leave the driver out"},
        {with_balance("compare: [a1, {model: b1, name: a1}]"), 8, 25,
         "a1 is there twice; name each once, or give one a name"},
        {with_balance("compare: [[a1]]"), 8, 21, "balance.compare.0 must be a map of keys, not a list"},
        {with_balance("criterion: gain, migrate: gain"), 8, 37, "balance.migrate is given beside balance.criterion"},
        {with_balance("partition: {kind: nestde}"), 8, 29,
         "balance.partition.kind can't be 'nestde'; did you mean 'nested'?"},
        {with_balance("partition: {cut: lines}"), 8, 28, "balance.partition.cut can't be 'lines'"},
        {with_balance("partition: {patches_per_process: 0}"), 8, 44, "is 0"},
        {with_balance("partition: {kind: rcb, max_particles_per_process: 50}"), 8, 61,
         "partitions of kind rcb know no limit; write kind: chain, or null for no limit"},
        {with_balance("partition: {max_particles_per_process: 50, kind: none}"), 8, 50,
         "partitions of kind none know no limit"},
        {with_balance("constants: {threshold: 0.2}"), 8, 34, "is 0.2"},
        {with_balance("constants: {costs: [1, 2]}"), 8, 30, "costs"},
        {with_balance("work: {pair: -1}"), 8, 24, "is -1"},
        {with_balance("partition: {kind: nonne}"), 8, 29,
         "balance.partition.kind can't be 'nonne'; did you mean 'none'?"},
        // Two and three dimensions
        {deck(2, "  box: [100, 50, 20]"), 3, 13, "system.boundary has 2 values, and system.box has 3; give 3"},
        {deck(2, "  box: [100, 50, 20, 5]"), 2, 8, "system.box has 4 elements, not 2"},
        {deck(3, "  boundary: [periodic, reflecting, periodic]"), 3, 36, "has 3 values, and system.box has 2; give 2"},
        {slab("lower: [10, 10, 10], upper: [40, 40]"), 6, 24, "slabs.0.lower has 3 values, and system.box has 2"},
        {slab("lower: [10, 10], upper: [40, 40], velocity: [1, 2, 3]"), 6, 59, "velocity has 3 values"},
        {slab("lower: [10, 10], upper: [40, 40], lattice: fcc"), 6, 51, "fcc is a lattice of three dimensions"},
        // Types and ranges
        {deck(7, "run: {dt: fast, steps: 10}"), 7, 11, "run.dt must be a number, not 'fast'"},
        {deck(7, "run: {dt: [1], steps: 10}"), 7, 11, "run.dt must be a number, not a list"},
        {deck(7, "run: {dt: '0.001', steps: 10}"), 7, 11, "not the quoted text '0.001'; remove the quotes"},
        {deck(7, "run: {dt: , steps: 10}"), 7, 7, "run.dt has no value"},
        {deck(7, "run: {dt: .nan, steps: 10}"), 7, 11, "run.dt is '.nan'; use a finite number"},
        {deck(7, "run: {dt: .inf, steps: 10}"), 7, 11, "run.dt is '.inf'; use a finite number"},
        {deck(7, "run: {dt: 1e999, steps: 10}"), 7, 11, "too large to represent"},
        {deck(7, "run: {dt: 0, steps: 10}"), 7, 11, "run.dt is 0; use a number above 0 and at most 0.03"},
        {deck(7, "run: {dt: 0.031, steps: 10}"), 7, 11, "run.dt is 0.031"},
        {deck(7, "run: {dt: 0.001, steps: 010}"), 7, 25, "run.steps is '010', with a leading zero"},
        {deck(7, "run: {dt: 0.001, steps: 0x10}"), 7, 25, "run.steps must be a whole number, not '0x10'"},
        {deck(7, "run: {dt: 0.001, steps: 1.5}"), 7, 25, "run.steps is '1.5', not a whole number"},
        {deck(7, "run: {dt: 0.001, steps: -1}"), 7, 25, "run.steps is -1"},
        {deck(7, "run: {dt: 0.001, steps: 9223372036854775808}"), 7, 25, "too large to represent"},
        {deck(7, "run: {dt: 0.001, steps: true}"), 7, 25, "must be a whole number, not 'true'"},
        {deck(7, "run: {dt: 0.001, steps: 10, precision: single}"), 7, 40,
         "run.precision can't be 'single'; use one of mixed, double"},
        {deck(4, "  seed: -3"), 4, 9, "system.seed is '-3'; use a whole number from 0 to 2^64 - 1"},
        {deck(4, "  seed: 18446744073709551616"), 4, 9, "too large to represent"},
        {potential("kind: lennard-jones"), 4, 21, "did you mean 'lennard_jones'?"},
        {potential("kind: gravity"), 4, 21,
         "system.potential.kind can't be 'gravity'; use one of lennard_jones, soft_sphere"},
        {potential("repulsive: 14"), 4, 26,
         "system.potential.repulsive belongs to kind mie, and this potential is of kind lennard_jones; remove it, or "
         "write kind: mie"},
        {potential("kind: mie, repulsiv: 14"), 4, 26, "did you mean 'repulsive'?"},
        {potential("kind: mie, repulsive: 13"), 4, 37,
         "system.potential.repulsive is 13; use an even number from 4 to 64"},
        {potential("kind: mie, repulsive: 66"), 4, 37,
         "system.potential.repulsive is 66; use an even number from 4 to 64"},
        {potential("kind: mie, repulsive: 14.5"), 4, 37, "use an even number"},
        {potential("kind: mie, repulsive: 6"), 4, 37,
         "system.potential: repulsive must be larger than attractive; change one of them"},
        {potential("kind: mie, attractive: 12"), 4, 38, "system.potential: repulsive must be larger"},
        {potential("shift: forces"), 4, 22, "did you mean 'force'?"},
        {potential("sigma: 0"), 4, 22, "system.potential.sigma is 0"},
        {potential("epsilon: -1"), 4, 24, "system.potential.epsilon is -1; use a number above 0"},
        {potential("cutoff: 0"), 4, 23, "system.potential.cutoff is 0"},
        {potential("cutoff: 11"), 4, 23, "system.potential.cutoff is 11"},
        {potential("softening: -0.1"), 4, 26, "system.potential.softening is -0.1"},
        {deck(3, "  boundary: periodic"), 3, 13, "system.boundary must be a list, not 'periodic'"},
        {deck(3, "  boundary: [periodic]"), 3, 13, "system.boundary has 1 element, not 2"},
        {deck(3, "  boundary: [periodic, open]"), 3, 24, "system.boundary.1 can't be 'open'"},
        {grid("tile: 3"), 8, 14, "grid.tile is 3; use a whole number from 4 to 512"},
        {grid("tile: [8, 600]"), 8, 18, "grid.tile.1 is 600; use a whole number from 4 to 512"},
        {grid("tile: tall"), 8, 14, "grid.tile must be a whole number, not 'tall'"},
        {grid("skin: automatic"), 8, 14, "grid.skin must be a number, not 'automatic'"},
        {grid("skin: -0.1"), 8, 14, "grid.skin is -0.1"},
        {with_balance("every: -5"), 8, 18, "balance.every is -5"},
        {with_balance("processes: 0"), 8, 22, "balance.processes is 0"},
        {output("every: -1"), 8, 17, "output.every is -1"},
        {output("fields_every: often"), 8, 24, "output.fields_every must be a whole number"},
        // Geometry
        {deck(2, "  box: [0, 50]"), 2, 9, "system.box.0 is 0; use a number above 0"},
        {deck(2, "  box: [100]"), 2, 8, "system.box has 1 element, not 2"},
        {deck(2, "  box: fti"), 2, 8, "system.box can't be 'fti'"},
        {deck(2, "  box: [100, 2000000]"), 2, 14, "system.box.1 is 2000000"},
        {slab("lower: [10, 10], upper: [140, 40]"), 6, 33, "slab 0 ends outside the box, at x = 140"},
        {slab("lower: [10, -1], upper: [40, 40]"), 6, 20, "slab 0 begins outside the box, at y = -1"},
        {slab("lower: [40, 10], upper: [40, 40]"), 6, 33, "slab 0 has no width along x"},
        {deck(6, "    - {lower: [10, 10], upper: [40, 40]}\n    - {lower: [39, 39], upper: [45, 45]}"), 7, 15,
         "slab 1 overlaps slab 0"},
        {slab("lower: [10, 10], upper: [40, 41], shape: ball"), 6, 37,
         "slab 0 is a ball, 30 wide along x and 31 along y; give equal sides, for those of x 40"},
        {slab("lower: [10, 10], upper: [40, 40], shape: sphere"), 6, 49,
         "system.slabs.0.shape can't be 'sphere'; use one of box, ball"},
        {deck(6,
              "    - {lower: [1, 1], upper: [21, 21], shape: ball}\n    - {lower: [15, 15], upper: [35, 35], "
              "shape: ball}"),
         7, 15, "slab 1 overlaps slab 0"},
        {slab("lower: [10, 10], upper: [40, 40], density: 0"), 6, 51, "system.slabs.0.density is 0"},
        {slab("lower: [10, 10], upper: [40, 40], temperature: -1"), 6, 55, "system.slabs.0.temperature is -1"},
        {slab("lower: [10, 10], upper: [40, 40], lattice: square"), 6, 51,
         "system.slabs.0.lattice can't be 'square'; use one of hexagonal, sc, bcc, fcc, hcp"},
        {slab("lower: [10, 10], upper: [40, 40], velocity: [2500, 0]"), 6, 52, "cross a cell of 2.5 in one step"},
        {slab("lower: [10, 10], upper: [40, 40], velocity: [0, -2048]"), 6, 56,
         "slab 0 drifts at -2048 along y, and velocities stay below 2048; use a slower slab"},
        {slab("lower: [10, 10], upper: [40, 40], temperature: 200000"), 6, 55, "cross a cell of 2.5 in one step"},
        {slab("lower: [10, 10], upper: [40, 40], velocity: 5"), 6, 52,
         "system.slabs.0.velocity must be a list, not '5'"},
        {"system:\n  box: [1000000, 1000000]\n  slabs: [{lower: [0, 0], upper: [999999, 999999], density: 2}]\nrun: "
         "{dt: 0.001, steps: 1}\n",
         3, 61, "particles, more than 2^40"},
        {deck(5, "  slabs: []").substr(0, deck(5, "  slabs: []").find("    -")) + "run: {dt: 0.001, steps: 10}\n", 5,
         10, "system.slabs is empty"},
        {deck(6, "    - {lower: [10, 10], upper: [40, 40]}\n    - 5"), 7, 7,
         "system.slabs.1 must be a map of keys, not '5'"},
        {deck(6, repeat("    - {lower: [10, 10], upper: [40, 40]}\n", 501)), 506, 0, "more than 500 slabs"},
        {slab("cells: [10, 10]"), 6, 15, "cells need a box that fits them"},
        {slab("cells: [10, 10], lower: [1, 1]"), 6, 32, "system.slabs.0.lower beside cells"},
        {fit("cells: [40, 20], shape: ball"), 5, 32, "system.slabs.0.shape beside cells; remove one"},
        {fit("lower: [10, 10], upper: [40, 40]"), 5, 15, "box: fit needs a slab with cells"},
        {fit("cells: [40, 20]", "[periodic, reflecting]"), 3, 24, "box: fit needs periodic boundaries"},
        {fit("cells: [40, 20]}\n    - {cells: [40, 20]"), 6, 7, "box: fit with 2 slabs"},
        {fit("cells: [40, 0]"), 5, 20, "system.slabs.0.cells.1 is 0"},
        {fit("cells: [4, 20]"), 5, 0, "too short for a periodic axis"},
        {fit("cells: [4000000, 20]"), 5, 0, "more than 2^20"},
        {grid("cell: 2.4"), 8, 14, "grid.cell is 2.4, smaller than the cutoff 2.5; use at least 2.5"},
        {grid("cell: 10.5"), 8, 14, "grid.cell is 10.5"},
        {"system:\n  box: [1e-6, 1e-6]\n  potential: {cutoff: 1e-9}\n  slabs: [{lower: [0, 0], upper: [1e-7, 1e-7], "
         "density: 1}]\nrun: {dt: 0.001, steps: 1}\ngrid: {cell: 1e-9}\n",
         6, 14, "grid.cell is 1e-09, and cells are multiples of 2^-26 wide; use at least 2^-25"},
        {grid("skin: 8"), 8, 14, "cutoff + skin is 10.5, more than 10"},
        {"system:\n  box: [5.5, 50]\n  slabs: [{lower: [0, 0], upper: [5, 5]}]\nrun: {dt: 0.001, steps: 1}\n", 2, 9,
         "too short for a periodic axis"},
        {"system:\n  box: [50, 6]\n  slabs: [{lower: [0, 0], upper: [5, 5]}]\nrun: {dt: 0.001, steps: 1}\ngrid: {skin: "
         "0.6}\n",
         2, 13, "too short for a periodic axis"},
        {"system:\n  box: [50, 2]\n  boundary: [periodic, reflecting]\n  slabs: [{lower: [0, 0], upper: [5, 2]}]\nrun: "
         "{dt: 0.001, steps: 1}\n",
         2, 13, "shorter than a cell of 2.5"},
        {"system:\n  box: [1e6, 50]\n  potential: {cutoff: 0.5}\n  slabs: [{lower: [0, 0], upper: [5, 2]}]\nrun: {dt: "
         "0.001, steps: 1}\ngrid: {cell: 0.6}\n",
         6, 14, "cells along x, more than 2^20"},
        // What is wrong along z only.
        {space(20, "upper: [19, 19, 25]"), 5, 42, "ends outside the box, at z = 25"},
        {space(20, "upper: [19, 19, 1]"), 5, 42, "no width along z"},
        {space(2, "upper: [19, 19, 2]", "reflecting"), 2, 17, "shorter than a cell"},
        {space(4, "upper: [19, 19, 3]"), 2, 17, "too short for a periodic axis"},
        {space(20, "upper: [11, 11, 13], shape: ball"), 5, 0, "12 along z"},
        {space(20, "upper: [19, 19, 19], lattice: hexagonal"), 5, 0, "lattice of two dimensions"},
        {space(20, "upper: [19, 19, 19], velocity: [0, 0, 5000]"), 5, 0, "cross a cell"},
        {fit("cells: [8, 8, 8], lattice: fcc", "[periodic, periodic, reflecting]"), 3, 34,
         "box: fit needs periodic boundaries"},
        {with_balance("processes: 801"), 8, 22, "801 processes for 800 cells; use at most 800"},
    };
    return decks;
}

}  // namespace

TEST_CASE("the deck that bad ones derive from is good") {
    CHECK_NOTHROW(app::parse_deck(deck(), "deck.yaml"));
    CHECK_NOTHROW(app::parse_deck(with_balance("processes: 800"), "deck.yaml"));
    CHECK_NOTHROW(app::parse_deck(fit("cells: [40, 20]"), "deck.yaml"));
}

TEST_CASE("bad decks are refused where they are bad") {
    REQUIRE(bad_decks().size() >= 48);
    for (const BadDeck& bad : bad_decks()) {
        std::string error = "accepted";
        try {
            app::parse_deck(bad.text, "deck.yaml");
        } catch (const app::DeckError& e) {
            error = e.what();
        }
        INFO(bad.text.substr(0, 400) << "\n=> " << error);
        CHECK(error.rfind(
                  "deck.yaml:" + std::to_string(bad.line) + ":" + (bad.column ? std::to_string(bad.column) + ":" : ""),
                  0) == 0);
        CHECK(error.find(bad.what) != std::string::npos);
        CHECK(error.find("; ") != std::string::npos);
        CHECK(error.find("; ") + 2 < error.size());
        CHECK(error.find('\n') == std::string::npos);
        CHECK(error.size() < 250);
    }
}

TEST_CASE("hostile decks are refused quickly") {
    const auto start = std::chrono::steady_clock::now();
    const int most = 256 * 1024 - 2;
    for (const char* unit : {"[", "{",   "- ", "? ", "a: ", "\"", "1,",  "a\n", "- a\n", "&a ", "!", "*a ",
                             "'", "|\n", "#",  "%",  ":",   "-",  "{a,", "[a,", "\n",    "\t",  " "})
        CHECK_THROWS_AS(app::parse_deck(repeat(unit, most / static_cast<int>(std::string(unit).size())), "deck.yaml"),
                        app::DeckError);
    std::string keys;
    for (int i = 0; i < 20'000; ++i) keys += "k" + std::to_string(i) + ": 1\n";
    CHECK_THROWS_AS(app::parse_deck(keys, "deck.yaml"), app::DeckError);
    CHECK_THROWS_AS(app::parse_deck(std::string(most + 3, ' '), "deck.yaml"), app::DeckError);
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    CHECK(seconds.count() < 20);
}

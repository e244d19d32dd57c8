// SPDX-License-Identifier: MIT
// Bad decks: each is refused with one line that says where, what and what to do.
#include <catch2/catch.hpp>
#include <chrono>

#include "app/deck/deck.hpp"

namespace {

/// A deck with the mark @ at the place of its error, and a part of the message.
struct BadDeck {
    std::string text, message;
};

/// A good deck of seven lines, with one of them replaced, and more lines.
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
std::string more(const std::string& line) { return deck(0, "", line + "\n"); }
std::string grid(const std::string& keys) { return more("grid: {" + keys + "}"); }
std::string balanced(const std::string& keys) { return more("balance: {" + keys + "}"); }
std::string compared(const std::string& keys) { return balanced("compare: [{model: a1, " + keys + "}]"); }
std::string output(const std::string& keys) { return more("output: {" + keys + "}"); }
std::string slab(const std::string& keys) { return deck(6, "    - {" + keys + "}"); }
/// A slab of 30 by 30 with more keys.
std::string wide(const std::string& keys) { return slab("lower: [10, 10], upper: [40, 40], " + keys); }
std::string potential(const std::string& keys) { return deck(4, "  potential: {" + keys + "}"); }
/// A deck of one section system and a run.
std::string system(const std::string& lines, const std::string& more = "") {
    return "system:\n  " + lines + "\nrun: {dt: 0.001, steps: 1}\n" + more;
}
const std::string corner = "\n  slabs: [{lower: [0, 0], upper: [5, 2]}]";
/// In three dimensions, with a box of 20 along x and y.
std::string space(const std::string& height, const std::string& slab, const std::string& boundary = "periodic") {
    return system("box: [20, 20, " + height + "]\n  boundary: [periodic, periodic, " + boundary +
                  "]\n  slabs:\n    - {lower: [1, 1, 1], " + slab + "}");
}
std::string fit(const std::string& slab, const std::string& boundary = "[periodic, periodic]") {
    return system("box: fit\n  boundary: " + boundary + "\n  slabs:\n    - {" + slab + "}");
}
std::string ball(const std::string& lower, const std::string& upper) {
    return "    - {lower: " + lower + ", upper: " + upper + ", shape: ball}";
}
std::string repeat(const std::string& s, int n) {
    std::string out;
    for (int i = 0; i < n; ++i) out += s;
    return out;
}
/// The text with the mark before a part of it.
std::string at(const std::string& part, std::string text) { return text.insert(text.find(part), "@"); }

const std::vector<BadDeck> bad_text{
    {"@", "the deck is empty"},
    {"@# only a comment\n\n", "the deck is empty"},
    {"@---\n", "the deck is empty"},
    {"@just words\n", "the file must be a map of keys, not 'just words'"},
    {"@- 1\n- 2\n", "the file must be a map of keys, not a list"},
    {more("@---\nrun: 1"), "a second document begins here"},
    {more("@run: {dt: 0.002, steps: 3}"), "'run' stands twice"},
    {deck(7, "run: {dt: 0.001, steps: 10, @dt: 0.002}"), "'dt' stands twice"},
    {deck(7, "run: @&r {dt: 0.001, steps: 10}"), "anchor '&r'"},
    {"a: @&a [*a]\n", "anchor '&a'"},
    {"a: @*a\n", "not valid YAML"},
    {deck(7, "run: {dt: @!!float 0.001, steps: 10}"), "the tag 'tag:yaml.org,2002:float'"},
    {deck(7, "run: @!mine {dt: 0.001, steps: 10}"), "the tag '!mine'"},
    {deck(7, "run: {dt: 0.001, steps: 10", "@"), "not valid YAML"},
    {deck(7, "run: {dt: 0.001@: 2, steps: 10}"), "not valid YAML"},
    {deck(4, "@\tpotential: {}"), "a tab; YAML indents by spaces: replace it by spaces"},
    {deck(4, "  @\tpotential: {}"), "a tab; YAML indents by spaces: replace it by spaces"},
    {deck(7, "run:\n@\tdt: 0.001\n\tsteps: 10"), "a tab; YAML indents by spaces: replace it by spaces"},
    {deck(7, "run:\n  dt: 0.001\n@\tsteps: 10"), "a tab; YAML indents by spaces: replace it by spaces"},
    {deck(7, "run: {dt: 0.001@: 2,\tsteps: 10}"), "not valid YAML"},
    {deck(7, "run: @\"dt"), "run must be a map of keys"},
    {deck(7, "run: {dt: 0.001, ? @[a] : 1}"), "a list in place of a key"},
    {deck(7, "run: {dt: 0.001, @~: 1}"), "an empty key"},
    {"a: " + repeat("[", 31) + "@" + repeat("[", 9) + repeat("]", 40) + "\n", "nested deeper than 32 levels"},
    {"a: [" + repeat("1,", 15'997) + "@1,1,1,1]\n", "more than 16000 keys and values"},
    {more("# caf@\xe9"), "byte 0xe9 is not valid UTF-8"},
    {more("# @\xed\xa0\x80"), "not valid UTF-8"},
    {more("# @\xc0\x80"), "not valid UTF-8"},
    {deck(0, "", std::string("# @\0\n", 5)), "a NUL byte"},
    {more("# @\x1b[31m"), "control character 0x1b"},
};

const std::vector<BadDeck> bad_keys{
    {"@sytem:\n" + deck().substr(8), "unknown key 'sytem'; did you mean 'system'?"},
    {more("@dt: 0.1"), "unknown key 'dt'; it belongs at run.dt"},
    {more("@zzz: 1"), "unknown key 'zzz'; use one of system, run, grid, balance, output"},
    {deck(7, "run: {dt: 0.001, steps: 10, @presision: mixed}"),
     "unknown key 'presision' in run; did you mean 'precision'?"},
    {potential("@cut_off: 3"), "unknown key 'cut_off' in system.potential; did you mean 'cutoff'?"},
    {slab("lower: [10, 10], @uper: [40, 40]"), "unknown key \'uper\' in system.slabs.0; did you mean 'upper'?"},
    {deck(7, "run: {dt: 0.001, steps: 10, @\"a\\nb\": 1}"), "unknown key 'a\\x0ab'"},
    {more("@<<: {a: 1}"), "unknown key '<<'"},
    {at("system:", deck(7, "")), "run is missing"},
    {"@run: {dt: 0.001, steps: 1}\n", "system is missing"},
    {at("system:", deck(2, "")), "system.box is missing"},
    {"run: {dt: 0.001, steps: 1}\n@system: {box: [10, 10]}\n", "system has neither slabs nor bodies"},
    {deck(7, "@run: {dt: 0.001}"), "run.steps is missing"},
    {deck(7, "@run: {steps: 1}"), "run.dt is missing"},
    {deck(6, "    - @{lower: [1, 1]}"), "system.slabs.0.upper is missing"},
    {more("@grid:"), "grid is empty"},
    {more("grid: @5"), "grid must be a map of keys, not '5'"},
    {more("grid:\n  @- cell"), "grid must be a map of keys, not a list"},
    {more("checkpoint: {keep: @0}"), ""},
};

const std::vector<BadDeck> bad_machines_and_loads{
    {more("machine: {nodes: @0}"), "machine.nodes is 0; use a whole number from 1"},
    {more("machine: {@node: 2}"), "unknown key 'node' in machine; did you mean 'nodes'?"},
    {more("machine: {nodes: 3, accelerators_per_node: @[1, 2]}"),
     "machine.accelerators_per_node has 2 values for 3 nodes; write machine.nodes: 2, or one value for all nodes"},
    {more("machine: {core_speed: @[1, 2]}"), "2 values for a number of nodes that is not given"},
    {more("machine: {nodes: 2, cores_per_cpu: @[8, 4, 2]}"),
     "machine.cores_per_cpu has 3 values for 2 nodes; write machine.nodes: 3"},
    {more("machine: {nodes: 2, accelerator_speed: @[6, 3, 1]}"), "machine.accelerator_speed has 3 values for 2 nodes"},
    {"@name: node\nnodes: 2\ncore_speed: [1, 2]\n", "a machine file, not a deck; give it by --machine"},
    {more("machine: {core_speed: @[]}"), "machine.core_speed is empty"},
    {more("machine: {nodes: 2, core_speed: [1, @0]}"), "machine.core_speed.1 is 0"},
    {more("machine: {nodes: @100000, cpus_per_node: 1000}"), "more than 2^24"},
    {more("load: {kind: @slab}"), "load.kind can't be 'slab'; did you mean 'slabs'?"},
    {more("@load: {kind: checkpoint}"), "load.file is missing; give the path of the file"},
    {more("load: {file: @a.h5}"), "load.file has no meaning for this load.kind; remove it"},
    {more("load: {kind: dataset, file: @[a]}"), "load.file must be a path"},
    {more("load: {kind: dataset, file: a.h5, cells: @[3, 4]}"), "load.cells has no meaning"},
    {more("load: {kind: uniform, cells: @[3]}"), "load.cells has 1 element, not 2 or 3"},
    {more("load: {kind: uniform, cells: [3, @0]}"), "load.cells.1 is 0"},
    {balanced("partition: {algorithm: @outer}"), "balance.partition.algorithm can't be 'outer'"},
};

const std::vector<BadDeck> bad_balancing{
    {more("accelerator: {backend: @gpu}"), "accelerator.backend"},
    {more("accelerator: {backend: host}\nbalance: {every: 5, model: @r1_ahead}"),
     "r1_ahead doesn't know where the particles of an accelerator fly; use r1, or no accelerator"},
    {more("accelerator: {share: @1.5}"), "accelerator.share"},
    {more("comm: {order: @fast}"), "comm.order can't be 'fast'"},
    {balanced("model: @a3"), "balance.model can't be 'a3'; did you mean 'a1'?"},
    {balanced("noise: @1.5"), "balance.noise is 1.5"},
    {balanced("compare: [hybrid, @hybrid]"), "hybrid is there twice"},
    {balanced("compare: [@r1]"), "r1 is there twice"},
    {balanced("compare: @[a1]"), "models can be compared by counted work only"},
    {balanced("compare: [@{criterion: menon}]"), "balance.compare.0.model is missing"},
    {balanced("compare: [{model: @r2}]"), "balance.compare.0.model can't be 'r2'; did you mean 'r1'?"},
    {compared("@citerion: zhai"), "did you mean 'criterion'?"},
    {compared("criterion: @zai"), "balance.compare.0.criterion can't be 'zai'"},
    {compared("criteria: {threshold: @2}"), "balance.compare.0.criteria.threshold is 2"},
    {compared("partition: {kind: @morton}"), "balance.compare.0.partition.kind can't be 'morton'"},
    {compared("partition: {@algorithm: greedy}"), "unknown key 'algorithm' in balance.compare.0.partition"},
    {balanced("compare: @[{model: a1, partition: {kind: rcb, max_particles_per_process: 9}}]"),
     "compared by counted work only"},
    {balanced("clock: work, compare: [{model: a1, partition: {kind: rcb, max_particles_per_process: @9}}]"),
     "partitions of kind rcb know no limit"},
    {compared("name: @a b"), "balance.compare.0.name must be 1 to 60 letters"},
    {compared("name: @."), "balance.compare.0.name must be 1 to 60 letters"},
    {compared("name: @x/y"), "balance.compare.0.name must be 1 to 60 letters"},
    {compared("name: @speeds"), "balance.compare.0.name can't be speeds"},
    {balanced("compare: [@{model: a1, name: r1}]"), "r1 is there twice; leave the driver out"},
    {balanced("compare: [a1, @{model: b1, name: a1}]"), "a1 is there twice; name each once, or give one a name"},
    {balanced("compare: [@[a1]]"), "balance.compare.0 must be a map of keys, not a list"},
    {balanced("from_step: 20, to_step: @20"), "20 is not beyond from_step = 20; make it larger"},
    {balanced("criterion: gain, migrate: @gain"), "balance.migrate is given beside balance.criterion"},
    {balanced("partition: {kind: @nestde}"), "balance.partition.kind can't be 'nestde'; did you mean 'nested'?"},
    {balanced("partition: {cut: @lines}"), "balance.partition.cut can't be 'lines'"},
    {balanced("partition: {patches_per_process: @0}"), "is 0"},
    {balanced("partition: {kind: rcb, max_particles_per_process: @50}"),
     "partitions of kind rcb know no limit; write kind: chain, or null for no limit"},
    {balanced("partition: {max_particles_per_process: @50, kind: none}"), "partitions of kind none know no limit"},
    {balanced("constants: {threshold: @0.2}"), "is 0.2"},
    {balanced("constants: {costs: @[1, 2]}"), "costs"},
    {balanced("work: {pair: @-1}"), "is -1"},
    {balanced("partition: {kind: @nonne}"), "balance.partition.kind can't be 'nonne'; did you mean 'none'?"},
};

const std::vector<BadDeck> bad_dimensions{
    {at("[periodic, r", deck(2, "  box: [100, 50, 20]")), "system.boundary has 2 values, and system.box has 3; give 3"},
    {deck(2, "  box: @[100, 50, 20, 5]"), "system.box has 4 elements, not 2"},
    {deck(3, "  boundary: [periodic, reflecting, @periodic]"), "has 3 values, and system.box has 2; give 2"},
    {slab("lower: [10, 10, @10], upper: [40, 40]"), "slabs.0.lower has 3 values, and system.box has 2"},
    {wide("velocity: [1, 2, @3]"), "velocity has 3 values"},
    {wide("lattice: @fcc"), "fcc is a lattice of three dimensions"},
};

const std::vector<BadDeck> bad_values{
    {deck(7, "run: {dt: @fast, steps: 10}"), "run.dt must be a number, not 'fast'"},
    {deck(7, "run: {dt: @[1], steps: 10}"), "run.dt must be a number, not a list"},
    {deck(7, "run: {dt: @'0.001', steps: 10}"), "not the quoted text '0.001'; remove the quotes"},
    {deck(7, "run: {@dt: , steps: 10}"), "run.dt has no value"},
    {deck(7, "run: {dt: @.nan, steps: 10}"), "run.dt is '.nan'; use a finite number"},
    {deck(7, "run: {dt: @.inf, steps: 10}"), "run.dt is '.inf'; use a finite number"},
    {deck(7, "run: {dt: @1e999, steps: 10}"), "too large to represent"},
    {deck(7, "run: {dt: @0, steps: 10}"), "run.dt is 0; use a number above 0 and at most 0.03"},
    {deck(7, "run: {dt: @0.031, steps: 10}"), "run.dt is 0.031"},
    {deck(7, "run: {dt: 0.001, steps: @010}"), "run.steps is '010', with a leading zero"},
    {deck(7, "run: {dt: 0.001, steps: @0x10}"), "run.steps must be a whole number, not '0x10'"},
    {deck(7, "run: {dt: 0.001, steps: @1.5}"), "run.steps is '1.5', not a whole number"},
    {deck(7, "run: {dt: 0.001, steps: @-1}"), "run.steps is -1"},
    {deck(7, "run: {dt: 0.001, steps: @9223372036854775808}"), "too large to represent"},
    {deck(7, "run: {dt: 0.001, steps: @true}"), "must be a whole number, not 'true'"},
    {deck(7, "run: {dt: 0.001, steps: 10, precision: @single}"),
     "run.precision can't be 'single'; use one of mixed, double"},
    {deck(4, "  seed: @-3"), "system.seed is '-3'; use a whole number from 0 to 2^64 - 1"},
    {deck(4, "  seed: @18446744073709551616"), "too large to represent"},
    {potential("kind: @lennard-jones"), "did you mean 'lennard_jones'?"},
    {potential("kind: @gravity"), "system.potential.kind can't be 'gravity'; use one of lennard_jones, soft_sphere"},
    {potential("repulsive: @14"),
     "system.potential.repulsive belongs to kind mie, and this potential is of kind lennard_jones; remove it, or write "
     "kind: mie"},
    {potential("kind: mie, @repulsiv: 14"), "did you mean 'repulsive'?"},
    {potential("kind: mie, repulsive: @13"), "system.potential.repulsive is 13; use an even number from 4 to 64"},
    {potential("kind: mie, repulsive: @66"), "system.potential.repulsive is 66; use an even number from 4 to 64"},
    {potential("kind: mie, repulsive: @14.5"), "use an even number"},
    {potential("kind: mie, repulsive: @6"),
     "system.potential: repulsive must be larger than attractive; change one of them"},
    {potential("kind: mie, attractive: @12"), "system.potential: repulsive must be larger"},
    {potential("shift: @forces"), "did you mean 'force'?"},
    {potential("sigma: @0"), "system.potential.sigma is 0"},
    {potential("epsilon: @-1"), "system.potential.epsilon is -1; use a number above 0"},
    {potential("cutoff: @0"), "system.potential.cutoff is 0"},
    {potential("cutoff: @11"), "system.potential.cutoff is 11"},
    {potential("softening: @-0.1"), "system.potential.softening is -0.1"},
    {deck(3, "  boundary: @periodic"), "system.boundary must be a list, not 'periodic'"},
    {deck(3, "  boundary: @[periodic]"), "system.boundary has 1 element, not 2"},
    {deck(3, "  boundary: [periodic, @open]"), "system.boundary.1 can't be 'open'"},
    {grid("tile: @3"), "grid.tile is 3; use a whole number from 4 to 512"},
    {grid("tile: [8, @600]"), "grid.tile.1 is 600; use a whole number from 4 to 512"},
    {grid("tile: @tall"), "grid.tile must be a whole number, not 'tall'"},
    {grid("skin: @automatic"), "grid.skin must be a number, not 'automatic'"},
    {grid("skin: @-0.1"), "grid.skin is -0.1"},
    {balanced("every: @-5"), "balance.every is -5"},
    {balanced("processes: @0"), "balance.processes is 0"},
    {output("every: @-1"), "output.every is -1"},
    {output("fields_every: @often"), "output.fields_every must be a whole number"},
};

const std::vector<BadDeck> bad_geometry{
    {deck(2, "  box: [@0, 50]"), "system.box.0 is 0; use a number above 0"},
    {deck(2, "  box: @[100]"), "system.box has 1 element, not 2"},
    {deck(2, "  box: @fti"), "system.box can't be 'fti'"},
    {deck(2, "  box: [100, @2000000]"), "system.box.1 is 2000000"},
    {slab("lower: [10, 10], upper: [@140, 40]"), "slab 0 ends outside the box, at x = 140"},
    {slab("lower: [10, @-1], upper: [40, 40]"), "slab 0 begins outside the box, at y = -1"},
    {slab("lower: [40, 10], upper: [@40, 40]"), "slab 0 has no width along x"},
    {deck(6, "    - {lower: [10, 10], upper: [40, 40]}\n    - {lower: @[39, 39], upper: [45, 45]}"),
     "slab 1 overlaps slab 0"},
    {slab("lower: [10, 10], upper: [40, @41], shape: ball"),
     "slab 0 is a ball, 30 wide along x and 31 along y; give equal sides, for those of x 40"},
    {wide("shape: @sphere"), "system.slabs.0.shape can't be 'sphere'; use one of box, ball"},
    {deck(6, ball("[1, 1]", "[21, 21]") + "\n" + ball("@[15, 15]", "[35, 35]")), "slab 1 overlaps slab 0"},
    {wide("density: @0"), "system.slabs.0.density is 0"},
    {wide("temperature: @-1"), "system.slabs.0.temperature is -1"},
    {wide("lattice: @square"), "system.slabs.0.lattice can't be 'square'; use one of hexagonal, sc, bcc, fcc, hcp"},
    {wide("velocity: @[2500, 0]"), "cross a cell of 2.5 in one step"},
    {wide("velocity: [0, @-2048]"),
     "slab 0 drifts at -2048 along y, and velocities stay below 2048; use a slower slab"},
    {wide("temperature: @200000"), "cross a cell of 2.5 in one step"},
    {wide("velocity: @5"), "system.slabs.0.velocity must be a list, not '5'"},
    {system("box: [1e6, 1e6]\n  slabs: [{lower: [0, 0], upper: [999999, 999999], density: @2}]"),
     "particles, more than 2^40"},
    {system("box: [100, 50]\n  slabs: @[]"), "system.slabs is empty"},
    {deck(6, "    - {lower: [10, 10], upper: [40, 40]}\n    - @5"), "system.slabs.1 must be a map of keys, not '5'"},
    {deck(6, repeat("    - {lower: [10, 10], upper: [40, 40]}\n", 500) + "    - @{lower: [10, 10], upper: [40, 40]}"),
     "more than 500 slabs"},
    {slab("cells: @[10, 10]"), "cells need a box that fits them"},
    {slab("cells: [10, 10], lower: @[1, 1]"), "system.slabs.0.lower beside cells"},
    {fit("cells: [40, 20], shape: @ball"), "system.slabs.0.shape beside cells; remove one"},
    {fit("lower: @[10, 10], upper: [40, 40]"), "box: fit needs a slab with cells"},
    {fit("cells: [40, 20]", "[periodic, @reflecting]"), "box: fit needs periodic boundaries"},
    {fit("cells: [40, 20]}\n    - @{cells: [40, 20]"), "box: fit with 2 slabs"},
    {fit("cells: [40, 20]}\n  bodies:\n    @- {shape: ball, center: [9, 9], radius: 3, density: 0.5"),
     "box: fit with 1 slab and 1 body"},
    {fit("cells: [40, @0]"), "system.slabs.0.cells.1 is 0"},
    {fit("cells: @[4, 20]"), "too short for a periodic axis"},
    {fit("cells: @[4000000, 20]"), "more than 2^20"},
    {grid("cell: @2.4"), "grid.cell is 2.4, smaller than the cutoff 2.5; use at least 2.5"},
    {grid("cell: @10.5"), "grid.cell is 10.5"},
    {system("box: [1e-6, 1e-6]\n  potential: {cutoff: 1e-9}\n  slabs: [{lower: [0, 0], upper: [1e-7, 1e-7]}]",
            "grid: {cell: @1e-9}\n"),
     "grid.cell is 1e-09, and cells are multiples of 2^-26 wide; use at least 2^-25"},
    {grid("skin: @8"), "cutoff + skin is 10.5, more than 10"},
    {system("box: [@5.5, 50]" + corner), "too short for a periodic axis"},
    {system("box: [50, @6]" + corner, "grid: {skin: 0.6}\n"), "too short for a periodic axis"},
    {system("box: [50, @2]\n  boundary: [periodic, reflecting]" + corner), "shorter than a cell of 2.5"},
    {system("box: [1e6, 50]\n  potential: {cutoff: 0.5}" + corner, "grid: {cell: @0.6}\n"),
     "cells along x, more than 2^20"},
    // Errors along z only.
    {space("20", "upper: [19, 19, @25]"), "ends outside the box, at z = 25"},
    {space("20", "upper: [19, 19, @1]"), "no width along z"},
    {space("@2", "upper: [19, 19, 2]", "reflecting"), "shorter than a cell"},
    {space("@4", "upper: [19, 19, 3]"), "too short for a periodic axis"},
    {space("20", "upper: [11, 11, @13], shape: ball"), "12 along z"},
    {space("20", "upper: [19, 19, 19], lattice: @hexagonal"), "lattice of two dimensions"},
    {space("20", "upper: [19, 19, 19], velocity: @[0, 0, 5000]"), "cross a cell"},
    {fit("cells: [8, 8, 8], lattice: fcc", "[periodic, periodic, @reflecting]"), "box: fit needs periodic boundaries"},
    {balanced("processes: @801"), "801 processes for 800 cells; use at most 800"},
};

}  // namespace

TEST_CASE("the deck that bad ones derive from is good") {
    CHECK_NOTHROW(app::parse_deck(deck(), "deck.yaml"));
    CHECK_NOTHROW(app::parse_deck(balanced("processes: 800"), "deck.yaml"));
    CHECK_NOTHROW(app::parse_deck(fit("cells: [40, 20]"), "deck.yaml"));
}

TEST_CASE("bad decks are refused where they are bad") {
    for (const auto& table :
         {bad_text, bad_keys, bad_machines_and_loads, bad_balancing, bad_dimensions, bad_values, bad_geometry})
        for (const auto& [marked, message] : table) {
            std::string text = marked;
            const std::size_t place = text.find('@');
            REQUIRE(place != std::string::npos);
            text.erase(place, 1);
            const auto line = 1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(place), '\n');
            const std::size_t column = place - (line > 1 ? text.rfind('\n', place - 1) : -1);
            std::string error = "accepted";
            try {
                app::parse_deck(text, "deck.yaml");
            } catch (const app::DeckError& e) {
                error = e.what();
            }
            INFO(marked.substr(0, 400) << "\n=> " << error);
            CHECK(error.rfind("deck.yaml:" + std::to_string(line) + ":" + std::to_string(column) + ":", 0) == 0);
            CHECK(error.find(message) != std::string::npos);
            CHECK(error.find("; ") + 2 < error.size());  // what to do
            CHECK(error.find("; ") != std::string::npos);
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

// SPDX-License-Identifier: MIT
// The deck, key by key. To add one: its member in deck.hpp and a line here. What needs more than one key is checked in
// checks.cpp; the section system is in table_system.cpp, machine, accelerator, comm and load are in table_machine.cpp.
// A restart keeps every key that isn't marked by may_change().
#include "app/deck/key.hpp"
#include "app/deck/limits.hpp"
#include "app/deck/outputs.hpp"

namespace app {
namespace {

Key tile_key(std::optional<balance::TileShape>& tile, Deck::System& system) {
    constexpr std::int64_t least = 4, most = 512;
    Key key = integers_per_axis("tile", tile, system, least, most,
                                "cells of a tile along each axis; auto: by cells and threads");
    key.allowed += ", or one for all";
    key.read = [&tile, read = std::move(key.read)](const Node& node, const std::string& path) {
        if (node.kind != Node::Kind::scalar) return read(node, path);
        const int side = static_cast<int>(to_integer(node, path, least, most));
        tile = {side, side, side};
    };
    return or_other(std::move(key), "auto", tile);
}

std::vector<Key> run_keys(Deck::Run& run) {
    return {
        required(number("dt", run.dt, {0, 0.03, true}, "time step, tau"), "give the time step, as in dt: 0.001"),
        required(integer("steps", run.steps, 0, last_step, "number of the last step"),
                 "give the number of the last step, as in steps: 2000"),
        word("precision", run.precision, "of pair arithmetic: mixed or double"),
    };
}

std::vector<Key> grid_keys(Deck::Grid& grid, Deck::System& system) {
    Key cell = number("cell", grid.cell, {0, 10, true}, "smallest side of a cell, sigma, at least the cutoff");
    cell.standard = "2D: the cutoff; 3D: 1.2 times the cutoff";
    const char* skin = "sigma; auto: guessed from speeds and dt, then tuned; 0: rebuild every step";
    return {
        std::move(cell),
        may_change(number("skin", grid.skin, {0, 10}, skin, "auto")),  // only the time of a run depends on it
        tile_key(grid.tile, system),
    };
}

std::vector<Key> partition_keys(balance::PartitionOptions& p, balance::NestedOptions& nested) {
    const std::vector<std::string> kinds = balance::partition_kind_names();
    return {
        word("kind", p.kind, kinds, with_words("partitioner", kinds) + "; none: even and fixed"),
        word("order", p.order, "of patches along the chain: morton, hilbert, tree"),
        integer("patches_per_process", p.patches_per_process, 1, 1000,
                "of the bisection; fewer where they would be too narrow"),
        word("cut", p.cut, "between patches, strips (3D: pencils) or cells"),
        flag("sticky", p.sticky, "only the cuts of the bisection move"),
        integer("min_width", p.min_width, 1, 1000, "smallest side of a patch, cells"),
        integer("processes_per_node", p.processes_per_node, 1, std::int64_t{1} << 24,
                "nested: consecutive processes on a node; null: all on one", "null"),
        integer("max_particles_per_process", p.max_size, 1, std::int64_t{1} << 50, "null: no limit", "null"),
        word("algorithm", nested.algorithm, "nested: greedy; inner_outer: accelerators get inner regions only"),
        integer("ghost_width", nested.ghost_width, 1, 100,
                "nested: cells between an accelerator and the regions that it must not touch"),
    };
}

std::vector<Key> constants_keys(balance::ModelConstants& c) {
    return {
        number("weight", c.weight, {0, 1, true}, "moving_average: of the new value"),
        number("threshold", c.threshold, {0, 0.1}, "a1, b1: alpha; 0: off"),
        word("start", c.start, "first loads of all models; particles: those of the cell; uniform: 1"),
        number("forgetting", c.forgetting, {0, 1}, "r1: weight of the past in its fit"),
        number("floor", c.floor, {0, 1}, "r1: smallest gain"),
        number("noise_weight", c.noise_weight, {0, 1e6}, "r1: squared noise levels to beat"),
        numbers("costs", c.costs, {0, 1}, "[2e-9, 1.5e-8, 6e-10, 0]",
                "r1: first guess of its fit, seconds of 1, n, n n3, n n5; 3D: n3 in 3 x 3 x 3 cells, n5 in 5 x 5 x 5"),
    };
}

std::vector<Key> work_keys(balance::WorkCosts& w) {
    constexpr NumberRange seconds{0, 1e-3}, anywhere{-longest_side, longest_side};
    const char* corner = "[10.0, 20.0]";
    return {
        number("cell", w.cell, seconds, "seconds for each cell"),
        number("particle", w.particle, seconds, "seconds for each particle"),
        number("candidate", w.candidate, seconds, "seconds for each pair in the 3 x 3 cells around; 3D: 3 x 3 x 3"),
        number("pair", w.pair, seconds, "seconds for each pair within the cutoff"),
        integer("capacity", w.capacity, 0, 1 << 30, "particles in a cell beyond which spill counts; 0: off"),
        number("spill", w.spill, seconds, "seconds for each particle beyond, times particles there"),
        number("move", w.move, seconds, "seconds for each particle that is moved to another process"),
        section("slow", "processes that run slower than the others",
                {
                    number("fraction", w.slow.fraction, {0, 1}, "of the processes, rounded down, spread evenly"),
                    number("speed", w.slow.speed, {0.01, 100}, "of each of them; the others have 1"),
                    integer("from_step", w.slow.from_step, 0, last_step, "the first step at which they are slower"),
                    integer("to_step", w.slow.to_step, 0, last_step, "and the first at which no longer; null: none",
                            "null"),
                    integer("period", w.slow.period, 1, last_step,
                            "steps; slower in every other period only; null: always", "null"),
                }),
        section(
            "region", "cells that cost more for no visible reason",
            {
                numbers("lower", w.region_lower, anywhere, corner, "corner, sigma; 3D: its x and y, and all along z"),
                numbers("upper", w.region_upper, anywhere, corner, "opposite corner, sigma; 3D: as lower"),
                number("factor", w.region_factor, {0, 1000}, "by which their counted work is multiplied"),
            }),
    };
}

std::vector<Key> balance_keys(Deck::Balance& b) {
    const std::vector<std::string> models = balance::model_names();
    const auto any_model = [models](std::string& m) { return word("", m, models, ""); };
    const char* processes = "virtual processes; null: one per rank";
    return {
        integer("every", b.every, 0, last_step, "steps between balancings; 0: never"),
        integer("processes", b.processes, 1, most_processes, processes, "null"),
        word("model", b.model, models, with_words("load model that decides", models)),
        distinct("compare", b.compare, any_model, "[time_average, hybrid]", "models evaluated beside it (clock: work)"),
        word("clock", b.clock, "wall: thread timers; work: counted, deterministic"),
        word("speeds", b.speeds,
             "of the processes: found by the run, given by machine.core_speed of their nodes, or all equal"),
        word("migrate", b.migrate, "gain: when it saves more than it costs; always"),
        number("noise", b.noise, {0, 1}, "relative noise on the times that models see (studies)"),
        section("partition", "", partition_keys(b.partition, b.nested)),
        section("constants", "of the load models", constants_keys(b.constants)),
        section("work", "costs of counted work (clock: work)", work_keys(b.work)),
    };
}

std::vector<Key> output_keys(Deck::Output& o) {
    const auto column = [](Column& c) { return word("", c, ""); };
    std::vector<Key> keys{integer("every", o.every, 0, last_step, "steps between rows of thermo.csv; 0: never")};
#define STEELYARD_KEY(name, meaning) keys.push_back(integer(#name "_every", o.intervals[#name], 0, last_step, meaning));
    STEELYARD_OUTPUTS(STEELYARD_KEY)
#undef STEELYARD_KEY
    keys.push_back(distinct("trajectory_columns", o.trajectory_columns, column, "[position, velocity, force]",
                            with_words("what a frame holds", balance::all_words<Column>())));
    return keys;
}

std::vector<Key> checkpoint_keys(Deck::Checkpoint& c) {
    const char* limit = "wall time, then stop with a checkpoint; null: none";
    return {
        integer("every", c.every, 0, last_step, "steps between checkpoints; 0: only when stopped early"),
        integer("keep", c.keep, 1, 1000000, "newest checkpoints that stay"),
        number("time_limit_seconds", c.time_limit_seconds, {0, 1e9, true}, limit, "null"),
    };
}

}  // namespace

std::vector<Key> deck_keys(Deck& deck) {
    return {
        required(section("system", "", system_keys(deck.system)), "add a section system"),
        required(may_change(section("run", "", run_keys(deck.run))), "add a section run"),
        section("grid", "", grid_keys(deck.grid, deck.system)),
        may_change(section("balance", "", balance_keys(deck.balance))),
        may_change(section("output", "", output_keys(deck.output))),
        may_change(section("checkpoint", "", checkpoint_keys(deck.checkpoint))),
        may_change(section("machine", "nodes, CPUs, cores and accelerators, for `steelyard partition`",
                           machine_keys(deck.machine))),
        may_change(
            section("accelerator",
                    "an accelerator beside the CPU of each rank, which computes a part of its cells: docs/zones.md",
                    accelerator_keys(deck.accelerator))),
        may_change(section("comm", "in which messages the ranks send each other what they need: docs/messages.md",
                           comm_keys(deck.comm))),
        may_change(section("load", "of the cells, for `steelyard partition`", load_keys(deck.load))),
    };
}

const std::vector<Key>& standard_keys() {
    static Deck deck;
    static const std::vector<Key> keys = (deck.system.slabs.resize(1), deck_keys(deck));
    return keys;
}

}  // namespace app

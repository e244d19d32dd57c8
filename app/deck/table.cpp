// SPDX-License-Identifier: MIT
// The deck, key by key. To add one: its member in deck.hpp and a line here. What needs more than one key is checked in
// checks.cpp. A restart keeps every key that isn't marked by may_change().
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "app/deck/key.hpp"
#include "app/deck/limits.hpp"
#include "app/deck/wording.hpp"
#include "md/potential.hpp"

namespace app {
namespace {

constexpr NumberRange anywhere{-longest_side, longest_side};

std::string names(const char* what, const std::vector<std::string>& words) {
    return fmt::format("{}: {}", what, fmt::join(words, ", "));
}

template <class Numbers>
Key numbers(const char* name, Numbers& xs, const NumberRange& range, const char* example, const char* meaning) {
    return list(
        name, xs, [range](double& x) { return number("", x, range, ""); }, example, meaning);
}

Key corner(const char* name, std::array<double, 2>& x, const char* meaning) {
    return numbers(name, x, anywhere, "[10.0, 20.0]", meaning);
}

// Two whole numbers; no such key where there are none.
template <class Pair>
Key integer_pair(const char* name, std::optional<Pair>& x, std::int64_t low, std::int64_t high, const char* meaning) {
    Key key{name, meaning, "a list of 2, each " + allowed(low, high)};
    key.read = [&x, low, high](const Node& node, const std::string& path) {
        const std::vector<Node>& items = to_list(node, path, 2, "[100, 200]");
        const std::int64_t first = to_integer(items[0], path + ".0", low, high);
        using Integer = typename Pair::value_type;
        x = Pair{static_cast<Integer>(first), static_cast<Integer>(to_integer(items[1], path + ".1", low, high))};
    };
    key.text = [&x] { return x ? fmt::format("[{}, {}]", (*x)[0], (*x)[1]) : std::string(); };
    return key;
}

// Words, each at most once.
template <class Word>
Key word_list(const char* name, std::vector<Word>& xs, const std::vector<std::string>& words, const char* example,
              const std::string& meaning) {
    Key key = list(
        name, xs, [words](Word& x) { return word("", x, words, ""); }, example, meaning);
    key.allowed = "a list, each " + allowed(words);
    key.read = [&xs, example, read = std::move(key.read)](const Node& node, const std::string& path) {
        xs.resize(to_list(node, path, 0, example).size());
        read(node, path);
        for (auto x = xs.begin(); x != xs.end(); ++x)
            if (const Node& item = node.items[x - xs.begin()]; std::find(xs.begin(), x, *x) != x)
                fail(item.where, item.text + " is there twice", "name each once");
    };
    return key;
}

Key box_key(Deck::System& s) {
    const char *example = "[700.0, 300.0]", *meaning = "lengths, sigma, whole numbers of 2^-26; or fit";
    Key key = numbers("box", s.box, {0, longest_side, true}, example, meaning);
    key.allowed += ", or fit";
    if (s.box_fit) key.meaning = fmt::format("to the slab's cells: {} sigma", key.text());
    key.text = [&s, text = std::move(key.text)] { return s.box_fit ? "fit" : text(); };
    key.read = [&s, example, read = std::move(key.read)](const Node& node, const std::string& path) {
        s.box_fit = is_word(node, "fit");
        if (s.box_fit) return;
        if (node.kind == Node::Kind::scalar)
            fail(node.where, fmt::format("{} can't be {}", path, quote(node.text)),
                 fmt::format("write two lengths as in {}, or fit", example));
        if (node.kind == Node::Kind::list && node.items.size() == 3)
            fail(node.items[2].where, "a third dimension is not in this version yet", "give two lengths");
        read(node, path);
    };
    return required(std::move(key), "give its lengths, as in box: [700.0, 300.0], or box: fit");
}

std::vector<Key> potential_keys(md::PotentialSpec& p) {
    const std::vector<std::string> kinds = md::potential_kinds();
    std::vector<Key> keys = {
        word("kind", p.kind, kinds, names("pair potential", kinds)),
        number("epsilon", p.epsilon, {0, 1e6, true}, "depth, energy"),
        number("sigma", p.sigma, {0.001, 1000}, "diameter, length"),
        number("cutoff", p.cutoff, {0, 10, true}, "largest distance of a pair, length"),
        number("softening", p.softening, {0, 10}, "length; r^2 -> r^2 + softening^2"),
        word("shift", p.shift, {"none", "energy", "force"}, "what is 0 at the cutoff: none, energy, force"),
    };
    for (const std::string& kind : kinds)
        for (std::size_t i = 0; const md::Parameter& own : md::own_parameters(kind)) {
            const NumberRange range{own.low, own.high, false, own.multiple_of};
            Key key = number(std::string(own.name), p.own[i++], range, std::string(own.meaning));
            key.allowed += ", with kind: " + kind;
            key.standard = fmt::format("`{}`", own.standard);
            const auto why = [&p, kind] {
                return p.kind == kind
                           ? ""
                           : fmt::format("belongs to kind {}, and this potential is of kind {}", kind, p.kind);
            };
            keys.push_back(unless(std::move(key), why, "remove it, or write kind: " + kind));
        }
    return keys;
}

std::vector<Key> slab_keys(md::Slab& s) {
    const auto without_cells = [&s](Key key) {
        return unless(
            required(std::move(key), "give lower and upper as [x, y], or cells with box: fit"),
            [&s] { return s.cells ? "beside cells" : ""; }, "remove one: cells fill the whole box");
    };
    static int only_lattice = 0;  // a key for decks to come
    return {
        integer_pair("cells", s.cells, 1, std::int64_t{1} << 24, "lattice cells along x and y, two particles each"),
        without_cells(corner("lower", s.lower, "corner, sigma")),
        without_cells(corner("upper", s.upper, "opposite corner, sigma")),
        word("lattice", only_lattice, {"hexagonal"}, "the only one"),
        number("density", s.density, {0, densest, true}, "particles / sigma^2"),
        number("temperature", s.temperature, {0, hottest}, "epsilon / k"),
        numbers("velocity", s.velocity, {-fastest, fastest}, "[10.0, 20.0]", "drift, sigma / tau"),
    };
}

Key slabs_key(std::vector<md::Slab>& slabs) {
    Key key{"slabs", "each by its corners, or by cells with box: fit",
            fmt::format("a list of 1 to {} slabs", most_slabs)};
    key.read = [&slabs](const Node& node, const std::string& path) {
        const std::size_t n = to_list(node, path, 0, "slabs: [{lower: [0, 0], upper: [50, 50]}]").size();
        if (n == 0) fail(node.where, path + " is empty", "give at least one slab");
        if (n > most_slabs)
            fail(node.items[most_slabs].where, fmt::format("more than {} slabs", most_slabs), "merge some of them");
        slabs.resize(n);
    };
    key.elements = [&slabs] {
        std::vector<std::vector<Key>> all;
        for (md::Slab& slab : slabs) all.push_back(slab_keys(slab));
        return all;
    };
    return required(std::move(key), "give a list of slabs");
}

std::vector<Key> system_keys(Deck::System& s) {
    Key seed{"seed", "of the thermal velocities", "a whole number from 0 to 2^64 - 1"};
    seed.read = [&s](const Node& node, const std::string& path) { s.seed = to_unsigned(node, path); };
    seed.text = [&s] { return std::to_string(s.seed); };
    const auto boundary = [](Boundary& b) { return word("", b, {"periodic", "reflecting"}, ""); };
    return {
        box_key(s),
        list("boundary", s.boundary, boundary, "[periodic, reflecting]", "each axis: periodic or reflecting"),
        std::move(seed),
        section("potential", "", potential_keys(s.potential)),
        slabs_key(s.slabs),
    };
}

Key tile_key(std::optional<balance::TileShape>& tile) {
    constexpr std::int64_t least = 4, most = 512;
    Key key = integer_pair("tile", tile, least, most, "cells of a tile along x and y; auto: by cells and threads");
    key.allowed += ", or one for both";
    key.read = [&tile, read = std::move(key.read)](const Node& node, const std::string& path) {
        if (node.kind != Node::Kind::scalar) return read(node, path);
        const int side = static_cast<int>(to_integer(node, path, least, most));
        tile = {side, side};
    };
    return or_other(std::move(key), "auto", tile);
}

std::vector<Key> run_keys(Deck::Run& run) {
    return {
        required(number("dt", run.dt, {0, 0.03, true}, "time step, tau"), "give the time step, as in dt: 0.001"),
        required(integer("steps", run.steps, 0, last_step, "number of the last step"),
                 "give the number of the last step, as in steps: 2000"),
        word("precision", run.precision, {"mixed", "double"}, "of pair arithmetic: mixed or double"),
    };
}

std::vector<Key> grid_keys(Deck::Grid& grid) {
    Key cell = number("cell", grid.cell, {0, 10, true}, "smallest side of a cell, sigma, at least the cutoff");
    cell.standard = "the cutoff";
    const char* skin = "sigma; auto: guessed from speeds and dt, then tuned; 0: rebuild every step";
    return {
        std::move(cell),
        may_change(number("skin", grid.skin, {0, 10}, skin, "auto")),  // only the time of a run depends on it
        tile_key(grid.tile),
    };
}

std::vector<Key> partition_keys(balance::PartitionOptions& p) {
    const std::vector<std::string> kinds = balance::partition_kind_names();
    return {
        word("kind", p.kind, kinds, names("partitioner", kinds) + "; none: even and fixed", {"nested"}),
        word("order", p.order, {"morton", "hilbert", "tree"}, "of patches: morton, hilbert, tree"),
        integer("patches_per_process", p.patches_per_process, 1, 1000, "fewer where they would be too narrow"),
        word("cut", p.cut, {"patches", "strips", "cells"}, "between patches, strips or cells"),
        word("sticky", p.sticky, {"false", "true"}, "only the cuts of the bisection move"),
        integer("min_width", p.min_width, 1, 1000, "of a patch, cells"),
        integer("max_particles_per_process", p.max_size, 1, std::int64_t{1} << 50, "null: no limit", "null"),
    };
}

std::vector<Key> constants_keys(balance::ModelConstants& c) {
    return {
        number("weight", c.weight, {0, 1, true}, "moving_average: of the new value"),
        number("threshold", c.threshold, {0, 0.1}, "a1, b1: alpha; 0: off"),
        word("start", c.start, {"particles", "uniform"},
             "first loads of all models: 1 for each cell, or its particles"),
        number("forgetting", c.forgetting, {0, 1}, "r1: weight of the past in its fit"),
        number("floor", c.floor, {0, 1}, "r1: smallest gain"),
        number("noise_weight", c.noise_weight, {0, 1e6}, "r1: squared noise levels to beat"),
        numbers("costs", c.costs, {0, 1}, "[2e-9, 1.5e-8, 6e-10, 0]",
                "r1: first guess of its fit, seconds of 1, n, n n3, n n5"),
    };
}

std::vector<Key> work_keys(balance::WorkCosts& w) {
    constexpr NumberRange seconds{0, 1e-3};
    return {
        number("cell", w.cell, seconds, "seconds for each cell"),
        number("particle", w.particle, seconds, "seconds for each particle"),
        number("candidate", w.candidate, seconds, "seconds for each pair in the 3 x 3 cells around"),
        number("pair", w.pair, seconds, "seconds for each pair within the cutoff"),
        integer("capacity", w.capacity, 0, 1 << 30, "particles in a cell beyond which spill counts; 0: off"),
        number("spill", w.spill, seconds, "seconds for each particle beyond, times particles there"),
        number("move", w.move, seconds, "seconds for each particle that is moved to another process"),
        section("region", "cells that cost more for no visible reason",
                {
                    corner("lower", w.region_lower, "corner, sigma"),
                    corner("upper", w.region_upper, "opposite corner, sigma"),
                    number("factor", w.region_factor, {0, 1000}, "times as much"),
                }),
    };
}

std::vector<Key> balance_keys(Deck::Balance& b) {
    const std::vector<std::string> models = balance::model_names();
    const char* processes = "virtual processes; null: one per rank";
    return {
        integer("every", b.every, 0, last_step, "steps between balancings; 0: never"),
        integer("processes", b.processes, 1, most_processes, processes, "null"),
        word("model", b.model, models, names("load model that decides", models)),
        word_list("compare", b.compare, models, "[time_average, hybrid]", "models evaluated beside it (clock: work)"),
        word("clock", b.clock, {"wall", "work"}, "wall: thread timers; work: counted, deterministic"),
        word("migrate", b.migrate, {"gain", "always"}, "gain: when it saves more than it costs; always"),
        number("noise", b.noise, {0, 1}, "relative, on the times that models see (studies)"),
        section("partition", "", partition_keys(b.partition)),
        section("constants", "of the load models", constants_keys(b.constants)),
        section("work", "costs of counted work (clock: work)", work_keys(b.work)),
    };
}

std::vector<Key> output_keys(Deck::Output& o) {
    const std::vector<std::string> columns = {"position", "velocity", "force"};
    return {
        integer("every", o.every, 0, last_step, "steps between rows of thermo.csv; 0: never"),
        integer("fields_every", o.fields_every, 0, last_step, "steps between files of cell fields; 0: never"),
        integer("trajectory_every", o.trajectory_every, 0, last_step, "steps between frames of particles; 0: never"),
        word_list("trajectory_columns", o.trajectory_columns, columns, "[position, velocity, force]",
                  names("what a frame holds", columns)),
    };
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
        section("grid", "", grid_keys(deck.grid)),
        may_change(section("balance", "", balance_keys(deck.balance))),
        may_change(section("output", "", output_keys(deck.output))),
        may_change(section("checkpoint", "", checkpoint_keys(deck.checkpoint))),
    };
}

const std::vector<Key>& standard_keys() {
    static Deck deck;
    static const std::vector<Key> keys = (deck.system.slabs.resize(1), deck_keys(deck));
    return keys;
}

}  // namespace app

// SPDX-License-Identifier: MIT
// The deck, key by key. To add one: its member in deck.hpp and a line here. checks.cpp has checks of several keys. The
// section system is in table_system.cpp; machine, accelerator, comm and load are in table_machine.cpp.
// A restart keeps every key that isn't marked by may_change().
#include <cctype>

#include "app/deck/deck.hpp"
#include "app/deck/key.hpp"
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

// A key that a run may choose, and the deck may give. `given` remembers its path. The effective deck has it if it was
// given, or nothing is chosen.
Key chosen(Key key, Deck::Balance& b) {
    key.read = [&b, name = key.name, read = std::move(key.read)](const Node& node, const std::string& path) {
        read(node, path);
        b.given.insert(name);
    };
    key.text = [&b, name = key.name, text = std::move(key.text)] {
        return b.chooses && !b.given.contains(name) ? std::string() : text();
    };
    return key;
}

// Whether the run chooses for itself. Then it looks for a better balance often, because the criterion asks first.
Key auto_key(Deck::Balance& b) {
    Key key =
        flag("auto", b.chooses, "the run chooses model and partition, but for keys that are given: docs/models.md");
    key.read = [&b, read = std::move(key.read)](const Node& node, const std::string& path) {
        read(node, path);
        if (b.chooses) b.every = 10;
    };
    return key;
}

std::vector<Key> partition_keys(balance::PartitionOptions& p) {
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
    };
}

// Those of the driver, for `steelyard partition` also those of a nested partition.
std::vector<Key> driver_partition_keys(Deck::Balance& b) {
    balance::NestedOptions& nested = b.nested;
    std::vector<Key> keys = partition_keys(b.partition);
    for (Key& key : keys)
        if (std::ranges::count(choosable_partition_keys, key.name) > 0) key = chosen(std::move(key), b);
    keys.push_back(
        word("algorithm", nested.algorithm, "nested: greedy; inner_outer: accelerators get inner regions only"));
    keys.push_back(integer("ghost_width", nested.ghost_width, 1, 100,
                           "nested: cells between an accelerator and the regions that it must not touch"));
    return keys;
}

std::vector<Key> criteria_keys(balance::CriterionOptions& c) {
    return {
        number("threshold", c.threshold, {0, 1, true}, "threshold: the LBE below which it balances"),
    };
}

Key criterion_key(balance::CriterionOptions& c, bool& named) {
    const std::vector<std::string> names = balance::criterion_names();
    Key key = word("criterion", c.name, names, with_words("when to balance", names));
    key.read = [&named, read = std::move(key.read)](const Node& node, const std::string& path) {
        read(node, path);
        named = true;
    };
    return key;
}

// What the key `criterion` was called when there were two of them. The effective deck names the criterion alone.
Key migrate_key(balance::CriterionOptions& c, const bool& criterion_named) {
    Key key{"migrate", "older name of criterion; always: every", allowed(std::vector<std::string>{"gain", "always"})};
    key.read = [&c](const Node& node, const std::string& path) {
        c.name = to_word(node, path, {"gain", "always"}) == "always" ? "every" : "gain";
    };
    key.text = [] { return std::string(); };
    key.standard = "that of criterion";
    return unless(
        std::move(key),
        [&criterion_named] {
            return criterion_named ? std::string("is given beside balance.criterion") : std::string();
        },
        "leave balance.migrate out");
}

// A name stands in balance.csv and in the paths of a checkpoint.
Key name_key(std::string& name) {
    const std::string allowed = "1 to 60 letters, digits or any of _-.+, beginning with a letter or digit";
    Key key{"name", "in balance.csv; by default the model, and behind / what is its own", allowed};
    key.read = [&name, allowed](const Node& node, const std::string& path) {
        const auto plain = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; };
        const auto fits = [&](char c) { return plain(c) || std::string("_-.+").find(c) != std::string::npos; };
        const std::string& text = node.text;
        if (node.kind != Node::Kind::scalar || text.empty() || text.size() > 60 || !plain(text[0]) ||
            !std::ranges::all_of(text, fits))
            fail(node.where, fmt::format("{} must be {}", path, allowed), "as in name: r1_menon");
        for (const char* reserved : {"none", "step", "speeds", "auto", "choice"})
            if (text == reserved) fail(node.where, fmt::format("{} can't be {}", path, text), "use another name");
        name = text;
    };
    key.text = [&name] { return fmt::format("'{}'", name); };
    return key;
}

// Where the deck gives no name.
std::string usual_name(const Deck::Balance::Compared& c) {
    std::string name = c.model;
    if (c.own_criterion) name += "/" + c.criterion.name;
    if (c.own_partition) name += "/" + c.partition.kind;
    return name;
}

std::vector<Key> compared_keys(Deck::Balance::Compared& c) {
    // The driver's, unless the deck gives it.
    const auto own = [](Key key, bool& is_own) {
        key.read = [&is_own, read = std::move(key.read)](const Node& node, const std::string& path) {
            if (read) read(node, path);
            is_own = true;
        };
        if (!is_own) key.text = [] { return std::string(); };
        return key;
    };
    Key name = name_key(c.name);
    if (c.name == usual_name(c)) name.text = [] { return std::string(); };
    return {
        std::move(name),
        required(word("model", c.model, balance::model_names(), "load model"), "give the load model, as in model: r1"),
        own(criterion_key(c.criterion, c.own_criterion), c.own_criterion),
        own(section("criteria", "", criteria_keys(c.criterion)), c.own_criterion),
        own(section("partition", "", partition_keys(c.partition)), c.own_partition),
    };
}

// Read after the driver's criterion and partition, which are those of an entry that has no others.
void read_compared(const Node& node, const std::string& path, const Deck::Balance& b, Deck::Balance::Compared& c) {
    c = {};
    c.criterion = b.criterion;
    c.partition = b.partition;
    c.plain = node.kind == Node::Kind::scalar;
    if (c.plain) c.model = to_word(node, path, balance::model_names());
    else read_part(node, compared_keys(c), path);
    if (c.name.empty()) c.name = usual_name(c);
}

Key compare_key(Deck::Balance& b) {
    const char* example = "[time_average, {model: r1, criterion: menon}]";
    Key key{"compare", "evaluated beside the driver on the same trajectory (clock: work): docs/models.md",
            "a list, each a model, or a map of name, model, criterion, criteria, partition"};
    key.read = [&b, example](const Node& node, const std::string& path) {
        const std::vector<Node>& items = to_list(node, path, 0, example);
        b.compare.resize(items.size());
        for (std::size_t i = 0; i < items.size(); ++i) {
            read_compared(items[i], below(path, std::to_string(i)), b, b.compare[i]);
            for (std::size_t j = 0; j < i; ++j)
                if (b.compare[j].name == b.compare[i].name)
                    fail(items[i].where, b.compare[i].name + " is there twice", "name each once, or give one a name");
        }
    };
    key.text = [&b] {
        std::vector<std::string> texts;
        for (Deck::Balance::Compared& c : b.compare) texts.push_back(c.plain ? c.model : flow_of(compared_keys(c)));
        return fmt::format("[{}]", fmt::join(texts, ", "));
    };
    return key;
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

Key from_step(balance::ActiveSteps& a, const char* meaning = "the first step at which this is so") {
    return integer("from_step", a.from_step, 0, last_step, meaning);
}
Key to_step(balance::ActiveSteps& a) {
    return integer("to_step", a.to_step, 0, last_step, "and the first at which no longer; null: none", "null");
}
Key period(balance::ActiveSteps& a) {
    return integer("period", a.period, 1, last_step, "steps; so in every other period only; null: always", "null");
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
        number("balancing", w.balancing, {0, 1e3}, "seconds of each process for each balancing, beside move"),
        number("ghost", w.ghost, {0, 1e-3}, "seconds a step for each ghost cell of a mean process"),
        number("move", w.move, {0, 1e3}, "seconds for each particle moved; in a replay without particles, each cell"),
        section("slow", "processes that run slower than the others",
                {
                    number("fraction", w.slow.fraction, {0, 1}, "of the processes, rounded down, spread evenly"),
                    number("speed", w.slow.speed, {0.01, 100}, "of each of them; the others have 1"),
                    from_step(w.slow.active),
                    to_step(w.slow.active),
                    period(w.slow.active),
                }),
        section(
            "region", "cells that cost more for no visible reason",
            {
                numbers("lower", w.region_lower, anywhere, corner, "corner, sigma; 3D: its x and y, and all along z"),
                numbers("upper", w.region_upper, anywhere, corner, "opposite corner, sigma; 3D: as lower"),
                number("factor", w.region_factor, {0, 1000}, "by which their counted work is multiplied"),
                from_step(w.region_active),
                to_step(w.region_active),
                period(w.region_active),
            }),
    };
}

std::vector<Key> balance_keys(Deck::Balance& b) {
    const std::vector<std::string> models = balance::model_names();
    const char* processes = "virtual processes; null: one per rank";
    return {
        auto_key(b),
        integer("every", b.every, 0, last_step, "steps between balancings; 0: never"),
        from_step(b.active, "the first step at which the run may balance, beside the start"),
        to_step(b.active),
        integer("processes", b.processes, 1, most_processes, processes, "null"),
        chosen(word("model", b.model, models, with_words("load model that decides", models)), b),
        word("clock", b.clock, "wall: thread timers; work: counted, deterministic"),
        word("timer", b.timer,
             "of clock: wall; auto: the wall clock where each thread has a unit of its own, else CPU time"),
        word("speeds", b.speeds,
             "of the processes: found by the run, given by machine.core_speed of their nodes, or all equal"),
        criterion_key(b.criterion, b.names_criterion),
        migrate_key(b.criterion, b.names_criterion),
        section("criteria", "constants of the criteria", criteria_keys(b.criterion)),
        number("noise", b.noise, {0, 1}, "relative noise on the times that models see (studies)"),
        section("partition", "", driver_partition_keys(b)),
        compare_key(b),
        section("constants", "of the load models", constants_keys(b.constants)),
        section("work", "costs of counted work (clock: work)", work_keys(b.work)),
    };
}

std::vector<Key> output_keys(Deck::Output& o) {
    const auto column = [](Column& c) { return word("", c, ""); };
    const auto format = [](BalanceFormat& f) { return word("", f, ""); };
    std::vector<Key> keys{integer("every", o.every, 0, last_step, "steps between rows of thermo.csv; 0: never")};
#define STEELYARD_KEY(name, meaning) keys.push_back(integer(#name "_every", o.intervals[#name], 0, last_step, meaning));
    STEELYARD_OUTPUTS(STEELYARD_KEY)
#undef STEELYARD_KEY
    keys.push_back(distinct("trajectory_columns", o.trajectory_columns, column, "[position, velocity, force]",
                            with_words("what a frame holds", balance::all_words<Column>())));
    keys.push_back(distinct("balance_formats", o.balance_formats, format, "[lbaf, metis]",
                            "each balancing for other programs, too: docs/output.md"));
    keys.push_back(
        integer("map_frames", o.map_frames, 0, 10000,
                "most frames of map.csv and ranks.csv, of which every other one goes when they are full; 0: none"));
    return keys;
}

std::vector<Key> checkpoint_keys(Deck::Checkpoint& c) {
    const char* limit = "wall time, then stop with a checkpoint; null: none";
    return {
        integer("every", c.every, 0, last_step,
                "steps between checkpoints, and one at the end; 0: only when stopped early"),
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
    static const std::vector<Key> keys =
        (deck.system.slabs.resize(1), deck.system.bodies.resize(1), deck.system.walls.resize(1), deck_keys(deck));
    return keys;
}

}  // namespace app

// SPDX-License-Identifier: MIT
// From text to a Deck: tree, overrides, schema, then the checks that need more than one key.
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "app/deck/checks.hpp"
#include "app/deck/deck.hpp"
#include "app/deck/section.hpp"
#include "app/deck/settings.hpp"
#include "app/deck/wording.hpp"
#include "app/deck/yaml_tree.hpp"
#include "md/potential.hpp"

namespace app {
namespace {

// Beyond these limits numbers leave the fixed-point formats; no sensible deck comes near them.
constexpr double longest_side = 1 << 20, fastest = 1e6, hottest = 1e6, densest = 1e6;
constexpr std::int64_t last_step = 1'000'000'000'000'000;
constexpr std::int64_t most_processes = 1 << 24;
// The effective deck, which spells out every key of a slab, must itself stay below max_deck_nodes and max_deck_bytes.
constexpr std::size_t most_slabs = 500;

// Parameters that only this kind of potential has, each with a value from now on.
void read_own_parameters(const Section& s, md::PotentialSpec& p) {
    const std::span<const md::Parameter> own = md::own_parameters(p.kind);
    for (const std::string& kind : md::potential_kinds())
        for (const md::Parameter& other : md::own_parameters(kind)) {
            const Node* node = s.find(other.name);
            if (node &&
                std::none_of(own.begin(), own.end(), [&](const md::Parameter& x) { return x.name == other.name; }))
                fail(node->where,
                     fmt::format("{} belongs to kind {}, and this potential is of kind {}", s.path(other.name), kind,
                                 p.kind),
                     fmt::format("remove it, or write kind: {}", kind));
        }
    for (std::size_t i = 0; i < own.size(); ++i) {
        const md::Parameter& x = own[i];
        const Node* node = s.find(x.name);
        p.own[i] = node ? to_number(*node, s.path(x.name)) : x.standard;
        if (p.own[i] < x.low || p.own[i] > x.high || (x.multiple_of != 0 && std::fmod(p.own[i], x.multiple_of) != 0))
            fail(node->where, fmt::format("{} is {}", s.path(x.name), p.own[i]),
                 fmt::format("use {} from {} to {}",
                             x.multiple_of == 0   ? "a number"
                             : x.multiple_of == 2 ? "an even number"
                                                  : fmt::format("a multiple of {}", x.multiple_of),
                             x.low, x.high));
    }
    if (const std::string conflict = md::conflict(p); !conflict.empty()) {
        const Node* node = nullptr;  // the last of them that the deck gives
        for (const md::Parameter& x : own)
            if (const Node* given = s.find(x.name)) node = given;
        fail(node->where, "system.potential: " + conflict, "change one of them");
    }
}

void read_potential(const Section& s, md::PotentialSpec& p) {
    if (const Node* kind = s.find("kind")) {
        const std::vector<std::string> kinds = md::potential_kinds();
        p.kind = kinds[to_choice(*kind, s.path("kind"), kinds)];
    }
    s.number("epsilon", p.epsilon, {0, 1e6, true});
    s.number("sigma", p.sigma, {0.001, 1000});
    s.number("cutoff", p.cutoff, {0, 10, true});
    s.number("softening", p.softening, {0, 10});
    if (const Node* shift = s.find("shift"))
        p.shift = static_cast<md::Shift>(to_choice(*shift, s.path("shift"), {"none", "energy", "force"}));
    read_own_parameters(s, p);
}

md::Slab read_slab(const Section& s) {
    md::Slab slab;
    const Node *lower = s.find("lower"), *upper = s.find("upper"), *cells = s.find("cells");
    if (cells) {
        for (const char* corner : {"lower", "upper"})
            if (s.has(corner))
                fail(s.find(corner)->where, fmt::format("{} beside cells", s.path(corner)),
                     "remove one: cells fill the whole box");
        const std::array<std::int64_t, 2> n = to_integer_pair(*cells, s.path("cells"), 1, std::int64_t{1} << 24);
        slab.cells = {n[0], n[1]};
    } else {
        const char* remedy = "give lower and upper as [x, y], or cells with box: fit";
        lower = &s.require("lower", remedy), upper = &s.require("upper", remedy);
        slab.lower = to_number_pair(*lower, s.path("lower"), {-longest_side, longest_side});
        slab.upper = to_number_pair(*upper, s.path("upper"), {-longest_side, longest_side});
    }
    if (const Node* lattice = s.find("lattice")) to_choice(*lattice, s.path("lattice"), {"hexagonal"});
    s.number("density", slab.density, {0, densest, true});
    s.number("temperature", slab.temperature, {0, hottest});
    if (const Node* velocity = s.find("velocity"))
        slab.velocity = to_number_pair(*velocity, s.path("velocity"), {-fastest, fastest});
    return slab;
}

void read_box(const Section& s, Deck::System& system) {
    const char* example = "[700.0, 300.0]";
    const Node& box = s.require("box", "give its lengths, as in box: [700.0, 300.0], or box: fit");
    if (box.kind == Node::Kind::scalar) {
        if (box.text != "fit")
            fail(box.where, fmt::format("{} can't be {}", s.path("box"), quote(box.text)),
                 fmt::format("write two lengths as in {}, or fit", example));
        system.box_fit = true;
        return;
    }
    if (box.kind == Node::Kind::list && box.items.size() == 3)
        fail(box.items[2].where, "a third dimension is not in this version yet", "give two lengths");
    to_list(box, s.path("box"), 2, example);
    system.box = to_number_pair(box, s.path("box"), {0, longest_side, true});
}

void read_system(const Section& s, Deck::System& system) {
    read_box(s, system);
    if (const Node* boundary = s.find("boundary")) {
        const std::vector<Node>& items = to_list(*boundary, s.path("boundary"), 2, "[periodic, reflecting]");
        for (int a = 0; a < 2; ++a)
            system.boundary[a] = static_cast<Boundary>(
                to_choice(items[a], fmt::format("{}.{}", s.path("boundary"), a), {"periodic", "reflecting"}));
    }
    if (const Node* seed = s.find("seed")) system.seed = to_unsigned(*seed, s.path("seed"));
    read_potential(s.section("potential"), system.potential);
    const Node& slabs = s.require("slabs", "give a list of slabs");
    to_list(slabs, s.path("slabs"), 0, "slabs: [{lower: [0, 0], upper: [50, 50]}]");
    if (slabs.items.empty()) fail(slabs.where, s.path("slabs") + " is empty", "give at least one slab");
    if (slabs.items.size() > most_slabs)
        fail(slabs.items[most_slabs].where, fmt::format("more than {} slabs", most_slabs), "merge some of them");
    for (std::size_t i = 0; i < slabs.items.size(); ++i)
        system.slabs.push_back(read_slab(s.element(slabs.items[i], "slabs", i)));
}

void read_run(const Section& s, Deck::Run& run) {
    run.dt = to_number(s.require("dt", "give the time step, as in dt: 0.001"), s.path("dt"), {0, 0.03, true});
    run.steps = to_integer(s.require("steps", "give the number of the last step, as in steps: 2000"), s.path("steps"),
                           0, last_step);
    if (const Node* precision = s.find("precision"))
        run.precision = static_cast<md::Precision>(to_choice(*precision, s.path("precision"), {"mixed", "double"}));
}

void read_grid(const Section& s, double cutoff, Deck::Grid& grid) {
    grid.cell = cutoff;
    s.number("cell", grid.cell, {0, 10, true});
    if (const Node* skin = s.find("skin"))
        if (skin->kind != Node::Kind::scalar || skin->text != "auto")
            grid.skin = to_number(*skin, s.path("skin"), {0, 10});
    if (const Node* tile = s.find("tile"); tile && (tile->kind != Node::Kind::scalar || tile->text != "auto")) {
        constexpr std::int64_t least = 4, most = 512;
        const auto as_int = [](std::int64_t n) { return static_cast<int>(n); };
        if (tile->kind == Node::Kind::scalar) {
            const int side = as_int(to_integer(*tile, s.path("tile"), least, most));
            grid.tile = {side, side};
        } else {
            const auto sides = to_integer_pair(*tile, s.path("tile"), least, most);
            grid.tile = {as_int(sides[0]), as_int(sides[1])};
        }
    }
}

bool to_bool(const Node& node, const std::string& path) { return to_choice(node, path, {"false", "true"}) == 1; }

void read_partition(const Section& s, balance::PartitionOptions& p) {
    if (const Node* kind = s.find("kind")) {
        const std::vector<std::string> kinds = balance::partition_kind_names();
        p.kind = kinds[to_choice(*kind, s.path("kind"), kinds, {"nested"})];
    }
    if (const Node* order = s.find("order"))
        p.order = static_cast<balance::Order>(to_choice(*order, s.path("order"), {"morton", "hilbert", "tree"}));
    if (const Node* cut = s.find("cut"))
        p.cut = static_cast<balance::CutAt>(to_choice(*cut, s.path("cut"), {"patches", "strips", "cells"}));
    if (const Node* sticky = s.find("sticky")) p.sticky = to_bool(*sticky, s.path("sticky"));
    std::int64_t width = p.min_width;
    s.integer("patches_per_process", p.patches_per_process, 1, 1000);
    s.integer("min_width", width, 1, 1000);
    p.min_width = static_cast<int>(width);
    if (const Node* most = s.find("max_particles_per_process"))
        if (most->kind != Node::Kind::null)
            p.max_size = to_integer(*most, s.path("max_particles_per_process"), 1, std::int64_t{1} << 50);
}

void read_constants(const Section& s, balance::ModelConstants& c) {
    s.number("weight", c.weight, {0, 1, true});
    s.number("threshold", c.threshold, {0, 0.1});
    if (const Node* start = s.find("start"))
        c.start = static_cast<balance::Start>(to_choice(*start, s.path("start"), {"particles", "uniform"}));
    s.number("forgetting", c.forgetting, {0, 1});
    s.number("floor", c.floor, {0, 1});
    s.number("noise_weight", c.noise_weight, {0, 1e6});
    if (const Node* costs = s.find("costs")) {
        const std::vector<Node>& items = to_list(*costs, s.path("costs"), 4, "[2e-9, 1.5e-8, 6e-10, 0]");
        for (int i = 0; i < 4; ++i) c.costs[i] = to_number(items[i], fmt::format("{}.{}", s.path("costs"), i), {0, 1});
    }
}

void read_work(const Section& s, balance::WorkCosts& w) {
    constexpr NumberRange seconds{0, 1e-3};
    s.number("cell", w.cell, seconds);
    s.number("particle", w.particle, seconds);
    s.number("candidate", w.candidate, seconds);
    s.number("pair", w.pair, seconds);
    s.number("spill", w.spill, seconds);
    s.number("move", w.move, seconds);
    s.integer("capacity", w.capacity, 0, 1 << 30);
    const Section region = s.section("region");
    if (const Node* lower = region.find("lower"))
        w.region_lower = to_number_pair(*lower, region.path("lower"), {-longest_side, longest_side});
    if (const Node* upper = region.find("upper"))
        w.region_upper = to_number_pair(*upper, region.path("upper"), {-longest_side, longest_side});
    region.number("factor", w.region_factor, {0, 1000});
}

void read_balance(const Section& s, Deck::Balance& b) {
    s.integer("every", b.every, 0, last_step);
    const std::vector<std::string> models = balance::model_names();
    if (const Node* model = s.find("model")) b.model = models[to_choice(*model, s.path("model"), models)];
    if (const Node* compare = s.find("compare")) {
        const std::vector<Node>& items = to_list(*compare, s.path("compare"), 0, "[time_average, hybrid]");
        for (std::size_t i = 0; i < items.size(); ++i) {
            const std::string& name = models[to_choice(items[i], fmt::format("{}.{}", s.path("compare"), i), models)];
            if (name == b.model || std::find(b.compare.begin(), b.compare.end(), name) != b.compare.end())
                fail(items[i].where, fmt::format("{} is there twice", name),
                     "name each model once, the driver not at all");
            b.compare.push_back(name);
        }
    }
    if (const Node* processes = s.find("processes"))
        if (processes->kind != Node::Kind::null)
            b.processes = to_integer(*processes, s.path("processes"), 1, most_processes);
    if (const Node* clock = s.find("clock"))
        b.clock = static_cast<balance::Clock>(to_choice(*clock, s.path("clock"), {"wall", "work"}));
    if (const Node* migrate = s.find("migrate"))
        b.migrate = static_cast<balance::Migrate>(to_choice(*migrate, s.path("migrate"), {"gain", "always"}));
    s.number("noise", b.noise, {0, 1});
    read_partition(s.section("partition"), b.partition);
    read_constants(s.section("constants"), b.constants);
    read_work(s.section("work"), b.work);
    if (!b.compare.empty() && b.clock == balance::Clock::wall)
        fail(s.find("compare")->where,
             "models can be compared by counted work only: the times of a partition that isn't there can't be measured",
             "write clock: work, or run each model by itself");
}

void read_output(const Section& s, Deck::Output& output) {
    s.integer("every", output.every, 0, last_step);
    s.integer("fields_every", output.fields_every, 0, last_step);
    s.integer("trajectory_every", output.trajectory_every, 0, last_step);
    if (const Node* columns = s.find("trajectory_columns")) {
        const std::vector<Node>& items =
            to_list(*columns, s.path("trajectory_columns"), 0, "[position, velocity, force]");
        if (items.empty())
            fail(columns->where, s.path("trajectory_columns") + " is empty",
                 "name at least one of position, velocity, force");
        output.trajectory_columns.clear();
        for (std::size_t i = 0; i < items.size(); ++i) {
            const auto column = static_cast<Column>(to_choice(
                items[i], fmt::format("{}.{}", s.path("trajectory_columns"), i), {"position", "velocity", "force"}));
            if (std::find(output.trajectory_columns.begin(), output.trajectory_columns.end(), column) !=
                output.trajectory_columns.end())
                fail(items[i].where, items[i].text + " is there twice", "name each column once");
            output.trajectory_columns.push_back(column);
        }
        std::sort(output.trajectory_columns.begin(), output.trajectory_columns.end());  // their order means nothing
    }
}

void read_checkpoint(const Section& s, Deck::Checkpoint& checkpoint) {
    s.integer("every", checkpoint.every, 0, last_step);
    s.integer("keep", checkpoint.keep, 1, 1000000);
    if (const Node* limit = s.find("time_limit_seconds"))
        if (limit->kind != Node::Kind::null)
            checkpoint.time_limit_seconds = to_number(*limit, s.path("time_limit_seconds"), {0, 1e9, true});
}

}  // namespace

Deck parse_deck(const std::string& text, const std::string& file, const std::vector<std::string>& settings) {
    const std::string shown = printable(file);
    Node root = parse_tree(text, {shown});
    if (root.kind == Node::Kind::null)
        fail(Origin{shown}.where(0, 0), "the deck is empty", "give at least system and run");
    for (const std::string& setting : settings) {
        if (root.kind != Node::Kind::map) break;  // the schema says so
        apply_setting(root, setting);
    }
    const Section top(root, Origin{shown}.where(0, 0));
    Deck deck;
    deck.name = std::filesystem::path(file).stem().string();
    for (const char* required : {"system", "run"}) top.require(required, fmt::format("add a section {}", required));
    // Every section's keys are checked before any value: a misspelt key explains a missing one.
    const Section system = top.section("system"), run = top.section("run"), grid = top.section("grid"),
                  balance = top.section("balance"), output = top.section("output"),
                  checkpoint = top.section("checkpoint");
    read_system(system, deck.system);
    read_run(run, deck.run);
    read_grid(grid, deck.system.potential.cutoff, deck.grid);
    read_balance(balance, deck.balance);
    read_output(output, deck.output);
    read_checkpoint(checkpoint, deck.checkpoint);
    complete_and_check(deck, [&](const std::string& path) { return locate(root, path, shown); });
    return deck;
}

Deck load_deck(const std::string& path, const std::vector<std::string>& settings) {
    const std::string shown = printable(path);
    std::error_code error;
    if (std::filesystem::is_directory(path, error)) fail(shown, "it is a directory", "give a deck, a YAML file");
    std::ifstream file(path, std::ios::binary);
    const int reason = errno;
    if (!file)
        fail(shown, fmt::format("can't open the deck: {}", std::strerror(reason)),
             "give the path of a readable YAML file");
    // One byte more than allowed is enough to refuse it, however long it is.
    std::string text(max_deck_bytes + 1, '\0');
    file.read(text.data(), static_cast<std::streamsize>(text.size()));
    if (file.bad()) fail(shown, "can't read the deck", "give a readable YAML file");
    text.resize(static_cast<std::size_t>(file.gcount()));
    return parse_deck(text, path, settings);
}

}  // namespace app

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
#include "app/deck/limits.hpp"
#include "app/deck/read_system.hpp"
#include "app/deck/section.hpp"
#include "app/deck/settings.hpp"
#include "app/deck/wording.hpp"
#include "app/deck/yaml_tree.hpp"

namespace app {
namespace {

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

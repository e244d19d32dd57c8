// SPDX-License-Identifier: MIT
// Decks that are accepted: values, defaults, the fitted box, overrides, the effective deck; and a fuzz for what is not.
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <functional>
#include <random>
#include <regex>

#include "app/deck/compare.hpp"
#include "app/deck/deck.hpp"
#include "app/deck/wording.hpp"
#include "app/deck/yaml_tree.hpp"
#include "md/potential.hpp"

namespace {

using app::Deck;

const std::string minimal =
    "system:\n"
    "  box: [100, 50]\n"
    "  slabs:\n"
    "    - {lower: [10, 10], upper: [40, 40]}\n"
    "run: {dt: 0.001, steps: 10}\n";

const std::string full =
    "# comment\n"
    "system:\n"
    "  box: [700.0, 300.1]\n"
    "  boundary: [periodic, reflecting]\n"
    "  seed: 18446744073709551615\n"
    "  potential: {kind: soft_sphere, epsilon: 1.5, sigma: 1.1, cutoff: 2.5, softening: 0.1, shift: force}\n"
    "  slabs:\n"
    "    - {lower: [50, 50], upper: [349, 250], lattice: hexagonal, density: 1.0, temperature: 0.05, velocity: [10.0, "
    "0.0]}\n"
    "    - {lower: [351, 50], upper: [650, 300.1], density: 0.3333333333333333, velocity: [-1e1, .5]}\n"
    "run: {dt: 0.0005, steps: 2e3, precision: double}\n"
    "grid: {cell: 2.75, skin: 0.3, tile: [16, 64]}\n"
    "balance:\n"
    "  {every: 5, model: a1, processes: 2400, clock: work, criterion: every, noise: 0.01,\n"
    "   partition: {kind: rcb, order: tree, patches_per_process: 3, cut: cells, sticky: false, min_width: 2},\n"
    "   constants: {weight: 0.25, threshold: 0.05, start: uniform, forgetting: 0.7, floor: 0.1, noise_weight: 9, "
    "costs: [1e-9, 2e-9, 3e-9, 4e-9]},\n"
    "   criteria: {threshold: 0.7},\n"
    "   compare: [r1, {model: hybrid, criterion: menon, partition: {cut: strips}}],\n"
    "   work: {cell: 1e-8, balancing: 0.5, particle: 2e-8, candidate: 3e-8, pair: 4e-8, capacity: 12, spill: 5e-9, "
    "region: {lower: [1, "
    "2], upper: [3, 4], factor: 3, to_step: 900, period: 7}}}\n"
    "output: {every: 50, fields_every: 500, trajectory_every: 1000}\n";

const std::string fitted =
    "system:\n"
    "  box: fit\n"
    "  slabs: [{cells: [40, 23], density: 0.9, temperature: 1}]\n"
    "run: {dt: 0.001, steps: 0}\n";

bool same(const md::Body& a, const md::Body& b) {
    return a.lower == b.lower && a.upper == b.upper && a.shape == b.shape && a.cells == b.cells &&
           a.density == b.density && a.temperature == b.temperature && a.velocity == b.velocity && a.spin == b.spin &&
           a.center == b.center && a.radius == b.radius && a.inner_radius == b.inner_radius && a.axis == b.axis &&
           a.length == b.length && a.fill == b.fill && a.lattice == b.lattice && a.particles == b.particles &&
           a.spacing == b.spacing && a.profile.kind == b.profile.kind && a.profile.axis == b.profile.axis &&
           a.profile.ends == b.profile.ends && a.profile.ratio == b.profile.ratio &&
           a.profile.periods == b.profile.periods;
}

void check_same(const Deck& a, const Deck& b) {
    CHECK(a.name == b.name);
    CHECK(a.system.box_fit == b.system.box_fit);
    CHECK(a.system.box == b.system.box);
    CHECK(a.system.boundary == b.system.boundary);
    CHECK(a.system.seed == b.system.seed);
    const md::PotentialSpec &p = a.system.potential, &q = b.system.potential;
    CHECK(p.kind == q.kind);
    CHECK((p.epsilon == q.epsilon && p.sigma == q.sigma && p.cutoff == q.cutoff && p.softening == q.softening &&
           p.shift == q.shift));
    for (std::size_t i = 0; i < md::own_parameters(p.kind).size(); ++i) CHECK(p.own[i] == q.own[i]);
    REQUIRE(a.system.slabs.size() == b.system.slabs.size());
    for (std::size_t i = 0; i < a.system.slabs.size(); ++i) CHECK(same(a.system.slabs[i], b.system.slabs[i]));
    REQUIRE(a.system.bodies.size() == b.system.bodies.size());
    for (std::size_t i = 0; i < a.system.bodies.size(); ++i) CHECK(same(a.system.bodies[i], b.system.bodies[i]));
    CHECK((a.run.dt == b.run.dt && a.run.steps == b.run.steps && a.run.precision == b.run.precision));
    CHECK((a.grid.cell == b.grid.cell && a.grid.skin == b.grid.skin && a.grid.tile == b.grid.tile));
    CHECK((a.balance.every == b.balance.every && a.balance.processes == b.balance.processes));
    CHECK((a.balance.model == b.balance.model && a.balance.clock == b.balance.clock &&
           a.balance.criterion == b.balance.criterion && a.balance.noise == b.balance.noise));
    REQUIRE(a.balance.compare.size() == b.balance.compare.size());
    for (std::size_t i = 0; i < a.balance.compare.size(); ++i) {
        const Deck::Balance::Compared &c = a.balance.compare[i], &d = b.balance.compare[i];
        CHECK((c.name == d.name && c.model == d.model && c.criterion == d.criterion && c.partition == d.partition &&
               c.plain == d.plain && c.own_criterion == d.own_criterion && c.own_partition == d.own_partition));
    }
    CHECK(a.balance.partition == b.balance.partition);
    CHECK(a.balance.constants == b.balance.constants);
    CHECK(a.balance.work == b.balance.work);
    CHECK((a.output.every == b.output.every && a.output.intervals == b.output.intervals));
    const Deck::Machine &m = a.machine, &n = b.machine;
    CHECK((m.nodes == n.nodes && m.cpus_per_node == n.cpus_per_node && m.cores_per_cpu == n.cores_per_cpu));
    CHECK((m.accelerators_per_node == n.accelerators_per_node && m.core_speed == n.core_speed &&
           m.accelerator_speed == n.accelerator_speed));
    CHECK((a.load.kind == b.load.kind && a.load.file == b.load.file && a.load.dataset == b.load.dataset &&
           a.load.cells == b.load.cells && a.load.bytes_per_cell == b.load.bytes_per_cell));
    CHECK((a.balance.nested.algorithm == b.balance.nested.algorithm &&
           a.balance.nested.ghost_width == b.balance.nested.ghost_width));
}

std::string error_of(const std::string& text, const std::vector<std::string>& settings) {
    try {
        app::parse_deck(text, "deck.yaml", settings);
    } catch (const app::DeckError& e) {
        return e.what();
    }
    return "accepted";
}

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("a minimal deck has every default") {
    const Deck d = app::parse_deck(minimal, "some/folder/small.yaml");
    CHECK(d.name == "small");
    CHECK_FALSE(d.system.box_fit);
    CHECK(d.system.box == std::array<double, 3>{100, 50, 0});
    CHECK(d.system.boundary[1] == md::Boundary::periodic);
    CHECK(d.system.seed == 1);
    CHECK(d.system.potential.kind == "lennard_jones");
    CHECK(d.system.potential.cutoff == 2.5);
    CHECK(d.system.potential.shift == md::Shift::energy);
    CHECK(d.system.slabs.at(0).shape == md::BodyShape::box);
    CHECK(d.system.slabs.at(0).density == 1.0);
    CHECK(d.system.slabs.at(0).temperature == 0.0);
    CHECK(d.run.precision == md::Precision::mixed);
    CHECK(d.grid.cell == 2.5);
    CHECK_FALSE(d.grid.skin);
    CHECK_FALSE(d.grid.tile);
    CHECK(d.balance.every == 0);
    CHECK_FALSE(d.balance.processes);
    CHECK((d.balance.model == "r1" && d.balance.compare.empty() && d.balance.clock == balance::Clock::wall &&
           d.balance.criterion == balance::CriterionOptions{} && d.balance.noise == 0));
    CHECK(d.balance.partition == balance::PartitionOptions{});
    CHECK(d.balance.constants == balance::ModelConstants{});
    CHECK(d.balance.work == balance::WorkCosts{});
    CHECK(d.output.every == 100);
}

TEST_CASE("every key is read") {
    const Deck d = app::parse_deck(full, "full.yaml");
    CHECK(d.system.seed == UINT64_MAX);
    CHECK(d.system.boundary == std::array{md::Boundary::periodic, md::Boundary::reflecting, md::Boundary::periodic});
    const md::PotentialSpec& p = d.system.potential;
    CHECK(p.kind == "soft_sphere");
    CHECK((p.epsilon == 1.5 && p.sigma == 1.1 && p.cutoff == 2.5 && p.softening == 0.1 && p.shift == md::Shift::force));
    REQUIRE(d.system.slabs.size() == 2);
    CHECK(d.system.slabs[0].temperature == 0.05);
    CHECK(d.system.slabs[1].velocity == std::array<double, 3>{-10, 0.5, 0});
    CHECK((d.run.dt == 0.0005 && d.run.steps == 2000 && d.run.precision == md::Precision::double_));
    CHECK((d.grid.cell == 2.75 && *d.grid.skin == 0.3 && d.grid.tile == std::array{16, 64, 1}));
    CHECK((d.balance.every == 5 && *d.balance.processes == 2400));
    CHECK((d.output.every == 50 && d.output.interval("fields") == 500 && d.output.interval("trajectory") == 1000));
}

TEST_CASE("a potential's own parameters are read, written and compared") {
    const auto with = [](const std::string& keys) {
        return app::parse_deck(minimal, "deck.yaml", {"system.potential={" + keys + "}"});
    };
    const Deck plain = with("kind: mie"), other = with("kind: mie, repulsive: 14, attractive: 8.0");
    CHECK((plain.system.potential.own[0] == 12 && plain.system.potential.own[1] == 6));
    CHECK((other.system.potential.own[0] == 14 && other.system.potential.own[1] == 8));
    CHECK(contains(app::to_yaml(other), "    repulsive: 14 "));
    CHECK_FALSE(contains(app::to_yaml(with("kind: lennard_jones")), "repulsive"));
    check_same(other, app::parse_deck(app::to_yaml(other), "deck.yaml"));
    const auto changed = app::changes(plain, other);
    REQUIRE(changed.size() == 2);
    CHECK((changed[0].key == "system.potential.repulsive" && changed[0].before == "12" && changed[0].now == "14"));
}

TEST_CASE("box sides are whole numbers of 2^-26, and slabs end with them") {
    const Deck d = app::parse_deck(full, "full.yaml");
    const double scaled = std::ldexp(d.system.box[1], 26);
    CHECK(scaled == std::round(scaled));
    CHECK(d.system.box[1] != 300.1);
    CHECK(std::abs(d.system.box[1] - 300.1) < 1e-8);
    CHECK(d.system.slabs[1].upper[1] <= d.system.box[1]);
}

TEST_CASE("box: fit follows from cells and density") {
    const Deck d = app::parse_deck(fitted, "fit.yaml");
    CHECK(d.system.box_fit);
    const double a = std::sqrt(2 / (std::sqrt(3.0) * 0.9));
    CHECK(std::abs(d.system.box[0] - 40 * a) < 1e-8);
    CHECK(std::abs(d.system.box[1] - 23 * a * std::sqrt(3.0)) < 2e-8);
    CHECK(d.system.slabs[0].upper == d.system.box);
    CHECK(2 * 40 * 23 / (d.system.box[0] * d.system.box[1]) == Approx(0.9));
}

TEST_CASE("the effective deck reads back as itself") {
    for (const std::string& text : {minimal, full, fitted}) {
        const Deck d = app::parse_deck(text, "deck.yaml");
        const std::string effective = app::to_yaml(d);
        INFO(effective);
        const Deck again = app::parse_deck(effective, "deck.yaml");
        check_same(d, again);
        CHECK(app::to_yaml(again) == effective);
    }
    CHECK(contains(app::to_yaml(app::parse_deck(fitted, "deck.yaml")), "box: fit "));
}

TEST_CASE("balls are read, may be closer than their corners, and are written") {
    const std::string balls =
        "system:\n"
        "  box: [100, 50.1, 50.00000001]\n"
        "  slabs:\n"
        "    - {lower: [10.1, 30.1, 30.00000001], upper: [30.1, 50.1, 50.00000001], shape: ball}\n"
        "    - {lower: [27, 17, 20], upper: [47, 37, 40], shape: ball}\n"
        "    - {lower: [48, 0, 0], upper: [50, 50, 50]}\n"
        "run: {dt: 0.001, steps: 10}\n";
    const Deck d = app::parse_deck(balls, "deck.yaml");  // rounding of the box and of the corners makes no ball uneven
    CHECK(d.system.slabs[0].shape == md::BodyShape::ball);
    CHECK(d.system.slabs[2].shape == md::BodyShape::box);
    const std::string effective = app::to_yaml(d);
    CHECK(contains(effective, "\n      shape: ball "));
    CHECK(contains(effective, "\n      shape: box"));
    check_same(d, app::parse_deck(effective, "deck.yaml"));
    CHECK_FALSE(contains(app::to_yaml(app::parse_deck(fitted, "deck.yaml")), "shape:"));
}

TEST_CASE("arbitrary doubles survive the effective deck bit by bit") {
    std::mt19937_64 random(7);
    const auto real = [&](double low, double high) {
        return low + (high - low) * static_cast<double>(random() >> 11) * 0x1p-53;
    };
    for (int i = 0; i < 300; ++i) {
        Deck d = app::parse_deck(minimal, "deck.yaml");
        md::Body& s = d.system.slabs[0];
        s.lower = {real(0, 10), real(0, 10)};
        s.upper = {real(11, 50), real(11, 50)};
        s.density = std::ldexp(real(1, 2), -static_cast<int>(random() % 60));
        s.temperature = std::ldexp(real(1, 2), -static_cast<int>(random() % 900));
        s.velocity = {real(-100, 100), -0.0};
        d.run.dt = real(1e-9, 0.01);
        d.grid.skin = real(0, 1);
        const Deck again = app::parse_deck(app::to_yaml(d), "deck.yaml");
        check_same(d, again);
        CHECK(std::signbit(again.system.slabs[0].velocity[1]));
    }
}

TEST_CASE("readers of YAML 1.1 find numbers in the effective deck, and the same ones") {
    const std::regex number("[-+]?([0-9][0-9_]*)?\\.[0-9.]*([eE][-+][0-9]+)?|[-+]?(0|[1-9][0-9]*)");
    int seen = 0;
    const std::function<void(const app::Node&)> look = [&](const app::Node& node) {
        for (const app::NodeEntry& e : node.entries) look(e.value);
        for (const app::Node& item : node.items) look(item);
        if (node.kind != app::Node::Kind::scalar || std::string("0123456789-.").find(node.text[0]) == std::string::npos)
            return;
        ++seen;
        CAPTURE(node.where, node.text);
        CHECK(std::regex_match(node.text, number));
    };
    std::mt19937_64 random(11);
    for (int i = 0; i < 100; ++i) {
        Deck d = app::parse_deck(full, "deck.yaml");
        // From 1e-300 to 1e-4, every other one a power of ten: what is printed with an exponent, with and without a
        // dot.
        const auto small = [&] {
            const int exponent = -4 - static_cast<int>(random() % 296);
            return i % 2 ? std::stod("1e" + std::to_string(exponent))
                         : std::ldexp(1 + static_cast<double>(random() >> 12) * 0x1p-52,
                                      -13 - static_cast<int>(random() % 900));
        };
        d.system.slabs[0].temperature = small();
        d.system.slabs[1].velocity = {-small(), i % 2 ? 1e3 : -0.0};
        if (i % 2) d.system.slabs[1].temperature = 1e5;
        d.run.dt = small();
        d.grid.skin = small();
        for (double& c : d.balance.constants.costs) c = small();
        d.balance.work.cell = small(), d.balance.work.pair = small(), d.balance.work.region_lower = {-small(), small()};
        d.checkpoint.time_limit_seconds = i % 2 ? 1e9 : small();
        const std::string text = app::to_yaml(d);
        look(app::parse_tree(text, {"deck.yaml"}));
        check_same(d, app::parse_deck(text, "deck.yaml"));
    }
    CHECK(seen > 5000);
    CHECK(contains(app::to_yaml(app::parse_deck(full, "deck.yaml")), "costs: [1.0e-09, 2.0e-09, 3.0e-09, 4.0e-09]"));
}

TEST_CASE("as many slabs and bodies as a deck may have fit into the effective deck") {
    std::string text = "system:\n  box: [100000, 50, 50]\n  slabs:\n";
    const std::string rest = ", density: 0.3333333333333333, velocity: [1.2345678901234567, -1.2345678901234567, 1]";
    for (int i = 0; i < 500; ++i)
        text += "    - {lower: [" + std::to_string(7 * i) + ".333333333333333, 1.3333333333333333, 1], upper: [" +
                std::to_string(7 * i + 5) + ".12345678901234, 40.12345678901234, 40]" + rest + "}\n";
    text += "  bodies:\n";
    for (int i = 0; i < 100; ++i)
        text += "    - {shape: shell, center: [" + std::to_string(50007 + 7 * i) +
                ".333333333333333, 11.3333333333333333, 12], radius: 3.3333333333333333, inner_radius: "
                "1.111111111111111, fill: random, spacing: 0.8888888888888888, spin: [1.2345678901234567, 0.1, 0.2]" +
                rest + "}\n";
    text += "run: {dt: 0.001, steps: 10}\n";
    const Deck d = app::parse_deck(text, "deck.yaml");
    check_same(d, app::parse_deck(app::to_yaml(d), "deck.yaml"));
}

TEST_CASE("YAML that people write is accepted") {
    CHECK(app::parse_deck("\xEF\xBB\xBF" + minimal, "deck.yaml").run.steps == 10);
    std::string crlf;
    for (char c : "---\n" + minimal + "...\n") crlf += c == '\n' ? "\r\n" : std::string(1, c);
    CHECK(app::parse_deck(crlf, "deck.yaml").run.steps == 10);
    CHECK(app::parse_deck("# gr\xC3\xB6\xC3\x9F"
                          "e\n" +
                              minimal,
                          "deck.yaml")
              .run.steps == 10);
    CHECK(app::parse_deck(minimal + "grid: {skin: 0}\n", "deck.yaml").grid.skin == 0.0);
    CHECK(app::parse_deck(minimal + "grid: {tile: 9}\n", "deck.yaml").grid.tile == std::array{9, 9, 1});
    CHECK_FALSE(app::parse_deck(minimal + "grid: {tile: auto}\n", "deck.yaml").grid.tile);
    CHECK_FALSE(app::parse_deck(minimal + "balance: {processes: null}\n", "deck.yaml").balance.processes);
    CHECK_FALSE(app::parse_deck(minimal + "balance: {processes: }\n", "deck.yaml").balance.processes);
}

TEST_CASE("settings override, add, and reach into lists, in order") {
    const Deck d = app::parse_deck(
        full, "deck.yaml",
        {"grid.cell=3", "system.slabs.0.velocity=[1, 0]", "system.slabs.1.density=0.25", "balance.processes=null",
         "run.steps=1", "run.steps=1e6", "system.box.0=800", "output={every: 7}", "grid.skin=auto"});
    CHECK(d.grid.cell == 3);
    CHECK(d.system.slabs[0].velocity == std::array<double, 3>{1, 0, 0});
    CHECK(d.system.slabs[1].density == 0.25);
    CHECK_FALSE(d.balance.processes);
    CHECK(d.run.steps == 1'000'000);
    CHECK(d.system.box[0] == 800);
    CHECK((d.output.every == 7 && d.output.interval("fields") == 0));
    CHECK_FALSE(d.grid.skin);
    CHECK(app::parse_deck(minimal, "deck.yaml", {"system.potential.cutoff=3"}).grid.cell == 3);
    CHECK(app::parse_deck(minimal, "deck.yaml", {"balance.partition.kind=none"}).balance.partition.kind == "none");
    // A bad value in the file may be overridden.
    CHECK(app::parse_deck(minimal + "grid: {cell: wide}\n", "deck.yaml", {"grid.cell=4"}).grid.cell == 4);
}

TEST_CASE("a bad setting is named by its path") {
    struct Case {
        const char *setting, *where, *what;
    };
    const Case cases[] = {
        {"balance.proceses=4", "--set balance.proceses: ", "did you mean 'processes'?"},
        {"balnce.every=4", "--set balnce.every: ", "did you mean 'balance'?"},
        {"system.slabs.0.velocty=[1, 0]", "--set system.slabs.0.velocty: ", "did you mean 'velocity'?"},
        {"dt=0.1", "--set dt: ", "it belongs at run.dt"},
        {"balance.model=b7", "--set balance.model: ", "balance.model can't be 'b7'"},
        {"balance.compare=[a1]", "--set balance.compare: ", "compared by counted work only"},
        {"balance.criterion=menom", "--set balance.criterion: ", "did you mean 'menon'?"},
        {"balance.migrate=menon", "--set balance.migrate: ", "balance.migrate can't be 'menon'"},
        {"balance.criteria.threshold=0", "--set balance.criteria.threshold: ", "balance.criteria.threshold is 0"},
        {"balance.criteria.threshold=1.1", "--set balance.criteria.threshold: ", "at most 1"},
        {"balance.work.balancing=-1", "--set balance.work.balancing: ", "balance.work.balancing is -1"},
        {"comm.order=fast", "--set comm.order: ", "comm.order can't be 'fast'"},
        {"balance.processes=0", "--set balance.processes: ", "balance.processes is 0"},
        {"balance.processes", "--set balance.processes: ", "no value"},
        {"grid.cell=", "--set grid.cell: ", "grid.cell has no value"},
        {"grid.cell=a: 1", "--set grid.cell: ", "must be a number"},
        {"grid.cell=[1", "--set grid.cell: ", "close every bracket"},
        {"grid.cell=&a 3", "--set grid.cell: ", "anchor"},
        {"grid.cell=[1]]", "--set grid.cell: ", "not valid YAML"},
        {"grid.cell=3\n...", "--set grid.cell: ", "line break"},
        {"grid..cell=3", "--set grid..cell: ", "empty part"},
        {"=3", "--set : ", "empty part"},
        {"run.dt.x=3", "--set run.dt.x: ", "run.dt is '0.001' and has no keys"},
        {"system.slabs.1.density=2", "--set system.slabs.1.density: ", "without element '1'"},
        {"system.slabs.x.density=2", "--set system.slabs.x.density: ", "number its elements from 0 to 0"},
        {"system.slabs.0.upper=[400, 20]", "--set system.slabs.0.upper: ", "outside the box"},
        {"system.box=[8, 1]", "--set system.box: ", "slab 0 ends outside the box"},
        {"grid.skin=9", "--set grid.skin: ", "cutoff + skin is 11.5"},
        {"grid.skin={a: 1, a: 2}", "--set grid.skin: ", "stands twice"},
    };
    for (const Case& c : cases) {
        const std::string error = error_of(minimal, {c.setting});
        INFO(c.setting << "\n" << error);
        if (std::string(c.setting) == "system.box=[8, 1]") {
            CHECK(error.rfind("deck.yaml:4:", 0) == 0);  // the slab, in the file, is what no longer fits
        } else {
            CHECK(error.rfind(c.where, 0) == 0);
        }
        CHECK(contains(error, c.what));
        CHECK(contains(error, "; "));
        CHECK(error.find('\n') == std::string::npos);
    }
}

TEST_CASE("suggestions") {
    const std::vector<std::string> words = {"cutoff", "epsilon", "sigma"};
    CHECK(app::closest("cutof", words) == "cutoff");
    CHECK(app::closest("ctuoff", words) == "cutoff");
    CHECK(app::closest("Sigma", words) == "sigma");
    CHECK(app::closest("temperature", words).empty());
    CHECK(app::closest(std::string(100'000, 'x'), words).empty());
    CHECK(app::suggestion("zzz", words) == "use one of cutoff, epsilon, sigma");
    CHECK(app::quote("a\nb\x1b\xC2\x85") == "'a\\x0ab\\x1b\\xc2\\x85'");
    CHECK(app::quote(std::string(39, 'a') + "\xC3\xA9zz") == "'" + std::string(39, 'a') + "...'");
}

TEST_CASE("damaged decks are refused or accepted, never more") {
    std::mt19937 random(20240);
    std::size_t accepted = 0;
    const std::string alphabet = "\n\t :,-[]{}#&*!|>'\"%@`?.0129eE+~abfsy\\\x00\xff\xc3";
    const std::string space = R"(system:
  box: [30, 20.5, 25]
  boundary: [periodic, reflecting, periodic]
  slabs: [{lower: [1, 2, 3], upper: [9, 9, 9], lattice: bcc, velocity: [1, 0, -2]}]
grid: {tile: [4, 5, 6]}
run: {dt: 0.001, steps: 5}
)";
    const std::string bases[] = {full, fitted, space, app::to_yaml(app::parse_deck(full, "deck.yaml"))};
    for (int i = 0; i < 5000; ++i) {
        std::string text = bases[i % 4];
        for (unsigned k = 0, n = 1 + random() % 4; k < n && !text.empty(); ++k) {
            const std::size_t at = random() % text.size();
            const char c = random() % 4 ? alphabet[random() % alphabet.size()] : static_cast<char>(random());
            switch (random() % 4) {
                case 0: text[at] = c; break;
                case 1: text.insert(at, 1, c); break;
                case 2: text.erase(at, 1 + random() % 3); break;
                default: text.insert(at, text.substr(random() % text.size(), random() % 30));
            }
        }
        try {
            const Deck d = app::parse_deck(text, "deck.yaml");
            app::parse_deck(app::to_yaml(d), "deck.yaml");
            ++accepted;
        } catch (const app::DeckError& e) {
            const std::string error = e.what();
            INFO(error);
            if (error.find('\n') != std::string::npos || !contains(error, "; ") || error.rfind("deck.yaml:", 0) != 0)
                FAIL(text);
        } catch (const std::exception& e) {
            FAIL(e.what() << "\n" << text);
        }
    }
    CHECK(accepted > 100);
    CHECK(accepted < 4000);
}

TEST_CASE("files") {
    const std::string path = "test_deck_file.yaml";
    const auto load = [](const std::string& file, const std::vector<std::string>& settings = {}) {
        return app::parse_deck(app::deck_bytes(file), file, settings);
    };
    std::ofstream(path) << minimal;
    CHECK(load(path).name == "test_deck_file");
    CHECK(load(path, {"run.steps=3"}).run.steps == 3);
    std::ofstream(path) << "sytem: 1\n";
    CHECK_THROWS_WITH(load(path), "test_deck_file.yaml:1:1: unknown key 'sytem'; did you mean 'system'?");
    std::ofstream(path) << minimal << '#' << std::string(256 * 1024, 'x');
    CHECK_THROWS_WITH(load(path), Catch::StartsWith("test_deck_file.yaml: it is larger than 256 KiB; "));
    std::remove(path.c_str());
    CHECK_THROWS_WITH(load(path),
                      Catch::StartsWith("test_deck_file.yaml: can't open the deck: No such file or directory; "));
    CHECK_THROWS_WITH(load("."), Catch::StartsWith(".: it is a directory; "));
    CHECK_THROWS_AS(load(""), app::DeckError);
    CHECK_THROWS_AS(load("no\nsuch"), app::DeckError);
}

TEST_CASE("what is compared has a model, and what the deck doesn't give it is the driver's") {
    const Deck d = app::parse_deck(full, "deck.yaml");
    REQUIRE(d.balance.compare.size() == 2);
    const Deck::Balance::Compared &plain = d.balance.compare[0], &own = d.balance.compare[1];
    CHECK((plain.name == "r1" && plain.model == "r1" && plain.criterion == d.balance.criterion &&
           plain.partition == d.balance.partition));
    CHECK((own.name == "hybrid/menon/rcb" && own.model == "hybrid"));
    CHECK(own.criterion == balance::CriterionOptions{"menon", 0.7});
    balance::PartitionOptions strips = d.balance.partition;
    strips.cut = balance::CutAt::strips;
    CHECK(own.partition == strips);
    CHECK(app::to_yaml(d).find(
              "compare: [r1, {model: hybrid, criterion: menon, criteria: {threshold: 0.7}, partition: {kind: rcb, ") !=
          std::string::npos);

    const auto names = [](const std::string& entries) {
        std::vector<std::string> found;
        const Deck some = app::parse_deck(minimal, "deck.yaml", {"balance.clock=work", "balance.compare=" + entries});
        check_same(some, app::parse_deck(app::to_yaml(some), "deck.yaml"));
        for (const balance::Contender& c : some.balance.compare) found.push_back(c.name);
        return found;
    };
    CHECK(names("[a1, {model: a1, criteria: {threshold: 0.5}}, {model: a1, partition: {kind: none}}]") ==
          std::vector<std::string>{"a1", "a1/gain", "a1/none"});
    CHECK(names("[{model: r1, name: again}, {name: 2.x-_+, model: r1}]") ==
          std::vector<std::string>{"again", "2.x-_+"});
    CHECK(names("[{model: r1, criterion: gain}]") == std::vector<std::string>{"r1/gain"});
}

TEST_CASE("migrate is an older name of two criteria, and has no place beside criterion") {
    const auto criterion = [](const std::string& setting) {
        return app::parse_deck(minimal, "deck.yaml", {setting}).balance.criterion.name;
    };
    CHECK(criterion("balance.migrate=always") == "every");
    CHECK(criterion("balance.migrate=gain") == "gain");
    CHECK(criterion("balance.criterion=zhai") == "zhai");
    CHECK(app::to_yaml(app::parse_deck(minimal, "deck.yaml", {"balance.migrate=always"})).find("migrate:") ==
          std::string::npos);
    CHECK_THROWS_WITH(app::parse_deck(minimal, "deck.yaml", {"balance.migrate=gain", "balance.criterion=gain"}),
                      "--set balance.migrate: balance.migrate is given beside balance.criterion; leave "
                      "balance.migrate out");
}

TEST_CASE("every key of balance reaches the deck") {
    const Deck d = app::parse_deck(full, "deck.yaml");
    CHECK((d.balance.model == "a1" && d.balance.clock == balance::Clock::work &&
           d.balance.criterion == balance::CriterionOptions{"every", 0.7} && d.balance.noise == 0.01));
    CHECK(d.balance.work.balancing == 0.5);
    CHECK((d.balance.partition.kind == "rcb" && d.balance.partition.order == balance::Order::tree &&
           d.balance.partition.cut == balance::CutAt::cells && d.balance.partition.patches_per_process == 3 &&
           !d.balance.partition.sticky && d.balance.partition.min_width == 2));
    const std::vector<std::string> limit{"balance.partition.kind=chain",
                                         "balance.partition.max_particles_per_process=5000"};
    const Deck limited = app::parse_deck(full, "deck.yaml", limit);
    CHECK(limited.balance.partition.max_size == 5000);
    check_same(limited, app::parse_deck(app::to_yaml(limited), "deck.yaml"));
    CHECK((d.balance.constants.weight == 0.25 && d.balance.constants.start == balance::Start::uniform &&
           d.balance.constants.costs[3] == 4e-9));
    CHECK((d.balance.work.capacity == 12 && d.balance.work.region_upper[1] == 4 && d.balance.work.region_factor == 3 &&
           d.balance.work.spill == 5e-9 && d.balance.work.region_active == balance::ActiveSteps{0, 900, 7}));
}

TEST_CASE("a machine and a load reach the deck, and the effective deck keeps them") {
    const Deck plain = app::parse_deck(minimal, "deck.yaml");
    CHECK((!plain.machine.nodes && plain.machine.accelerators_per_node == std::vector<std::int64_t>{0} &&
           plain.machine.accelerator_speed == std::vector<double>{12} && plain.load.kind == app::LoadKind::slabs));
    const Deck d = app::parse_deck(
        minimal, "deck.yaml",
        {"machine={nodes: 3, cpus_per_node: 2, cores_per_cpu: auto, accelerators_per_node: [0, 3, 1], core_speed: 0.5, "
         "accelerator_speed: [6, 3, 1]}",
         "load={kind: uniform, cells: [600, 400, 40], bytes_per_cell: 48}", "balance.partition.algorithm=greedy",
         "balance.partition.ghost_width=2"});
    CHECK((d.machine.nodes == 3 && d.machine.cpus_per_node == std::vector<std::int64_t>{2} &&
           d.machine.cores_per_cpu.empty()));
    CHECK((d.machine.accelerators_per_node == std::vector<std::int64_t>{0, 3, 1} &&
           app::Deck::Machine::at(d.machine.accelerators_per_node, 1) == 3 &&
           app::Deck::Machine::at(d.machine.core_speed, 2) == 0.5 &&
           d.machine.accelerator_speed == std::vector<double>{6, 3, 1}));
    const Deck unlike =
        app::parse_deck(minimal, "deck.yaml", {"machine={nodes: 2, cpus_per_node: [2, 1], cores_per_cpu: [12, 64]}"});
    CHECK((unlike.machine.cpus_per_node == std::vector<std::int64_t>{2, 1} &&
           unlike.machine.cores_per_cpu == std::vector<std::int64_t>{12, 64}));
    CHECK((d.load.cells == std::vector<std::int64_t>{600, 400, 40} && d.load.bytes_per_cell == 48));
    CHECK((d.balance.nested.algorithm == balance::NestedAlgorithm::greedy && d.balance.nested.ghost_width == 2));
    const Deck from_file =
        app::parse_deck(minimal, "deck.yaml", {"load={kind: dataset, file: \"it's: #1.h5\", dataset: /a/b}"});
    CHECK((from_file.load.file == "it's: #1.h5" && from_file.load.dataset == "/a/b"));
    for (const Deck& x : {d, unlike, from_file}) check_same(x, app::parse_deck(app::to_yaml(x), "deck.yaml"));
}

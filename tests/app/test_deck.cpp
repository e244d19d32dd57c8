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

Deck read(const std::string& text, const std::vector<std::string>& settings = {}) {
    return app::parse_deck(text, "deck.yaml", settings);
}

/// Checks that the deck, written and read, is itself, key by key, and returns the deck that was read.
Deck check_written(const Deck& deck) {
    const std::string effective = app::to_yaml(deck);
    INFO(effective);
    const Deck again = read(effective);
    CHECK(app::changes(deck, again).empty());
    CHECK(app::to_yaml(again) == effective);
    CHECK(again.name == deck.name);
    return again;
}

/// Numbers as bits: a text that drops digits of a number reads back as the same text.
bool same_numbers(const Deck& a, const Deck& b) {
    return std::ranges::equal(a.system.slabs, b.system.slabs,
                              [](const md::Body& s, const md::Body& t) {
                                  return s.lower == t.lower && s.upper == t.upper && s.density == t.density &&
                                         s.temperature == t.temperature && s.velocity == t.velocity &&
                                         std::signbit(s.velocity[1]) == std::signbit(t.velocity[1]);
                              }) &&
           a.run.dt == b.run.dt && a.grid.skin == b.grid.skin && a.system.box == b.system.box &&
           a.balance.constants == b.balance.constants && a.balance.work == b.balance.work &&
           a.checkpoint.time_limit_seconds == b.checkpoint.time_limit_seconds;
}

std::string error_of(const std::string& text, const std::vector<std::string>& settings) {
    try {
        read(text, settings);
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
    CHECK((d.balance.model == "r1" && d.balance.compare.empty() && d.balance.clock == balance::BalanceClock::wall &&
           d.balance.criterion == balance::CriterionOptions{} && d.balance.noise == 0));
    CHECK(d.balance.partition == balance::PartitionOptions{});
    CHECK(d.balance.constants == balance::ModelConstants{});
    CHECK(d.balance.work == balance::WorkCosts{});
    CHECK(d.output.every == 100);
}

TEST_CASE("every key is read") {
    const Deck d = read(full);
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
    CHECK((d.balance.model == "a1" && d.balance.clock == balance::BalanceClock::work &&
           d.balance.criterion == balance::CriterionOptions{"every", 0.7} && d.balance.noise == 0.01));
    CHECK(d.balance.work.balancing == 0.5);
    CHECK((d.balance.partition.kind == "rcb" && d.balance.partition.order == balance::PatchOrder::tree &&
           d.balance.partition.cut == balance::CutAt::cells && d.balance.partition.patches_per_process == 3 &&
           !d.balance.partition.sticky && d.balance.partition.min_width == 2));
    const std::vector<std::string> limit{"balance.partition.kind=chain",
                                         "balance.partition.max_particles_per_process=5000"};
    const Deck limited = read(full, limit);
    CHECK(limited.balance.partition.max_size == 5000);
    check_written(limited);
    CHECK((d.balance.constants.weight == 0.25 && d.balance.constants.start == balance::Start::uniform &&
           d.balance.constants.costs[3] == 4e-9));
    CHECK((d.balance.work.capacity == 12 && d.balance.work.region_upper[1] == 4 && d.balance.work.region_factor == 3 &&
           d.balance.work.spill == 5e-9 && d.balance.work.region_active == balance::ActiveSteps{0, 900, 7}));
}

TEST_CASE("a potential's own parameters are read, written and compared") {
    const auto with = [](const std::string& keys) { return read(minimal, {"system.potential={" + keys + "}"}); };
    const Deck plain = with("kind: mie"), other = with("kind: mie, repulsive: 14, attractive: 8.0");
    CHECK((plain.system.potential.own[0] == 12 && plain.system.potential.own[1] == 6));
    CHECK((other.system.potential.own[0] == 14 && other.system.potential.own[1] == 8));
    CHECK(contains(app::to_yaml(other), "    repulsive: 14 "));
    CHECK_FALSE(contains(app::to_yaml(with("kind: lennard_jones")), "repulsive"));
    check_written(other);
    const auto changed = app::changes(plain, other);
    REQUIRE(changed.size() == 2);
    CHECK((changed[0].key == "system.potential.repulsive" && changed[0].before == "12" && changed[0].now == "14"));
}

TEST_CASE("box sides are whole numbers of 2^-26, and slabs end with them") {
    const Deck d = read(full);
    const double scaled = std::ldexp(d.system.box[1], 26);
    CHECK(scaled == std::round(scaled));
    CHECK(d.system.box[1] != 300.1);
    CHECK(std::abs(d.system.box[1] - 300.1) < 1e-8);
    CHECK(d.system.slabs[1].upper[1] <= d.system.box[1]);
}

TEST_CASE("box: fit follows from cells and density") {
    const Deck d = read(fitted);
    CHECK(d.system.box_fit);
    const double a = std::sqrt(2 / (std::sqrt(3.0) * 0.9));
    CHECK(std::abs(d.system.box[0] - 40 * a) < 1e-8);
    CHECK(std::abs(d.system.box[1] - 23 * a * std::sqrt(3.0)) < 2e-8);
    CHECK(d.system.slabs[0].upper == d.system.box);
    CHECK(2 * 40 * 23 / (d.system.box[0] * d.system.box[1]) == Approx(0.9));
}

TEST_CASE("the effective deck reads back as itself") {
    for (const std::string& text : {minimal, full, fitted}) check_written(read(text));
    CHECK(contains(app::to_yaml(read(fitted)), "box: fit "));
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
    const Deck d = read(balls);  // rounding of the box and of the corners makes no ball uneven
    CHECK(d.system.slabs[0].shape == md::BodyShape::ball);
    CHECK(d.system.slabs[2].shape == md::BodyShape::box);
    const std::string effective = app::to_yaml(d);
    CHECK(contains(effective, "\n      shape: ball "));
    CHECK(contains(effective, "\n      shape: box"));
    check_written(d);
    CHECK_FALSE(contains(app::to_yaml(read(fitted)), "shape:"));
}

TEST_CASE("arbitrary doubles survive the effective deck bit by bit") {
    std::mt19937_64 random(7);
    const auto real = [&](double low, double high) {
        return low + (high - low) * static_cast<double>(random() >> 11) * 0x1p-53;
    };
    for (int i = 0; i < 300; ++i) {
        Deck d = read(minimal);
        md::Body& s = d.system.slabs[0];
        s.lower = {real(0, 10), real(0, 10)};
        s.upper = {real(11, 50), real(11, 50)};
        s.density = std::ldexp(real(1, 2), -static_cast<int>(random() % 60));
        s.temperature = std::ldexp(real(1, 2), -static_cast<int>(random() % 900));
        s.velocity = {real(-100, 100), -0.0};
        d.run.dt = real(1e-9, 0.01);
        d.grid.skin = real(0, 1);
        const Deck again = check_written(d);
        CHECK(same_numbers(d, again));
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
        Deck d = read(full);
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
        look(app::parse_tree(app::to_yaml(d), {"deck.yaml"}));
        CHECK(same_numbers(d, check_written(d)));
    }
    CHECK(seen > 5000);
    CHECK(contains(app::to_yaml(read(full)), "costs: [1.0e-09, 2.0e-09, 3.0e-09, 4.0e-09]"));
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
    const Deck d = read(text);
    check_written(d);
}

TEST_CASE("YAML that people write is accepted") {
    CHECK(read("\xEF\xBB\xBF" + minimal).run.steps == 10);
    std::string crlf;
    for (char c : "---\n" + minimal + "...\n") crlf += c == '\n' ? "\r\n" : std::string(1, c);
    CHECK(read(crlf).run.steps == 10);
    CHECK(read("# gr\xC3\xB6\xC3\x9F"
               "e\n" +
               minimal)
              .run.steps == 10);
    CHECK(read(minimal + "grid: {skin: 0}\n").grid.skin == 0.0);
    CHECK(read(minimal + "grid: {tile: 9}\n").grid.tile == std::array{9, 9, 1});
    CHECK_FALSE(read(minimal + "grid: {tile: auto}\n").grid.tile);
    CHECK_FALSE(read(minimal + "balance: {processes: null}\n").balance.processes);
    CHECK_FALSE(read(minimal + "balance: {processes: }\n").balance.processes);
}

TEST_CASE("settings override, add, and reach into lists, in order") {
    const Deck d = read(
        full, {"grid.cell=3", "system.slabs.0.velocity=[1, 0]", "system.slabs.1.density=0.25", "balance.processes=null",
               "run.steps=1", "run.steps=1e6", "system.box.0=800", "output={every: 7}", "grid.skin=auto"});
    CHECK(d.grid.cell == 3);
    CHECK(d.system.slabs[0].velocity == std::array<double, 3>{1, 0, 0});
    CHECK(d.system.slabs[1].density == 0.25);
    CHECK_FALSE(d.balance.processes);
    CHECK(d.run.steps == 1'000'000);
    CHECK(d.system.box[0] == 800);
    CHECK((d.output.every == 7 && d.output.interval("fields") == 0));
    CHECK_FALSE(d.grid.skin);
    CHECK(read(minimal, {"system.potential.cutoff=3"}).grid.cell == 3);
    CHECK(read(minimal, {"balance.partition.kind=none"}).balance.partition.kind == "none");
    // A bad value in the file may be overridden.
    CHECK(read(minimal + "grid: {cell: wide}\n", {"grid.cell=4"}).grid.cell == 4);
}

TEST_CASE("a bad setting is named by its path") {
    const std::pair<const char*, const char*> cases[] = {
        {"balance.proceses=4", "did you mean 'processes'?"},
        {"balnce.every=4", "did you mean 'balance'?"},
        {"system.slabs.0.velocty=[1, 0]", "did you mean 'velocity'?"},
        {"dt=0.1", "it belongs at run.dt"},
        {"balance.criterion=menom", "did you mean 'menon'?"},
        {"balance.migrate=menon", "balance.migrate can't be 'menon'"},
        {"balance.criteria.threshold=0", "balance.criteria.threshold is 0"},
        {"balance.criteria.threshold=1.1", "at most 1"},
        {"balance.work.balancing=-1", "balance.work.balancing is -1"},
        {"balance.processes", "no value"},
        {"grid.cell=", "grid.cell has no value"},
        {"grid.cell=a: 1", "must be a number"},
        {"grid.cell=[1", "close every bracket"},
        {"grid.cell=&a 3", "anchor"},
        {"grid.cell=[1]]", "not valid YAML"},
        {"grid.cell=3\n...", "line break"},
        {"grid..cell=3", "empty part"},
        {"=3", "empty part"},
        {"run.dt.x=3", "run.dt is '0.001' and has no keys"},
        {"system.slabs.1.density=2", "without element '1'"},
        {"system.slabs.x.density=2", "number its elements from 0 to 0"},
        {"system.slabs.0.upper=[400, 20]", "outside the box"},
        {"system.box=[8, 1]", "slab 0 ends outside the box"},
        {"grid.skin=9", "cutoff + skin is 11.5"},
        {"grid.skin={a: 1, a: 2}", "stands twice"},
    };
    for (const auto& [setting, message] : cases) {
        const std::string text = setting, error = error_of(minimal, {text});
        INFO(text << "\n" << error);
        // A smaller box makes the slab wrong, and the slab is in the file.
        const bool in_file = text == "system.box=[8, 1]";
        CHECK(error.rfind(in_file ? "deck.yaml:4:" : "--set " + text.substr(0, text.find('=')) + ": ", 0) == 0);
        CHECK(contains(error, message));
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
    const std::string bases[] = {full, fitted, space, app::to_yaml(read(full))};
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
            const Deck d = read(text);
            read(app::to_yaml(d));
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
    const Deck d = read(full);
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
        const Deck some = read(minimal, {"balance.clock=work", "balance.compare=" + entries});
        check_written(some);
        for (const balance::Contender& c : some.balance.compare) found.push_back(c.name);
        return found;
    };
    CHECK(names("[a1, {model: a1, criteria: {threshold: 0.5}}, {model: a1, partition: {kind: none}}]") ==
          std::vector<std::string>{"a1", "a1/gain", "a1/none"});
    CHECK(names("[{model: r1, name: again}, {name: 2.x-_+, model: r1}]") ==
          std::vector<std::string>{"again", "2.x-_+"});
    CHECK(names("[{model: r1, criterion: gain}]") == std::vector<std::string>{"r1/gain"});
}

TEST_CASE("migrate is an older name of two criteria") {
    const auto criterion = [](const std::string& setting) { return read(minimal, {setting}).balance.criterion.name; };
    CHECK(criterion("balance.migrate=always") == "every");
    CHECK(criterion("balance.migrate=gain") == "gain");
    CHECK(criterion("balance.criterion=zhai") == "zhai");
    CHECK(app::to_yaml(read(minimal, {"balance.migrate=always"})).find("migrate:") == std::string::npos);
}

TEST_CASE("a machine and a load reach the deck, and the effective deck keeps them") {
    const Deck plain = read(minimal);
    CHECK((!plain.machine.nodes && plain.machine.accelerators_per_node == std::vector<std::int64_t>{0} &&
           plain.machine.accelerator_speed == std::vector<double>{12} && plain.load.kind == app::LoadKind::slabs));
    const Deck d = read(
        minimal,
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
    const Deck unlike = read(minimal, {"machine={nodes: 2, cpus_per_node: [2, 1], cores_per_cpu: [12, 64]}"});
    CHECK((unlike.machine.cpus_per_node == std::vector<std::int64_t>{2, 1} &&
           unlike.machine.cores_per_cpu == std::vector<std::int64_t>{12, 64}));
    CHECK((d.load.cells == std::vector<std::int64_t>{600, 400, 40} && d.load.bytes_per_cell == 48));
    CHECK((d.balance.nested.algorithm == balance::NestedAlgorithm::greedy && d.balance.nested.ghost_width == 2));
    const Deck from_file = read(minimal, {"load={kind: dataset, file: \"it's: #1.h5\", dataset: /a/b}"});
    CHECK((from_file.load.file == "it's: #1.h5" && from_file.load.dataset == "/a/b"));
    for (const Deck& x : {d, unlike, from_file}) check_written(x);
}

// SPDX-License-Identifier: MIT
// Properties of every key of the table of a deck.
#include <catch2/catch.hpp>
#include <set>

#include "app/deck/deck.hpp"
#include "app/deck/key.hpp"

namespace {

using app::Deck;

const std::string corners =
    "system:\n"
    "  box: [100, 50]\n"
    "  slabs: [{lower: [10, 10], upper: [40, 40]}]\n"
    "run: {dt: 0.001, steps: 10}\n"
    "load: {kind: dataset, file: a.h5}\n";
// Of these, each has a body of another shape or filling.
const std::string at_random =
    "shape: box, lower: [1, 1, 1], upper: [9, 9, 9], fill: random, spacing: 0, density: 0.1, profile: ";
const std::vector<std::string> shapes{"shape: box, lower: [10, 10, 10], upper: [20, 20, 20]",
                                      "shape: shell, center: [20, 20, 20], radius: 9, inner_radius: 3, fill: random, "
                                      "spacing: 0.5, density: 0.1",
                                      "shape: cylinder, center: [20, 20, 20], radius: 9, length: 9, fill: random, "
                                      "spacing: 0.6, particles: 40",
                                      at_random + "{kind: linear}",
                                      at_random + "{kind: geometric}",
                                      at_random + "{kind: sinusoidal}",
                                      "shape: box, lower: [1, 1, 1], upper: [9, 9, 9], fill: file, from: {file: a.h5, "
                                      "group: a, digest: '0123456789abcdef', particles: 10, fastest: 2}"};
std::string with_body(const std::string& body) {
    return "system:\n  box: [100, 50, 60]\n  bodies: [{" + body + "}]\nrun: {dt: 0.001, steps: 10}\n";
}
const std::string cells =
    "system:\n"
    "  box: fit\n"
    "  potential: {kind: mie}\n"
    "  slabs: [{cells: [40, 23]}]\n"
    "run: {dt: 0.001, steps: 10}\n"
    "load: {kind: uniform}\n";
const std::string of_file =
    "system:\n"
    "  box: [100, 50]\n"
    "  from: {file: a.h5, group: a, digest: '0123456789abcdef', particles: 10, fastest: 2}\n"
    "run: {dt: 0.001, steps: 10}\n";

// Gravity, a wall and a thermostat.
std::string with_forces(const std::string& wall) {
    return "system:\n  box: [100, 50]\n  boundary: [periodic, reflecting]\n  gravity: [0, -1]\n  walls: [{face: "
           "y_lower, " +
           wall +
           "}]\n  thermostat: {kind: langevin, every: 9}\n  slabs: [{lower: [10, 10], upper: [20, 20]}]\n"
           "run: {dt: 0.001, steps: 10}\n";
}

bool read(const app::Key& key, const std::string& path, const std::string& text) {
    try {
        key.read(app::parse_tree(text, {"test"}), path);
    } catch (const app::DeckError&) {
        return false;
    }
    return true;
}

// Its enumerators are in another order than its words.
enum class Turned { second, first };
constexpr auto words_of(Turned) {
    return std::to_array<balance::Word<Turned>>({{Turned::first, "first"}, {Turned::second, "second"}});
}

// Gives the key another value; some text of these is one.
void change(const app::Key& key, const std::string& path) {
    const std::string before = key.text();
    for (const char* text : {"0.0005",
                             "0.5",
                             "5",
                             "8",
                             "100",
                             "[7, 8]",
                             "[7, 8, 9]",
                             "fcc",
                             "y",
                             "random",
                             "lattice",
                             "sc",
                             "[0.1, 0.2, 0.3, 0.4]",
                             "[reflecting, reflecting]",
                             "[a1]",
                             "menon",
                             "[force]",
                             "[lbaf]",
                             "soft_sphere",
                             "none",
                             "double",
                             "rcb",
                             "hilbert",
                             "patches",
                             "false",
                             "true",
                             "uniform",
                             "b1",
                             "work",
                             "always",
                             "greedy",
                             "slabs",
                             "ball",
                             "other.h5",
                             "fedcba9876543210",
                             "off",
                             "host",
                             "fixed",
                             "plain",
                             "x_upper",
                             "rescale",
                             "cpu",
                             "inner"})
        if (read(key, path, text) && key.text() != before) return;
    FAIL("no other value for " << path);
}

// The interface: a restart keeps these.
bool kept(const std::string& path) {
    if (path.ends_with("from.file")) return false;  // the digest says that it is the same
    return path.rfind("system.", 0) == 0 || path == "grid.cell" || path == "grid.tile";
}

}  // namespace

TEST_CASE("a change of any key is seen, as one of this key alone, and a restart refuses it where it keeps the key") {
    std::set<std::string> all, seen;
    app::for_each_key(app::standard_keys(), [&](const std::string& path, const app::Key& key, bool) {
        if (key.name == "migrate") return;                                   // another name of a key
        if (key.text && path != "system.slabs.0.lattice") all.insert(path);  // there is one lattice
    });
    std::vector<std::string> decks{corners, cells, of_file};
    for (const std::string& body : shapes) decks.push_back(with_body(body));
    for (const char* wall : {"epsilon: 1, cutoff: 2", "velocity: 1, to: 7"}) decks.push_back(with_forces(wall));
    for (const std::string& text : decks) {
        const Deck before = app::parse_deck(text, "deck.yaml");
        Deck now = before;
        const std::vector<app::Key> keys = app::deck_keys(now);
        app::for_each_key(keys, [&](const std::string& path, const app::Key& key, bool) {
            if (all.count(path) == 0 || key.text().empty()) return;
            CAPTURE(path);
            const std::string old = key.text();
            change(key, path);
            const std::vector<app::DeckChange> found = app::changes(before, now);
            REQUIRE_FALSE(found.empty());
            CHECK((found[0].key == path && found[0].before == old && found[0].now == key.text()));
            // With another kind, shape or fill, parameters go; a number of particles stands in place of their density,
            // and a wall that gets a potential does not move. A run that chooses has an interval, and keys without
            // text.
            const std::set<std::string> several{"kind", "shape", "fill", "epsilon", "auto"};
            if (!several.contains(key.name)) CHECK(found.size() == 1);
            for (const app::DeckChange& c : found) CHECK(c.refused == kept(path));
            REQUIRE(read(key, path, old));
            if (key.name == "auto") now.balance = before.balance;
            CHECK(app::changes(before, now).empty());
            seen.insert(path);
        });
    }
    CHECK(seen == all);
    CHECK(seen.size() > 60);
}

TEST_CASE("a word stands for the enumerator beside it, whatever the order of either") {
    Turned x = Turned::second;
    const app::Key key = app::word("which", x, "");
    CHECK(key.text() == "second");
    REQUIRE(read(key, "which", "first"));
    CHECK((x == Turned::first && key.text() == "first"));
    CHECK(key.allowed == "one of first, second");
    CHECK_FALSE(read(key, "which", "third"));
}

TEST_CASE("every key with a value for each axis is refused with one for fewer or more axes than the box has") {
    const std::string flat =
        "system:\n"
        "  box: [100, 50]\n"
        "  boundary: [periodic, reflecting]\n"
        "  gravity: [0, 1]\n"
        "  slabs: [{lower: [10, 10], upper: [40, 40], velocity: [1, 0]}]\n"
        "run: {dt: 0.001, steps: 10}\n"
        "grid: {tile: [8, 9]}\n";
    const std::string space =
        "system:\n"
        "  box: [100, 50, 60]\n"
        "  boundary: [periodic, reflecting, periodic]\n"
        "  gravity: [0, 1, 0]\n"
        "  slabs: [{lower: [10, 10, 5], upper: [40, 40, 50], velocity: [1, 0, 2]}]\n"
        "run: {dt: 0.001, steps: 10}\n"
        "grid: {tile: [8, 9, 10]}\n";
    const auto fitted = [](const std::string& cells) {
        return "system: {box: fit, slabs: [{cells: " + cells +
               "}]}\nrun: {dt: 0.001, steps: 1}\ngrid: {tile: " + cells + "}\n";
    };
    std::set<std::string> all, refused;
    app::for_each_key(app::standard_keys(), [&](const std::string& path, const app::Key& key, bool) {
        if (key.allowed.find("list of 2 or 3") != std::string::npos) all.insert(path);
    });
    CHECK(all.erase("load.cells") == 1);  // a load that isn't the deck's has axes of its own
    const auto check = [&](const std::string& text, const std::string& of_other) {
        Deck other = app::parse_deck(of_other, "deck.yaml");
        app::for_each_key(app::deck_keys(other), [&](const std::string& path, const app::Key& key, bool) {
            if (!all.contains(path) || key.text().empty() || key.text() == "fit" || key.text() == "auto") return;
            std::string error = "accepted";
            try {
                app::parse_deck(text, "deck.yaml", {path + "=" + key.text()});
            } catch (const app::DeckError& e) {
                error = e.what();
            }
            CAPTURE(path, key.text(), error);
            CHECK(error.find(path + " has " + std::to_string(other.system.dimensions)) != std::string::npos);
            // Where it stands, unless all others differ from it.
            const bool decides = path == "system.box" || path == "system.slabs.0.cells";
            CHECK(error.rfind(decides ? "deck.yaml:" : "--set " + path + ":", 0) == 0);
            refused.insert(path);
        });
    };
    check(flat, space);
    check(space, flat);
    const auto body = [](const std::string& box, const std::string& words) {
        return "system: {box: " + box + ", bodies: [{" + words + "}]}\nrun: {dt: 0.001, steps: 1}\n";
    };
    check(body("[100, 50]", "shape: box, lower: [1, 1], upper: [9, 9]"),
          body("[100, 50, 60]", "shape: box, lower: [1, 1, 1], upper: [9, 9, 9]"));
    check(body("[100, 50, 60]", "shape: ball, center: [9, 9, 9], radius: 2"),
          body("[100, 50]", "shape: ball, center: [9, 9], radius: 2"));
    check(fitted("[40, 23]"), fitted("[9, 8, 7]"));
    check(fitted("[9, 8, 7]"), fitted("[40, 23]"));
    CHECK(refused == all);
}

TEST_CASE("a restart may leave to the run what the checkpoint's deck says") {
    const Deck chosen = app::parse_deck(corners, "deck.yaml"),
               given = app::parse_deck(corners, "deck.yaml", {"grid.tile=8"});
    CHECK_FALSE(app::changes(given, chosen).at(0).refused);
    CHECK(app::changes(chosen, given).at(0).refused);
}

TEST_CASE("the reference has a row for every key") {
    const std::string reference = app::deck_reference();
    app::for_each_key(app::standard_keys(), [&](const std::string& path, const app::Key& key, bool) {
        if (!key.text) return;
        CAPTURE(path);
        std::string section = path.substr(0, path.rfind('.'));
        while (section.find(".0") != std::string::npos) section.erase(section.find(".0"), 2);  // of a list of sections
        const std::size_t begin = reference.find("\n## " + section + "\n"), end = reference.find("\n## ", begin + 1);
        REQUIRE(begin != std::string::npos);
        CHECK(reference.find("\n| `" + key.name + "` | ", begin) < end);
        CHECK((!key.meaning.empty() && !key.allowed.empty()));
    });
    CHECK(reference.find("| `cell` | 2D: the cutoff; 3D: 1.2 times the cutoff | a number above 0 and at most 10 | "
                         "no | smallest side of a cell") != std::string::npos);
}

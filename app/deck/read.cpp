// SPDX-License-Identifier: MIT
// From text to a tree, and from its section balance to a Deck: overrides, the keys' names, their values, then the
// checks that need more than one key. Neither particles, files nor ranks are needed.
#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "app/deck/checks.hpp"
#include "app/deck/deck.hpp"
#include "app/deck/key.hpp"
#include "app/deck/wording.hpp"
#include "app/deck/yaml_tree.hpp"

namespace app {
namespace {

// Where among all keys `name` belongs; empty if nowhere or in more than one place.
std::string home_of(const std::string& name, const std::vector<Key>& all) {
    std::set<std::string> homes;
    for_each_key(all, [&](const std::string& path, const Key& key, bool) {
        if (key.name == name) homes.insert(path);
    });
    return homes.size() == 1 ? *homes.begin() : std::string();
}

// Before any value is read, all keys are looked at: a misspelt key explains a missing one.
void check_names(const Node& node, const std::vector<Key>& keys, const std::string& path, const std::vector<Key>& all) {
    const std::string name = path.empty() ? "the file" : path;
    std::vector<std::string> known;
    for (const Key& key : keys) known.push_back(key.name);
    if (node.kind == Node::Kind::null) fail(node.where, name + " is empty", "give it keys or remove it");
    if (node.kind != Node::Kind::map)
        fail(node.where, fmt::format("{} must be a map of keys, not {}", name, describe(node)),
             fmt::format("use {}the keys {}", path == "balance" ? "the word auto or " : "", fmt::join(known, ", ")));
    for (const NodeEntry& e : node.entries) {
        const std::string here = below(path, e.key);
        const auto key = std::ranges::find_if(keys, [&](const Key& k) { return k.name == e.key; });
        if (key == keys.end()) {
            const std::string home = home_of(e.key, all);
            fail(e.where, fmt::format("unknown key {}{}", quote(e.key), path.empty() ? "" : " in " + path),
                 home.empty() ? suggestion(e.key, known) : "it belongs at " + home);
        }
        if (!key->keys.empty()) check_names(e.value, key->keys, here, all);
        for (std::size_t i = 0; key->elements && i < e.value.items.size(); ++i)
            check_names(e.value.items[i], key->elements()[0], below(here, std::to_string(i)), all);
    }
}

// where: of the section, for messages on missing keys.
void read_keys(const Node& section, const std::vector<Key>& keys, const std::string& path, const std::string& where) {
    for (const Key& key : keys) {
        const std::string here = below(path, key.name);
        const std::string excluded = key.excluded ? key.excluded() : "";
        const NodeEntry* given = section.find(key.name);
        if (!given) {
            if (!key.missing.empty() && excluded.empty()) fail(where, here + " is missing", key.missing);
            continue;
        }
        if (!excluded.empty()) {
            // Kinds of a potential may have parameters of the same name.
            if (std::ranges::any_of(
                    keys, [&](const Key& k) { return k.name == key.name && (!k.excluded || k.excluded().empty()); }))
                continue;
            fail(given->value.where, fmt::format("{} {}", here, excluded), key.way_out);
        }
        if (key.read) key.read(given->value, here);
        read_keys(given->value, key.keys, here, given->where);
        const std::vector<std::vector<Key>> elements = key.elements ? key.elements() : std::vector<std::vector<Key>>();
        for (std::size_t i = 0; i < elements.size(); ++i) {
            const Node& element = given->value.items[i];
            read_keys(element, elements[i], below(here, std::to_string(i)), element.where);
        }
    }
}

}  // namespace

void read_tree(const Node& root, const std::vector<Key>& known, const std::vector<Key>& keys, const std::string& file) {
    check_names(root, known, "", known);
    read_keys(root, keys, "", file);
}

void read_part(const Node& map, const std::vector<Key>& keys, const std::string& path) {
    check_names(map, keys, path, keys);
    read_keys(map, keys, path, map.where);
}

namespace {

// `balance: auto` is short for `balance: {auto: true}`.
void spell_out_auto(Node& root) {
    NodeEntry* balance = root.kind == Node::Kind::map ? root.find("balance") : nullptr;
    if (!balance || !is_word(balance->value, "auto")) return;
    Node yes = std::exchange(balance->value, {Node::Kind::map, false, "", balance->value.where, {}, {}});
    yes.text = "true";
    balance->value.entries.push_back({"auto", yes.where, yes});
}

}  // namespace

Node deck_tree(const std::string& text, const std::string& shown) {
    if (text.find("\x89HDF\r\n") != std::string::npos)  // behind a checkpoint's front
        fail(shown, "an HDF5 file, not a deck", "a checkpoint belongs behind --restart, beside a deck");
    Node root = parse_tree(text, {shown});
    spell_out_auto(root);
    return root;
}

void apply_settings(Node& root, const std::vector<std::string>& settings) {
    for (const std::string& setting : settings) {
        if (root.kind != Node::Kind::map) break;                                         // check_names() says so
        apply_setting(root, setting == "balance=auto" ? "balance.auto=true" : setting);  // other keys stay
    }
}

Deck parse_balance(const std::string& text, const std::string& file, const std::vector<std::string>& settings) {
    const std::string shown = printable(file);
    Node root = deck_tree(text, shown);
    if (root.kind == Node::Kind::null) root.kind = Node::Kind::map, root.where = shown;
    apply_settings(root, settings);
    Deck deck;
    std::vector<Key> keys = deck_keys(deck);
    std::erase_if(keys, [](const Key& key) { return key.name != "balance" && key.name != "output"; });
    read_tree(root, standard_keys(), keys, Origin{shown}.where(0, 0));
    if (const NodeEntry* system = root.find("system"))
        if (const NodeEntry* seed = system->value.find("seed"))
            deck.system.seed = to_unsigned(seed->value, "system.seed");
    deck.balance.clock = balance::BalanceClock::work;
    // By default each entry is an opportunity; `auto` set the interval of a run.
    const NodeEntry* section = root.find("balance");
    if (!section || !section->value.find("every") || deck.balance.every == 0) deck.balance.every = 1;
    check_balance(deck, [&](const std::string& path) { return locate(root, path, shown); });
    return deck;
}

}  // namespace app

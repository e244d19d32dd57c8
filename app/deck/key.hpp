// SPDX-License-Identifier: MIT
// A key of a deck, described once: its meaning, the values it may have, and the member that holds its value. Reading,
// the effective deck, the comparison at a restart and docs/deck.md all go by these descriptions (table.cpp).
#pragma once
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/deck/deck.hpp"
#include "app/deck/wording.hpp"
#include "app/deck/yaml_tree.hpp"
#include "balance/words.hpp"

namespace app {

/// Allowed values of a number: low <= x <= high. above: without `low` itself. multiple_of: unless 0, multiples of it
/// only.
struct NumberRange {
    double low, high;
    bool above = false;
    int multiple_of = 0;
};

/// Allowed values in words, as in "a number above 0 and at most 1", "one of wall, work".
std::string allowed(const NumberRange& range);
std::string allowed(std::int64_t low, std::int64_t high);
std::string allowed(const std::vector<std::string>& words);

/// Readers of single values; path names the key in messages. A number is decimal, finite, without leading zeros; an
/// integer may be written as 1e6 or 2.0 as long as it is one. Throw DeckError.
double to_number(const Node& node, const std::string& path, const NumberRange& range);
std::int64_t to_integer(const Node& node, const std::string& path, std::int64_t low, std::int64_t high);
std::uint64_t to_unsigned(const Node& node, const std::string& path);
/// One of `words`.
const std::string& to_word(const Node& node, const std::string& path, const std::vector<std::string>& words);
/// The elements of a list. count: their allowed number, 0 for any. or_count: a second allowed number, unless 0.
/// example: such a list.
const std::vector<Node>& to_list(const Node& node, const std::string& path, std::size_t count, std::string_view example,
                                 std::size_t or_count = 0);

/// Whether a node is this word. The word "null" stands for an empty value.
bool is_word(const Node& node, std::string_view word);

/// The shortest text that reads back to the same bits. A number with an exponent has a dot (2.0e-09), because readers
/// of YAML 1.1 take 2e-09 for text.
std::string number_text(double x);

/// A value has `read` and `text`; a section has `keys`; a list of sections has `read` and `elements`. A key is bound to
/// members of one deck, which must outlive it.
struct Key {
    std::string name, meaning;
    std::string allowed = {};                                             ///< the values it may have
    std::function<void(const Node&, const std::string& path)> read = {};  ///< sets the member (of a list: its length)
    std::function<std::string()> text = {};  ///< the value as YAML; empty: this deck has no such key
    std::vector<Key> keys = {};
    std::function<std::vector<std::vector<Key>>()> elements = {};

    std::string missing = {};                    ///< Remedy if the key is missing; empty: it has a default.
    std::string standard = {};                   ///< The default for docs/deck.md, if `text` can't give it.
    bool may_change = false;                     ///< A restart may change it, with all keys below it.
    std::function<std::string()> excluded = {};  ///< Why keys read before exclude it; empty: no reason.
    std::string way_out = {};                    ///< Remedy if it is excluded.
};

/// Every key of a deck, in the order in which they are read and written.
std::vector<Key> deck_keys(Deck& deck);

/// The keys of the section system.
std::vector<Key> system_keys(Deck::System& system);

/// The keys of the section system for gravity, walls and the thermostat.
std::vector<Key> external_keys(Deck::System& system);

/// The keys of the sections machine, accelerator, comm and load.
std::vector<Key> machine_keys(Deck::Machine& machine);
std::vector<Key> accelerator_keys(Deck::Accelerator& accelerator);
std::vector<Key> comm_keys(Deck::Comm& comm);
std::vector<Key> load_keys(Deck::Load& load);

/// The keys of a deck of defaults, for their names and meanings. One slab stands for any number of slabs.
const std::vector<Key>& standard_keys();

/// `key` in the section at `path`; the top level is the empty path.
std::string below(const std::string& path, const std::string& key);

/// A meaning that names the words: "what: a, b, c".
std::string with_words(const std::string& what, const std::vector<std::string>& words);

/// The tree of a deck's text. shown: its name in messages. Throws DeckError.
Node deck_tree(const std::string& text, const std::string& shown);
/// Applies overrides to a tree that is a map. Any other tree stays unchanged.
void apply_settings(Node& root, const std::vector<std::string>& settings);

/// Reads the values of a tree into the members of its keys. known: the allowed names, as standard_keys(). file: named
/// in messages on missing keys. Throws DeckError.
void read_tree(const Node& root, const std::vector<Key>& known, const std::vector<Key>& keys, const std::string& file);

/// Like read_tree(), for a map at `path` within a deck.
void read_part(const Node& map, const std::vector<Key>& keys, const std::string& path);

/// The keys with their values as YAML on one line: {a: 1, b: {c: 2}}.
std::string flow_of(const std::vector<Key>& keys);

/// The keys with their values as YAML, a line for each, with their meanings as comments.
std::string yaml_of(const std::vector<Key>& keys);

/// Calls use(path, key, may_change) for each key, in order. A section or list comes before the keys in it. The path of
/// a list's element has its number.
void for_each_key(const std::vector<Key>& keys,
                  const std::function<void(const std::string& path, const Key& key, bool may_change)>& use,
                  const std::string& above = {}, bool may_change = false);

/// A key that takes the values of `key` and the word `other`. The word stands for the value T{} of the member x. The
/// word "null" is an empty value.
template <class T>
Key or_other(Key key, const std::string& other, T& x) {
    key.allowed += ", or " + other;
    key.read = [&x, other, read = std::move(key.read)](const Node& node, const std::string& path) {
        if (is_word(node, other)) x = T{};
        else read(node, path);
    };
    key.text = [&x, other, text = std::move(key.text)] { return x == T{} ? other : text(); };
    return key;
}

// Kinds of values. Members may be optional: reading fills them. other: as for or_other(); empty: none.

template <class T>
Key number(std::string name, T& x, const NumberRange& range, std::string meaning, const std::string& other = {}) {
    Key key{std::move(name), std::move(meaning), allowed(range)};
    key.read = [&x, range](const Node& node, const std::string& path) { x = to_number(node, path, range); };
    key.text = [&x] { return number_text(std::optional<double>(x).value_or(0)); };
    return other.empty() ? key : or_other(std::move(key), other, x);
}

template <class T>
Key integer(std::string name, T& x, std::int64_t low, std::int64_t high, std::string meaning,
            const std::string& other = {}) {
    Key key{std::move(name), std::move(meaning), allowed(low, high)};
    key.read = [&x, low, high](const Node& n, const std::string& path) { x = T(to_integer(n, path, low, high)); };
    key.text = [&x] { return std::to_string(std::optional<std::int64_t>(x).value_or(0)); };
    return other.empty() ? key : or_other(std::move(key), other, x);
}

/// One of `words`, kept as it is.
Key word(std::string name, std::string& x, const std::vector<std::string>& words, std::string meaning);

/// A word of an enum (balance/words.hpp).
template <class Enum>
Key word(std::string name, Enum& x, std::string meaning) {
    return {std::move(name), std::move(meaning), allowed(balance::all_words<Enum>()),
            [&x](const Node& node, const std::string& path) {
                x = *balance::value_of<Enum>(to_word(node, path, balance::all_words<Enum>()));
            },
            [&x] { return std::string(balance::word_of(x)); }};
}

/// One of some words of an enum.
template <class Enum>
Key one_of(std::string name, Enum& x, std::initializer_list<Enum> values, std::string meaning) {
    Key key = word(std::move(name), x, std::move(meaning));
    std::vector<std::string> words;
    for (const Enum value : values) words.emplace_back(balance::word_of(value));
    key.allowed = allowed(words);
    key.read = [&x, words](const Node& node, const std::string& path) {
        x = *balance::value_of<Enum>(to_word(node, path, words));
    };
    return key;
}

/// One of two words, for false and true.
Key flag(std::string name, bool& x, std::string meaning, const std::string& no = "false",
         const std::string& yes = "true");

/// A text on one line, written in quotes, so that YAML takes it for nothing else. what: the allowed texts, in words.
Key text(const char* name, std::string& x, const char* what, std::string meaning);

/// A list of values. items: describes them, without names; example: such a list.
Key list(std::string name, const std::function<std::vector<Key>()>& items, const std::string& example,
         std::string meaning);
/// item: describes a value of the list xs.
template <class List, class Item>
Key list(std::string name, List& xs, Item item, const std::string& example, std::string meaning) {
    const auto items = [&xs, item] {
        std::vector<Key> keys;
        for (auto& x : xs) keys.push_back(item(x));
        return keys;
    };
    return list(std::move(name), items, example, std::move(meaning));
}

/// A list of numbers. xs: an array or a vector.
template <class Numbers>
Key numbers(const char* name, Numbers& xs, const NumberRange& range, const char* example, const char* meaning) {
    return list(
        name, xs, [range](double& x) { return number("", x, range, ""); }, example, meaning);
}

/// A value for each axis. `system.given` keeps the number of values, two or three, until the whole deck has been read.
/// item: describes one value, of type T. xs: the array of values, or an optional array. If the optional is empty, the
/// deck has no such key.
template <class T, class Xs, class Item>
Key per_axis(std::string name, Xs& xs, Deck::System& system, Item item, const std::string& example,
             std::string meaning) {
    T shape{};
    Key key{std::move(name), std::move(meaning), "a list of 2 or 3, each " + item(shape).allowed};
    key.read = [&xs, &system, item, example](const Node& node, const std::string& path) {
        const std::size_t n = to_list(node, path, 2, example, 3).size();
        std::array<T, 3> values = std::optional<std::array<T, 3>>(xs).value_or(std::array<T, 3>{});
        for (std::size_t i = 0; i < n; ++i) item(values[i]).read(node.items[i], below(path, std::to_string(i)));
        xs = values;
        system.given[path] = static_cast<int>(n);
    };
    key.text = [&xs, &system, item]() -> std::string {
        std::optional<std::array<T, 3>> values = xs;
        if (!values) return "";
        std::vector<std::string> texts;
        for (int a = 0; a < system.dimensions; ++a) texts.push_back(item((*values)[a]).text());
        return fmt::format("[{}]", fmt::join(texts, ", "));
    };
    return key;
}
template <class Xs>
Key numbers_per_axis(const char* name, Xs& xs, Deck::System& system, const NumberRange& range, const char* example,
                     const char* meaning) {
    const auto item = [range](double& x) { return number("", x, range, ""); };
    return per_axis<double>(name, xs, system, item, example, meaning);
}
/// T: type of a value.
template <class T>
Key integers_per_axis(const char* name, std::optional<std::array<T, 3>>& xs, Deck::System& system, std::int64_t low,
                      std::int64_t high, const char* meaning) {
    const auto item = [low, high](T& x) { return integer("", x, low, high, ""); };
    return per_axis<T>(name, xs, system, item, "[100, 200]", meaning);
}

/// A list of different values. item: describes one value.
template <class Word, class Item>
Key distinct(const char* name, std::vector<Word>& xs, Item item, const char* example, const std::string& meaning) {
    Word shape{};
    Key key = list(name, xs, item, example, meaning);
    key.allowed = "a list, each " + item(shape).allowed;
    key.read = [&xs, example, read = std::move(key.read)](const Node& node, const std::string& path) {
        xs.resize(to_list(node, path, 0, example).size());
        read(node, path);
        for (auto x = xs.begin(); x != xs.end(); ++x)
            if (const Node& item = node.items[x - xs.begin()]; std::find(xs.begin(), x, *x) != x)
                fail(item.where, item.text + " is there twice", "name each once");
    };
    return key;
}

/// A list of 1 to `most` sections. keys: returns the keys of one section.
template <class T>
Key section_list(const char* name, std::vector<T>& xs, Deck::System& system, std::size_t most,
                 std::vector<Key> (*keys)(T&, Deck::System&), const char* example, const char* meaning) {
    Key key{name, meaning, fmt::format("a list of 1 to {} {}", most, name)};
    key.read = [&xs, name, most, example](const Node& node, const std::string& path) {
        const std::size_t n = to_list(node, path, 0, example).size();
        if (n == 0) fail(node.where, path + " is empty", "give at least one, or leave the key out");
        if (n > most) fail(node.items[most].where, fmt::format("more than {} {}", most, name), "merge some of them");
        xs.resize(n);
    };
    key.elements = [&xs, &system, keys] {
        std::vector<std::vector<Key>> all;
        for (T& x : xs) all.push_back(keys(x, system));
        return all;
    };
    return key;
}

Key section(std::string name, std::string meaning, std::vector<Key> keys);
/// `key`, which has no default. remedy: for the message if the key is missing.
Key required(Key key, std::string remedy);
/// `key`, which a restart may change.
Key may_change(Key key);
/// `key`, refused if why() returns a reason.
Key unless(Key key, std::function<std::string()> why, std::string way_out);

/// A reason for unless(). Returns no reason if x has one of the values, and otherwise `words`, with the word of x in
/// the place of {}.
template <class Enum>
std::function<std::string()> unlike(const Enum& x, std::vector<Enum> values, std::string words) {
    return [&x, values = std::move(values), words = std::move(words)] {
        const bool has = std::ranges::find(values, x) != values.end();
        return has ? std::string() : fmt::format(fmt::runtime(words), balance::word_of(x));
    };
}
/// `key` with its present value as its default. A key that has a default, or is required, stays as it is.
inline Key with_default(Key key) {
    if (key.standard.empty() && key.missing.empty()) key.standard = fmt::format("`{}`", key.text());
    return key;
}

}  // namespace app

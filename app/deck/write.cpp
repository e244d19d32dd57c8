// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>

#include "app/deck/deck.hpp"
#include "app/deck/key.hpp"

namespace app {
namespace {

// One line for each key, comments aligned where they can be. first: what stands before the first key.
void add(std::string& out, const std::vector<Key>& keys, const std::string& first, bool comments) {
    std::string indent = first;
    for (const Key& key : keys) {
        const std::string value = key.text ? key.text() : "", below(first.size(), ' ');
        std::string its;
        add(its, key.keys, below + "  ", comments);
        // Comments at the first element only: hundreds of slabs must not fill a deck's 256 KiB.
        if (key.elements)
            for (bool is_first = true; const std::vector<Key>& element : key.elements()) {
                add(its, element, below + "  - ", comments && is_first);
                is_first = false;
            }
        if (value.empty() && its.empty()) continue;  // this deck has no such key
        const std::string line = fmt::format("{}{}:{}{}", indent, key.name, value.empty() ? "" : " ", value);
        out += comments && !key.meaning.empty() ? fmt::format("{:<46}  # {}\n", line, key.meaning) : line + "\n";
        out += its;
        indent = below;
    }
}

struct Value {
    std::string path, text;
    bool may_change;
};

std::vector<Value> values_of(Deck deck) {
    std::vector<Value> values;
    for_each_key(deck_keys(deck), [&](const std::string& path, const Key& key, bool may_change) {
        const std::string text = key.text ? key.text() : "";
        if (!text.empty()) values.push_back({path, text, may_change});
    });
    return values;
}

}  // namespace

std::string yaml_of(const std::vector<Key>& keys) {
    std::string out;
    add(out, keys, "", true);
    return out;
}

std::string flow_of(const std::vector<Key>& keys) {
    std::vector<std::string> parts;
    for (const Key& key : keys) {
        const std::string value = key.text ? key.text() : flow_of(key.keys);
        if (!value.empty()) parts.push_back(key.name + ": " + value);
    }
    return fmt::format("{{{}}}", fmt::join(parts, ", "));
}

std::string balance_yaml(const Deck& deck) {
    Deck copy = deck;
    std::vector<Key> keys = deck_keys(copy);
    std::erase_if(keys, [](const Key& key) { return key.name != "balance"; });
    return "# Effective section balance: every key.\n" + yaml_of(keys);
}

std::string to_yaml(const Deck& deck) {
    Deck copy = deck;
    return "# Effective deck: every key. Reduced Lennard-Jones units: length sigma, energy epsilon, mass m, time "
           "tau.\n" +
           yaml_of(deck_keys(copy));
}

std::vector<DeckChange> changes(const Deck& before, const Deck& now) {
    const std::vector<Value> old_values = values_of(before), new_values = values_of(now);
    const auto find = [](const std::vector<Value>& values, const std::string& path) {
        const auto at = std::ranges::find_if(values, [&](const Value& v) { return v.path == path; });
        return at == values.end() ? std::string() : at->text;
    };
    std::vector<DeckChange> out;
    for (const auto& [path, value, may_change] : new_values)
        if (const std::string old_value = find(old_values, path); old_value != value)
            out.push_back({path, old_value, value, !may_change && value != "auto"});
    for (const auto& [path, value, may_change] : old_values)
        if (find(new_values, path).empty()) out.push_back({path, value, "", !may_change});
    return out;
}

}  // namespace app

// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include "app/deck/deck.hpp"
#include "app/deck/key.hpp"

namespace app {
namespace {

// One line for each key, comments aligned where they can be. first: what stands before the first key.
void add(std::string& out, const std::vector<Key>& keys, const std::string& first, bool comments) {
    std::string indent = first;
    for (const Key& key : keys) {
        const std::string value = key.text ? " " + key.text() : "";
        if (value == " " || (key.elements && key.elements().empty())) continue;  // this deck has no such key
        const std::string line = fmt::format("{}{}:{}", indent, key.name, value);
        out += comments && !key.meaning.empty() ? fmt::format("{:<46}  # {}\n", line, key.meaning) : line + "\n";
        indent = std::string(first.size(), ' ');
        add(out, key.keys, indent + "  ", comments);
        // Comments at the first element only: hundreds of slabs must not fill a deck's 256 KiB.
        if (key.elements)
            for (bool is_first = true; const std::vector<Key>& element : key.elements()) {
                add(out, element, indent + "  - ", comments && is_first);
                is_first = false;
            }
    }
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

}  // namespace app

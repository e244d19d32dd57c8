// SPDX-License-Identifier: MIT
#include "app/deck/compare.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "app/deck/yaml_tree.hpp"

namespace app {
namespace {

using Values = std::vector<std::pair<std::string, std::string>>;

// Keys with their values, those of nested sections as section.key, slabs by their number; a list of plain values is one
// value.
void collect(const Node& node, const std::string& path, Values& out) {
    const auto below = [&](const std::string& key) { return path.empty() ? key : path + "." + key; };
    if (node.kind == Node::Kind::map) {
        for (const NodeEntry& e : node.entries) collect(e.value, below(e.key), out);
    } else if (node.kind == Node::Kind::list && std::any_of(node.items.begin(), node.items.end(),
                                                            [](const Node& n) { return n.kind == Node::Kind::map; })) {
        for (std::size_t i = 0; i < node.items.size(); ++i) collect(node.items[i], below(std::to_string(i)), out);
    } else if (node.kind == Node::Kind::list) {
        std::string list;
        for (const Node& n : node.items) list += (list.empty() ? "" : ", ") + n.text;
        out.emplace_back(path, "[" + list + "]");
    } else {
        out.emplace_back(path, node.kind == Node::Kind::null ? "null" : node.text);
    }
}

Values values_of(const Deck& deck) {
    Values values;
    collect(parse_tree(to_yaml(deck), {"effective deck"}), "", values);
    return values;
}

}  // namespace

std::vector<DeckChange> changes(const Deck& before, const Deck& now) {
    const Values old_values = values_of(before), new_values = values_of(now);
    const auto find = [](const Values& values, const std::string& key) {
        const auto at = std::find_if(values.begin(), values.end(), [&](const auto& v) { return v.first == key; });
        return at == values.end() ? std::string() : at->second;
    };
    std::vector<DeckChange> out;
    for (const auto& [key, value] : new_values)
        if (const std::string old_value = find(old_values, key); old_value != value)
            out.push_back({key, old_value, value});
    for (const auto& [key, value] : old_values)
        if (find(new_values, key).empty()) out.push_back({key, value, ""});
    return out;
}

}  // namespace app

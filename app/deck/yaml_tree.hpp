// SPDX-License-Identifier: MIT
// YAML text as a small tree with the location of every value. Only the events of yaml-cpp are used, because its nodes
// accept duplicate keys, expand aliases and look keys up in linear time. Anchors, aliases, tags and further documents
// are refused here. Size, depth and number of nodes are bounded.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace app {

inline constexpr std::size_t max_deck_bytes = 256 * 1024;
inline constexpr int max_deck_depth = 32;
inline constexpr int max_deck_nodes = 16'000;  ///< keys count too

struct NodeEntry;

struct Node {
    enum class Kind { null, scalar, list, map };
    Kind kind = Kind::null;
    bool quoted = false;  ///< scalar in quotes: text, never a number
    std::string text;     ///< of a scalar
    std::string where;    ///< `file:line:column` (from 1) or `--set key.path`
    std::vector<Node> items;
    std::vector<NodeEntry> entries;  ///< keys are unique

    const NodeEntry* find(std::string_view key) const;
    NodeEntry* find(std::string_view key);
};

struct NodeEntry {
    std::string key;
    std::string where;  ///< of the key
    Node value;
};

/// Name of a text in messages, followed by line and column if `positions`.
struct Origin {
    std::string name;
    bool positions = true;

    /// line, column: from 0.
    std::string where(int line, int column) const;
};

/// Parses one YAML document; an empty text gives a null. Throws DeckError.
Node parse_tree(const std::string& text, const Origin& origin);

/// Puts the value of `key.path=value` into the tree and adds missing keys. A list's elements are numbered from 0.
/// Messages locate added values at `--set key.path`. Throws DeckError. The schema checks the keys.
void apply_setting(Node& root, const std::string& setting);

/// Where the value at a dotted path stands. If the value is missing, the place of the nearest key above it. file:
/// returned if there is no such key.
std::string locate(const Node& root, const std::string& path, const std::string& file);

/// "a number or text", "a list" ...: what a node is, for messages.
std::string describe(const Node& node);

}  // namespace app

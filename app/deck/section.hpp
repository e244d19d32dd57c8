// SPDX-License-Identifier: MIT
// Typed reading of a tree by a closed schema: unknown keys, wrong types and values out of range are refused where they
// stand.
#pragma once
#include <array>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "app/deck/yaml_tree.hpp"

namespace app {

/// Allowed values of a number: low <= x <= high, or low < x <= high with `above`.
struct NumberRange {
    double low = -std::numeric_limits<double>::max(), high = std::numeric_limits<double>::max();
    bool above = false;
};

/// Readers of single values; path names the key in messages. A number is decimal, finite, without leading zeros; an
/// integer may be written as 1e6 or 2.0 as long as it is one. Throw DeckError.
double to_number(const Node& node, const std::string& path, const NumberRange& range = {});
std::int64_t to_integer(const Node& node, const std::string& path, std::int64_t low, std::int64_t high);
std::uint64_t to_unsigned(const Node& node, const std::string& path);
std::array<double, 2> to_number_pair(const Node& node, const std::string& path, const NumberRange& range = {});
std::array<std::int64_t, 2> to_integer_pair(const Node& node, const std::string& path, std::int64_t low,
                                            std::int64_t high);
/// Place of the value in `words`; words in `later` exist, but not in this version.
int to_choice(const Node& node, const std::string& path, const std::vector<std::string>& words,
              const std::vector<std::string>& later = {});
/// The elements; `count` of them unless 0.
const std::vector<Node>& to_list(const Node& node, const std::string& path, std::size_t count,
                                 std::string_view example);

/// A map of the deck, or its absence (then every key has its default). The schema says which keys it may hold.
class Section {
public:
    /// The top level. `where`: for messages on missing keys. Throws DeckError on a key that the schema lacks.
    Section(const Node& root, std::string where) : Section(&root, "", "", std::move(where)) {}

    /// The section `key`; absent if the deck lacks it.
    Section section(const std::string& key) const;
    /// Section `key` whose path in the schema and in messages differ: an element of a list.
    Section element(const Node& node, const std::string& key, std::size_t index) const;

    bool has(std::string_view key) const { return find(key) != nullptr; }
    std::string path(std::string_view key) const;
    const Node* find(std::string_view key) const;  ///< nullptr if the key is missing
    const Node& require(std::string_view key, std::string_view remedy) const;

    // Read `key` into `value` if it is there, else leave the default.
    void number(std::string_view key, double& value, const NumberRange& range) const;
    void integer(std::string_view key, std::int64_t& value, std::int64_t low, std::int64_t high) const;

private:
    Section(const Node* map, std::string path, std::string schema_path, std::string where);

    const Node* map_;
    std::string path_, schema_path_, where_;
};

}  // namespace app

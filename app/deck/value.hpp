// SPDX-License-Identifier: MIT
// Single values of a deck: wrong types and values out of range are refused where they stand.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "app/deck/yaml_tree.hpp"

namespace app {

/// Allowed values of a number: low <= x <= high, or low < x <= high with `above`; unless 0, multiples of `multiple_of`.
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
/// The elements; `count` of them unless 0, or `or_count` of them. example: such a list.
const std::vector<Node>& to_list(const Node& node, const std::string& path, std::size_t count, std::string_view example,
                                 std::size_t or_count = 0);

/// Is it this word? "null": nothing.
bool is_word(const Node& node, std::string_view word);

/// The shortest text that reads back to the same bits. Without a dot, readers of YAML 1.1 take 2e-09 for text: 2.0e-09.
std::string number_text(double x);

}  // namespace app

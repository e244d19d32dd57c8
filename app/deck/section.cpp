// SPDX-License-Identifier: MIT
// Access to the keys of one section. Unknown keys are found before any value is read: a misspelt key explains a missing
// one.
#include "app/deck/section.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "app/common/words.hpp"
#include "app/deck/number.hpp"
#include "app/deck/schema.hpp"
#include "app/deck/wording.hpp"

namespace app {
namespace {

bool contains(const std::vector<std::string>& words, std::string_view word) {
    return std::find(words.begin(), words.end(), word) != words.end();
}

[[noreturn]] void fail_later(const std::string& where, const std::string& what, std::string_view remedy) {
    fail(where, what + " is not in this version yet", remedy);
}

// `node` must be a scalar without quotes.
const std::string& scalar_text(const Node& node, const std::string& path, std::string_view expected,
                               std::string_view example) {
    if (node.kind == Node::Kind::null) fail(node.where, path + " has no value", "give it one or remove the key");
    if (node.kind != Node::Kind::scalar)
        fail(node.where, fmt::format("{} must be {}, not {}", path, expected, describe(node)),
             fmt::format("write it as in {}", example));
    if (node.quoted)
        fail(node.where, fmt::format("{} must be {}, not the quoted text {}", path, expected, quote(node.text)),
             "remove the quotes");
    return node.text;
}

template <class T>
T checked(const NumberResult<T>& result, const Node& node, const std::string& path, std::string_view expected,
          std::string_view example) {
    switch (result.status) {
        case NumberStatus::ok: return result.value;
        case NumberStatus::leading_zero:
            fail(node.where, fmt::format("{} is {}, with a leading zero", path, quote(node.text)),
                 "write it without: octal numbers are not read");
        case NumberStatus::not_finite:
            fail(node.where, fmt::format("{} is {}", path, quote(node.text)), "use a finite number");
        case NumberStatus::too_large:
            fail(node.where, fmt::format("{} is {}, too large to represent", path, quote(node.text)),
                 "use a smaller number");
        case NumberStatus::too_small:
            fail(node.where, fmt::format("{} is {}, too close to 0 to represent", path, quote(node.text)),
                 "use 0 or a larger number");
        case NumberStatus::fraction:
            fail(node.where, fmt::format("{} is {}, not a whole number", path, quote(node.text)), "round it");
        case NumberStatus::not_a_number: break;
    }
    fail(node.where, fmt::format("{} must be {}, not {}", path, expected, quote(node.text)),
         fmt::format("write it as in {}", example));
}

std::string allowed(const NumberRange& r) {
    constexpr double most = std::numeric_limits<double>::max();
    if (r.high == most) return fmt::format("{} {}", r.above ? "above" : "at least", r.low);
    if (r.above) return fmt::format("above {} and at most {}", r.low, r.high);
    return fmt::format("from {} to {}", r.low, r.high);
}

}  // namespace

double to_number(const Node& node, const std::string& path, const NumberRange& range) {
    constexpr std::string_view expected = "a number", example = "2.5";
    const double x = checked(parse_number(scalar_text(node, path, expected, example)), node, path, expected, example);
    if (x < range.low || x > range.high || (range.above && x == range.low))
        fail(node.where, fmt::format("{} is {}", path, x), "use a number " + allowed(range));
    return x;
}

std::int64_t to_integer(const Node& node, const std::string& path, std::int64_t low, std::int64_t high) {
    constexpr std::string_view expected = "a whole number", example = "100";
    const std::int64_t n =
        checked(parse_signed(scalar_text(node, path, expected, example)), node, path, expected, example);
    if (n < low || n > high)
        fail(node.where, fmt::format("{} is {}", path, n), fmt::format("use a whole number from {} to {}", low, high));
    return n;
}

std::uint64_t to_unsigned(const Node& node, const std::string& path) {
    constexpr std::string_view expected = "a whole number from 0 on", example = "42";
    const std::string& text = scalar_text(node, path, expected, example);
    const NumberResult<std::uint64_t> n = parse_unsigned(text);
    if (n.status == NumberStatus::too_small)
        fail(node.where, fmt::format("{} is {}", path, quote(text)), "use a whole number from 0 to 2^64 - 1");
    return checked(n, node, path, expected, example);
}

const std::vector<Node>& to_list(const Node& node, const std::string& path, std::size_t count,
                                 std::string_view example) {
    if (node.kind == Node::Kind::null) fail(node.where, path + " has no value", "give it one or remove the key");
    if (node.kind != Node::Kind::list)
        fail(node.where, fmt::format("{} must be a list, not {}", path, describe(node)),
             fmt::format("write it as in {}", example));
    if (count != 0 && node.items.size() != count)
        fail(node.where,
             fmt::format("{} has {}, not {}", path, counted(static_cast<std::int64_t>(node.items.size()), "element"),
                         count),
             fmt::format("write it as in {}", example));
    return node.items;
}

std::array<double, 2> to_number_pair(const Node& node, const std::string& path, const NumberRange& range) {
    const std::vector<Node>& items = to_list(node, path, 2, "[10.0, 20.0]");
    return {to_number(items[0], path + ".0", range), to_number(items[1], path + ".1", range)};
}

std::array<std::int64_t, 2> to_integer_pair(const Node& node, const std::string& path, std::int64_t low,
                                            std::int64_t high) {
    const std::vector<Node>& items = to_list(node, path, 2, "[100, 200]");
    return {to_integer(items[0], path + ".0", low, high), to_integer(items[1], path + ".1", low, high)};
}

int to_choice(const Node& node, const std::string& path, const std::vector<std::string>& words,
              const std::vector<std::string>& later) {
    const std::string expected = fmt::format("one of {}", fmt::join(words, ", "));
    if (node.kind == Node::Kind::null) fail(node.where, path + " has no value", "give it one or remove the key");
    if (node.kind != Node::Kind::scalar)
        fail(node.where, fmt::format("{} must be a word, not {}", path, describe(node)), "use " + expected);
    const auto it = std::find(words.begin(), words.end(), node.text);
    if (it != words.end()) return static_cast<int>(it - words.begin());
    if (contains(later, node.text))
        fail_later(node.where, fmt::format("{}: {}", path, node.text), "remove it or use " + words.front());
    fail(node.where, fmt::format("{} can't be {}", path, quote(node.text)), suggestion(node.text, words));
}

Section::Section(const Node* map, std::string path, std::string schema_path, std::string where)
    : map_(map), path_(std::move(path)), schema_path_(std::move(schema_path)), where_(std::move(where)) {
    if (!map_) return;
    const std::string name = path_.empty() ? "the deck" : path_;
    if (map_->kind == Node::Kind::null) fail(map_->where, name + " is empty", "give it keys or remove it");
    const SectionKeys& keys = section_keys(schema_path_);
    if (map_->kind != Node::Kind::map)
        fail(map_->where, fmt::format("{} must be a map of keys, not {}", name, describe(*map_)),
             fmt::format("use the keys {}", fmt::join(keys.known, ", ")));
    for (const NodeEntry& e : map_->entries) {
        if (contains(keys.known, e.key)) continue;
        if (contains(keys.later, e.key)) fail_later(e.where, this->path(e.key), "remove it");
        const std::string what = fmt::format("unknown key {}{}", quote(e.key), path_.empty() ? "" : " in " + path_);
        const std::string home = home_of(e.key);
        fail(e.where, what, home.empty() ? suggestion(e.key, keys.known) : fmt::format("it belongs at {}", home));
    }
}

Section Section::section(const std::string& key) const {
    const NodeEntry* e = map_ ? map_->find(key) : nullptr;
    return {e ? &e->value : nullptr, path(key), schema_path_.empty() ? key : schema_path_ + "." + key,
            e ? e->where : where_};
}

Section Section::element(const Node& node, const std::string& key, std::size_t index) const {
    return {&node, fmt::format("{}.{}", path(key), index), fmt::format("{}.{}[]", schema_path_, key), node.where};
}

std::string Section::path(std::string_view key) const {
    return path_.empty() ? std::string(key) : fmt::format("{}.{}", path_, key);
}

const Node* Section::find(std::string_view key) const {
    const NodeEntry* e = map_ ? map_->find(key) : nullptr;
    return e ? &e->value : nullptr;
}

const Node& Section::require(std::string_view key, std::string_view remedy) const {
    const Node* node = find(key);
    if (!node) fail(where_, path(key) + " is missing", remedy);
    return *node;
}

void Section::number(std::string_view key, double& value, const NumberRange& range) const {
    if (const Node* node = find(key)) value = to_number(*node, path(key), range);
}

void Section::integer(std::string_view key, std::int64_t& value, std::int64_t low, std::int64_t high) const {
    if (const Node* node = find(key)) value = to_integer(*node, path(key), low, high);
}

}  // namespace app

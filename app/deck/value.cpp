// SPDX-License-Identifier: MIT
// A value is refused where it stands: every message names the place, the path of the key and a remedy.
#include "app/deck/value.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/common/words.hpp"
#include "app/deck/number.hpp"
#include "app/deck/wording.hpp"

namespace app {
namespace {

void require_value(const Node& node, const std::string& path) {
    if (node.kind == Node::Kind::null) fail(node.where, path + " has no value", "give it one or remove the key");
}

// A number written without quotes.
template <class T>
T parsed(NumberResult<T> parse(std::string_view), const Node& node, const std::string& path, std::string_view expected,
         std::string_view example) {
    require_value(node, path);
    const auto must_be = [&](const std::string& found, const std::string& remedy) {
        fail(node.where, fmt::format("{} must be {}, not {}", path, expected, found), remedy);
    };
    const std::string as_in = fmt::format("write it as in {}", example), text = quote(node.text);
    if (node.kind != Node::Kind::scalar) must_be(describe(node), as_in);
    if (node.quoted) must_be("the quoted text " + text, "remove the quotes");
    const auto refuse = [&](const char* what, const char* remedy) {
        fail(node.where, fmt::format("{} is {}{}", path, text, what), remedy);
    };
    const NumberResult<T> result = parse(node.text);
    switch (result.status) {
        case NumberStatus::ok: break;
        case NumberStatus::leading_zero:
            refuse(", with a leading zero", "write it without: octal numbers are not read");
            break;
        case NumberStatus::not_finite: refuse("", "use a finite number"); break;
        case NumberStatus::too_large: refuse(", too large to represent", "use a smaller number"); break;
        case NumberStatus::too_small:
            if constexpr (std::is_unsigned_v<T>) refuse("", "use a whole number from 0 to 2^64 - 1");
            refuse(", too close to 0 to represent", "use 0 or a larger number");
            break;
        case NumberStatus::fraction: refuse(", not a whole number", "round it"); break;
        case NumberStatus::not_a_number: must_be(text, as_in);
    }
    return result.value;
}

}  // namespace

std::string allowed(const NumberRange& r) {
    const std::string noun = r.multiple_of == 0   ? "a number"
                             : r.multiple_of == 2 ? "an even number"
                                                  : fmt::format("a multiple of {}", r.multiple_of);
    if (r.above) return fmt::format("{} above {} and at most {}", noun, r.low, r.high);
    return fmt::format("{} from {} to {}", noun, r.low, r.high);
}

std::string allowed(std::int64_t low, std::int64_t high) {
    return fmt::format("a whole number from {} to {}", low, high);
}

std::string allowed(const std::vector<std::string>& words) {
    return fmt::format("{}{}", words.size() > 1 ? "one of " : "", fmt::join(words, ", "));
}

double to_number(const Node& node, const std::string& path, const NumberRange& range) {
    const double x = parsed(parse_number, node, path, "a number", "2.5");
    if (x < range.low || x > range.high || (range.above && x == range.low) ||
        (range.multiple_of != 0 && std::fmod(x, range.multiple_of) != 0))
        fail(node.where, fmt::format("{} is {}", path, x), "use " + allowed(range));
    return x;
}

std::int64_t to_integer(const Node& node, const std::string& path, std::int64_t low, std::int64_t high) {
    const std::int64_t n = parsed(parse_signed, node, path, "a whole number", "100");
    if (n < low || n > high) fail(node.where, fmt::format("{} is {}", path, n), "use " + allowed(low, high));
    return n;
}

std::uint64_t to_unsigned(const Node& node, const std::string& path) {
    return parsed(parse_unsigned, node, path, "a whole number from 0 on", "42");
}

const std::vector<Node>& to_list(const Node& node, const std::string& path, std::size_t count, std::string_view example,
                                 std::size_t or_count) {
    require_value(node, path);
    const auto refuse = [&](const std::string& what) {
        fail(node.where, path + what, fmt::format("write it as in {}", example));
    };
    if (node.kind != Node::Kind::list) refuse(" must be a list, not " + describe(node));
    const std::size_t n = node.items.size();
    if (count != 0 && n != count && n != or_count)
        refuse(fmt::format(" has {}, not {}{}", counted(static_cast<std::int64_t>(n), "element"), count,
                           or_count == 0 ? "" : fmt::format(" or {}", or_count)));
    return node.items;
}

const std::string& to_word(const Node& node, const std::string& path, const std::vector<std::string>& words) {
    require_value(node, path);
    if (node.kind != Node::Kind::scalar)
        fail(node.where, fmt::format("{} must be a word, not {}", path, describe(node)), "use " + allowed(words));
    if (std::find(words.begin(), words.end(), node.text) != words.end()) return node.text;
    fail(node.where, fmt::format("{} can't be {}", path, quote(node.text)), suggestion(node.text, words));
}

bool is_word(const Node& node, std::string_view word) {
    return word == "null" ? node.kind == Node::Kind::null : node.kind == Node::Kind::scalar && node.text == word;
}

std::string number_text(double x) {
    std::string text = fmt::format("{}", x);
    const std::size_t exponent = text.find('e');
    if (exponent != std::string::npos && text.find('.') == std::string::npos) text.insert(exponent, ".0");
    return text;
}

}  // namespace app

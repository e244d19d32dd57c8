// SPDX-License-Identifier: MIT
// A value is refused where it stands: every message names the place, the path of the key and a remedy.
#include "app/deck/key.hpp"

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
    if (std::ranges::find(words, node.text) != words.end()) return node.text;
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

Key list(std::string name, const std::function<std::vector<Key>()>& items, const std::string& example,
         std::string meaning) {
    const std::vector<Key> now = items();
    const auto read = [items, example](const Node& node, const std::string& path) {
        const std::vector<Key> keys = items();
        to_list(node, path, keys.size(), example);
        for (std::size_t i = 0; i < keys.size(); ++i) keys[i].read(node.items[i], below(path, std::to_string(i)));
    };
    const auto text = [items] {
        std::vector<std::string> texts;
        for (const Key& item : items()) texts.push_back(item.text());
        return fmt::format("[{}]", fmt::join(texts, ", "));
    };
    return {std::move(name), std::move(meaning),
            now.empty() ? "a list" : fmt::format("a list of {}, each {}", now.size(), now[0].allowed), read, text};
}

Key word(std::string name, std::string& x, const std::vector<std::string>& words, std::string meaning) {
    return {std::move(name), std::move(meaning), allowed(words),
            [&x, words](const Node& node, const std::string& path) { x = to_word(node, path, words); },
            [&x] { return x; }};
}

Key flag(std::string name, bool& x, std::string meaning, const std::string& no, const std::string& yes) {
    const std::vector<std::string> words{no, yes};
    return {std::move(name), std::move(meaning), allowed(words),
            [&x, words](const Node& node, const std::string& path) { x = to_word(node, path, words) == words[1]; },
            [&x, words] { return words[x]; }};
}

Key text(const char* name, std::string& x, const char* what, std::string meaning) {
    Key key{name, std::move(meaning), what};
    key.read = [&x, what](const Node& node, const std::string& path) {
        if (node.kind != Node::Kind::scalar || node.text.empty() || printable(node.text) != node.text)
            fail(node.where, fmt::format("{} must be {}", path, what), "write it on one line");
        x = node.text;
    };
    key.text = [&x] {
        std::string quoted = "'";
        for (const char c : x) quoted += c == '\'' ? "''" : std::string(1, c);
        return quoted + "'";
    };
    return key;
}

Key section(std::string name, std::string meaning, std::vector<Key> keys) {
    Key key{std::move(name), std::move(meaning)};
    key.keys = std::move(keys);
    return key;
}

Key required(Key key, std::string remedy) {
    key.missing = std::move(remedy);
    return key;
}

Key may_change(Key key) {
    key.may_change = true;
    return key;
}

Key unless(Key key, std::function<std::string()> why, std::string way_out) {
    key.text = [why, text = std::move(key.text)] { return why().empty() ? text() : std::string(); };
    key.excluded = std::move(why);
    key.way_out = std::move(way_out);
    return key;
}

void for_each_key(const std::vector<Key>& keys,
                  const std::function<void(const std::string& path, const Key& key, bool may_change)>& use,
                  const std::string& above, bool may_change) {
    for (const Key& key : keys) {
        const std::string path = below(above, key.name);
        const bool change = may_change || key.may_change;
        use(path, key, change);
        for_each_key(key.keys, use, path, change);
        if (!key.elements) continue;
        const std::vector<std::vector<Key>> elements = key.elements();
        for (std::size_t i = 0; i < elements.size(); ++i)
            for_each_key(elements[i], use, below(path, std::to_string(i)), change);
    }
}

std::string below(const std::string& path, const std::string& key) { return path.empty() ? key : path + "." + key; }

std::string with_words(const std::string& what, const std::vector<std::string>& words) {
    return fmt::format("{}: {}", what, fmt::join(words, ", "));
}

}  // namespace app

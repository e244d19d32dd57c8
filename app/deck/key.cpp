// SPDX-License-Identifier: MIT
#include "app/deck/key.hpp"

#include <fmt/format.h>

#include "app/deck/wording.hpp"

namespace app {

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

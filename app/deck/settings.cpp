// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <optional>
#include <utility>
#include <vector>

#include "app/common/words.hpp"
#include "app/deck/wording.hpp"
#include "app/deck/yaml_tree.hpp"

namespace app {
namespace {

std::optional<std::size_t> to_index(const std::string& part, std::size_t size) {
    const auto index = number_in<std::size_t>(part);
    return index && *index < size ? index : std::nullopt;
}

}  // namespace

void apply_setting(Node& root, const std::string& setting) {
    const std::size_t equals = setting.find('=');
    const std::string path = setting.substr(0, equals);
    const std::string where = "--set " + printable(path);
    if (equals == std::string::npos) fail(where, "it has no value", "write --set key.path=value");
    if (setting.find('\n') != std::string::npos)
        fail(where, "a line break", "write the value on one line, lists as [a, b]");
    const std::vector<std::string> parts = parts_of(path, '.');
    if (parts.size() > max_deck_depth) fail(where, "the path has too many parts", "remove some");
    Node value = parse_tree(setting.substr(equals + 1), {where, false});
    value.where = where;

    Node* node = &root;
    std::string walked;
    for (const std::string& part : parts) {
        if (part.empty()) fail(where, "the path has an empty part", "write --set key.path=value");
        const std::string name = walked.empty() ? "the deck" : printable(walked);
        if (node->kind == Node::Kind::null) node->kind = Node::Kind::map, node->where = where;
        if (node->kind == Node::Kind::scalar)
            fail(where, fmt::format("{} is {} and has no keys", name, quote(node->text)),
                 fmt::format("set {} itself", name));
        if (node->kind == Node::Kind::list) {
            const std::optional<std::size_t> index = to_index(part, node->items.size());
            if (!index) {
                const std::size_t n = node->items.size();
                fail(where, fmt::format("{} is a list of {}, without element {}", name, n, quote(part)),
                     n == 0 ? "set the whole list" : fmt::format("number its elements from 0 to {}", n - 1));
            }
            node = &node->items[*index];
        } else {
            NodeEntry* entry = node->find(part);
            if (!entry) {
                node->entries.push_back({part, where, {}});
                entry = &node->entries.back();
                entry->value.where = where;
            }
            node = &entry->value;
        }
        walked += (walked.empty() ? "" : ".") + part;
    }
    *node = std::move(value);
}

std::string locate(const Node& root, const std::string& path, const std::string& file) {
    const Node* node = &root;
    std::string where = Origin{file}.where(0, 0);
    for (const std::string& part : parts_of(path, '.')) {
        if (node->kind == Node::Kind::list) {
            const std::optional<std::size_t> index = to_index(part, node->items.size());
            if (!index) break;
            node = &node->items[*index];
            where = node->where;
        } else {
            const NodeEntry* entry = node->find(part);
            if (!entry) break;
            node = &entry->value;
            // A block map's own mark is that of its first key, which may be the wrong line.
            where = node->kind == Node::Kind::map ? entry->where : node->where;
        }
    }
    return where;
}

}  // namespace app

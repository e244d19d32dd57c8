// SPDX-License-Identifier: MIT
// A tree of nodes that know their line and column, for messages. Built from yaml-cpp's events, because its own nodes
// accept duplicate keys, follow aliases without a bound, and lose places.
#include "app/deck/yaml_tree.hpp"

#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/mark.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <set>
#include <sstream>
#include <utility>

#include "app/deck/deck.hpp"
#include "app/deck/wording.hpp"

namespace app {
namespace {

// Length of the well-formed UTF-8 character at i (Unicode 15, table 3-7); 0 if it is malformed.
int character_length(std::string_view s, std::size_t i) {
    const auto byte = [&](std::size_t k) { return k < s.size() ? static_cast<unsigned char>(s[k]) : 0u; };
    const auto continues = [&](int n) {
        for (int k = 1; k < n; ++k)
            if ((byte(i + k) & 0xc0) != 0x80) return false;
        return true;
    };
    const unsigned first = byte(i), second = byte(i + 1);
    if (first < 0x80) return 1;
    if (first >= 0xc2 && first < 0xe0) return continues(2) ? 2 : 0;
    if (first >= 0xe0 && first < 0xf0) {
        const bool overlong = first == 0xe0 && second < 0xa0, surrogate = first == 0xed && second >= 0xa0;
        return continues(3) && !overlong && !surrogate ? 3 : 0;
    }
    if (first >= 0xf0 && first < 0xf5) {
        const bool overlong = first == 0xf0 && second < 0x90, beyond = first == 0xf4 && second >= 0x90;
        return continues(4) && !overlong && !beyond ? 4 : 0;
    }
    return 0;
}

// yaml-cpp neither validates UTF-8 nor minds control characters.
void check_bytes(const std::string& text, const Origin& origin) {
    if (text.size() > max_deck_bytes)
        fail(origin.name, fmt::format("it is larger than {} KiB", max_deck_bytes / 1024),
             "shorten it: decks are small, data belong in other files");
    int line = 0, column = 0;
    for (std::size_t i = 0; i < text.size();) {
        const auto c = static_cast<unsigned char>(text[i]);
        const int length = character_length(text, i);
        if (c == 0) fail(origin.where(line, column), "a NUL byte", "remove it; a deck is plain text in UTF-8");
        if (length == 0)
            fail(origin.where(line, column), fmt::format("byte 0x{:02x} is not valid UTF-8", c), "save it as UTF-8");
        if ((c < 0x20 && c != '\t' && c != '\n' && c != '\r') || c == 0x7f)
            fail(origin.where(line, column), fmt::format("control character 0x{:02x}", c), "remove it");
        i += length;
        ++column;
        if (c == '\n') ++line, column = 0;
    }
}

// yaml-cpp has many words for a tab in the indentation. Its column in that line, from 0; -1 if there is none.
int indenting_tab(const std::string& text, int line) {
    std::istringstream lines(text);
    std::string row;
    for (int i = 0; i <= line; ++i)
        if (!std::getline(lines, row)) return -1;
    const std::size_t tab = row.find('\t');
    return tab < row.find_first_not_of(" \t-") ? static_cast<int>(tab) : -1;
}

class TreeBuilder final : public YAML::EventHandler {
public:
    explicit TreeBuilder(const Origin& origin) : origin_(origin) {}

    Node take() { return std::move(root_); }

    void OnDocumentStart(const YAML::Mark& mark) override {
        if (documents_++ > 0)
            fail(where(mark), "a second document begins here", "remove it and the line '---' before it");
    }
    void OnDocumentEnd() override {}

    void OnAnchor(const YAML::Mark& mark, const std::string& name) override { refuse_anchor(where(mark), name); }
    void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override {
        fail(where(mark), "an alias; decks have none", "write the value out");
    }
    void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
        add(begin(Node::Kind::null, mark, "?", anchor));
    }
    void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  const std::string& value) override {
        // "?" is a plain scalar, "!" one in quotes; anything else the user wrote.
        Node node = begin(Node::Kind::scalar, mark, tag == "!" ? "?" : tag, anchor);
        node.quoted = tag == "!";
        node.text = value;
        add(std::move(node));
    }
    void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                         YAML::EmitterStyle::value) override {
        open(begin(Node::Kind::list, mark, tag, anchor));
    }
    void OnSequenceEnd() override { close(); }
    void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                    YAML::EmitterStyle::value) override {
        open(begin(Node::Kind::map, mark, tag, anchor));
    }
    void OnMapEnd() override { close(); }

private:
    // A list or map whose end is still to come.
    struct Frame {
        Node node;
        bool has_key = false;
        NodeEntry entry;
        std::set<std::string> keys;
    };

    std::string where(const YAML::Mark& mark) const { return origin_.where(mark.line, mark.column); }

    [[noreturn]] static void refuse_anchor(const std::string& where, const std::string& name) {
        fail(where, fmt::format("the anchor {}; decks have none", quote("&" + name)),
             "remove it and write repeated values out");
    }

    Node begin(Node::Kind kind, const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor) {
        Node node;
        node.kind = kind;
        node.where = where(mark);
        if (anchor != 0) refuse_anchor(node.where, "");
        if (!tag.empty() && tag != "?")
            fail(node.where, fmt::format("the tag {}; decks have none", quote(tag)), "remove it");
        if (++nodes_ > max_deck_nodes)
            fail(node.where, fmt::format("more than {} keys and values", max_deck_nodes), "shorten the deck");
        return node;
    }

    bool expects_key() const {
        return !stack_.empty() && stack_.back().node.kind == Node::Kind::map && !stack_.back().has_key;
    }

    void open(Node node) {
        if (expects_key())
            fail(node.where, describe(node) + " in place of a key",
                 "write a plain word before the colon, and close every bracket");
        if (stack_.size() >= max_deck_depth)
            fail(node.where, fmt::format("nested deeper than {} levels", max_deck_depth), "remove levels");
        stack_.push_back({std::move(node), false, {}, {}});
    }

    void close() {
        Node node = std::move(stack_.back().node);
        stack_.pop_back();
        add(std::move(node));
    }

    void add(Node node) {
        if (stack_.empty()) {
            root_ = std::move(node);
            return;
        }
        Frame& top = stack_.back();
        if (top.node.kind == Node::Kind::list) {
            top.node.items.push_back(std::move(node));
        } else if (expects_key()) {
            if (node.kind != Node::Kind::scalar)
                fail(node.where, "an empty key", "write a plain word before the colon");
            if (!top.keys.insert(node.text).second)
                fail(node.where, fmt::format("the key {} stands twice in this map", quote(node.text)),
                     "remove one of them");
            top.entry = {std::move(node.text), std::move(node.where), {}};
            top.has_key = true;
        } else {
            if (node.kind == Node::Kind::null)
                node.where = top.entry.where;  // the event's mark is that of the next token
            top.entry.value = std::move(node);
            top.node.entries.push_back(std::move(top.entry));
            top.has_key = false;
        }
    }

    const Origin& origin_;
    std::vector<Frame> stack_;
    Node root_;
    int nodes_ = 0, documents_ = 0;
};

}  // namespace

const NodeEntry* Node::find(std::string_view key) const {
    const auto it = std::ranges::find_if(entries, [&](const NodeEntry& e) { return e.key == key; });
    return it == entries.end() ? nullptr : &*it;
}

NodeEntry* Node::find(std::string_view key) { return const_cast<NodeEntry*>(std::as_const(*this).find(key)); }

std::string Origin::where(int line, int column) const {
    return positions ? fmt::format("{}:{}:{}", name, std::max(line, 0) + 1, std::max(column, 0) + 1) : name;
}

Node parse_tree(const std::string& text, const Origin& origin) {
    check_bytes(text, origin);
    TreeBuilder builder(origin);
    try {
        std::istringstream stream(text);
        YAML::Parser parser(stream);
        while (parser.HandleNextDocument(builder)) {
        }
    } catch (const DeckError&) {
        throw;
    } catch (const YAML::Exception& e) {
        for (const int line : {e.mark.line, e.mark.line - 1})
            if (const int column = indenting_tab(text, line); column >= 0)
                fail(origin.where(line, column), "a tab", "YAML indents by spaces: replace it by spaces");
        fail(origin.where(e.mark.line, e.mark.column), "not valid YAML: " + printable(e.msg),
             "correct the YAML here or just before");
    }
    return builder.take();
}

std::string describe(const Node& node) {
    switch (node.kind) {
        case Node::Kind::null: return "nothing";
        case Node::Kind::list: return "a list";
        case Node::Kind::map: return "a map of keys";
        case Node::Kind::scalar: break;
    }
    return quote(node.text);
}

}  // namespace app

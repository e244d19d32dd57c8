// SPDX-License-Identifier: MIT
// From the text of a file to a whole Deck.
#include <fmt/format.h>

#include <cstring>
#include <filesystem>

#include "app/deck/checks.hpp"
#include "app/deck/deck.hpp"
#include "app/deck/from_file.hpp"
#include "app/deck/key.hpp"
#include "app/deck/machine_file.hpp"
#include "app/deck/settings.hpp"
#include "app/deck/wording.hpp"
#include "app/deck/yaml_tree.hpp"
#include "comm/file/durable.hpp"
#include "comm/file/posix_file.hpp"

namespace app {
namespace {

Node whole_tree(const std::string& text, const std::string& shown, const std::vector<std::string>& settings) {
    Node root = deck_tree(text, shown);
    if (root.kind == Node::Kind::null)
        fail(Origin{shown}.where(0, 0), "the deck is empty", "give at least system and run");
    if (kind_of(root) == YamlFile::machine)
        fail(Origin{shown}.where(0, 0), "a machine file, not a deck", "give it by --machine, beside a deck");
    apply_settings(root, settings);
    return root;
}

}  // namespace

md::System named_system(const std::string& text, const std::string& file, const std::vector<std::string>& settings) {
    const std::string shown = printable(file);
    Deck deck;
    read_tree(whole_tree(text, shown, settings), standard_keys(), deck_keys(deck), Origin{shown}.where(0, 0));
    return deck.system;
}

Deck parse_deck(const std::string& text, const std::string& file, const std::vector<std::string>& settings,
                std::span<const FoundState> found) {
    const std::string shown = printable(file);
    const Node root = whole_tree(text, shown, settings);
    Deck deck;
    deck.name = std::filesystem::path(file).stem().string();
    read_tree(root, standard_keys(), deck_keys(deck), Origin{shown}.where(0, 0));
    complete_and_check(deck, found, [&](const std::string& path) { return locate(root, path, shown); });
    return deck;
}

std::string deck_bytes(const std::string& path, const char* what) {
    const std::string shown = printable(path);
    std::error_code error;
    if (std::filesystem::is_directory(path, error))
        fail(shown, "it is a directory", fmt::format("give a {}, a file", what));
    // One byte more than allowed is enough to refuse it, however long it is.
    std::string text;
    switch (const int reason = comm::read_input(path, max_deck_bytes + 1, text)) {
        case 0:
            if (const std::string packing = comm::packing_of(text); !packing.empty())
                throw DeckError(shown + ": " + packing);
            return text;
        case comm::no_regular_file: fail(shown, "it is no file", fmt::format("give a {}, a file", what));
        default:
            fail(shown, fmt::format("can't open the {}: {}", what, std::strerror(reason)),
                 "give the path of a readable file");
    }
}

std::string input_bytes(const std::string& path, const char* what, const comm::Communicator& comm) {
    std::string text;
    on_rank_0(comm, [&] {
        try {
            text = deck_bytes(path, what);
        } catch (const DeckError& e) {
            throw InputError(e.what());
        }
    });
    comm.broadcast(text);
    return text;
}

}  // namespace app

// SPDX-License-Identifier: MIT
#include "app/deck/from_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>

#include "app/deck/checks.hpp"
#include "app/deck/deck.hpp"
#include "app/deck/key.hpp"
#include "app/deck/machine_file.hpp"
#include "app/deck/wording.hpp"
#include "app/deck/yaml_tree.hpp"
#include "comm/file/durable.hpp"
#include "comm/file/posix_file.hpp"
#include "md/domain.hpp"

namespace app {
namespace {

constexpr double shortest_of_file = 0.01;  // sigma, of a box that is repeated

// The deck may name a longer box, which then has room behind the particles; lengths are compared as they are rounded.
void check_box(const Deck::System& s, const FoundState& found, const Where& where) {
    const int dimensions = s.given.at("system.box");
    if (dimensions == 2 && found.dimensions == 3)
        fail(where("system.box"), "two lengths for a file whose particles lie, or move, along z",
             "give three lengths, or leave the box out");
    for (int a = 0; a < dimensions; ++a)
        if (md::to_edge_units(s.box[a]) < md::to_edge_units(found.box[a]))
            fail(where(fmt::format("system.box.{}", a)),
                 fmt::format("the box is {} long along {}, and that of the file {}", s.box[a], "xyz"[a], found.box[a]),
                 "give at least this length, or leave the box out");
}

void take_box(Deck::System& s, const FoundState& found, const Where& where) {
    for (int a = 0; a < found.dimensions; ++a)
        if (found.box[a] <= 0)
            fail(where("system.from.file"), fmt::format("the file says no length of its box along {}", "xyz"[a]),
                 "give system.box");
    s.box = found.box;
    s.given["system.box"] = found.dimensions;
}

void require_known(const md::StateFile& from, const std::string& path, const Where& where) {
    if (from.digest.empty() || from.particles == 0)
        fail(where(path + ".file"), "nothing is known of what the file holds", "name digest and particles");
}

void take(md::StateFile& from, const md::StateFile& found) {
    if (from.digest.empty()) from.digest = found.digest;  // a restart compares one that is given
    from.particles = found.particles;
    from.fastest = found.fastest;
}

// How many particles a body has of its file, before they are counted. The file's box is repeated in a box around the
// body, and all its particles are looked through there.
void estimate_fill(md::Body& body, const FoundState& found, int dimensions, const Where& where,
                   const std::string& path) {
    constexpr double most_images = 1 << 25, most_a_particle = 1024;
    double of_file = 1, images = static_cast<double>(found.state.particles);
    for (int a = 0; a < dimensions; ++a) {
        if (!(found.box[a] >= shortest_of_file))
            fail(where(path),
                 fmt::format("the file's box is {:.6g} long along {}, and is repeated", found.box[a], "xyz"[a]),
                 fmt::format("give a file that says the lengths of its box, at least {}", shortest_of_file));
        of_file *= found.box[a];
        images *= (body.upper[a] - body.lower[a]) / found.box[a] + 1;
    }
    body.density = static_cast<double>(found.state.particles) / of_file;
    const double particles = body.density * md::volume(body);
    if (!(images <= most_images + most_a_particle * particles))
        fail(where(path),
             fmt::format("the body is so wide and thin that {:.3g} images of the file's particles are looked through",
                         images),
             "make it thicker, or less wide");
    body.from.particles = std::max<std::int64_t>(1, std::llround(std::min(particles, 1e15)));
}

}  // namespace

std::vector<NamedFile> files_of(md::System& system) {
    if (!system.from.file.empty()) return {{"system.from", &system.from}};
    std::vector<NamedFile> files;
    for (std::size_t i = 0; i < system.bodies.size(); ++i)
        if (system.bodies[i].fill == md::Fill::file)
            files.push_back({fmt::format("system.bodies.{}.from", i), &system.bodies[i].from});
    return files;
}

std::vector<FoundState> found_by(const Deck& deck) {
    md::System system = deck.system;
    std::vector<FoundState> found;
    for (const NamedFile& file : files_of(system)) found.push_back({*file.state, system.dimensions, system.box});
    return found;
}

void complete_from(Deck::System& system, const FoundState* found, const Where& where) {
    md::StateFile& from = system.from;
    const bool has_box = system.given.contains("system.box");
    if (system.box_fit && !from.file.empty())
        fail(where("system.box"), "box: fit is for slabs", "leave the box out: it is that of the file");
    if (from.file.empty() || !found) {
        if (!has_box && !system.box_fit)
            fail(where("system.box"), "system.box is missing",
                 "give its lengths, as in box: [700.0, 300.0], or box: fit");
        if (!from.file.empty()) require_known(from, "system.from", where);
        return;
    }
    if (has_box) check_box(system, *found, where);
    else take_box(system, *found, where);
    take(from, found->state);
}

void complete_fill(md::Body& body, const FoundState* found, int dimensions, const std::string& path,
                   const Where& where) {
    const std::string at = path + ".from";
    if (!found) {
        require_known(body.from, at, where);
        body.density = static_cast<double>(body.from.particles) / md::volume(body);
        return;
    }
    if (found->dimensions != dimensions)
        fail(where(at + ".file"),
             fmt::format("its particles are of {} dimensions, and the box has {} lengths", found->dimensions,
                         dimensions),
             fmt::format("give a file of {} dimensions", dimensions));
    take(body.from, found->state);
    if (!found->counted) return estimate_fill(body, *found, dimensions, where, at + ".file");
    if (body.from.particles == 0)
        fail(where(at + ".file"), "no particle of the file lies in the body", "make it larger");
    body.density = static_cast<double>(body.from.particles) / md::volume(body);
}

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

// SPDX-License-Identifier: MIT
// The irregular part of the table: the box that may fit itself to a slab, potentials with parameters of their own,
// slabs by corners or by lattice cells.
#include <fmt/format.h>

#include "app/deck/key.hpp"
#include "app/deck/limits.hpp"
#include "md/potential.hpp"

namespace app {
namespace {

constexpr NumberRange anywhere{-longest_side, longest_side};

Key box_key(Deck::System& s) {
    const char *example = "[700.0, 300.0]",
               *meaning = "lengths, sigma, multiples of 2^-26: two make all 2D, three 3D; or the word fit";
    Key key = numbers_per_axis("box", s.box, s, {0, longest_side, true}, example, meaning);
    key.allowed += ", or fit";
    if (s.box_fit) key.meaning = fmt::format("to the slab's cells: {} sigma", key.text());
    key.text = [&s, text = std::move(key.text)] { return s.box_fit ? "fit" : text(); };
    key.read = [&s, example, read = std::move(key.read)](const Node& node, const std::string& path) {
        s.box_fit = is_word(node, "fit");
        if (s.box_fit) return;
        if (node.kind == Node::Kind::scalar)
            fail(node.where, fmt::format("{} can't be {}", path, quote(node.text)),
                 fmt::format("write two or three lengths as in {}, or fit", example));
        read(node, path);
    };
    key.standard = "that of the file of `from`, else required";
    return key;
}

std::vector<Key> potential_keys(md::PotentialSpec& p) {
    const std::vector<std::string> kinds = md::potential_kinds();
    std::vector<Key> keys = {
        word("kind", p.kind, kinds, with_words("pair potential", kinds)),
        number("epsilon", p.epsilon, {0, 1e6, true}, "depth, energy"),
        number("sigma", p.sigma, {0.001, 1000}, "diameter, length"),
        number("cutoff", p.cutoff, {0, 10, true}, "largest distance of a pair, length"),
        number("softening", p.softening, {0, 10}, "length; r^2 -> r^2 + softening^2"),
        word("shift", p.shift, "what is 0 at the cutoff: none, energy, force"),
    };
    for (const std::string& kind : kinds)
        for (std::size_t i = 0; const md::Parameter& own : md::own_parameters(kind)) {
            const NumberRange range{own.low, own.high, false, own.multiple_of};
            Key key = number(std::string(own.name), p.own[i++], range, std::string(own.meaning));
            key.allowed += ", with kind: " + kind;
            key.standard = fmt::format("`{}`", own.standard);
            const auto why = [&p, kind] {
                return p.kind == kind
                           ? ""
                           : fmt::format("belongs to kind {}, and this potential is of kind {}", kind, p.kind);
            };
            keys.push_back(unless(std::move(key), why, "remove it, or write kind: " + kind));
        }
    return keys;
}

std::vector<Key> slab_keys(md::Slab& s, Deck::System& system) {
    const auto without_cells = [&s](Key key) {
        return unless(
            std::move(key), [&s] { return s.cells ? "beside cells" : ""; }, "remove one: cells fill the whole box");
    };
    const auto corner = [&](const char* name, std::array<double, 3>& at, const char* meaning) {
        return without_cells(required(numbers_per_axis(name, at, system, anywhere, "[10.0, 20.0]", meaning),
                                      "give lower and upper as [x, y] or [x, y, z], or cells with box: fit"));
    };
    Key lattice = word("lattice", s.lattice, "2D: hexagonal; 3D: sc, bcc, fcc, hcp");
    lattice.standard = "2D: `hexagonal`; 3D: `fcc`";
    lattice.read = [&system, read = std::move(lattice.read)](const Node& node, const std::string& path) {
        read(node, path);
        system.given[path] = 1;
    };
    return {
        integers_per_axis("cells", s.cells, system, 1, std::int64_t{1} << 24,
                          "of the lattice along each axis; particles in one: hexagonal 2, sc 1, bcc 2, fcc 4, hcp 4"),
        corner("lower", s.lower, "corner, sigma; without cells"),
        corner("upper", s.upper, "opposite corner, sigma; without cells"),
        without_cells(
            word("shape", s.shape,
                 "box between the corners; ball (2D: disc): inscribed in that box, whose sides are then equal, "
                 "with a particle at its centre; without cells")),
        std::move(lattice),
        number("density", s.density, {0, densest, true}, "2D: particles / sigma^2; 3D: particles / sigma^3"),
        number("temperature", s.temperature, {0, hottest}, "epsilon / k"),
        numbers_per_axis("velocity", s.velocity, system, {-fastest, fastest}, "[10.0, 20.0]", "drift, sigma / tau"),
    };
}

// What the program finds in the file stands in the effective deck, which is complete without the file.
std::vector<Key> from_keys(md::StateFile& from) {
    const auto where_named = [&from](Key key, const char* standard) {
        key.standard = standard;
        key.text = [&from, text = std::move(key.text)] { return from.file.empty() ? "" : text(); };
        return key;
    };
    const char* its = "that of the file";
    Key digest = text("digest", from.digest, "16 hex digits", "of all bytes of the file; another file is refused");
    digest.read = [&from, read = std::move(digest.read)](const Node& node, const std::string& path) {
        read(node, path);
        if (from.digest.size() != 16 || from.digest.find_first_not_of("0123456789abcdef") != std::string::npos)
            fail(node.where, path + " must be 16 hex digits", "remove it: the program finds it");
    };
    return {
        where_named(may_change(required(text("file", from.file, "a path",
                                             "H5MD file, LAMMPS data file or dump; relative to the working directory"),
                                        "give the path of the file")),
                    "required"),
        where_named(integer("frame", from.frame, 0, std::int64_t{1} << 40,
                            "of a file that holds several, counted from 0; last: the last one", "last"),
                    "`last`"),
        where_named(std::move(digest), its),
        where_named(integer("particles", from.particles, 1, std::int64_t{1} << 40, "their number, as found"), its),
        where_named(number("fastest", from.fastest, {0, fastest}, "largest speed of a particle, sigma / tau, as found"),
                    its),
    };
}

Key slabs_key(std::vector<md::Slab>& slabs, Deck::System& system) {
    Key key{"slabs", "each by its corners, with a gap of about sigma to the next one, or by cells with box: fit",
            fmt::format("a list of 1 to {} slabs", most_slabs)};
    key.read = [&slabs](const Node& node, const std::string& path) {
        const std::size_t n = to_list(node, path, 0, "slabs: [{lower: [0, 0], upper: [50, 50]}]").size();
        if (n == 0) fail(node.where, path + " is empty", "give at least one slab");
        if (n > most_slabs)
            fail(node.items[most_slabs].where, fmt::format("more than {} slabs", most_slabs), "merge some of them");
        slabs.resize(n);
    };
    key.elements = [&slabs, &system] {
        std::vector<std::vector<Key>> all;
        if (system.from.file.empty())
            for (md::Slab& slab : slabs) all.push_back(slab_keys(slab, system));
        return all;
    };
    key.excluded = [&system] { return system.from.file.empty() ? "" : "is there beside from"; };
    key.way_out = "remove one of them: a file holds all particles";
    return required(std::move(key), "give a list of slabs, or a file by from");
}

}  // namespace

std::vector<Key> system_keys(Deck::System& s) {
    Key seed{"seed", "of the thermal velocities", "a whole number from 0 to 2^64 - 1"};
    seed.read = [&s](const Node& node, const std::string& path) { s.seed = to_unsigned(node, path); };
    seed.text = [&s] { return std::to_string(s.seed); };
    const auto boundary = [](md::Boundary& b) { return word("", b, ""); };
    return {
        box_key(s),
        per_axis<md::Boundary>("boundary", s.boundary, s, boundary, "[periodic, reflecting]",
                               "each axis: periodic or reflecting"),
        std::move(seed),
        section("potential", "", potential_keys(s.potential)),
        section("from",
                "all particles from a file, in place of slabs: docs/states.md; what is needed of it is found by the "
                "program",
                from_keys(s.from)),
        slabs_key(s.slabs, s),
    };
}

}  // namespace app

// SPDX-License-Identifier: MIT
// The irregular part of the table. The box may fit itself to a slab. Potentials have parameters of their own. Slabs are
// given by corners or by lattice cells. Bodies have any shape and filling.
#include <fmt/format.h>

#include <algorithm>

#include "app/deck/deck.hpp"
#include "app/deck/key.hpp"
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

// Whether the deck says which lattice; else it is that of the number of dimensions.
Key lattice_key(md::Body& body, Deck::System& system) {
    Key key = word("lattice", body.lattice, "2D: hexagonal; 3D: sc, bcc, fcc, hcp");
    key.standard = "2D: `hexagonal`; 3D: `fcc`";
    key.read = [&system, read = std::move(key.read)](const Node& node, const std::string& path) {
        read(node, path);
        system.given[path] = 1;
    };
    return key;
}

Key density_key(md::Body& body) {
    return number("density", body.density, {0, densest, true}, "2D: particles / sigma^2; 3D: particles / sigma^3");
}

std::vector<Key> motion_keys(md::Body& body, Deck::System& system) {
    return {
        unless(
            number("temperature", body.temperature, {0, hottest}, "epsilon / k"),
            [&body] { return body.fill == md::Fill::file ? "is no key of fill: file" : ""; },
            "remove it: the particles keep the motion that they have in the file"),
        numbers_per_axis("velocity", body.velocity, system, {-fastest, fastest}, "[10.0, 20.0]", "drift, sigma / tau"),
    };
}

std::vector<Key> slab_keys(md::Body& s, Deck::System& system) {
    const auto without_cells = [&s](Key key) {
        return unless(
            std::move(key), [&s] { return s.cells ? "beside cells" : ""; }, "remove one: cells fill the whole box");
    };
    const auto corner = [&](const char* name, std::array<double, 3>& at, const char* meaning) {
        return without_cells(required(numbers_per_axis(name, at, system, anywhere, "[10.0, 20.0]", meaning),
                                      "give lower and upper as [x, y] or [x, y, z], or cells with box: fit"));
    };
    std::vector<Key> keys{
        integers_per_axis("cells", s.cells, system, 1, std::int64_t{1} << 24,
                          "of the lattice along each axis; particles in one: hexagonal 2, sc 1, bcc 2, fcc 4, hcp 4"),
        corner("lower", s.lower, "corner, sigma; without cells"),
        corner("upper", s.upper, "opposite corner, sigma; without cells"),
        without_cells(one_of("shape", s.shape, {md::BodyShape::box, md::BodyShape::ball},
                             "box between the corners; ball (2D: disc): inscribed in that box, whose sides are then "
                             "equal, with a particle at its centre; without cells")),
        lattice_key(s, system),
        density_key(s),
    };
    for (Key& key : motion_keys(s, system)) keys.push_back(std::move(key));
    return keys;
}

// An angular velocity along z, or in three dimensions a vector.
Key spin_key(md::Body& body, const Deck::System& system) {
    constexpr NumberRange range{-fastest, fastest};
    Key key{"spin", "angular velocity about the centre, radians / tau; 2D: counterclockwise; 3D: a vector, or along z",
            allowed(range) + ", or a list of 3"};
    key.read = [&body, range](const Node& node, const std::string& path) {
        body.spin = {};
        if (node.kind == Node::Kind::scalar) {
            body.spin[2] = to_number(node, path, range);
            return;
        }
        to_list(node, path, 3, "[0, 0, 0.5]");
        for (int a = 0; a < 3; ++a) body.spin[a] = to_number(node.items[a], below(path, std::to_string(a)), range);
    };
    key.text = [&body, &system] {
        const auto text = [&](int a) { return number_text(body.spin[a]); };
        return system.dimensions == 2 ? text(2) : fmt::format("[{}, {}, {}]", text(0), text(1), text(2));
    };
    return key;
}

std::vector<Key> shape_keys(md::Body& body, Deck::System& system) {
    using enum md::BodyShape;
    constexpr NumberRange size{0, longest_side, true};
    const auto of = [&body](std::vector<md::BodyShape> shapes, Key key, const char* as_in) {
        std::vector<std::string> words;
        for (const md::BodyShape shape : shapes) words.emplace_back(balance::word_of(shape));
        key.allowed += ", with shape: " + fmt::format("{}", fmt::join(words, " or "));
        if (key.missing.empty() && *as_in) key = required(std::move(key), std::string("give it, as in ") + as_in);
        return unless(std::move(key), unlike(body.shape, shapes, "is no key of a {}"),
                      "remove it, or use another shape");
    };
    const auto point = [&](const char* name, std::array<double, 3>& at, const char* meaning) {
        return numbers_per_axis(name, at, system, anywhere, "[10.0, 20.0]", meaning);
    };
    Key axis = of({cylinder}, word("axis", body.axis, "along which it lies"), "");
    axis.standard = "`z`";
    return {
        required(word("shape", body.shape, "2D: box, ball (a disc) or shell (a ring)"), "give it, as in shape: ball"),
        of({box}, point("lower", body.lower, "corner, sigma"), "lower: [10.0, 20.0]"),
        of({box}, point("upper", body.upper, "opposite corner, sigma"), "upper: [30.0, 40.0]"),
        of({ball, cylinder, shell}, point("center", body.center, "sigma"), "center: [20.0, 30.0]"),
        of({ball, cylinder, shell}, number("radius", body.radius, size, "sigma"), "radius: 10"),
        of({shell}, number("inner_radius", body.inner_radius, size, "of its hole, sigma"), "inner_radius: 8"),
        std::move(axis),
        of({cylinder}, number("length", body.length, size, "along its axis, sigma"), "length: 20"),
    };
}

// The facts of the file stand in the effective deck, so that deck is complete without the file.
std::vector<Key> from_keys(md::StateFile& from) {
    const auto where_named = [&from](Key key, const char* standard) {
        key.standard = standard;
        key.text = [&from, text = std::move(key.text)] { return from.file.empty() ? "" : text(); };
        return key;
    };
    const char* its = "that of the file";
    Key group = text("group", from.group, "a name", "of a group under /particles, in an H5MD file that holds several");
    group.text = [&from, text = std::move(group.text)] { return from.group.empty() ? "" : text(); };
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
        where_named(std::move(group), "`all`, or the only one"),
        where_named(std::move(digest), its),
        where_named(integer("particles", from.particles, 1, std::int64_t{1} << 40, "their number, as found"), its),
        where_named(
            number("fastest", from.fastest, {0, 2 * fastest}, "largest speed of a particle, sigma / tau, as found"),
            its),
    };
}

// A key, or a section, of bodies that are filled so.
Key only_with(md::Fill fill, const md::Body& body, Key key) {
    key.excluded = unlike(body.fill, {fill}, "is no key of fill: {}");
    key.way_out = fmt::format("remove it, or write fill: {}", balance::word_of(fill));
    return key;
}

// How dense what is at random is along an axis.
Key profile_key(md::Body& body) {
    md::Profile& p = body.profile;
    using enum md::ProfileKind;
    const auto there = [&body, &p](Key key) {  // a body of uniform density has no such section
        key.text = [&body, &p, text = std::move(key.text)] {
            return body.fill == md::Fill::random && p.kind != uniform ? text() : std::string();
        };
        return key;
    };
    const auto of = [&p, there](md::ProfileKind kind, Key key) {
        const std::string word(balance::word_of(kind));
        key.allowed += ", with kind: " + word;
        return there(unless(with_default(std::move(key)), unlike(p.kind, {kind}, "is no key of kind: {}"),
                            "remove it, or write kind: " + word));
    };
    Key kind = word("kind", p.kind, "how density varies from the lower to the upper end of the body");
    Key axis = word("axis", p.axis, "along which it varies");
    kind.standard = "`uniform`", axis.standard = "`x`";
    return only_with(
        md::Fill::random, body,
        section("profile", "density of a random filling along an axis; its mean is `density`: docs/systems.md",
                {there(std::move(kind)), there(std::move(axis)),
                 of(linear, list(
                                "ends", p.ends,
                                [](double& x) {
                                    return number("", x, {0, 1e6}, "");
                                },
                                "[1, 0.2]", "density at the lower and at the upper end, one relative to the other")),
                 of(geometric, number("ratio", p.ratio, {0, 1000, true}, "of the densities at places one sigma apart")),
                 of(sinusoidal, number("periods", p.periods, {0, 1000, true}, "of cos^2, from end to end"))}));
}

std::vector<Key> fill_keys(md::Body& body, Deck::System& system) {
    const auto with = [&body](md::Fill fill, Key key) {
        key.allowed += fmt::format(", with fill: {}", balance::word_of(fill));
        key = only_with(fill, body, std::move(key));
        key.text = [why = key.excluded, text = std::move(key.text)] { return why().empty() ? text() : std::string(); };
        return key;
    };
    Key particles{"particles", "their number, in place of density", allowed(1, most_particles)};
    particles.read = [&body](const Node& node, const std::string& path) {
        body.particles = to_integer(node, path, 1, most_particles);
    };
    particles.text = [&body] { return body.particles ? std::to_string(*body.particles) : std::string(); };
    Key lattice = with(md::Fill::lattice, lattice_key(body, system));
    lattice.standard = "2D: `hexagonal`; 3D: `fcc`";
    Key from =
        only_with(md::Fill::file, body,
                  section("from", "a file whose box is repeated and cut: docs/systems.md", from_keys(body.from)));
    from.missing = "give a file, as in from: {file: state.h5}";
    return {
        word("fill", body.fill,
             "a lattice (in a box from its lower corner, else from the centre), random places, or particles of a file"),
        std::move(lattice),
        with(md::Fill::random, std::move(particles)),
        unless(
            density_key(body),
            [&body] {
                return body.particles                ? "beside particles"
                       : body.fill == md::Fill::file ? "is no key of fill: file"
                                                     : "";
            },
            "remove it"),
        with(md::Fill::random, required(number("spacing", body.spacing, {0, 10},
                                               "smallest distance of two particles, and from other bodies, sigma"),
                                        "give the smallest distance of two particles, as in spacing: 0.85, or 0")),
        profile_key(body),
        std::move(from),
    };
}

std::vector<Key> body_keys(md::Body& body, Deck::System& system) {
    std::vector<Key> keys = shape_keys(body, system);
    for (std::vector<Key>& more : std::array{fill_keys(body, system), motion_keys(body, system)})
        for (Key& key : more) keys.push_back(std::move(key));
    keys.push_back(spin_key(body, system));
    return keys;
}

// A list of slabs, or of bodies. keys: of one of them.
Key bodies_key(const char* name, std::vector<md::Body>& bodies, Deck::System& system, std::size_t most,
               std::vector<Key> (*keys)(md::Body&, Deck::System&), const char* example, const char* meaning) {
    Key key = section_list(name, bodies, system, most, keys, example, meaning);
    key.elements = [&system, elements = std::move(key.elements)] {
        return system.from.file.empty() ? elements() : std::vector<std::vector<Key>>();
    };
    key.excluded = [&system] { return system.from.file.empty() ? "" : "is there beside from"; };
    key.way_out = "remove one of them: a file holds all particles";
    return key;
}

}  // namespace

std::vector<Key> system_keys(Deck::System& s) {
    Key seed{"seed", "of thermal velocities and random places", "a whole number from 0 to 2^64 - 1"};
    seed.read = [&s](const Node& node, const std::string& path) { s.seed = to_unsigned(node, path); };
    seed.text = [&s] { return std::to_string(s.seed); };
    const auto boundary = [](md::Boundary& b) { return word("", b, ""); };
    std::vector<Key> keys{
        box_key(s),
        per_axis<md::Boundary>("boundary", s.boundary, s, boundary, "[periodic, reflecting]",
                               "each axis: periodic or reflecting"),
        std::move(seed),
        section("potential", "", potential_keys(s.potential)),
        section("from",
                "all particles from a file, in place of slabs and bodies: docs/states.md; what is needed of it is "
                "found by the program",
                from_keys(s.from)),
        bodies_key("slabs", s.slabs, s, most_slabs, slab_keys, "slabs: [{lower: [0, 0], upper: [50, 50]}]",
                   "each by its corners, with a gap of about sigma to the next one, or by cells with box: fit"),
        bodies_key("bodies", s.bodies, s, most_bodies, body_keys,
                   "bodies: [{shape: ball, center: [20, 20], radius: 10}]",
                   "beside slabs, or in place of them: docs/systems.md"),
    };
    for (Key& key : external_keys(s)) keys.insert(keys.end() - 3, std::move(key));  // before the particles
    return keys;
}

}  // namespace app

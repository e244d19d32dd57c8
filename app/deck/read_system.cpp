// SPDX-License-Identifier: MIT
// The irregular part of a deck: the box that may fit itself to a slab, potentials with parameters of their own, slabs
// by corners or by lattice cells.
#include "app/deck/read_system.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>

#include "app/deck/limits.hpp"
#include "app/deck/wording.hpp"
#include "app/deck/yaml_tree.hpp"
#include "md/potential.hpp"

namespace app {
namespace {

// Parameters that only this kind of potential has, each with a value from now on.
void read_own_parameters(const Section& s, md::PotentialSpec& p) {
    const std::span<const md::Parameter> own = md::own_parameters(p.kind);
    for (const std::string& kind : md::potential_kinds())
        for (const md::Parameter& other : md::own_parameters(kind)) {
            const Node* node = s.find(other.name);
            if (node &&
                std::none_of(own.begin(), own.end(), [&](const md::Parameter& x) { return x.name == other.name; }))
                fail(node->where,
                     fmt::format("{} belongs to kind {}, and this potential is of kind {}", s.path(other.name), kind,
                                 p.kind),
                     fmt::format("remove it, or write kind: {}", kind));
        }
    for (std::size_t i = 0; i < own.size(); ++i) {
        const md::Parameter& x = own[i];
        const Node* node = s.find(x.name);
        p.own[i] = node ? to_number(*node, s.path(x.name)) : x.standard;
        if (p.own[i] < x.low || p.own[i] > x.high || (x.multiple_of != 0 && std::fmod(p.own[i], x.multiple_of) != 0))
            fail(node->where, fmt::format("{} is {}", s.path(x.name), p.own[i]),
                 fmt::format("use {} from {} to {}",
                             x.multiple_of == 0   ? "a number"
                             : x.multiple_of == 2 ? "an even number"
                                                  : fmt::format("a multiple of {}", x.multiple_of),
                             x.low, x.high));
    }
    if (const std::string conflict = md::conflict(p); !conflict.empty()) {
        const Node* node = nullptr;  // the last of them that the deck gives
        for (const md::Parameter& x : own)
            if (const Node* given = s.find(x.name)) node = given;
        fail(node->where, "system.potential: " + conflict, "change one of them");
    }
}

void read_potential(const Section& s, md::PotentialSpec& p) {
    if (const Node* kind = s.find("kind")) {
        const std::vector<std::string> kinds = md::potential_kinds();
        p.kind = kinds[to_choice(*kind, s.path("kind"), kinds)];
    }
    s.number("epsilon", p.epsilon, {0, 1e6, true});
    s.number("sigma", p.sigma, {0.001, 1000});
    s.number("cutoff", p.cutoff, {0, 10, true});
    s.number("softening", p.softening, {0, 10});
    if (const Node* shift = s.find("shift"))
        p.shift = static_cast<md::Shift>(to_choice(*shift, s.path("shift"), {"none", "energy", "force"}));
    read_own_parameters(s, p);
}

md::Slab read_slab(const Section& s) {
    md::Slab slab;
    const Node *lower = s.find("lower"), *upper = s.find("upper"), *cells = s.find("cells");
    if (cells) {
        for (const char* corner : {"lower", "upper"})
            if (s.has(corner))
                fail(s.find(corner)->where, fmt::format("{} beside cells", s.path(corner)),
                     "remove one: cells fill the whole box");
        const std::array<std::int64_t, 2> n = to_integer_pair(*cells, s.path("cells"), 1, std::int64_t{1} << 24);
        slab.cells = {n[0], n[1]};
    } else {
        const char* remedy = "give lower and upper as [x, y], or cells with box: fit";
        lower = &s.require("lower", remedy), upper = &s.require("upper", remedy);
        slab.lower = to_number_pair(*lower, s.path("lower"), {-longest_side, longest_side});
        slab.upper = to_number_pair(*upper, s.path("upper"), {-longest_side, longest_side});
    }
    if (const Node* lattice = s.find("lattice")) to_choice(*lattice, s.path("lattice"), {"hexagonal"});
    s.number("density", slab.density, {0, densest, true});
    s.number("temperature", slab.temperature, {0, hottest});
    if (const Node* velocity = s.find("velocity"))
        slab.velocity = to_number_pair(*velocity, s.path("velocity"), {-fastest, fastest});
    return slab;
}

void read_box(const Section& s, Deck::System& system) {
    const char* example = "[700.0, 300.0]";
    const Node& box = s.require("box", "give its lengths, as in box: [700.0, 300.0], or box: fit");
    if (box.kind == Node::Kind::scalar) {
        if (box.text != "fit")
            fail(box.where, fmt::format("{} can't be {}", s.path("box"), quote(box.text)),
                 fmt::format("write two lengths as in {}, or fit", example));
        system.box_fit = true;
        return;
    }
    if (box.kind == Node::Kind::list && box.items.size() == 3)
        fail(box.items[2].where, "a third dimension is not in this version yet", "give two lengths");
    to_list(box, s.path("box"), 2, example);
    system.box = to_number_pair(box, s.path("box"), {0, longest_side, true});
}

}  // namespace

void read_system(const Section& s, Deck::System& system) {
    read_box(s, system);
    if (const Node* boundary = s.find("boundary")) {
        const std::vector<Node>& items = to_list(*boundary, s.path("boundary"), 2, "[periodic, reflecting]");
        for (int a = 0; a < 2; ++a)
            system.boundary[a] = static_cast<Boundary>(
                to_choice(items[a], fmt::format("{}.{}", s.path("boundary"), a), {"periodic", "reflecting"}));
    }
    if (const Node* seed = s.find("seed")) system.seed = to_unsigned(*seed, s.path("seed"));
    read_potential(s.section("potential"), system.potential);
    const Node& slabs = s.require("slabs", "give a list of slabs");
    to_list(slabs, s.path("slabs"), 0, "slabs: [{lower: [0, 0], upper: [50, 50]}]");
    if (slabs.items.empty()) fail(slabs.where, s.path("slabs") + " is empty", "give at least one slab");
    if (slabs.items.size() > most_slabs)
        fail(slabs.items[most_slabs].where, fmt::format("more than {} slabs", most_slabs), "merge some of them");
    for (std::size_t i = 0; i < slabs.items.size(); ++i)
        system.slabs.push_back(read_slab(s.element(slabs.items[i], "slabs", i)));
}

}  // namespace app

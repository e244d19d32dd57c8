// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <cctype>

#include "app/deck/deck.hpp"
#include "app/deck/key.hpp"

namespace app {
namespace {

const char* const introduction = R"(# Keys of a deck

A deck is the input file of a run, in YAML; examples are in `inputs/`. This page is for those who write decks. It lists
all keys, as `build/steelyard check` prints them. With a deck, the command prints that deck with the values of all its
keys, and the memory of a rank. With `--ranks N` that is one of N ranks. On the command line, `--set balance.every=20`
sets a key, and `--set system.slabs.0.density=0.9` one of the first slab. Unknown keys are refused. Quantities are in
reduced Lennard-Jones units (length sigma, energy epsilon, mass m, time tau) unless seconds are named. The column
*restart* says whether a restart may change a key. A restart may always change a key to `auto`. Whole numbers are at
most 10^15 unless another limit is given.

The lengths of `box` choose the dimension: two make everything two-dimensional (2D), three three-dimensional (3D). A
meaning for one of them only stands behind *2D:* or *3D:*. A list of 2 or 3 has a value for each axis of the box, in 3D
one more than in the defaults shown here. A list of another length is refused.

Terms: [glossary.md](glossary.md), [models.md](models.md), [potentials.md](potentials.md).
)";

std::string default_of(const Key& key) {
    if (!key.standard.empty()) return key.standard;
    if (!key.missing.empty()) return "required";
    const std::string text = key.text();
    return text.empty() ? "none" : "`" + text + "`";
}

// Without the largest whole number, which the introduction has.
std::string allowed_of(const Key& key) {
    const std::string largest = " to 1000000000000000";
    const std::size_t place = key.allowed.find(largest);
    return place == std::string::npos ? key.allowed : std::string(key.allowed).erase(place, largest.size());
}

// Tables of the sections among `keys`, which belong to `path`, each followed by those of its own sections.
void add_sections(std::string& out, const std::vector<Key>& keys, const std::string& path, bool may_change) {
    for (const Key& section : keys) {
        const std::vector<Key> its = section.elements ? section.elements()[0] : section.keys;
        if (its.empty()) continue;
        const std::string here = below(path, section.name);
        const bool change = may_change || section.may_change;
        out += "\n## " + here + "\n";
        if (const std::string& m = section.meaning; !m.empty())
            out += fmt::format("{}{}.\n\n", static_cast<char>(std::toupper(m[0])), m.substr(1));
        out += "| key | default | allowed | restart | meaning |\n|---|---|---|---|---|\n";
        for (const Key& key : its)
            if (key.text)
                out += fmt::format("| `{}` | {} | {} | {} | {} |\n", key.name, default_of(key), allowed_of(key),
                                   change || key.may_change ? "yes" : "no", key.meaning);
        add_sections(out, its, here, change);
    }
}

}  // namespace

std::string deck_reference() {
    std::string out = introduction;
    add_sections(out, standard_keys(), "", false);
    return out;
}

}  // namespace app

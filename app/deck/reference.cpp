// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include "app/deck/deck.hpp"
#include "app/deck/key.hpp"

namespace app {
namespace {

const char* const introduction =
    "# Keys of a deck\n"
    "\n"
    "A deck is the input file of a run, in YAML. This page is what `build/steelyard check` prints without a deck; "
    "with\n"
    "one it prints that deck with the values of all keys. Where no unit is named, a quantity is in reduced\n"
    "Lennard-Jones units: length sigma, energy epsilon, mass m, time tau. Unknown keys are refused. *Restart* says\n"
    "whether a restart may change the key (it may change `tile` to auto). `--set balance.every=20` overrides one key,\n"
    "`--set system.slabs.0.density=0.9` one of the first slab. Examples are the decks in `inputs/`.\n";

std::string default_of(const Key& key) {
    if (!key.standard.empty()) return key.standard;
    if (!key.missing.empty()) return "required";
    const std::string text = key.text();
    return text.empty() ? "" : "`" + text + "`";
}

// The table of the keys at `path`, then the sections below it.
void add(std::string& out, const std::vector<Key>& keys, const std::string& path, bool may_change) {
    if (!path.empty())
        out += "\n## " + path + "\n| key | default | allowed | restart | meaning |\n|---|---|---|---|---|\n";
    for (const Key& key : keys)
        if (key.text && !path.empty())
            out += fmt::format("| `{}` | {} | {} | {} | {} |\n", key.name, default_of(key), key.allowed,
                               may_change || key.may_change ? "may change" : "keeps", key.meaning);
    for (const Key& key : keys) {
        const bool change = may_change || key.may_change;
        if (!key.keys.empty()) add(out, key.keys, below(path, key.name), change);
        if (key.elements) add(out, key.elements()[0], below(path, key.name), change);
    }
}

}  // namespace

std::string deck_reference() {
    std::string out = introduction;
    add(out, standard_keys(), "", false);
    return out;
}

}  // namespace app

// SPDX-License-Identifier: MIT
#include "app/deck/schema.hpp"

#include <algorithm>
#include <cassert>

#include "md/potential.hpp"

namespace app {
namespace {

// Of every kind; which go with which, the reader checks.
std::vector<std::string> potential_keys() {
    std::vector<std::string> keys = {"kind", "epsilon", "sigma", "cutoff", "softening", "shift"};
    for (const std::string& kind : md::potential_kinds())
        for (const md::Parameter& p : md::own_parameters(kind))
            if (std::find(keys.begin(), keys.end(), p.name) == keys.end()) keys.emplace_back(p.name);
    return keys;
}

}  // namespace

const std::vector<SectionKeys>& deck_schema() {
    static const std::vector<SectionKeys> sections = {
        {"", {"system", "run", "grid", "balance", "output", "checkpoint"}, {"machine", "accelerator", "comm", "load"}},
        {"system", {"box", "boundary", "seed", "potential", "slabs"}, {}},
        {"system.potential", potential_keys(), {}},
        {"system.slabs[]", {"lower", "upper", "cells", "lattice", "density", "temperature", "velocity"}, {}},
        {"run", {"dt", "steps", "precision"}, {}},
        {"grid", {"cell", "skin", "tile"}, {}},
        {"balance",
         {"every", "model", "compare", "processes", "clock", "migrate", "noise", "partition", "constants", "work"},
         {}},
        {"balance.partition",
         {"kind", "order", "patches_per_process", "cut", "sticky", "min_width", "max_particles_per_process"},
         {}},
        {"balance.constants", {"weight", "threshold", "start", "forgetting", "floor", "noise_weight", "costs"}, {}},
        {"balance.work", {"cell", "particle", "candidate", "pair", "region", "capacity", "spill", "move"}, {}},
        {"balance.work.region", {"lower", "upper", "factor"}, {}},
        {"output", {"every", "fields_every", "trajectory_every", "trajectory_columns"}, {}},
        {"checkpoint", {"every", "keep", "time_limit_seconds"}, {}},
    };
    return sections;
}

const SectionKeys& section_keys(std::string_view path) {
    const auto it =
        std::find_if(deck_schema().begin(), deck_schema().end(), [&](const SectionKeys& s) { return s.path == path; });
    assert(it != deck_schema().end());
    return *it;
}

std::string home_of(std::string_view key) {
    std::string home;
    for (const SectionKeys& s : deck_schema())
        if (std::find(s.known.begin(), s.known.end(), key) != s.known.end()) {
            if (!home.empty()) return {};
            home = s.path.empty() ? std::string(key) : s.path + "." + std::string(key);
        }
    return home;
}

}  // namespace app

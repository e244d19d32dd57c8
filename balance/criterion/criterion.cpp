// SPDX-License-Identifier: MIT
#include "balance/criterion/criterion.hpp"

#include <stdexcept>
#include <utility>

// One line for each criterion: the name `x` for decks. A file of this folder defines make_x().
// clang-format off
#define STEELYARD_CRITERIA(add) \
    add(gain)                   \
    add(every)                  \
    add(never)                  \
    add(threshold)              \
    add(menon)                  \
    add(zhai)                   \
    add(procassini)             \
    add(boulmier)
// clang-format on

namespace balance {

#define STEELYARD_DECLARED(name) std::unique_ptr<Criterion> make_##name(const CriterionOptions&);
STEELYARD_CRITERIA(STEELYARD_DECLARED)
#undef STEELYARD_DECLARED

namespace {

using CriterionFactory = std::unique_ptr<Criterion> (*)(const CriterionOptions&);
const std::pair<const char*, CriterionFactory> criteria[] = {
#define STEELYARD_NAMED(name) {#name, make_##name},
    STEELYARD_CRITERIA(STEELYARD_NAMED)
#undef STEELYARD_NAMED
};

}  // namespace

std::unique_ptr<Criterion> make_criterion(const CriterionOptions& options) {
    for (const auto& [known, factory] : criteria)
        if (options.name == known) return factory(options);
    throw std::invalid_argument("there is no criterion " + options.name);
}

std::vector<std::string> criterion_names() {
    std::vector<std::string> names;
    for (const auto& [name, factory] : criteria) names.push_back(name);
    return names;
}

}  // namespace balance

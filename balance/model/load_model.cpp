// SPDX-License-Identifier: MIT
#include "balance/model/load_model.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

// One line for each model: the name `x` for decks, of which a file of its own defines make_x().
// clang-format off
#define STEELYARD_MODELS(add) \
    add(time_average)         \
    add(moving_average)       \
    add(particle_count)       \
    add(hybrid)               \
    add(a1)                   \
    add(b1)                   \
    add(r1)                   \
    add(r1_ahead)             \
    add(exact)
// clang-format on

namespace balance {

#define STEELYARD_DECLARED(name) std::unique_ptr<LoadModel> make_##name(const ModelConstants&);
STEELYARD_MODELS(STEELYARD_DECLARED)
#undef STEELYARD_DECLARED

namespace {

using ModelFactory = std::unique_ptr<LoadModel> (*)(const ModelConstants&);
const std::pair<const char*, ModelFactory> models[] = {
#define STEELYARD_NAMED(name) {#name, make_##name},
    STEELYARD_MODELS(STEELYARD_NAMED)
#undef STEELYARD_NAMED
};

}  // namespace

bool LoadModel::accepts_memory(std::span<const double> candidate) const {
    return candidate.size() == memory().size() &&
           std::all_of(candidate.begin(), candidate.end(), [](double v) { return v >= 0 && v <= 1e100; });
}

std::unique_ptr<LoadModel> make_model(const std::string& name, const ModelConstants& constants) {
    for (const auto& [known, factory] : models)
        if (name == known) return factory(constants);
    throw std::invalid_argument("there is no load model " + name);
}

std::vector<std::string> model_names() {
    std::vector<std::string> names;
    for (const auto& [name, factory] : models) names.push_back(name);
    return names;
}

}  // namespace balance

// SPDX-License-Identifier: MIT
#include "balance/load_model.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace balance {
namespace {

using Factory = std::unique_ptr<LoadModel> (*)(const ModelConstants&);
const std::pair<const char*, Factory> models[] = {
    {"time_average", make_time_average}, {"moving_average", make_moving_average}, {"particle_count", make_particle_count}, {"hybrid", make_hybrid},
    {"a1", make_a1},                     {"b1", make_b1},                         {"r1", make_r1},
};

}  // namespace

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

double efficiency(std::span<const double> times) {
    double sum = 0, largest = 0;
    for (double t : times) sum += t, largest = std::max(largest, t);
    return largest > 0 ? sum / static_cast<double>(times.size()) / largest : 1.0;
}

}  // namespace balance

// SPDX-License-Identifier: MIT
// Every kind of potential, by its defaults and by other values of the parameters that only it has.
#pragma once
#include <vector>

#include "md/potential.hpp"

namespace test {

inline std::vector<md::PotentialSpec> every_kind() {
    std::vector<md::PotentialSpec> all;
    for (const std::string& kind : md::potential_kinds()) {
        all.push_back({kind});
        const std::span<const md::Parameter> own = md::own_parameters(kind);
        if (own.empty()) continue;
        all.push_back({kind});
        for (std::size_t i = 0; i < own.size(); ++i)
            all.back().own[i] = own[i].multiple_of ? own[i].standard + own[i].multiple_of : own[i].standard * 1.1;
    }
    return all;
}

/// Every kind with every shift, softened or not.
inline std::vector<md::PotentialSpec> potentials() {
    std::vector<md::PotentialSpec> all;
    for (md::PotentialSpec spec : every_kind())
        for (const md::Shift shift : {md::Shift::none, md::Shift::energy, md::Shift::force})
            for (const double softening : {0.0, 0.75}) {
                spec.epsilon = 1.1, spec.sigma = 1.05, spec.softening = softening, spec.shift = shift;
                all.push_back(spec);
            }
    return all;
}

}  // namespace test

// SPDX-License-Identifier: MIT
// The pair potential as a deck describes it. The arithmetic is in potential.hpp.
#pragma once
#include <limits>
#include <string>

#include "balance/words.hpp"

namespace md {

enum class Shift { none, energy, force };
constexpr auto words_of(Shift) {
    return std::to_array<balance::Word<Shift>>(
        {{Shift::none, "none"}, {Shift::energy, "energy"}, {Shift::force, "force"}});
}
enum class Precision { mixed, double_ };
constexpr auto words_of(Precision) {
    return std::to_array<balance::Word<Precision>>({{Precision::mixed, "mixed"}, {Precision::double_, "double"}});
}

inline constexpr int most_own_parameters = 4;

/// Pair potential with a cutoff. Reduced units: `epsilon` energy, `sigma`, `cutoff`, `softening` length.
struct PotentialSpec {
    std::string kind = "lennard_jones";  ///< a name of md::potential_kinds()
    double epsilon = 1.0;
    double sigma = 1.0;
    double cutoff = 2.5;
    double softening = 0.0;  ///< delta: r^2 -> r^2 + delta^2
    Shift shift = Shift::energy;
    static constexpr double standard = std::numeric_limits<double>::quiet_NaN();
    /// Parameters that only this kind has, in the order of its table (potential.hpp); NaN: their default.
    double own[most_own_parameters] = {standard, standard, standard, standard};
};

}  // namespace md

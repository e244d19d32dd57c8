// SPDX-License-Identifier: MIT
// Times of the two sides of a border between CPUs and accelerators, by counted work.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "balance/partition/decomposition.hpp"
#include "balance/team.hpp"

namespace balance {

/// Seconds a step of member 0's CPU, its accelerators, member 1's CPU, and so on. Collective. Throws std::logic_error
/// if the owner of a cell is not known.
/// owners: all processes, with the blocks of the accelerators.
/// work: ticks of the cells of this member's home.
/// accelerator_speeds: speed of each member's accelerators, relative to its CPU.
std::vector<double> side_times(const Team& team, const Decomposition& owners, std::span<const std::int64_t> work,
                               std::span<const double> accelerator_speeds);

}  // namespace balance

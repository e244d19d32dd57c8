// SPDX-License-Identifier: MIT
// What the two sides of a border between CPUs and accelerators take by counted work.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "balance/partition/decomposition.hpp"
#include "balance/team.hpp"

namespace balance {

/// Seconds a step of member 0's CPU, its accelerators, member 1's CPU, ... owners: all processes, with the blocks of
/// the accelerators; throws std::logic_error where some are not known. work: ticks of the cells of this member's home.
/// accelerator_speeds: of each member, relative to its CPU. Collective.
std::vector<double> side_times(const Team& team, const Decomposition& owners, std::span<const std::int64_t> work,
                               std::span<const double> accelerator_speeds);

}  // namespace balance

// SPDX-License-Identifier: MIT
// Cell fields from HDF5 files of others: any numbers, in any layout that HDF5 reads by itself.
#pragma once
#include <array>
#include <string>
#include <vector>

#include "comm/communicator.hpp"

namespace comm {

struct ReadField {
    std::array<int, 3> cells{1, 1, 1};  ///< of the whole field along x, y, z
    std::vector<double> values;         ///< of this rank's home (balance/grid/field.hpp), x slowest, then y, then z
};

/// A dataset [ny, nx] or [nz, ny, nx] of integers or floating-point numbers. Rank 0 reads; each rank gets its home.
/// Collective. Throws Agreed<ReadError>.
ReadField read_field(const std::string& path, const std::string& dataset, const Communicator& comm);

}  // namespace comm

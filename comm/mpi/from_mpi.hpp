// SPDX-License-Identifier: MIT
// For programs that have an MPI communicator of their own.
#pragma once
#include <mpi.h>

#include "comm/communicator.hpp"

namespace comm {

/// The ranks of `ranks`, of which this makes a duplicate: messages of the two never mix. MPI is initialised by the
/// caller. Collective.
Communicator from_mpi(MPI_Comm ranks);

}  // namespace comm

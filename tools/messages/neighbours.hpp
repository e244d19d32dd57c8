// SPDX-License-Identifier: MIT
// The baseline that MPI itself offers: one persistent collective call among neighbours.
#pragma once
#include <memory>

#include "balance/team.hpp"
#include "comm/communicator.hpp"

/// Parts sent by MPI_Neighbor_alltoallv_init, of MPI 4, on a graph of the ranks that send each other something; nothing
/// where MPI has no such call. lay_out() is collective.
std::unique_ptr<balance::Channel> make_neighbours(const comm::Communicator& comm);

// SPDX-License-Identifier: MIT
// An MPI that does not come back from MPI_Finalize on the last rank, and what Session::end() makes of it. The argument
// is the exit code that the program is to have.
#include <mpi.h>
#include <unistd.h>

#include <cstdlib>

#include "comm/session.hpp"

namespace {
bool stuck = false;
}

extern "C" int MPI_Finalize() {
    while (stuck) pause();
    return PMPI_Finalize();
}

int main(int argc, char** argv) {
    comm::Session session(argc, argv);
    int rank = 0, ranks = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    stuck = rank == ranks - 1;
    return session.end(std::atoi(argv[1]));
}

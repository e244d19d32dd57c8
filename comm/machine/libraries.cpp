// SPDX-License-Identifier: MIT
#include "comm/machine/libraries.hpp"

#include <fmt/format.h>
#include <hdf5.h>
#include <mpi.h>

#include "comm/mpi/mpi_check.hpp"

namespace comm {

std::string mpi_library() {
    // "MPICH Version:\t4.0.2\nMPICH Release date: ...", "Open MPI v4.1.4, package: Debian Open MPI, ident: ..."
    char text[MPI_MAX_LIBRARY_VERSION_STRING] = "";
    int length = 0;
    mpi_check(MPI_Get_library_version(text, &length), "MPI_Get_library_version");
    const std::string all = text, first = all.substr(0, all.find_first_of(",\n"));
    const std::size_t colon = first.find(" Version:");
    if (colon == std::string::npos) return first;
    return first.substr(0, colon) + " " + first.substr(first.find_first_not_of(" \t", colon + 9));
}

std::string hdf5_library() {
    unsigned major = 0, minor = 0, release = 0;
    H5get_libversion(&major, &minor, &release);
#ifdef H5_HAVE_PARALLEL
    const char* const kind = "parallel";
#else
    const char* const kind = "serial";
#endif
    return fmt::format("{}.{}.{}, {}", major, minor, release, kind);
}

}  // namespace comm

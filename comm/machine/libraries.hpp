// SPDX-License-Identifier: MIT
// Which MPI and HDF5 the program is linked with, in a few words each.
#pragma once
#include <string>

namespace comm {

/// Name and version of the MPI library; may be called before MPI is initialised.
std::string mpi_library();

/// Version of the HDF5 library, and whether it is a parallel one.
std::string hdf5_library();

}  // namespace comm

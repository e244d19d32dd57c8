// SPDX-License-Identifier: MIT
#include "app/common/build_info.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "comm/machine/libraries.hpp"
#include "md/kernels/kernels.hpp"

namespace app {

extern const char* const commit;  // found at each build by commit.cmake

BuildInfo build_info() {
#ifdef __clang__
    const char* const compiler = "Clang " __clang_version__;
#else
    const char* const compiler = "GCC " __VERSION__;
#endif
    return {STEELYARD_VERSION, commit, compiler, comm::mpi_library(), comm::hdf5_library(), md::built_kernels()};
}

std::string version_text() {
    const BuildInfo b = build_info();
    return fmt::format(
        "steelyard {}\n  commit    {}\n  compiler  {}\n  MPI       {}\n  HDF5      {}\n  kernels   {}; here {}",
        b.version, b.commit, b.compiler, b.mpi, b.hdf5, fmt::join(b.kernels, ", "), md::choose_kernels().isa);
}

}  // namespace app

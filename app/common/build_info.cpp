// SPDX-License-Identifier: MIT
#include "app/common/build_info.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "comm/machine/libraries.hpp"
#include "gpu/zone.hpp"
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

// Whether accelerators of kind cuda can be used, and which there are here.
std::string cuda_text() {
    if (!gpu::built_with_cuda()) return "not built in";
    const int devices = gpu::accelerator_count(gpu::Backend::cuda);
    if (devices == 0) return "built in; no device here: " + gpu::why_no_cuda();
    return fmt::format("built in; here {} x {}", devices, gpu::accelerator_name(gpu::Backend::cuda, 0, 0));
}

std::string version_text() {
    const BuildInfo b = build_info();
    return fmt::format(
        "steelyard {}\n  commit    {}\n  compiler  {}\n  MPI       {}\n  HDF5      {}\n  kernels   {}; here {}\n  CUDA "
        "     {}",
        b.version, b.commit, b.compiler, b.mpi, b.hdf5, fmt::join(b.kernels, ", "), md::choose_kernels().isa,
        cuda_text());
}

}  // namespace app

// SPDX-License-Identifier: MIT
// Information on this program: its sources, compiler and libraries.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <ctime>

#include "app/common/json.hpp"
#include "app/common/words.hpp"
#include "comm/machine/libraries.hpp"
#include "comm/simulation.hpp"
#include "gpu/zone.hpp"
#include "md/kernels/kernels.hpp"

namespace app {

extern const char* const commit;  // found at each build by commit.cmake

namespace {

#ifdef __clang__
constexpr const char* compiler = "Clang " __clang_version__;
#else
constexpr const char* compiler = "GCC " __VERSION__;
#endif

// Whether accelerators of kind cuda can be used, and which there are here.
std::string cuda_text() {
    if (!gpu::built_with_cuda()) return "not built in";
    const int devices = gpu::accelerator_count(gpu::Backend::cuda);
    if (devices == 0) return "built in; no device here: " + gpu::why_no_cuda();
    return fmt::format("built in; here {} x {}", devices, gpu::accelerator_name(gpu::Backend::cuda, 0, 0));
}

std::string date_in_utc() {
    const std::time_t now = std::time(nullptr);
    char text[32];
    std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", std::gmtime(&now));
    return text;
}

}  // namespace

std::string version_text() {
    return fmt::format(
        "steelyard {}\n  commit    {}\n  compiler  {}\n  MPI       {}\n  HDF5      {}\n  kernels   {}; here {}\n  CUDA "
        "     {}",
        STEELYARD_VERSION, commit, compiler, comm::mpi_library(), comm::hdf5_library(),
        fmt::join(md::built_kernels(), ", "), md::choose_kernels().isa, cuda_text());
}

void add_program(Json& j, const std::vector<std::string>& command_line) {
    j["version"] = STEELYARD_VERSION;
    j["build"] = {{"version", STEELYARD_VERSION}, {"commit", commit},
                  {"compiler", compiler},         {"mpi", comm::mpi_library()},
                  {"hdf5", comm::hdf5_library()}, {"kernels", md::built_kernels()}};
    j["command_line"] = command_line;
    j["date"] = date_in_utc();  // of the end
    if (comm::simulated) {
        j["simulated"] = true;  // all seconds below
        j["platform"] = Json::parse(comm::simulated_platform());
    }
}

}  // namespace app

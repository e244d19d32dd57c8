// SPDX-License-Identifier: MIT
// Sources, compiler and libraries of this program.
#pragma once
#include <string>
#include <vector>

namespace app {

struct BuildInfo {
    std::string version;
    std::string commit;     ///< short hash, with -dirty behind it where the tree was changed; unknown outside git
    std::string compiler;   ///< name and version
    std::string mpi, hdf5;  ///< the libraries that are linked
    std::vector<std::string> kernels;  ///< instruction sets, best first
};

BuildInfo build_info();

/// The text of --version; its first line is `steelyard VERSION`.
std::string version_text();

}  // namespace app

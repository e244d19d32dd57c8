// SPDX-License-Identifier: MIT
// Who may include whom, folder by folder: docs/architecture.md. A folder that is not listed is an error.
#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <vector>

namespace {

// Each folder, with the folders and headers elsewhere that it may include. A folder may also include itself and the
// folders above it in this list that have the same top folder.
const std::vector<std::pair<std::string, std::vector<std::string>>> folders{
    {"balance/grid", {"balance/delivery.hpp", "balance/team.hpp", "balance/transfer.hpp"}},
    {"balance/partition",
     {"balance/delivery.hpp", "balance/meter.hpp", "balance/team.hpp", "balance/transfer.hpp", "balance/words.hpp"}},
    {"balance/nested", {"balance/team.hpp", "balance/transfer.hpp", "balance/words.hpp"}},
    {"balance/zone", {"balance/words.hpp"}},
    {"balance/model",
     {"balance/delivery.hpp", "balance/meter.hpp", "balance/over_all.hpp", "balance/team.hpp", "balance/transfer.hpp",
      "balance/words.hpp"}},
    {"balance/criterion", {}},
    {"balance", {}},
    {"md/kernels", {"md", "balance/grid"}},  // one library: kernels see the views that md declares
    {"md", {"balance/grid", "balance/words.hpp"}},
    {"gpu/kernels", {"gpu", "md", "balance/grid"}},  // one library: a top folder's headers are of all its folders
    {"gpu/zone", {"gpu", "md", "balance/grid"}},
    {"gpu/host", {"gpu", "md", "balance/grid"}},
    {"gpu/cuda", {"gpu", "md", "balance/grid"}},
    {"gpu", {"md", "balance/grid"}},
    {"comm", {"balance"}},
    {"comm/serial", {"balance"}},
    {"comm/mpi", {"balance"}},
    {"comm/machine", {"balance"}},
    {"comm/simulated", {"balance"}},
    {"comm/file", {"balance"}},
    {"app/common", {"comm", "gpu", "md", "balance"}},
    {"app/engine", {"comm", "gpu", "md", "balance"}},
    {"app/deck", {"comm", "gpu", "md", "balance"}},
    {"app/balancing", {"comm", "gpu", "md", "balance"}},
    {"app/output/checkpoint", {"comm", "gpu", "md", "balance"}},
    {"app/output/directory", {"comm", "gpu", "md", "balance"}},
    {"app/output/series", {"comm", "gpu", "md", "balance"}},
    {"app/output/formats", {"comm", "gpu", "md", "balance"}},
    {"app/output/summary", {"comm", "gpu", "md", "balance"}},
    {"app/output", {"comm", "gpu", "md", "balance"}},
    {"app/state", {"comm", "gpu", "md", "balance"}},
    {"app/run", {"comm", "gpu", "md", "balance"}},
    {"app", {"tools", "comm", "gpu", "md", "balance"}},  // the command line
    {"tools", {"app", "comm"}},
    {"tools/partition", {"app", "comm", "gpu", "md", "balance"}},
    {"tools/replay", {"app", "comm", "balance"}},
    {"tools/predict", {"app", "comm", "gpu", "md", "balance"}},
    {"tools/messages", {"app", "comm", "balance"}},
    {"tools/selftest", {"app", "comm", "md"}},
    {"python", {"app", "balance"}},
};
// Libraries, and the folders that alone may include them.
const std::set<std::string> programs{"app", "tools"};
const std::map<std::string, std::set<std::string>> only_in{
    {"mpi.h", {"comm"}}, {"hdf5.h", {"comm"}}, {"hwloc.h", {"comm"}},  {"simgrid", {"comm"}},   {"yaml-cpp", {"app"}},
    {"CLI", programs},   {"omp.h", programs},  {"nlohmann", programs}, {"pybind11", {"python"}}};

std::string top_of(const std::string& path) { return path.substr(0, path.find('/')); }
std::string folder_of(const std::string& path) {
    const auto slash = path.rfind('/');
    return slash == std::string::npos ? "" : path.substr(0, slash);
}

bool may_include(const std::string& folder, const std::string& header) {
    std::vector<std::string> allowed;
    for (const auto& [name, others] : folders) {
        if (top_of(name) == top_of(folder)) allowed.push_back(name);
        if (name != folder) continue;
        allowed.insert(allowed.end(), others.begin(), others.end());
        break;
    }
    return std::any_of(allowed.begin(), allowed.end(), [&](const std::string& a) {
        // A top folder of another room stands for all that is in it.
        return header == a || folder_of(header) == a || (top_of(a) == a && a != top_of(folder) && top_of(header) == a);
    });
}

struct Include {
    std::string file, path;  // file: below the source directory
};
std::vector<Include> all_includes() {
    const std::filesystem::path source = STEELYARD_SOURCE_DIR;
    const std::regex include(R"(^\s*#\s*include\s*[<"]([^>"]+)[>"])");
    std::vector<Include> found;
    for (const char* room : {"balance", "md", "gpu", "comm", "app", "tools", "python"})
        for (const auto& entry : std::filesystem::recursive_directory_iterator(source / room)) {
            const std::string kind = entry.path().extension();
            if (kind != ".cpp" && kind != ".hpp" && kind != ".cu" && kind != ".cuh") continue;
            std::ifstream file(entry.path());
            std::smatch match;
            for (std::string line; std::getline(file, line);)
                if (std::regex_search(line, match, include))
                    found.push_back({std::filesystem::relative(entry.path(), source).string(), match[1]});
        }
    return found;
}

}  // namespace

TEST_CASE("each folder includes only what it may know") {
    const std::set<std::string> rooms{"balance", "md", "gpu", "comm", "app", "tools", "python"};
    const std::vector<Include> includes = all_includes();
    for (const auto& [file, path] : includes) {
        CAPTURE(file, path);
        const std::string folder = folder_of(file), top = top_of(path);
        CHECK(std::any_of(folders.begin(), folders.end(), [&](const auto& f) { return f.first == folder; }));
        if (rooms.count(top)) CHECK(may_include(folder, path));
        if (const auto it = only_in.find(top); it != only_in.end()) CHECK(it->second.contains(top_of(file)));
        // These two pass the libraries' headers on, to comm's own sources; no other header may.
        const bool passes_on =
            file == "comm/mpi/mpi_check.hpp" || file == "comm/mpi/from_mpi.hpp" || file == "comm/file/hdf5_handle.hpp";
        // MPI's own collective call beside the program's messages.
        const bool beside = file == "tools/messages/replay.cpp";
        if (top_of(file) != "comm" && !beside)
            CHECK((path != "comm/mpi/mpi_check.hpp" && path != "comm/file/hdf5_handle.hpp"));
        if (file.ends_with(".hpp") && !passes_on) CHECK((top != "mpi.h" && top != "hdf5.h" && top != "yaml-cpp"));
        // The standard library alone, but for two partitioners that are other libraries'.
        const bool outside = (file == "balance/partition/metis.cpp" && path == "metis.h") ||
                             (file == "balance/partition/scotch.cpp" && path == "scotch.h");
        if (top_of(file) == "balance" && top != "balance" && !outside)
            CHECK(path.find('.') == std::string::npos);  // <vector>, not <x/y.h>
        // What the engine is made of builds where there is no fmt (STEELYARD_ENGINE_ONLY).
        const bool of_engine = top_of(file) == "md" || top_of(file) == "gpu" || folder == "comm" ||
                               folder == "comm/serial" || folder == "comm/mpi" || folder == "app/engine" ||
                               file == "app/common/timers.hpp" || file == "app/common/run_error.hpp";
        if (of_engine) CHECK(top != "fmt");
    }
    CHECK(includes.size() > 700);
}

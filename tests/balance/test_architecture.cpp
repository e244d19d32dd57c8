// SPDX-License-Identifier: MIT
// Who may include whom: balance knows only the standard library, md knows balance's boxes, comm alone knows MPI and HDF5,
// app alone knows the deck's and the command line's libraries.
#include <catch2/catch.hpp>

#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <string>

TEST_CASE("each folder includes only what it may know") {
    const std::map<std::string, std::set<std::string>> rooms{{"balance", {"balance"}}, {"md", {"md", "balance"}}, {"comm", {"comm", "balance"}},
                                                             {"app", {"app", "md", "comm", "balance"}}};
    const std::map<std::string, std::string> only_in{{"mpi.h", "comm"}, {"hdf5.h", "comm"}, {"yaml-cpp", "app"}, {"CLI", "app"}, {"hwloc.h", "comm"},
                                                     {"omp.h", "app"}, {"nlohmann", "app"}};
    const std::regex include(R"(^\s*#\s*include\s*[<"]([^>"]+)[>"])");
    int seen = 0;
    for (const auto& [room, known] : rooms)
        for (const auto& entry : std::filesystem::directory_iterator(std::string(STEELYARD_SOURCE_DIR) + "/" + room)) {
            if (entry.path().extension() != ".cpp" && entry.path().extension() != ".hpp") continue;
            std::ifstream file(entry.path());
            for (std::string line; std::getline(file, line);) {
                std::smatch match;
                if (!std::regex_search(line, match, include)) continue;
                ++seen;
                const std::string path = match[1], top = path.substr(0, path.find('/'));
                CAPTURE(entry.path().string(), path);
                if (rooms.count(top)) CHECK(known.count(top));
                const bool comm_only = entry.path().filename() == "mpi_check.hpp" || entry.path().filename() == "hdf5_handle.hpp";
                if (room != "comm") CHECK((path != "comm/mpi_check.hpp" && path != "comm/file/hdf5_handle.hpp"));
                if (const auto it = only_in.find(top); it != only_in.end()) CHECK(it->second == room);
                // These two are for comm's own sources; no other header may pass the libraries' on.
                if (entry.path().extension() == ".hpp" && !comm_only) CHECK((top != "mpi.h" && top != "hdf5.h" && top != "yaml-cpp"));
                if (room == "balance" && top != "balance") CHECK(path.find('.') == std::string::npos);  // <vector>, not <x/y.h>
            }
        }
    CHECK(seen > 50);
}

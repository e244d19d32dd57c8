// SPDX-License-Identifier: MIT
#include "comm/session.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>

namespace comm {

namespace {

// Variables that launchers set for their processes. SLURM_NTASKS is not among them, because a job may start smaller
// launches inside its allocation, and programs without any.
constexpr std::array sizes{"PMI_SIZE", "OMPI_COMM_WORLD_SIZE"}, ranks_of{"PMI_RANK", "OMPI_COMM_WORLD_RANK"};

}  // namespace

bool launched() {
    return std::any_of(ranks_of.begin(), ranks_of.end(), [](const char* name) { return std::getenv(name); });
}

std::string other_launcher(int ranks) {
    std::string others;
    for (const char* name : sizes)
        if (const char* size = std::getenv(name)) {
            if (std::atoi(size) == ranks) return {};
            others = std::string(name) + "=" + size;
        }
    return others;
}

bool speaks_for_launch(int rank) {
    for (const char* name : ranks_of)
        if (const char* number = std::getenv(name)) return std::atoi(number) == 0;
    return rank == 0;
}

void print_error(std::string_view message) {
    // On the stack: there may be no memory left.
    char line[4096] = "steelyard: error: ";
    std::size_t size = std::strlen(line);
    for (const char c : message.substr(0, sizeof line - size - 1)) line[size++] = c == '\n' ? ' ' : c;
    line[size++] = '\n';
    [[maybe_unused]] const auto written = write(STDERR_FILENO, line, size);
}

}  // namespace comm

// SPDX-License-Identifier: MIT
#include "comm/session.hpp"

#include <unistd.h>

#include <cstdlib>
#include <cstring>

namespace comm {

std::string other_launcher(int ranks) {
    // What launchers tell their processes. SLURM_NTASKS is not asked: a job may start smaller launches inside its
    // allocation.
    std::string others;
    for (const char* name : {"PMI_SIZE", "OMPI_COMM_WORLD_SIZE"})
        if (const char* size = std::getenv(name)) {
            if (std::atoi(size) == ranks) return {};
            others = std::string(name) + "=" + size;
        }
    return others;
}

bool speaks_for_launch(int rank) {
    for (const char* name : {"PMI_RANK", "OMPI_COMM_WORLD_RANK"})
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

// SPDX-License-Identifier: MIT
#include "app/common/threads.hpp"

#include <omp.h>

#include <algorithm>
#include <cstdlib>
#include <string>

#include "app/common/errors.hpp"
#include "app/common/words.hpp"

namespace app {

void use_threads(int usual) {
    constexpr int most = 4096;
    const char* given = std::getenv("OMP_NUM_THREADS");
    std::string text = given ? given : "";
    text.erase(std::min(text.size(), text.find(',')));
    std::erase(text, ' ');
    if (text.empty()) return omp_set_num_threads(usual);
    const auto threads = number_in<int>(text);
    if (!threads || *threads < 1 || *threads > most)
        throw UsageError(
            "OMP_NUM_THREADS: '{}' is no number of threads from 1 to {}; unset it to use this node's cores", text,
            most);
    omp_set_num_threads(*threads);
}

}  // namespace app

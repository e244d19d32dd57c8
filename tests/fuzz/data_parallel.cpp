// SPDX-License-Identifier: MIT
// Descriptions of data-parallel programs.
#include <algorithm>

#include "app/predict/data_parallel_file.hpp"
#include "fuzz.hpp"

void fuzz::read(std::string_view input) {
    app::Options options;
    options.deck = file_of(input);
    const auto program = app::read_data_parallel(options, world());
    if (!program) return;
    program->sequential();
    for (const std::int64_t count : program->counts) program->seconds(count);
    const auto [first, last] = std::minmax_element(program->counts.begin(), program->counts.end());
    predict::best_count([&](std::int64_t n) { return program->seconds(n); }, *first, *last);
}

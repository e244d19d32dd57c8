// SPDX-License-Identifier: MIT
// LBDatafiles. A line `===` ends the file of a rank.
#include <string>

#include "app/run/lbaf_series.hpp"
#include "app/run/load_series.hpp"
#include "fuzz.hpp"

void fuzz::read(std::string_view input) {
    constexpr std::string_view between = "\n===\n";
    constexpr int most_ranks = 3;
    std::string first;
    for (int rank = 0; rank < most_ranks; ++rank) {
        const std::size_t end = std::min(input.find(between), input.size());
        const std::string path = file_of(input.substr(0, end), "data." + std::to_string(rank) + ".json");
        if (rank == 0) first = path;
        else if (input.empty()) std::remove(path.c_str());
        input.remove_prefix(std::min(end + between.size(), input.size()));
    }
    const app::LbafSeries series(first, world());
    const auto shape = series.shape("/load");
    // A few objects may have a box of 2^31 cells, which takes memory and time rightly.
    constexpr std::int64_t most_cells = 1 << 16;
    if (std::int64_t{shape.cells[0]} * shape.cells[1] * shape.cells[2] > most_cells) return;
    const app::LoadSeriesReader reader(first, world());
    for (std::int64_t t = 0; t < reader.times(); ++t) reader.cells(t);
}

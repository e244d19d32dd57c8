// SPDX-License-Identifier: MIT
// Series of loads in HDF5, and single fields of them.
#include "comm/file/field_reader.hpp"
#include "fuzz.hpp"
#include "tools/replay/load_series.hpp"

void fuzz::read(std::string_view input) {
    const std::string path = file_of(input);
    constexpr std::int64_t most_numbers = 1 << 20;  // a small file may rightly say that it holds very many zeros
    const auto few = [](const std::array<int, 3>& n, std::int64_t times) {
        return std::int64_t{n[0]} * n[1] * n[2] <= most_numbers / std::max<std::int64_t>(1, times);
    };
    bool small = false;
    accepted([&] {
        const comm::FieldSeriesReader series(path, world());
        const auto shape = series.shape("/load");
        small = few(shape.cells, shape.times);
    });
    if (!small) return;
    accepted([&] { comm::read_field(path, "/field", world()); });
    const app::LoadSeriesReader reader(path, world());
    for (std::int64_t t = 0; t < reader.times(); ++t) reader.cells(t);
}

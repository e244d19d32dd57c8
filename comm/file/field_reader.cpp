// SPDX-License-Identifier: MIT
#include "comm/file/field_reader.hpp"

#include <fmt/format.h>

#include <cmath>
#include <optional>
#include <span>

#include "balance/grid/field.hpp"
#include "balance/grid/for_each.hpp"
#include "comm/agreed.hpp"
#include "comm/file/durable.hpp"
#include "comm/file/file.hpp"
#include "comm/file/number_file.hpp"

namespace comm {
namespace {

// A dataset of a field, or of one field for each time.
struct Source {
    NumberFile& file;
    std::string dataset;
    std::array<int, 3> cells{1, 1, 1};
    int dimensions = 0;
    std::optional<std::int64_t> times;  // of a series
};

constexpr std::int64_t most_times = 10'000'000;

Source source(NumberFile& file, const std::string& dataset, bool series) {
    if (file.kind(dataset) != NumberFile::Kind::dataset)
        file.refuse(fmt::format("holds no dataset {}; {}", dataset,
                                series ? "a series has one (docs/replay.md)" : "name one of its datasets"));
    const std::vector<std::int64_t>& extent = file.shape(dataset);
    const int rank = static_cast<int>(extent.size());
    Source s{file, dataset, {1, 1, 1}, rank - series, {}};
    if (s.dimensions < 2 || s.dimensions > 3)
        file.refuse(fmt::format("{} is no dataset of numbers with {} dimensions; {}", dataset,
                                series ? "3 or 4" : "2 or 3",
                                series ? "give [t, ny, nx] or [t, nz, ny, nx]" : "name another"));
    std::int64_t cells = 1;
    for (int a = 0; a < s.dimensions; ++a) {
        const std::int64_t n = extent[rank - 1 - a];  // x varies fastest in the file
        constexpr std::int64_t most = 1 << 20;
        if (n < 1 || n > most)
            file.refuse(fmt::format("{} has {} cells along {}; use 1 to 2^20", dataset, n, "xyz"[a]));
        s.cells[a] = static_cast<int>(n);
        cells *= n;
    }
    constexpr std::int64_t most_cells = std::int64_t{1} << 31;
    if (cells > most_cells) file.refuse(fmt::format("{} has {} cells; use at most 2^31", dataset, cells));
    if (series) s.times = extent[0];
    if (s.times && *s.times > most_times)
        file.refuse(fmt::format("{} has {} times; give at most {}", dataset, *s.times, most_times));
    const std::vector<std::int64_t> first(rank, 0), one(rank, 1);
    if (!series || extent[0] > 0) file.numbers_in(dataset, first, one);  // not even begun
    constexpr double cell_bytes = 40;  // of the rank that reads a field and hands it out
    if (const std::string lack = lack_of_memory(cell_bytes * static_cast<double>(cells)); !lack.empty())
        file.refuse(fmt::format("{} of {} cells {}; use larger cells", dataset, cells, lack));
    return s;
}

// The values of a box at time t of a series, x slowest.
std::vector<double> read_box(const Source& s, const balance::Box& box, std::int64_t t) {
    std::vector<std::int64_t> first, count;
    if (s.times) first.push_back(t), count.push_back(1);
    for (int a = s.dimensions - 1; a >= 0; --a) first.push_back(box.lower[a]), count.push_back(box.extent(a));
    const std::vector<double> rows = s.file.block<double>(s.dataset, first, count);
    std::vector<double> out;
    out.reserve(rows.size());
    const std::int64_t nx = box.extent(0), ny = box.extent(1);
    balance::for_each_cell(shifted(box, {-box.lower[0], -box.lower[1], -box.lower[2]}),
                           [&](int x, int y, int z) { out.push_back(rows[(z * ny + y) * nx + x]); });
    return out;
}

// The values of each rank's home, on rank 0.
void read_homes(const Source& s, std::int64_t t, std::vector<std::vector<std::byte>>& to_rank) {
    const balance::Homes homes{{s.cells}, static_cast<int>(to_rank.size())};
    for (std::size_t r = 0; r < to_rank.size(); ++r) {
        const std::vector<double> values = read_box(s, homes.of(static_cast<int>(r)), t);
        const auto bytes = std::as_bytes(std::span(values));
        to_rank[r].assign(bytes.begin(), bytes.end());
    }
}

// Runs body() on rank 0. An error of the file that it throws is thrown by all ranks.
template <class Body>
void on_reader(const Communicator& comm, Body body) {
    std::string error;
    if (comm.rank() == 0) try {
            body();
        } catch (const ReadError& e) {
            error = e.what();
        }
    comm.broadcast(error);
    require(comm, error.empty(), [&] { return ReadError(error); });
}

}  // namespace

ReadField read_field(const std::string& path, const std::string& dataset, const Communicator& comm) {
    std::vector<std::vector<std::byte>> to_rank(comm.size());
    std::array<std::int64_t, 3> cells{};
    on_reader(comm, [&] {
        NumberFile file(path);
        const Source s = source(file, dataset, false);
        read_homes(s, 0, to_rank);
        cells = {s.cells[0], s.cells[1], s.cells[2]};
    });
    comm.broadcast(cells);
    ReadField field;
    for (int a = 0; a < 3; ++a) field.cells[a] = static_cast<int>(cells[a]);
    field.values = balance::elements_in<double>(comm.all_to_all(to_rank));
    return field;
}

FieldSeriesReader::FieldSeriesReader(const std::string& path, const Communicator& comm) : comm_(comm) {
    on_reader(comm_, [&] { file_ = std::make_unique<NumberFile>(path); });
}

FieldSeriesReader::~FieldSeriesReader() = default;

bool FieldSeriesReader::has(const std::string& dataset) const {
    bool found = false;
    on_reader(comm_, [&] { found = file_->kind(dataset) != NumberFile::Kind::absent; });
    return comm_.from_rank_0(found) != 0;
}

FieldSeriesReader::Shape FieldSeriesReader::shape(const std::string& dataset) const {
    std::array<std::int64_t, 5> found{};
    on_reader(comm_, [&] {
        const Source s = source(*file_, dataset, true);
        found = {*s.times, s.cells[0], s.cells[1], s.cells[2], s.dimensions};
    });
    comm_.broadcast(found);
    Shape shape{found[0], {}, static_cast<int>(found[4])};
    for (int a = 0; a < 3; ++a) shape.cells[a] = static_cast<int>(found[1 + a]);
    return shape;
}

std::vector<double> FieldSeriesReader::home(const std::string& dataset, std::int64_t t) const {
    std::vector<std::vector<std::byte>> to_rank(comm_.size());
    on_reader(comm_, [&] { read_homes(source(*file_, dataset, true), t, to_rank); });
    return balance::elements_in<double>(comm_.all_to_all(to_rank));
}

std::vector<std::int64_t> FieldSeriesReader::integers(const std::string& dataset) const {
    std::vector<std::int64_t> values;
    on_reader(comm_, [&] {
        const std::vector<std::int64_t> extent = file_->shape(dataset);
        bool good = extent.size() == 1 && extent[0] <= most_times;
        const std::array<std::int64_t, 1> first{0};
        for (const double v : good ? file_->block<double>(dataset, first, extent) : std::vector<double>()) {
            good = good && v == std::floor(v) && std::abs(v) < 0x1p63;
            values.push_back(good ? static_cast<std::int64_t>(v) : 0);
        }
        if (!good) file_->refuse(fmt::format("{} is no list of whole numbers; give [t] of them", dataset));
    });
    comm_.broadcast_list(values);
    return values;
}

std::vector<std::string> FieldSeriesReader::texts(const std::string& attribute) const {
    std::string joined;
    on_reader(comm_, [&] {
        for (const std::string& text : file_->texts(attribute)) joined += text + '\n';
    });
    comm_.broadcast(joined);
    std::vector<std::string> texts;
    for (std::size_t at = 0; at < joined.size();) {
        const std::size_t end = joined.find('\n', at);
        texts.push_back(joined.substr(at, end - at));
        at = end + 1;
    }
    return texts;
}

}  // namespace comm

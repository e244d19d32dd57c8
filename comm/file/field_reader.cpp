// SPDX-License-Identifier: MIT
#include "comm/file/field_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <optional>
#include <span>

#include "balance/grid/field.hpp"
#include "comm/agreed.hpp"
#include "comm/file/durable.hpp"
#include "comm/file/file.hpp"
#include "comm/file/hdf5_handle.hpp"

namespace comm {
namespace {

// A dataset of a field, or of one field for each time.
struct Source {
    Handle data;
    std::array<int, 3> cells{1, 1, 1};
    int dimensions = 0;
    std::optional<std::int64_t> times;  // of a series
};

constexpr const char* no_file = "is not a readable HDF5 file; give the path of one";

// Empty, or why there is no field or no series.
std::string open(Source& s, const Handle& file, const std::string& dataset, bool series) {
    s.data = Handle(H5Dopen2(file, dataset.c_str(), H5P_DEFAULT), H5Dclose);
    if (!s.data.good())
        return fmt::format("holds no dataset {}; {}", dataset,
                           series ? "a series has one (docs/replay.md)" : "name one of its datasets");
    const Handle type(H5Dget_type(s.data), H5Tclose), space(H5Dget_space(s.data), H5Sclose);
    const H5T_class_t kind = H5Tget_class(type);
    const int rank = H5Sget_simple_extent_ndims(space);
    s.dimensions = rank - series;
    if ((kind != H5T_INTEGER && kind != H5T_FLOAT) || s.dimensions < 2 || s.dimensions > 3)
        return fmt::format("{} is no dataset of numbers with {} dimensions; {}", dataset, series ? "3 or 4" : "2 or 3",
                           series ? "give [t, ny, nx] or [t, nz, ny, nx]" : "name another");
    std::array<hsize_t, 4> extent{};
    H5Sget_simple_extent_dims(space, extent.data(), nullptr);
    for (int a = 0; a < s.dimensions; ++a) {
        const hsize_t n = extent[rank - 1 - a];  // x varies fastest in the file
        constexpr hsize_t most = 1 << 20;
        if (n < 1 || n > most) return fmt::format("{} has {} cells along {}; use 1 to 2^20", dataset, n, "xyz"[a]);
        s.cells[a] = static_cast<int>(n);
    }
    std::int64_t cells = 1;
    for (const int n : s.cells) cells *= n;
    constexpr std::int64_t most_cells = std::int64_t{1} << 31, most_times = 10'000'000;
    if (cells > most_cells) return fmt::format("{} has {} cells; use at most 2^31", dataset, cells);
    if (series) s.times = static_cast<std::int64_t>(extent[0]);
    if (s.times && *s.times > most_times)
        return fmt::format("{} has {} times; give at most {}", dataset, *s.times, most_times);
    return "";
}

// The values of a box at time t of a series, x slowest; false where they cannot be read.
bool read_box(const Source& s, const balance::Box& box, std::int64_t t, std::vector<double>& out) {
    const int offset = s.times ? 1 : 0;
    std::array<hsize_t, 4> first{}, count{1, 1, 1, 1};
    if (s.times) first[0] = static_cast<hsize_t>(t);
    for (int a = 0; a < s.dimensions; ++a) {
        first[offset + s.dimensions - 1 - a] = box.lower[a];
        count[offset + s.dimensions - 1 - a] = box.extent(a);
    }
    std::vector<double> rows(box.cells());
    out.resize(rows.size());
    if (rows.empty()) return true;
    const hsize_t size = rows.size();
    const Handle in_file(H5Dget_space(s.data), H5Sclose), here(H5Screate_simple(1, &size, nullptr), H5Sclose);
    if (H5Sselect_hyperslab(in_file, H5S_SELECT_SET, first.data(), nullptr, count.data(), nullptr) < 0 ||
        H5Dread(s.data, H5T_NATIVE_DOUBLE, here, in_file, H5P_DEFAULT, rows.data()) < 0)
        return false;
    const std::int64_t nx = box.extent(0), ny = box.extent(1), nz = box.extent(2);
    double* to = out.data();
    for (std::int64_t x = 0; x < nx; ++x)
        for (std::int64_t y = 0; y < ny; ++y)
            for (std::int64_t z = 0; z < nz; ++z) *to++ = rows[(z * ny + y) * nx + x];
    return true;
}

// Of each rank the values of its home, on rank 0.
std::string read_homes(const Source& s, std::int64_t t, const std::string& dataset,
                       std::vector<std::vector<std::byte>>& to_rank) {
    const balance::Homes homes{{s.cells}, static_cast<int>(to_rank.size())};
    std::vector<double> values;
    for (std::size_t r = 0; r < to_rank.size(); ++r) {
        if (!read_box(s, homes.of(static_cast<int>(r)), t, values))
            return fmt::format("cannot read {}; check the file", dataset);
        const auto bytes = std::as_bytes(std::span(values));
        to_rank[r].assign(bytes.begin(), bytes.end());
    }
    return "";
}

std::vector<double> received(const std::vector<std::vector<std::byte>>& to_rank, const Communicator& comm) {
    const std::vector<std::byte> mine = comm.all_to_all(to_rank);
    std::vector<double> values(mine.size() / sizeof(double));
    if (!mine.empty()) std::memcpy(values.data(), mine.data(), mine.size());
    return values;
}

}  // namespace

ReadField read_field(const std::string& path, const std::string& dataset, const Communicator& comm) {
    std::vector<std::vector<std::byte>> to_rank(comm.size());
    std::string error;
    std::array<std::int64_t, 3> cells{};
    if (comm.rank() == 0) {
        const Handle file = opened(path);
        Source s;
        error = file.good() ? open(s, file, dataset, false) : no_file;
        if (error.empty()) error = read_homes(s, 0, dataset, to_rank);
        cells = {s.cells[0], s.cells[1], s.cells[2]};
    }
    comm.broadcast(error);
    require(comm, error.empty(), [&] { return ReadError(path + ": " + error); });
    comm.broadcast(cells);
    ReadField field;
    for (int a = 0; a < 3; ++a) field.cells[a] = static_cast<int>(cells[a]);
    field.values = received(to_rank, comm);
    return field;
}

struct FieldSeriesReader::Open {
    Handle file;

    bool has(const std::string& dataset) const {
        return H5Lexists(file, dataset.c_str(), H5P_DEFAULT) > 0 &&
               H5Oexists_by_name(file, dataset.c_str(), H5P_DEFAULT) > 0;
    }
};

FieldSeriesReader::FieldSeriesReader(const std::string& path, const Communicator& comm) : path_(path), comm_(comm) {
    std::string error;
    if (comm_.rank() == 0) {
        open_ = std::make_unique<Open>();
        open_->file = opened(path);
        if (!open_->file.good()) error = no_file;
    }
    require(error);
}

FieldSeriesReader::~FieldSeriesReader() = default;

void FieldSeriesReader::require(const std::string& why) const {
    std::string error = why;
    comm_.broadcast(error);
    comm::require(comm_, error.empty(), [&] { return ReadError(path_ + ": " + error); });
}

bool FieldSeriesReader::has(const std::string& dataset) const {
    std::int64_t found = open_ && open_->has(dataset);
    comm_.broadcast(std::span(&found, 1));
    return found != 0;
}

FieldSeriesReader::Shape FieldSeriesReader::shape(const std::string& dataset) const {
    Source s;
    require(open_ ? open(s, open_->file, dataset, true) : "");
    std::array<std::int64_t, 5> found{s.times.value_or(0), s.cells[0], s.cells[1], s.cells[2], s.dimensions};
    comm_.broadcast(found);
    Shape shape{found[0], {}, static_cast<int>(found[4])};
    for (int a = 0; a < 3; ++a) shape.cells[a] = static_cast<int>(found[1 + a]);
    return shape;
}

std::vector<double> FieldSeriesReader::whole(const std::string& dataset, std::int64_t t) const {
    std::vector<double> values;
    std::string error;
    if (open_) {
        Source s;
        error = open(s, open_->file, dataset, true);
        const balance::Box all{{0, 0, 0}, s.cells};
        if (error.empty() && !read_box(s, all, t, values))
            error = fmt::format("cannot read {}; check the file", dataset);
    }
    require(error);
    return values;
}

std::vector<double> FieldSeriesReader::home(const std::string& dataset, std::int64_t t) const {
    std::vector<std::vector<std::byte>> to_rank(comm_.size());
    std::string error;
    if (open_) {
        Source s;
        error = open(s, open_->file, dataset, true);
        if (error.empty()) error = read_homes(s, t, dataset, to_rank);
    }
    require(error);
    return received(to_rank, comm_);
}

std::vector<std::int64_t> FieldSeriesReader::integers(const std::string& dataset) const {
    std::vector<std::int64_t> values;
    std::string error;
    if (open_) {
        const Handle d(H5Dopen2(open_->file, dataset.c_str(), H5P_DEFAULT), H5Dclose);
        const Handle type(d.good() ? H5Dget_type(d) : -1, H5Tclose), space(d.good() ? H5Dget_space(d) : -1, H5Sclose);
        const H5T_class_t kind = d.good() ? H5Tget_class(type) : H5T_NO_CLASS;
        const hssize_t size = d.good() ? H5Sget_simple_extent_npoints(space) : 0;
        constexpr hssize_t most = 100'000'000;
        std::vector<double> numbers;  // whole ones, if they are no integers
        bool good = d.good() && H5Sget_simple_extent_ndims(space) == 1 && size <= most;
        if (good && kind == H5T_INTEGER) {
            values.resize(size);
            good = size == 0 || H5Dread(d, H5T_NATIVE_INT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()) >= 0;
        } else if (good && kind == H5T_FLOAT) {
            numbers.resize(size);
            good = size == 0 || H5Dread(d, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, numbers.data()) >= 0;
        } else {
            good = false;
        }
        for (const double v : numbers) {
            good = good && v == std::floor(v) && std::abs(v) <= 0x1p53;
            values.push_back(good ? static_cast<std::int64_t>(v) : 0);
        }
        if (!good) error = fmt::format("{} is no list of whole numbers; give [t] of them", dataset);
    }
    require(error);
    std::int64_t size = std::ssize(values);
    comm_.broadcast(std::span(&size, 1));
    values.resize(size);
    comm_.broadcast(std::span(values));
    return values;
}

namespace {

// The texts of an attribute, without padding; none where it is no list of 1 to 3 texts.
std::vector<std::string> texts_of(const Handle& file, const std::string& attribute) {
    const Handle a(H5Aopen(file, attribute.c_str(), H5P_DEFAULT), H5Aclose);
    if (!a.good()) return {};
    const Handle type(H5Aget_type(a), H5Tclose), space(H5Aget_space(a), H5Sclose);
    const hssize_t n = H5Sget_simple_extent_npoints(space);
    constexpr std::size_t longest = 1000;
    if (H5Tget_class(type) != H5T_STRING || n < 1 || n > 3) return {};
    std::vector<std::string> found;
    if (H5Tis_variable_str(type) > 0) {
        std::array<char*, 3> each{};
        if (H5Aread(a, type, each.data()) < 0) return {};
        for (hssize_t i = 0; i < n; ++i) found.emplace_back(each[i] ? each[i] : "");
        H5Dvlen_reclaim(type, space, H5P_DEFAULT, each.data());
    } else {
        const std::size_t width = H5Tget_size(type);
        std::string letters(width <= longest ? width * n : 0, '\0');
        if (letters.empty() || H5Aread(a, type, letters.data()) < 0) return {};
        for (hssize_t i = 0; i < n; ++i) found.push_back(letters.substr(i * width, width));
    }
    for (std::string& text : found) {
        text.resize(std::min(text.find('\0'), text.size()));
        while (text.ends_with(' ')) text.pop_back();  // as Fortran pads it
        std::replace(text.begin(), text.end(), '\n', ' ');
    }
    return found;
}

}  // namespace

std::vector<std::string> FieldSeriesReader::texts(const std::string& attribute) const {
    std::string joined, error;
    if (open_ && H5Aexists(open_->file, attribute.c_str()) > 0) {
        const std::vector<std::string> found = texts_of(open_->file, attribute);
        if (found.empty()) error = fmt::format("its attribute {} is no list of 1 to 3 texts; mend it", attribute);
        for (const std::string& text : found) joined += text + '\n';
    }
    require(error);
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

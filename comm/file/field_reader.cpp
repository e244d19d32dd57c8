// SPDX-License-Identifier: MIT
#include "comm/file/field_reader.hpp"

#include <fmt/format.h>

#include <cstring>
#include <span>

#include "balance/grid/field.hpp"
#include "comm/agreed.hpp"
#include "comm/file/durable.hpp"
#include "comm/file/file.hpp"
#include "comm/file/hdf5_handle.hpp"

namespace comm {
namespace {

struct Source {
    Handle file, data;
    std::array<int, 3> cells{1, 1, 1};
    int dimensions = 0;
};

// Empty, or why there is no field.
std::string open(Source& s, const std::string& path, const std::string& dataset) {
    prepare_hdf5();
    const Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
    H5Pset_file_locking(access, false, true);
    if (file_size(path) > 0) s.file = Handle(H5Fopen(path.c_str(), H5F_ACC_RDONLY, access), H5Fclose);
    if (!s.file.good()) return "is not a readable HDF5 file; give the path of one";
    s.data = Handle(H5Dopen2(s.file, dataset.c_str(), H5P_DEFAULT), H5Dclose);
    if (!s.data.good()) return fmt::format("holds no dataset {}; name one of its datasets", dataset);
    const Handle type(H5Dget_type(s.data), H5Tclose), space(H5Dget_space(s.data), H5Sclose);
    const H5T_class_t kind = H5Tget_class(type);
    s.dimensions = H5Sget_simple_extent_ndims(space);
    if ((kind != H5T_INTEGER && kind != H5T_FLOAT) || s.dimensions < 2 || s.dimensions > 3)
        return fmt::format("{} is no dataset of numbers with 2 or 3 dimensions; name another", dataset);
    std::array<hsize_t, 3> extent{};
    H5Sget_simple_extent_dims(space, extent.data(), nullptr);
    for (int a = 0; a < s.dimensions; ++a) {
        const hsize_t n = extent[s.dimensions - 1 - a];  // x varies fastest in the file
        constexpr hsize_t most = 1 << 20;
        if (n < 1 || n > most) return fmt::format("{} has {} cells along {}; use 1 to 2^20", dataset, n, "xyz"[a]);
        s.cells[a] = static_cast<int>(n);
    }
    return "";
}

// The values of a box, x slowest; false where they cannot be read.
bool read_box(const Source& s, const balance::Box& box, std::vector<std::byte>& out) {
    std::array<hsize_t, 3> first{}, count{};
    for (int a = 0; a < s.dimensions; ++a) {
        first[s.dimensions - 1 - a] = box.lower[a];
        count[s.dimensions - 1 - a] = box.extent(a);
    }
    std::vector<double> rows(box.cells());
    out.resize(rows.size() * sizeof(double));
    if (rows.empty()) return true;
    const hsize_t size = rows.size();
    const Handle in_file(H5Dget_space(s.data), H5Sclose), here(H5Screate_simple(1, &size, nullptr), H5Sclose);
    if (H5Sselect_hyperslab(in_file, H5S_SELECT_SET, first.data(), nullptr, count.data(), nullptr) < 0 ||
        H5Dread(s.data, H5T_NATIVE_DOUBLE, here, in_file, H5P_DEFAULT, rows.data()) < 0)
        return false;
    const std::int64_t nx = box.extent(0), ny = box.extent(1), nz = box.extent(2);
    std::byte* to = out.data();
    for (std::int64_t x = 0; x < nx; ++x)
        for (std::int64_t y = 0; y < ny; ++y)
            for (std::int64_t z = 0; z < nz; ++z, to += sizeof(double))
                std::memcpy(to, &rows[(z * ny + y) * nx + x], sizeof(double));
    return true;
}

}  // namespace

ReadField read_field(const std::string& path, const std::string& dataset, const Communicator& comm) {
    std::vector<std::vector<std::byte>> to_rank(comm.size());
    std::string error;
    std::array<std::int64_t, 3> cells{};
    if (comm.rank() == 0) {
        Source s;
        error = open(s, path, dataset);
        const balance::Homes homes{{s.cells}, comm.size()};
        for (int r = 0; r < comm.size() && error.empty(); ++r)
            if (!read_box(s, homes.of(r), to_rank[r])) error = fmt::format("cannot read {}; check the file", dataset);
        cells = {s.cells[0], s.cells[1], s.cells[2]};
    }
    comm.broadcast(error);
    require(comm, error.empty(), [&] { return ReadError(path + ": " + error); });
    comm.broadcast(cells);
    ReadField field;
    for (int a = 0; a < 3; ++a) field.cells[a] = static_cast<int>(cells[a]);
    const std::vector<std::byte> mine = comm.all_to_all(to_rank);
    field.values.resize(mine.size() / sizeof(double));
    if (!mine.empty()) std::memcpy(field.values.data(), mine.data(), mine.size());
    return field;
}

}  // namespace comm

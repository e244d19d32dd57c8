// SPDX-License-Identifier: MIT
#include <algorithm>

#include "comm/file.hpp"
#include "comm/hdf5_handle.hpp"
#include "comm/mpi_check.hpp"

namespace comm {
namespace {

constexpr std::int64_t piece_bytes = 1 << 20;

}  // namespace

struct FileWriter::Handles {
    Handle file, transfer;

    // Past creation there is no way back that all ranks could take together.
    static void check(bool good, const std::string& path, const std::string& what) {
        if (!good) fatal(5, path + ": cannot write " + what + "; check space and quota on that disk");
    }
    Handle dataset(const std::string& path, const std::string& name, Element type, const Handle& space) const {
        // Missing groups on the way are made.
        const Handle links(H5Pcreate(H5P_LINK_CREATE), H5Pclose);
        H5Pset_create_intermediate_group(links, 1);
        Handle d(H5Dcreate2(file, name.c_str(), stored(type), space, links, H5P_DEFAULT, H5P_DEFAULT), H5Dclose);
        check(d.good(), path, name);
        return d;
    }
    void attribute(const std::string& path, const std::string& object, const std::string& name, hid_t on_disk, hid_t in_memory, const void* data, std::size_t n, bool scalar) const {
        const hsize_t size = n;
        const Handle space(scalar ? H5Screate(H5S_SCALAR) : H5Screate_simple(1, &size, nullptr), H5Sclose);
        const Handle a(H5Acreate_by_name(file, object.c_str(), name.c_str(), on_disk, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), H5Aclose);
        check(a.good() && H5Awrite(a, in_memory, data) >= 0, path, object + "@" + name);
    }
};

FileWriter::FileWriter(const std::string& path, const Communicator& comm, std::int64_t front_bytes)
    : handles_(std::make_unique<Handles>()), comm_(comm), path_(path) {
    H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
    const Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
    H5Pset_fapl_mpio(access, MPI_COMM_WORLD, MPI_INFO_NULL);
    H5Pset_all_coll_metadata_ops(access, true);
    H5Pset_coll_metadata_write(access, true);
    H5Pset_libver_bounds(access, H5F_LIBVER_V110, H5F_LIBVER_V110);  // older formats don't notice damaged metadata
    const Handle creation(H5Pcreate(H5P_FILE_CREATE), H5Pclose);
    H5Pset_userblock(creation, front_bytes);
    handles_->file = Handle(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, creation, access), H5Fclose);
    if (!comm_.all_agree(handles_->file.good()))
        throw FileError(path + ": cannot create it; check that the directory is writable and the disk not full");
    handles_->transfer = Handle(H5Pcreate(H5P_DATASET_XFER), H5Pclose);
    H5Pset_dxpl_mpio(handles_->transfer, H5FD_MPIO_COLLECTIVE);
}

FileWriter::~FileWriter() = default;

void FileWriter::group(const std::string& path) {
    const Handle links(H5Pcreate(H5P_LINK_CREATE), H5Pclose);
    H5Pset_create_intermediate_group(links, 1);
    const Handle g(H5Gcreate2(handles_->file, path.c_str(), links, H5P_DEFAULT, H5P_DEFAULT), H5Gclose);
    Handles::check(g.good(), path_, path);
}

void FileWriter::attribute(const std::string& object, const std::string& name, const std::string& value) {
    const Handle type(H5Tcopy(H5T_C_S1), H5Tclose);
    H5Tset_size(type, std::max<std::size_t>(1, value.size()));
    H5Tset_strpad(type, H5T_STR_NULLPAD);
    handles_->attribute(path_, object, name, type, type, value.data(), 1, true);
}

void FileWriter::attribute(const std::string& object, const std::string& name, const std::vector<std::string>& values) {
    std::size_t width = 1;
    for (const std::string& v : values) width = std::max(width, v.size());
    std::string text;
    for (std::string v : values) text += (v.resize(width), v);
    const Handle type(H5Tcopy(H5T_C_S1), H5Tclose);
    H5Tset_size(type, width);
    H5Tset_strpad(type, H5T_STR_NULLPAD);
    handles_->attribute(path_, object, name, type, type, text.data(), values.size(), false);
}

void FileWriter::attribute(const std::string& object, const std::string& name, std::span<const std::int64_t> values, bool scalar) {
    handles_->attribute(path_, object, name, stored(Element::int64), native(Element::int64), values.data(), values.size(), scalar);
}

void FileWriter::attribute(const std::string& object, const std::string& name, std::span<const double> values) {
    handles_->attribute(path_, object, name, stored(Element::float64), native(Element::float64), values.data(), values.size(), false);
}

void FileWriter::write_small(const std::string& path, Element type, const void* data, std::size_t size) {
    const hsize_t n = size;
    const Handle space(H5Screate_simple(1, &n, nullptr), H5Sclose);
    const Handle d = handles_->dataset(path_, path, type, space);
    if (comm_.rank() != 0) H5Sselect_none(space);
    Handles::check(H5Dwrite(d, native(type), space, space, handles_->transfer, data) >= 0, path_, path);
}

void FileWriter::write_rows(const std::string& path, const Shape& shape, std::int64_t mine, const std::function<const void*(std::int64_t, std::int64_t)>& piece) {
    const std::int64_t before = comm_.exclusive_sum(mine);
    std::int64_t total = mine;
    comm_.sum(std::span(&total, 1));
    std::vector<hsize_t> extent, start, count;
    if (shape.frame) extent.push_back(1);
    extent.push_back(total);
    if (shape.columns > 1) extent.push_back(shape.columns);
    const int rank = static_cast<int>(extent.size()), row = shape.frame ? 1 : 0;
    start.assign(rank, 0);
    count = extent;
    const Handle space(H5Screate_simple(rank, extent.data(), nullptr), H5Sclose);
    const Handle d = handles_->dataset(path_, path, shape.type, space);
    // Contiguous rows: each rank writes its own without the others.
    const std::int64_t most = std::max<std::int64_t>(1, piece_bytes / static_cast<std::int64_t>(shape.size * shape.columns));
    for (std::int64_t first = 0; first < mine; first += most) {
        const std::int64_t n = std::min(most, mine - first);
        start[row] = before + first;
        count[row] = n;
        const Handle memory(H5Screate_simple(rank, count.data(), nullptr), H5Sclose);
        H5Sselect_hyperslab(space, H5S_SELECT_SET, start.data(), nullptr, count.data(), nullptr);
        Handles::check(H5Dwrite(d, native(shape.type), memory, space, H5P_DEFAULT, piece(first, n)) >= 0, path_, path);
    }
}

void FileWriter::write_field(const std::string& path, Element type, int nx, int ny, std::int64_t blocks, const std::function<std::pair<balance::Box, const void*>(std::int64_t)>& block) {
    const hsize_t extent[2] = {static_cast<hsize_t>(ny), static_cast<hsize_t>(nx)};
    const Handle space(H5Screate_simple(2, extent, nullptr), H5Sclose);
    const Handle d = handles_->dataset(path_, path, type, space);
    // One collective write a round; a rank that has no more blocks takes part with nothing.
    std::int64_t rounds = blocks;
    comm_.max(std::span(&rounds, 1));
    for (std::int64_t i = 0; i < rounds; ++i) {
        const bool have = i < blocks;
        const auto [box, values] = have ? block(i) : std::pair<balance::Box, const void*>{};
        hsize_t start[2] = {0, 0}, count[2] = {1, 1};
        if (have)
            for (int a = 0; a < 2; ++a) {
                start[a] = box.lower[1 - a];
                count[a] = box.extent(1 - a);
            }
        const Handle memory(H5Screate_simple(2, count, nullptr), H5Sclose);
        if (have) H5Sselect_hyperslab(space, H5S_SELECT_SET, start, nullptr, count, nullptr);
        else H5Sselect_none(space), H5Sselect_none(memory);
        Handles::check(H5Dwrite(d, native(type), memory, space, handles_->transfer, values) >= 0, path_, path);
    }
}

void FileWriter::close() {
    const bool flushed = H5Fflush(handles_->file, H5F_SCOPE_GLOBAL) >= 0;
    Handles::check(flushed && handles_->file.reset(), path_, "the end of the file");
    comm_.barrier();
}

}  // namespace comm

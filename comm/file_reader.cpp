// SPDX-License-Identifier: MIT
#include "comm/file.hpp"
#include "comm/hdf5_handle.hpp"
#include "comm/mpi_check.hpp"

namespace comm {

struct FileReader::Handles {
    Handle file;
};

FileReader::FileReader(const std::string& path, const Communicator& comm) : handles_(std::make_unique<Handles>()), comm_(comm), path_(path) {
    H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
    H5PLset_loading_state(0);  // a data file names no code to load
    const Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
    H5Pset_fapl_mpio(access, MPI_COMM_WORLD, MPI_INFO_NULL);
    H5Pset_all_coll_metadata_ops(access, true);
    handles_->file = Handle(H5Fopen(path.c_str(), H5F_ACC_RDONLY, access), H5Fclose);
    if (!comm_.all_agree(handles_->file.good())) throw FileError(path + ": is not a readable HDF5 file; use another checkpoint");
}

FileReader::~FileReader() = default;

bool FileReader::has(const std::string& path) {
    // Every group on the way has to be there before HDF5 may be asked for the next.
    bool found = true;
    for (std::size_t end = path.find('/', 1); found; end = path.find('/', end + 1)) {
        found = H5Lexists(handles_->file, path.substr(0, end).c_str(), H5P_DEFAULT) > 0;
        if (end == std::string::npos) break;
    }
    return comm_.all_agree(found);
}

std::int64_t FileReader::count(const std::string& path, Element type, int columns) {
    hsize_t extent[2] = {0, 1};
    const auto fits = [&] {
        const Handle d(H5Dopen2(handles_->file, path.c_str(), H5P_DEFAULT), H5Dclose);
        if (!d.good()) return false;
        const Handle on_disk(H5Dget_type(d), H5Tclose), space(H5Dget_space(d), H5Sclose), layout(H5Dget_create_plist(d), H5Pclose);
        // Contiguous and inside this file: nothing to decode, nowhere else to read from, no more than is stored.
        if (H5Tequal(on_disk, stored(type)) <= 0 || H5Pget_layout(layout) != H5D_CONTIGUOUS || H5Pget_external_count(layout) != 0) return false;
        const int rank = H5Sget_simple_extent_ndims(space);
        if (rank != (columns > 1 ? 2 : 1)) return false;
        H5Sget_simple_extent_dims(space, extent, nullptr);
        return extent[1] == static_cast<hsize_t>(columns) && (extent[0] == 0 || H5Dget_storage_size(d) == extent[0] * extent[1] * H5Tget_size(on_disk));
    };
    if (!comm_.all_agree(fits())) throw FileError(path_ + ": holds no proper " + path + "; use another checkpoint");
    return static_cast<std::int64_t>(extent[0]);
}

void FileReader::read(const std::string& path, Element type, void* data, std::int64_t first, std::int64_t n, int columns) {
    const std::int64_t total = count(path, type, columns);
    const auto done = [&] {
        const Handle d(H5Dopen2(handles_->file, path.c_str(), H5P_DEFAULT), H5Dclose);
        const Handle space(H5Dget_space(d), H5Sclose);
        const hsize_t start[2] = {static_cast<hsize_t>(first), 0}, size[2] = {static_cast<hsize_t>(n), static_cast<hsize_t>(columns)};
        const Handle memory(H5Screate_simple(columns > 1 ? 2 : 1, size, nullptr), H5Sclose);
        if (n > 0 && first >= 0 && first + n <= total) H5Sselect_hyperslab(space, H5S_SELECT_SET, start, nullptr, size, nullptr);
        else H5Sselect_none(space), H5Sselect_none(memory);
        return H5Dread(d, native(type), memory, space, H5P_DEFAULT, data) >= 0 && first + n <= total;
    };
    if (!comm_.all_agree(done())) throw FileError(path_ + ": cannot read " + path + "; use another checkpoint");
}

}  // namespace comm

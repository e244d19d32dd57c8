// SPDX-License-Identifier: MIT
// Rank 0 looks where a dataset lies, and checks that FileWriter could have made it. Every rank then reads its own bytes
// there. A file may be damaged or forged. So no name in it is followed to another name or file, and nothing is
// allocated that the file does not hold.
#include <fcntl.h>
#include <fmt/format.h>

#include <array>
#include <optional>

#include "comm/agreed.hpp"
#include "comm/file/durable.hpp"
#include "comm/file/file.hpp"
#include "comm/file/hdf5_handle.hpp"
#include "comm/file/posix_file.hpp"

namespace comm {

struct FileReader::Handles {
    Handle file;      // rank 0
    Descriptor data;  // every rank
    std::int64_t size = 0;

    std::optional<Place> place(const std::string& path, Element type, int columns) const {
        if (!object_at(file, path).there) return std::nullopt;
        const Handle d(H5Dopen2(file, path.c_str(), H5P_DEFAULT), H5Dclose);
        if (!d.good()) return std::nullopt;
        const Handle on_disk(H5Dget_type(d), H5Tclose), space(H5Dget_space(d), H5Sclose),
            layout(H5Dget_create_plist(d), H5Pclose);
        // Contiguous and inside this file: nothing to decode, nowhere else to read from, no more than is stored.
        if (H5Tequal(on_disk, stored(type)) <= 0 || H5Pget_layout(layout) != H5D_CONTIGUOUS ||
            H5Pget_external_count(layout) != 0)
            return std::nullopt;
        std::array<hsize_t, 2> extent{0, 1};
        if (H5Sget_simple_extent_ndims(space) != (columns > 1 ? 2 : 1)) return std::nullopt;
        H5Sget_simple_extent_dims(space, extent.data(), nullptr);
        if (extent[1] != static_cast<hsize_t>(columns)) return std::nullopt;
        if (extent[0] == 0) return Place{};
        const hsize_t row = extent[1] * H5Tget_size(on_disk), stored_bytes = H5Dget_storage_size(d),
                      limit = static_cast<hsize_t>(size);
        const haddr_t at = H5Dget_offset(d);
        if (extent[0] > limit / row || stored_bytes != extent[0] * row || at == HADDR_UNDEF || at > limit ||
            stored_bytes > limit - at)
            return std::nullopt;
        return Place{static_cast<std::int64_t>(extent[0]), static_cast<std::int64_t>(at)};
    }
};

FileReader::FileReader(const std::string& path, const Communicator& comm)
    : handles_(std::make_unique<Handles>()), comm_(comm), path_(path) {
    bool good = true;
    if (comm_.rank() == 0) {
        handles_->size = file_size(path);
        handles_->file = opened(path);
        good = handles_->file.good();
    }
    good = comm_.all_agree(good);
    if (good) {
        handles_->data = Descriptor(path, O_RDONLY | O_NONBLOCK);
        good = handles_->data.good();
    }
    require(comm_, good, [&] { return ReadError(path + ": is not a readable HDF5 file; use another checkpoint"); });
}

FileReader::~FileReader() = default;

bool FileReader::has(const std::string& path) {
    const NamedObject found = comm_.rank() == 0 ? object_at(handles_->file, path) : NamedObject();
    require(comm_, found.link.empty(),
            [&] { return ReadError(path_ + ": " + path + " is a link to another place; use another checkpoint"); });
    return comm_.from_rank_0(found.there) != 0;
}

const FileReader::Place& FileReader::find(const std::string& path, Element type, int columns) {
    const std::string name = fmt::format("{} {} {}", path, static_cast<int>(type), columns);
    if (const auto known = places_.find(name); known != places_.end()) return known->second;
    std::array<std::int64_t, 3> found{0, 0, 0};
    if (comm_.rank() == 0)
        if (const std::optional<Place> place = handles_->place(path, type, columns))
            found = {1, place->rows, place->offset};
    comm_.broadcast(found);
    require(comm_, found[0] != 0,
            [&] { return ReadError(path_ + ": holds no proper " + path + "; use another checkpoint"); });
    return places_[name] = {found[1], found[2]};
}

void FileReader::read(const std::string& path, const Place& place, bool inside, void* data, std::int64_t from,
                      std::int64_t size) {
    const bool good = inside && read_at(handles_->data, data, size, place.offset + from);
    require(comm_, good, [&] { return ReadError(path_ + ": cannot read " + path + "; use another checkpoint"); });
}

}  // namespace comm

// SPDX-License-Identifier: MIT
// Datasets are contiguous and get their place in the file when they are made, so that the bytes of all ranks can go
// there by pwrite(). HDF5 itself writes what is small: structure, attributes, datasets that are the same on all ranks.
//
// A write that fails is remembered and told to all ranks by close(): until then every rank goes on through the same
// calls.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "balance/grid/grid.hpp"
#include "balance/team.hpp"
#include "comm/agreed.hpp"
#include "comm/file/file.hpp"
#include "comm/file/hdf5_handle.hpp"
#include "comm/file/posix_file.hpp"

namespace comm {
namespace {

constexpr std::int64_t piece_bytes = 1 << 20;
static_assert(std::endian::native == std::endian::little,
              "numbers are written as they lie in memory, and files are little-endian");

}  // namespace

struct FileWriter::Handles {
    Handle file;      // rank 0
    Descriptor data;  // every rank
    bool good = true, closed = false;

    // A group and those on the way to it, where they are missing. Nothing in a file tells when it was made, so that the
    // same content makes the same bytes.
    void groups(const std::string& path) {
        const Handle how(H5Pcreate(H5P_GROUP_CREATE), H5Pclose);
        H5Pset_obj_track_times(how, false);
        for (std::size_t end = path.find('/', 1); !path.empty(); end = path.find('/', end + 1)) {
            const std::string part = path.substr(0, end);
            if (H5Lexists(file, part.c_str(), H5P_DEFAULT) <= 0) {
                const Handle g(H5Gcreate2(file, part.c_str(), H5P_DEFAULT, how, H5P_DEFAULT), H5Gclose);
                good = good && g.good();
            }
            if (end == std::string::npos) break;
        }
    }
    void groups_above(const std::string& path) { groups(path.substr(0, path.rfind('/'))); }

    // chunk, most: of a dataset in chunks, the extents of a chunk and the largest ones of the dataset.
    Handle dataset(const std::string& name, Element type, const std::vector<hsize_t>& extent,
                   const std::vector<hsize_t>& chunk = {}, const hsize_t* most = nullptr) {
        groups_above(name);
        const Handle layout(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
        const Handle space(H5Screate_simple(static_cast<int>(extent.size()), extent.data(), most), H5Sclose);
        H5Pset_obj_track_times(layout, false);
        if (chunk.empty()) H5Pset_layout(layout, H5D_CONTIGUOUS);
        else H5Pset_chunk(layout, static_cast<int>(chunk.size()), chunk.data());
        H5Pset_alloc_time(layout, H5D_ALLOC_TIME_EARLY);
        H5Pset_fill_time(layout, H5D_FILL_TIME_NEVER);
        Handle d(H5Dcreate2(file, name.c_str(), stored(type), space, H5P_DEFAULT, layout, H5P_DEFAULT), H5Dclose);
        good = good && d.good();
        return d;
    }
    void attribute(const std::string& object, const std::string& name, hid_t on_disk, hid_t in_memory,
                   const void* value, std::size_t n, bool scalar) {
        const hsize_t size = n;
        const Handle space(scalar ? H5Screate(H5S_SCALAR) : H5Screate_simple(1, &size, nullptr), H5Sclose);
        const Handle a(H5Acreate_by_name(file, object.c_str(), name.c_str(), on_disk, space, H5P_DEFAULT, H5P_DEFAULT,
                                         H5P_DEFAULT),
                       H5Aclose);
        good = good && a.good() && H5Awrite(a, in_memory, value) >= 0;
    }
    // A single string has a variable length: readers in Python get a str then, not bytes.
    void text(const std::string& object, const std::string& name, const char* value) {
        const Handle type(H5Tcopy(H5T_C_S1), H5Tclose);
        H5Tset_size(type, H5T_VARIABLE);
        H5Tset_cset(type, H5T_CSET_UTF8);
        attribute(object, name, type, type, &value, 1, true);
    }
    void texts(const std::string& object, const std::string& name, std::size_t width, const char* letters,
               std::size_t n) {
        const Handle type(H5Tcopy(H5T_C_S1), H5Tclose);
        H5Tset_size(type, width);
        H5Tset_strpad(type, H5T_STR_NULLPAD);
        attribute(object, name, type, type, letters, n, false);
    }
};

FileWriter::FileWriter(const std::string& path, const Communicator& comm, std::int64_t front_bytes,
                       std::int64_t structure_bytes)
    : handles_(std::make_unique<Handles>()), comm_(comm), path_(path) {
    bool good = true;
    if (comm_.rank() == 0) {
        prepare_hdf5();
        const Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose), creation(H5Pcreate(H5P_FILE_CREATE), H5Pclose);
        H5Pset_libver_bounds(access, H5F_LIBVER_V110, H5F_LIBVER_V110);  // older formats don't notice damaged metadata
        H5Pset_file_locking(access, false, true);  // the directory is locked; some file systems have no locks
        H5Pset_userblock(creation, front_bytes);
        H5Pset_obj_track_times(creation, false);
        if (structure_bytes > 0) {
            H5Pset_meta_block_size(access, structure_bytes);
            H5Pset_alignment(access, structure_bytes, 4096);  // the structure itself, and data of more than its size
        }
        unlink(path.c_str());
        handles_->file = Handle(H5Fcreate(path.c_str(), H5F_ACC_EXCL, creation, access), H5Fclose);
        good = handles_->file.good();
    }
    good = comm_.all_agree(good);
    if (good) {
        handles_->data = Descriptor(path, O_WRONLY | O_NOFOLLOW);
        good = handles_->data.good();
    }
    require(comm_, good, [&] {
        return WriteError(path + ": cannot create it; check that the directory is writable and the disk not full");
    });
}

FileWriter::~FileWriter() {
    if (comm_.rank() == 0 && !handles_->closed) {
        handles_->file.reset();
        unlink(path_.c_str());
    }
}

void FileWriter::group(const std::string& path) {
    if (comm_.rank() == 0) handles_->groups(path);
}

void FileWriter::link(const std::string& path, const std::string& target) {
    if (comm_.rank() != 0) return;
    handles_->groups_above(path);
    handles_->good = handles_->good && H5Lcreate_hard(handles_->file, target.c_str(), handles_->file, path.c_str(),
                                                      H5P_DEFAULT, H5P_DEFAULT) >= 0;
}

// HDF5 needs no index of chunks for a dataset that is allocated at once and has a largest extent and no filters. Its
// chunks lie one after the other, those of later frames too. Only the number of frames changes in the file's structure.
// A dataset of a single chunk has another layout, so a dataset whose number of frames can change has several chunks.
FramePlace FileWriter::frames(const std::string& path, Element type, std::int64_t frames, std::int64_t capacity,
                              const std::vector<std::int64_t>& extents) {
    constexpr std::int64_t most_bytes = 1 << 30, most_scalars = 1024;  // of a chunk; HDF5 has a limit of 4 GiB
    FramePlace place;
    std::array<std::int64_t, 5> found{};
    if (comm_.rank() == 0) {
        const auto size = static_cast<std::int64_t>(H5Tget_size(stored(type)));
        std::vector<hsize_t> now{static_cast<hsize_t>(frames)}, most{static_cast<hsize_t>(capacity)}, chunk{1};
        place.row_bytes = extents.empty() ? size : size * extents.back();
        if (extents.empty()) {
            chunk[0] = static_cast<hsize_t>(std::clamp<std::int64_t>(capacity / 2, 1, most_scalars));
        } else {                    // a chunk is whole but along the first extent
            std::int64_t rows = 1;  // of one index along it
            for (std::size_t a = 1; a + 1 < extents.size(); ++a) rows *= extents[a];
            const std::int64_t n = extents[0];
            place.chunks = (n * rows * place.row_bytes + most_bytes - 1) / most_bytes;
            const std::int64_t indices = (n + place.chunks - 1) / place.chunks;  // of a chunk
            place.chunks = (n + indices - 1) / indices;
            place.chunk_rows = indices * rows;
            for (const std::int64_t extent : extents) {
                now.push_back(static_cast<hsize_t>(extent));
                most.push_back(static_cast<hsize_t>(extent));
                chunk.push_back(static_cast<hsize_t>(chunk.size() == 1 ? indices : extent));
            }
        }
        const Handle d = handles_->dataset(path, type, now, chunk, most.data());
        const std::vector<hsize_t> first(chunk.size(), 0);
        haddr_t at = HADDR_UNDEF;
        hsize_t bytes = 0;
        handles_->good = handles_->good && H5Dget_chunk_info_by_coord(d, first.data(), nullptr, &at, &bytes) >= 0 &&
                         at != HADDR_UNDEF;
        place.offset = static_cast<std::int64_t>(at);
        found = {place.offset, place.row_bytes, place.chunk_rows, place.chunks, handles_->good};
    }
    comm_.broadcast(found);
    handles_->good = handles_->good && found[4];
    return {found[0], found[1], found[2], found[3]};
}

void FileWriter::attribute(const std::string& object, const std::string& name, const std::string& value) {
    if (comm_.rank() == 0) handles_->text(object, name, value.c_str());
}

void FileWriter::attribute(const std::string& object, const std::string& name, const std::vector<std::string>& values) {
    std::size_t width = 1;
    for (const std::string& v : values) width = std::max(width, v.size());
    std::string letters;
    for (const std::string& v : values) letters += v + std::string(width - v.size(), '\0');
    if (comm_.rank() == 0) handles_->texts(object, name, width, letters.data(), values.size());
}

void FileWriter::attribute(const std::string& object, const std::string& name, std::span<const std::int64_t> values,
                           bool scalar) {
    if (comm_.rank() == 0)
        handles_->attribute(object, name, stored(Element::int64), native(Element::int64), values.data(), values.size(),
                            scalar);
}

void FileWriter::attribute(const std::string& object, const std::string& name, std::span<const double> values) {
    if (comm_.rank() == 0)
        handles_->attribute(object, name, stored(Element::float64), native(Element::float64), values.data(),
                            values.size(), false);
}

void FileWriter::write_small(const std::string& path, Element type, const void* data, std::size_t size) {
    if (comm_.rank() != 0) return;
    const Handle d = handles_->dataset(path, type, {static_cast<hsize_t>(size)});
    if (size > 0)
        handles_->good = handles_->good && H5Dwrite(d, native(type), H5S_ALL, H5S_ALL, H5P_DEFAULT, data) >= 0;
}

// Makes a dataset; all ranks learn the position of its first byte.
std::int64_t FileWriter::place_of(const std::string& path, Element type, const std::vector<std::int64_t>& extent) {
    std::int64_t offset = 0;
    if (comm_.rank() == 0) {
        const Handle d = handles_->dataset(path, type, {extent.begin(), extent.end()});
        const haddr_t at = d.good() ? H5Dget_offset(d) : HADDR_UNDEF;
        const bool empty = std::find(extent.begin(), extent.end(), 0) != extent.end();
        if (at != HADDR_UNDEF) offset = static_cast<std::int64_t>(at);
        else if (!empty) handles_->good = false, offset = -1;
    }
    offset = comm_.from_rank_0(offset);
    handles_->good = handles_->good && offset >= 0;  // a file that is bad already is not written any further
    return offset;
}

void FileWriter::write_rows(const std::string& path, const Shape& shape, std::int64_t mine,
                            const std::function<const void*(std::int64_t, std::int64_t)>& piece) {
    const std::int64_t before = comm_.exclusive_sum(mine),
                       row_bytes = static_cast<std::int64_t>(shape.size) * shape.columns;
    const std::int64_t total = comm_.sum_of(mine);
    std::vector<std::int64_t> extent;
    if (shape.frame) extent.push_back(1);
    extent.push_back(total);
    if (shape.columns > 1) extent.push_back(shape.columns);
    const std::int64_t offset = place_of(path, shape.type, extent),
                       most = std::max<std::int64_t>(1, piece_bytes / row_bytes);
    for (std::int64_t first = 0; first < mine && handles_->good; first += most) {
        const std::int64_t n = std::min(most, mine - first);
        handles_->good =
            write_at(handles_->data, piece(first, n), n * row_bytes, offset + (before + first) * row_bytes);
    }
}

// Each rank writes a band of the field's lines. It collects the lines from the ranks that own the cells. So there are a
// few long writes instead of one for every line of every block.
void FileWriter::write_field(const std::string& path, Element type, std::size_t size, const balance::Grid& grid,
                             std::int64_t blocks,
                             const std::function<std::pair<balance::Box, const void*>(std::int64_t)>& block) {
    const int slow = grid.dimensions - 1;
    const auto band = [&](int rank) {
        const balance::IndexRange lines = balance::block(grid.cells[slow], rank, comm_.size());
        return slab(grid.box(), slow, static_cast<int>(lines.begin), static_cast<int>(lines.end));
    };
    std::vector<std::vector<std::byte>> to_rank(comm_.size());
    for (std::int64_t i = 0; i < blocks; ++i) {
        const auto [box, values] = block(i);
        const std::size_t layer = static_cast<std::size_t>(box.cells() / box.extent(slow)) * size;
        for (int r = 0; r < comm_.size(); ++r) {
            const balance::Box part = intersection(box, band(r));
            if (part.empty()) continue;
            balance::append(to_rank[r], part);
            const std::byte* first =
                static_cast<const std::byte*>(values) + (part.lower[slow] - box.lower[slow]) * layer;
            to_rank[r].insert(to_rank[r].end(), first, first + part.cells() * size);
        }
    }
    const std::vector<std::byte> in = comm_.all_to_all(to_rank);
    const balance::Box mine = band(comm_.rank());
    std::vector<std::byte> lines(mine.cells() * size);
    for (std::size_t at = 0; at < in.size();) {
        balance::Box part;
        std::memcpy(&part, &in[at], sizeof part);
        at += sizeof part;
        const std::size_t width = part.extent(0) * size;
        for (int z = part.lower[2]; z < part.upper[2]; ++z)
            for (int y = part.lower[1]; y < part.upper[1]; ++y, at += width) {
                const std::size_t line =
                    static_cast<std::size_t>(z - mine.lower[2]) * mine.extent(1) + y - mine.lower[1];
                std::memcpy(&lines[(line * grid.cells[0] + part.lower[0]) * size], &in[at], width);
            }
    }
    std::vector<std::int64_t> extent{grid.cells[1], grid.cells[0]};
    if (grid.dimensions == 3) extent.insert(extent.begin(), grid.cells[2]);
    const std::int64_t offset = place_of(path, type, extent),
                       from =
                           mine.lower[slow] * (grid.box().cells() / grid.cells[slow]) * static_cast<std::int64_t>(size);
    if (handles_->good) handles_->good = write_at(handles_->data, lines.data(), std::ssize(lines), offset + from);
}

void FileWriter::close() {
    bool good = handles_->good && handles_->data.close();
    good = comm_.all_agree(good);  // everything is written before the file gets its end
    if (comm_.rank() == 0 && good) good = handles_->file.reset();
    require(comm_, good, [&] { return WriteError(path_ + ": cannot write it; check space and quota on that disk"); });
    handles_->closed = true;
}

}  // namespace comm

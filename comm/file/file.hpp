// SPDX-License-Identifier: MIT
// HDF5 files that all ranks write and read together. Rank 0 alone has the file open in HDF5. It lays out groups,
// attributes and datasets of known size, or looks where they are. Then every rank writes or reads its own bytes at
// their place, without the others. So no rank waits inside a library, which costs seconds with more ranks than cores.
// All ranks learn of an error of one rank. Closing a file during an exception concerns no other rank.
#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "balance/grid/grid.hpp"
#include "comm/communicator.hpp"

namespace comm {

/// A file cannot be opened or trusted.
struct ReadError : std::runtime_error {
    using std::runtime_error::runtime_error;
};
/// A file cannot be created or written.
struct WriteError : std::runtime_error {
    using std::runtime_error::runtime_error;
};

enum class Element { float64, int64, uint64, int32, uint8 };
template <class T>
constexpr Element element_of() {
    if constexpr (std::is_same_v<T, double>) return Element::float64;
    else if constexpr (std::is_same_v<T, std::int64_t>) return Element::int64;
    else if constexpr (std::is_same_v<T, std::uint64_t>) return Element::uint64;
    else if constexpr (std::is_same_v<T, std::int32_t>) return Element::int32;
    else {
        static_assert(std::is_same_v<T, std::uint8_t>);
        return Element::uint8;
    }
}

/// Cells of a field that this rank owns: values line by line, z slowest, x fastest.
template <class T>
struct FieldBlock {
    balance::Box box;
    std::vector<T> values;
};

/// Where the rows of a dataset [frames, ..., columns] lie: a frame is `chunks` pieces of `chunk_rows` rows each.
struct FramePlace {
    std::int64_t offset = 0, row_bytes = 0, chunk_rows = 1, chunks = 1;
    bool once = false;  ///< one for the whole file instead of one for each frame
    /// First byte of a row.
    std::int64_t at(std::int64_t frame, std::int64_t row) const {
        return offset + ((frame * chunks + row / chunk_rows) * chunk_rows + row % chunk_rows) * row_bytes;
    }
    std::int64_t frame_bytes() const { return chunks * chunk_rows * row_bytes; }
};

/// Writes a new file. All calls are collective, with the same arguments but for the data.
class FileWriter {
public:
    /// Creates the file. An older file or link of its name is removed, not followed. Throws WriteError.
    /// front_bytes: room before the HDF5 part for a header of the caller's (a "user block": 0 or a power of two from
    /// 512).
    /// structure_bytes: room for groups and attributes in one piece before all data. 0: HDF5 chooses their places.
    FileWriter(const std::string& path, const Communicator& comm, std::int64_t front_bytes = 0,
               std::int64_t structure_bytes = 0);
    /// Removes a file that was not closed.
    ~FileWriter();
    FileWriter(const FileWriter&) = delete;
    FileWriter& operator=(const FileWriter&) = delete;

    void group(const std::string& path);  ///< unless it is there
    void attribute(const std::string& object, const std::string& name, const std::string& value);
    void attribute(const std::string& object, const std::string& name, const std::vector<std::string>& values);
    /// scalar: a single value rather than an array of one.
    void attribute(const std::string& object, const std::string& name, std::span<const std::int64_t> values,
                   bool scalar = false);
    void attribute(const std::string& object, const std::string& name, std::span<const double> values);
    /// Another name of a group or dataset.
    void link(const std::string& path, const std::string& target);
    /// A dataset [rows] that is not written here; returns the position of its first byte in the file.
    std::int64_t reserve(const std::string& path, Element type, std::int64_t rows) {
        return place_of(path, type, {rows});
    }
    /// A dataset [frames, extents...] that is not written here and has room for `capacity` frames. There are no extents
    /// or at least two; rows run along the last one. Its place does not depend on `frames` (at least 1).
    FramePlace frames(const std::string& path, Element type, std::int64_t frames, std::int64_t capacity,
                      const std::vector<std::int64_t>& extents = {});
    /// A small dataset, the same on all ranks.
    template <class T>
    void dataset(const std::string& path, std::span<const T> values) {
        write_small(path, element_of<T>(), values.data(), values.size());
    }
    /// All ranks' rows one after the other in rank order: [N] or [N, columns]; with `frame`, a leading dimension of 1.
    template <class T>
    void rows(const std::string& path, std::span<const T> mine, int columns = 1, bool frame = false) {
        write_rows(path, {element_of<T>(), sizeof(T), columns, frame}, std::ssize(mine) / columns,
                   [&](std::int64_t first, std::int64_t) { return mine.data() + first * columns; });
    }
    /// The same from `n` rows that are made on the way, a cache-sized piece at a time: fill(values of the next rows).
    template <class T, class Fill>
    void rows(const std::string& path, std::int64_t n, int columns, bool frame, Fill fill) {
        std::vector<T> buffer;
        write_rows(path, {element_of<T>(), sizeof(T), columns, frame}, n, [&](std::int64_t, std::int64_t k) {
            buffer.resize(k * columns);
            fill(std::span<T>(buffer));
            return buffer.data();
        });
    }
    /// A field [ny, nx], in three dimensions [nz, ny, nx], from all ranks' blocks.
    template <class T>
    void field(const std::string& path, const balance::Grid& grid, const std::vector<FieldBlock<T>>& mine) {
        write_field(path, element_of<T>(), sizeof(T), grid, std::ssize(mine), [&](std::int64_t i) {
            return std::pair<balance::Box, const void*>(mine[i].box, mine[i].values.data());
        });
    }
    /// Closes; the file is complete on return. Throws WriteError when any write of any rank failed: no space, a quota,
    /// a limit.
    void close();

private:
    void write_small(const std::string& path, Element type, const void* data, std::size_t size);
    struct Shape {
        Element type;
        std::size_t size;
        int columns;
        bool frame;
    };
    /// piece(first, n): n of this rank's rows, called in ascending order.
    void write_rows(const std::string& path, const Shape& shape, std::int64_t rows,
                    const std::function<const void*(std::int64_t, std::int64_t)>& piece);
    void write_field(const std::string& path, Element type, std::size_t size, const balance::Grid& grid,
                     std::int64_t blocks,
                     const std::function<std::pair<balance::Box, const void*>(std::int64_t)>& block);
    std::int64_t place_of(const std::string& path, Element type, const std::vector<std::int64_t>& extent);
    struct Handles;
    std::unique_ptr<Handles> handles_;
    const Communicator& comm_;
    std::string path_;
};

/// Reads what FileWriter wrote, and refuses whatever FileWriter would not have written: links, other types, chunks,
/// filters, data outside the file. All calls are collective and throw Agreed<ReadError>.
class FileReader {
public:
    FileReader(const std::string& path, const Communicator& comm);
    ~FileReader();
    FileReader(const FileReader&) = delete;
    FileReader& operator=(const FileReader&) = delete;

    /// Whether there is a dataset or group of that name. Throws where a link to another name or file is in its place.
    bool has(const std::string& path);
    /// Length of a dataset's first dimension; checks that its type is T's and the other dimension `columns`.
    template <class T>
    std::int64_t row_count(const std::string& path, int columns = 1) {
        return find(path, element_of<T>(), columns).rows;
    }
    /// Rows [first, first + n) of [N] or [N, columns]; each rank names its own.
    template <class T>
    std::vector<T> rows(const std::string& path, std::int64_t first, std::int64_t n, int columns = 1) {
        const Place place = find(path, element_of<T>(), columns);
        const bool inside = first >= 0 && n >= 0 && n <= place.rows && first <= place.rows - n;
        std::vector<T> data(inside ? n * columns : 0);
        read(path, place, inside, data.data(), first * columns * static_cast<std::int64_t>(sizeof(T)),
             static_cast<std::int64_t>(data.size() * sizeof(T)));
        return data;
    }
    /// The whole of a dataset [N], on every rank.
    template <class T>
    std::vector<T> all(const std::string& path) {
        return rows<T>(path, 0, row_count<T>(path));
    }

private:
    struct Place {
        std::int64_t rows = 0, offset = 0;  ///< offset: of the first byte in the file
    };
    const Place& find(const std::string& path, Element type, int columns);
    void read(const std::string& path, const Place& place, bool inside, void* data, std::int64_t from,
              std::int64_t size);
    struct Handles;
    std::unique_ptr<Handles> handles_;
    const Communicator& comm_;
    std::string path_;
    std::map<std::string, Place> places_;  // with the type and columns that they were asked for
};

}  // namespace comm

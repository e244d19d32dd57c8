// SPDX-License-Identifier: MIT
// Distributed HDF5 files. Writing: every rank writes its own part, all calls are collective with the same arguments but for
// the data; a write error after the file was created ends the job (the others may be inside the same collective call).
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "balance/box.hpp"
#include "comm/communicator.hpp"

namespace comm {

/// A file cannot be created, opened or trusted. Thrown on all ranks alike.
struct FileError : std::runtime_error {
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

/// Cells of a 2D field that this rank owns: values row by row, y slowest.
template <class T>
struct FieldBlock {
    balance::Box box;
    std::vector<T> values;
};

class FileWriter {
public:
    /// Creates (or replaces) the file. front_bytes: room before the HDF5 part for a header of the caller's (a "user block": 0 or
    /// a power of two from 512). Throws FileError.
    FileWriter(const std::string& path, const Communicator& comm, std::int64_t front_bytes = 0);
    ~FileWriter();
    FileWriter(const FileWriter&) = delete;
    FileWriter& operator=(const FileWriter&) = delete;

    void group(const std::string& path);
    void attribute(const std::string& object, const std::string& name, const std::string& value);
    void attribute(const std::string& object, const std::string& name, const std::vector<std::string>& values);
    /// scalar: a single value rather than an array of one.
    void attribute(const std::string& object, const std::string& name, std::span<const std::int64_t> values, bool scalar = false);
    void attribute(const std::string& object, const std::string& name, std::span<const double> values);
    /// A small dataset, the same on all ranks.
    template <class T>
    void dataset(const std::string& path, std::span<const T> values) { write_small(path, element_of<T>(), values.data(), values.size()); }
    /// All ranks' rows one after the other in rank order: [N] or [N, columns]; with `frame`, a leading dimension of 1.
    template <class T>
    void rows(const std::string& path, std::span<const T> mine, int columns = 1, bool frame = false) {
        write_rows(path, {element_of<T>(), sizeof(T), columns, frame}, static_cast<std::int64_t>(mine.size()) / columns,
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
    /// A 2D field [ny, nx] from all ranks' blocks.
    template <class T>
    void field(const std::string& path, int nx, int ny, const std::vector<FieldBlock<T>>& mine) {
        write_field(path, element_of<T>(), nx, ny, static_cast<std::int64_t>(mine.size()),
                    [&](std::int64_t i) { return std::pair<balance::Box, const void*>(mine[i].box, mine[i].values.data()); });
    }
    /// Flushes and closes; the file is complete on return.
    void close();

private:
    void write_small(const std::string& path, Element type, const void* data, std::size_t size);
    void write_field(const std::string& path, Element type, int nx, int ny, std::int64_t blocks, const std::function<std::pair<balance::Box, const void*>(std::int64_t)>& block);
    struct Shape {
        Element type;
        std::size_t size;
        int columns;
        bool frame;
    };
    /// piece(first, n): n of this rank's rows, called in ascending order.
    void write_rows(const std::string& path, const Shape& shape, std::int64_t rows, const std::function<const void*(std::int64_t, std::int64_t)>& piece);
    struct Handles;
    std::unique_ptr<Handles> handles_;
    const Communicator& comm_;
    std::string path_;
};

/// Reads what FileWriter wrote. All calls are collective and throw FileError on all ranks alike.
class FileReader {
public:
    FileReader(const std::string& path, const Communicator& comm);
    ~FileReader();
    FileReader(const FileReader&) = delete;
    FileReader& operator=(const FileReader&) = delete;

    /// Whether there is a dataset of that name.
    bool has(const std::string& path);
    /// Length of a dataset's first dimension; checks that its type is T's and the other dimension `columns`.
    template <class T>
    std::int64_t row_count(const std::string& path, int columns = 1) { return count(path, element_of<T>(), columns); }
    /// Rows [first, first + n) of [N] or [N, columns]; each rank names its own.
    template <class T>
    std::vector<T> rows(const std::string& path, std::int64_t first, std::int64_t n, int columns = 1) {
        std::vector<T> data(n * columns);
        read(path, element_of<T>(), data.data(), first, n, columns);
        return data;
    }

private:
    std::int64_t count(const std::string& path, Element type, int columns);
    void read(const std::string& path, Element type, void* data, std::int64_t first, std::int64_t n, int columns);
    struct Handles;
    std::unique_ptr<Handles> handles_;
    const Communicator& comm_;
    std::string path_;
};

}  // namespace comm

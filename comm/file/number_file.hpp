// SPDX-License-Identifier: MIT
// Reads datasets of numbers from HDF5 files of other programs, on one rank. Any layout that HDF5 reads by itself will
// do. A file may be hostile. So no link is followed, nothing outside the file is read, and unwritten numbers are
// refused. Memory is taken only for a block that the file holds and the node has room for.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "comm/file/file.hpp"

namespace comm {

/// Whether a file bears the signature of HDF5, at its beginning or behind a user block of any size.
bool is_hdf5(const std::string& path);

class NumberFile {
public:
    /// Throws ReadError, as all functions here do.
    explicit NumberFile(std::string path);
    ~NumberFile();
    NumberFile(const NumberFile&) = delete;
    NumberFile& operator=(const NumberFile&) = delete;

    enum class Kind { absent, group, dataset };
    /// Kind of the object at an absolute path inside the file. Throws if part of the path is a link to another name or
    /// file.
    Kind kind(const std::string& path) const;
    /// The path that a soft link names, inside this file; `path` itself where it is no such link. Nothing is opened.
    std::string soft_target(const std::string& path) const;
    /// Names in a group, at most 1000 of them.
    std::vector<std::string> names(const std::string& group) const;
    /// Extents of a dataset of integers, floating-point numbers or enumerated ones; none for a single number.
    const std::vector<std::int64_t>& shape(const std::string& dataset);
    /// The most indices that a dataset can have along its first dimension; 0 for a single number.
    std::int64_t capacity(const std::string& dataset);
    /// Texts of an attribute of the file's root, without padding; none where it has no such attribute. Throws where the
    /// attribute is no list of 1 to 3 texts.
    std::vector<std::string> texts(const std::string& attribute) const;
    /// Throws ReadError: `PATH: what`.
    [[noreturn]] void refuse(const std::string& what) const;

    /// Whether a dataset holds integers, or enumerated ones.
    bool integers(const std::string& dataset);
    /// The one whole number that is an attribute of the object at `path`; nothing where there is no such attribute.
    std::optional<std::int64_t> whole_attribute(const std::string& path, const std::string& name) const;
    /// The same for an attribute that is a text. An attribute that is no single text gives "?".
    std::string text_attribute(const std::string& path, const std::string& name) const;
    /// How many numbers a block has; throws unless they were written and the node has room for them.
    std::int64_t numbers_in(const std::string& dataset, std::span<const std::int64_t> first,
                            std::span<const std::int64_t> count);
    /// Reads a block of a dataset into `out`, last dimension fastest. first, count: the block's first index and its
    /// extent along each dimension. out: numbers_in() elements.
    template <class T>
    void read(const std::string& dataset, std::span<const std::int64_t> first, std::span<const std::int64_t> count,
              std::span<T> out) {
        numbers_in(dataset, first, count);
        read_as(element_of<T>(), dataset, first, count, out.data());
    }
    /// Like read(), but returns the block.
    template <class T>
    std::vector<T> block(const std::string& dataset, std::span<const std::int64_t> first,
                         std::span<const std::int64_t> count) {
        std::vector<T> out(numbers_in(dataset, first, count));
        read(dataset, first, count, std::span(out));
        return out;
    }

private:
    struct Open;
    void read_as(Element type, const std::string& dataset, std::span<const std::int64_t> first,
                 std::span<const std::int64_t> count, void* out);
    std::unique_ptr<Open> open_;
    std::string path_;
};

}  // namespace comm

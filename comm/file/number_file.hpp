// SPDX-License-Identifier: MIT
// Datasets of numbers in HDF5 files of any writer, in any layout that HDF5 reads by itself, on one rank. A file may be
// hostile: no link is followed, nothing outside the file is read, and memory is bounded by what the caller asks for.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "comm/file/file.hpp"

namespace comm {

class NumberFile {
public:
    /// Throws ReadError, as all functions here do.
    explicit NumberFile(std::string path);
    ~NumberFile();
    NumberFile(const NumberFile&) = delete;
    NumberFile& operator=(const NumberFile&) = delete;

    enum class Kind { absent, group, dataset };
    /// What is at an absolute path inside the file. Throws where a part of it is a link to another name or file.
    Kind kind(const std::string& path) const;
    /// The path that a soft link names, inside this file; `path` itself where it is no such link. Nothing is opened.
    std::string soft_target(const std::string& path) const;
    /// Whether a dataset holds integers, or enumerated ones.
    bool integers(const std::string& dataset);
    /// The one whole number that is an attribute of the object at `path`; nothing where there is no such attribute.
    std::optional<std::int64_t> whole_attribute(const std::string& path, const std::string& name) const;
    /// The same of a text. An attribute that is no single text gives "?".
    std::string text_attribute(const std::string& path, const std::string& name) const;
    /// Names in a group, at most 1000 of them.
    std::vector<std::string> names(const std::string& group) const;
    /// Extents of a dataset of integers, floating-point numbers or enumerated ones; none for a single number.
    const std::vector<std::int64_t>& shape(const std::string& dataset);
    /// The block of `count` numbers along each dimension from `first` on, last dimension fastest, into `out`, which is
    /// as long as it has numbers.
    void read(const std::string& dataset, std::span<const std::int64_t> first, std::span<const std::int64_t> count,
              std::span<double> out);
    void read(const std::string& dataset, std::span<const std::int64_t> first, std::span<const std::int64_t> count,
              std::span<std::int64_t> out);

private:
    struct Open;
    void read_as(Element type, const std::string& dataset, std::span<const std::int64_t> first,
                 std::span<const std::int64_t> count, void* out);
    std::unique_ptr<Open> open_;
    std::string path_;
};

}  // namespace comm

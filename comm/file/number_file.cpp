// SPDX-License-Identifier: MIT
#include "comm/file/number_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <utility>

#include "comm/file/hdf5_handle.hpp"

namespace comm {
namespace {

constexpr const char* remedy = "use another file";
constexpr hsize_t most_chunk_bytes = hsize_t{1} << 28;  // a chunk is decoded as a whole
constexpr int most_dimensions = 4;

struct Dataset {
    Handle data;
    std::vector<std::int64_t> shape;
};

// Why the bytes of a dataset cannot be had, or are not all inside this file; empty: they can and are.
std::string why_unreadable(const Handle& data, const Handle& type, std::int64_t numbers) {
    const H5T_class_t kind = H5Tget_class(type);
    if (kind != H5T_INTEGER && kind != H5T_FLOAT && kind != H5T_ENUM) return "holds no numbers";
    const Handle plan(H5Dget_create_plist(data), H5Pclose);
    const H5D_layout_t layout = H5Pget_layout(plan);
    if (layout == H5D_VIRTUAL || H5Pget_external_count(plan) != 0) return "lies in another file";
    if (layout == H5D_CHUNKED) {
        std::array<hsize_t, most_dimensions> chunk{};
        hsize_t bytes = H5Tget_size(type);
        for (int a = 0; a < H5Pget_chunk(plan, most_dimensions, chunk.data()); ++a)
            bytes = chunk[a] > most_chunk_bytes
                        ? most_chunk_bytes + 1
                        : std::min(bytes * std::max<hsize_t>(1, chunk[a]), most_chunk_bytes + 1);
        if (bytes > most_chunk_bytes) return "is stored in chunks of over 256 MiB";
    }
    return numbers > 0 && H5Dget_storage_size(data) == 0 ? "was never written" : "";
}

}  // namespace

struct NumberFile::Open {
    Handle file;
    std::map<std::string, Dataset> datasets;
};

NumberFile::NumberFile(std::string path) : open_(std::make_unique<Open>()), path_(std::move(path)) {
    open_->file = opened(path_);
    if (!open_->file.good())
        throw ReadError(path_ + ": is damaged, or cut off: the HDF5 library cannot open it; use another file");
}

NumberFile::~NumberFile() = default;

NumberFile::Kind NumberFile::kind(const std::string& path) const {
    for (std::size_t end = path.find('/', 1);; end = path.find('/', end + 1)) {
        const std::string part = path.substr(0, end);
        if (H5Lexists(open_->file, part.c_str(), H5P_DEFAULT) <= 0) return Kind::absent;
        H5L_info_t info;
        if (H5Lget_info(open_->file, part.c_str(), &info, H5P_DEFAULT) < 0 || info.type != H5L_TYPE_HARD)
            throw ReadError(fmt::format("{}: {} is a link to another place; {}", path_, part, remedy));
        const Handle object(H5Oopen(open_->file, part.c_str(), H5P_DEFAULT), H5Oclose);
        const H5I_type_t type = object.good() ? H5Iget_type(object) : H5I_BADID;
        if (end == std::string::npos)
            return type == H5I_GROUP ? Kind::group : type == H5I_DATASET ? Kind::dataset : Kind::absent;
        if (type != H5I_GROUP) return Kind::absent;
    }
}

namespace {

// An attribute of one element; not good() where there is none. type: of what is stored.
Handle single_attribute(const Handle& file, const std::string& path, const std::string& name, Handle& type) {
    if (H5Aexists_by_name(file, path.c_str(), name.c_str(), H5P_DEFAULT) <= 0) return {};
    Handle found(H5Aopen_by_name(file, path.c_str(), name.c_str(), H5P_DEFAULT, H5P_DEFAULT), H5Aclose);
    type = Handle(H5Aget_type(found), H5Tclose);
    const Handle space(H5Aget_space(found), H5Sclose);
    constexpr std::size_t longest = 1 << 12;
    if (H5Sget_simple_extent_npoints(space) != 1 || H5Tget_size(type) > longest) type = {};
    return found;
}

}  // namespace

std::string NumberFile::soft_target(const std::string& path) const {
    H5L_info_t info;
    constexpr std::size_t longest = 1 << 12;
    if (H5Lexists(open_->file, path.c_str(), H5P_DEFAULT) <= 0 ||
        H5Lget_info(open_->file, path.c_str(), &info, H5P_DEFAULT) < 0 || info.type != H5L_TYPE_SOFT ||
        info.u.val_size > longest)
        return path;
    std::string target(longest + 1, '\0');
    if (H5Lget_val(open_->file, path.c_str(), target.data(), longest, H5P_DEFAULT) < 0) return path;
    target.resize(target.find('\0'));
    return target.starts_with('/') ? target : path.substr(0, path.rfind('/') + 1) + target;
}

bool NumberFile::integers(const std::string& dataset) {
    shape(dataset);
    const Handle type(H5Dget_type(open_->datasets.at(dataset).data), H5Tclose);
    return H5Tget_class(type) != H5T_FLOAT;
}

std::optional<std::int64_t> NumberFile::whole_attribute(const std::string& path, const std::string& name) const {
    Handle type;
    const Handle found = single_attribute(open_->file, path, name, type);
    if (!found.good()) return std::nullopt;
    const H5T_class_t kind = type.good() ? H5Tget_class(type) : H5T_NO_CLASS;
    constexpr double most = 1LL << 53;
    double x = 0;
    if ((kind != H5T_INTEGER && kind != H5T_FLOAT) || H5Aread(found, H5T_NATIVE_DOUBLE, &x) < 0 ||
        !(std::abs(x) <= most && x == std::floor(x)))
        throw ReadError(fmt::format("{}: the attribute {} of {} is no whole number; {}", path_, name, path, remedy));
    return static_cast<std::int64_t>(x);
}

std::string NumberFile::text_attribute(const std::string& path, const std::string& name) const {
    Handle type;
    const Handle found = single_attribute(open_->file, path, name, type);
    if (!found.good()) return "";
    std::string text = "?";
    if (!type.good() || H5Tget_class(type) != H5T_STRING) return text;
    if (H5Tis_variable_str(type) > 0) {
        char* data = nullptr;
        if (H5Aread(found, type, &data) >= 0 && data) text = data;
        H5free_memory(data);
    } else {
        std::string bytes(H5Tget_size(type) + 1, '\0');
        if (H5Aread(found, type, bytes.data()) >= 0) text = bytes.c_str();
    }
    return text.substr(0, text.find_last_not_of(' ') + 1);
}

std::vector<std::string> NumberFile::names(const std::string& group) const {
    std::vector<std::string> found;
    const Handle g(H5Gopen2(open_->file, group.c_str(), H5P_DEFAULT), H5Gclose);
    H5G_info_t info{};
    if (!g.good() || H5Gget_info(g, &info) < 0) return found;
    constexpr hsize_t most = 1000;
    for (hsize_t i = 0; i < std::min(info.nlinks, most); ++i) {
        std::array<char, 256> name{};
        if (H5Lget_name_by_idx(g, ".", H5_INDEX_NAME, H5_ITER_INC, i, name.data(), name.size(), H5P_DEFAULT) > 0)
            found.emplace_back(name.data());
    }
    return found;
}

const std::vector<std::int64_t>& NumberFile::shape(const std::string& dataset) {
    if (const auto known = open_->datasets.find(dataset); known != open_->datasets.end()) return known->second.shape;
    const auto refuse = [&](const std::string& what) {
        throw ReadError(fmt::format("{}: {} {}; {}", path_, dataset, what, remedy));
    };
    if (kind(dataset) != Kind::dataset) refuse("is no dataset");
    Dataset d{Handle(H5Dopen2(open_->file, dataset.c_str(), H5P_DEFAULT), H5Dclose), {}};
    if (!d.data.good()) refuse("cannot be opened");
    const Handle type(H5Dget_type(d.data), H5Tclose), space(H5Dget_space(d.data), H5Sclose);
    const int dimensions = H5Sget_simple_extent_ndims(space);
    if (dimensions < 0 || dimensions > most_dimensions) refuse("has an unknown number of dimensions");
    std::array<hsize_t, most_dimensions> extent{};
    H5Sget_simple_extent_dims(space, extent.data(), nullptr);
    constexpr std::int64_t most = std::int64_t{1} << 60;
    std::int64_t numbers = 1;
    for (int a = 0; a < dimensions; ++a) {
        if (extent[a] > static_cast<hsize_t>(most / std::max<std::int64_t>(1, numbers)))
            refuse("says that it holds over 2^60 numbers");
        d.shape.push_back(static_cast<std::int64_t>(extent[a]));
        numbers *= d.shape.back();
    }
    if (const std::string why = why_unreadable(d.data, type, numbers); !why.empty()) refuse(why);
    return open_->datasets.emplace(dataset, std::move(d)).first->second.shape;
}

void NumberFile::read(const std::string& dataset, std::span<const std::int64_t> first,
                      std::span<const std::int64_t> count, std::span<double> out) {
    read_as(Element::float64, dataset, first, count, out.data());
}

void NumberFile::read(const std::string& dataset, std::span<const std::int64_t> first,
                      std::span<const std::int64_t> count, std::span<std::int64_t> out) {
    read_as(Element::int64, dataset, first, count, out.data());
}

void NumberFile::read_as(Element type, const std::string& dataset, std::span<const std::int64_t> first,
                         std::span<const std::int64_t> count, void* out) {
    const std::vector<std::int64_t>& extent = shape(dataset);
    bool good = first.size() == extent.size() && count.size() == extent.size();
    std::vector<hsize_t> from, number;
    for (std::size_t a = 0; good && a < extent.size(); ++a) {
        good = first[a] >= 0 && count[a] >= 0 && first[a] <= extent[a] - count[a];
        from.push_back(static_cast<hsize_t>(first[a]));
        number.push_back(static_cast<hsize_t>(count[a]));
    }
    const Handle& data = open_->datasets.at(dataset).data;
    const Handle in_file(H5Dget_space(data), H5Sclose);
    const Handle here(number.empty() ? H5Screate(H5S_SCALAR)
                                     : H5Screate_simple(static_cast<int>(number.size()), number.data(), nullptr),
                      H5Sclose);
    if (good && !number.empty())
        good = H5Sselect_hyperslab(in_file, H5S_SELECT_SET, from.data(), nullptr, number.data(), nullptr) >= 0;
    if (good && H5Dread(data, native(type), here, in_file, H5P_DEFAULT, out) >= 0) return;
    const Handle plan(H5Dget_create_plist(data), H5Pclose);
    for (int i = 0; i < H5Pget_nfilters(plan); ++i) {
        unsigned flags = 0;
        std::size_t values = 0;
        const H5Z_filter_t filter = H5Pget_filter2(plan, i, &flags, &values, nullptr, 0, nullptr, nullptr);
        if (filter >= 0 && H5Zfilter_avail(filter) <= 0)
            throw ReadError(fmt::format("{}: {} is compressed by the filter {}, which this HDF5 library lacks; {}",
                                        path_, dataset, filter == 32000 ? "lzf" : fmt::format("number {}", filter),
                                        "compress it by gzip, or not"));
    }
    throw ReadError(fmt::format("{}: {} cannot be read: it is damaged or cut off; {}", path_, dataset, remedy));
}

}  // namespace comm

// SPDX-License-Identifier: MIT
#include "comm/file/number_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <map>
#include <string_view>
#include <utility>

#include "comm/file/durable.hpp"
#include "comm/file/hdf5_handle.hpp"
#include "comm/file/posix_file.hpp"

namespace comm {
namespace {

constexpr const char* remedy = "use another file";
constexpr hsize_t most_chunk_bytes = hsize_t{1} << 28;  // a chunk that has filters is decoded as a whole
constexpr int most_dimensions = 4;

struct Dataset {
    Handle data;
    std::vector<std::int64_t> shape, chunk;  // chunk: empty where the numbers lie in one piece
};

// The filter by which a dataset is compressed and that this HDF5 lacks.
std::string missing_filter(const Handle& plan) {
    for (int i = 0; i < H5Pget_nfilters(plan); ++i) {
        unsigned flags = 0, config = 0;
        std::size_t values = 0;
        const H5Z_filter_t filter =
            H5Pget_filter2(plan, static_cast<unsigned>(i), &flags, &values, nullptr, 0, nullptr, &config);
        if (filter < 0 || H5Zfilter_avail(filter) > 0) continue;
        static const std::map<int, const char*> names{{4, "szip"},      {307, "bzip2"}, {32000, "lzf"},
                                                      {32001, "blosc"}, {32004, "lz4"}, {32015, "zstd"}};
        const auto name = names.find(filter);
        return name == names.end() ? fmt::format("number {}", filter) : name->second;
    }
    return "";
}

// Why a dataset cannot be read by chunks. How much is stored is not asked: HDF5 would go through all chunks that there
// is room for.
std::string why_not_in_chunks(Dataset& d, const Handle& plan, hsize_t bytes) {
    const Handle space(H5Dget_space(d.data), H5Sclose);
    std::array<hsize_t, most_dimensions> chunk{}, room{};
    const int dimensions = H5Pget_chunk(plan, most_dimensions, chunk.data());
    if (dimensions != std::ssize(d.shape) || H5Sget_simple_extent_dims(space, nullptr, room.data()) != dimensions)
        return "is stored in chunks that do not fit it";
    const hsize_t most = H5Pget_nfilters(plan) > 0 ? most_chunk_bytes : hsize_t{1} << 32;
    constexpr double most_chunks = 0x1p40;  // an index of more takes memory
    double chunks = 1;
    for (int a = 0; a < dimensions; ++a) {
        const hsize_t side = std::max<hsize_t>(1, chunk[a]);
        if (side > most / std::max<hsize_t>(1, bytes))
            return fmt::format("is stored in chunks of over {} MiB", most >> 20);
        bytes *= side;
        d.chunk.push_back(static_cast<std::int64_t>(side));
        if (room[a] != H5S_UNLIMITED) chunks *= std::ceil(static_cast<double>(room[a]) / static_cast<double>(side));
    }
    return chunks > most_chunks ? "has room for over 2^40 chunks" : "";
}

// Why the bytes of a dataset cannot be had, or are not all inside this file; empty: they can and are.
std::string why_unreadable(Dataset& d, const Handle& type, std::int64_t numbers, hsize_t file_bytes) {
    const H5T_class_t kind = H5Tget_class(type);
    if (kind != H5T_INTEGER && kind != H5T_FLOAT && kind != H5T_ENUM) return "holds no numbers";
    const Handle plan(H5Dget_create_plist(d.data), H5Pclose);
    const H5D_layout_t layout = H5Pget_layout(plan);
    if (layout == H5D_VIRTUAL || H5Pget_external_count(plan) != 0) return "lies in another file";
    if (const std::string filter = missing_filter(plan); !filter.empty())
        return fmt::format("is compressed by the filter {}, which this HDF5 library lacks; compress it by gzip, or not",
                           filter);
    if (layout == H5D_CHUNKED) return why_not_in_chunks(d, plan, H5Tget_size(type));
    const hsize_t stored_bytes = H5Dget_storage_size(d.data);
    if (layout == H5D_CONTIGUOUS && stored_bytes > file_bytes)
        return "is larger than its file, which is damaged or cut off";
    return numbers > 0 && stored_bytes == 0 ? "was never written" : "";
}

// Whether every chunk that a block meets was written, and is no larger than the file.
bool is_written(const Dataset& d, std::span<const std::int64_t> first, std::span<const std::int64_t> count,
                hsize_t file_bytes) {
    if (d.chunk.empty() || std::find(count.begin(), count.end(), 0) != count.end()) return true;
    std::vector<hsize_t> begin, at, end;
    for (std::size_t a = 0; a < d.chunk.size(); ++a) {
        begin.push_back(static_cast<hsize_t>(first[a] / d.chunk[a] * d.chunk[a]));
        end.push_back(static_cast<hsize_t>(first[a] + count[a]));
    }
    at = begin;
    while (true) {
        haddr_t address = HADDR_UNDEF;
        hsize_t bytes = 0;
        if (H5Dget_chunk_info_by_coord(d.data, at.data(), nullptr, &address, &bytes) < 0 || address == HADDR_UNDEF ||
            bytes > file_bytes)
            return false;
        std::size_t a = at.size();
        while (a > 0 && (at[a - 1] += d.chunk[a - 1]) >= end[a - 1]) --a, at[a] = begin[a];
        if (a == 0) return true;
    }
}

// The texts of an attribute; none where it is no list of 1 to 3 texts.
std::vector<std::string> texts_of(const Handle& file, const std::string& attribute) {
    const Handle a(H5Aopen(file, attribute.c_str(), H5P_DEFAULT), H5Aclose);
    if (!a.good()) return {};
    const Handle type(H5Aget_type(a), H5Tclose), space(H5Aget_space(a), H5Sclose);
    const hssize_t n = H5Sget_simple_extent_npoints(space);
    constexpr std::size_t longest = 1000;
    if (H5Tget_class(type) != H5T_STRING || n < 1 || n > 3) return {};
    std::vector<std::string> found;
    if (H5Tis_variable_str(type) > 0) {
        std::array<char*, 3> each{};
        if (H5Aread(a, type, each.data()) < 0) return {};
        for (hssize_t i = 0; i < n; ++i) found.emplace_back(each[i] ? each[i] : "");
        H5Dvlen_reclaim(type, space, H5P_DEFAULT, each.data());
    } else {
        const std::size_t width = H5Tget_size(type);
        std::string letters(width <= longest ? width * n : 0, '\0');
        if (letters.empty() || H5Aread(a, type, letters.data()) < 0) return {};
        for (hssize_t i = 0; i < n; ++i) found.push_back(letters.substr(i * width, width));
    }
    for (std::string& text : found) {
        text.resize(std::min(text.find('\0'), text.size()));
        while (text.ends_with(' ')) text.pop_back();  // as Fortran pads it
        std::replace(text.begin(), text.end(), '\n', ' ');
    }
    return found;
}

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

bool is_hdf5(const std::string& path) {
    constexpr std::string_view signature = "\x89HDF\r\n\x1a\n";
    const std::int64_t size = file_size(path);
    const Descriptor file(size < 0 ? "" : path, O_RDONLY | O_NONBLOCK);
    std::string bytes(signature.size(), '\0');
    for (std::int64_t at = 0; at + std::ssize(signature) <= size; at = std::max<std::int64_t>(512, 2 * at))
        if (read_at(file, bytes.data(), std::ssize(bytes), at) && bytes == signature) return true;
    return false;
}

struct NumberFile::Open {
    Handle file;
    hsize_t bytes = 0;
    std::map<std::string, Dataset> datasets;
};

NumberFile::NumberFile(std::string path) : open_(std::make_unique<Open>()), path_(std::move(path)) {
    if (!is_hdf5(path_)) {
        const std::string front = read_front(path_, 8), packing = packing_of(front);
        if (!packing.empty()) refuse(packing);
        if (front.starts_with("\x93NUMPY"))
            refuse("is an array of numpy; write it to an HDF5 file by h5py: file[\"load\"] = array");
        if (std::error_code none; std::filesystem::is_directory(path_, none))
            refuse("is a directory; give an HDF5 file in it, such as loads.h5");
        refuse("is not a readable HDF5 file; give the path of one");
    }
    open_->file = opened(path_);
    open_->bytes = static_cast<hsize_t>(file_size(path_));
    if (!open_->file.good()) refuse("is damaged, or cut off: the HDF5 library cannot open it; use another file");
}

NumberFile::~NumberFile() = default;

void NumberFile::refuse(const std::string& what) const { throw ReadError(path_ + ": " + what); }

NumberFile::Kind NumberFile::kind(const std::string& path) const {
    const NamedObject found = object_at(open_->file, path);
    if (!found.link.empty()) refuse(fmt::format("{} is a link to another place; {}", found.link, remedy));
    const Handle object(found.there ? H5Oopen(open_->file, path.c_str(), H5P_DEFAULT) : -1, H5Oclose);
    const H5I_type_t type = object.good() ? H5Iget_type(object) : H5I_BADID;
    return type == H5I_GROUP ? Kind::group : type == H5I_DATASET ? Kind::dataset : Kind::absent;
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
    const auto refuse_it = [&](const std::string& what) {
        const bool helps = what.find(';') != std::string::npos;
        refuse(fmt::format("{} {}{}{}", dataset, what, helps ? "" : "; ", helps ? "" : remedy));
    };
    if (kind(dataset) != Kind::dataset) refuse_it("is no dataset");
    Dataset d{Handle(H5Dopen2(open_->file, dataset.c_str(), H5P_DEFAULT), H5Dclose), {}, {}};
    if (!d.data.good()) refuse_it("cannot be opened");
    const Handle type(H5Dget_type(d.data), H5Tclose), space(H5Dget_space(d.data), H5Sclose);
    const int dimensions = H5Sget_simple_extent_ndims(space);
    if (dimensions < 0 || dimensions > most_dimensions) refuse_it("has an unknown number of dimensions");
    std::array<hsize_t, most_dimensions> extent{};
    H5Sget_simple_extent_dims(space, extent.data(), nullptr);
    constexpr std::int64_t most = std::int64_t{1} << 60;
    std::int64_t numbers = 1;
    for (int a = 0; a < dimensions; ++a) {
        if (extent[a] > static_cast<hsize_t>(most / std::max<std::int64_t>(1, numbers)))
            refuse_it("says that it holds over 2^60 numbers");
        d.shape.push_back(static_cast<std::int64_t>(extent[a]));
        numbers *= d.shape.back();
    }
    if (const std::string why = why_unreadable(d, type, numbers, open_->bytes); !why.empty()) refuse_it(why);
    return open_->datasets.emplace(dataset, std::move(d)).first->second.shape;
}

std::int64_t NumberFile::capacity(const std::string& dataset) {
    if (shape(dataset).empty()) return 0;
    const Handle space(H5Dget_space(open_->datasets.at(dataset).data), H5Sclose);
    std::array<hsize_t, most_dimensions> most{};
    H5Sget_simple_extent_dims(space, nullptr, most.data());
    return static_cast<std::int64_t>(most[0]);
}

std::vector<std::string> NumberFile::texts(const std::string& attribute) const {
    if (H5Aexists(open_->file, attribute.c_str()) <= 0) return {};
    std::vector<std::string> found = texts_of(open_->file, attribute);
    if (found.empty()) refuse(fmt::format("its attribute {} is no list of 1 to 3 texts; mend it", attribute));
    return found;
}

std::int64_t NumberFile::numbers_in(const std::string& dataset, std::span<const std::int64_t> first,
                                    std::span<const std::int64_t> count) {
    const std::vector<std::int64_t>& extent = shape(dataset);
    bool good = first.size() == extent.size() && count.size() == extent.size();
    std::int64_t numbers = 1;
    for (std::size_t a = 0; good && a < extent.size(); ++a) {
        good = first[a] >= 0 && count[a] >= 0 && first[a] <= extent[a] - count[a];
        numbers *= count[a];
    }
    if (!good) refuse(fmt::format("{} holds no such block; {}", dataset, remedy));
    if (!is_written(open_->datasets.at(dataset), first, count, open_->bytes))
        refuse(fmt::format("{} was never written in whole, or is damaged; {}", dataset, remedy));
    if (const std::string lack = lack_of_memory(8.0 * static_cast<double>(numbers)); !lack.empty())
        refuse(fmt::format("{} {}; {}", dataset, lack, remedy));
    return numbers;
}

void NumberFile::read_as(Element type, const std::string& dataset, std::span<const std::int64_t> first,
                         std::span<const std::int64_t> count, void* out) {
    const std::vector<hsize_t> from(first.begin(), first.end()), number(count.begin(), count.end());
    const Handle& data = open_->datasets.at(dataset).data;
    const Handle in_file(H5Dget_space(data), H5Sclose);
    const Handle here(number.empty() ? H5Screate(H5S_SCALAR)
                                     : H5Screate_simple(static_cast<int>(number.size()), number.data(), nullptr),
                      H5Sclose);
    bool good = true;
    if (!number.empty())
        good = H5Sselect_hyperslab(in_file, H5S_SELECT_SET, from.data(), nullptr, number.data(), nullptr) >= 0;
    if (!good || H5Dread(data, native(type), here, in_file, H5P_DEFAULT, out) < 0)
        refuse(fmt::format("{} cannot be read: it is damaged or cut off; {}", dataset, remedy));
}

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

}  // namespace comm

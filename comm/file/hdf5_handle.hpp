// SPDX-License-Identifier: MIT
// Closing HDF5 identifiers. For comm/*.cpp only: includes hdf5.h (and with it mpi.h).
#pragma once
#include <hdf5.h>

#include <array>
#include <string>
#include <utility>

#include "comm/file/durable.hpp"
#include "comm/file/file.hpp"

namespace comm {

/// Owns one identifier and closes it with the function its kind needs.
class Handle {
public:
    Handle() = default;
    Handle(hid_t id, herr_t (*close)(hid_t)) : id_(id), close_(close) {}
    Handle(Handle&& other) noexcept : id_(std::exchange(other.id_, -1)), close_(other.close_) {}
    Handle& operator=(Handle&& other) noexcept {
        std::swap(id_, other.id_);
        std::swap(close_, other.close_);
        return *this;
    }
    ~Handle() { reset(); }
    bool reset() {
        const herr_t status = id_ >= 0 ? close_(std::exchange(id_, -1)) : 0;
        return status >= 0;
    }
    operator hid_t() const { return id_; }
    bool good() const { return id_ >= 0; }

private:
    hid_t id_ = -1;
    herr_t (*close_)(hid_t) = nullptr;
};

/// Call it before all other calls of HDF5. The library then prints no messages, loads no code that a file names, and
/// does nothing at exit, so a failed rank can leave at once.
inline void prepare_hdf5() {
    H5dont_atexit();
    H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
    H5PLset_loading_state(0);
}

/// Opens a file for reading. The result is not good() if there is no such file, or if HDF5 cannot read it.
inline Handle opened(const std::string& path) {
    prepare_hdf5();
    const Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
    H5Pset_file_locking(access, false, true);  // some file systems have no locks
    return file_size(path) > 0 ? Handle(H5Fopen(path.c_str(), H5F_ACC_RDONLY, access), H5Fclose) : Handle();
}

/// What bears an absolute path inside a file. Every group on the way has to be there before HDF5 may be asked for the
/// next. A link to another place ends the way: `link` is its path.
struct NamedObject {
    bool there = false;
    std::string link{};
};
inline NamedObject object_at(const Handle& file, const std::string& path) {
    for (std::size_t end = path.find('/', 1);; end = path.find('/', end + 1)) {
        const std::string part = path.substr(0, end);
        H5L_info_t info;
        if (H5Lexists(file, part.c_str(), H5P_DEFAULT) <= 0) return {};
        if (H5Lget_info(file, part.c_str(), &info, H5P_DEFAULT) < 0 || info.type != H5L_TYPE_HARD) return {false, part};
        if (end == std::string::npos) return {true};
    }
}

// In the order of Element.
inline hid_t native(Element e) {
    return std::array{H5T_NATIVE_DOUBLE, H5T_NATIVE_INT64, H5T_NATIVE_UINT64, H5T_NATIVE_INT32,
                      H5T_NATIVE_UINT8}[static_cast<std::size_t>(e)];
}
/// On disk: little-endian whatever the machine.
inline hid_t stored(Element e) {
    return std::array{H5T_IEEE_F64LE, H5T_STD_I64LE, H5T_STD_U64LE, H5T_STD_I32LE,
                      H5T_STD_U8LE}[static_cast<std::size_t>(e)];
}

}  // namespace comm

// SPDX-License-Identifier: MIT
#include "comm/durable.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>
#include <xxhash.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <vector>

namespace comm {
namespace {

class Descriptor {
public:
    Descriptor(const std::string& path, int flags) : fd_(open(path.c_str(), flags | O_CLOEXEC)) {}
    ~Descriptor() { if (fd_ >= 0) close(fd_); }
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    operator int() const { return fd_; }

private:
    int fd_;
};

bool read_all(int fd, char* data, std::int64_t size, std::int64_t at) {
    while (size > 0) {
        const ssize_t n = pread(fd, data, size, at);
        if (n <= 0) return false;
        data += n, at += n, size -= n;
    }
    return true;
}

constexpr std::int64_t block_bytes = 4 << 20;

}  // namespace

std::uint64_t file_digest(const std::string& path, std::int64_t from, std::int64_t size, const Communicator& comm) {
    const Descriptor file(path, O_RDONLY);
    bool good = file >= 0;
    std::uint64_t mine = 0;
    std::vector<char> block(std::min(block_bytes, std::max<std::int64_t>(0, size - from)));
    const std::int64_t blocks = (std::max<std::int64_t>(0, size - from) + block_bytes - 1) / block_bytes;
    for (std::int64_t b = comm.rank(); good && b < blocks; b += comm.size()) {
        const std::int64_t at = from + b * block_bytes, n = std::min(block_bytes, size - at);
        good = read_all(file, block.data(), n, at);
        mine += XXH3_64bits_withSeed(block.data(), n, static_cast<std::uint64_t>(b) + 1);  // the seed ties a block to its place
    }
    std::array<Int128, 1> sum{static_cast<Int128>(mine)};
    comm.sum(sum);
    return comm.all_agree(good) ? static_cast<std::uint64_t>(sum[0]) : 0;
}

std::uint64_t text_digest(const std::string& text) { return XXH3_64bits(text.data(), text.size()); }

std::int64_t file_size(const std::string& path) {
    struct stat s {};
    return stat(path.c_str(), &s) == 0 && S_ISREG(s.st_mode) ? s.st_size : -1;
}

std::string read_front(const std::string& path, std::size_t size) {
    const Descriptor file(path, O_RDONLY);
    std::string text(size, '\0');
    const ssize_t n = file >= 0 ? pread(file, text.data(), size, 0) : 0;
    text.resize(std::max<ssize_t>(0, n));
    return text;
}

bool write_front(const std::string& path, const std::string& text) {
    const Descriptor file(path, O_WRONLY);
    return file >= 0 && pwrite(file, text.data(), text.size(), 0) == static_cast<ssize_t>(text.size());
}

std::string lack_of_space(const std::string& directory, std::int64_t bytes) {
    struct statvfs disk {};
    if (statvfs(directory.c_str(), &disk) == 0) {
        const auto left = static_cast<double>(disk.f_bavail) * static_cast<double>(disk.f_frsize);
        if (left < static_cast<double>(bytes)) return fmt::format("needs {:.1f} MB, the disk has {:.1f} MB left", bytes * 1e-6, left * 1e-6);
    }
    rlimit limit{};
    if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY && limit.rlim_cur < static_cast<rlim_t>(bytes))
        return fmt::format("needs {:.1f} MB, files are limited to {:.1f} MB", bytes * 1e-6, static_cast<double>(limit.rlim_cur) * 1e-6);
    return {};
}

bool sync_and_rename(const std::string& from, const std::string& to) {
    {
        const Descriptor file(from, O_RDWR);
        if (file < 0 || fsync(file) != 0) return false;
    }
    if (std::rename(from.c_str(), to.c_str()) != 0) return false;
    const std::string directory = std::filesystem::path(to).parent_path().string();
    const Descriptor folder(directory.empty() ? "." : directory, O_RDONLY | O_DIRECTORY);
    return folder >= 0 && fsync(folder) == 0;
}

}  // namespace comm

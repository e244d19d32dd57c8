// SPDX-License-Identifier: MIT
// A file that has its name is whole and on the disk: what is written goes under another name first.
#include "comm/file/durable.hpp"

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
#include <utility>
#include <vector>

#include "comm/file/posix_file.hpp"
#include "comm/machine/topology.hpp"

namespace comm {
namespace {

constexpr std::int64_t block_bytes = 4 << 20;

}  // namespace

std::uint64_t file_digest(const std::string& path, std::int64_t from, std::int64_t size, const Communicator& comm) {
    const Descriptor file(path, O_RDONLY | O_NONBLOCK);
    bool good = file >= 0;
    std::uint64_t mine = 0;
    std::vector<char> block(std::min(block_bytes, std::max<std::int64_t>(0, size - from)));
    const std::int64_t blocks = (std::max<std::int64_t>(0, size - from) + block_bytes - 1) / block_bytes;
    for (std::int64_t b = comm.rank(); good && b < blocks; b += comm.size()) {
        const std::int64_t at = from + b * block_bytes, n = std::min(block_bytes, size - at);
        good = read_at(file, block.data(), n, at);
        mine += XXH3_64bits_withSeed(block.data(), n,
                                     static_cast<std::uint64_t>(b) + 1);  // the seed ties a block to its place
    }
    const Int128 sum = comm.wide_sum_of(static_cast<Int128>(mine));
    return comm.all_agree(good) ? static_cast<std::uint64_t>(sum) : 0;
}

std::uint64_t text_digest(const std::string& text) { return XXH3_64bits(text.data(), text.size()); }

std::int64_t file_size(const std::string& path) {
    struct stat s {};
    return stat(path.c_str(), &s) == 0 && S_ISREG(s.st_mode) ? s.st_size : -1;
}

std::string read_front(const std::string& path, std::size_t size) {
    if (file_size(path) < 0) return {};                  // a pipe would be waited for
    const Descriptor file(path, O_RDONLY | O_NONBLOCK);  // also one that has taken its place since
    std::string text(size, '\0');
    const ssize_t n = file.good() ? pread(file, text.data(), size, 0) : 0;
    text.resize(std::max<ssize_t>(0, n));
    return text;
}

bool write_front(const std::string& path, const std::string& text) {
    const Descriptor file(path, O_WRONLY | O_NOFOLLOW);
    return file.good() && write_at(file, text.data(), std::ssize(text), 0);
}

std::string lack_of_space(const std::string& directory, std::int64_t bytes) {
    const double megabytes = static_cast<double>(bytes) * 1e-6;
    struct statvfs disk {};
    if (statvfs(directory.c_str(), &disk) == 0) {
        const auto left = static_cast<double>(disk.f_bavail) * static_cast<double>(disk.f_frsize);
        if (left < static_cast<double>(bytes))
            return fmt::format("needs {:.1f} MB, the disk has {:.1f} MB left", megabytes, left * 1e-6);
    }
    rlimit limit{};
    if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY &&
        limit.rlim_cur < static_cast<rlim_t>(bytes))
        return fmt::format("needs {:.1f} MB, files are limited to {:.1f} MB", megabytes,
                           static_cast<double>(limit.rlim_cur) * 1e-6);
    return {};
}

std::string lack_of_memory(double bytes) {
    const double there = memory_bytes();
    return bytes <= there
               ? ""
               : fmt::format("needs about {:.1f} GB of memory, and a node has {:.1f} GB", bytes * 1e-9, there * 1e-9);
}

std::string packing_of(std::string_view front) {
    using Packing = std::pair<std::string_view, const char*>;  // signature, and how it is packed
    constexpr std::array<Packing, 7> known{{{"\x1f\x8b", "is compressed by gzip; unpack it: gunzip"},
                                            {"\3757zXZ", "is compressed by xz; unpack it: unxz"},
                                            {"\x28\xb5\x2f\xfd", "is compressed by zstd; unpack it: unzstd"},
                                            {"BZh", "is compressed by bzip2; unpack it: bunzip2"},
                                            {"\x04\x22\x4d\x18", "is compressed by lz4; unpack it: unlz4"},
                                            {"\x1f\x9d", "is compressed by compress; unpack it: uncompress"},
                                            {"PK\x03\x04", "is a zip archive; unpack it: unzip"}}};
    const auto packing =
        std::find_if(known.begin(), known.end(), [&](const Packing& p) { return front.starts_with(p.first); });
    return packing == known.end() ? "" : packing->second;
}

bool flush(const std::string& path, const Communicator& comm) {
    bool good = true;
    if (comm.node_rank() == 0) {  // each node holds what its ranks wrote
        const Descriptor file(path, O_RDWR | O_NOFOLLOW);
        good = file.good() && fsync(file) == 0;
    }
    return comm.all_agree(good);
}

bool publish(const std::string& path, bool durable, const Communicator& comm) {
    const std::string from = unfinished(path);
    bool good = !durable || flush(from, comm);
    if (good && comm.rank() == 0) {
        good = std::rename(from.c_str(), path.c_str()) == 0;
        if (good && durable) good = sync_directory_of(path);
    }
    return comm.all_agree(good);
}

}  // namespace comm

// SPDX-License-Identifier: MIT
// Writes that fail are noticed by their return codes here, where the C++ streams would only keep a flag.
#include "comm/file/posix_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <vector>

#include "comm/file/durable.hpp"
#include "comm/file/file.hpp"

namespace comm {

Descriptor::Descriptor(const std::string& path, int flags, int from)
    : fd_(openat(from, path.c_str(), flags | O_CLOEXEC, 0666)) {}

bool Descriptor::close() { return fd_ < 0 || ::close(std::exchange(fd_, -1)) == 0; }

namespace {

// call: pread or pwrite, until all bytes are done.
template <class Call, class Bytes>
bool all_at(Call call, int fd, Bytes* next, std::int64_t size, std::int64_t at) {
    while (size > 0) {
        const ssize_t n = call(fd, next, size, at);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return false;
        next += n, at += n, size -= n;
    }
    return true;
}

}  // namespace

bool write_at(int fd, const void* data, std::int64_t size, std::int64_t at) {
    return all_at(pwrite, fd, static_cast<const char*>(data), size, at);
}
bool read_at(int fd, void* data, std::int64_t size, std::int64_t at) {
    return all_at(pread, fd, static_cast<char*>(data), size, at);
}

Descriptor create_new(const std::string& path) {
    unlink(path.c_str());
    return Descriptor(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW);
}

bool same_file(int fd, const std::string& path, int from) {
    struct stat open {
    }, named{};
    return fstat(fd, &open) == 0 &&
           fstatat(from, path.c_str(), &named, S_ISDIR(open.st_mode) ? 0 : AT_SYMLINK_NOFOLLOW) == 0 &&
           open.st_dev == named.st_dev && open.st_ino == named.st_ino;
}

std::optional<std::string> read_whole(const std::string& path) {
    struct stat s {};
    if (lstat(path.c_str(), &s) != 0)
        return errno == ENOENT || errno == ENOTDIR ? std::optional(std::string()) : std::nullopt;
    if (!S_ISREG(s.st_mode)) return std::string();
    const Descriptor file(path, O_RDONLY | O_NONBLOCK | O_NOFOLLOW);
    if (!file.good() || fstat(file, &s) != 0) return std::nullopt;
    constexpr double copies = 3;  // that a caller makes of it
    if (const std::string lack = lack_of_memory(copies * static_cast<double>(s.st_size)); !lack.empty())
        throw ReadError(path + ": " + lack + "; move it away");
    std::string text(s.st_size, '\0');
    return read_at(file, text.data(), s.st_size, 0) ? std::optional(std::move(text)) : std::nullopt;
}

int read_input(const std::string& path, std::size_t most, std::string& text) {
    struct stat s {};
    if (stat(path.c_str(), &s) != 0) return errno;
    if (!S_ISREG(s.st_mode)) return no_regular_file;  // opening a device may have effects
    const Descriptor file(path, O_RDONLY | O_NONBLOCK);
    if (!file.good() || fstat(file, &s) != 0) return errno;
    if (!S_ISREG(s.st_mode)) return no_regular_file;  // it has taken the place of a file since
    text.resize(std::min(most, static_cast<std::size_t>(s.st_size)));
    return read_at(file, text.data(), std::ssize(text), 0) ? 0 : EIO;
}

bool replace_file(const std::string& path, const std::string& text, bool durable) {
    return TextFile().start(path, text, durable);
}

bool sync_directory_of(const std::string& path) {
    const std::string directory = std::filesystem::path(path).parent_path().string();
    const Descriptor folder(directory.empty() ? "." : directory, O_RDONLY | O_DIRECTORY);
    return folder.good() && (fsync(folder) == 0 || errno == EINVAL);  // some file systems do this by themselves
}

bool sync_file_system(const std::string& directory) {
    const Descriptor folder(directory, O_RDONLY | O_DIRECTORY);
    return folder.good() && syncfs(folder) == 0;
}

bool TextFile::start(const std::string& path, const std::string& text, bool durable) {
    const std::string fresh = unfinished(path);
    path_ = path;
    file_ = create_new(fresh);
    size_ = 0;
    return file_.good() && append(text) && (!durable || sync()) && std::rename(fresh.c_str(), path.c_str()) == 0 &&
           (!durable || sync_directory_of(path));
}

bool TextFile::sync() const { return fsync(file_) == 0; }

bool TextFile::append(const std::string& text, const std::string& end) {
    const std::string joined = end.empty() ? std::string() : text + end;
    const std::string& all = end.empty() ? text : joined;
    const auto size = std::ssize(all), from = size_ - std::ssize(end);
    if (!write_at(file_, all.data(), size, from)) return false;
    size_ = from + size;
    return true;
}

std::string damage_of(const std::string& path, int fd, std::int64_t size) {
    struct stat named {
    }, open{};
    if (lstat(path.c_str(), &named) != 0) return "was removed";
    if (!same_file(fd, path) || fstat(fd, &open) != 0) return "was replaced";
    return open.st_size == size ? "" : "was changed";
}

bool copy_file(const std::string& from, const std::string& to) {
    const Descriptor in(from, O_RDONLY | O_NOFOLLOW);
    Descriptor out = create_new(to);
    struct stat s {};
    if (!in.good() || !out.good() || fstat(in, &s) != 0 || ftruncate(out, s.st_size) != 0) return false;
    std::vector<char> buffer(1 << 20);
    for (off_t at = 0; at < s.st_size;) {
        off_t end = s.st_size;
        if (const off_t data = lseek(in, at, SEEK_DATA); data >= 0) at = data, end = lseek(in, at, SEEK_HOLE);
        else if (errno == ENXIO) break;  // nothing but a hole up to the end
        if (end < 0) return false;
        for (; at < end; at += static_cast<off_t>(buffer.size())) {
            const auto n = std::min<std::int64_t>(end - at, std::ssize(buffer));
            if (!read_at(in, buffer.data(), n, at) || !write_at(out, buffer.data(), n, at)) return false;
        }
        at = end;
    }
    return out.close();
}

}  // namespace comm

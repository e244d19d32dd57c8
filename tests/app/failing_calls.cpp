// SPDX-License-Identifier: MIT
// Loaded before a program (LD_PRELOAD), makes system calls on files fail as a file system or a disk may, and writes
// down what is brought to the disk. Each is switched on by a variable of the environment:
//   NO_LOCKS    flock() fails with this number (errno.h)
//   READ_FAILS  pread() of files whose names begin so fails with EIO
//   CALLS       a file that gets a line for each fsync(), "sync NAME", and rename(), "rename NAME"; names are the last
//               ones of the paths, before a rename
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <string>

namespace {

std::string last_name(const std::string& path) { return path.substr(path.rfind('/') + 1); }

std::string name_of(int fd) {
    std::array<char, 4096> path{};
    const std::string link = "/proc/self/fd/" + std::to_string(fd);
    const ssize_t n = readlink(link.c_str(), path.data(), path.size());
    return last_name(std::string(path.data(), n > 0 ? n : 0));
}

void note(const std::string& line) {
    const char* log = std::getenv("CALLS");
    if (!log) return;
    const int fd = open(log, O_WRONLY | O_CREAT | O_APPEND, 0666);
    [[maybe_unused]] const ssize_t written = write(fd, line.data(), line.size());
    close(fd);
}

ssize_t read_or_fail(int fd, void* data, size_t size, off_t at) {
    const char* name = std::getenv("READ_FAILS");
    if (!name || !name_of(fd).starts_with(name)) return syscall(SYS_pread64, fd, data, size, at);
    errno = EIO;
    return -1;
}

}  // namespace

extern "C" int flock(int fd, int operation) noexcept {
    const char* error = std::getenv("NO_LOCKS");
    if (!error) return static_cast<int>(syscall(SYS_flock, fd, operation));
    errno = std::atoi(error);
    return -1;
}

extern "C" ssize_t pread(int fd, void* data, size_t size, off_t at) { return read_or_fail(fd, data, size, at); }
extern "C" ssize_t pread64(int fd, void* data, size_t size, off64_t at) { return read_or_fail(fd, data, size, at); }

extern "C" int fsync(int fd) {
    note("sync " + name_of(fd) + "\n");
    return static_cast<int>(syscall(SYS_fsync, fd));
}

extern "C" int rename(const char* from, const char* to) noexcept {
    note("rename " + last_name(from) + "\n");
    return static_cast<int>(syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0));
}

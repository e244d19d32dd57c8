// SPDX-License-Identifier: MIT
// The directory's own lock is the one that counts on a local file system: no name leads to it that could be removed.
#include "comm/file/directory_lock.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <filesystem>
#include <iterator>
#include <utility>

namespace comm {
namespace {

constexpr const char* lock_name = ".steelyard.lock";  // in the directory that is open, wherever it may be moved to

enum class Lock { taken, by_another, none };

// Tries to take the lock. none: the file system has no locks, or none of this kind.
Lock lock(int fd, int kind) {
    int result = 0;
    do result = flock(fd, kind | LOCK_NB);
    while (result != 0 && errno == EINTR);
    return result == 0 ? Lock::taken : errno == EWOULDBLOCK ? Lock::by_another : Lock::none;
}

void write_owner(int fd) {
    struct stat s {};
    if (fstat(fd, &s) != 0 || s.st_nlink != 1) return;  // also some other file: nothing is written to it
    std::array<char, 128> host{"?"};
    gethostname(host.data(), host.size() - 1);
    const std::string owner = "process " + std::to_string(getpid()) + " on " + host.data();
    [[maybe_unused]] const bool written = ftruncate(fd, 0) == 0 && write_at(fd, owner.data(), std::ssize(owner), 0);
}

}  // namespace

std::string DirectoryLock::owner() const {
    std::array<char, 256> text{};
    const ssize_t n = file_.good() ? pread(file_, text.data(), text.size(), 0) : 0;
    return n > 0 ? std::string(text.data(), n) : "another process";
}

DirectoryLock::Held DirectoryLock::lock_both() {
    folder_ = Descriptor(directory_, O_RDONLY | O_DIRECTORY);
    const Lock of_folder = folder_.good() ? lock(folder_, LOCK_EX) : Lock::none;
    if (of_folder == Lock::by_another) {
        file_ = Descriptor(lock_name, O_RDONLY | O_NOFOLLOW, folder_);  // says who; it is left to its owner
        return Held::by_another;
    }
    if (!folder_.good()) folder_ = Descriptor(directory_, O_PATH | O_DIRECTORY);  // tells which directory it is
    file_ = Descriptor(lock_name, O_RDWR | O_CREAT | O_NOFOLLOW, folder_);
    if (!file_.good() && errno == ELOOP) return Held::cannot;
    if (!file_.good() && errno == EACCES) {  // of another user: a lock needs no right to write
        file_ = Descriptor(lock_name, O_RDONLY | O_NOFOLLOW, folder_);
        if (!file_.good() && errno == EACCES) return Held::cannot;
    }
    // Where there is no such file at all, what is wrong with the directory shows when a result is written.
    const Lock of_file = file_.good() ? lock(file_, LOCK_EX) : Lock::none;
    held_ = of_folder == Lock::taken || of_file == Lock::taken;
    const bool ours = !file_.good() || (of_file != Lock::by_another && same_file(file_, lock_name, folder_));
    return ours ? Held::yes : Held::by_another;
}

std::string DirectoryLock::take(const std::string& directory) {
    directory_ = directory;
    constexpr int tries = 60, pause_microseconds = 50000;
    for (int i = 0;; ++i) {
        const Held held = lock_both();
        if (held == Held::yes) break;
        std::string who =
            held == Held::cannot ? "somebody whose .steelyard.lock is a symbolic link or can't be opened" : owner();
        file_ = Descriptor(), folder_ = Descriptor();
        if (held == Held::cannot || i == tries) return who;
        usleep(pause_microseconds);
    }
    if (file_.good()) write_owner(file_);
    return {};
}

std::string DirectoryLock::lost() {
    if (!folder_.good()) return {};
    if (!same_file(folder_, directory_)) return "was removed or replaced while the run wrote to it";
    if (!file_.good() || same_file(file_, lock_name, folder_)) return {};
    Descriptor again(lock_name, O_RDWR | O_CREAT | O_NOFOLLOW, folder_);
    if (!again.good()) return {};
    // A reader lets others read. Its lock is gone in a moment, and one beside it keeps other runs out as well.
    const bool ours = lock(again, LOCK_EX) != Lock::by_another || lock(again, LOCK_SH) != Lock::by_another;
    file_ = std::move(again);
    if (!ours) return "its .steelyard.lock was removed and is now held by another run, " + owner();
    write_owner(file_);
    return {};
}

void DirectoryLock::remove_if_empty() {
    if (!folder_.good() || !file_.good() || !same_file(folder_, directory_)) return;
    std::error_code error;
    const auto entries = std::filesystem::directory_iterator(directory_, error);
    if (error || std::distance(begin(entries), end(entries)) != 1) return;
    // The name goes while the lock is held: who waits for it finds another file under that name, or none.
    if (unlinkat(folder_, lock_name, 0) == 0) rmdir(directory_.c_str());
}

}  // namespace comm

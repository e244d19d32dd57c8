// SPDX-License-Identifier: MIT
// Files of one rank, by POSIX calls. An existing name is never written through. A new file is made beside it and takes
// its name when it is whole. So no symbolic link is followed, and no half-written file bears a final name.
#pragma once
#include <fcntl.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

namespace comm {

/// Stands for the working directory where an open directory is asked for.
constexpr int working_directory = AT_FDCWD;

/// An open file; closes it at the end of its life.
class Descriptor {
public:
    Descriptor() = default;
    /// flags as for open(2); a file that is created may be read and written by everybody whom the umask allows to. A
    /// path that is relative begins at the directory that is open as `from`.
    Descriptor(const std::string& path, int flags, int from = working_directory);
    Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
    Descriptor& operator=(Descriptor&& other) noexcept {
        std::swap(fd_, other.fd_);
        return *this;
    }
    ~Descriptor() { close(); }
    /// Returns false when the file system reports a late error. Closing twice is no error.
    bool close();
    operator int() const { return fd_; }
    bool good() const { return fd_ >= 0; }

private:
    int fd_ = -1;
};

/// All `size` bytes at position `at`, or false.
bool write_at(int fd, const void* data, std::int64_t size, std::int64_t at);
bool read_at(int fd, void* data, std::int64_t size, std::int64_t at);

/// A new file, whatever bore that name before: a file or a link is removed, not followed. Open for reading and writing.
Descriptor create_new(const std::string& path);

/// The name under which a file is written before it takes its own.
inline std::string unfinished(const std::string& path) { return path + ".tmp"; }

/// Content of a regular file. Links, pipes and missing files give an empty text. An unreadable file gives no value.
/// Throws ReadError for a file that this node has no room for.
std::optional<std::string> read_whole(const std::string& path);
/// Like read_whole(), but an empty text for a file that cannot be read.
inline std::string read_text(const std::string& path) { return read_whole(path).value_or(std::string()); }

/// Reads the first `most` bytes of a regular file (links are followed), fewer where it has fewer. Never waits: a pipe
/// is not read. Returns 0, an error of the system (errno.h), or no_regular_file.
int read_input(const std::string& path, std::size_t most, std::string& text);
inline constexpr int no_regular_file = -1;

/// Gives `text` to a file in one piece. At any moment the file has its old content or this one. durable: also after a
/// power cut, because the text is on the disk before the name changes. The name is there on return. Returns success.
bool replace_file(const std::string& path, const std::string& text, bool durable = false);

/// Brings the names in the directory of this file to the disk. Returns success.
bool sync_directory_of(const std::string& path);

/// Brings all that was written to the file system of this directory to the disk. Returns success.
bool sync_file_system(const std::string& directory);

/// A copy under a new name. Parts of the file that were never written take no space in the copy either. Returns
/// success.
bool copy_file(const std::string& from, const std::string& to);

/// Whether `path` leads to the file or directory that is open as `fd`; no symbolic link as the last name is followed. A
/// path that is relative begins at the directory that is open as `from`.
bool same_file(int fd, const std::string& path, int from = working_directory);

/// Damage that another program has done to the file at `path`: "was removed", "was replaced" or "was changed". Empty if
/// it still is the file open as `fd`, of `size` bytes.
std::string damage_of(const std::string& path, int fd, std::int64_t size);

/// A text file that grows.
class TextFile {
public:
    /// Replaces the file by `text`, and stays open. durable: as for replace_file(). Returns success.
    bool start(const std::string& path, const std::string& text, bool durable = false);
    /// Adds to its end, or, so that the file has an end at any moment, before the last bytes, which have to be `end`.
    /// Returns success.
    bool append(const std::string& text, const std::string& end = {});
    /// Brings what was written to the disk. Returns success.
    bool sync() const;
    /// See damage_of().
    std::string damage() const { return damage_of(path_, file_, size_); }

private:
    std::string path_;
    Descriptor file_;
    std::int64_t size_ = 0;
};

}  // namespace comm

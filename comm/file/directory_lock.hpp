// SPDX-License-Identifier: MIT
// One process at a time owns a directory.
#pragma once
#include <string>

#include "comm/file/posix_file.hpp"

namespace comm {

/// Makes one process at a time the owner of a directory. The system releases the lock at any end of that process. Two
/// locks are held. The lock of the directory itself lasts as long as the directory. The lock of the file
/// .steelyard.lock in it is for network file systems, because they lock only files that are open for writing. A file
/// system without locks keeps nobody out.
class DirectoryLock {
public:
    /// Tries for some seconds, since a run that was just killed may not have gone yet. Returns an empty text, or who
    /// holds the lock.
    std::string take(const std::string& directory);

    /// Whether other processes are kept out: false on a file system without locks.
    bool held() const { return held_; }

    /// Whether `directory` still is the one that take() has locked: empty, or what has become of it. A lock file that
    /// was removed is made anew; a reader that looks whether it is locked (scripts/report.py) does no harm.
    std::string lost();

    /// Removes the directory that take() has locked, if it holds nothing but the lock.
    void remove_if_empty();

private:
    enum class Held { yes, by_another, cannot };
    Held lock_both();
    std::string owner() const;

    std::string directory_;
    Descriptor folder_, file_;
    bool held_ = false;
};

}  // namespace comm

// SPDX-License-Identifier: MIT
// One process at a time owns a directory.
#pragma once
#include <string>

#include "comm/file/posix_file.hpp"

namespace comm {

/// Makes one process at a time the owner of a directory; the system lets go of the lock when that process ends, however
/// it ends. Two locks are held: of the directory itself, which nobody can take away while the directory is there, and
/// of the file .steelyard.lock in it, because network file systems lock files that are open for writing only. Where the
/// file system has no locks at all, nobody is kept out.
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

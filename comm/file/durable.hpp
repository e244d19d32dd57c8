// SPDX-License-Identifier: MIT
// Files that survive: a digest of all bytes, space checked before writing, and a rename that is either done or not.
// Plain POSIX, so that a damaged file is found out before any library tries to understand it.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "comm/communicator.hpp"

namespace comm {

/// Digest of the bytes [from, size) of a file: the sum of its blocks' hashes, the blocks shared out over the ranks.
/// Collective; 0 for a file that cannot be read.
std::uint64_t file_digest(const std::string& path, std::int64_t from, std::int64_t size, const Communicator& comm);

/// Hash of a short text.
std::uint64_t text_digest(const std::string& text);

/// Size of a regular file, -1 if there is none. This rank only.
std::int64_t file_size(const std::string& path);

/// The first `size` bytes of a regular file, fewer where it has fewer. This rank only.
std::string read_front(const std::string& path, std::size_t size);

/// Overwrites the beginning of a file. This rank only. Returns success.
bool write_front(const std::string& path, const std::string& text);

/// Why a new file of `bytes` bytes can't be written into `directory`, empty if it can: space left, file-size limit.
/// This rank only.
std::string lack_of_space(const std::string& directory, std::int64_t bytes);

/// Why `bytes` bytes cannot be held on this node, empty if they can: `needs about ... GB, ...`. This rank only.
std::string lack_of_memory(double bytes);

/// How a file is packed that begins with these bytes: `is compressed by gzip; unpack it: gunzip`. Empty for a file that
/// is not packed.
std::string packing_of(std::string_view front);

/// Brings what all ranks have written to a file to the disk. Collective; returns success, the same on all ranks.
bool flush(const std::string& path, const Communicator& comm);

/// Gives the finished file unfinished(path) its name. durable: its bytes, then its name, are on the disk on return.
/// Collective; returns success, the same on all ranks.
bool publish(const std::string& path, bool durable, const Communicator& comm);

}  // namespace comm

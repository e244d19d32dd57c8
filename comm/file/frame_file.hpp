// SPDX-License-Identifier: MIT
// An HDF5 file that grows by frames and is whole at every moment. A killed run leaves a file that opens and has all
// finished frames.
//
// HDF5 itself can't do that, since it changes several places of a file for each frame. Here the places of all frames
// are fixed when the file is made. Unwritten parts take no space on the disk. Every rank writes its part of a frame
// there. Then the number of frames changes in the structure at the beginning of the file, in a single write of a few
// hundred bytes. These bytes come from HDF5: it makes a file of the same structure with that number of frames, without
// data.
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "comm/communicator.hpp"
#include "comm/file/file.hpp"
#include "comm/file/posix_file.hpp"

namespace comm {

class FrameFile {
public:
    /// Makes the groups, attributes and datasets of a file that holds `frames` (>= 1) of at most `capacity` frames.
    /// Returns the places of what is written later, the same for any number of frames.
    using Describe = std::function<std::vector<FramePlace>(FileWriter&, std::int64_t frames, std::int64_t capacity)>;

    FrameFile(std::string path, const Communicator& comm, Describe describe);

    std::int64_t frames() const { return frames_; }      ///< that a reader of the file sees
    std::int64_t capacity() const { return capacity_; }  ///< frames that the file has room for

    // All of these are collective, and throw Agreed<WriteError>.

    /// Goes on with the existing file of `frames` out of `capacity` frames. False if its structure is not that of
    /// describe().
    bool open(std::int64_t frames, std::int64_t capacity);
    /// Starts a new file; it bears its name from the first commit() on.
    void create(std::int64_t capacity);
    /// Makes room for more frames: the file is replaced by a copy.
    void grow(std::int64_t capacity);
    /// Makes what was written as frame `frames()` visible to readers.
    void commit();
    /// Leaves only the first frames (at least one).
    void keep(std::int64_t frames) {
        if (frames < frames_) show(frames);
    }
    /// Brings it to the disk.
    void flush();

    /// See damage_of(); empty before the first commit(). Rank 0 only.
    std::string damage() const { return frames_ == 0 ? "" : damage_of(path_, data_, size_); }

    /// Writes rows of this rank into a dataset (by its number in what describe() returned). Not collective; an error is
    /// told by commit().
    void write(std::size_t dataset, std::int64_t frame, std::int64_t row, const void* data, std::int64_t rows);
    /// The same of a part of one row: `bytes` bytes from byte `first` on.
    void write_part(std::size_t dataset, std::int64_t frame, std::int64_t row, std::int64_t first, const void* data,
                    std::int64_t bytes);

private:
    std::vector<FramePlace> build(const std::string& path, std::int64_t frames, std::int64_t capacity) const;
    std::int64_t structure_bytes() const;
    void show(std::int64_t frames);
    void check(bool good) const;

    std::string path_;
    const Communicator& comm_;
    Describe describe_;
    std::vector<FramePlace> places_;
    std::int64_t frames_ = 0, capacity_ = 0, size_ = 0;  // size: bytes, on rank 0
    Descriptor data_;
    bool good_ = true;
};

/// How many frames a dataset [frames, ...] of a file holds, and has room for; zeros for anything else. This rank only.
struct FrameCount {
    std::int64_t frames = 0, capacity = 0;
};
FrameCount count_frames(const std::string& path, const std::string& dataset);

/// A dataset [n] of 64-bit integers, empty for anything else. This rank only.
std::vector<std::int64_t> read_integers(const std::string& path, const std::string& dataset);

}  // namespace comm

// SPDX-License-Identifier: MIT
// The file is laid out once. The places of all frames of a run are fixed at its begin, so a frame is a few plain
// writes. A frame exists once the number of frames has changed. That number lies within one page and is written last.
#include "comm/file/frame_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "comm/agreed.hpp"
#include "comm/file/durable.hpp"
#include "comm/file/number_file.hpp"

namespace comm {
namespace {

constexpr std::int64_t structure_room = 1 << 14;  // the structure takes less than half of it
constexpr std::int64_t page = 4096;               // a kill can't come between the bytes of a write inside one page

}  // namespace

FrameFile::FrameFile(std::string path, const Communicator& comm, Describe describe)
    : path_(std::move(path)), comm_(comm), describe_(std::move(describe)) {}

void FrameFile::check(bool good) const {
    require(comm_, good, [&] { return WriteError(path_ + ": cannot write it; check space and quota on that disk"); });
}

std::vector<FramePlace> FrameFile::build(const std::string& path, std::int64_t frames, std::int64_t capacity) const {
    FileWriter file(path, comm_, 0, structure_room);
    std::vector<FramePlace> places = describe_(file, frames, capacity);
    file.close();
    return places;
}

// Everything before the first data.
std::int64_t FrameFile::structure_bytes() const {
    std::int64_t first = places_.front().offset;
    for (const FramePlace& p : places_) first = std::min(first, p.offset);
    return first;
}

bool FrameFile::open(std::int64_t frames, std::int64_t capacity) {
    if (frames < 1 || frames > capacity) return false;
    const std::string other = unfinished(path_);
    places_ = build(other, frames, capacity);
    bool same = true;
    if (comm_.rank() == 0) {
        same = file_size(path_) == file_size(other) &&
               read_front(path_, structure_bytes()) == read_front(other, structure_bytes());
        unlink(other.c_str());
    }
    if (!comm_.all_agree(same)) return false;
    data_ = Descriptor(path_, O_RDWR | O_NOFOLLOW);
    check(data_.good());
    frames_ = frames, capacity_ = capacity, size_ = file_size(path_);
    return true;
}

void FrameFile::create(std::int64_t capacity) {
    places_ = build(unfinished(path_), 1, capacity);
    data_ = Descriptor(unfinished(path_), O_RDWR | O_NOFOLLOW);
    check(data_.good());
    frames_ = 0, capacity_ = capacity, size_ = file_size(unfinished(path_)), good_ = true;
}

void FrameFile::write(std::size_t dataset, std::int64_t frame, std::int64_t row, const void* data, std::int64_t rows) {
    const FramePlace& p = places_[dataset];
    const char* next = static_cast<const char*>(data);
    while (rows > 0 && good_) {
        const std::int64_t n = std::min(rows, p.chunk_rows - row % p.chunk_rows);
        good_ = write_at(data_, next, n * p.row_bytes, p.at(frame, row));
        next += n * p.row_bytes, row += n, rows -= n;
    }
}

void FrameFile::write_part(std::size_t dataset, std::int64_t frame, std::int64_t row, std::int64_t first,
                           const void* data, std::int64_t bytes) {
    if (good_) good_ = write_at(data_, static_cast<const char*>(data), bytes, places_[dataset].at(frame, row) + first);
}

void FrameFile::commit() {
    check(good_);  // all data of the frame is there
    if (frames_ == 0) {
        check(publish(path_, false, comm_));
        frames_ = 1;
    } else {
        show(frames_ + 1);
    }
}

// Replaces the structure by that of a file with another number of frames.
void FrameFile::show(std::int64_t frames) {
    const std::string other = unfinished(path_);
    build(other, frames, capacity_);
    bool good = true;
    if (comm_.rank() == 0) {
        const std::string before = read_front(path_, structure_bytes()), after = read_front(other, structure_bytes());
        unlink(other.c_str());
        good = before.size() == after.size();
        if (good && before != after) {
            const auto first = std::mismatch(before.begin(), before.end(), after.begin()).first - before.begin();
            const auto last =
                before.rend() - std::mismatch(before.rbegin(), before.rend(), after.rbegin()).first;  // one past it
            if (first / page != (last - 1) / page)
                throw std::logic_error("the number of frames stands in more than one page of " + path_);
            good = write_at(data_, after.data() + first, last - first, first);
        }
    }
    check(good);
    frames_ = frames;
}

void FrameFile::grow(std::int64_t capacity) {
    const std::vector<FramePlace> before = places_;
    const std::string other = unfinished(path_);
    places_ = build(other, frames_, capacity);
    Descriptor fresh(other, O_RDWR | O_NOFOLLOW);
    bool good = fresh.good();
    constexpr std::int64_t most = 1 << 22;
    std::vector<char> buffer(most);
    for (std::size_t d = 0; d < places_.size() && good; ++d) {
        // Frames follow each other without a gap, in both files; each rank copies its share of all bytes.
        const std::int64_t total = (places_[d].once ? 1 : frames_) * places_[d].frame_bytes();
        std::int64_t at = total / comm_.size() * comm_.rank();
        const std::int64_t end = comm_.rank() + 1 == comm_.size() ? total : total / comm_.size() * (comm_.rank() + 1);
        for (; at < end && good; at += most) {
            const std::int64_t n = std::min(most, end - at);
            good = read_at(data_, buffer.data(), n, before[d].offset + at) &&
                   write_at(fresh, buffer.data(), n, places_[d].offset + at);
        }
    }
    check(good);
    check(publish(path_, false, comm_));
    data_ = std::move(fresh);
    capacity_ = capacity, size_ = file_size(path_);
}

void FrameFile::flush() { check(frames_ == 0 || comm::flush(path_, comm_)); }

FrameCount count_frames(const std::string& path, const std::string& dataset) {
    try {
        NumberFile file(path);
        const std::vector<std::int64_t>& shape = file.shape(dataset);
        const std::int64_t capacity = file.capacity(dataset);  // all of it lies in the file
        return shape.empty() || capacity > file_size(path) ? FrameCount() : FrameCount{shape[0], capacity};
    } catch (const ReadError&) {
        return {};
    }
}

std::vector<std::int64_t> read_integers(const std::string& path, const std::string& dataset) {
    try {
        NumberFile file(path);
        const std::vector<std::int64_t> shape = file.shape(dataset), first(shape.size(), 0);
        return shape.size() == 1 ? file.block<std::int64_t>(dataset, first, shape) : std::vector<std::int64_t>();
    } catch (const ReadError&) {
        return {};
    }
}

}  // namespace comm

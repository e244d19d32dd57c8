// SPDX-License-Identifier: MIT
// A text file line by line, in bounded memory whatever the file is, and the words and numbers of a line.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "comm/file/posix_file.hpp"

namespace app {

class TextLines {
public:
    /// Opens a regular file. Messages name the path. All functions throw InputError.
    explicit TextLines(std::string path);

    /// The next line without its end, valid until the next call; nothing at the end of the file.
    std::optional<std::string_view> next();
    /// Whether that line had no line feed: the file may be cut off in it.
    bool open_end() const { return open_end_; }
    /// Refuses the last line: `PATH:LINE: what; remedy`.
    [[noreturn]] void refuse(const std::string& what, const std::string& remedy) const;
    /// Refuses the file.
    [[noreturn]] void refuse_file(const std::string& what, const std::string& remedy) const;

    /// The place of the next line, where seek() comes back to.
    struct Place {
        std::int64_t byte = 0, line = 0;
    };
    Place place() const { return {begin_ + static_cast<std::int64_t>(at_), line_}; }
    void seek(const Place& place);
    std::int64_t size() const { return size_; }  ///< bytes of the file

private:
    bool fill();
    std::string path_, buffer_;
    comm::Descriptor file_;
    std::int64_t size_ = 0, begin_ = 0, line_ = 0;  // begin_: place of the buffer in the file
    std::size_t at_ = 0;                            // in the buffer
    bool open_end_ = false;
};

/// A note on a file whose last line is read and has no line feed.
inline constexpr const char* no_line_feed = "its last line has no line feed, so its last number may be cut off";

/// Words of a line, without what stands behind a #.
void split(std::string_view line, std::vector<std::string_view>& words);

/// The number that the whole word is; infinite ones and NaN are numbers.
std::optional<double> real_number(std::string_view word);
std::optional<std::int64_t> whole_number(std::string_view word);

}  // namespace app

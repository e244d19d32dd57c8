// SPDX-License-Identifier: MIT
#include "app/state/text_lines.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "app/common/errors.hpp"
#include "app/common/words.hpp"
#include "app/deck/wording.hpp"
#include "comm/file/durable.hpp"

namespace app {
namespace {

constexpr std::size_t buffer_bytes = 1 << 20, longest_line = 1 << 16;
constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";  // of UTF-8

std::string_view without_plus(std::string_view word) { return word.substr(word.starts_with('+') ? 1 : 0); }

}  // namespace

TextLines::TextLines(std::string path)
    : path_(std::move(path)), file_(path_, O_RDONLY | O_NONBLOCK), size_(comm::file_size(path_)) {
    if (!file_.good() || size_ < 0) refuse_file("cannot be read", "check its permissions");
}

void TextLines::refuse(const std::string& what, const std::string& remedy) const {
    constexpr std::size_t longest = 300;  // a word of the file may be long
    throw InputError("{}:{}: {}; {}", path_, line_, printable(what.substr(0, longest)), remedy);
}

void TextLines::refuse_file(const std::string& what, const std::string& remedy) const {
    throw InputError("{}: {}; {}", path_, what, remedy);
}

void TextLines::seek(const Place& place) {
    begin_ = place.byte;
    line_ = place.line;
    buffer_.clear();
    at_ = 0;
}

// Drops what was read, and reads on. False at the end of the file.
bool TextLines::fill() {
    buffer_.erase(0, at_);
    begin_ += static_cast<std::int64_t>(at_);
    at_ = 0;
    const std::size_t held = buffer_.size();
    const std::int64_t from = begin_ + static_cast<std::int64_t>(held),
                       n = std::min<std::int64_t>(buffer_bytes, size_ - from);
    if (n <= 0) return false;
    buffer_.resize(held + n);
    if (!comm::read_at(file_, &buffer_[held], n, from)) refuse_file("cannot be read to its end", "check the disk");
    return true;
}

std::optional<std::string_view> TextLines::next() {
    std::size_t end = buffer_.find('\n', at_);
    while (end == std::string::npos) {
        if (buffer_.size() - at_ > longest_line) break;
        const std::size_t held = buffer_.size() - at_;
        if (!fill()) {
            end = buffer_.size();
            break;
        }
        end = buffer_.find('\n', held);
    }
    if (end == at_ && end == buffer_.size()) return std::nullopt;
    ++line_;
    if (end == std::string::npos || end - at_ > longest_line) refuse("a line of over 65536 bytes", "give another file");
    std::string_view line(&buffer_[at_], end - at_);
    open_end_ = end == buffer_.size();
    at_ = std::min(end + 1, buffer_.size());
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line_ == 1 && line.starts_with(byte_order_mark)) line.remove_prefix(byte_order_mark.size());
    return line;
}

void split(std::string_view line, std::vector<std::string_view>& words) {
    constexpr std::string_view space = " \t\r\f\v";
    words.clear();
    line = line.substr(0, line.find('#'));
    for (std::size_t at = line.find_first_not_of(space); at != std::string_view::npos;) {
        const std::size_t end = std::min(line.find_first_of(space, at), line.size());
        words.push_back(line.substr(at, end - at));
        at = line.find_first_not_of(space, end);
    }
}

std::optional<double> real_number(std::string_view word) { return number_in<double>(without_plus(word)); }
std::optional<std::int64_t> whole_number(std::string_view word) { return number_in<std::int64_t>(without_plus(word)); }

}  // namespace app

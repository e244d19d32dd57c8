// SPDX-License-Identifier: MIT
#include "app/output/csv_rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>

namespace app {
namespace {

// Takes the next line off `text`, without what ends it.
std::string_view next_line(std::string_view& text) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    while (line.ends_with('\r')) line.remove_suffix(1);
    return line;
}

bool is_blank(std::string_view line) { return line.find_first_not_of(" \t") == std::string_view::npos; }

std::string_view without_mark(std::string_view text) {
    constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";
    if (text.starts_with(byte_order_mark)) text.remove_prefix(byte_order_mark.size());
    return text;
}

// The number at the beginning of a line; whole: a comma has to follow it.
std::optional<std::int64_t> step_of(std::string_view line, bool whole) {
    std::int64_t step = 0;
    const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), step);
    if (error != std::errc() || step < 0) return std::nullopt;
    if (whole && (end == line.data() + line.size() || *end != ',')) return std::nullopt;
    return step;
}

}  // namespace

CsvPast csv_past(std::string_view text, std::string_view head, std::int64_t end) {
    text = without_mark(text);
    std::string_view first;
    while (!text.empty() && is_blank(first)) first = next_line(text);
    if (is_blank(first)) return {{}, "is empty"};
    if (first != head) return {{}, "names other columns in its first line"};
    const auto commas = [](std::string_view line) { return std::count(line.begin(), line.end(), ','); };
    CsvPast past;
    std::int64_t before = 0;
    for (std::int64_t row = 1; !text.empty(); ++row) {
        const bool finished = text.find('\n') != std::string_view::npos;
        const std::string_view line = next_line(text);
        if (is_blank(line)) continue;
        const std::optional<std::int64_t> step = step_of(line, true);
        if (!step || commas(line) != commas(head)) {
            if (!finished) break;
            return {{}, fmt::format("has no row of its columns in line {}", row + 1)};
        }
        if (*step < before) return {{}, fmt::format("has no ascending steps from line {} on", row + 1)};
        before = *step;
        if (*step < end) past.rows.append(line).append("\n");
    }
    return past;
}

std::int64_t last_csv_step(std::string_view text) {
    text = without_mark(text);
    std::int64_t last = -1;
    while (!text.empty()) last = std::max(last, step_of(next_line(text), false).value_or(-1));
    return last;
}

}  // namespace app

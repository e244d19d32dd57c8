// SPDX-License-Identifier: MIT
#include "app/output/directory/csv_rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "app/common/words.hpp"

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

// The number at the beginning of a line; whole: a comma has to follow it, and it is as the program writes it.
std::optional<std::int64_t> step_of(std::string_view line, bool whole) {
    std::int64_t step = 0;
    const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), step);
    if (error != std::errc() || step < 0) return std::nullopt;
    if (whole && !line.starts_with(fmt::format("{},", step))) return std::nullopt;
    return step;
}

// Loads and speeds may be any number; energies and times are finite.
bool is_number(std::string_view cell, bool finite) {
    const auto value = number_in<double>(cell);
    return value && (!finite || std::isfinite(*value));
}

bool is_row(std::string_view line, std::size_t columns, const CsvRules& rules) {
    for (std::size_t column = 0; column < columns; ++column) {
        const std::size_t end = std::min(line.find(','), line.size());
        const bool last = column + 1 == columns, word = column < rules.words.size() && rules.words[column];
        if ((end == line.size()) != last) return false;
        const std::string_view cell = line.substr(0, end);
        if (word ? cell.empty() : !is_number(cell, rules.one_row_a_step)) return false;
        line.remove_prefix(last ? end : end + 1);
    }
    return true;
}

// The first multiple of `every` from `step` on; `end` where there is none before it, or `every` is 0.
std::int64_t multiple_from(std::int64_t step, std::int64_t every, std::int64_t end) {
    if (every <= 0 || step >= end) return end;
    const std::int64_t rest = step % every, way = rest == 0 ? 0 : every - rest;
    return way < end - step ? step + way : end;
}

// Compares the steps of a file's rows, in ascending order, with those at which the program has written rows.
class DueRows {
public:
    DueRows(const CsvRules& rules, std::int64_t end)
        : every_(rules.every), end_(end), next_(multiple_from(rules.begin, every_, end)) {}
    // Whether a row is due after that of `step`.
    bool after(std::int64_t step) const { return step < end_ && std::max(next_, following(step)) < end_; }
    void found(std::int64_t step) {
        pass(step);
        if (!gap_) before_ = step;
    }
    // A row of which only a part is there.
    void cut(std::int64_t step) {
        pass(step);
        if (step < end_) miss(step);
    }
    std::optional<CsvGap> gap() {
        pass(end_);
        return gap_;
    }

private:
    std::int64_t following(std::int64_t step) const { return multiple_from(step + 1, every_, end_); }
    void pass(std::int64_t step) {
        for (; next_ < std::min(step, end_); next_ = following(next_)) miss(next_);
        if (next_ == step && step < end_) next_ = following(step);
    }
    void miss(std::int64_t step) {
        if (!gap_) gap_ = CsvGap{step, step, 0, before_};
        gap_->last = step;
        ++gap_->rows;
    }

    std::int64_t every_, end_, next_, before_ = -1;
    std::optional<CsvGap> gap_;
};

}  // namespace

std::string in_words(const CsvGap& gap) {
    return (gap.rows == 1
                ? fmt::format("the row of step {}", gap.first)
                : fmt::format("{} rows, the first of step {} and the last of step {}", gap.rows, gap.first, gap.last)) +
           (gap.before >= 0 ? fmt::format(", after its row of step {}", gap.before)
            : gap.first > 0 ? ", with no row before"
                            : "");
}

CsvPast csv_past(std::string_view text, std::string_view head, std::int64_t end, const CsvRules& rules) {
    text = without_mark(text);
    std::string_view first;
    while (!text.empty() && is_blank(first)) first = next_line(text);
    if (is_blank(first)) return {{}, "is empty", {}};
    if (first != head) return {{}, "names other columns in its first line", {}};
    const auto columns = static_cast<std::size_t>(std::ranges::count(head, ',')) + 1;
    CsvPast past;
    DueRows due(rules, end);
    std::int64_t before = -1;
    for (std::int64_t row = 1; !text.empty(); ++row) {
        const bool finished = text.find('\n') != std::string_view::npos;
        const std::string_view line = next_line(text);
        if (is_blank(line)) continue;
        const std::optional<std::int64_t> step = step_of(line, true);
        const bool good = step && is_row(line, columns, rules);
        // Without a line feed the last number may have lost its end: so it has where further rows are missing.
        if (!finished && (!good || due.after(*step))) {
            if (step) due.cut(*step);
            break;
        }
        if (!good) return {{}, fmt::format("has no row of its columns in line {}", row + 1), {}};
        if (*step < before || (*step == before && rules.one_row_a_step))
            return {{}, fmt::format("has no ascending steps from line {} on", row + 1), {}};
        before = *step;
        due.found(*step);
        past.last = line;
        if (*step < end) past.rows.append(line).append("\n");
    }
    past.gap = due.gap();
    return past;
}

std::int64_t last_csv_step(std::string_view text) {
    text = without_mark(text);
    const auto commas = [](std::string_view line) { return std::ranges::count(line, ','); };
    const auto columns = commas(text.substr(0, text.find('\n')));
    std::int64_t last = -1;
    while (!text.empty()) {
        const bool finished = text.find('\n') != std::string_view::npos;
        const std::string_view line = next_line(text);
        if (finished || commas(line) >= columns) last = std::max(last, step_of(line, false).value_or(-1));
    }
    return last;
}

}  // namespace app

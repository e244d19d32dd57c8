// SPDX-License-Identifier: MIT
// The wording of what the program prints: counts with their nouns, lines that a terminal of 80 columns doesn't wrap.
#pragma once
#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace app {

/// Prints formatted text; what can't be printed is dropped. A full disk behind a log, or a reader that has gone, is no
/// reason to lose a run.
template <class... T>
void say(std::FILE* to, fmt::format_string<T...> format, T&&... values) {
    std::fputs(fmt::format(format, std::forward<T>(values)...).c_str(), to);
}

/// A number with its noun: "1 rank", "2 ranks", "0 processes".
std::string counted(std::int64_t n, std::string_view noun);

/// The parts of a text between separators, also empty ones: one part more than there are separators.
std::vector<std::string> parts_of(std::string_view text, char separator);

/// The number that a word is as a whole, as std::from_chars() reads it.
template <class T>
std::optional<T> number_in(std::string_view word) {
    T number{};
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
    return error == std::errc() && end == word.data() + word.size() ? std::optional(number) : std::nullopt;
}

/// So many along each axis: "12 x 8", in three dimensions "12 x 8 x 4".
std::string along_axes(const std::array<int, 3>& n, int dimensions);

/// Seconds in words: "12.3 s", "4:56 min", "7:08:09 h".
std::string duration(double seconds);

inline constexpr std::size_t line_width = 79;

/// One line of the parts, two spaces apart, up to the first that doesn't fit.
std::string one_line_of(const std::vector<std::string>& parts, std::size_t width = line_width);

/// The items after one another, `after` behind each but the last, broken between items into lines that begin with
/// `indent` and end with a line feed. An item wider than a line has one for itself.
std::string lines_of(const std::vector<std::string>& items, std::string_view after = ",",
                     std::string_view indent = "  ");

/// A sentence, broken between words into such lines.
std::string wrapped(std::string_view sentence, std::string_view indent = "  ");

/// Prints the items on lines, as lines_of().
inline void say_lines(const std::vector<std::string>& items, std::string_view after = ",") {
    say(stdout, "{}", lines_of(items, after));
}

/// Prints a note on the error output.
template <class... T>
void say_note(fmt::format_string<T...> format, T&&... values) {
    say(stderr, "steelyard: note: {}\n", fmt::format(format, std::forward<T>(values)...));
}

/// The text of --version; its first line is `steelyard VERSION`.
std::string version_text();

}  // namespace app

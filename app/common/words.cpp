// SPDX-License-Identifier: MIT
#include "app/common/words.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace app {

std::string counted(std::int64_t n, std::string_view noun) {
    if (n == 1) return fmt::format("1 {}", noun);
    if (noun.ends_with("y")) return fmt::format("{} {}ies", n, noun.substr(0, noun.size() - 1));  // opportunity
    const bool hissing = noun.ends_with("s") || noun.ends_with("ch");                             // process, patch
    return fmt::format("{} {}{}", n, noun, hissing ? "es" : "s");
}

std::vector<std::string> parts_of(std::string_view text, char separator) {
    std::vector<std::string> parts;
    for (std::size_t at = 0; at <= text.size();) {
        const std::size_t end = std::min(text.find(separator, at), text.size());
        parts.emplace_back(text.substr(at, end - at));
        at = end + 1;
    }
    return parts;
}

std::string duration(double seconds) {
    const auto s = static_cast<long long>(seconds + 0.5);
    return s < 60     ? fmt::format("{:.1f} s", seconds)
           : s < 3600 ? fmt::format("{}:{:02} min", s / 60, s % 60)
                      : fmt::format("{}:{:02}:{:02} h", s / 3600, s / 60 % 60, s % 60);
}

std::string one_line_of(const std::vector<std::string>& parts, std::size_t width) {
    std::string line;
    for (const std::string& part : parts) {
        const std::string longer = line.empty() ? part : line + "  " + part;
        if (longer.size() > width) break;
        line = longer;
    }
    return line;
}

std::string lines_of(const std::vector<std::string>& items, std::string_view after, std::string_view indent) {
    std::string text, line;
    for (std::size_t i = 0; i < items.size(); ++i) {
        const std::string item = items[i] + std::string(i + 1 < items.size() ? after : "");
        if (!line.empty() && line.size() + 1 + item.size() > line_width) text += line + "\n", line.clear();
        line += (line.empty() ? std::string(indent) : " ") + item;
    }
    return text + line + "\n";
}

std::string wrapped(std::string_view sentence, std::string_view indent) {
    return lines_of(parts_of(sentence, ' '), "", indent);
}

std::string along_axes(const std::array<int, 3>& n, int dimensions) {
    std::string text = std::to_string(n[0]);
    for (int a = 1; a < dimensions; ++a) text += " x " + std::to_string(n[a]);
    return text;
}

}  // namespace app

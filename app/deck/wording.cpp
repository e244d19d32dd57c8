// SPDX-License-Identifier: MIT
#include "app/deck/wording.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "app/deck/deck.hpp"

namespace app {
namespace {

// Bytes of the control character or line separator that begins at i; 0 if there is none.
std::size_t unprintable(std::string_view s, std::size_t i) {
    const auto byte = [&](std::size_t k) { return k < s.size() ? static_cast<unsigned char>(s[k]) : 0u; };
    if (byte(i) < 0x20 || byte(i) == 0x7f) return 1;
    if (byte(i) == 0xc2 && byte(i + 1) >= 0x80 && byte(i + 1) < 0xa0) return 2;  // C1, with NEL
    if (byte(i) == 0xe2 && byte(i + 1) == 0x80 && (byte(i + 2) == 0xa8 || byte(i + 2) == 0xa9))
        return 3;  // U+2028, U+2029
    return 0;
}

// Optimal string alignment distance.
std::size_t edit_distance(const std::string& a, const std::string& b) {
    std::vector<std::vector<std::size_t>> d(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
    for (std::size_t i = 0; i <= a.size(); ++i) d[i][0] = i;
    for (std::size_t j = 0; j <= b.size(); ++j) d[0][j] = j;
    for (std::size_t i = 1; i <= a.size(); ++i)
        for (std::size_t j = 1; j <= b.size(); ++j) {
            d[i][j] = std::min({d[i - 1][j] + 1, d[i][j - 1] + 1, d[i - 1][j - 1] + (a[i - 1] != b[j - 1])});
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                d[i][j] = std::min(d[i][j], d[i - 2][j - 2] + 1);
        }
    return d[a.size()][b.size()];
}

}  // namespace

void fail(std::string_view where, std::string_view what, std::string_view remedy) {
    throw DeckError("{}: {}; {}", where, what, remedy);
}

std::string printable(std::string_view text) {
    std::string out;
    for (std::size_t i = 0; i < text.size();) {
        const std::size_t bad = unprintable(text, i);
        if (bad == 0) out += text[i++];
        for (std::size_t k = 0; k < bad; ++k) out += fmt::format("\\x{:02x}", static_cast<unsigned char>(text[i++]));
    }
    return out;
}

std::string quote(std::string_view text) {
    constexpr std::size_t longest = 40;
    if (text.size() <= longest) return "'" + printable(text) + "'";
    std::size_t cut = longest;
    while (cut > longest - 4 && (static_cast<unsigned char>(text[cut]) & 0xc0) == 0x80)
        --cut;  // not inside a character
    return "'" + printable(text.substr(0, cut)) + "...'";
}

std::string in_lower_case(std::string_view word) {
    std::string lower(word);
    for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return lower;
}

std::string closest(std::string_view word, const std::vector<std::string>& candidates) {
    constexpr std::size_t longest = 64;  // no key is near a longer word
    if (word.size() > longest) return {};
    std::string best;
    std::size_t lowest = std::max<std::size_t>(1, word.size() / 3) + 1;
    for (const std::string& candidate : candidates) {
        const std::size_t distance = edit_distance(in_lower_case(word), candidate);
        if (distance < lowest && distance < candidate.size()) lowest = distance, best = candidate;
    }
    return best;
}

std::string suggestion(std::string_view word, const std::vector<std::string>& candidates) {
    const std::string best = closest(word, candidates);
    if (!best.empty()) return fmt::format("did you mean '{}'?", best);
    std::vector<std::string> once = candidates;  // a key may stand for two that exclude one another
    once.erase(std::unique(once.begin(), once.end()), once.end());
    return fmt::format("use {}{}", once.size() > 1 ? "one of " : "", fmt::join(once, ", "));
}

}  // namespace app

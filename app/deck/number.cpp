// SPDX-License-Identifier: MIT
// Numbers as people write them in YAML, among them 1e6 for a whole number. Everything else is refused, because a
// misread deck would compute something else in silence.
#include "app/deck/number.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <string>
#include <type_traits>

namespace app {
namespace {

// [sign] digits [. digits] [e exponent]: the number is digits * 10^exponent.
struct Decimal {
    NumberStatus status = NumberStatus::not_a_number;
    bool negative = false;
    std::string digits;
    long long exponent = 0;
};

constexpr long long huge_exponent = 1'000'000;  // far beyond any double, and any text of a deck

std::size_t digits_at(std::string_view s, std::size_t i) {
    std::size_t n = 0;
    while (i + n < s.size() && s[i + n] >= '0' && s[i + n] <= '9') ++n;
    return n;
}

bool is_infinity_or_nan(std::string_view s) {
    std::string word;
    for (char c : s)
        if (c != '+' && c != '-' && c != '.') word += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return word == "nan" || word == "inf" || word == "infinity";
}

Decimal parse_decimal(std::string_view s) {
    Decimal d;
    if (is_infinity_or_nan(s)) d.status = NumberStatus::not_finite;
    std::size_t i = 0;
    if (i < s.size() && (s[i] == '+' || s[i] == '-')) d.negative = s[i++] == '-';
    const std::size_t whole = digits_at(s, i);
    const bool leading_zero = whole > 1 && s[i] == '0';
    d.digits = s.substr(i, whole);
    i += whole;
    if (i < s.size() && s[i] == '.') {
        const std::size_t fraction = digits_at(s, ++i);
        d.digits += s.substr(i, fraction);
        d.exponent = -static_cast<long long>(fraction);
        i += fraction;
    }
    if (d.digits.empty()) return d;
    if (i < s.size() && (s[i] == 'e' || s[i] == 'E')) {
        ++i;
        const bool minus = i < s.size() && s[i] == '-';
        if (i < s.size() && (s[i] == '+' || s[i] == '-')) ++i;
        const std::size_t n = digits_at(s, i);
        if (n == 0) return d;
        long long e = huge_exponent;
        if (std::from_chars(s.data() + i, s.data() + i + n, e).ec != std::errc()) e = huge_exponent;
        e = std::min(e, huge_exponent);
        d.exponent += minus ? -e : e;
        i += n;
    }
    if (i == s.size()) d.status = leading_zero ? NumberStatus::leading_zero : NumberStatus::ok;
    return d;
}

template <class T>
NumberResult<T> parse_whole(std::string_view text) {
    Decimal d = parse_decimal(text);
    if (d.status != NumberStatus::ok) return {d.status, {}};
    d.digits.erase(0, std::min(d.digits.find_first_not_of('0'), d.digits.size()));
    if (d.digits.empty()) return {NumberStatus::ok, 0};
    for (; d.exponent < 0; ++d.exponent) {
        if (d.digits.empty() || d.digits.back() != '0') return {NumberStatus::fraction, {}};
        d.digits.pop_back();
    }
    constexpr long long longest = 20;  // digits of 2^64
    if (static_cast<long long>(d.digits.size()) + d.exponent > longest)
        return {d.negative && std::is_unsigned_v<T> ? NumberStatus::too_small : NumberStatus::too_large, {}};
    d.digits.append(static_cast<std::size_t>(d.exponent), '0');
    if (d.negative) {
        if (std::is_unsigned_v<T>) return {NumberStatus::too_small, {}};
        d.digits.insert(0, "-");
    }
    NumberResult<T> result{NumberStatus::ok, {}};
    if (std::from_chars(d.digits.data(), d.digits.data() + d.digits.size(), result.value).ec != std::errc())
        result.status = NumberStatus::too_large;
    return result;
}

}  // namespace

NumberResult<double> parse_number(std::string_view text) {
    const Decimal d = parse_decimal(text);
    if (d.status != NumberStatus::ok) return {d.status, {}};
    if (text.front() == '+') text.remove_prefix(1);
    NumberResult<double> result{NumberStatus::ok, {}};
    const std::from_chars_result read = std::from_chars(text.data(), text.data() + text.size(), result.value);
    if (read.ec == std::errc::result_out_of_range) {
        const std::size_t first = d.digits.find_first_not_of('0');
        const bool small =
            first == std::string::npos || static_cast<long long>(d.digits.size() - first) + d.exponent < 0;
        result.status = small ? NumberStatus::too_small : NumberStatus::too_large;
    } else if (read.ec != std::errc() || read.ptr != text.data() + text.size()) {
        result.status = NumberStatus::not_a_number;
    }
    return result;
}

NumberResult<std::int64_t> parse_signed(std::string_view text) { return parse_whole<std::int64_t>(text); }
NumberResult<std::uint64_t> parse_unsigned(std::string_view text) { return parse_whole<std::uint64_t>(text); }

}  // namespace app

// SPDX-License-Identifier: MIT
// Numbers as decks write them: decimal, exact where they are whole. YAML's octal, hexadecimal, .nan and .inf are
// refused.
#pragma once
#include <cstdint>
#include <string_view>

namespace app {

enum class NumberStatus { ok, not_a_number, leading_zero, not_finite, too_large, too_small, fraction };

template <class T>
struct NumberResult {
    NumberStatus status = NumberStatus::not_a_number;
    T value{};
};

/// The double nearest to the text. too_small: not 0, but below the smallest double.
NumberResult<double> parse_number(std::string_view text);

/// Whole numbers, also as 1e6 or 2.0, without detour through a double. too_large: beyond the type. too_small:
/// negative, for the unsigned one.
NumberResult<std::int64_t> parse_signed(std::string_view text);
NumberResult<std::uint64_t> parse_unsigned(std::string_view text);

}  // namespace app

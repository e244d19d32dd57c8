// SPDX-License-Identifier: MIT
// Numbers of decks.
#include "app/deck/number.hpp"

#include <cmath>
#include <cstdlib>
#include <string>

#include "fuzz.hpp"

void fuzz::read(std::string_view input) {
    using app::NumberStatus;
    const auto number = app::parse_number(input);
    const auto with_sign = app::parse_signed(input);
    const auto without = app::parse_unsigned(input);
    constexpr double exact = 0x1p53;
    if (number.status == NumberStatus::ok) {
        require(std::isfinite(number.value), "a number is finite");
        require(number.value == std::strtod(std::string(input).c_str(), nullptr),
                "a number is as the C library has it");
    }
    if (with_sign.status == NumberStatus::ok && number.status == NumberStatus::ok && std::abs(number.value) <= exact)
        require(static_cast<double>(with_sign.value) == number.value, "a whole number is the same as a real one");
    if (without.status == NumberStatus::ok && with_sign.status == NumberStatus::ok)
        require(without.value == static_cast<std::uint64_t>(with_sign.value), "both kinds of whole numbers agree");
    if (with_sign.status == NumberStatus::ok && with_sign.value >= 0)
        require(without.status == NumberStatus::ok, "what is not negative is a number without a sign");
}

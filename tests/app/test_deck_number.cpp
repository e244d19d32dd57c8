// SPDX-License-Identifier: MIT
// The numbers that decks accept, and those that they refuse.
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdint>

#include "app/common/words.hpp"
#include "app/deck/number.hpp"

TEST_CASE("whole numbers are read exactly") {
    using app::NumberStatus;
    const auto value = [](const char* text) { return app::parse_signed(text).value; };
    CHECK(value("1e6") == 1'000'000);
    CHECK(value("1.5e1") == 15);
    CHECK(value("2.0") == 2);
    CHECK(value("200e-2") == 2);
    CHECK(value("-0") == 0);
    CHECK(value("+7") == 7);
    CHECK(value("0e999999999999999999999") == 0);
    CHECK(value("9223372036854775807") == INT64_MAX);
    CHECK(value("-9223372036854775808") == INT64_MIN);
    CHECK(value("9.007199254740993e15") == 9007199254740993);  // 2^53 + 1: not through a double
    CHECK(app::parse_signed("9223372036854775808").status == NumberStatus::too_large);
    CHECK(app::parse_signed("1e19").status == NumberStatus::too_large);
    CHECK(app::parse_signed("-1e99999999999999999999").status == NumberStatus::too_large);
    CHECK(app::parse_signed("1.5").status == NumberStatus::fraction);
    CHECK(app::parse_signed("1e-1").status == NumberStatus::fraction);
    CHECK(app::parse_signed("010").status == NumberStatus::leading_zero);
    CHECK(app::parse_unsigned("18446744073709551615").value == UINT64_MAX);
    CHECK(app::parse_unsigned("18446744073709551616").status == NumberStatus::too_large);
    CHECK(app::parse_unsigned("-1").status == NumberStatus::too_small);
    for (const char* bad :
         {"", "+", "-", ".", "e5", "1e", "1e+", "1_000", "0x10", "0o17", "1 ", " 1", "1,5", "--1", "1.2.3", "12a"}) {
        INFO(bad);
        CHECK(app::parse_signed(bad).status == NumberStatus::not_a_number);
        CHECK(app::parse_number(bad).status == NumberStatus::not_a_number);
    }
}

TEST_CASE("real numbers are read exactly") {
    using app::NumberStatus;
    CHECK(app::parse_number("0.1").value == 0.1);
    CHECK(app::parse_number("+.5").value == 0.5);
    CHECK(app::parse_number("5.").value == 5);
    CHECK(app::parse_number("-1E-3").value == -0.001);
    CHECK(std::signbit(app::parse_number("-0").value));
    CHECK(app::parse_number("1e400").status == NumberStatus::too_large);
    CHECK(app::parse_number("1e-400").status == NumberStatus::too_small);
    for (const char* bad : {".nan", ".NaN", "nan", ".inf", "-.inf", "inf", "+Infinity"})
        CHECK(app::parse_number(bad).status == NumberStatus::not_finite);
}

TEST_CASE("counts agree with their nouns") {
    CHECK(app::counted(1, "rank") == "1 rank");
    CHECK(app::counted(2, "rank") == "2 ranks");
    CHECK(app::counted(0, "process") == "0 processes");
    CHECK(app::counted(1, "process") == "1 process");
    CHECK(app::counted(7, "patch") == "7 patches");
}

TEST_CASE("lines stay within 79 characters whatever they hold") {
    // The largest numbers that a run may meet, and more.
    const std::vector<std::string> parts{
        "step 1000000000/1000000000", "ETA 277777:46:40 h", "123456789.01 M atom-steps/s",
        "total -1.234567e+15",        "T 1.234e+15",        "p -1.234e+15"};
    CHECK(app::one_line_of(parts).size() <= app::line_width);
    CHECK(app::one_line_of(parts) == parts[0] + "  " + parts[1] + "  " + parts[2]);
    CHECK(app::one_line_of({std::string(77, 'a'), "", "c"}) == std::string(77, 'a') + "  ");
    CHECK(app::one_line_of({}).empty());
    std::vector<std::string> items;
    for (int n = 1; n < 70; ++n) items.push_back(std::string(n, 'x'));
    std::string joined;
    for (const char c : app::lines_of(items, ";", "# ")) {
        if (c == '\n') {
            CHECK((joined.size() <= app::line_width && joined.substr(0, 3) == "# x"));
            joined.clear();
        } else {
            joined += c;
        }
    }
    CHECK(joined.empty());
    CHECK(app::lines_of({"a", "b"}) == "  a, b\n");
    CHECK(app::lines_of({std::string(100, 'a'), "b"}) == "  " + std::string(100, 'a') + ",\n  b\n");
    // Exactly as wide as a line, and one more.
    CHECK(app::lines_of({std::string(70, 'a'), "12345"}) == "  " + std::string(70, 'a') + ", 12345\n");
    CHECK(app::lines_of({std::string(70, 'a'), "123456"}) == "  " + std::string(70, 'a') + ",\n  123456\n");
}

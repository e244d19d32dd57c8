// SPDX-License-Identifier: MIT
// Where particles of a file lie in the deck's box, and the lines and numbers of a text.
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>

#include "app/common/errors.hpp"
#include "app/state/particle_source.hpp"
#include "app/state/text_lines.hpp"

using namespace app;

namespace {

constexpr std::int64_t one = std::int64_t{1} << md::position_bits;

md::Domain box(bool periodic) {
    md::Domain domain;
    for (md::Axis& axis : domain.axes()) axis = {md::to_edge_units(12), 4, periodic};
    return domain;
}

// The x of a particle in the box, or -1 where it has no place.
std::int64_t placed(double x, bool periodic, double lower, double length) {
    SourceHead head;
    head.lower[0] = lower;
    head.length[0] = length;
    md::Particle<3> p{0, {quanta(x), 0, 0}, {}};
    return place(p, file_box(box(periodic), head)).empty() ? p.x[0] : -1;
}

}  // namespace

TEST_CASE("numbers become the nearest quanta, and those that are none have a place of their own") {
    CHECK(quanta(1.5) == one + one / 2);
    CHECK(quanta(-0.75 * md::position_unit) == -1);
    CHECK(quanta(std::nextafter(0x1p21, 0)) == std::llrint(std::nextafter(0x1p21, 0) * 0x1p40));
    for (const double x : {0x1p21, -0x1p21, double(INFINITY), -double(INFINITY), std::nan("")})
        CHECK(quanta(x) == no_quanta);
}

TEST_CASE("along a periodic axis particles are moved by lengths of the file's box") {
    CHECK(placed(10, true, 0, 10) == 0);  // the upper face is the lower one
    CHECK(placed(-0.25, true, 0, 10) == 9 * one + one / 4 * 3);
    CHECK(placed(35.5, true, 0, 10) == 5 * one + one / 2);
    CHECK(placed(-3, true, -5, 10) == 2 * one);
    CHECK(placed(11, true, 0, 0) == 11 * one);  // the file says no length
    CHECK(placed(12.5, true, 0, 0) == one / 2);
}

TEST_CASE("along a reflecting axis particles lie inside, and on the upper wall a quantum below it") {
    CHECK(placed(0, false, 0, 10) == 0);
    CHECK(placed(11.5, false, 0, 10) == 11 * one + one / 2);  // in the room that the deck's box has behind the file's
    CHECK(placed(12, false, 0, 12) == 12 * one - 1);
    CHECK(placed(12 + 2 * md::position_unit, false, 0, 12) == -1);
    CHECK(placed(-md::position_unit, false, 0, 12) == -1);
}

TEST_CASE("a text is read line by line, with any ends, and from any place again") {
    const std::string path =
        (std::filesystem::temp_directory_path() / ("steelyard_test_" + std::to_string(getpid()))).string();
    const std::string wide(60000, 'x');
    {
        std::ofstream file(path, std::ios::binary);
        file << "one\r\n\n";
        for (int i = 0; i < 40; ++i) file << wide << i << '\n';  // over two buffers
        file << "last";
    }
    TextLines lines(path);
    CHECK(lines.next() == "one");
    CHECK(lines.next() == "");
    const TextLines::Place place = lines.place();
    for (int i = 0; i < 40; ++i) REQUIRE(lines.next() == wide + std::to_string(i));
    CHECK(lines.next() == "last");
    CHECK_FALSE(lines.next());
    lines.seek(place);
    CHECK(lines.next() == wide + "0");
    CHECK_THROWS_WITH(lines.refuse("a", "b"), path + ":3: a; b");
    std::ofstream(path) << std::string(200000, 'x');
    TextLines long_line(path);
    CHECK_THROWS_AS(long_line.next(), InputError);
    std::filesystem::remove(path);

    std::vector<std::string_view> words;
    split("  1 \t+2e3 nan # 4", words);
    REQUIRE(words.size() == 3);
    CHECK(whole_number(words[0]) == 1);
    CHECK(real_number(words[1]) == 2000);
    CHECK(std::isnan(*real_number(words[2])));
    CHECK_FALSE(whole_number("1.0"));
    CHECK_FALSE(real_number("1x"));
    CHECK_FALSE(real_number("+"));
}

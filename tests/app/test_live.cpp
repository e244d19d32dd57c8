// SPDX-License-Identifier: MIT
// The picture of `run --live`: it fits on any screen, holds what the frame holds, and is drawn over the one before it.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <limits>
#include <set>
#include <string>
#include <vector>

#include "app/deck/setup.hpp"
#include "app/output/live_picture.hpp"
#include "app/output/overview.hpp"
#include "app/output/progress.hpp"

namespace {

// A frame of a grid in blocks: particles 1, 2, 3, ... in their order; two owners, left and right.
std::vector<app::MapRow> frame_of(const std::array<int, 3>& cells, std::int64_t most, double load) {
    balance::Grid grid;
    grid.cells = cells;
    grid.dimensions = cells[2] > 1 ? 3 : 2;
    const app::Blocks blocks = app::blocks_of(grid, most);
    const std::array<int, 3> n = blocks.count();
    std::vector<app::MapRow> frame;
    for (std::int64_t place = 0; place < std::int64_t{n[0]} * n[1] * n[2]; ++place) {
        const balance::Box box = blocks.box(place);
        frame.push_back({7, box, place + 1, load * static_cast<double>(place), 2 * box.lower[0] < cells[0] ? 3 : 5, 0});
    }
    return frame;
}

// How wide a line is on the screen. Nothing but colours and underlines may be in it, and they are switched off again.
int width_of(const std::string& line) {
    int width = 0;
    std::string last = "\033[0m";
    for (std::size_t i = 0; i < line.size(); ++i) {
        if (line[i] != '\033') {
            CHECK((line[i] >= ' ' && line[i] <= '~'));
            ++width;
            continue;
        }
        const std::size_t end = line.find('m', i);
        REQUIRE(end != std::string::npos);
        last = line.substr(i, end + 1 - i);
        CHECK(last.find_first_not_of("\033[;0123456789m") == std::string::npos);
        i = end;
    }
    CHECK(last == "\033[0m");
    return width;
}

// A terminal that knows no more than the picture needs; lines that it has are not shorter than they were.
struct Terminal {
    std::vector<std::string> lines{""};
    std::size_t row = 0, column = 0;

    void print(const std::string& text) {
        for (std::size_t i = 0; i < text.size(); ++i) {
            if (text[i] == '\r') column = 0;
            else if (text[i] == '\n') ++row, column = 0;
            else if (text[i] == '\033') i = obey(text, i);
            else put(text[i]);
            if (row == lines.size()) lines.emplace_back();
        }
    }

private:
    void put(char c) {
        if (column == lines[row].size()) lines[row] += c;
        else lines[row][column] = c;
        ++column;
    }
    std::size_t obey(const std::string& text, std::size_t at) {
        const std::size_t end = text.find_first_of("ABJK", at);
        REQUIRE(end != std::string::npos);
        const std::size_t lines_on = end > at + 2 ? std::stoul(text.substr(at + 2, end - at - 2)) : 0;
        if (text[end] == 'A') {
            REQUIRE(row >= lines_on);
            row -= lines_on;
        }
        if (text[end] == 'B') row += lines_on;
        REQUIRE(row < lines.size());
        if (text[end] == 'K' || text[end] == 'J') lines[row].resize(column);
        if (text[end] == 'J') lines.resize(row + 1);
        return end;
    }
};

}  // namespace

TEST_CASE("A character of the map is the mean of the cells that it stands for") {
    for (const std::array<int, 3> cells : {std::array{280, 120, 1}, {7, 5, 1}, {1, 300, 1}, {300, 1, 1}, {31, 20, 17}})
        for (const int columns : {1, 20, 99, 400})
            for (const int rows : {1, 7, 24}) {
                const std::vector<app::MapRow> frame = frame_of(cells, 4096, 0.5);
                const app::CharacterMap map = app::character_map(frame, columns, rows);
                INFO(cells[0] << " x " << cells[1] << " x " << cells[2] << ", " << columns << " x " << rows);
                CHECK((map.width >= 1 && map.width <= columns && map.height >= 1 && map.height <= rows));
                REQUIRE(map.value.size() == static_cast<std::size_t>(map.width) * map.height);
                REQUIRE(map.owner.size() == map.value.size());
                CHECK(map.load);
                double least = 1e300, most = 0;
                for (const app::MapRow& r : frame) {
                    const double each = r.load / static_cast<double>(r.cells.cells());
                    least = std::min(least, each), most = std::max(most, each);
                }
                for (std::size_t i = 0; i < map.value.size(); ++i) {
                    CHECK((map.value[i] >= least * (1 - 1e-12) && map.value[i] <= most * (1 + 1e-12)));
                    if (i % map.width > 0) CHECK(map.owner[i] >= map.owner[i - 1]);
                    if (i >= static_cast<std::size_t>(map.width)) CHECK(map.owner[i] == map.owner[i - map.width]);
                }
                // Values ascend along x, and upwards, but for blocks at the ends, which are smaller.
                if (cells[0] == 7 && map.width > 1 && map.height > 1) {
                    CHECK(map.value.front() < map.value[map.width - 1]);
                    CHECK(map.value.front() > map.value[map.value.size() - map.width]);
                }
                // Where the whole box is one character, its mean is that of the box.
                if (map.value.size() == 1) CHECK(map.value[0] == Approx(map.mean));
            }
}

TEST_CASE("A map without loads shows particles") {
    std::vector<app::MapRow> frame = frame_of({8, 4, 1}, 100, 0.5);
    frame[3].load = std::numeric_limits<double>::quiet_NaN();
    const app::CharacterMap map = app::character_map(frame, 16, 4);
    CHECK(!map.load);
    CHECK(std::set<double>(map.value.begin(), map.value.end()).size() == 32);
    CHECK(map.value.front() == 4);  // the upper left block: the fourth along y of the first along x
    CHECK(map.mean == 16.5);
}

TEST_CASE("The picture fits on every screen") {
    app::LiveView view;
    view.last = 1000000, view.particles = 123456789, view.rate = 0.01;
    view.balance.emplace();
    view.balance->step = 999999, view.balance->lbe = 0.98765, view.balance->mean_seconds = 1;
    view.thermo.emplace();
    view.thermo->step = 999999, view.thermo->values.kinetic = -1.23456789e-30;
    for (const std::array<int, 3> cells : {std::array{280, 120, 1}, {2, 900, 1}, {900, 2, 1}, {31, 20, 17}})
        for (const double load : {0.0, 0.5, std::numeric_limits<double>::quiet_NaN()})
            for (const int columns : {1, 24, 25, 40, 80, 500})
                for (const int rows : {1, 3, 4, 5, 6, 24, 100})
                    for (const bool colours : {false, true})
                        for (const std::int64_t step : {std::int64_t{0}, std::int64_t{999999}, view.last}) {
                            view.step = step;
                            const app::Screen screen{columns, rows, colours};
                            app::Lines lines = app::numbers_of(view, screen);
                            CHECK(lines.size() == (columns > 24 && rows > 3 ? 3 : 0));
                            const app::Lines map = app::map_of(frame_of(cells, 300, load), screen);
                            CHECK(map.empty() == (columns < 25 || rows < 6));
                            lines.insert(lines.end(), map.begin(), map.end());
                            CHECK(static_cast<int>(lines.size()) < rows);
                            for (const std::string& line : lines) CHECK(width_of(line) < columns);
                        }
}

TEST_CASE("Borders lie where the owner changes, unless they would hide the map") {
    std::vector<app::MapRow> frame = frame_of({8, 4, 1}, 100, 0.5);
    const app::Screen screen{25, 100, false};
    const auto bars = [&] {
        std::size_t count = 0;
        for (const std::string& line : app::map_of(frame, screen))
            for (const char c : line) count += c == '|';
        return count;
    };
    CHECK(bars() == 6);  // one in each line of the map
    for (std::size_t i = 0; i < frame.size(); ++i) frame[i].owner = static_cast<std::int64_t>(i);
    CHECK(bars() == 0);
}

TEST_CASE("A picture takes the place of the one before, and lines of the log stay above it") {
    Terminal terminal;
    terminal.print("header\n");
    std::vector<std::string> log{"header"};
    app::Lines old;
    int step = 0;
    for (const app::Lines& next : {app::Lines{"step 1", "map a", "map b"},
                                   {"step 22", "map a", "map b"},
                                   {"step 22", "map a", "map b"},
                                   {"step 3", "map a", "m"},
                                   {},
                                   {"alone"},
                                   {"1", "2", "3", "4"},
                                   {"1", "2", "x", "4"},
                                   {"12"},
                                   {}}) {
        const std::string above = ++step % 3 == 0 ? "log " + std::to_string(step) : "";
        if (!above.empty()) log.push_back(above);
        terminal.print(app::redrawn(old, above, next));
        old = next;
        std::vector<std::string> wanted = log;
        wanted.insert(wanted.end(), next.begin(), next.end());
        wanted.emplace_back();
        CHECK(terminal.lines == wanted);
        CHECK((terminal.row == wanted.size() - 1 && terminal.column == 0));
    }
}

TEST_CASE("The pace is that of the last seconds") {
    app::Pace pace;
    CHECK(pace.rate() == 0);
    pace.at(100, 5);
    CHECK(pace.rate() == 0);
    for (int i = 1; i <= 1000; ++i) {
        pace.at(100 + 10 * i, 5 + 0.2 * i);
        CHECK(pace.rate() == Approx(50));
    }
    for (int i = 1; i <= 51; ++i) pace.at(10100 + i, 205 + 0.2 * i);  // ten seconds at a tenth of the speed
    CHECK(pace.rate() == Approx(5));
}

TEST_CASE("the header names all sides of the box, tiles as large as they are, and unlike numbers of threads") {
    const auto box = [](const char* lengths) {
        const std::string corner = std::count(lengths, lengths + std::strlen(lengths), ',') == 2 ? "9, 9, 9" : "9, 9";
        const app::Deck deck = app::parse_deck(std::string("{system: {box: [") + lengths + "], slabs: [{lower: [0, 0" +
                                                   (corner.size() > 4 ? ", 0" : "") + "], upper: [" + corner +
                                                   "], density: 0.5}]}, run: {dt: 1e-3, " + "steps: 1}}",
                                               "deck.yaml");
        return app::box_in_words(app::make_setup(deck, "").domain);
    };
    CHECK(box("9.5, 20") == "9.5 x 20");
    CHECK(box("9, 12, 30.25") == "9 x 12 x 30.25");
    const balance::Grid plane{{104, 56, 1}, {}}, space{{14, 7, 6}, {}, 3}, small{{6, 5, 1}, {}};
    CHECK(app::tiles_in_words(14, {16, 32, 1}, plane) == "14 tiles of about 16 x 32 cells");
    CHECK(app::tiles_in_words(5000, {16, 32, 1}, plane) == "5000 tiles of about 1 cell");
    CHECK(app::tiles_in_words(100, {16, 32, 1}, plane) == "100 tiles of about 58 cells");
    CHECK(app::tiles_in_words(1, {16, 32, 1}, small) == "1 tile of about 6 x 5 cells");
    CHECK(app::tiles_in_words(8, {8, 8, 8}, space) == "8 tiles of about 73 cells");
    CHECK(app::tiles_in_words(2, {8, 8, 8}, space) == "2 tiles of about 8 x 7 x 6 cells");
    CHECK(app::threads_in_words(1, 1) == "1 thread");
    CHECK(app::threads_in_words(1, 4) == "1 to 4 threads");
}

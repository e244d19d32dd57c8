// SPDX-License-Identifier: MIT
// Frames that are thinned out: never too many, never too few, evenly spread over a run of any length.
#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "app/output/series/frames.hpp"
#include "app/output/series/overview.hpp"
#include "app/output/series/tables.hpp"

namespace {

std::vector<std::int64_t> steps_of(const std::string& rows) {
    std::vector<std::int64_t> steps;
    for (std::size_t at = 0; at < rows.size(); at = rows.find('\n', at) + 1) steps.push_back(std::stoll(&rows[at]));
    return steps;
}

// The frames of a run whose lists are rebuilt every `rebuild` steps, each of two rows, as Overview keeps them.
std::string run_to(std::int64_t last, std::int64_t rebuild, app::Frames& frames, std::string rows = {},
                   std::int64_t first = 0) {
    for (std::int64_t step = first; step <= last; step += rebuild) {
        if (frames.due(step) && frames.count >= frames.most) rows = app::thinned(rows, frames.most - 1, frames);
        if (!frames.due(step)) continue;
        for (const char* row : {"a", "b"}) rows += std::to_string(step) + "," + row + "\n";
        frames.add(step);
    }
    return rows;
}

template <class Row>
std::size_t bytes_of(const Row& row, const app::Columns<Row>& columns) {
    std::string text;
    for (const app::TableColumn<Row>& c : columns) c.append(row, text += ',');
    return text.size();  // a comma for the line feed
}

}  // namespace

TEST_CASE("The files of the longest and widest runs stay small") {
    constexpr std::int64_t frames = 128;  // the default of output.map_frames
    // A hundred million steps of a hundred thousand processes, ten thousand million cells, 10^11 particles.
    app::MapRow block{99999999, {}, 99999999, 1.2345e-5, 99999, 1};
    block.cells = {{99999, 99999, 0}, {99999, 99999, 1}};
    const app::MapRow space{99999999, {{9999, 9999, 9999}, {9999, 9999, 9999}}, 99999999, 1.2345e-5, 99999, 1};
    app::RankRow rank{99999999, 9, 99999, 9999, 99999999, 999999.123456, {}, 99999.123456, 999999999, 999999999999};
    rank.phases.fill(99999.123456);
    const std::size_t row = std::max(bytes_of(block, app::map_columns()), bytes_of(space, app::map_columns()));
    const std::size_t map = frames * app::most_blocks * row;
    const std::size_t ranks = app::most_rank_rows * bytes_of(rank, app::rank_columns());
    INFO(map << " and " << ranks << " bytes");
    CHECK(map < 35000000);
    CHECK(ranks < 12000000);
}

TEST_CASE("A run of any length has enough frames and not too many, evenly spread") {
    for (const std::int64_t most : {2, 3, 16, 128})
        for (const std::int64_t planned : {0, 100, 3000, 100000, 1000000000})
            for (const std::int64_t last : {100, 3000, 20000, 300000})
                for (const std::int64_t rebuild : {1, 7, 40}) {
                    if (last > planned) continue;
                    app::Frames frames = app::frames_for(planned, most);
                    const std::string rows = run_to(last, rebuild, frames);
                    const std::vector<std::int64_t> steps = steps_of(rows);
                    const auto count = static_cast<std::int64_t>(steps.size() / 2);
                    INFO(most << " frames, " << last << " of " << planned << " steps, rebuilt every " << rebuild);
                    REQUIRE(count == frames.count);
                    CHECK(count <= most);
                    CHECK(steps.front() == 0);
                    // At least a quarter of them, or one each 256 steps of a run that is stopped very early.
                    const std::int64_t wanted = std::min(most / 4, last / std::max<std::int64_t>(256, rebuild));
                    CHECK(count >= std::min(wanted, last / std::max<std::int64_t>(16, rebuild)));
                    std::set<std::int64_t> slots;
                    for (std::size_t i = 0; i < steps.size(); i += 2) {
                        CHECK(steps[i] == steps[i + 1]);  // frames are whole
                        slots.insert(frames.slot(steps[i]));
                    }
                    CHECK(static_cast<std::int64_t>(slots.size()) == count);
                    if (count > 2) CHECK(steps.back() - steps[steps.size() - 3] <= 2 * frames.interval + rebuild);
                }
}

TEST_CASE("A restart goes on with the frames that are there, however often it happens") {
    std::string rows;
    for (std::int64_t start = 0; start < 40; ++start) {
        app::Frames frames = app::frames_for(500 * (start + 1), 32);
        rows = app::thinned(rows, frames.most, frames);
        rows = run_to(500 * (start + 1), 9, frames, rows, 500 * start);
        const std::vector<std::int64_t> steps = steps_of(rows);
        CHECK(steps.size() <= 2 * 32);
        CHECK(std::is_sorted(steps.begin(), steps.end()));
        CHECK(steps.front() == 0);
    }
}

TEST_CASE("Frames of the longest run are early while there are fewer than their share") {
    constexpr std::int64_t steps = 1'000'000'000'000'000;
    const app::Frames frames{100000, 16, 10000};
    CHECK_FALSE(frames.early(steps - 1, steps, 8));  // the product of count and steps passes 2^63
    CHECK_FALSE(app::Frames{128, 16, 4}.early(steps / 2 - 1, steps, 8));
    CHECK(app::Frames{128, 16, 4}.early(steps / 2, steps, 8));
    CHECK(app::Frames{6, 16, 2}.early(steps, steps, 8));  // half of `most` are 3
    CHECK_FALSE(app::Frames{6, 16, 2}.early(steps / 2, steps, 8));
}

TEST_CASE("Blocks tile the grid, are as small as may be, and are found again in any box of cells") {
    for (const std::array<int, 3> cells :
         {std::array{280, 120, 1}, {7, 5, 1}, {1, 3000, 1}, {61, 40, 33}, {1140, 1140, 1}}) {
        balance::Grid grid;
        grid.cells = cells;
        grid.dimensions = cells[2] > 1 ? 3 : 2;
        const app::Blocks blocks = app::blocks_of(grid, 4096);
        const std::array<int, 3> n = blocks.count();
        const std::int64_t count = std::int64_t{n[0]} * n[1] * n[2];
        CHECK(count <= 4096);
        if (blocks.side > 1) {
            const std::array<int, 3> finer = app::Blocks{grid, blocks.side - 1}.count();
            CHECK(std::int64_t{finer[0]} * finer[1] * finer[2] > 4096);
        }
        std::int64_t total = 0;
        for (std::int64_t place = 0; place < count; ++place) {
            const balance::Box box = blocks.box(place);
            CHECK((!box.empty() && intersection(box, grid.box()) == box));
            total += box.cells();
        }
        CHECK(total == grid.box().cells());
    }
}

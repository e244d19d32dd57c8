// SPDX-License-Identifier: MIT
// CSV files of an earlier start that a run goes on with. The first line of the input is the one that the file has to
// have; its number of bytes chooses the rules.
#include <string>

#include "app/output/directory/csv_rows.hpp"
#include "app/output/series/frames.hpp"
#include "fuzz.hpp"

void fuzz::read(std::string_view input) {
    const std::string head(input.substr(0, input.find('\n')));
    const std::size_t choice = input.size();
    app::CsvRules rules;
    rules.one_row_a_step = choice % 2 == 0;
    rules.every = static_cast<std::int64_t>(choice / 2 % 4) * 5;
    rules.begin = static_cast<std::int64_t>(choice / 8 % 2) * 10;
    rules.words = {false, choice % 3 == 0};
    constexpr std::int64_t end = 1000;
    const app::CsvPast past = app::csv_past(input, head, end, rules);
    app::last_csv_step(input);
    if (past.gap) app::in_words(*past.gap);
    if (!past.obstacle.empty()) return require(past.rows.empty(), "a file with an obstacle keeps no rows");
    const app::CsvPast again = app::csv_past(head + "\n" + past.rows, head, end, rules);
    require(again.obstacle.empty() && again.rows == past.rows, "rows that stay can stay again");
    app::Frames frames = app::frames_for(end, 16);
    app::thinned(past.rows, 16, frames);
}

// SPDX-License-Identifier: MIT
// What a run that goes on can keep of a CSV file that an earlier start has written, and that an editor, a spreadsheet
// or another version of this program may have changed since.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace app {

/// How the program writes a file: whatever breaks these rules was written by somebody else.
struct CsvRules {
    bool one_row_a_step = false;        ///< of finite numbers; else several rows may share a step
    std::int64_t begin = 0, every = 0;  ///< from step `begin` on a row at each multiple of `every`; 0: not known
    std::vector<bool> words = {};       ///< of each column, whether it holds words; the others hold numbers
};

/// Rows that the program has written and that are not there.
struct CsvGap {
    std::int64_t first = 0, last = 0, rows = 0;  ///< steps, and how many rows
    std::int64_t before = -1;                    ///< step of the row before the first; -1 where there is none
};

/// "4 rows, the first of step 40 and the last of step 70, after its row of step 30".
std::string in_words(const CsvGap& gap);

struct CsvPast {
    std::string rows;           ///< those that stay, each with a line feed
    std::string obstacle;       ///< empty, or why the file cannot be continued: "names other columns in its first line"
    std::optional<CsvGap> gap;  ///< what is missing before the step `end`
    std::string last = {};      ///< the last row, without a line feed, also one from `end` on; empty without rows
};

/// The rows before step `end`. head: the first line that the file has to have, without a line feed. Carriage returns at
/// the ends of lines, blank lines, a byte order mark and a missing last line feed do no harm; an unfinished last row is
/// dropped. Anything else that is not a table by these rules is an obstacle, also in rows from `end` on.
CsvPast csv_past(std::string_view text, std::string_view head, std::int64_t end, const CsvRules& rules = {});

/// The largest step at the beginning of a line, -1 where there is none. A last row that is cut counts for nothing.
std::int64_t last_csv_step(std::string_view text);

}  // namespace app

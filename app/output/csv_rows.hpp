// SPDX-License-Identifier: MIT
// What a run that goes on can keep of a CSV file that an earlier start has written, and that an editor, a spreadsheet
// or another version of this program may have changed since.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace app {

struct CsvPast {
    std::string rows;      ///< those that stay, each with a line feed
    std::string obstacle;  ///< empty, or why the file cannot be continued: "names other columns in its first line"
};

/// The rows before step `end`. head: the first line that the file has to have, without a line feed. Carriage returns at
/// the ends of lines, blank lines, a byte order mark and a missing last line feed do no harm; what a killed run left of
/// an unfinished last row is dropped. Anything else that is not a table of these columns with ascending steps is an
/// obstacle, also in rows from `end` on.
CsvPast csv_past(std::string_view text, std::string_view head, std::int64_t end);

/// The largest step at the beginning of a line, -1 where there is none.
std::int64_t last_csv_step(std::string_view text);

}  // namespace app

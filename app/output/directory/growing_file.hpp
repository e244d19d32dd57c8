// SPDX-License-Identifier: MIT
// A CSV file that grows while the run goes on. Rank 0 writes it.
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "app/output/directory/csv_rows.hpp"
#include "app/output/directory/run_directory.hpp"
#include "comm/file/posix_file.hpp"

namespace app {

class GrowingFile {
public:
    /// The part that stays from an earlier start of the run.
    struct Past {
        std::int64_t end = 0;   ///< rows of earlier steps stay
        bool expected = false;  ///< the earlier start has written such a file: a note says where it is missing
        CsvRules rules = {};    ///< as it has written it: a note says which rows are missing
    };
    /// Begins the file `name` with the line `head`. Where the directory holds this run's past, earlier rows stay; a
    /// file that cannot be continued is put aside, with a note. results: prepared. Collective. Throws OutputError.
    GrowingFile(RunDirectory& results, std::string name, std::string head, const Past& past);

    /// Adds rows, which may be none. On rank 0 alone, inside on_rank_0(). Throws OutputError, also for a file that
    /// another program has removed, replaced or changed since.
    void append(const std::string& rows);

    /// Replaces the rows by change(rows), at once. Collective. Throws as append().
    void rewrite(const std::function<std::string(std::string_view rows)>& change);

    /// Brings the rows to the disk. On rank 0 alone, inside on_rank_0(). Throws OutputError.
    void sync() const { require(file_.sync()); }

    /// All ranks of the run, which on_rank_0() brings to agree.
    const comm::Communicator& comm() const { return results_.comm(); }
    /// On rank 0: the last row that was there before, also one that was dropped; empty where there was none.
    const std::string& last_past_row() const { return last_past_row_; }

private:
    void require(bool good) const;

    RunDirectory& results_;
    std::string name_, head_, last_past_row_;
    comm::TextFile file_;  // rank 0
};

}  // namespace app

// SPDX-License-Identifier: MIT
// --trace-messages: the plans of a run as a CSV file, a row for each part (docs/messages.md). Rank 0 writes it.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "app/output/directory/run_directory.hpp"
#include "balance/team.hpp"
#include "comm/communicator.hpp"
#include "comm/file/posix_file.hpp"
#include "comm/schedule.hpp"

namespace app {

/// All calls but set_step() are collective.
class MessageTrace {
public:
    /// Checks the path and writes nothing yet. An existing file is refused, or put aside by open(), as `old` says.
    /// Names of results (kinds) are refused. The first plans are of this step. Throws UsageError and OutputError if no
    /// file can be made at `path`.
    MessageTrace(std::string path, OldResults old, const ResultKinds& kinds, const comm::NodeMap& nodes,
                 std::int64_t step, const comm::Communicator& comm);

    /// Writes what was added so far; from now on everything is written as it is added. Throws OutputError.
    void open();
    /// Sets the step of all further plans.
    void set_step(std::int64_t step) { step_ = step; }
    /// A plan, of which this rank sends these parts. Throws OutputError.
    void add(std::string_view kind, std::span<const balance::Part> sent);

private:
    void check(bool good) const;

    const std::string path_;
    const comm::NodeMap nodes_;
    const comm::Communicator& comm_;
    std::int64_t step_, plans_ = 0;
    bool open_ = false;
    std::string unwritten_;  // rank 0
    comm::TextFile file_;    // rank 0
};

}  // namespace app

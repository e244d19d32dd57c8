// SPDX-License-Identifier: MIT
// Output of a run on the terminal until it has ended: the header, and a line of progress now and then.
#pragma once
#include <string>

#include "app/engine/engine.hpp"
#include "app/output/series/tables.hpp"
#include "app/output/summary/run_context.hpp"

namespace app {

class Progress {
public:
    /// directory: of the output; run: lives as long as this.
    Progress(const RunContext& run, std::string directory, const comm::Communicator& comm);

    /// What the run is, before the first step. Collective.
    void header(const Engine& engine) const;
    /// Where the run stands, unless the last line was a moment ago.
    void line(const ThermoRow& row);
    /// Nothing is said on this rank.
    bool quiet() const { return quiet_; }

private:
    void say_what_changes() const;

    const RunContext& run_;
    std::string directory_;
    const comm::Communicator& comm_;
    bool quiet_, terminal_;
    double last_line_ = 0;
};

}  // namespace app

// SPDX-License-Identifier: MIT
// `run --live`: a picture of the run below what it logs, redrawn in place. The cursor and the modes of the terminal
// stay as they are, and each picture is printed at once and ends with the colours that were there: however the run
// ends, nothing is left to be put in order. A picture takes less than 0.1 ms of five a second; where it takes longer,
// as on a slow terminal, they come less often, down to one a second.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "app/common/terminal.hpp"
#include "app/output/live_picture.hpp"

namespace app {

class Live {
public:
    /// terminal: one that lacks nothing.
    Live(Terminal terminal, std::int64_t first_step, std::int64_t last_step, std::int64_t particles);

    /// What the next picture shows.
    void map(std::vector<MapRow> frame);
    void balanced(const std::vector<BalanceRow>& rows);
    void thermo(const ThermoRow& row) { view_.thermo = row, view_.step = row.step, view_.particles = row.particles; }

    /// The run has come to a step: draws, if the last picture is old enough. errors: lines that were printed on
    /// standard error so far; where there are new ones, which may stand below the picture, the next one begins below
    /// them.
    void at(std::int64_t step, std::int64_t errors);
    /// A line of the log, above the picture.
    void log(const std::string& line) { draw(line); }
    /// The last picture, which stays. At a step before the last one the run was stopped: no picture is drawn any more.
    void end(std::int64_t step);

private:
    void draw(const std::string& above);

    Terminal terminal_;
    LiveView view_;
    Pace pace_;
    std::vector<MapRow> frame_;  // of the map
    Lines map_, picture_;        // as they are on the screen
    Screen screen_;
    double next_ = 0;  // when the next picture may be drawn
    std::int64_t errors_ = 0;
    bool ended_ = false;
};

}  // namespace app

// SPDX-License-Identifier: MIT
// lbaf/data.<process>.json: the LBDatafiles of DARMA/vt, which its Load Balancing Analysis Framework (LBAF) reads. A
// file for each process, a phase in each of them for each balancing, an object for each box of cells.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "app/balancing/balanced_cells.hpp"
#include "app/output/directory/run_directory.hpp"

namespace app {

/// The last step of the files in a folder lbaf/; -1 where there are none.
std::int64_t last_lbaf_step(const std::string& folder);

/// On rank 0 alone. While they grow, with a phase a line, the files bear the names data.<process>.json.tmp.
class LbafFiles {
public:
    /// Goes on with what an earlier start of this run has written up to step `last`. Throws OutputError.
    LbafFiles(RunDirectory& results, const balance::Grid& grid, std::int64_t processes, std::int64_t last);
    /// Adds a phase. Throws OutputError.
    void add(const BalancedCells& before);
    /// Ends the files and gives them their names. Throws OutputError.
    void finish();

private:
    std::string name(std::int64_t process) const;
    std::string past(std::int64_t process) const;
    void write(std::int64_t process, const std::string& text, std::int64_t at);  // at: bytes from its begin

    RunDirectory& results_;
    balance::Grid grid_;
    std::vector<std::int64_t> sizes_;  // of each file
    std::vector<double> speeds_;       // of each process, as known at the last phase
    std::int64_t phases_ = 0;          // in each file
};

}  // namespace app

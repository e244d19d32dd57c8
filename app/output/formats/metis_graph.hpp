// SPDX-License-Identifier: MIT
// metis/step_<step>.graph: the cells of a balancing as a graph for METIS and for who reads its files, with what the
// cells cost and hold; beside it, in the format of METIS' own results, step_<step>.owners: who had them.
#pragma once
#include <cstdint>
#include <string>

#include "app/balancing/balanced_cells.hpp"
#include "app/output/directory/run_directory.hpp"

namespace app {

/// The last step of the files in a folder metis/; -1 where there are none.
std::int64_t last_metis_step(const std::string& folder);

/// On rank 0 alone.
class MetisFiles {
public:
    /// Removes what an earlier start of this run has written of steps after `last`. Throws OutputError.
    MetisFiles(RunDirectory& results, const balance::Grid& grid, std::int64_t last);
    /// Writes both files of a balancing. Throws OutputError.
    void add(const BalancedCells& before) const;

private:
    RunDirectory& results_;
    balance::Grid grid_;
};

}  // namespace app

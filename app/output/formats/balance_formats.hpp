// SPDX-License-Identifier: MIT
// Balancings in the formats of other programs: output.balance_formats of a deck, in `run` and in `replay`. Each format
// has a folder of its name in the output directory. Rank 0 writes.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "app/balancing/balanced_cells.hpp"
#include "app/deck/deck.hpp"
#include "app/output/directory/run_directory.hpp"

namespace app {

/// The files of one format, on rank 0 alone. All functions throw OutputError.
class FormatFiles {
public:
    virtual ~FormatFiles() = default;
    virtual void add(const BalancedCells& before) = 0;
    virtual void finish() {}  ///< gives files that grow their names
};

/// Each goes on with what an earlier start of this run has written up to step `last`.
std::unique_ptr<FormatFiles> make_lbaf(RunDirectory& results, const balance::Grid& grid, std::int64_t processes,
                                       std::int64_t last);
std::unique_ptr<FormatFiles> make_metis(RunDirectory& results, const balance::Grid& grid, std::int64_t last);
/// The last step of the files in a folder of the format; -1 where there are none.
std::int64_t last_lbaf_step(const std::string& folder);
std::int64_t last_metis_step(const std::string& folder);

class BalanceFormats {
public:
    /// Begins the folders. Where the directory holds this run's past, balancings up to step `last` stay, and later ones
    /// go, also of formats that are no longer wanted. results: prepared. Collective. Throws OutputError.
    BalanceFormats(RunDirectory& results, const std::vector<BalanceFormat>& formats, const balance::Grid& grid,
                   std::int64_t processes, std::int64_t last);
    /// Adds a balancing. Collective. Throws OutputError.
    void write(const BalancedCells& before);
    /// Gives files that grow their names. Collective. Throws OutputError.
    void finish();

private:
    RunDirectory& results_;
    std::vector<std::unique_ptr<FormatFiles>> formats_;  // rank 0
};

}  // namespace app

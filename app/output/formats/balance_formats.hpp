// SPDX-License-Identifier: MIT
// Balancings in the formats of other programs: output.balance_formats of a deck, in `run` and in `replay`. Each format
// has a folder of its name in the output directory. Rank 0 writes.
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "app/balancing/balanced_cells.hpp"
#include "app/deck/deck.hpp"
#include "app/output/directory/run_directory.hpp"
#include "app/output/formats/lbaf.hpp"
#include "app/output/formats/metis_graph.hpp"

namespace app {

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
    std::optional<LbafFiles> lbaf_;    // rank 0
    std::optional<MetisFiles> metis_;  // rank 0
};

}  // namespace app

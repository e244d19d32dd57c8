// SPDX-License-Identifier: MIT
// Runs a load model over a partition: each member gives the model one process after the other, of those that it hosts.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "balance/grid/field.hpp"
#include "balance/model/load_model.hpp"
#include "balance/partition/process_boxes.hpp"

namespace balance {

/// Loads of the cells of a member's home as integers, so that their sums are exact.
struct CellLoads {
    std::vector<std::int64_t> load;
    double unit = 1;  ///< load * unit is the model's load, in its own unit (seconds a step, but for particle_count)
};

/// What all models start from, before anything was measured.
CellLoads first_loads(Start start, std::span<const CellCounts> counts);

/// What the cells of the processes hold that a member hosts, process by process. The team and `known` must live as long
/// as it.
class HostedCells {
public:
    /// known: what around_home() gives. at_home: of the cells of the member's home. hosted: the same of the hosted
    /// cells in their order, where members have it already (all of them or none); else it is fetched. Collective.
    HostedCells(const Team& team, const Grid& grid, const ProcessBoxes& known, const Hosts& hosts,
                std::span<const CellCounts> at_home, std::optional<std::vector<CellCounts>> hosted = {});

    struct Process {
        std::int64_t index;
        std::span<const Box> boxes;
        std::int64_t first, cells;  ///< its cells: those from `first` on, box by box
    };
    std::span<const Process> processes() const { return processes_; }
    std::span<const CellCounts> counts() const { return counts_; }
    std::span<const CellCounts> counts(const Process& p) const { return counts().subspan(p.first, p.cells); }
    /// Brings other values between the homes and this order.
    const FieldPlan& plan() const { return plan_; }

private:
    FieldPlan plan_;
    std::vector<Process> processes_;
    std::vector<CellCounts> counts_;
};

/// Lets the model learn from the times that the processes of a partition took, and returns the loads that it gives now.
/// hosted: the cells by that partition. state: of the cells of the member's home, what the model remembers of each,
/// read and written. times: seconds a step of each process, the same on all members. work: true ticks of the cells at
/// home, for a model that wants them; empty: not known. ahead: what these will hold, where it is known (on all members
/// or on none). Collective.
CellLoads evaluate(LoadModel& model, const Team& team, const Grid& grid, const HostedCells& hosted,
                   std::span<double> state, std::span<const double> times, std::span<const std::int64_t> work = {},
                   const std::optional<std::vector<CellCounts>>& ahead = {});

}  // namespace balance

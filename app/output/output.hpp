// SPDX-License-Identifier: MIT
// What a run writes: thermo.csv, timing.csv, fields, trajectory, summary.json, the progress line and the table at the
// end.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "app/common/errors.hpp"
#include "app/deck/deck.hpp"
#include "app/output/cell_fields.hpp"
#include "app/output/checkpoint.hpp"
#include "app/output/message_trace.hpp"
#include "app/output/observer.hpp"
#include "app/output/run_directory.hpp"
#include "app/output/summary.hpp"
#include "app/output/trajectory.hpp"
#include "comm/communicator.hpp"
#include "comm/file/posix_file.hpp"
#include "comm/machine/topology.hpp"
#include "md/observables.hpp"

namespace app {

/// What the results of a run are about.
struct RunContext {
    const Deck& deck;
    const std::optional<CheckpointInfo>& restart;
    bool threads_share_cores = false;  ///< and wait actively for each other
    std::vector<std::string> notes;    ///< sentences on what is unusual, or what a restart drops
    comm::Topology topology;
    double start_seconds = 0, start_cpu_seconds = 0;  ///< when the run began, by comm::now() and comm::cpu_seconds()
    bool quiet = false;
    std::vector<std::string> command_line;
    MessageTrace* trace = nullptr;  ///< where plans of messages are written; may be none
    std::optional<Prediction> prediction;
};

class Output : public Observer {
public:
    /// Writes deck.yaml and begins the CSV files; where the directory continues a run, rows from the restart's step on
    /// are dropped and the earlier ones stay. directory: prepared. Collective. Throws OutputError on all ranks.
    Output(RunDirectory& directory, const RunContext& run, const md::Domain& domain, const comm::Communicator& comm,
           Timers& timers, const LoadBalancer& balancer);

    Due due(std::int64_t step) const override;
    void rebuilding(std::int64_t step) override {
        if (run_.trace) run_.trace->set_step(step);
    }
    void sums(std::int64_t step, const Engine& engine) override;
    void fields(std::int64_t step, const Engine& engine) override;
    void state(std::int64_t step, const Engine& engine) override;
    void checkpoint(std::int64_t step, const Engine& engine) override;
    void balanced(const std::vector<BalanceRow>& rows, const std::vector<ResourceRow>& resources) override;
    void border(const std::vector<ZoneRow>& rows) override;
    std::int64_t stop_wanted() const override;

    /// What the run is, before the first step.
    void header(const Engine& engine, std::int64_t particles);
    /// summary.json and the table, after the last step done.
    void finish(std::int64_t step, const Engine& engine);

private:
    void progress(std::int64_t step, const md::Thermo& now);
    void check(bool good, const std::string& file) const;

    void say_what_changes() const;

    RunDirectory& results_;
    std::string directory_;
    RunContext run_;
    const Deck& deck_;
    const comm::Communicator& comm_;
    Timers& timers_;
    const LoadBalancer& balancer_;
    bool quiet_, terminal_;
    comm::TextFile thermo_, timing_, balance_, resource_, zone_;  // rank 0
    FieldFiles fields_;
    TrajectoryFile trajectory_;
    double last_progress_ = 0;
    Clock clock_;
    std::int64_t particles_ = 0;
    std::int64_t first_step_ = 0;
    double wall_before_ = 0, cpu_before_ = 0;  // of the run that is continued
    std::optional<double> energy_first_;
    std::optional<md::Thermo> last_;  // of the last output step of this run
    double largest_kinetic_ = 0;
    CheckpointCost checkpoints_;
    BalancingCost balancing_;
};

}  // namespace app

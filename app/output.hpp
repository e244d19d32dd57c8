// SPDX-License-Identifier: MIT
// What a run writes: thermo.csv, timing.csv, fields, trajectory, summary.json, the progress line and the table at the end.
#pragma once
#include <cstdint>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include "app/checkpoint.hpp"
#include "app/deck.hpp"
#include "app/errors.hpp"
#include "app/step.hpp"
#include "app/thermo.hpp"
#include "comm/communicator.hpp"
#include "comm/topology.hpp"

namespace app {

class Output : public Observer {
public:
    /// Makes the directory and writes deck.yaml. restart: where the run goes on; rows of the CSV files from its step on are
    /// dropped, the earlier ones stay. Collective. Throws OutputError on all ranks.
    Output(std::string directory, const Deck& deck, const std::optional<CheckpointInfo>& restart, const comm::Communicator& comm,
           const comm::Topology& topology, Timers& timers, const Rebalance& rebalance, bool quiet);

    Due due(std::int64_t step) const override;
    void sums(std::int64_t step, const Tiles& tiles) override;
    void fields(std::int64_t step, const Tiles& tiles) override;
    void state(std::int64_t step, const Tiles& tiles) override;
    void checkpoint(std::int64_t step, const Tiles& tiles) override;
    void balanced(const std::vector<BalanceRow>& rows) override;
    std::int64_t stop_wanted() const override;

    /// What the run is, before the first step.
    void header(const Tiles& tiles, std::int64_t particles);
    /// summary.json and the table, after the last step done.
    void finish(std::int64_t step, const Tiles& tiles);

private:
    void progress(std::int64_t step, const Thermo& now);
    void check(bool good, const std::string& file) const;

    std::string directory_;
    Deck deck_;
    const comm::Communicator& comm_;
    comm::Topology topology_;
    Timers& timers_;
    const Rebalance& rebalance_;
    bool quiet_, terminal_;
    std::ofstream thermo_, timing_, balance_;  // rank 0
    double start_, start_cpu_, last_progress_ = 0;
    Clock clock_;
    std::int64_t particles_ = 0;
    std::int64_t first_step_ = 0;
    double wall_before_ = 0, cpu_before_ = 0;  // of the run that is continued
    std::optional<double> energy_first_;
    Thermo last_;
    double largest_kinetic_ = 0;
    CheckpointCost checkpoints_;
    struct {
        std::int64_t balancings = 0, migrations = 0;
        double model_seconds = 0, partition_seconds = 0, migrate_seconds = 0;
    } balancing_;  // of the driver, on rank 0, since the start of this run
};

}  // namespace app

// SPDX-License-Identifier: MIT
// The observer of a run: what is due when, and which files it goes to.
#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "app/output/observer.hpp"
#include "app/output/series/message_trace.hpp"
#include "app/output/summary/progress.hpp"
#include "app/output/summary/run_context.hpp"
#include "app/output/summary/summary.hpp"
#include "comm/communicator.hpp"

namespace app {

class Output : public Observer {
public:
    /// Writes nothing yet. The first result prepares the directory, writes deck.yaml and begins the files. If the
    /// directory continues a run, results of earlier starts stay up to the restart's step.
    Output(RunDirectory& directory, const RunContext& run, const md::Domain& domain, const comm::Communicator& comm,
           Timers& timers, const LoadBalancer& balancer);
    ~Output() override;

    Due due(std::int64_t step) const override;
    void rebuilding(std::int64_t step) override {
        if (run_.trace) run_.trace->set_step(step);
    }
    void rebuilt(const Stage& stage, const Engine& engine) override;
    void sums(std::int64_t step, const Engine& engine) override;
    void series(std::int64_t step, Engine& engine) override;
    void checkpoint(std::int64_t step, const Engine& engine) override;
    void balanced(const std::vector<BalanceRow>& rows, const std::vector<ResourceRow>& resources) override;
    void balanced_cells(const BalancedCells& before) override;
    void border(const std::vector<ZoneRow>& rows) override;
    std::int64_t stop_wanted() const override;

    /// What the run is, before the first step.
    void header(const Engine& engine) const { progress_.header(engine); }
    /// Writes summary.json and the table, after the last step done. Collective.
    void finish(std::int64_t step, const Engine& engine);

private:
    struct Files;
    Files& files();
    double cpu_seconds() const;

    RunDirectory& results_;
    RunContext run_;
    const md::Domain& domain_;
    const comm::Communicator& comm_;
    Timers& timers_;
    const LoadBalancer& balancer_;
    Progress progress_;
    std::unique_ptr<Files> files_;
    Clock clock_;
    RunTotals totals_;
    balance::Stages stages_;       // of this rank
    double balancing_before_ = 0;  // seconds of its phase up to the last stage
    double row_seconds_ = 0;  // for rows of balance.csv and resources.csv, which a run without balancing does not write
};

}  // namespace app

// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include "app/common/words.hpp"
#include "app/output/checkpoint/restart.hpp"
#include "app/run/run.hpp"

namespace app {

int info(const Options& options, const comm::Communicator& comm) {
    const CheckpointInfo c = read_checkpoint(options.deck, comm);
    const std::vector<SavedBalancing> balancing = saved_balancing(c, comm);
    if (comm.rank() != 0) return 0;
    say(stdout, "{}\n  step {}, time {:.10g}, {}, state hash {:016x}; every byte verified\n", c.path, c.step,
        c.clock.at(c.step), counted(c.particles, "particle"), c.state_hash);
    say(stdout, "  of a run to step {}\n", c.deck.run.steps);
    std::vector<std::string> models;
    for (const SavedBalancing& b : balancing)
        models.push_back(fmt::format("{} ({})", b.model, counted(b.processes, "process")));
    if (balancing.empty()) say(stdout, "  holds nothing of balancing\n");
    else
        say(stdout, "  balanced last at step {}; holds what was learnt by\n{}", balancing[0].last_step,
            lines_of(models, ",", "    "));
    if (!options.brief) say(stdout, "\n{}", to_yaml(c.deck));
    return 0;
}

}  // namespace app

// SPDX-License-Identifier: MIT
// Checks of the section balance. They need no particles, so programs without a system use them too.
#include <fmt/format.h>

#include "app/common/words.hpp"
#include "app/deck/checks.hpp"
#include "app/deck/wording.hpp"
#include "balance/model/load_model.hpp"
#include "balance/partition/cell_graph.hpp"
#include "balance/partition/partition.hpp"

namespace app {

void for_each_contender(const Deck::Balance& b,
                        const std::function<void(const balance::Contender&, const std::string&)>& use) {
    use({b.driver(), b.model, b.criterion, b.partition}, "balance");
    for (std::size_t i = 0; i < b.compare.size(); ++i) use(b.compare[i], fmt::format("balance.compare.{}", i));
}

void check_partitions(const Deck::Balance& b, const balance::Grid& grid, std::int64_t processes) {
    for_each_contender(b, [&](const balance::Contender& c, const std::string& section) {
        if (const std::int64_t most = balance::kind_of(c.partition).most_cells; grid.box().cells() > most)
            throw DeckError("{}.partition.kind: {} takes at most {}, and there are {}; use another kind", section,
                            c.partition.kind, counted(most, "cell"), grid.box().cells());
        if (balance::kind_of(c.partition).follows_loads &&
            processes > balance::capacity(grid.box(), c.partition.min_width))
            throw DeckError(
                "{}.partition.min_width: {} cells do not hold {} of a width of {}; make it smaller or use fewer "
                "processes",
                section, along_axes(grid.cells, grid.dimensions), counted(processes, "patch"),
                counted(c.partition.min_width, "cell"));
    });
}

void check_formats(const Deck::Output& output, const balance::Grid& grid) {
    if (!output.balance_formats.empty() && grid.box().cells() > balance::most_cells_of_a_graph)
        throw DeckError("output.balance_formats: {}, and a graph holds at most {}; leave the key out",
                        counted(grid.box().cells(), "cell"), balance::most_cells_of_a_graph);
}

void check_balance(const Deck& deck, const Where& where) {
    const Deck::Balance& b = deck.balance;
    for (std::size_t i = 0; i < b.compare.size(); ++i)
        if (b.compare[i].name == b.driver())
            fail(where(fmt::format("balance.compare.{}", i)), b.driver() + " is there twice",
                 "leave the driver out, or give the other one a name");
    if (b.active.to_step && *b.active.to_step <= b.active.from_step)
        fail(where("balance.to_step"),
             fmt::format("{} is not beyond from_step = {}", *b.active.to_step, b.active.from_step),
             "make it larger, or write every: 0 to balance never");
    if (b.model == "exact" && b.clock == balance::BalanceClock::wall)
        fail(where("balance.model"), "exact is told what cells cost, which only counted work knows",
             "write balance.clock: work, or use another model");
    if (!b.compare.empty() && b.clock == balance::BalanceClock::wall)
        fail(where("balance.compare"),
             "models can be compared by counted work only: the times of a partition that isn't there can't be measured",
             "write balance.clock: work, or run each model by itself");
    for_each_contender(b, [&](const balance::Contender& c, const std::string& section) {
        if (deck.accelerator.backend != AcceleratorBackend::none &&
            balance::make_model(c.model, b.constants)->wants_ahead())
            fail(where(section + ".model"), c.model + " doesn't know where the particles of an accelerator fly",
                 "use r1, or no accelerator");
        if (!balance::kind_of(c.partition).built)
            fail(where(section + ".partition.kind"),
                 fmt::format("this program was built without the library of {}", c.partition.kind),
                 "install it and build anew (docs/install.md), or use another kind");
        if (c.partition.max_size > 0 && !balance::kind_of(c.partition).keeps_limit)
            fail(where(section + ".partition.max_particles_per_process"),
                 fmt::format("partitions of kind {} know no limit", c.partition.kind),
                 "write kind: chain, or null for no limit");
    });
}

namespace {

// Names of the models that know nothing of particles.
std::vector<std::string> models_without_particles(const balance::ModelConstants& constants) {
    std::vector<std::string> names = balance::model_names();
    std::erase_if(names,
                  [&](const std::string& name) { return balance::make_model(name, constants)->needs_particles(); });
    return names;
}

// Needs of the deck that a series can't meet.
void check_needs(const SeriesLacks& lacks, const Deck& deck) {
    for_each_contender(deck.balance, [&](const balance::Contender& c, const std::string& section) {
        const auto model = balance::make_model(c.model, deck.balance.constants);
        if (section == "balance" && deck.balance.chooses && !deck.balance.given.contains("model")) return;
        if (!lacks.particles.empty() && model->needs_particles())
            throw DeckError("{}.model: {}, which the model {} needs; add it, or use one of {}", section,
                            lacks.particles, c.model,
                            fmt::join(models_without_particles(deck.balance.constants), ", "));
        if (!lacks.ahead.empty() && model->wants_ahead())
            throw DeckError("{}.model: {} for {}; use r1, or record it with this model", section, lacks.ahead, c.model);
        if (!lacks.particles.empty() && c.partition.max_size > 0)
            throw DeckError("{}.partition.max_particles_per_process: {}; add it, or leave the limit out", section,
                            lacks.particles);
    });
}

}  // namespace

void check_replay(const Deck& deck, const balance::Grid& grid, const SeriesLacks& lacks, bool optimum, int ranks) {
    const Deck::Balance& b = deck.balance;
    if (!b.processes)
        throw DeckError(
            "balance.processes: it is missing; give the number of processes that share the loads, as in --set "
            "balance.processes=240");
    const std::int64_t cells = grid.box().cells();
    if (*b.processes < ranks || *b.processes > cells)
        throw DeckError("balance.processes: {} for {} on {}; use at least one per rank and at most one per cell",
                        counted(*b.processes, "process"), counted(cells, "cell"), counted(ranks, "rank"));
    if (b.speeds == balance::SpeedSource::given)
        throw DeckError("balance.speeds: a replay has no machine that could give them; write measured or off");
    check_needs(lacks, deck);
    check_partitions(b, grid, *b.processes);
    if (optimum && (b.model != "exact" || b.partition.sticky || balance::kind_of(b.partition).looks_back ||
                    b.noise > 0 || b.work.slow.fraction > 0 || b.chooses || b.work.ghost > 0))
        throw DeckError(
            "--optimum: the best schedule is known only where a partition depends on the loads of its step alone; set "
            "balance.model=exact and balance.partition.sticky=false, without kind: compact or diffusion, balance.auto, "
            "balance.noise, balance.work.slow and balance.work.ghost");
}

std::string no_partition(std::int64_t step, const balance::Infeasible& dead_end, const char* advice) {
    return fmt::format(
        "balance.partition.max_particles_per_process: step {}: no cut keeps {} within {}; the smallest limit that "
        "works now is {}; {} more processes",
        step, counted(dead_end.parts, "process"), counted(dead_end.limit, "particle"), dead_end.smallest, advice);
}

void require_partition(std::int64_t step, const std::optional<balance::Infeasible>& dead_end) {
    if (dead_end) throw DeckError(no_partition(step, *dead_end, "use it, or"));
}

}  // namespace app

// SPDX-License-Identifier: MIT
#include "tools/replay/replay_checks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "app/balancing/noise.hpp"
#include "app/common/words.hpp"
#include "app/deck/checks.hpp"
#include "app/deck/limits.hpp"

namespace app {

void SeriesNumbers::see(std::span<const double> load, std::span<const double> particles) {
    bad = {};
    for (const double v : load) {
        bad[0] += !(v >= 0 && std::isfinite(v));
        largest = std::max(largest, v);
    }
    for (const double n : particles) {
        bad[1] += !(n >= 0 && n <= INT32_MAX && n == std::floor(n));
        most_particles = std::max(most_particles, n);
    }
}

void require_entry(const SeriesNumbers& seen, std::int64_t time, const std::string& name) {
    if (seen.bad[0] > 0)
        throw InputError(fmt::format(
            "{}: /load of time {} holds numbers that are negative, infinite or none at all; give loads >= 0", name,
            time));
    if (seen.bad[1] > 0)
        throw InputError(fmt::format(
            "{}: /particles of time {} holds numbers that are no counts; give whole numbers from 0 to 2^31 - 1", name,
            time));
}

void require_sums(const SeriesNumbers& seen, std::int64_t cells, const std::string& name) {
    if (!(seen.largest > 0)) throw InputError(fmt::format("{}: /load holds zeros only; give it a load", name));
    constexpr double least_load = 1e-290, most_load = 1e290;  // sums of more are no numbers, and of less no integers
    if (!(seen.largest >= least_load && seen.largest <= most_load))
        throw InputError(fmt::format("{}: the largest number in /load is {}; use a unit in which it is from {} to {}",
                                     name, seen.largest, least_load, most_load));
    constexpr double most_pairs = 0x1p62;  // models add up pairs in 5^3 cells over all cells, in integers
    if (!(125 * seen.most_particles * seen.most_particles * static_cast<double>(cells) < most_pairs))
        throw InputError(fmt::format(
            "{}: /particles holds counts whose pairs cannot be summed exactly; count in a larger unit", name));
}

void require_ascending(std::span<const std::int64_t> steps, const std::string& name) {
    const bool ascending = std::adjacent_find(steps.begin(), steps.end(), std::greater_equal<>()) == steps.end();
    if (!ascending || steps.front() < 0 || steps.back() > last_step)
        throw InputError(fmt::format(
            "{}: the numbers in /step do not ascend from 0 or more up to 10^15; give each time a later step", name));
}

namespace {

// Names of the models that know nothing of particles.
std::vector<std::string> models_without_particles(const balance::ModelConstants& constants) {
    std::vector<std::string> names = balance::model_names();
    std::erase_if(names,
                  [&](const std::string& name) { return balance::make_model(name, constants)->needs_particles(); });
    return names;
}

// Needs of the deck that a series without particles can't meet.
void check_needs(const std::string& lack, const Deck& deck) {
    const auto check = [&](const balance::Contender& c, const std::string& section) {
        if (balance::make_model(c.model, deck.balance.constants)->needs_particles())
            throw DeckError(fmt::format("{}.model: {}, which the model {} needs; add it, or use one of {}", section,
                                        lack, c.model,
                                        fmt::join(models_without_particles(deck.balance.constants), ", ")));
        if (c.partition.max_size > 0)
            throw DeckError(fmt::format("{}.partition.max_particles_per_process: {}; add it, or leave the limit out",
                                        section, lack));
    };
    for_each_contender(deck.balance, check);
}

// No series says where particles fly.
void check_models(const Deck& deck) {
    for_each_contender(deck.balance, [&](const balance::Contender& c, const std::string& section) {
        if (balance::make_model(c.model, deck.balance.constants)->wants_ahead())
            throw DeckError(fmt::format(
                "{}.model: {} has to know where particles fly, which a series doesn't say; use r1, or exact", section,
                c.model));
    });
}

}  // namespace

void check_replayable(const Deck& deck, const SeriesFacts& series, bool optimum, int ranks) {
    const Deck::Balance& b = deck.balance;
    check_models(deck);
    if (!b.processes)
        throw DeckError(
            "balance.processes: it is missing; give the number of processes that share the loads, as in "
            "--set balance.processes=240");
    const std::int64_t cells = series.grid.box().cells();
    if (*b.processes < ranks || *b.processes > cells)
        throw DeckError(
            fmt::format("balance.processes: {} for {} on {}; use at least one per rank and at most one per cell",
                        counted(*b.processes, "process"), counted(cells, "cell"), counted(ranks, "rank")));
    if (b.speeds == balance::SpeedSource::given)
        throw DeckError("balance.speeds: a replay has no machine that could give them; write measured or off");
    if (!series.lack.empty()) check_needs(series.lack, deck);
    check_partitions(b, series.grid, *b.processes);
    if (optimum && (b.model != "exact" || b.partition.sticky || b.noise > 0 || b.work.slow.fraction > 0))
        throw DeckError(
            "--optimum: the best schedule is known only where a partition depends on the loads of its step alone; set "
            "balance.model=exact and balance.partition.sticky=false, without balance.noise and balance.work.slow");
}

void require_partition(std::int64_t step, const balance::Outcome& outcome) {
    if (!outcome.dead_end) return;
    throw DeckError(
        fmt::format("balance.partition.max_particles_per_process: step {}: no cut keeps {} within {}; the "
                    "smallest limit that works now is {}; use it, or more processes",
                    step, counted(outcome.dead_end->parts, "process"), counted(outcome.dead_end->limit, "particle"),
                    outcome.dead_end->smallest));
}

balance::Replay::Disturbance disturbance_of(const Deck& deck, const balance::Range& processes, std::int64_t step) {
    return {noise_of(deck.balance.noise, deck.system.seed, step, processes),
            counted_reference(deck.balance.work.slow, deck.balance.noise, deck.system.seed, step, processes)};
}

}  // namespace app

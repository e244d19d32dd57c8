// SPDX-License-Identifier: MIT
#include "app/balancing/from_deck.hpp"

#include <fmt/format.h>
#include <omp.h>

#include <algorithm>

#include "app/common/words.hpp"
#include "md/random.hpp"

namespace app {
namespace {

// Ranks of each node, where all nodes have as many and consecutive ones; else 0. Collective.
std::int64_t ranks_per_node(const comm::Communicator& comm) {
    const std::int64_t nodes = comm.sum_of(comm.node_rank() == 0);
    const std::int64_t each = comm.size() / nodes;
    const bool regular = comm.size() % nodes == 0 && comm.rank() % each == comm.node_rank();
    return comm.all_agree(regular) ? each : 0;
}

// Fills in the processes. If they are the ranks of the job, it also fills in the ranks of a node and their threads. By
// counted work that is one thread, because results may not depend on the number of threads. Collective.
void complete(balance::PartitionOptions& options, balance::BalanceClock clock, std::int64_t processes,
              const comm::Communicator& comm) {
    options.processes = processes;
    if (processes != comm.size()) return;
    if (options.processes_per_node == 0) options.processes_per_node = ranks_per_node(comm);
    // By counted work nothing may depend on the number of threads.
    options.threads = static_cast<int>(comm.max_of(clock == balance::BalanceClock::wall ? omp_get_max_threads() : 1));
}

}  // namespace

std::string least_time(std::span<const balance::ContenderCost> costs) {
    const std::vector<balance::Excess> ranked = balance::ranking(costs);
    if (ranked.size() < 2) return "";
    const balance::ContenderCost &least = costs[ranked[0].contender], &second = costs[ranked[1].contender];
    const std::optional<double> error = ranked[1].error;
    const std::string from = least.from_step > 0 ? fmt::format(" from step {} on", least.from_step) : "";
    std::vector<std::string> alike;
    for (const balance::Excess& e : std::span(ranked).subspan(1))
        if (!e.beyond_noise()) alike.push_back(costs[e.contender].name);
    const std::string more = !error          ? "too few opportunities to tell that from noise"
                             : alike.empty() ? "more than noise"
                                             : fmt::format("no more than noise: {}", fmt::join(alike, ", "));
    return fmt::format("least time{}: {}, {:.5g} s; {} takes {:.1f} %{} more; {}", from, least.name, least.seconds(),
                       second.name, 100 * ranked[1].part, error ? fmt::format(" +- {:.1f} %", 100 * *error) : "", more);
}

std::string prices_in_words(const balance::WorkCosts& prices, bool cells_move, std::int64_t processes) {
    return fmt::format("prices: {:.3g} s a balancing, {:.3g} s a {} that moves, shared by {}", prices.balancing,
                       prices.move, cells_move ? "cell" : "particle", counted(processes, "process"));
}

std::int64_t last_opportunity(const Deck::Balance& settings, std::int64_t end) {
    return end - end % std::max<std::int64_t>(settings.every, 1);
}

bool is_opportunity(const Deck::Balance& settings, std::int64_t step) {
    return step % std::max<std::int64_t>(settings.every, 1) == 0 && balance::is_active(settings.active, step);
}

balance::Policy policy_of(const Deck::Balance& settings, std::int64_t processes, const comm::Communicator& comm) {
    balance::Policy policy;
    policy.clock = settings.clock;
    policy.criterion = settings.criterion;
    policy.speeds = settings.speeds;
    policy.partition = settings.partition;
    complete(policy.partition, policy.clock, processes, comm);
    policy.start = settings.constants.start;
    policy.counting.work = settings.work;
    return policy;
}

void add_candidates(balance::Policy& policy, const Deck::Balance& b, const balance::Grid& grid,
                    const ChoiceLimits& limits) {
    if (!b.chooses || b.every == 0) return;
    balance::Candidates& all = policy.candidates;
    std::vector<std::string> models{"r1_ahead", "r1", "a1", "hybrid"};
    if (limits.accelerators || !limits.ahead) models.erase(models.begin());
    if (!limits.particles) models = {"a1", "time_average"};
    if (b.given.contains("model")) models = {b.model};
    const balance::CriterionOptions always{"every"};
    for (const std::string& model : models) all.models.push_back({model, model, always, policy.partition});

    std::vector<balance::PartitionOptions> kinds(5);
    kinds[0].kind = "compact";
    kinds[1].kind = "nested";
    kinds[2].order = balance::PatchOrder::tree, kinds[2].cut = balance::CutAt::cells, kinds[2].patches_per_process = 1;
    kinds[4].kind = "rcb";
    // By the wall clock those come first that all ranks make together, and strips are cut in less time than cells.
    if (policy.clock == balance::BalanceClock::wall) {
        kinds[2].cut = balance::CutAt::strips;
        std::rotate(kinds.begin(), kinds.begin() + 2, kinds.end());
    }
    constexpr std::int64_t most_cells_of_one = 1'000'000;  // One rank makes the partition.
    std::erase_if(kinds, [&](const balance::PartitionOptions& o) {
        const balance::PartitionKind& kind = balance::kind_of(o);
        const bool by_one = !kind.chained && o.kind != "rcb";
        return (b.given.contains("kind") && o.kind != b.partition.kind) ||
               (policy.partition.max_size > 0 && !kind.keeps_limit) ||
               (by_one && (limits.accelerators || grid.box().cells() > most_cells_of_one)) ||
               (limits.accelerators && kind.chained && o.patches_per_process > 1);
    });
    if (kinds.empty()) kinds.push_back(b.partition);
    for (const balance::PartitionOptions& kind : kinds) {
        balance::PartitionOptions o = policy.partition;
        o.kind = kind.kind;
        if (!b.given.contains("order")) o.order = kind.order;
        if (!b.given.contains("cut")) o.cut = kind.cut;
        if (!b.given.contains("patches_per_process")) o.patches_per_process = kind.patches_per_process;
        std::string name = o.kind;
        if (balance::kind_of(o).chained)
            name += fmt::format("-{}-{}-{}", balance::word_of(o.order), o.patches_per_process, balance::word_of(o.cut));
        if (std::ranges::count(all.partitions, name, &balance::Contender::name) == 0)
            all.partitions.push_back({name, all.models.front().model, always, o});
    }
    policy.partition = all.partitions.front().partition;
}

std::vector<std::string> choices_in_words(const balance::Candidates& candidates, const balance::Choice& choice) {
    std::vector<std::string> words;
    if (!candidates.empty() && choice.made.empty())
        words.push_back(fmt::format("auto: the model {} and the partition {}, {}", candidates.models[choice.model].name,
                                    candidates.partitions[choice.partition].name,
                                    candidates.size() <= 2 ? "because there are no others"
                                    : choice.next > 1      ? "which nothing beat"
                                                           : "without a trial of the others"));
    for (const balance::Chosen& c : choice.made)
        words.push_back(fmt::format("auto: step {}: the model {} and the partition {} promise {:.1f} % less time",
                                    c.step, c.model, c.partition, 100 * c.saves));
    return words;
}

std::vector<balance::Contender> others_of(const Deck::Balance& settings, std::int64_t processes,
                                          const comm::Communicator& comm) {
    std::vector<balance::Contender> others(settings.compare.begin(), settings.compare.end());
    for (balance::Contender& c : others) complete(c.partition, settings.clock, processes, comm);
    return others;
}

std::vector<Overall> overall_of(std::span<const BalancedModel> models) {
    std::vector<Overall> all;
    for (const BalancedModel& b : models) {
        const balance::History& h = b.history;
        if (!(h.sum_max > 0)) continue;
        all.push_back({b.label, h.sum_mean / h.sum_max, std::nullopt});
        if (h.sum_max > h.early_max) all.back().measured = (h.sum_mean - h.early_mean) / (h.sum_max - h.early_max);
    }
    return all;
}

std::vector<std::string> never_balanced(std::span<const BalancedModel> models) {
    constexpr double low = 0.8;
    std::vector<std::string> sentences;
    for (const BalancedModel& b : models) {
        const balance::History& h = b.history;
        if (!b.criterion->relative() || h.updates > 0 || !(h.sum_mean < low * h.sum_max)) continue;
        sentences.push_back(
            fmt::format("{}: the criterion {} never asked for a balancing, although the LBE is {:.1f} %: it compares "
                        "with the times after the last balancing, and takes a bad start that stays as bad for "
                        "balanced; use balance.criterion: gain or menon, or a better start",
                        b.label, b.contender.criterion.name, 100 * h.sum_mean / h.sum_max));
    }
    return sentences;
}

std::vector<double> noise_of(double noise, std::uint64_t seed, std::int64_t step,
                             const balance::IndexRange& processes) {
    std::vector<double> factors;
    if (noise == 0) return factors;
    const std::uint64_t of_step = seed + md::mix(static_cast<std::uint64_t>(step));
    for (std::int64_t p = processes.begin; p < processes.end; ++p)
        factors.push_back(std::max(0.0, 1 + noise * md::normal_pair(of_step, p)[0]));
    return factors;
}

std::vector<double> counted_reference(const balance::Slowdown& slow, double noise, std::uint64_t seed,
                                      std::int64_t step, const balance::IndexRange& hosted) {
    std::vector<double> seconds = noise_of(noise, ~seed, step, hosted);
    seconds.resize(hosted.size(), 1);
    for (std::size_t i = 0; i < seconds.size(); ++i)
        seconds[i] /= balance::speed_of(slow, hosted.begin + static_cast<std::int64_t>(i), step);
    return seconds;
}

balance::Replay::Disturbance disturbance_of(const Deck& deck, const balance::IndexRange& hosted, std::int64_t step) {
    const Deck::Balance& b = deck.balance;
    return {noise_of(b.noise, deck.system.seed, step, hosted),
            counted_reference(b.work.slow, b.noise, deck.system.seed, step, hosted)};
}

std::vector<double> given_speeds(const Deck::Machine& machine, const balance::PartitionOptions& options) {
    const std::int64_t each = options.processes_per_node > 0 ? options.processes_per_node : options.processes;
    const std::int64_t nodes = (options.processes + each - 1) / each;
    const auto given = static_cast<std::int64_t>(machine.core_speed.size());
    if (given > 1 && given != nodes)
        throw DeckError(
            "machine.core_speed: {} values, but {} with {} a node make {}; give one of each node, or say by "
            "balance.partition.processes_per_node how many processes a node has",
            given, counted(options.processes, "process"), each, counted(nodes, "node"));
    std::vector<double> speeds;
    for (std::int64_t p = 0; p < options.processes; ++p)
        speeds.push_back(Deck::Machine::at(machine.core_speed, p / each));
    return speeds;
}

}  // namespace app

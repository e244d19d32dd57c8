// SPDX-License-Identifier: MIT
#include "tools/predict/decomposed.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>
#include <utility>

#include "app/common/errors.hpp"
#include "app/engine/thread_schedule.hpp"
#include "balance/grid/for_each.hpp"
#include "balance/model/work.hpp"
#include "balance/partition/plan.hpp"
#include "balance/partition/quality.hpp"
#include "comm/message_plan.hpp"

namespace predict {
namespace {

using balance::Move;
using balance::Part;

// The parts that each rank sends in one kind of exchange.
using Parts = std::vector<std::vector<Part>>;

void add(std::vector<Part>& sent, int to, double bytes) {
    if (bytes >= 1) sent.push_back({to, static_cast<std::size_t>(std::llround(bytes))});
}

Parts received_of(const Parts& sent) {
    Parts received(sent.size());
    for (std::size_t r = 0; r < sent.size(); ++r)
        for (const Part& p : sent[r]) received[p.member].push_back({static_cast<int>(r), p.bytes});
    return received;
}

// The knowledge of each node for Aggregate::node (comm/message_plan.hpp).
std::vector<comm::NodeTraffic> node_traffic(const Parts& sent, const comm::NodeMap& nodes,
                                            const comm::Schedule& schedule) {
    std::vector<comm::NodeTraffic> traffic(nodes.nodes());
    if (schedule.aggregate != comm::Aggregate::node) return traffic;
    std::vector<std::set<int>> targets(nodes.nodes()), sources(nodes.nodes());
    for (int r = 0; r < nodes.ranks(); ++r)
        for (const Part& p : sent[r])
            if (is_forwarded(p.bytes, r, p.member, nodes, schedule)) {
                traffic[nodes.of(p.member)].parts.push_back({r, p.member, p.bytes});
                targets[nodes.of(r)].insert(nodes.of(p.member));
                sources[nodes.of(p.member)].insert(nodes.of(r));
            }
    for (comm::NodeTraffic& t : traffic) {
        const auto before = [](const comm::ForwardedPart& a, const comm::ForwardedPart& b) {
            return std::pair(a.source, a.target) < std::pair(b.source, b.target);
        };
        std::ranges::stable_sort(t.parts, before);
        for (int n = 0; n < nodes.nodes(); ++n) {
            t.targets.push_back(static_cast<std::int64_t>(targets[n].size()));
            t.sources.push_back(static_cast<std::int64_t>(sources[n].size()));
        }
    }
    return traffic;
}

// The messages of a rank's parts. Forwarded parts count as sent with its own.
void add_messages(const Parts& sent, const comm::NodeMap& nodes, const comm::Schedule& schedule,
                  std::vector<RankStep>& ranks) {
    const std::vector<comm::NodeTraffic> traffic = node_traffic(sent, nodes, schedule);
    const bool forwards = schedule.aggregate == comm::Aggregate::node;  // else nobody sends what it has received
    const Parts received = forwards ? received_of(sent) : Parts(sent.size());
    app::parallel_for(nodes.ranks(), [&](std::size_t i) {
        const int r = static_cast<int>(i);
        const comm::MessagePlan plan = plan_messages(r, sent[r], received[r], nodes, schedule, traffic[nodes.of(r)]);
        for (const auto& m : plan.sends) ranks[r].sends.push_back({m.to, static_cast<double>(m.bytes)});
        for (const auto& receive : plan.receives)
            for (const auto& part : receive.forwards)
                if (part.to != r) ranks[r].sends.push_back({part.to, static_cast<double>(part.bytes)});
    });
}

// Loads of a rank's tiles, and which other ranks own some of their ghosts. ghosts: the plan of these.
RankStep work_of(const CellField& field, const balance::SummedArea& load, const balance::Decomposition& owners,
                 const balance::Plan& ghosts, int rank) {
    std::map<balance::TileId, std::set<int>> sources;
    for (const auto& link : ghosts.links)
        for (const Move& m : link.incoming) sources[m.target].insert(link.member);
    RankStep step;
    const balance::IndexRange mine = owners.processes_of(rank);
    for (std::int64_t p = mine.begin; p < mine.end; ++p) {
        const std::vector<balance::Box> tiles = owners.tiles_of(p);
        for (std::size_t t = 0; t < tiles.size(); ++t) {
            const double seconds = balance::to_seconds(load.of(tiles[t]));
            const auto found = sources.find({p, static_cast<int>(t)});
            if (found == sources.end()) step.inner_seconds += seconds;
            else step.rim.push_back({seconds, {found->second.begin(), found->second.end()}});
        }
    }
    const double all = field.content() * step.seconds();  // tiles stay as large as they are: fewer lie at the rim
    double rim = 0;
    for (RimTile& tile : step.rim) rim += tile.seconds *= field.border();
    step.inner_seconds = all - rim;
    return step;
}

}  // namespace

int parts_of_cells(const balance::Grid& grid, double length, std::int64_t ranks, int min_width) {
    // With 1000 cells a rank imbalance is hardly more than with all. A rank of 2 min_width has a place on any grid.
    const double each = std::max(1000.0, grown(2 * min_width, grid.dimensions)), most = 1 << 24;
    const auto cells = [&](int n) { return static_cast<double>(grid.box().cells()) * grown(n, grid.dimensions); };
    int parts = 1;
    while (parts + 1 <= length && cells(parts) < each * static_cast<double>(ranks) && cells(parts + 1) <= most) ++parts;
    return parts;
}

CellField cut_cells(const CellField& field, int parts) {
    const double load = std::accumulate(field.load.begin(), field.load.end(), 0.0);
    if (load * grown(parts, field.grid.dimensions) >= static_cast<double>(balance::most_ticks))
        throw app::UsageError("command line: --scale: the work of a step is too much to be summed exactly; use less");
    return {cut_cells(field.grid, parts),
            cut_cells(field.load, field.grid, parts),
            cut_cells(field.items, field.grid, parts),
            field.halo,
            field.reach,
            field.item_bytes,
            field.length / parts};
}

RankSteps rank_steps(const CellField& field, const balance::Decomposition& owners, const comm::NodeMap& nodes,
                     const comm::Schedule& schedule) {
    const int ranks = owners.ranks();
    const balance::SummedArea load(field.grid.box(), field.load), items(field.grid.box(), field.items);
    Parts positions(ranks), counts(ranks), records(ranks);
    RankSteps result;
    result.steps.resize(ranks), result.counts.resize(ranks), result.records.resize(ranks);
    // Tiles are cut when somebody first asks for them, which two threads must not do at the same time.
    for (std::int64_t p = 0; p < owners.processes(); ++p) owners.tiles_of(p);
    app::parallel_for(ranks, [&](std::size_t i) {
        const int r = static_cast<int>(i);
        const balance::Plan ghosts = balance::halo_plan(owners, r, field.reach),
                            wider =
                                field.halo == field.reach ? balance::Plan{} : balance::halo_plan(owners, r, field.halo);
        result.steps[r] = work_of(field, load, owners, ghosts, r);
        for (const auto& link : ghosts.links)
            for (const Move& m : link.outgoing)
                add(positions[r], link.member,
                    static_cast<double>(items.of(m.box)) * field.item_bytes * field.border());
        for (const auto& link : (field.halo == field.reach ? ghosts : wider).links) {
            for (const Move& m : link.outgoing)
                add(counts[r], link.member, static_cast<double>(m.box.cells()) * sizeof(std::int32_t) * field.border());
            add(records[r], link.member, sizeof(std::int64_t));
        }
    });
    add_messages(positions, nodes, schedule, result.steps);
    add_messages(counts, nodes, schedule, result.counts);
    add_messages(records, nodes, schedule, result.records);
    for (const RankStep& step : result.steps) {
        result.messages += static_cast<double>(step.sends.size()) / ranks;
        for (const Message& m : step.sends) result.bytes += m.bytes / ranks;
    }
    return result;
}

std::vector<RankStep> field_exchange(const balance::Grid& grid, const balance::Partition& partition, double bytes) {
    const balance::Homes homes{grid, static_cast<int>(partition.processes())};
    std::vector<RankStep> steps(static_cast<std::size_t>(partition.processes()));
    for (std::int64_t p = 0; p < partition.processes(); ++p)
        for (std::int64_t b = partition.first[p]; b < partition.first[p + 1]; ++b)
            homes.for_each_in(partition.boxes[b], [&](int home) {
                if (home == p) return;
                const balance::Box common = balance::intersection(partition.boxes[b], homes.of(home));
                std::vector<Message>& sends = steps[home].sends;
                if (sends.empty() || sends.back().to != p) sends.push_back({static_cast<int>(p), 0});
                sends.back().bytes += bytes * static_cast<double>(common.cells());
            });
    return steps;
}

std::vector<RankStep> migration_exchange(const CellField& field, const balance::Partition& from,
                                         const balance::Partition& to, double bytes) {
    const balance::Box all = field.grid.box();
    const balance::Owners before(field.grid, all, all_of(from)), after(field.grid, all, all_of(to));
    std::map<std::pair<int, int>, double> sent;
    balance::for_each_cell(all, [&](int x, int y, int z) {
        const std::int32_t source = before.at(x, y, z), target = after.at(x, y, z);
        if (source == target) return;
        sent[{source, target}] +=
            bytes * field.content() * static_cast<double>(field.items[balance::place_in(all, x, y, z)]);
    });
    std::vector<RankStep> steps(static_cast<std::size_t>(from.processes()));
    for (const auto& [pair, moved] : sent) steps[pair.first].sends.push_back({pair.second, moved});
    return steps;
}

}  // namespace predict

// SPDX-License-Identifier: MIT
#include "balance/model/evaluate.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "balance/model/work.hpp"

namespace balance {
namespace {

// The rounds in which the model learns from all processes at once.
// Returns the contributions of the last one, of each process of this member.
std::vector<std::vector<double>> conclude_rounds(LoadModel& model, const Team& team, std::span<const ProcessView> views,
                                                 std::span<const double> times) {
    std::vector<std::vector<double>> rows(views.size());
    for (int round = 0; round < model.rounds(); ++round) {
        std::vector<double> mine;
        for (std::size_t i = 0; i < views.size(); ++i) {
            rows[i] = model.contribution(round, views[i]);
            mine.insert(mine.end(), rows[i].begin(), rows[i].end());
        }
        // Members host consecutive processes: one after the other their rows are in the order of the processes.
        const std::vector<double> all = gather<double>(team, mine);
        std::vector<double> conclusions;
        if (team.rank() == 0) conclusions = model.conclude(round, all, times);
        model.learn(round, all_gather<double>(team, conclusions));
    }
    return rows;
}

// Loads (>= 0, any unit) of the cells of a member: the largest of all members gets as many bits as the sum over the
// grid can hold.
CellLoads as_integers(const Team& team, const Grid& grid, std::span<const double> loads) {
    std::int64_t largest = 0;
    for (const double l : loads)
        largest = std::max(largest, std::bit_cast<std::int64_t>(l));  // >= 0: bits have the order of values
    team.max(std::span(&largest, 1));
    const double scale = load_scale(std::bit_cast<double>(largest), grid.box().cells());
    CellLoads result{{}, scale > 0 ? 1 / scale : 1.0};
    result.load.reserve(loads.size());
    for (const double l : loads) result.load.push_back(rounded(l * scale));
    return result;
}

}  // namespace

CellLoads first_loads(Start start, std::span<const CellCounts> counts) {
    CellLoads result;
    result.load.reserve(counts.size());
    for (const CellCounts& c : counts) result.load.push_back(rounded(first_load(start, c)));
    return result;
}

namespace {

// Between the homes and the cells of the processes that members host.
FieldPlan plan_of(const Team& team, const Grid& grid, const ProcessBoxes& known, const Hosts& hosts) {
    std::vector<int> members;
    for (const std::int64_t p : known.processes)
        if (const int m = hosts.member_of(p); members.empty() || members.back() != m) members.push_back(m);
    const auto boxes_of = [&](int member) {
        const Range its = hosts.processes_of(member);
        const auto begin = std::ranges::lower_bound(known.processes, its.begin) - known.processes.begin(),
                   end = std::ranges::lower_bound(known.processes, its.end) - known.processes.begin();
        return std::vector<Box>(known.boxes.begin() + known.first[begin], known.boxes.begin() + known.first[end]);
    };
    return {team, Homes{grid, team.size()}, members, boxes_of};
}

}  // namespace

HostedCells::HostedCells(const Team& team, const Grid& grid, const ProcessBoxes& known, const Hosts& hosts,
                         std::span<const CellCounts> at_home, std::optional<std::vector<CellCounts>> hosted)
    : plan_(plan_of(team, grid, known, hosts)) {
    const Range mine = hosts.processes_of(team.rank());
    std::int64_t first = 0;
    for (std::int64_t i = 0; i < known.size(); ++i) {
        const std::int64_t p = known.processes[i];
        if (p < mine.begin || p >= mine.end) continue;
        std::int64_t cells = 0;
        for (const Box& b : known.of(i)) cells += b.cells();
        processes_.push_back({p, known.of(i), first, cells});
        first += cells;
    }
    counts_ = hosted ? std::move(*hosted) : plan_.to_boxes(at_home);
}

CellLoads evaluate(LoadModel& model, const Team& team, const Grid& grid, const HostedCells& hosted,
                   std::span<double> state, std::span<const double> times, std::span<const std::int64_t> work,
                   const std::optional<std::vector<CellCounts>>& ahead) {
    const FieldPlan& plan = hosted.plan();
    std::vector<double> state_by_process = plan.to_boxes(std::span<const double>(state));
    std::vector<ProcessView> views;
    for (const HostedCells::Process& p : hosted.processes())
        views.push_back(
            {hosted.counts(p), std::span(state_by_process).subspan(p.first, p.cells), times[p.index], p.index});
    const auto show = [&views](const auto& values, auto member) {  // to each process those of its cells
        for (std::size_t at = 0; ProcessView & view : views) {
            view.*member = std::span(values).subspan(at, view.cells.size());
            at += view.cells.size();
        }
    };
    std::vector<double> costs;
    if (model.wants_costs() && !work.empty()) {
        for (const std::int64_t ticks : plan.to_boxes(work)) costs.push_back(to_seconds(ticks));
        show(costs, &ProcessView::costs);
    }
    std::vector<CellCounts> ahead_by_process;
    if (model.wants_ahead() && ahead) {
        ahead_by_process = plan.to_boxes(std::span<const CellCounts>(*ahead));
        show(ahead_by_process, &ProcessView::ahead);
    }
    const std::vector<std::vector<double>> rows = conclude_rounds(model, team, views, times);
    for (std::size_t i = 0; i < views.size(); ++i) views[i].contribution = rows[i];

    Totals totals{0, 0, grid.box().cells(), static_cast<std::int64_t>(times.size())};
    for (const double t : times) totals.time += t;
    for (const CellCounts& c : hosted.counts()) totals.particles += c.n;
    team.sum(std::span(&totals.particles, 1));
    std::vector<double> loads(hosted.counts().size());
    std::size_t at = 0;
    for (const ProcessView& view : views) {
        model.update(view, totals, std::span(loads).subspan(at, view.cells.size()));
        at += view.cells.size();
    }
    CellLoads result = as_integers(team, grid, loads);
    std::vector<std::int64_t> at_home(state.size());
    plan.to_home(std::span<const double>(state_by_process), state);
    plan.to_home(std::span<const std::int64_t>(result.load), std::span(at_home));
    result.load = std::move(at_home);
    return result;
}

}  // namespace balance

// SPDX-License-Identifier: MIT
#include "balance/model/evaluate.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <stdexcept>

#include "balance/model/work.hpp"
#include "balance/over_all.hpp"

namespace balance {
namespace {

// Time and row of each process that a model concludes from, one after the other, on member 0. Members host consecutive
// processes, so they are in the order of the processes. times, rows: of the hosted processes.
std::vector<double> sampled_rows(const Team& team, const ProcessCells& cells, std::span<const double> times,
                                 std::span<const double> rows) {
    const std::int64_t every = concluded_every(cells.processes()), begin = cells.hosted().begin;
    std::vector<double> sampled;
    for (std::int64_t p = next_of_sample(begin, every); p < cells.hosted().end; p += every) {
        const auto i = static_cast<std::size_t>(p - begin), width = rows.size() / times.size();
        const std::span<const double> row = rows.subspan(i * width, width);
        sampled.push_back(times[i]);
        sampled.insert(sampled.end(), row.begin(), row.end());
    }
    return gather<double>(team, sampled);
}

// The rounds in which the model learns from many processes at once. Returns the contributions of the last one, of the
// process of each piece. times: of the hosted processes.
std::vector<double> conclude_rounds(LoadModel& model, const Team& team, const ProcessCells& cells,
                                    std::span<const ProcessView> views, std::span<const double> times) {
    std::vector<double> of_hosted;
    std::size_t width = 0;
    for (int round = 0; round < model.rounds(); ++round) {
        std::vector<double> mine;
        for (const ProcessView& view : views) {
            const std::vector<double> row = model.contribution(round, view);
            mine.insert(mine.end(), row.begin(), row.end());
        }
        // A member may have no piece, and has to know how wide the rows of others are.
        if (cells.are_whole()) width = views.empty() ? 0 : mine.size() / views.size();
        else width = model.contribution(round, {}).size();
        of_hosted = cells.sums_at_hosts(mine, width);
        const std::vector<double> sampled = sampled_rows(team, cells, times, of_hosted);
        std::vector<double> conclusions;
        if (team.rank() == 0) {
            const std::int64_t every = concluded_every(cells.processes());
            const std::size_t of_each = sampled.size() / ((cells.processes() + every - 1) / every);
            std::vector<double> rows, seconds;
            for (auto here = sampled.begin(); here != sampled.end(); here += static_cast<std::ptrdiff_t>(of_each)) {
                seconds.push_back(*here);
                rows.insert(rows.end(), here + 1, here + static_cast<std::ptrdiff_t>(of_each));
            }
            conclusions = model.conclude(round, rows, seconds);
        }
        model.learn(round, from_first(team, std::move(conclusions)));
    }
    return cells.for_pieces(of_hosted, width);
}

}  // namespace

CellLoads as_integers(const Team& team, const Grid& grid, std::span<const double> loads) {
    std::int64_t largest = 0;
    for (const double l : loads)
        largest = std::max(largest, std::bit_cast<std::int64_t>(l));  // >= 0: bits have the order of values
    largest = team.max_of(largest);
    const double scale = load_scale(std::bit_cast<double>(largest), grid.box().cells());
    CellLoads result{{}, scale > 0 ? 1 / scale : 1.0};
    result.load.reserve(loads.size());
    for (const double l : loads) result.load.push_back(rounded(l * scale));
    return result;
}

CellLoads first_loads(Start start, std::span<const CellCounts> counts) {
    CellLoads result;
    result.load.reserve(counts.size());
    for (const CellCounts& c : counts) result.load.push_back(rounded(first_load(start, c)));
    return result;
}

CellLoads evaluate(LoadModel& model, const Team& team, const Grid& grid, const ProcessCells& cells,
                   std::span<const CellCounts> counts, std::span<double> state, std::span<const double> times,
                   std::span<const std::int64_t> work, const std::optional<std::vector<CellCounts>>& ahead) {
    if (!cells.are_whole() && !model.additive())
        throw std::logic_error("the load model has to see whole processes; this is a bug");
    std::vector<double> state_here = cells.to_pieces(std::span<const double>(state));
    std::vector<ProcessView> views;
    const std::vector<double> time_of_piece = cells.for_pieces(times, 1);
    for (std::size_t i = 0; i < cells.pieces().size(); ++i) {
        const Piece& p = cells.pieces()[i];
        views.push_back({{}, std::span(state_here).subspan(p.first, p.cells), time_of_piece[i], p.process});
    }
    const auto show = [&](const auto& values, auto member) {  // to each piece those of its cells
        for (std::size_t i = 0; i < views.size(); ++i)
            views[i].*member = std::span(values).subspan(cells.pieces()[i].first, cells.pieces()[i].cells);
    };
    std::vector<CellCounts> counts_here, ahead_here;
    if (model.needs_particles()) show(counts_here = cells.to_pieces(counts), &ProcessView::cells);
    if (model.wants_ahead() && ahead)
        show(ahead_here = cells.to_pieces(std::span<const CellCounts>(*ahead)), &ProcessView::ahead);
    std::vector<double> costs;
    if (model.wants_costs() && !work.empty()) {
        for (const std::int64_t ticks : cells.to_pieces(work)) costs.push_back(to_seconds(ticks));
        show(costs, &ProcessView::costs);
    }
    const std::vector<double> rows = conclude_rounds(model, team, cells, views, times);
    if (!views.empty()) {
        const std::size_t width = rows.size() / views.size();
        for (std::size_t i = 0; i < views.size(); ++i)
            views[i].contribution = std::span(rows).subspan(i * width, width);
    }

    std::array<std::int64_t, 1> particles{};
    for (const CellCounts& c : counts) particles[0] += c.n;
    const std::vector<double> of_times(times.begin(), times.end());
    const OverAll all = over_all(team, cells.processes(), std::span(&of_times, 1), particles)[0];
    const Totals totals{all.sum, particles[0], grid.box().cells(), cells.processes()};
    std::vector<double> loads(cells.cells());
    for (std::size_t i = 0; i < views.size(); ++i)
        model.update(views[i], totals, std::span(loads).subspan(cells.pieces()[i].first, cells.pieces()[i].cells));
    CellLoads result = as_integers(team, grid, loads);
    std::vector<std::int64_t> at_home(state.size());
    cells.to_home(std::span<const double>(state_here), state);
    cells.to_home(std::span<const std::int64_t>(result.load), std::span(at_home));
    result.load = std::move(at_home);
    return result;
}

}  // namespace balance

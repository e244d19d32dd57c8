// SPDX-License-Identifier: MIT
// Rank 0 reads the rows and deals them out: each rank gets those of what it sends and of what it receives.
#include "trace.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <span>
#include <string_view>

#include "app/common/errors.hpp"
#include "app/common/words.hpp"
#include "app/deck/wording.hpp"
#include "app/state/text_lines.hpp"
#include "comm/file/durable.hpp"

namespace {

constexpr std::string_view header = "plan,kind,step,source,target,bytes,source_node,target_node";

struct TraceRow {
    std::int64_t plan, kind, bytes;
    std::int32_t source, target;
};

struct Table {
    std::vector<std::string> kinds;
    std::vector<TraceRow> rows;
};

// A number from `least` on, or -1.
std::int64_t number(std::string_view text, std::int64_t least) {
    const std::int64_t n = app::number_in<std::int64_t>(text).value_or(-1);
    return n >= least && n < INT32_MAX ? n : -1;
}

Table read_table(const std::string& path) {
    app::TextLines lines(path);
    constexpr double row_bytes = 3;  // in memory, for one byte of the file
    if (const std::string lack = comm::lack_of_memory(row_bytes * static_cast<double>(lines.size())); !lack.empty())
        lines.refuse_file(lack, "trace fewer steps");
    std::optional<std::string_view> line = lines.next();
    if (!line || *line != header)
        throw app::InputError("{}: is no trace of messages; give a file that steelyard run --trace-messages wrote",
                              path);
    Table table;
    std::map<std::string, std::int64_t, std::less<>> number_of;
    while ((line = lines.next())) {
        const std::vector<std::string> f = app::parts_of(*line, ',');
        TraceRow row{-1, 0, -1, -1, -1};
        if (f.size() == 8) {
            row = {number(f[0], 0), 0, number(f[5], 1), static_cast<std::int32_t>(number(f[3], 0)),
                   static_cast<std::int32_t>(number(f[4], 0))};
            const auto known = number_of.try_emplace(f[1], number_of.size());
            if (known.second) table.kinds.emplace_back(f[1]);
            row.kind = known.first->second;
        }
        if (row.plan < 0 || row.bytes < 0 || row.source < 0 || row.target < 0 || row.source == row.target)
            lines.refuse("is no row of a trace of messages", "make the trace anew");
        table.rows.push_back(row);
    }
    return table;
}

// Leaves the rows of the plans that are asked for.
void choose(Table& table, const std::vector<std::string>& kinds, std::size_t most) {
    for (const std::string& k : kinds)
        if (std::ranges::find(table.kinds, k) == table.kinds.end())
            throw app::UsageError("--kind: there is no plan {} in the trace; it has {}", app::printable(k),
                                  app::printable(fmt::format("{}", fmt::join(table.kinds, ", "))));
    std::vector<std::vector<std::int64_t>> plans(table.kinds.size());
    for (const TraceRow& r : table.rows)
        if (plans[r.kind].empty() || plans[r.kind].back() != r.plan) plans[r.kind].push_back(r.plan);
    std::vector<std::int64_t> chosen;
    for (std::size_t k = 0; k < plans.size(); ++k) {
        if (!kinds.empty() && std::ranges::find(kinds, table.kinds[k]) == kinds.end()) continue;
        const std::size_t n = std::min(most, plans[k].size());
        for (std::size_t i = 0; i < n; ++i) chosen.push_back(plans[k][(2 * i + 1) * plans[k].size() / (2 * n)]);
    }
    std::erase_if(table.rows, [&](const TraceRow& r) { return std::ranges::find(chosen, r.plan) == chosen.end(); });
}

}  // namespace

std::vector<TracedPlan> read_trace(const std::string& path, const std::vector<std::string>& kinds, std::size_t most,
                                   const comm::Communicator& comm) {
    Table table;
    app::on_rank_0(comm, [&] {
        table = read_table(path);
        std::int32_t last = -1;
        for (const TraceRow& r : table.rows) last = std::max({last, r.source, r.target});
        if (table.rows.empty())
            throw app::InputError("{}: there is no message in it; make a trace of two ranks or more", path);
        if (last + 1 != comm.size())
            throw app::InputError("{}: is a trace of {}, and here are {}; start as many ranks", path,
                                  app::counted(last + 1, "rank"), comm.size());
        choose(table, kinds, most);
    });
    std::string names = fmt::format("{}", fmt::join(table.kinds, ","));
    comm.broadcast(names);
    std::vector<std::vector<std::byte>> to_rank(comm.size());
    for (const TraceRow& r : table.rows)
        for (const std::int32_t rank : {r.source, r.target}) balance::append(to_rank[rank], r);
    const auto mine = balance::elements_in<TraceRow>(comm.all_to_all(to_rank));
    // All ranks list the same plans, also those in which they have no part.
    std::vector<std::int64_t> plan_kinds;
    std::map<std::int64_t, std::int64_t> kind_of;
    for (const TraceRow& r : table.rows) kind_of[r.plan] = r.kind;
    for (const auto& [plan, kind] : kind_of) plan_kinds.insert(plan_kinds.end(), {plan, kind});
    comm.broadcast_list(plan_kinds);

    const std::vector<std::string> kind_names = app::parts_of(names, ',');
    std::vector<TracedPlan> plans;
    std::map<std::int64_t, std::size_t> place_of;
    for (std::size_t i = 0; i < plan_kinds.size(); i += 2) {
        place_of[plan_kinds[i]] = plans.size();
        plans.push_back({kind_names[plan_kinds[i + 1]], {}, {}});
    }
    for (const TraceRow& r : mine) {
        TracedPlan& plan = plans[place_of.at(r.plan)];
        const auto bytes = static_cast<std::size_t>(r.bytes);
        if (r.source == comm.rank()) plan.sent.push_back({r.target, bytes});
        else plan.received.push_back({r.source, bytes});
    }
    return plans;
}

// SPDX-License-Identifier: MIT
// The search for slow processes: which members search among which processes. Member 0 searches among all of them, or
// several members search among a group each, where there are very many.
#include <algorithm>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "balance/delivery.hpp"
#include "balance/model/load_model.hpp"
#include "balance/model/median.hpp"
#include "balance/model/speeds.hpp"

namespace balance {
namespace {

// The groups in which processes are looked for: one, or several of about `enough` processes, each of which is searched
// by itself. A hash deals stretches of 64 consecutive processes, which share blocks of cells, to the groups, so each
// group has stretches from all over the machine. Dealt in turn, one group could get the same socket of every node.
class Groups {
public:
    explicit Groups(std::int64_t processes) : count_((processes + enough - 1) / enough) {}
    std::int64_t count() const { return count_; }
    std::int64_t of(std::int64_t process) const {
        std::uint64_t hash = static_cast<std::uint64_t>(process / stretch + 1) * 0x9e3779b97f4a7c15;
        hash = (hash ^ (hash >> 32)) * 0xd6e8feb86659fd93;
        return static_cast<std::int64_t>((hash >> 32) % static_cast<std::uint64_t>(count_));
    }
    int member_of(std::int64_t group, int members) const { return static_cast<int>(group * members / count_); }

private:
    static constexpr std::int64_t enough = most_known_to_one, stretch = 64;
    std::int64_t count_;
};

// What members tell of the processes that they host comes to those who look for them, in the order of the processes.
// told: one after the other. process_of(i): the process that told[i] is of.
template <class T, class ProcessOf>
std::vector<T> to_searchers(const Team& team, const Groups& groups, const std::vector<T>& told, ProcessOf process_of) {
    if (groups.count() == 1) return gather<T>(team, told);
    std::map<int, std::vector<T>> lists;
    for (std::size_t i = 0; i < told.size(); ++i)
        lists[groups.member_of(groups.of(process_of(i)), team.size())].push_back(told[i]);
    std::vector<Parcel<T>> parcels;
    for (auto& [member, list] : lists) parcels.push_back({member, std::move(list)});
    std::vector<T> arrived;
    for (const Parcel<T>& p : deliver(team, parcels)) arrived.insert(arrived.end(), p.list.begin(), p.list.end());
    return arrived;
}

// What a search in one group starts from.
struct Problem {
    std::vector<std::int64_t> processes;
    std::vector<double> left, known;
    std::vector<SpeedRecord> records;  // processes by their places in the group
};
using Problems = std::map<std::int64_t, Problem>;  // by group

// numbers: of each process which one it is, what is left of it, and its excess in each record. known(process): its
// speed.
template <class Known>
Problems problems_of(const Groups& groups, std::span<const double> numbers, std::size_t records, Known known) {
    Problems problems;
    for (auto next = numbers.begin(); next != numbers.end();) {
        const auto process = static_cast<std::int64_t>(*next++);
        Problem& problem = problems[groups.of(process)];
        problem.processes.push_back(process);
        problem.known.push_back(known(process));
        problem.left.push_back(*next++);
        problem.records.resize(records);
        for (SpeedRecord& r : problem.records) r.excess.push_back(*next++);
    }
    return problems;
}

// shares: of record k, by process.
void add_shares(Problems& problems, const Groups& groups, std::size_t k, std::vector<BlockShare> shares) {
    if (groups.count() == 1) {  // the place of a process is its number
        if (!problems.empty()) problems.begin()->second.records[k].shares = std::move(shares);
        return;
    }
    std::map<std::int64_t, std::int32_t> places;  // of each group's process that is told of
    for (const BlockShare& s : shares) {
        const std::int64_t group = groups.of(s.process);
        Problem& problem = problems.at(group);
        std::int32_t& place = places[group];
        while (problem.processes[place] != s.process) ++place;
        problem.records[k].shares.push_back({place, s.block, s.share});
    }
}

}  // namespace

std::vector<Speeds::SpeedOf> Speeds::search(const Team& team, const Range& hosted, const Blocks& blocks,
                                            const Left& left, const Meter& meter) const {
    meter.part(RoundPart::shares, std::ssize(parts_) * hosted.size(), 0);
    const Groups groups(processes_);
    const std::size_t records = records_.size(), width = 2 + records;
    std::vector<double> numbers;  // as in problems_of()
    for (std::int64_t i = 0; i < hosted.size(); ++i) {
        numbers.insert(numbers.end(), {static_cast<double>(hosted.begin + i), left.squares[i]});
        for (const Record& r : records_) numbers.push_back(r.excess[i]);
    }
    numbers = to_searchers(team, groups, numbers,
                           [&](std::size_t i) { return hosted.begin + static_cast<std::int64_t>(i / width); });
    Problems problems = problems_of(groups, numbers, records, [&](std::int64_t process) { return of(process); });
    for (std::size_t k = 0; k < records; ++k) {
        std::vector<BlockShare> shares = shares_of(parts_[k].unpacked(), blocks);
        const std::vector<double>& times = records_[k].times;  // a process without one tells nothing
        if (!std::ranges::all_of(times, is_time))
            std::erase_if(shares, [&](const BlockShare& s) { return !is_time(times[s.process - hosted.begin]); });
        add_shares(problems, groups, k,
                   to_searchers(team, groups, shares, [&](std::size_t i) { return shares[i].process; }));
    }
    if (!problems.empty()) meter.part(RoundPart::sift, static_cast<std::int64_t>(numbers.size() / width * records), 0);
    std::vector<SpeedOf> logs;  // of the speeds
    for (const auto& [group, p] : problems) {
        const std::vector<bool> fitted = involved(p.left, p.records, p.known, blocks.count);
        const std::vector<double> found = log_speeds(p.records, p.known, fitted, blocks.count, meter);
        for (std::size_t i = 0; i < found.size(); ++i) logs.push_back({p.processes[i], found[i]});
    }
    return unequal_speeds(team, logs, groups.count() == 1);
}

// Beside the median over all groups. logs: of the processes among which this member has searched. by_one: member 0 has
// searched among all.
std::vector<Speeds::SpeedOf> Speeds::unequal_speeds(const Team& team, std::span<const SpeedOf> logs,
                                                    bool by_one) const {
    std::vector<double> sample;
    for (const SpeedOf& s : logs)
        if (s.process % concluded_every(processes_) == 0) sample.push_back(s.speed);
    if (!by_one) sample = gather<double>(team, sample);
    double usual = median(std::move(sample));
    if (!by_one) team.broadcast(std::as_writable_bytes(std::span(&usual, 1)));
    std::vector<SpeedOf> unequal;
    for (const SpeedOf& s : logs)
        if (const double speed = speed_beside(s.speed, usual, processes_); speed != 1)
            unequal.push_back({s.process, speed});
    if (!by_one) unequal = gather<SpeedOf>(team, unequal);
    std::ranges::sort(unequal, {}, &SpeedOf::process);
    return from_first(team, std::move(unequal));
}

}  // namespace balance

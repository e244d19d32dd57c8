// SPDX-License-Identifier: MIT
// Each process's host sums what its cells hold, block by block, in integers, and keeps that and the times of the last
// balancings. Member 0 finds medians, for which it is told a number of each process, or of some where there are very
// many, and fits costs to the times of some. What is left to explain each host finds for its own processes; only a
// search is told more of all. So nothing depends on the number of members.
#include "balance/model/speeds.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "balance/model/median.hpp"

namespace balance {
namespace {

// About so many blocks for each process: with more, the surcharges of dense zones, where processes are smaller than
// blocks, are told from slow processes; many processes have to do with fewer, because a fit takes time with each block.
constexpr std::int64_t most_blocks_a_process = 40, least_blocks_a_process = 10, enough_blocks = 9600;
constexpr std::int64_t most_of_a_fit = 500;  // processes of which costs are fitted, about
constexpr std::int64_t mean_target = std::int64_t{1} << 20;

Features row_of(std::span<const double> sums, std::size_t process) {
    Features f;
    std::copy_n(sums.begin() + static_cast<std::ptrdiff_t>(process * features), features, f.begin());
    return f;
}

}  // namespace

Speeds::Speeds(std::int64_t processes, const ModelConstants& constants)
    : prior_(constants.costs),
      processes_(processes),
      capacity_(static_cast<double>(processes)),
      patience_(static_cast<std::size_t>(processes)) {}

void Speeds::set(std::span<const double> speeds) {
    if (std::ssize(speeds) != processes_)
        throw std::invalid_argument(std::to_string(speeds.size()) + " speeds for " + std::to_string(processes_) +
                                    " processes");
    double usual = 1;  // what more than half of them have, if there is such a speed
    std::size_t lead = 0;
    for (const double s : speeds) {
        if (lead == 0) usual = s;
        lead += s == usual ? 1 : -1;
    }
    set(usual, unequal_in(speeds, usual));
}

std::vector<Speeds::SpeedOf> Speeds::unequal_in(std::span<const double> speeds, double usual) {
    std::vector<SpeedOf> unequal;
    for (std::size_t p = 0; p < speeds.size(); ++p)
        if (speeds[p] != usual) unequal.push_back({static_cast<std::int64_t>(p), speeds[p]});
    return unequal;
}

void Speeds::set(double usual, std::vector<SpeedOf> unequal) {
    const auto as_first = [&](const SpeedOf& s) { return s.speed == unequal.front().speed; };
    if (std::ssize(unequal) == processes_ && std::ranges::all_of(unequal, as_first)) {
        usual = unequal.front().speed;
        unequal.clear();
    }
    if (usual != usual_ || unequal != unequal_) forget_excesses();
    usual_ = usual;
    unequal_ = std::move(unequal);
    // One after the other, since the last bits of a sum depend on that.
    const auto sum_over_all = [&](auto value) {
        double sum = 0;
        std::int64_t p = 0;
        const auto add_usual = [&](std::int64_t end) {
            for (const double v = value(usual_); p < end; ++p) sum += v;
        };
        for (const SpeedOf& s : unequal_) add_usual(s.process), sum += value(s.speed), ++p;
        add_usual(processes_);
        return sum;
    };
    mean_ = sum_over_all([](double s) { return s; }) / static_cast<double>(processes_);
    capacity_ = sum_over_all([&](double s) { return relative(s); });
    fastest_ = std::ssize(unequal_) < processes_ ? relative(usual_) : 0;
    for (const SpeedOf& s : unequal_) fastest_ = std::max(fastest_, relative(s.speed));
}

double Speeds::of(std::int64_t process) const {
    const auto at = std::ranges::lower_bound(unequal_, process, {}, &SpeedOf::process);
    return at != unequal_.end() && at->process == process ? at->speed : usual_;
}

std::vector<double> Speeds::found(const Range& processes) const {
    std::vector<double> speeds(processes.size(), usual_);
    auto at = std::ranges::lower_bound(unequal_, processes.begin, {}, &SpeedOf::process);
    for (; at != unequal_.end() && at->process < processes.end; ++at) speeds[at->process - processes.begin] = at->speed;
    return speeds;
}

std::vector<double> Speeds::relative(const Range& processes) const {
    std::vector<double> speeds = found(processes);
    for (double& s : speeds) s = relative(s);
    return speeds;
}

PartTargets Speeds::targets() const {
    if (unequal_.empty()) return {};
    const auto target_of = [&](double found) {
        return std::clamp<std::int64_t>(std::llround(relative(found) * static_cast<double>(mean_target)), 1,
                                        std::int64_t{1} << 31);
    };
    std::vector<PartTargets::Target> others;
    for (const SpeedOf& s : unequal_) others.push_back({s.process, target_of(s.speed)});
    return {processes_, target_of(usual_), std::move(others)};
}

std::vector<double> Speeds::at_mean_speed(std::span<const double> times, std::int64_t first) const {
    std::vector<double> work(times.begin(), times.end());
    for (std::size_t i = 0; i < work.size() && !all_are_1(); ++i)
        work[i] *= relative(of(first + static_cast<std::int64_t>(i)));
    return work;
}

void Speeds::learn(const Team& team, const Grid& grid, const ProcessCells& cells, std::span<const CellCounts> counts,
                   std::span<const double> times, const Meter& meter) {
    if (processes_ < 2) return;
    const Range hosted = cells.hosted();
    const Blocks blocks = blocks_of(grid);
    meter.part(RoundPart::blocks, 0, cells.cells());
    if (parts_.size() == most_records) {
        parts_.erase(parts_.begin());
        records_.erase(records_.begin());
    }
    {
        const std::vector<BlockPart> parts = hosted_parts(cells, counts, blocks);
        const std::vector<std::int64_t> sums = feature_sums(parts, hosted);
        parts_.emplace_back(parts);
        records_.push_back({{times.begin(), times.end()}, {sums.begin(), sums.end()}, false, {}});
    }
    if (left_unexplained(team, hosted, meter).all == 0) return;
    fit_prior(team, hosted, meter);
    forget_excesses();
    const Left left = left_unexplained(team, hosted, meter);
    if (left.all == 0 || !patience_.over(left.all)) return;
    std::vector<SpeedOf> found_now = search(team, hosted, blocks, left, meter);
    patience_.tell(left.all, are_about(1, found_now));
    set(1, std::move(found_now));
}

// Whether the speeds differ little from those that were found before.
bool Speeds::are_about(double usual, std::span<const SpeedOf> unequal) const {
    constexpr double same = 0.02;
    const auto about = [](double a, double b) { return std::abs(std::log(b / a)) <= same; };
    auto next = unequal.begin();
    std::int64_t listed = 0;  // processes in any of both lists
    for (auto before = unequal_.begin(); before != unequal_.end() || next != unequal.end(); ++listed) {
        const bool was = before != unequal_.end() && (next == unequal.end() || before->process <= next->process);
        const bool is = next != unequal.end() && (before == unequal_.end() || next->process <= before->process);
        if (!about(was ? (before++)->speed : usual_, is ? (next++)->speed : usual)) return false;
    }
    return listed == processes_ || about(usual_, usual);
}

// Of the processes that this member hosts. Collective.
std::vector<BlockPart> Speeds::hosted_parts(const ProcessCells& cells, std::span<const CellCounts> counts,
                                            const Blocks& blocks) {
    std::vector<std::vector<BlockPart>> at_home;
    for (const Piece& p : cells.pieces())
        at_home.push_back(parts_of(p, cells.home(), counts, blocks.side, blocks.count[2]));
    return merged(cells.lists_at_hosts(at_home));
}

// By the costs as they are known. The median of what processes at speed 1 would have, and the noise, member 0 finds
// from a number of each process and record that was not looked at before.
Speeds::Left Speeds::left_unexplained(const Team& team, const Range& hosted, const Meter& meter) {
    const std::vector<double> known = found(hosted);
    std::vector<double> logs;
    for (const double s : known) logs.push_back(log_of(s));
    std::vector<Record*> unseen;
    for (Record& r : records_)
        if (!std::exchange(r.seen, true)) unseen.push_back(&r);
    meter.part(RoundPart::look, (3 + std::ssize(unseen)) * hosted.size() / 4, 0);
    for (Record* r : unseen) r->excess = log_ratios(*r);

    const std::int64_t every = concluded_every(processes_);
    std::vector<double> ratios;  // of each process of the sample, those of all records that were not looked at
    for (std::int64_t p = next_of_sample(hosted.begin, every); p < hosted.end; p += every)
        for (const Record* r : unseen) ratios.push_back(r->excess[p - hosted.begin]);
    ratios = gather<double>(team, ratios);
    std::array<double, most_records + 1> told{};  // the medians, and the noise
    if (team.rank() == 0) {
        meter.part(RoundPart::medians, std::ssize(ratios), 0);
        const std::size_t all = unseen.size();  // not 0: one record is new, or all are to be looked at again
        std::vector<double> log_known(ratios.size() / all), values;
        for (std::size_t i = 0; i < log_known.size() && !all_are_1(); ++i)
            log_known[i] = log_of(of(static_cast<std::int64_t>(i) * every));
        values.reserve(log_known.size());
        for (std::size_t k = 0; k < all; ++k, values.clear()) {
            for (std::size_t i = 0; i < log_known.size(); ++i)
                if (const double ratio = ratios[i * all + k]; !std::isnan(ratio))
                    values.push_back(ratio + log_known[i]);
            told[k] = median_in(values);
        }
        for (std::size_t i = 0; i < log_known.size(); ++i) {  // what is left in the last record
            const double ratio = ratios[i * all + all - 1];
            values.push_back(std::isnan(ratio) ? 0 : std::abs(ratio - told[all - 1] + log_known[i]));
        }
        told.back() = noise_in(values);
        meter.part(RoundPart::look, 0, 0);  // goes on
    }
    team.broadcast(std::as_writable_bytes(std::span(told)));
    for (std::size_t k = 0; k < unseen.size(); ++k)
        for (std::size_t i = 0; i < logs.size(); ++i) {  // without a time it is as fast as it was
            double& excess = unseen[k]->excess[i];
            excess = std::isnan(excess) ? -logs[i] : excess - told[k];
        }

    std::vector<std::vector<double>> excesses;
    for (const Record& r : records_) excesses.push_back(r.excess);
    Unexplained here = unexplained(excesses, known, told.back(), processes_);
    // Integers have exact sums: below 2^43 each of up to 2^20 processes, and below 2^39 each of up to 2^24.
    const double unit = processes_ <= 1 << 20 ? 0x1p-36 : 0x1p-32;
    constexpr double most = 100;
    std::array<std::int64_t, 2> sums{here.shows ? 1 : 0, 0};
    for (const double square : here.squares) sums[1] += std::llround(std::min(square, most) / unit);
    team.sum(sums);
    if (sums[0] == 0) return {};
    return {std::move(here.squares), static_cast<double>(sums[1]) * unit};
}

void Speeds::forget_excesses() {
    for (Record& r : records_) r.seen = false;
}

// parts: by process, as members host them; of a checkpoint they may be of another grid.
std::vector<BlockShare> Speeds::shares_of(std::span<const BlockPart> parts, const Blocks& blocks) const {
    const auto [nx, ny, nz] = blocks.count;
    std::vector<BlockShare> shares;
    for (auto here = parts.begin(); here != parts.end();) {
        double total = 0;
        const std::size_t begin = shares.size();
        for (const std::int32_t process = here->process; here != parts.end() && here->process == process; ++here) {
            const double cost = prior_.cost(here->features_of_all());
            total += cost;
            if (cost > 0 && here->x < nx && here->y < ny * nz)
                shares.push_back({process, here->x * ny * nz + here->y, cost});
        }
        for (std::size_t i = begin; i < shares.size(); ++i) shares[i].share /= total;
    }
    return shares;
}

// Of each process of the record; NaN for one that has no time or nothing to do.
std::vector<double> Speeds::log_ratios(const Record& r) const {
    std::vector<double> ratios;
    ratios.reserve(r.times.size());
    for (std::size_t i = 0; i < r.times.size(); ++i) {
        const double expected = prior_.cost(row_of(r.sums, i));
        const bool known = is_time(r.times[i]) && is_time(r.times[i] / expected);
        ratios.push_back(known ? std::log(r.times[i] / expected) : std::nan(""));
    }
    return ratios;
}

std::int64_t Speeds::fitted_every() const { return std::max<std::int64_t>(1, processes_ / most_of_a_fit); }

// Member 0 fits them, and tells all.
void Speeds::fit_prior(const Team& team, const Range& hosted, const Meter& meter) {
    const std::int64_t every = fitted_every();
    std::vector<double> told;  // of each process of the fit, record by record: its time and its sums
    for (std::int64_t p = next_of_sample(hosted.begin, every); p < hosted.end; p += every)
        for (const Record& r : records_) {
            const auto i = static_cast<std::size_t>(p - hosted.begin);
            told.push_back(r.times[i]);
            for (const double sum : row_of(r.sums, i)) told.push_back(sum);
        }
    told = gather<double>(team, told);
    std::vector<double> numbers(Prior::count);
    if (team.rank() == 0) {
        std::vector<Record> records(records_.size());
        std::vector<double> known;
        auto next = told.begin();
        for (std::int64_t p = 0; p < processes_; p += every) {
            known.push_back(of(p));
            for (Record& r : records) {
                r.times.push_back(*next++);
                r.sums.insert(r.sums.end(), next, next + features);
                next += features;
            }
        }
        meter.part(RoundPart::prior, std::ssize(records) * std::ssize(known), 0);
        fit_prior(records, known);
        numbers = prior_.numbers();
    }
    team.broadcast(std::as_writable_bytes(std::span(numbers)));
    prior_.set_numbers(numbers);
}

// Fits relative deviations in all records; processes whose times the costs explain badly count little. A few processes
// cannot tell costs from their own speeds: then the proportions of the costs stay. Of very many some tell enough.
void Speeds::fit_prior(std::span<Record> records, std::span<const double> known) {
    const auto n = static_cast<double>(processes_);
    std::vector<double> logs, values, rows, ones;  // their memory is used again in each round
    for (const double s : known) logs.push_back(log_of(s));
    // The median of what processes at speed 1 would have.
    const auto usual = [&](std::span<const double> ratios) {
        values.clear();
        for (std::size_t i = 0; i < ratios.size(); ++i)
            if (!std::isnan(ratios[i])) values.push_back(ratios[i] + logs[i]);
        return median_in(values);
    };
    constexpr int rounds = 4;
    for (int round = 0; round < rounds; ++round) {
        prior_.scale(std::exp(usual(log_ratios(records.back()))));
        if (processes_ < 2 * features) return;
        rows.clear();
        ones.clear();
        for (const Record& r : records) {
            const std::vector<double> ratios = log_ratios(r);
            const double at_speed_1 = usual(ratios);
            for (std::size_t i = 0; i < known.size(); ++i) {
                const double work = r.times[i] * known[i];
                if (!is_time(work)) continue;
                const double deviation = std::isnan(ratios[i]) ? 0 : ratios[i] - at_speed_1 + logs[i];
                constexpr double bad = 0.1;
                const double weight = 1 / (1 + (deviation / bad) * (deviation / bad));
                for (const double f : row_of(r.sums, i)) rows.push_back(f * weight / work);
                ones.push_back(weight);
            }
        }
        prior_.fit(rows, ones, 0, 1 / (n * n));
    }
}

Speeds::Blocks Speeds::blocks_of(const Grid& grid) const {
    const std::int64_t of_each = std::clamp(enough_blocks / processes_, least_blocks_a_process, most_blocks_a_process);
    const auto cells = static_cast<double>(std::max<std::int64_t>(1, grid.box().cells() / (of_each * processes_)));
    const int side = std::max(1, static_cast<int>(grid.dimensions == 2 ? std::sqrt(cells) : std::cbrt(cells)));
    Blocks blocks{side, {}};
    for (int axis = 0; axis < 3; ++axis) blocks.count[axis] = (grid.cells[axis] + side - 1) / side;
    return blocks;
}

}  // namespace balance

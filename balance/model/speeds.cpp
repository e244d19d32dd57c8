// SPDX-License-Identifier: MIT
// Each process's host sums what its cells hold, block by block, in integers, and keeps that of the last balancings. One
// member is told the sums of each process, and fits the speeds. So they are the same on any number of members.
#include "balance/model/speeds.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <utility>

#include "balance/model/median.hpp"

namespace balance {
namespace {

// About so many blocks for each process: with more, the surcharges of dense zones, where processes are smaller than
// blocks, are told from slow processes; many processes have to do with fewer, because a fit takes time with each block.
constexpr std::int64_t most_blocks_a_process = 40, least_blocks_a_process = 10, enough_blocks = 9600;
constexpr std::int64_t most_of_a_fit = 500;  // processes of which costs are fitted, about
constexpr std::int64_t mean_target = std::int64_t{1} << 20;

double square(double x) { return x * x; }

bool is_time(double seconds) { return seconds > 0 && std::isfinite(seconds); }

Features row_of(std::span<const double> sums, std::size_t process) {
    Features f;
    std::copy_n(sums.begin() + static_cast<std::ptrdiff_t>(process * features), features, f.begin());
    return f;
}

}  // namespace

Speeds::Speeds(std::int64_t processes, const ModelConstants& constants)
    : prior_(constants.costs),
      processes_(static_cast<std::size_t>(processes)),
      capacity_(static_cast<double>(processes)),
      patience_(processes_) {}

void Speeds::set(std::span<const double> speeds) {
    if (speeds.size() != processes_)
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
    if (unequal.size() == processes_ && std::ranges::all_of(unequal, as_first)) {
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
        add_usual(static_cast<std::int64_t>(processes_));
        return sum;
    };
    mean_ = sum_over_all([](double s) { return s; }) / static_cast<double>(processes_);
    capacity_ = sum_over_all([&](double s) { return relative(s); });
    fastest_ = unequal_.size() < processes_ ? relative(usual_) : 0;
    for (const SpeedOf& s : unequal_) fastest_ = std::max(fastest_, relative(s.speed));
}

double Speeds::of(std::size_t process) const {
    const auto p = static_cast<std::int64_t>(process);
    const auto at = std::ranges::lower_bound(unequal_, p, {}, &SpeedOf::process);
    return at != unequal_.end() && at->process == p ? at->speed : usual_;
}

std::vector<double> Speeds::found() const {
    std::vector<double> all(processes_, usual_);
    for (const SpeedOf& s : unequal_) all[s.process] = s.speed;
    return all;
}

std::vector<double> Speeds::relative() const {
    std::vector<double> all = found();
    for (double& s : all) s = relative(s);
    return all;
}

PartTargets Speeds::targets() const {
    if (unequal_.empty()) return {};
    const auto target_of = [&](double found) {
        return std::clamp<std::int64_t>(std::llround(relative(found) * static_cast<double>(mean_target)), 1,
                                        std::int64_t{1} << 31);
    };
    std::vector<PartTargets::Target> others;
    for (const SpeedOf& s : unequal_) others.push_back({s.process, target_of(s.speed)});
    return {static_cast<std::int64_t>(processes_), target_of(usual_), std::move(others)};
}

std::vector<double> Speeds::at_mean_speed(std::span<const double> times, std::int64_t first) const {
    std::vector<double> work(times.begin(), times.end());
    for (std::size_t i = 0; i < work.size() && !all_are_1(); ++i)
        work[i] *= relative(of(static_cast<std::size_t>(first) + i));
    return work;
}

void Speeds::learn(const Team& team, const Grid& grid, const ProcessCells& cells, std::span<const CellCounts> counts,
                   std::span<const double> times, const Meter& meter) {
    if (processes_ < 2) return;
    const Blocks blocks = blocks_of(grid);
    meter.part(RoundPart::blocks, 0, cells.cells());
    if (parts_.size() == most_records) parts_.erase(parts_.begin());
    parts_.push_back(hosted_parts(cells, counts, blocks));
    const std::vector<std::int64_t> sums =
        gather<std::int64_t>(team, feature_sums(parts_.back(), cells.hosted()));  // as members host the processes
    std::vector<double> told(1 + Prior::count);
    std::vector<double> of_each;  // what is unexplained
    double left = 0;
    if (team.rank() == 0) {
        if (records_.size() == most_records) records_.erase(records_.begin());
        records_.push_back({{times.begin(), times.end()}, {sums.begin(), sums.end()}, {}, {}});
        of_each = left_unexplained(meter);
        left = std::accumulate(of_each.begin(), of_each.end(), 0.0);
        told.front() = left > 0 && patience_.over(left) ? 1 : 0;
        std::ranges::copy(prior_.numbers(), told.begin() + 1);
    }
    team.broadcast(std::as_writable_bytes(std::span(told)));
    if (told.front() == 0) return;

    prior_.set_numbers(std::span(told).subspan(1));
    meter.part(RoundPart::shares, std::ssize(parts_) * cells.hosted().size(), 0);
    std::vector<std::vector<BlockShare>> shares;
    for (const std::vector<BlockPart>& parts : parts_) shares.push_back(shares_of(parts, blocks));
    if (team.rank() == 0) meter.part(RoundPart::sift, std::ssize(parts_) * static_cast<std::int64_t>(processes_), 0);
    for (std::size_t k = 0; k < parts_.size(); ++k) {
        std::vector<BlockShare> of_all = gather<BlockShare>(team, shares[k]);
        if (team.rank() != 0) continue;
        const std::vector<double>& seconds = records_[k].times;
        if (std::ranges::any_of(seconds, std::not_fn(is_time)))
            std::erase_if(of_all, [&](const BlockShare& s) { return !is_time(seconds[s.process]); });
        records_[k].shares = std::move(of_all);
    }
    std::vector<SpeedOf> found_now;
    if (team.rank() == 0) {
        std::vector<double> speeds = found();
        const std::vector<bool> fitted = involved(of_each, records_, speeds, blocks.count);
        speeds = separate(records_, speeds, fitted, blocks.count, meter);
        patience_.tell(left, found(), speeds);
        for (SpeedRecord& r : records_) std::vector<BlockShare>().swap(r.shares);
        found_now = unequal_in(speeds, 1);
    }
    set(1, from_first(team, std::move(found_now)));
}

// Of the processes that this member hosts. Collective.
std::vector<BlockPart> Speeds::hosted_parts(const ProcessCells& cells, std::span<const CellCounts> counts,
                                            const Blocks& blocks) {
    std::vector<std::vector<BlockPart>> at_home;
    for (const Piece& p : cells.pieces())
        at_home.push_back(parts_of(p, cells.home(), counts, blocks.side, blocks.count[2]));
    return merged(cells.lists_at_hosts(at_home));
}

// By the costs as they are known, or fitted anew.
std::vector<double> Speeds::left_unexplained(const Meter& meter) {
    const auto all = static_cast<std::int64_t>(processes_);
    Known known{found(), {}};
    if (!all_are_1())
        for (const double s : known.speeds) known.logs.push_back(std::log(s));
    const auto unseen = [](const SpeedRecord& r) { return r.excess.empty(); };
    const auto look = [&] {
        for (SpeedRecord& r : records_)
            if (unseen(r)) r.excess = excess_of(r, known);
        return unexplained(records_, known.speeds);
    };
    meter.part(RoundPart::told, (3 + std::ranges::count_if(records_, unseen)) * all / 4, 0);
    if (std::vector<double> left = look(); std::ranges::max(left) == 0) return left;
    meter.part(RoundPart::prior, std::ssize(records_) * all / static_cast<std::int64_t>(fitted_every()), 0);
    fit_prior(known);
    forget_excesses();
    return look();
}

void Speeds::forget_excesses() {
    for (SpeedRecord& r : records_) r.excess.clear();
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

// Of each `every`-th process; NaN for one that has no time or nothing to do.
std::vector<double> Speeds::log_ratios(const SpeedRecord& r, std::size_t every) const {
    std::vector<double> ratios;
    ratios.reserve(processes_ / every + 1);
    for (std::size_t p = 0; p < processes_; p += every) {
        const double expected = prior_.cost(row_of(r.sums, p));
        ratios.push_back(is_time(r.times[p]) && expected > 0 ? std::log(r.times[p] / expected) : std::nan(""));
    }
    return ratios;
}

// The median of what processes at speed 1 would have.
double Speeds::usual(std::span<const double> ratios, const Known& known, std::size_t every) {
    std::vector<double> at_speed_1;
    at_speed_1.reserve(ratios.size());
    for (std::size_t i = 0; i < ratios.size(); ++i)
        if (!std::isnan(ratios[i])) at_speed_1.push_back(ratios[i] + known.log_of(i * every));
    return median(std::move(at_speed_1));
}

// Of each `every`-th process.
std::vector<double> Speeds::excess_of(const SpeedRecord& r, const Known& known, std::size_t every) const {
    std::vector<double> excess = log_ratios(r, every);
    const double at_speed_1 = usual(excess, known, every);
    for (std::size_t i = 0; i < excess.size(); ++i)  // without a time it is as fast as it was
        excess[i] = std::isnan(excess[i]) ? -known.log_of(i * every) : excess[i] - at_speed_1;
    return excess;
}

std::size_t Speeds::fitted_every() const { return std::max<std::size_t>(1, processes_ / most_of_a_fit); }

// Fits relative deviations in all records; processes whose times the costs explain badly count little. A few processes
// cannot tell costs from their own speeds: then the proportions of the costs stay. Of very many some tell enough.
void Speeds::fit_prior(const Known& known) {
    const auto n = static_cast<double>(processes_);
    const std::size_t every = fitted_every();
    constexpr int rounds = 4;
    for (int round = 0; round < rounds; ++round) {
        prior_.scale(std::exp(usual(log_ratios(records_.back(), every), known, every)));
        if (processes_ < 2 * features) return;
        std::vector<double> rows, ones;
        for (const SpeedRecord& r : records_) {
            const std::vector<double> excess = excess_of(r, known, every);
            for (std::size_t p = 0; p < processes_; p += every) {
                const double work = r.times[p] * known.speeds[p], deviation = excess[p / every] + known.log_of(p);
                if (!is_time(work)) continue;
                constexpr double bad = 0.1;
                const double weight = 1 / (1 + square(deviation / bad));
                for (const double f : row_of(r.sums, p)) rows.push_back(f * weight / work);
                ones.push_back(weight);
            }
        }
        prior_.fit(rows, ones, 0, 1 / (n * n));
    }
}

Speeds::Blocks Speeds::blocks_of(const Grid& grid) const {
    const auto processes = static_cast<std::int64_t>(processes_);
    const std::int64_t of_each = std::clamp(enough_blocks / processes, least_blocks_a_process, most_blocks_a_process);
    const auto cells = static_cast<double>(std::max<std::int64_t>(1, grid.box().cells() / (of_each * processes)));
    const int side = std::max(1, static_cast<int>(grid.dimensions == 2 ? std::sqrt(cells) : std::cbrt(cells)));
    Blocks blocks{side, {}};
    for (int axis = 0; axis < 3; ++axis) blocks.count[axis] = (grid.cells[axis] + side - 1) / side;
    return blocks;
}

}  // namespace balance

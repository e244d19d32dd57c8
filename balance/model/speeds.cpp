// SPDX-License-Identifier: MIT
// Sums over processes and blocks are of integers, and one member fits the speeds and tells the others: so they are the
// same on any number of members, and what is kept of earlier balancings takes memory on that member alone.
#include "balance/model/speeds.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <tuple>
#include <utility>

#include "balance/model/evaluate.hpp"
#include "balance/model/median.hpp"

namespace balance {
namespace {

constexpr std::size_t most_records = 6;  // balancings that speeds are fitted to
// About so many blocks for each process: with more, the surcharges of dense zones, where processes are smaller than
// blocks, are told from slow processes; many processes have to do with fewer, because a fit takes time with each block.
constexpr std::int64_t most_blocks_a_process = 40, least_blocks_a_process = 10, enough_blocks = 9600;
constexpr std::int64_t mean_target = std::int64_t{1} << 20;

// Sums of the features over the cells of each process. Collective.
std::vector<double> feature_sums(const Team& team, const Owners& owners, std::span<const CellCounts> counts,
                                 std::size_t processes) {
    std::vector<std::int64_t> sums(processes * features, 0);
    owners.for_each([&](std::size_t place, std::int32_t owner) {
        const Features f = features_of(counts[place]);  // whole numbers
        for (int i = 0; i < features; ++i) sums[owner * features + i] += static_cast<std::int64_t>(f[i]);
    });
    team.sum(sums);
    return {sums.begin(), sums.end()};
}

double square(double x) { return x * x; }

Features row_of(std::span<const double> sums, std::size_t process) {
    Features f;
    std::copy_n(sums.begin() + static_cast<std::ptrdiff_t>(process * features), features, f.begin());
    return f;
}

struct BlockLoad {
    std::int64_t process;
    std::int32_t x, y;
    std::int64_t load;
};

// One entry for each process and block, in their order.
void merge(std::vector<BlockLoad>& loads) {
    const auto key = [](const BlockLoad& l) { return std::tuple(l.process, l.x, l.y); };
    std::sort(loads.begin(), loads.end(), [&](const BlockLoad& a, const BlockLoad& b) { return key(a) < key(b); });
    std::size_t kept = 0;
    for (const BlockLoad& l : loads) {
        if (kept > 0 && key(loads[kept - 1]) == key(l)) loads[kept - 1].load += l.load;
        else loads[kept++] = l;
    }
    loads.resize(kept);
}

}  // namespace

Speeds::Speeds(std::int64_t processes, const ModelConstants& constants)
    : prior_(constants.costs), processes_(static_cast<std::size_t>(processes)) {}

void Speeds::set(std::vector<double> speeds) {
    if (std::ranges::all_of(speeds, [](double s) { return s == 1; })) speeds = {};
    speeds_ = std::move(speeds);
}

std::vector<double> Speeds::relative() const {
    std::vector<double> relative = found();
    const double mean = std::accumulate(relative.begin(), relative.end(), 0.0) / static_cast<double>(processes_);
    for (double& s : relative) s /= mean;
    return relative;
}

std::vector<std::int64_t> Speeds::targets() const {
    if (std::ranges::adjacent_find(speeds_, std::ranges::not_equal_to{}) == speeds_.end()) return {};
    std::vector<std::int64_t> targets;
    for (const double s : relative())
        targets.push_back(
            std::clamp<std::int64_t>(std::llround(s * static_cast<double>(mean_target)), 1, std::int64_t{1} << 31));
    return targets;
}

std::vector<double> Speeds::at_mean_speed(std::span<const double> times) const {
    std::vector<double> work = relative();
    for (std::size_t p = 0; p < work.size(); ++p) work[p] *= times[p];
    return work;
}

void Speeds::learn(const Team& team, const Grid& grid, const Owners& owners, std::span<const CellCounts> counts,
                   std::span<const double> times) {
    if (processes_ < 2) return;
    std::vector<double> sums = feature_sums(team, owners, counts, processes_);
    std::vector<double> costs = prior_.numbers();
    if (team.rank() == 0) {
        if (records_.size() == most_records) records_.erase(records_.begin());
        records_.push_back({{times.begin(), times.end()}, std::move(sums), {}, {}});
        fit_prior();
        costs = prior_.numbers();
    }
    team.broadcast(std::as_writable_bytes(std::span(costs)));
    prior_.set_numbers(costs);
    std::vector<BlockShare> shares = shares_of(team, grid, owners, counts, times);
    std::vector<double> speeds = found();
    if (team.rank() == 0) {
        records_.back().shares = std::move(shares);
        for (SpeedRecord& r : records_) r.excess = excess_of(r);
        speeds = separate(records_, speeds, blocks_of(grid).layers);
    }
    team.broadcast(std::as_writable_bytes(std::span(speeds)));
    set(std::move(speeds));
}

// Of one process; nothing for a process that has no time or nothing to do.
std::optional<double> Speeds::log_ratio(const SpeedRecord& r, std::size_t process) const {
    const double expected = prior_.cost(row_of(r.sums, process));
    if (!(r.times[process] > 0) || !(expected > 0)) return std::nullopt;
    return std::log(r.times[process] / expected);
}

// The median of what processes at speed 1 would have.
double Speeds::usual_log_ratio(const SpeedRecord& r) const {
    std::vector<double> known;
    for (std::size_t p = 0; p < processes_; ++p)
        if (const auto ratio = log_ratio(r, p)) known.push_back(*ratio + std::log(of(p)));
    return median(std::move(known));
}

std::vector<double> Speeds::excess_of(const SpeedRecord& r) const {
    const double usual = usual_log_ratio(r);
    std::vector<double> excess;
    for (std::size_t p = 0; p < processes_; ++p) excess.push_back(log_ratio(r, p).value_or(usual) - usual);
    return excess;
}

// Fits relative deviations in all records; processes whose times the costs explain badly count little. A few processes
// cannot tell costs from their own speeds: then the proportions of the costs stay.
void Speeds::fit_prior() {
    const auto n = static_cast<double>(processes_);
    constexpr int rounds = 4;
    for (int round = 0; round < rounds; ++round) {
        prior_.scale(std::exp(usual_log_ratio(records_.back())));
        if (processes_ < 2 * features) return;
        std::vector<double> rows, ones;
        for (const SpeedRecord& r : records_) {
            const std::vector<double> excess = excess_of(r);
            for (std::size_t p = 0; p < processes_; ++p) {
                const double work = r.times[p] * of(p), deviation = excess[p] + std::log(of(p));
                if (!(work > 0)) continue;
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
    return {side, (grid.cells[2] + side - 1) / side};
}

std::vector<BlockShare> Speeds::shares_of(const Team& team, const Grid& grid, const Owners& owners,
                                          std::span<const CellCounts> counts, std::span<const double> times) const {
    const auto [side, layers] = blocks_of(grid);
    std::vector<double> costs;
    for (const CellCounts& c : counts) costs.push_back(prior_.cost(features_of(c)));
    const CellLoads cost = as_integers(team, grid, costs);
    std::vector<BlockLoad> loads;
    const Box& home = owners.home();
    const std::int64_t* load = cost.load.data();
    for (int x = home.lower[0]; x < home.upper[0]; ++x)
        for (int y = home.lower[1]; y < home.upper[1]; ++y)
            for (int z = home.lower[2]; z < home.upper[2]; ++z) {
                const BlockLoad here{owners.at(x, y, z), x / side, y / side * layers + z / side, *load++};
                if (!loads.empty() && loads.back().process == here.process && loads.back().x == here.x &&
                    loads.back().y == here.y)
                    loads.back().load += here.load;
                else loads.push_back(here);
            }
    merge(loads);
    loads = gather<BlockLoad>(team, loads);
    merge(loads);
    std::vector<double> total(processes_, 0.0);
    for (const BlockLoad& l : loads) total[l.process] += static_cast<double>(l.load);
    std::vector<BlockShare> shares;
    for (const BlockLoad& l : loads)
        if (l.load > 0 && times[l.process] > 0)
            shares.push_back({l.process, l.x, l.y, static_cast<double>(l.load) / total[l.process]});
    return shares;
}

std::vector<double> Speeds::memory(const Team& team) const {
    std::vector<double> m;
    if (team.rank() != 0) return m;
    m = prior_.numbers();
    m.push_back(static_cast<double>(records_.size()));
    for (const SpeedRecord& r : records_) {
        m.insert(m.end(), r.times.begin(), r.times.end());
        m.insert(m.end(), r.sums.begin(), r.sums.end());
        m.push_back(static_cast<double>(r.shares.size()));
        for (const BlockShare& s : r.shares)
            m.insert(m.end(),
                     {static_cast<double>(s.process), static_cast<double>(s.x), static_cast<double>(s.y), s.share});
    }
    return m;
}

bool Speeds::restore(const Team& team, std::vector<double> found, std::span<const double> memory) {
    if (found.size() != processes_ ||
        !std::all_of(found.begin(), found.end(), [](double s) { return s >= 1e-6 && s <= 1e6; }))
        return false;
    std::size_t at = 0;
    bool good = true;
    // The next number, if it lies in a range.
    const auto next = [&](double low, double high) {
        good = good && at < memory.size() && memory[at] >= low && memory[at] <= high;
        return good ? memory[at++] : low;
    };
    const auto whole = [&](double low, double high) { return static_cast<std::int64_t>(next(low, high)); };
    Prior prior = prior_;
    std::vector<SpeedRecord> records;
    std::vector<double> numbers;
    for (std::size_t i = 0; i < Prior::count; ++i) numbers.push_back(next(0, 1e100));
    prior.set_numbers(numbers);
    const std::int64_t n = whole(0, most_records);
    for (std::int64_t k = 0; k < n && good; ++k) {
        SpeedRecord r;
        for (std::size_t p = 0; p < processes_; ++p) r.times.push_back(next(0, 1e30));
        for (std::size_t i = 0; i < processes_ * features; ++i) r.sums.push_back(next(0, 1e30));
        const std::int64_t shares = whole(0, static_cast<double>(memory.size()));
        for (std::int64_t i = 0; i < shares && good; ++i) {
            const std::int64_t process = whole(0, static_cast<double>(processes_ - 1));
            const auto x = static_cast<std::int32_t>(whole(0, 1 << 29)),
                       y = static_cast<std::int32_t>(whole(0, 1 << 29));
            r.shares.push_back({process, x, y, next(0, 1)});
        }
        records.push_back(std::move(r));
    }
    if (!good || at != memory.size()) return false;
    prior_ = prior;
    set(std::move(found));
    if (team.rank() == 0) records_ = std::move(records);
    return true;
}

}  // namespace balance

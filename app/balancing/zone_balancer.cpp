// SPDX-License-Identifier: MIT
#include "app/balancing/zone_balancer.hpp"

#include <omp.h>

#include <algorithm>
#include <cmath>
#include <mutex>
#include <numeric>
#include <utility>

#include "balance/grid/field.hpp"
#include "balance/sides.hpp"
#include "comm/clock.hpp"

namespace app {
std::int64_t load_of(const RankLoads& cells, const balance::Box& box) {
    const std::vector<std::int64_t> loads = cells(box, 0);
    return std::accumulate(loads.begin(), loads.end(), std::int64_t{0});
}

RankBorder::RankBorder(const balance::Grid& grid, balance::ZoneReach reach, int accelerators, int halo)
    : grid_(grid), reach_(reach), accelerators_(accelerators), halo_(halo) {}

void RankBorder::take_cells(const balance::Region& region, const RankLoads& loads) {
    if (region != region_)  // else another block of nearly the same load could take all cells elsewhere
        room_ = balance::zone_room(grid_, balance::joined(region), reach_, halo_,
                                   [&](const balance::Box& b) { return load_of(loads, b); });
    region_ = region;
    strips_.clear();
    for (const balance::Box& box : room_.boxes) {
        const std::vector<std::int64_t> of_box = loads(box, balance::axes_by_length(box)[0]);
        strips_.insert(strips_.end(), of_box.begin(), of_box.end());
    }
    total_ = std::accumulate(strips_.begin(), strips_.end(), std::int64_t{0});
    for (const balance::Box& rest : without(region, room_.boxes)) total_ += load_of(loads, rest);
}

double RankBorder::grain() const {
    const std::int64_t largest = strips_.empty() ? 0 : *std::ranges::max_element(strips_);
    return total_ > 0 ? static_cast<double>(largest) / static_cast<double>(total_) : 0;
}

int RankBorder::at_work() const {
    int n = 0, last = -1;
    for (const balance::ZoneBlock& b : blocks_) n += std::exchange(last, b.accelerator) != b.accelerator;
    return n;
}

void RankBorder::put_at(int strips) {
    border_ = strips;
    share_ = balance::share_at(strips_, total_, border_);
    blocks_ = balance::zone_blocks(room_, border_, accelerators_, strips_);
}

void SideClock::start(std::int64_t step) {
    step_ = step;
    spent_ = {};
    since_ = comm::now();
    cpu_since_ = comm::cpu_seconds();
}

void SideClock::add(const ZoneSeconds& seconds) {
    spent_.cpu += seconds.cpu;
    spent_.cpu_busy += seconds.cpu_busy;
    spent_.accelerator += seconds.accelerator;
}

// The paper takes the load of the whole process. Threads in the place of accelerators would count there.
balance::ZoneTimes SideClock::until(std::int64_t step, AcceleratorBackend backend) const {
    balance::ZoneTimes times;
    const auto steps = static_cast<double>(step - step_);
    times.cpu_seconds = spent_.cpu / steps;
    times.accelerator_seconds = spent_.accelerator / steps;
    const double elapsed = comm::now() - since_, process = comm::cpu_seconds() - cpu_since_;
    const double busy = backend == AcceleratorBackend::host ? spent_.cpu_busy : process;
    times.cpu_load = elapsed > 0 ? std::clamp(busy / omp_get_max_threads() / elapsed, 0.0, 1.0) : 0;
    return times;
}

ZoneBalancer::ZoneBalancer(const Deck& deck, const balance::Setting& setting, int accelerators, int halo)
    : settings_(deck.accelerator),
      setting_(setting),
      costs_(deck.balance.constants.costs),
      wanted_(deck.accelerator.share.value_or(0.5)),
      border_(setting.grid, deck.accelerator.reach, accelerators, halo) {}

std::vector<double> ZoneBalancer::speeds() const {
    std::vector<double> speeds;
    for (int r = 0; on() && r < setting_.team.size(); ++r) speeds.push_back(settings_.speed_of(r));
    return speeds;
}

double ZoneBalancer::speed_up() const {
    const double ratio = counted() ? settings_.speed_of(setting_.team.rank()) * border_.at_work() : speed();
    const double slower = std::max(1 - share(), ratio > 0 ? share() / ratio : 0.0);  // the side that takes longer
    return on() && slower > 0 ? 1 / slower : 1;
}

bool ZoneBalancer::due(std::int64_t step, bool displaced) const {
    if (!on() || (placed_ && step <= last_step_)) return false;
    if (!placed_) return true;
    const bool now = balance::check_due(step - first_step_, settings_.every);
    if (counted() || moving_ || step - first_step_ <= settings_.every) return now;
    const std::int64_t waited = step - last_step_ - settings_.every;
    return waited >= 0 && (displaced || waited >= settings_.every);
}

void ZoneBalancer::take_seconds(Engine& engine) {
    const ZoneSeconds seconds = engine.take_zone_seconds();
    clock_.add(seconds);
    slower_seconds_ += std::max(seconds.cpu, seconds.accelerator) + seconds.rebuilds;
}

ProcessNanoseconds ZoneBalancer::take_nanoseconds(Engine& engine, const WallClock& clock) {
    take_seconds(engine);
    // The threads and the accelerators work at the same time, on one process.
    return {{std::llround(std::exchange(slower_seconds_, 0.0) * omp_get_max_threads() * clock.of_thread() * 1e9)}, {}};
}

balance::ZoneTimes ZoneBalancer::counted_times(const balance::Decomposition& owners,
                                               std::span<const std::int64_t> work) const {
    balance::ZoneTimes times;
    const std::vector<double> sides = balance::side_times(setting_.team, owners, work, speeds());
    times.cpu_seconds = sides[2 * setting_.team.rank()];
    times.accelerator_seconds = sides[2 * setting_.team.rank() + 1];
    const double longest = std::max(times.cpu_seconds, times.accelerator_seconds);
    times.cpu_load = longest > 0 ? times.cpu_seconds / longest : 1;
    return times;
}

bool ZoneBalancer::learn(std::int64_t step, balance::ZoneTimes times) {
    last_step_ = step;
    if (border_.accelerators() == 0) return false;
    times.share = share();
    times.most = most_share();
    times.grain = border_.grain();
    const balance::BorderStep next = balance::next_share(settings_.controller, times, state_);
    rows_.push_back({step, setting_.team.rank(), share(), times.cpu_load, times.cpu_seconds, times.accelerator_seconds,
                     next.decision, 0, 0, speed()});
    if (next.decision == balance::BorderDecision::kept) return false;
    wanted_ = next.share;
    return true;
}

void ZoneBalancer::put(std::int64_t step, const balance::Region& mine, const RankLoads& loads, bool moves) {
    if (border_.accelerators() > 0) border_.take_cells(mine, loads);
    if (moves) border_.put_at_share(wanted_);
    else border_.put_back();
    if (!rows_.empty()) rows_.back().next_share = share(), rows_.back().most_share = most_share();
    clock_.start(step);  // what was measured belongs to other cells
}

bool ZoneBalancer::check(std::int64_t step, const balance::Decomposition& owners, const balance::Region& mine,
                         const RankLoads& loads, std::span<const std::int64_t> work) {
    const std::vector<balance::ZoneBlock> before = border_.blocks();
    const bool first = !placed_;
    bool moves = first || !balance::controller(settings_.controller).step;
    if (!first && counted()) moves |= learn(step, counted_times(owners, work));
    else if (!first && clock_.runs_since() < step) moves |= learn(step, clock_.until(step, settings_.backend));
    if (first) first_step_ = step;
    placed_ = true;
    last_step_ = step;
    // A border that is kept stays between the same cells, though their loads have changed.
    put(step, mine, loads, moves);
    moving_ = setting_.team.max_of(border_.blocks() != before) != 0;
    return moving_;
}

void ZoneBalancer::place(std::int64_t step, const balance::Region& mine, const RankLoads& loads) {
    // A check that is due in this step would find other cells than those that were measured.
    if (placed_ && !counted() && due(step, true) && clock_.runs_since() < step)
        learn(step, clock_.until(step, settings_.backend));
    put(step, mine, loads, true);
}

std::int64_t ZoneBalancer::usual_load(const balance::CountSums& s) const {
    const auto part = [&](int k, std::int64_t n) { return costs_[k] * static_cast<double>(n); };
    // Sums over the whole grid stay exact.
    const std::int64_t most = balance::most_ticks / setting_.grid.box().cells() * s.cells;
    return std::min(most, balance::to_ticks(part(0, s.cells) + part(1, s.n) + part(2, s.n_n3) + part(3, s.n_n5)));
}

RankLoads ZoneBalancer::loads_at_homes(const balance::Region& mine, const balance::HomeCells& cells) const {
    std::vector<std::int64_t> at_home = cells.work;
    if (at_home.empty())
        for (const balance::CellCounts& c : cells.counts) at_home.push_back(usual_load(balance::sums_of(c)));
    return [mine, loads = balance::FieldPlan(setting_.team, {setting_.grid, setting_.team.size()}, mine)
                              .to_boxes(std::span<const std::int64_t>(at_home))](const balance::Box& within, int axis) {
        std::vector<std::int64_t> sums(within.extent(axis), 0);
        std::span<const std::int64_t> left = loads;
        for (const balance::Box& box : mine) {
            const balance::Box both = intersection(box, within);
            for (int at = both.lower[axis]; at < both.upper[axis]; ++at)
                sums[at - within.lower[axis]] += balance::sum_in(box, slab(both, axis, at, at + 1), left);
            left = left.subspan(box.cells());
        }
        return sums;
    };
}

RankLoads ZoneBalancer::loads_in_tiles(const TileSet& tiles) const {
    return [&](const balance::Box& within, int axis) {
        std::vector<balance::CountSums> sums(within.extent(axis));
        std::mutex adding;
        tiles.for_each_part(within, [&](std::size_t, const balance::Box& part, const balance::Box& frame, auto n) {
            const auto of_part = balance::slab_counts(part, setting_.grid.dimensions, frame, n, axis);
            const std::lock_guard lock(adding);
            for (std::size_t i = 0; i < of_part.size(); ++i)
                sums[part.lower[axis] - within.lower[axis] + i] += of_part[i];
        });
        std::vector<std::int64_t> loads;
        for (const balance::CountSums& s : sums) loads.push_back(usual_load(s));
        return loads;
    };
}

balance::Zones ZoneBalancer::zones() const {
    balance::Zones zones;
    if (!on()) return zones;
    struct OfRank {
        int rank;
        balance::ZoneBlock block;
    };
    std::vector<OfRank> mine;
    for (const balance::ZoneBlock& b : border_.blocks()) mine.push_back({setting_.team.rank(), b});
    zones.first.assign(setting_.team.size() + 1, 0);
    for (const OfRank& b : balance::all_gather<OfRank>(setting_.team, mine)) {  // in the order of ranks
        zones.blocks.push_back(b.block);
        zones.first[b.rank + 1] = std::ssize(zones.blocks);
    }
    for (int r = 0; r < setting_.team.size(); ++r) zones.first[r + 1] = std::max(zones.first[r + 1], zones.first[r]);
    return zones;
}

// For each rank: the share that it wants, the length of the controller's state, and the state.
std::vector<double> ZoneBalancer::memory() const {
    std::vector<double> mine{wanted_, static_cast<double>(state_.values.size())};
    mine.insert(mine.end(), state_.values.begin(), state_.values.end());
    return balance::all_gather<double>(setting_.team, mine);
}

bool ZoneBalancer::restore(std::span<const double> memory) {
    std::vector<std::span<const double>> ranks;
    double shares = 0;
    while (!memory.empty()) {
        if (memory.size() < 2 || !(memory[0] >= 0 && memory[0] <= 1)) return false;
        if (!(memory[1] >= 0 && memory[1] <= static_cast<double>(memory.size() - 2))) return false;
        const std::size_t size = 2 + static_cast<std::size_t>(memory[1]);
        if (!balance::is_controller_memory(memory.subspan(2, size - 2))) return false;
        ranks.push_back(memory.first(size));
        shares += memory[0];
        memory = memory.subspan(size);
    }
    if (ranks.empty()) return false;
    wanted_ = shares / static_cast<double>(ranks.size());
    if (static_cast<int>(ranks.size()) != setting_.team.size()) return true;
    const std::span<const double> mine = ranks[setting_.team.rank()];
    wanted_ = mine[0];
    state_.values.assign(mine.begin() + 2, mine.end());
    return true;
}

std::vector<ZoneRow> ZoneBalancer::take_rows() {
    if (!on()) return {};
    const std::vector<ZoneRow> mine = std::exchange(rows_, {});
    return balance::gather<ZoneRow>(setting_.team, mine);
}

}  // namespace app

// SPDX-License-Identifier: MIT
#include "app/balancing/zone_balancer.hpp"

#include <omp.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "balance/grid/field.hpp"
#include "comm/clock.hpp"

namespace app {
namespace {

// Loads of the cells of a region, which is a list of boxes, one after the other.
class RegionLoads {
public:
    RegionLoads(const balance::Region& region, std::span<const std::int64_t> loads) {
        for (const balance::Box& box : region) {
            parts_.push_back({box, balance::SummedArea(box, loads.first(box.cells()))});
            loads = loads.subspan(box.cells());
        }
    }
    std::int64_t of(const balance::Box& box) const {
        std::int64_t sum = 0;
        for (const auto& [cells, sums] : parts_)
            if (const balance::Box both = intersection(cells, box); !both.empty()) sum += sums.of(both);
        return sum;
    }

private:
    std::vector<std::pair<balance::Box, balance::SummedArea>> parts_;
};

// By the paper, of the whole process. The threads of the host backend would count as the process's, so there it is that
// of the threads that compute tiles.
double cpu_load_of(const ZoneSeconds& spent, double elapsed, double process, AcceleratorBackend backend) {
    const double busy = backend == AcceleratorBackend::host ? spent.cpu_busy : process;
    return elapsed > 0 ? std::clamp(busy / omp_get_max_threads() / elapsed, 0.0, 1.0) : 0;
}

}  // namespace

ZoneBalancer::ZoneBalancer(const Deck& deck, const balance::Grid& grid, const balance::Team& team,
                           const balance::Hosts& hosts, int accelerators, int halo)
    : settings_(deck.accelerator),
      on_(deck.accelerator.backend != AcceleratorBackend::none),
      counted_(deck.balance.clock == balance::Clock::work),
      grid_(grid),
      team_(team),
      hosts_(hosts),
      accelerators_(accelerators),
      halo_(halo),
      wanted_(deck.accelerator.share.value_or(0.5)) {}

bool ZoneBalancer::due(std::int64_t step, bool displaced) const {
    if (!on_ || (placed_ && step <= last_step_)) return false;
    if (!placed_) return true;
    const bool now = balance::check_due(step - first_step_, settings_.every);
    if (counted_ || moving_ || step - first_step_ <= settings_.every) return now;
    const std::int64_t waited = step - last_step_ - settings_.every;
    return waited >= 0 && (displaced || waited >= settings_.every);
}

void ZoneBalancer::add(const ZoneSeconds& seconds) {
    spent_.cpu += seconds.cpu;
    spent_.cpu_busy += seconds.cpu_busy;
    spent_.accelerator += seconds.accelerator;
}

// What the controller gets to see.
balance::ZoneTimes ZoneBalancer::measured(std::int64_t step, std::span<const double> counted) const {
    balance::ZoneTimes times;
    times.share = share_;
    times.most = most_share();
    const std::int64_t largest = strips_.empty() ? 0 : *std::max_element(strips_.begin(), strips_.end());
    times.grain = total_ > 0 ? static_cast<double>(largest) / static_cast<double>(total_) : 0;
    if (counted.empty()) {
        const auto steps = static_cast<double>(step - last_step_);
        times.cpu_seconds = spent_.cpu / steps;
        times.accelerator_seconds = spent_.accelerator / steps;
        times.cpu_load = cpu_load_of(spent_, comm::now() - since_, comm::cpu_seconds() - cpu_since_, settings_.backend);
    } else {
        times.cpu_seconds = counted[0];
        times.accelerator_seconds = counted[1];
        const double longest = std::max(counted[0], counted[1]);
        times.cpu_load = longest > 0 ? counted[0] / longest : 1;
    }
    return times;
}

bool ZoneBalancer::check(std::int64_t step, const balance::Partition& partition, std::span<const std::int64_t> load,
                         std::span<const double> counted) {
    const std::vector<balance::Box> before = blocks_;
    const bool first = !placed_;
    bool moves = first || !balance::controller(settings_.controller).step;
    if (!first && accelerators_ > 0) {
        const balance::ZoneTimes times = measured(step, counted);
        const balance::BorderStep next = balance::next_share(settings_.controller, times, state_);
        if (next.decision != balance::BorderDecision::kept) wanted_ = next.share, moves = true;
        rows_.push_back({step, team_.rank(), share_, times.cpu_load, times.cpu_seconds, times.accelerator_seconds,
                         next.decision, 0, 0, balance::relative_speed(state_)});
    }
    if (first) first_step_ = step;
    placed_ = true;
    last_step_ = step;
    take_loads(partition, load);
    // A border that is kept stays between the same cells, though their loads have changed.
    put_border_at(moves ? balance::border_at(strips_, total_, wanted_) : border_);
    if (!rows_.empty()) rows_.back().next_share = share_, rows_.back().most_share = most_share();
    spent_ = {};
    since_ = comm::now();
    cpu_since_ = comm::cpu_seconds();
    std::int64_t changed = blocks_ != before;
    team_.max(std::span(&changed, 1));
    moving_ = changed != 0;
    return moving_;
}

void ZoneBalancer::place(const balance::Partition& partition, std::span<const std::int64_t> load) {
    take_loads(partition, load);
    put_border_at(balance::border_at(strips_, total_, wanted_));
}

// The room for blocks in the cells of this rank, and the loads of its strips. Collective.
void ZoneBalancer::take_loads(const balance::Partition& partition, std::span<const std::int64_t> load) {
    balance::BoxList list{partition.boxes, {}};
    for (int r = 0; r < hosts_.members(); ++r) list.first.push_back(partition.first[hosts_.processes_of(r).begin]);
    list.first.push_back(static_cast<std::int64_t>(partition.boxes.size()));
    const std::vector<std::int64_t> loads = balance::FieldPlan(team_, {grid_, team_.size()}, list).to_boxes(load);
    if (accelerators_ == 0) return;
    const balance::Region region(partition.boxes.begin() + list.first[team_.rank()],
                                 partition.boxes.begin() + list.first[team_.rank() + 1]);
    const RegionLoads sums(region, loads);
    if (region != region_)  // else another block of nearly the same load could take all cells elsewhere
        room_ = balance::zone_room(grid_, balance::joined(region), halo_,
                                   [&](const balance::Box& b) { return sums.of(b); });
    region_ = region;
    strips_.clear();
    for (int s = 0; s < room_.strips(); ++s) strips_.push_back(sums.of(room_.strips_between(s, s + 1)));
    total_ = std::accumulate(loads.begin(), loads.end(), std::int64_t{0});
}

void ZoneBalancer::put_border_at(int strips) {
    border_ = strips;
    share_ = balance::share_at(strips_, total_, border_);
    blocks_ = balance::zone_blocks(room_, border_, accelerators_, strips_);
}

balance::Zones ZoneBalancer::zones() const {
    balance::Zones zones;
    if (!on_) return zones;
    std::vector<std::int32_t> mine{static_cast<std::int32_t>(blocks_.size())};
    for (const balance::Box& b : blocks_) mine.insert(mine.end(), {b.lower[0], b.lower[1], b.upper[0], b.upper[1]});
    const std::vector<std::int32_t> all = balance::all_gather<std::int32_t>(team_, mine);
    zones.first.push_back(0);
    for (auto next = all.begin(); next != all.end();) {
        for (std::int32_t n = *next++; n > 0; --n, next += 4)
            zones.blocks.push_back({{next[0], next[1], 0}, {next[2], next[3], 1}});
        zones.first.push_back(static_cast<std::int64_t>(zones.blocks.size()));
    }
    return zones;
}

// Of each rank: the share that it wants, the length of the controller's state, and that.
std::vector<double> ZoneBalancer::memory() const {
    std::vector<double> mine{wanted_, static_cast<double>(state_.values.size())};
    mine.insert(mine.end(), state_.values.begin(), state_.values.end());
    return balance::all_gather<double>(team_, mine);
}

bool ZoneBalancer::restore(std::span<const double> memory) {
    std::vector<std::span<const double>> ranks;
    double shares = 0;
    while (!memory.empty()) {
        if (memory.size() < 2 || !(memory[0] >= 0 && memory[0] <= 1)) return false;
        if (!(memory[1] >= 0 && memory[1] <= static_cast<double>(memory.size() - 2))) return false;
        const std::size_t size = 2 + static_cast<std::size_t>(memory[1]);
        ranks.push_back(memory.first(size));
        shares += memory[0];
        memory = memory.subspan(size);
    }
    if (ranks.empty()) return false;
    wanted_ = shares / static_cast<double>(ranks.size());
    if (static_cast<int>(ranks.size()) != team_.size()) return true;
    const std::span<const double> mine = ranks[team_.rank()];
    wanted_ = mine[0];
    state_.values.assign(mine.begin() + 2, mine.end());
    return true;
}

std::vector<ZoneRow> ZoneBalancer::take_rows() {
    if (!on_) return {};
    const std::vector<ZoneRow> mine = std::exchange(rows_, {});
    return balance::gather<ZoneRow>(team_, mine);
}

}  // namespace app

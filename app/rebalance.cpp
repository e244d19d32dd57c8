// SPDX-License-Identifier: MIT
#include "app/rebalance.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>

#include "comm/clock.hpp"
#include "md/random.hpp"

namespace app {
namespace {

// A measured time must be so many steps of the clock to be believed.
constexpr double least_clock_steps = 1000;

double mean_of(std::span<const double> values) {
    double mean = 0;
    for (double v : values) mean += v / static_cast<double>(values.size());
    return mean;
}

// Calls visit(index, x, y) for each cell of a slab in the order of its values; x, y: the cell's centre, lengths.
template <class Visit>
void for_each_cell(const balance::Box& slab, const std::array<double, 2>& width, Visit visit) {
    std::size_t i = 0;
    for (int x = slab.lower[0]; x < slab.upper[0]; ++x)
        for (int y = 0; y < slab.upper[1]; ++y) visit(i++, (x + 0.5) * width[0], (y + 0.5) * width[1]);
}

}  // namespace

// Cells of this rank's slab, column by column.
struct Rebalance::Cells {
    std::vector<balance::CellCounts> counts;
    std::vector<std::int64_t> particles, work;  // work: ticks a step
    std::int64_t particles_in_all = 0;
};

Rebalance::Rebalance(const Deck& deck, const balance::Grid& grid, std::int64_t processes, const comm::Communicator& comm, Timers& timers)
    : grid_(grid), team_(comm), timers_(timers), slabs_{grid, comm.size()}, every_(deck.balance.every), processes_(processes), seed_(deck.system.seed),
      clock_(deck.balance.clock), migrate_(deck.balance.migrate), noise_(deck.balance.noise), start_(deck.balance.constants.start), options_(deck.balance.partition), work_(deck.balance.work),
      cell_width_{deck.system.box[0] / grid.cells[0], deck.system.box[1] / grid.cells[1]} {
    options_.processes = processes;
    const auto add = [&](const std::string& name) {
        Balanced b;
        b.name = name;
        b.label = models_.empty() && options_.kind == "none" ? "none" : name;
        b.model = balance::make_model(name, deck.balance.constants);
        b.partition = balance::one_box_each(balance::even_partition(grid, processes));
        models_.push_back(std::move(b));
    };
    add(deck.balance.model);
    if (on())
        for (const std::string& name : deck.balance.compare) add(name);
    if (on() && clock_ == Timing::wall) {
        std::vector<std::int64_t> nanoseconds{std::llround(comm::thread_clock_resolution() * 1e9)};
        team_.max(nanoseconds);  // all must come to the same decision
        resolution_ = static_cast<double>(nanoseconds[0]) * 1e-9;
    }
}

bool Rebalance::due(std::int64_t step, Tiles& tiles) {
    if (!on()) return false;
    if (!started_) return true;
    if (clock_ == Timing::work) return step > last_step_ && step % every_ == 0;
    const std::int64_t waited = step - last_step_ - every_;
    if (waited < 0 || !(tiles.displaced() || migrate_ == Migrate::always || waited >= every_)) return false;
    const Timed phase(timers_, Phase::balancing);
    const bool worth_it = worth_it_by_wall_clock(step, tiles);
    if (!worth_it) last_step_ = step;
    return worth_it;
}

namespace {

// The boxes in whose order tiles give their cells' values.
balance::BoxList boxes_of(const Tiles& tiles, int ranks) {
    const balance::Decomposition& d = tiles.decomposition();
    balance::BoxList list{d.tiles(), {}};
    for (int r = 0; r <= ranks; ++r) list.first.push_back(d.first_tile(r));
    return list;
}

}  // namespace

std::vector<balance::CellCounts> Rebalance::counts_in(const Tiles& tiles) const {
    std::vector<balance::CellCounts> slab(slab_cells());
    const std::vector<balance::CellCounts> own = tiles.cell_counts();
    balance::to_slab<balance::CellCounts>(team_, slabs_, boxes_of(tiles, team_.size()), own, slab);
    return slab;
}

Rebalance::Cells Rebalance::measure(Tiles& tiles, bool with_work) const {
    const auto size = static_cast<std::size_t>(slab_cells());
    Cells cells;
    cells.counts = counts_in(tiles);
    cells.particles.resize(size);
    for (std::size_t i = 0; i < size; ++i) cells.particles[i] = cells.counts[i].n;
    std::vector<std::int64_t> total{0};
    for (std::int64_t n : cells.particles) total[0] += n;
    team_.sum(total);
    cells.particles_in_all = total[0];
    if (!with_work) return cells;
    std::vector<std::int64_t> neighbours(size);
    const std::vector<std::int64_t> own = tiles.cell_neighbours();
    balance::to_slab<std::int64_t>(team_, slabs_, boxes_of(tiles, team_.size()), own, neighbours);
    cells.work.resize(size);
    for_each_cell(slabs_.of(team_.rank()), cell_width_, [&](std::size_t i, double x, double y) {
        cells.work[i] = balance::cell_work(work_, cells.counts[i], neighbours[i], x, y);
    });
    require_exact_sum(cells, neighbours);
    return cells;
}

// Sums over any of the cells are exact when the sum over all of them is below most_ticks; otherwise all ranks refuse.
void Rebalance::require_exact_sum(const Cells& cells, std::span<const std::int64_t> neighbours) const {
    constexpr int low_bits = 20;  // the sum in two parts, of which many ranks' still fit 64 bits
    __int128 mine = 0;
    for (std::int64_t ticks : cells.work) mine += ticks;
    std::vector<std::int64_t> parts{
        static_cast<std::int64_t>(std::min<__int128>(mine >> low_bits, balance::most_ticks >> low_bits)),
        static_cast<std::int64_t>(mine & ((1 << low_bits) - 1))};
    team_.sum(parts);
    const __int128 total = (static_cast<__int128>(parts[0]) << low_bits) + parts[1];
    if (total < balance::most_ticks) return;

    balance::WorkByKey seconds{};
    for_each_cell(slabs_.of(team_.rank()), cell_width_, [&](std::size_t i, double x, double y) {
        const balance::WorkByKey cell = balance::cell_work_by_key(work_, cells.counts[i], neighbours[i], x, y);
        for (std::size_t k = 0; k < cell.size(); ++k) seconds[k] += cell[k];
    });
    std::vector<std::int64_t> milliseconds;
    for (double s : seconds) milliseconds.push_back(std::llround(std::clamp(s, -1e12, 1e12) * 1e3));
    team_.sum(milliseconds);
    std::transform(milliseconds.begin(), milliseconds.end(), seconds.begin(),
                   [](std::int64_t ms) { return static_cast<double>(ms) * 1e-3; });
    const auto [key, value] = balance::most_expensive_key(work_, seconds);
    throw md::SimulationError(
        fmt::format("the counted work of one step is {:.3g} s, more than the {:.0f} s that can be summed exactly",
                    std::accumulate(seconds.begin(), seconds.end(), 0.0), balance::to_seconds(balance::most_ticks)),
        true, fmt::format("make balance.work.{} ({}) smaller", key, value));
}

// Owner of each cell of this rank's slab and of the column on either side (-1 beyond the grid).
std::vector<std::int32_t> Rebalance::owners(const balance::Partition& partition) const {
    const balance::Box slab = slabs_.of(team_.rank());
    const int nx = grid_.cells[0], ny = grid_.cells[1], width = slab.extent(0);
    const auto column_of = [&](int x) { return x < 0 || x >= nx ? (grid_.periodic[0] ? (x + nx) % nx : -1) : x; };
    const int lower = column_of(slab.lower[0] - 1), upper = column_of(slab.upper[0]);
    std::vector<std::int32_t> owner(static_cast<std::size_t>(width + 2) * ny, -1);
    for (std::int64_t p = 0; p < partition.processes(); ++p)
        for (std::int64_t b = partition.first[p]; b < partition.first[p + 1]; ++b) {
            const balance::Box& box = partition.boxes[b];
            const auto paint = [&](int column) {
                std::fill_n(owner.begin() + std::int64_t{column} * ny + box.lower[1], box.extent(1), static_cast<std::int32_t>(p));
            };
            for (int x = std::max(box.lower[0], slab.lower[0]); x < std::min(box.upper[0], slab.upper[0]); ++x) paint(x - slab.lower[0] + 1);
            if (box.lower[0] <= lower && lower < box.upper[0]) paint(0);
            if (box.lower[0] <= upper && upper < box.upper[0]) paint(width + 1);
        }
    return owner;
}

// Cells that other processes see: each counts once for each process that owns one of its eight neighbours.
std::int64_t Rebalance::ghosts(const std::vector<std::int32_t>& owner) const {
    const int ny = grid_.cells[1], columns = static_cast<int>(owner.size() / ny);
    std::int64_t ghosts = 0;
    for (int x = 1; x + 1 < columns; ++x)
        for (int y = 0; y < ny; ++y) {
            const std::int32_t* here = &owner[std::int64_t{x} * ny + y];
            const std::int32_t self = *here;
            if (y > 0 && y + 1 < ny) {  // mostly everybody around is the same process
                const std::int32_t *left = here - ny, *right = here + ny;
                if (left[-1] == self && left[0] == self && left[1] == self && here[-1] == self && here[1] == self && right[-1] == self && right[0] == self && right[1] == self) continue;
            }
            std::array<std::int32_t, 8> seen;
            int n = 0;
            for (int i = -1; i <= 1; ++i)
                for (int j = -1; j <= 1; ++j) {
                    int v = y + j;
                    if (v < 0 || v >= ny) {
                        if (!grid_.periodic[1]) continue;
                        v = (v + ny) % ny;
                    }
                    const std::int32_t q = owner[std::int64_t{x + i} * ny + v];
                    if (q == self || q < 0 || std::find(seen.begin(), seen.begin() + n, q) != seen.begin() + n) continue;
                    seen[n++] = q;
                }
            ghosts += n;
        }
    return ghosts;
}

// Seconds a step of each process, from the work in its cells.
std::vector<double> Rebalance::times_by_work(const Cells& cells, const balance::BoxList& list, const Balanced& b) const {
    const std::vector<std::int64_t> work = balance::to_boxes<std::int64_t>(team_, slabs_, list, cells.work);
    std::vector<std::int64_t> ticks(processes_, 0);
    const std::int64_t* next = work.data();
    const balance::Range mine{processes_ * team_.rank() / team_.size(), processes_ * (team_.rank() + 1) / team_.size()};
    for (std::int64_t p = mine.begin; p < mine.end; ++p)
        for (std::int64_t k = b.partition.first[p]; k < b.partition.first[p + 1]; ++k)
            for (std::int64_t c = b.partition.boxes[k].cells(); c > 0; --c) ticks[p] += *next++;
    team_.sum(ticks);
    std::vector<double> seconds;
    for (std::int64_t t : ticks) seconds.push_back(balance::to_seconds(t));
    return seconds;
}

// Numbers of which each was computed by one rank, the others holding zero bits: all get all of them.
std::vector<double> Rebalance::share(std::vector<std::int64_t> bits) const {
    team_.sum(bits);
    std::vector<double> values;
    for (std::int64_t b : bits) values.push_back(std::bit_cast<double>(b));
    return values;
}

// New load of this rank's slab by the model, process by process on the ranks that host them: integers, in the unit returned. Without
// times it is what all models start from.
double Rebalance::model_loads(Balanced& b, const Cells& cells, std::span<const double> times, std::vector<std::int64_t>& load) const {
    load.clear();
    if (b.state.empty())
        for (const balance::CellCounts& c : cells.counts) b.state.push_back(b.model->first_state(c));
    if (times.empty()) {
        for (const balance::CellCounts& c : cells.counts) load.push_back(std::llround(balance::first_load(start_, c)));
        return 1.0;
    }
    const balance::BoxList list = balance::boxes_by_process(b.partition, team_.size());
    const std::vector<balance::CellCounts> counts = balance::to_boxes<balance::CellCounts>(team_, slabs_, list, cells.counts);
    std::vector<double> state = balance::to_boxes<double>(team_, slabs_, list, b.state);
    std::vector<balance::ProcessView> views;
    const balance::Range mine{processes_ * team_.rank() / team_.size(), processes_ * (team_.rank() + 1) / team_.size()};
    std::size_t at = 0;
    for (std::int64_t p = mine.begin; p < mine.end; ++p) {
        std::size_t n = 0;
        for (std::int64_t k = b.partition.first[p]; k < b.partition.first[p + 1]; ++k) n += b.partition.boxes[k].cells();
        views.push_back({std::span(counts).subspan(at, n), std::span(state).subspan(at, n), times[p], p});
        at += n;
    }
    for (int round = 0; round < b.model->rounds(); ++round) {
        std::vector<std::int64_t> bits;
        std::size_t width = 0;
        for (const balance::ProcessView& view : views) {
            const std::vector<double> row = b.model->contribution(round, view);
            width = row.size();
            bits.resize(processes_ * width, 0);
            for (std::size_t k = 0; k < width; ++k) bits[view.index * width + k] = std::bit_cast<std::int64_t>(row[k]);
        }
        std::vector<std::int64_t> widest{static_cast<std::int64_t>(width)};  // a rank may host no process
        team_.max(widest);
        bits.resize(processes_ * widest[0], 0);
        b.model->conclude(round, share(std::move(bits)), times);
    }
    balance::Totals totals{0, cells.particles_in_all, grid_.box().cells(), processes_};
    for (double t : times) totals.time += t;
    std::vector<double> seconds(counts.size());
    std::vector<std::int64_t> ticks(counts.size());
    at = 0;
    for (const balance::ProcessView& view : views) {
        b.model->update(view, totals, std::span(seconds).subspan(at, view.cells.size()));
        at += view.cells.size();
    }
    // Loads have any unit; as integers the largest cell gets as many bits as the sum of all cells can't overflow.
    std::vector<std::int64_t> largest{0};
    for (double l : seconds) largest[0] = std::max(largest[0], std::bit_cast<std::int64_t>(l));  // >= 0: bits have the order of values
    team_.max(largest);
    const double scale = balance::load_scale(std::bit_cast<double>(largest[0]), totals.cells);
    for (std::size_t i = 0; i < ticks.size(); ++i) ticks[i] = std::llround(seconds[i] * scale);
    load.resize(cells.counts.size());
    balance::to_slab<double>(team_, slabs_, list, state, b.state);
    balance::to_slab<std::int64_t>(team_, slabs_, list, ticks, load);
    return scale > 0 ? 1 / scale : 1.0;
}

// What the processes of one model took, and whether a migration could pay. Adds noise to `times` where the deck wants it.
BalanceRow Rebalance::observe(Balanced& b, std::vector<double>& times, std::int64_t step) const {
    BalanceRow row;
    row.step = step;
    row.model = b.label;
    row.mean_seconds = mean_of(times);
    row.max_seconds = *std::max_element(times.begin(), times.end());
    const double steps = static_cast<double>(step - last_step_);
    b.spent.resize(processes_, 0.0);
    for (std::int64_t p = 0; p < processes_; ++p) b.spent[p] += times[p] * steps;
    row.lbe = balance::efficiency(times);
    b.record.sum_mean += row.mean_seconds;
    b.record.sum_max += row.max_seconds;
    if (b.record.updates == 0) b.record.early_mean += row.mean_seconds, b.record.early_max += row.max_seconds;
    if (noise_ > 0)
        for (std::int64_t p = 0; p < processes_; ++p) times[p] *= std::max(0.0, 1 + noise_ * md::normal_pair(seed_ + md::mix(static_cast<std::uint64_t>(step)), p)[0]);
    row.lbe_observed = balance::efficiency(times);
    row.lbe_reachable = b.record.lbe_reachable;
    if (migrate_ == Migrate::gain) {
        // What the slowest process has lost since the last migration, against what another costs. The last interval stands for the
        // next; those before it keep a small loss that would pay from going on for ever. By the wall clock it is the slowest of all
        // this time: one that other work disturbs now and again is no reason to move.
        const auto lost = [&](double mean, double max) { return std::max(0.0, max - mean / b.record.lbe_reachable); };
        if (clock_ == Timing::wall) b.record.lost_seconds = lost(mean_of(b.spent), *std::max_element(b.spent.begin(), b.spent.end()));
        else b.record.lost_seconds += lost(row.mean_seconds, row.max_seconds) * steps;
        if (b.record.lost_seconds <= b.record.move_seconds) row.decision = "kept: gain";
    }
    describe(b, row);
    return row;
}

// LBE_m of a partition by the loads of this rank's slab.
double Rebalance::predicted(std::span<const std::int32_t> owner, std::span<const std::int64_t> load) const {
    std::vector<std::int64_t> sums(processes_, 0);
    for (std::size_t i = 0, k = grid_.cells[1]; i < load.size(); ++i, ++k) sums[owner[k]] += load[i];  // owners: from the column before
    team_.sum(sums);
    return balance::efficiency(std::vector<double>(sums.begin(), sums.end()));
}

// New loads and a new partition of one model; without times, those that all models start from.
void Rebalance::decide(Balanced& b, const Cells& cells, std::span<const double> times, std::int64_t step, BalanceRow& row) {
    const bool measured = !times.empty();
    double start = comm::now();
    std::vector<std::int64_t> load;
    const double unit = model_loads(b, cells, times, load);
    row.model_seconds = comm::now() - start;
    const std::vector<std::int32_t> before = owners(b.partition);
    b.record.updates += measured;
    b.record.load_step = static_cast<double>(step);
    b.record.lbe_model = predicted(before, load);

    start = comm::now();
    std::optional<balance::Partition> next;
    try {
        next = balance::make_partition(team_, grid_, load, cells.particles, options_, b.splits);
    } catch (const balance::Infeasible& e) {  // told by balance(), when all models have seen this step
        if (!dead_end_ || e.smallest > dead_end_->smallest) dead_end_ = e;
        row.decision = "kept: limit";
    }
    row.partition_seconds = comm::now() - start;
    if (next) {
        const std::vector<std::int32_t> after = owners(*next);
        std::vector<std::int64_t> sums{0, 0, ghosts(after)};
        for (std::size_t i = 0, k = grid_.cells[1]; i < load.size(); ++i, ++k)
            if (after[k] != before[k]) ++sums[0], sums[1] += cells.particles[i];
        team_.sum(sums);
        b.record.lbe_reachable = predicted(after, load);
        if (measured && migrate_ == Migrate::gain && clock_ == Timing::work)  // by the wall clock, as the last migration was measured
            b.record.move_seconds = work_.move * static_cast<double>(sums[1]) / static_cast<double>(processes_);
        const bool keep = measured && migrate_ == Migrate::gain && clock_ == Timing::work && b.record.lost_seconds <= b.record.move_seconds;
        row.decision = keep ? "kept: gain" : sums[0] == 0 ? "kept: same" : "moved";
        if (!keep) {
            row.cells_moved = sums[0];
            row.particles_moved = sums[1];
            b.record.ghost_cells = static_cast<double>(sums[2]);
            b.record.lbe_model = b.record.lbe_reachable;
            b.partition = std::move(*next);
        }
    }
    if (&b == &models_.front()) load_ = std::move(load), load_unit_ = unit;
    describe(b, row);
    if (row.decision == "moved" || row.decision == "kept: same") b.record.lost_seconds = 0, b.spent.clear();
}

// What a row says of the partition in use and of the decision.
void Rebalance::describe(const Balanced& b, BalanceRow& row) const {
    row.lbe_model = b.record.lbe_model;
    row.ghost_cells = static_cast<std::int64_t>(b.record.ghost_cells);
    row.load_step = static_cast<std::int64_t>(b.record.load_step);
    if (migrate_ == Migrate::gain) row.lost_seconds = b.record.lost_seconds, row.move_seconds = b.record.move_seconds;
}

void Rebalance::start(std::int64_t step, Tiles& tiles) {
    started_ = true;
    const Timed phase(timers_, Phase::balancing);
    const Cells cells = measure(tiles, false);
    BalanceRow unused;
    for (Balanced& b : models_) decide(b, cells, {}, step, unused);
    if (dead_end_) throw *dead_end_;
    tiles.repartition(balance::Decomposition(grid_, partition(), team_.size(), tiles.decomposition().tile()));
}

void Rebalance::balance(std::int64_t step, Tiles& tiles) {
    if (!started_) {
        start(step, tiles);
        last_step_ = step;
        return;
    }
    const double begin = comm::now();
    if (clock_ == Timing::work) tiles.build_rows();  // who is within the cutoff
    {
        const Timed phase(timers_, Phase::balancing);
        if (clock_ == Timing::work) by_work(step, tiles);
        else decide(models_.front(), measure(tiles, false), times_, step, rows_.front());
    }
    BalanceRow& driver = rows_.front();
    if (driver.decision == "moved") {
        const double start = comm::now();
        tiles.repartition(balance::Decomposition(grid_, partition(), team_.size(), tiles.decomposition().tile()));
        driver.migrate_seconds = comm::now() - start;
        if (clock_ == Timing::wall) {  // what the next one is going to cost, deciding included
            std::vector<std::int64_t> slowest{std::llround((comm::now() - begin) * 1e9)};
            team_.max(slowest);
            models_.front().record.move_seconds = static_cast<double>(slowest[0]) * 1e-9;
        }
    }
    last_step_ = step;
    if (dead_end_) throw *dead_end_;
}

// The driver alone: nobody knows how long other partitions would have taken.
bool Rebalance::worth_it_by_wall_clock(std::int64_t step, Tiles& tiles) {
    const std::vector<double> tile_seconds = tiles.take_tile_seconds();
    std::vector<std::int64_t> nanoseconds(processes_, 0);
    for (std::size_t t = 0; t < tile_seconds.size(); ++t) nanoseconds[tiles.process_of(t)] += std::llround(tile_seconds[t] * 1e9);
    team_.sum(nanoseconds);
    double mean = 0;  // seconds, over all steps since the last balancing
    for (std::int64_t n : nanoseconds) mean += static_cast<double>(n) * 1e-9 / static_cast<double>(processes_);
    BalanceRow row;
    if (mean < least_clock_steps * resolution_) {
        row.step = step;
        row.model = models_.front().label;
        describe(models_.front(), row);
        row.decision = "kept: clock";
    } else {
        times_.clear();
        for (std::int64_t n : nanoseconds) times_.push_back(static_cast<double>(n) * 1e-9 / static_cast<double>(step - last_step_));
        row = observe(models_.front(), times_, step);
    }
    row.driver = true;
    rows_ = {row};
    return row.decision.empty();
}

void Rebalance::by_work(std::int64_t step, Tiles& tiles) {
    const Cells cells = measure(tiles, true);
    for (Balanced& b : models_) {
        std::vector<double> times = times_by_work(cells, balance::boxes_by_process(b.partition, team_.size()), b);
        rows_.push_back(observe(b, times, step));
        if (rows_.back().decision.empty()) decide(b, cells, times, step, rows_.back());
    }
    rows_.front().driver = true;
}

std::vector<Rebalance::Overall> Rebalance::overall() const {
    std::vector<Overall> all;
    for (const Balanced& b : models_) {
        const Balanced::Record& r = b.record;
        if (!(r.sum_max > 0)) continue;
        all.push_back({b.label, r.sum_mean / r.sum_max, std::nullopt});
        if (r.sum_max > r.early_max) all.back().measured = (r.sum_mean - r.early_mean) / (r.sum_max - r.early_max);
    }
    return all;
}

std::vector<comm::FieldBlock<double>> Rebalance::load(const Tiles& tiles) const {
    const std::vector<balance::CellCounts> counts = counts_in(tiles);
    comm::FieldBlock<double> block{slabs_.of(team_.rank()), {}};
    const int nx = block.box.extent(0), ny = block.box.extent(1);
    for (int y = 0; y < ny; ++y)
        for (int x = 0; x < nx; ++x) {
            const std::size_t i = static_cast<std::size_t>(x) * ny + y;
            block.values.push_back(counts[i].n > 0 ? static_cast<double>(load_[i]) * load_unit_ : 0.0);
        }
    return nx > 0 ? std::vector{std::move(block)} : std::vector<comm::FieldBlock<double>>{};
}

std::int64_t Rebalance::bytes() const {
    std::size_t n = load_.capacity() * sizeof(std::int64_t);
    for (const Balanced& b : models_)
        n += b.state.capacity() * sizeof(double) + b.partition.boxes.capacity() * sizeof(balance::Box) + b.partition.first.capacity() * sizeof(std::int64_t) +
             b.splits.capacity() * sizeof(balance::Split);
    return static_cast<std::int64_t>(n);
}

}  // namespace app

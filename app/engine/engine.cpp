// SPDX-License-Identifier: MIT
// The order of things is held here: each stage checks that the one before was reached, and whatever moves particles
// falls back to an earlier stage.
#include "app/engine/engine.hpp"

#include <omp.h>

#include <cassert>
#include <future>
#include <stdexcept>
#include <string>
#include <system_error>
#include <utility>

#include "app/engine/migration.hpp"
#include "app/engine/thread_schedule.hpp"

namespace app {

Engine::Engine(const Setup& setup, const balance::Decomposition& decomposition, const comm::Communicator& comm,
               Timers& timers)
    : setup_(setup),
      comm_(comm),
      timers_(timers),
      tiles_(setup_, decomposition, comm),
      halo_(setup_, tiles_, decomposition),
      stopwatch_(setup_, tiles_),
      forces_(setup_, tiles_),
      scratch_(omp_get_max_threads()),
      agreement_(comm, setup.overlap == comm::Overlap::full),
      skin_(setup.skin),
      skins_(setup.potential.cutoff, setup.skin, setup.widest_skin) {
    assign_to_threads();
}

void Engine::fill(const Deck& deck) {
    tiles_.fill(deck);
    stage_ = Stage::scattered;
    agreement_.set_displaced();
}

void Engine::distribute(const std::vector<md::Particle>& particles, const balance::Decomposition& owners) {
    app::distribute(tiles_, setup_, owners, particles);
    stage_ = Stage::scattered;
    agreement_.set_displaced();
}

void Engine::rebin() {
    agreement_.finish();
    if (setup_.tune_skin) tune_skin();
    {
        const Timed phase(timers_, Phase::migration);
        halo_.emigrate();
    }
    sort();
}

void Engine::repartition(const balance::Decomposition& old, const balance::Decomposition& next) {
    assert(stage_ != Stage::scattered);
    {
        const Timed phase(timers_, Phase::migration);
        app::repartition(tiles_, setup_, old, next);
        halo_.plan(next);
        stopwatch_.restart();
        forces_.resize();
        assign_to_threads();
    }
    sort();  // tiles that stayed as they were are sorted already
}

void Engine::sort() {
    {
        const Timed phase(timers_, Phase::neighbours);
        at_the_same_time([](gpu::Zone& zone) { zone.sort(); },
                         [&](std::size_t t) { tiles_[t].sort(*setup_.kernels, scratch_[omp_get_thread_num()]); });
    }
    assign_to_threads();
    const Timed phase(timers_, Phase::ghosts);
    halo_.exchange_counts();
    stage_ = Stage::binned;
}

// blocks(zone) for each block, by a thread that only waits for its accelerator, while the CPU's threads do tiles(t) for
// each tile.
template <class Blocks, class Tiles>
void Engine::at_the_same_time(Blocks blocks, Tiles tiles) {
    const double start = comm::now();
    std::vector<std::future<void>> waiting;
    for (std::size_t t = tiles_.on_cpu(); t < tiles_.size(); ++t) try {
            waiting.push_back(std::async(std::launch::async, [&, t] { blocks(tiles_.zone(t)); }));
        } catch (const std::system_error& e) {
            throw gpu::Error(std::string("no thread can be started that waits for it: ") + e.what(),
                             "allow this user more threads, or use fewer accelerator.devices");
        }
    stopwatch_.timed_for(all_, tiles);
    for (std::future<void>& w : waiting) w.get();
    zone_seconds_.rebuilds += comm::now() - start;
}

// Tiles go to threads by the particles that they hold now; cells cost a little too.
ThreadSchedule Engine::to_threads(std::vector<std::size_t> tiles) const {
    const auto weight = [this](std::size_t t) { return 8 * tiles_[t].size() + tiles_[t].box().cells(); };
    return split_by_weight(std::move(tiles), static_cast<std::size_t>(omp_get_max_threads()), weight);
}

void Engine::assign_to_threads() {
    std::vector<std::size_t> all, inner;
    rim_.clear();
    for (std::size_t t = 0; t < tiles_.on_cpu(); ++t) {
        all.push_back(t);
        (halo_.remote(t) ? rim_ : inner).push_back(t);
    }
    all_ = to_threads(std::move(all));
    inner_ = to_threads(std::move(inner));
}

void Engine::refill_ghosts() {
    const Timed phase(timers_, Phase::ghosts);
    halo_.lay_slots();
    halo_.start();
    halo_.cross_border();
    halo_.finish();
    parallel_for(tiles_.on_cpu(), [&](std::size_t t) { halo_.fill_from_this_rank(t); });
    ghosts_current_ = true;
}

void Engine::build_neighbour_lists() {
    assert(stage_ != Stage::scattered);
    if (stage_ == Stage::listed) return;
    refill_ghosts();
    const Timed phase(timers_, Phase::neighbours);
    const double radius = setup_.potential.cutoff + skin_;
    at_the_same_time([radius](gpu::Zone& zone) { zone.build_neighbour_lists(radius); },
                     [&](std::size_t t) {
                         tiles_[t].build_neighbour_lists(*setup_.kernels, radius, scratch_[omp_get_thread_num()]);
                     });
    forces_.count_work();
    stage_ = Stage::listed;
    agreement_.lists_built(skin_ / 2 / setup_.domain.packed_unit());
    ++rebuilds_;
}

void Engine::force_pass(const ForcePass::Options& options, std::int64_t stop) {
    assert(stage_ == Stage::listed);
    const bool travel = !ghosts_current_;
    const auto compute = [&](const ThreadSchedule& schedule) {
        const Timed timer(timers_, Phase::forces);
        const double start = comm::now();
        forces_.compute(schedule, options, stopwatch_, [&](std::size_t t) {
            if (travel) halo_.fill_from_this_rank(t);
        });
        zone_seconds_.cpu += comm::now() - start;
    };
    if (travel) {
        const Timed timer(timers_, Phase::ghosts);
        halo_.start(), halo_.cross_border();
    }
    forces_.start_blocks(options);
    if (!travel) {
        compute(all_);
    } else if (setup_.overlap == comm::Overlap::full) {
        compute_with_ghosts(compute);
    } else {
        {
            const Timed timer(timers_, Phase::ghosts);
            halo_.finish();
        }
        compute(all_);
    }
    {
        const Timed timer(timers_, Phase::accelerator);
        forces_.finish_blocks();
    }
    ghosts_current_ = true;
    const bool moved = options.kick == md::Kick::first || options.kick == md::Kick::middle;
    agreement_.add(forces_.worst(), stop, moved);
    if (!moved) return tiles_.copy_blocks();  // the whole state is at one time, where others may look at it
    for (std::size_t t = 0; t < tiles_.on_cpu(); ++t) tiles_[t].flip();  // the kernels wrote the next positions
    tiles_.drop_copies();
    ghosts_current_ = false;
    ++steps_since_;
}

// Inner tiles while ghosts are on their way, then those at the rim as theirs arrive: as soon as each thread can have
// one.
template <class Compute>
void Engine::compute_with_ghosts(Compute compute) {
    const double start = comm::now();
    double computed = 0;
    const auto compute_some = [&](const ThreadSchedule& schedule) {
        const double begin = comm::now();
        compute(schedule);
        computed += comm::now() - begin;
    };
    compute_some(inner_);
    std::vector<std::size_t> ready = halo_.complete();
    const auto threads = static_cast<std::size_t>(omp_get_max_threads());
    double end = start;
    for (std::size_t left = rim_.size(); left > 0;) {
        const bool all = ready.size() == left;
        if (all) end = comm::now();  // nothing is on its way any more
        if (all || ready.size() >= threads) {
            left -= ready.size();
            const ThreadSchedule schedule = to_threads(std::exchange(ready, {}));
            if (all) compute(schedule);
            else compute_some(schedule);
            continue;
        }
        const Timed timer(timers_, Phase::ghosts);
        if (!halo_.finish_some(ready)) throw std::logic_error("a tile waits for ghosts that nobody sends");
    }
    const Timed timer(timers_, Phase::ghosts);
    while (halo_.finish_some(ready)) {
    }
    if (rim_.empty()) return;
    travel_seconds_.computed += computed;
    travel_seconds_.waited += end - start - computed;
}

ZoneSeconds Engine::take_zone_seconds() {
    zone_seconds_.cpu_busy = stopwatch_.take_busy();
    zone_seconds_.accelerator = forces_.take_block_seconds();
    return std::exchange(zone_seconds_, {});
}

// What a step costs with a skin shows from one rebuild to the next, if that one was due.
void Engine::tune_skin() {
    const double passes =
        timers_.seconds(Phase::forces) + timers_.seconds(Phase::accelerator) + timers_.seconds(Phase::ghosts);
    const double rebuilds = timers_.seconds(Phase::neighbours) + timers_.seconds(Phase::migration);
    if (displaced() && steps_since_ > 0) {
        std::array<std::int64_t, 2> cost{static_cast<std::int64_t>((passes - passes_before_) / steps_since_ * 1e9),
                                         static_cast<std::int64_t>((rebuilds - rebuilds_before_) / steps_since_ * 1e9)};
        if (skins_.searching()) comm_.max(cost);
        skins_.add(static_cast<double>(cost[0]), static_cast<double>(cost[1]));
        skin_ = skins_.skin();
    }
    passes_before_ = passes;
    rebuilds_before_ = rebuilds;
    steps_since_ = 0;
}

}  // namespace app

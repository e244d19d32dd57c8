// SPDX-License-Identifier: MIT
// The order of things is held here: each stage checks that the one before was reached, and whatever moves particles
// falls back to an earlier stage.
#include <omp.h>

#include <future>
#include <stdexcept>
#include <string>
#include <system_error>
#include <utility>

#include "app/engine/engine_of.hpp"
#include "app/engine/migration.hpp"
#include "app/engine/thread_schedule.hpp"
#include "md/initial.hpp"

namespace app {
namespace {

void require(bool good, const char* otherwise) {
    if (!good) throw std::logic_error(otherwise);
}

// Ranks of a simulated cluster take turns on one thread, and share one scratch. No rank gives up its turn while it uses
// the scratch. No data stay in it from one tile to the next.
md::TileScratch& scratch_of_thread() {
    thread_local md::TileScratch scratch;
    return scratch;
}

}  // namespace

template <int D>
EngineOf<D>::EngineOf(const Setup& setup, const balance::Decomposition& decomposition, const comm::Communicator& comm,
                      Timers& timers)
    : Engine(setup, comm),
      timers_(timers),
      tiles_(setup_, decomposition, comm),
      halo_(setup_, tiles_, decomposition),
      stopwatch_(setup_, tiles_),
      forces_(setup_, tiles_),
      skin_(setup_, comm, timers) {
    assign_to_threads();
}

template <int D>
void EngineOf<D>::fill(const md::System& system, const balance::Decomposition& owners) {
    const std::vector<md::Body> bodies = md::all_bodies(system);
    std::vector<std::int64_t> first_id{0};
    for (const md::Body& body : bodies) {
        const std::int64_t n = md::particle_count(body);
        first_id.push_back(first_id.back() + n);
        if (body.fill != md::Fill::file && comm().rank() == 0) given_particles_ += n;  // others come by distribute()
    }
    tiles_.fill(bodies, first_id, system.seed);
    fill_at_random<D>(system, bodies, first_id, setup_.domain, comm(),
                      [&](const auto& particles) { app::distribute(tiles_, setup_, owners, particles); });
    stage_ = Stage::scattered;
    agreement_.set_displaced();
}

template <int D>
void EngineOf<D>::distribute(const std::vector<md::Particle<3>>& particles, const balance::Decomposition& owners) {
    std::vector<md::Particle<D>> mine;
    mine.reserve(particles.size());
    for (const md::Particle<3>& p : particles) {
        md::Particle<D> q{p.id, {}, {}};
        for (int a = 0; a < D; ++a) q.x[a] = p.x[a], q.v[a] = p.v[a];
        mine.push_back(q);
    }
    app::distribute(tiles_, setup_, owners, mine);
    given_particles_ += std::ssize(mine);
    stage_ = Stage::scattered;
    agreement_.set_displaced();
}

template <int D>
void EngineOf<D>::rebin() {
    agreement_.finish();
    skin_.rebuilding(displaced());
    {
        const Timed phase(timers_, Phase::migration);
        halo_.emigrate();
    }
    sort();
}

template <int D>
void EngineOf<D>::repartition(balance::Decomposition old, const balance::Decomposition& next) {
    require(stage_ != Stage::scattered, "particles change owners before they were sorted");
    {
        const Timed phase(timers_, Phase::migration);
        app::repartition(tiles_, setup_, std::move(old), next);
        halo_.plan(next);
        stopwatch_.restart();
        forces_.resize();
        assign_to_threads();
    }
    sort();  // tiles that stayed as they were are sorted already
}

template <int D>
void EngineOf<D>::sort() {
    {
        const Timed phase(timers_, Phase::neighbours);
        at_the_same_time([](gpu::Zone<D>& zone) { zone.sort(); },
                         [&](std::size_t t) { tiles_[t].sort(*setup_.kernels, scratch_of_thread()); });
    }
    assign_to_threads();
    const Timed phase(timers_, Phase::ghosts);
    halo_.exchange_counts();
    stage_ = Stage::binned;
}

// blocks(zone) for each block, by a thread that only waits for its accelerator, while the CPU's threads do tiles(t) for
// each tile.
template <int D>
template <class Blocks, class OnTiles>
void EngineOf<D>::at_the_same_time(Blocks blocks, OnTiles tiles) {
    const double start = comm::now();
    std::vector<std::future<void>> waiting;
    try {
        for (std::size_t t = tiles_.on_cpu(); t < tiles_.size(); ++t)
            waiting.push_back(std::async(std::launch::async, [&, t] { blocks(tiles_.zone(t)); }));
    } catch (const std::system_error& e) {
        throw gpu::Error(std::string("no thread can be started that waits for it: ") + e.what(),
                         "allow this user more threads, or use fewer accelerator.devices");
    }
    stopwatch_.timed_for(on_threads_.all, tiles);
    for (std::future<void>& w : waiting) w.get();
    seconds_.zones.rebuilds += comm::now() - start;
}

// Tiles go to threads by the particles that they hold now; cells cost a little too.
template <int D>
ThreadSchedule EngineOf<D>::to_threads(std::vector<std::size_t> tiles) const {
    const auto weight = [this](std::size_t t) { return 8 * tiles_[t].size() + tiles_.box(t).cells(); };
    return split_by_weight(std::move(tiles), static_cast<std::size_t>(omp_get_max_threads()), weight);
}

template <int D>
void EngineOf<D>::assign_to_threads() {
    std::vector<std::size_t> all, inner;
    on_threads_.rim.clear();
    for (std::size_t t = 0; t < tiles_.on_cpu(); ++t) {
        all.push_back(t);
        (halo_.remote(t) ? on_threads_.rim : inner).push_back(t);
    }
    on_threads_.all = to_threads(std::move(all));
    on_threads_.inner = to_threads(std::move(inner));
}

template <int D>
std::vector<std::int32_t> EngineOf<D>::cell_particles_after(double time) {
    std::vector<std::vector<std::int32_t>> counts(tiles_.on_cpu());
    parallel_for(counts.size(), [&](std::size_t t) { counts[t] = tiles_[t].counts_after(time); });
    for (std::size_t t = 0; t < counts.size(); ++t) tiles_[t].swap_counts(counts[t]);
    halo_.gather_counts();
    std::vector<std::int32_t> after = tiles_.cell_particles();
    for (std::size_t t = 0; t < counts.size(); ++t) tiles_[t].swap_counts(counts[t]);
    return after;
}

template <int D>
void EngineOf<D>::lay_slots() {
    require(stage_ != Stage::scattered, "slots are laid out before the particles were sorted");
    if (stage_ != Stage::binned) return;
    const Timed phase(timers_, Phase::ghosts);
    halo_.lay_slots();
    stage_ = Stage::laid;
}

template <int D>
void EngineOf<D>::refill_ghosts() {
    const Timed phase(timers_, Phase::ghosts);
    halo_.start();
    halo_.cross_border();
    halo_.finish();
    parallel_for(tiles_.on_cpu(), [&](std::size_t t) { halo_.fill_from_this_rank(t); });
    ghosts_current_ = true;
}

template <int D>
void EngineOf<D>::build_neighbour_lists() {
    if (stage_ == Stage::listed) return;
    lay_slots();
    refill_ghosts();
    const Timed phase(timers_, Phase::neighbours);
    const double radius = setup_.potential.cutoff + skin();
    at_the_same_time(
        [radius](gpu::Zone<D>& zone) { zone.build_neighbour_lists(radius); },
        [&](std::size_t t) { tiles_[t].build_neighbour_lists(*setup_.kernels, radius, scratch_of_thread()); });
    forces_.count_work();
    stage_ = Stage::listed;
    agreement_.lists_built(skin() / 2 / setup_.domain.packed_unit());
    ++rebuilds_;
}

template <int D>
void EngineOf<D>::force_pass(const PassOptions& options, std::int64_t stop) {
    require(stage_ == Stage::listed, "forces are computed before the neighbour lists were built");
    const bool travel = !ghosts_current_;
    forces_.book_work();
    const auto compute = [&](const ThreadSchedule& schedule) {
        const Timed timer(timers_, Phase::forces);
        const double start = comm::now();
        forces_.compute(schedule, options, stopwatch_, [&](std::size_t t) {
            if (travel) halo_.fill_from_this_rank(t);
        });
        seconds_.zones.cpu += comm::now() - start;
    };
    if (travel) {
        const Timed timer(timers_, Phase::ghosts);
        halo_.start();
        halo_.cross_border();
    }
    forces_.start_blocks(options);
    if (!travel) {
        compute(on_threads_.all);
    } else if (setup_.overlap == comm::Overlap::full) {
        compute_with_ghosts(compute);
    } else {
        {
            const Timed timer(timers_, Phase::ghosts);
            halo_.finish();
        }
        compute(on_threads_.all);
    }
    {
        const Timed timer(timers_, Phase::accelerator);
        forces_.finish_blocks();
    }
    ghosts_current_ = true;
    const bool moved = options.kick == md::Kick::first || options.kick == md::Kick::middle;
    agreement_.add(forces_.worst(), stop, moved, {particles(), given_particles_});
    if (!moved) return tiles_.copy_blocks();  // the whole state is at one time, where others may look at it
    for (std::size_t t = 0; t < tiles_.on_cpu(); ++t) tiles_[t].flip();  // the kernels wrote the next positions
    tiles_.drop_copies();
    ghosts_current_ = false;
    skin_.stepped();
}

// Computes the inner tiles while ghosts are on their way. Then it computes the tiles at the rim as their ghosts arrive,
// in batches large enough for all threads.
template <int D>
template <class Compute>
void EngineOf<D>::compute_with_ghosts(Compute compute) {
    const double start = comm::now();
    double computed = 0;
    const auto compute_some = [&](const ThreadSchedule& schedule) {
        const double begin = comm::now();
        compute(schedule);
        computed += comm::now() - begin;
    };
    compute_some(on_threads_.inner);
    std::vector<std::size_t> ready = halo_.complete();
    const auto threads = static_cast<std::size_t>(omp_get_max_threads());
    double end = start;
    for (std::size_t left = on_threads_.rim.size(); left > 0;) {
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
        if (!halo_.finish_some(ready)) throw std::logic_error("a tile waits for ghosts that no rank sends");
    }
    const Timed timer(timers_, Phase::ghosts);
    while (halo_.finish_some(ready)) {
    }
    if (on_threads_.rim.empty()) return;
    seconds_.travel.computed += computed;
    seconds_.travel.waited += end - start - computed;
}

template <int D>
ZoneSeconds EngineOf<D>::take_zone_seconds() {
    seconds_.zones.cpu_busy = stopwatch_.take_busy();
    seconds_.zones.accelerator = forces_.take_block_seconds();
    return std::exchange(seconds_.zones, {});
}

template class EngineOf<2>;
template class EngineOf<3>;

std::unique_ptr<Engine> make_engine(const Setup& setup, const balance::Decomposition& decomposition,
                                    const comm::Communicator& comm, Timers& timers) {
    if (setup.domain.dimensions == 2) return std::make_unique<EngineOf<2>>(setup, decomposition, comm, timers);
    return std::make_unique<EngineOf<3>>(setup, decomposition, comm, timers);
}

}  // namespace app

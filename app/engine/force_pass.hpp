// SPDX-License-Identifier: MIT
// One pass over particles: forces, kick, drift, and the sums that a whole step wants.
#pragma once
#include <array>
#include <cstdint>
#include <vector>

#include "app/engine/setup.hpp"
#include "app/engine/stopwatch.hpp"
#include "app/engine/tiles.hpp"
#include "md/observables.hpp"

namespace app {

template <int D>
class ForcePass {
public:
    ForcePass(const Setup& setup, Tiles<D>& tiles) : setup_(setup), tiles_(tiles) { resize(); }

    /// After the tiles have been replaced.
    void resize();
    /// After the neighbour lists were built: counts what passes take on a simulated cluster.
    void count_work();

    /// Computes the tiles of a schedule; before(tile) runs just before each.
    template <class Before>
    void compute(const ThreadSchedule& schedule, const PassOptions& options, Stopwatch& stopwatch, Before before) {
        const auto step = md::kernels_of<D>(*setup_.kernels).step_for(setup_.potential, setup_.precision);
        const md::StepArgs args = arguments(options);
        stopwatch.timed_for(schedule, [&](std::size_t t) {
            before(t);
            compute_tile(t, step, args, options);
        });
    }

    /// Adds what moving faces gave in the last pass to what they have given, before another pass.
    void book_work();
    /// See Engine.
    void thermalise(std::int64_t step);
    md::Given given() const;
    void set_given(const md::Given& given);

    /// Has an accelerator start a pass over its blocks, and waits for all that have blocks.
    void start_zone(int accelerator, const PassOptions& options);
    void finish_zones();
    /// Seconds since the last call that the accelerator that worked longest was at work.
    double take_zone_seconds();

    /// Largest displacement of this rank's particles since the last rebuild, and the first fault of the last pass.
    md::StepResult worst() const;
    /// The sums of the last pass with `sums`, over all ranks. Collective.
    md::SystemSums sums() const;
    /// Force on a particle after a pass with `keep_forces`; own order of the tile. In two dimensions z is 0.
    std::array<double, 3> force(std::size_t tile, std::int64_t own) const;

private:
    md::StepArgs arguments(const PassOptions& options) const;
    md::Int128 external_energy(const md::TileView<D>& view, std::int64_t particles) const;
    void compute_tile(std::size_t t, typename md::KernelsOf<D>::Step step, md::StepArgs args,
                      const PassOptions& options);

    const Setup& setup_;
    Tiles<D>& tiles_;
    std::vector<md::StepResult> results_;  // by tile, as the others; of a zone with its first block
    std::vector<md::PairSums> pair_sums_;
    std::array<std::vector<std::vector<std::int64_t>>, D> force_;  // quanta, by axis
    std::vector<double> zone_seconds_;                             // by accelerator
    std::vector<double> work_seconds_;                             // by tile
    md::Given given_;              // to this rank's particles; on rank 0 also all of before a restart
    bool keeping_forces_ = false;  // of the zones at work
};

}  // namespace app

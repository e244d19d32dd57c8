// SPDX-License-Identifier: MIT
#include "app/engine/force_pass.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "balance/model/counted_work.hpp"
#include "comm/simulation.hpp"
#include "md/potential.hpp"

namespace app {

void ForcePass::resize() {
    results_.assign(tiles_.size(), {});
    pair_sums_.assign(tiles_.size(), {});
    work_seconds_.assign(tiles_.size(), 0.0);
    force_x_.assign(tiles_.size(), {});
    force_y_.assign(tiles_.size(), {});
    block_seconds_.assign(tiles_.size() - tiles_.on_cpu(), 0.0);
}

// The same counts and costs that balancing by work goes by; a rebuild's are in it, spread over the steps.
void ForcePass::count_work() {
    if (!comm::simulated) return;
    const std::vector<balance::CellCounts> counts = tiles_.cell_counts();
    const std::vector<std::int64_t> neighbours = tiles_.cell_neighbours();
    const std::array<double, 2> width{setup_.domain.axis[0].cell_width(), setup_.domain.axis[1].cell_width()};
    std::size_t at = 0;
    for (std::size_t t = 0; t < tiles_.size(); ++t) {
        const balance::Box& box = tiles_[t].box();
        const auto cells = static_cast<std::size_t>(box.cells());
        std::int64_t ticks = 0;
        for (const std::int64_t cell : balance::counted_work(
                 setup_.work,
                 {box, width, std::span(counts).subspan(at, cells), std::span(neighbours).subspan(at, cells)}))
            ticks += cell;
        work_seconds_[t] = balance::to_seconds(ticks);
        at += cells;
    }
}

md::StepArgs ForcePass::arguments(const Options& options) const {
    const auto& axis = setup_.domain.axis;
    md::StepArgs args{};
    args.potential = &setup_.potential;
    args.narrow_g2 = setup_.limits.narrow_g2.data();
    args.safe_r2 = setup_.limits.safe_r2;
    args.dt = setup_.dt;
    args.kick = options.kick;
    args.sum_kinetic = options.sums;
    for (int a = 0; a < 2; ++a) {
        args.cell[a] = axis[a].cell_width();
        args.length[a] = axis[a].fixed_length();
    }
    return args;
}

void ForcePass::compute_tile(std::size_t t, md::Kernels::Step step, md::StepArgs args, const Options& options) {
    md::Tile& tile = tiles_[t];
    setup_.domain.walls_near(tile.box(), setup_.halo, args.wall);
    if (options.keep_forces) {
        force_x_[t].resize(tile.size());
        force_y_[t].resize(tile.size());
        args.force_x = force_x_[t].data();
        args.force_y = force_y_[t].data();
    }
    const md::TileView view = tile.view();
    md::StepResult result;  // neighbours in results_ share a cache line with other threads' tiles
    step(view, args, result);
    results_[t] = result;
    comm::compute(work_seconds_[t]);
    if (!options.sums) return;
    md::PairSums pairs;
    setup_.kernels->pair_sums[md::potential_index(setup_.potential.kind)](view, setup_.potential, pairs);
    pair_sums_[t] = pairs;
}

void ForcePass::start_blocks(const Options& options) {
    keeping_forces_ = options.keep_forces;
    for (std::size_t t = tiles_.on_cpu(); t < tiles_.size(); ++t)
        tiles_.zone(t).start({options.kick, options.sums, options.keep_forces});
}

void ForcePass::finish_blocks() {
    for (std::size_t t = tiles_.on_cpu(); t < tiles_.size(); ++t) {
        const gpu::Zone::Result result = tiles_.zone(t).finish();
        results_[t] = result.step;
        pair_sums_[t] = result.pairs;
        block_seconds_[t - tiles_.on_cpu()] += result.seconds;
        if (keeping_forces_) tiles_.zone(t).forces(force_x_[t], force_y_[t]);
    }
}

double ForcePass::take_block_seconds() {
    double longest = 0;
    for (double& s : block_seconds_) longest = std::max(longest, std::exchange(s, 0.0));
    return longest;
}

md::StepResult ForcePass::worst() const {
    md::StepResult all;
    for (const md::StepResult& r : results_) {
        all.displacement2 = std::max(all.displacement2, r.displacement2);
        if (r.fault.id < all.fault.id) all.fault = r.fault;
    }
    return all;
}

md::SystemSums ForcePass::sums() const {
    std::vector<md::Int128> s(7, 0);
    for (std::size_t t = 0; t < tiles_.size(); ++t) {
        s[0] += tiles_.particles(t);
        s[1] += results_[t].momentum[0];
        s[2] += results_[t].momentum[1];
        s[3] += results_[t].kinetic;
        s[4] += pair_sums_[t].energy;
        s[5] += pair_sums_[t].virial;
        s[6] += pair_sums_[t].pairs;
    }
    tiles_.comm().sum(s);
    return {static_cast<std::int64_t>(s[0]), static_cast<std::int64_t>(s[6]), {s[1], s[2]}, s[3], s[4], s[5]};
}

std::array<double, 2> ForcePass::force(std::size_t tile, std::int64_t own) const {
    const double quantum = std::ldexp(1.0, -md::force_bits(setup_.precision));
    return {static_cast<double>(force_x_[tile][own]) * quantum, static_cast<double>(force_y_[tile][own]) * quantum};
}

}  // namespace app

// SPDX-License-Identifier: MIT
#include "app/engine/force_pass.hpp"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <type_traits>
#include <utility>

#include "balance/model/counted_work.hpp"
#include "comm/simulation.hpp"
#include "md/potential.hpp"
#include "md/thermostat.hpp"

namespace app {
namespace {

// All numbers of some sums. The names are those of all members, so a member that is missing here does not compile.
auto numbers_of(md::SystemSums& sums) {
    auto& [particles, pairs, momentum, kinetic, external, energy, virial, given] = sums;
    auto& [x, y, z] = momentum;
    auto& [heat, work] = given;
    return std::tie(particles, pairs, x, y, z, kinetic, external, energy, virial, heat, work);
}

}  // namespace

template <int D>
void ForcePass<D>::resize() {
    book_work();  // of the drift before the tiles changed
    results_.assign(tiles_.size(), {});
    pair_sums_.assign(tiles_.size(), {});
    work_seconds_.assign(tiles_.size(), 0.0);
    for (auto& of_axis : force_) of_axis.assign(tiles_.size(), {});
    zone_seconds_.assign(tiles_.accelerators(), 0.0);
}

// The same counts and costs that balancing by work goes by; a rebuild's are in it, spread over the steps.
template <int D>
void ForcePass<D>::count_work() {
    if (!comm::simulated) return;
    const std::vector<balance::CellCounts> counts = tiles_.cell_counts();
    const std::vector<std::int64_t> neighbours = tiles_.cell_neighbours();
    const std::array<double, 3> width = setup_.domain.cell_widths();
    std::size_t at = 0;
    for (std::size_t t = 0; t < tiles_.size(); ++t) {
        const balance::Box& box = tiles_.box(t);
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

template <int D>
md::StepArgs ForcePass<D>::arguments(const PassOptions& options) const {
    const auto& axis = setup_.domain.axis;
    md::StepArgs args{};
    args.potential = &setup_.potential;
    args.narrow_g2 = setup_.limits.narrow_g2.data();
    args.safe_r2 = setup_.limits.safe_r2;
    args.dt = setup_.dt;
    args.kick = options.kick;
    args.sum_kinetic = options.sums;
    for (int a = 0; a < D; ++a) args.cell[a] = axis[a].cell_width();
    return args;
}

// External energy of a tile's particles before a pass.
template <int D>
md::Int128 ForcePass<D>::external_energy(const md::TileView<D>& view, std::int64_t particles) const {
    md::Int128 sum = 0;
    for (std::int64_t i = 0; i < particles; ++i)
        sum += setup_.external.energy(md::vec<D>([&](int a) { return view.x[a][i]; }));
    return sum;
}

template <int D>
void ForcePass<D>::compute_tile(std::size_t t, typename md::KernelsOf<D>::Step step, md::StepArgs args,
                                const PassOptions& options) {
    md::Tile<D>& tile = tiles_[t];
    setup_.external.tell(args, setup_.domain, tile.box(), setup_.halo, options.step);
    for (int a = 0; options.keep_forces && a < D; ++a) {
        force_[a][t].resize(tile.size());
        args.force[a] = force_[a][t].data();
    }
    const md::TileView<D> view = tile.view();
    const md::Int128 external =
        options.sums && setup_.external.any_potential() ? external_energy(view, tile.size()) : 0;
    md::StepResult result;  // neighbours in results_ share a cache line with other threads' tiles
    step(view, args, result);
    result.external = external;
    results_[t] = result;
    comm::compute(work_seconds_[t]);
    if (!options.sums) return;
    md::PairSums pairs;
    md::kernels_of<D>(*setup_.kernels)
        .pair_sums[md::potential_index(setup_.potential.kind)](view, setup_.potential, pairs);
    pair_sums_[t] = pairs;
}

template <int D>
void ForcePass<D>::start_zone(int accelerator, const PassOptions& options) {
    keeping_forces_ = options.keep_forces;
    tiles_.zone(accelerator).start({options.kick, options.sums, options.keep_forces, options.step});
}

template <int D>
void ForcePass<D>::finish_zones() {
    for (int k = 0; k < tiles_.accelerators(); ++k) {
        if (!tiles_.has_blocks(k)) continue;
        gpu::Zone<D>& zone = tiles_.zone(k);
        const std::size_t first = tiles_.first_of_accelerator(k);
        const gpu::ZoneResult result = zone.finish();
        results_[first] = result.step;  // of all blocks of the zone
        pair_sums_[first] = result.pairs;
        zone_seconds_[k] += result.seconds;
        for (int a = 0; keeping_forces_ && a < D; ++a) {
            const std::vector<std::int64_t> all = zone.forces(a);
            auto next = all.begin();
            for (std::size_t t = first; t < tiles_.first_of_accelerator(k + 1); ++t) {
                const auto begin = std::exchange(next, next + tiles_.particles(t));
                force_[a][t].assign(begin, next);
            }
        }
    }
}

template <int D>
double ForcePass<D>::take_zone_seconds() {
    double longest = 0;
    for (double& s : zone_seconds_) longest = std::max(longest, std::exchange(s, 0.0));
    return longest;
}

template <int D>
md::StepResult ForcePass<D>::worst() const {
    md::StepResult all;
    for (const md::StepResult& r : results_) {
        all.displacement2 = std::max(all.displacement2, r.displacement2);
        if (r.fault.id < all.fault.id) all.fault = r.fault;
    }
    return all;
}

// The work of a drift belongs to the step that it leads to.
template <int D>
void ForcePass<D>::book_work() {
    if (!setup_.external.any_motion()) return;
    for (md::StepResult& r : results_) given_.work += std::exchange(r.work, 0);
}

template <int D>
void ForcePass<D>::thermalise(std::int64_t step) {
    const bool rescale = setup_.thermostat.kind == md::ThermostatKind::rescale;
    const md::VelocityChange<D> change =
        md::velocity_change<D>(setup_.thermostat, setup_.seed, setup_.dt, step, rescale ? sums() : md::SystemSums{});
    std::vector<md::Int128> heat(tiles_.size());
    parallel_for(tiles_.on_cpu(), [&](std::size_t t) {
        tiles_[t].change_velocities([&](const md::Particle<D>& p) {
            const auto before = md::vec<D>([&](int a) { return p.v[a]; }), after = change(p.id, before);
            heat[t] += md::gained(before, after);
            return md::vec<D>([&](int a) { return after[a] - before[a]; });
        });
    });
    for (int a = 0; a < tiles_.accelerators(); ++a)
        if (tiles_.has_blocks(a)) given_.heat += tiles_.zone(a).change_velocities(change);
    for (const md::Int128 h : heat) given_.heat += h;
}

template <int D>
md::Given ForcePass<D>::given() const {
    std::vector<md::Int128> s{given_.heat, given_.work};
    tiles_.comm().sum(s);
    return {s[0], s[1]};
}

template <int D>
void ForcePass<D>::set_given(const md::Given& given) {
    given_ = tiles_.comm().rank() == 0 ? given : md::Given{};
}

template <int D>
md::SystemSums ForcePass<D>::sums() const {
    md::SystemSums all;
    all.given = given_;
    for (std::size_t t = 0; t < tiles_.size(); ++t) {
        all.particles += tiles_.particles(t);
        for (int a = 0; a < 3; ++a) all.momentum[a] += results_[t].momentum[a];
        all.kinetic += results_[t].kinetic;
        all.external += results_[t].external;
        all.energy += pair_sums_[t].energy;
        all.virial += pair_sums_[t].virial;
        all.pairs += pair_sums_[t].pairs;
    }
    std::vector<md::Int128> numbers;
    std::apply([&](auto&... n) { (numbers.push_back(n), ...); }, numbers_of(all));
    tiles_.comm().sum(numbers);
    auto next = numbers.begin();
    std::apply([&](auto&... n) { ((n = static_cast<std::remove_reference_t<decltype(n)>>(*next++)), ...); },
               numbers_of(all));
    return all;
}

template <int D>
std::array<double, 3> ForcePass<D>::force(std::size_t tile, std::int64_t own) const {
    std::array<double, 3> f{};
    for (int a = 0; a < D; ++a)
        f[a] = std::ldexp(static_cast<double>(force_[a][tile][own]), -md::force_bits(setup_.precision));
    return f;
}

template class ForcePass<2>;
template class ForcePass<3>;

}  // namespace app

// SPDX-License-Identifier: MIT
#include "app/balancing/reference.hpp"

#include <omp.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "balance/model/median.hpp"
#include "comm/simulation.hpp"
#include "md/external.hpp"
#include "md/random.hpp"
#include "md/tile.hpp"

namespace app {
namespace {

constexpr int most_passes = 16, first_passes = 5;
constexpr double simulated_seconds = 2e-5;  // of a pass on a simulated cluster

// Of a liquid near its freezing point, with `side` particles along each axis in a box with walls.
template <int D>
class Liquid {
public:
    explicit Liquid(const Setup& setup)
        : setup_(setup), domain_(domain_of(setup)), tile_(domain_, domain_.grid().box(), 2, 2) {
        tile_.insert(particles());
        md::TileScratch scratch;
        tile_.sort(*setup.kernels, scratch);
        tile_.lay_slots();
        tile_.build_neighbour_lists(*setup.kernels, potential_.cutoff + skin, scratch);
        args_.potential = &potential_;
        args_.narrow_g2 = limits_.narrow_g2.data();
        args_.safe_r2 = limits_.safe_r2;
        args_.kick = md::Kick::none;
        for (int a = 0; a < D; ++a) args_.cell[a] = domain_.axis[a].cell_width();
        md::External().tell(args_, domain_, domain_.grid().box(), 2, 0);
    }

    void pass() {
        md::StepResult result;
        md::kernels_of<D>(*setup_.kernels).step_for(potential_, setup_.precision)(tile_.view(), args_, result);
    }

private:
    static constexpr int side = D == 2 ? 48 : 12;
    static constexpr double spacing = 1.06, skin = 0.3, displaced = 0.05;  // lengths

    static md::Domain domain_of(const Setup& setup) {
        md::Domain domain;
        domain.dimensions = D;
        domain.packed_bits = setup.precision == md::Precision::mixed ? md::edge_bits : md::finest_packed_bits;
        const double length = (side + 1) * spacing;
        for (md::Axis& axis : domain.axes()) axis = {md::to_edge_units(length), static_cast<int>(length / 2.8), false};
        return domain;
    }

    static std::vector<md::Particle<D>> particles() {
        std::vector<md::Particle<D>> all;
        for (std::int64_t id = 0; id < (D == 2 ? side * side : side * side * side); ++id) {
            md::Particle<D> p{id, {}, {}};
            std::int64_t site = id;
            for (int a = D - 1; a >= 0; --a, site /= side) {
                const double by = displaced * md::normal_pair(1, static_cast<std::uint64_t>(D * id + a))[0];
                p.x[a] = std::llrint((spacing * static_cast<double>(site % side + 1) + by) / md::position_unit);
            }
            all.push_back(p);
        }
        return all;
    }

    const Setup& setup_;
    md::PotentialSpec potential_;
    md::ForceLimits limits_ = md::force_limits(potential_);
    md::Domain domain_;
    md::Tile<D> tile_;
    md::StepArgs args_{};
};

template <int D>
std::function<void()> pass_over_liquid(const Setup& setup) {
    return [liquid = std::make_shared<Liquid<D>>(setup)] { liquid->pass(); };
}

}  // namespace

Reference::Reference(const Setup& setup, const comm::Communicator& comm)
    : clock_(setup.thread_seconds), passes_(omp_get_max_threads()) {
    for (std::function<void()>& pass : passes_)
        pass = comm::simulated                ? [] { comm::compute(simulated_seconds); }
               : setup.domain.dimensions == 2 ? pass_over_liquid<2>(setup)
                                              : pass_over_liquid<3>(setup);
    // All ranks must afford the same passes.
    pass_seconds_ = static_cast<double>(comm.max_of(std::llround(median_of(first_passes) * 1e9))) * 1e-9;
}

std::optional<double> Reference::measure(double elapsed) {
    if (pass_seconds_ == 0) return std::nullopt;
    saved_ = std::min(saved_ + part * elapsed, most_passes * pass_seconds_);
    const int passes = static_cast<int>(saved_ / pass_seconds_);
    if (passes == 0) return std::nullopt;
    saved_ -= passes * pass_seconds_;
    return median_of(passes);
}

double Reference::median_of(int passes) const {
    const int threads = static_cast<int>(passes_.size());
    std::vector<double> rates(passes_.size());  // 0 of a thread that the system does not give
#pragma omp parallel num_threads(threads)
    {
        const int t = omp_get_thread_num();
        std::vector<double> seconds(passes);
        double begin = clock_();
        for (double& s : seconds) {
            passes_[t]();
            const double end = clock_();
            s = end - begin;
            begin = end;
        }
        rates[t] = 1 / balance::median_in(seconds);
    }
    double sum = 0;
    for (const double r : rates) sum += r;
    return static_cast<double>(std::ranges::count_if(rates, [](double r) { return r > 0; })) / sum;
}

}  // namespace app

// SPDX-License-Identifier: MIT
// A pass over the particles of a zone: the functors that it launches for a potential and a precision, their positions,
// and the results.
#pragma once
#include <array>
#include <cstdint>
#include <cstring>
#include <tuple>
#include <type_traits>
#include <vector>

#include "gpu/kernels/all.hpp"
#include "gpu/launch.hpp"
#include "gpu/zone.hpp"
#include "gpu/zone/cells.hpp"

namespace gpu {

template <int D, class On>
class ZonePass {
public:
    ZonePass(On& on, const ZoneSetup& setup) : on_(on), setup_(setup) {
        for (int a = 0; a < D; ++a) force_.emplace_back(on);
        totals_.resize(1);
        result_.resize(1);
        narrow_g2_.resize(md::narrow_rows);
    }

    /// Packed positions of now, by slot.
    md::Packed<D>* packed() const { return packed_[current_].data(); }
    /// Makes room for `slots` slots, and puts own particles there.
    void put_own(const Particles<D>& particles, std::int64_t size, std::int64_t slots, const std::int32_t* slot) {
        for (auto& p : packed_) p.resize(slots);
        reference_.resize(size);
        launch(on_, size, PackOwn<D>{particles, slot, setup_.domain.packed_shift(), packed(), reference_.data()});
    }

    /// Starts a pass. flips(): it moves particles, so packed() is then what it writes.
    void start(const ZonePassOptions& pass, const Particles<D>& particles, std::int64_t size,
               const ZoneCells<D, On>& cells, const Rows& rows) {
        if (pass.keep_forces)
            for (auto& f : force_) f.resize(size);
        summed_ = pass.sums;
        on_.clear(totals_.data(), sizeof(Totals));
        const PassView<D> seen = view(pass, particles, cells.slot(), rows);
        const md::Integration<D> integration(arguments(pass, cells.boxes()), setup_.precision);
        int kind = md::potential_index(setup_.potential.kind);
        const auto if_named = [&]<template <class, bool> class P>(P<double, true>*) {
            if (kind-- == 0) launch_potential<P>(seen, integration, size);
        };
        [&]<class... All>(std::tuple<All...>*) {
            (if_named(static_cast<All*>(nullptr)), ...);
        }(static_cast<md::Potentials<double, true>*>(nullptr));
        if (flips(pass)) current_ = 1 - current_;
    }
    static bool flips(const ZonePassOptions& pass) {
        return pass.kick == md::Kick::first || pass.kick == md::Kick::middle;
    }
    /// Has the results copied, when the accelerator comes to it.
    void take_results() { on_.to_host(result_.data(), totals_.data(), sizeof(Totals)); }
    /// See Zone::change_velocities().
    md::Int128 change_velocities(const Particles<D>& particles, std::int64_t size,
                                 const md::VelocityChange<D>& change) {
        on_.clear(totals_.data(), sizeof(Totals));
        launch(on_, size, ChangeVelocities<D>{particles, change, totals_.data()});
        take_results();
        on_.wait();
        return result_.data()->heat.value();
    }
    /// After the accelerator has come to it.
    ZoneResult result() const {
        const Totals& t = *result_.data();
        ZoneResult r;
        std::memcpy(&r.step.displacement2, &t.displacement2, sizeof t.displacement2);
        for (int a = 0; a < D; ++a) r.step.momentum[a] = t.momentum[a].value();
        r.step.kinetic = t.kinetic.value();
        r.step.work = t.work.value();
        r.step.external = t.external.value();
        r.step.fault = t.first_fault();
        if (summed_) r.pairs = {t.energy.value(), t.virial.value(), static_cast<std::int64_t>(t.pairs)};
        return r;
    }
    /// See Zone::forces().
    const Array<On, std::int64_t>& force(int axis) const { return force_[axis]; }
    /// View for the functors of a pass.
    PassView<D> view(const ZonePassOptions& pass, const Particles<D>& particles, const std::int32_t* slot,
                     const Rows& rows) const {
        PassView<D> v{particles, packed(), reference_.data(), packed_[1 - current_].data(), slot,
                      rows,      {},       totals_.data(),    setup_.domain.packed_shift(), pass.sums};
        for (int a = 0; pass.keep_forces && a < D; ++a) v.force[a] = force_[a].data();
        return v;
    }

private:
    md::StepArgs arguments(const ZonePassOptions& pass, const std::vector<balance::Box>& blocks) const {
        md::StepArgs args{};
        args.dt = setup_.dt;
        args.kick = pass.kick;
        for (int a = 0; a < D; ++a) args.cell[a] = setup_.domain.axis[a].cell_width();
        balance::Box all = blocks.empty() ? balance::Box{} : blocks[0];
        for (const balance::Box& b : blocks) all = balance::around(all, b);
        setup_.external.tell(args, setup_.domain, all, setup_.halo, pass.step);
        return args;
    }
    template <class Force>
    void launch_step(const PassView<D>& view, const Force& force, const md::Integration<D>& integration,
                     std::int64_t size) {
        if constexpr (requires { force.narrow_g2(nullptr, 0); }) {
            if (!narrow_known_) {
                std::vector<float> limits;
                for (int n = 0; n < md::narrow_rows; ++n)
                    limits.push_back(force.narrow_g2(setup_.limits.narrow_g2.data(), n));
                upload(on_, narrow_g2_, limits);
                narrow_known_ = true;
            }
        }
        launch(on_, size, Step<D, Force>{view, force, integration, narrow_g2_.data()});
    }
    template <template <class, bool> class P>
    void launch_potential(const PassView<D>& view, const md::Integration<D>& integration, std::int64_t size) {
        const md::PotentialSpec& spec = setup_.potential;
        const int bits = setup_.domain.packed_bits;
        const double safe_r2 = setup_.limits.safe_r2;
        const auto with = [&]<bool softened>(std::bool_constant<softened>) {
            if (setup_.precision == md::Precision::mixed)
                launch_step(view, md::MixedForce<P, softened>(spec, safe_r2, bits), integration, size);
            else launch_step(view, md::DoubleForce<P, softened>(spec, safe_r2, bits), integration, size);
        };
        if (view.sum_kinetic && setup_.external.any_potential())
            launch(on_, size, SumExternal<D>{view, setup_.external});
        if (view.sum_kinetic) launch(on_, size, SumPairs<D, P>{view, md::PairEnergy<P>(spec, bits)});
        if (spec.softening == 0.0) with(std::false_type{});
        else with(std::true_type{});
    }

    On& on_;
    const ZoneSetup& setup_;
    std::array<Array<On, md::Packed<D>>, 2> packed_{Array<On, md::Packed<D>>{on_}, Array<On, md::Packed<D>>{on_}};
    int current_ = 0;  // index of the present packed positions
    Array<On, md::Packed<D>> reference_{on_};
    std::vector<Array<On, std::int64_t>> force_;  // by axis
    Array<On, Totals> totals_{on_};
    Array<On, Totals, true> result_{on_};
    Array<On, float> narrow_g2_{on_};
    bool narrow_known_ = false;
    bool summed_ = false;  // the pass that was started adds up energies
};

}  // namespace gpu

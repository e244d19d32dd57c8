// SPDX-License-Identifier: MIT
// The list of all functors that are launched, from which the host's table is made. Potentials come from md's list.
#pragma once
#include <tuple>
#include <type_traits>

#include "gpu/kernels/particles.hpp"
#include "gpu/kernels/rows.hpp"
#include "gpu/kernels/scan.hpp"
#include "gpu/kernels/slots.hpp"
#include "gpu/kernels/step.hpp"
#include "md/potential.hpp"

namespace gpu {

template <class... F>
struct List {};

/// The place of F in a list.
template <class F, class... All>
constexpr int place_in(List<All...>) {
    int place = 0;
    const bool found = ((std::is_same_v<F, All> || (++place, false)) || ...);
    return found ? place : -1;
}

template <class... A, class... B>
List<A..., B...> joined(List<A...>, List<B...>);

template <template <class, bool> class P>
using OfPotential = List<Step<md::MixedForce<P, false>>, Step<md::MixedForce<P, true>>, Step<md::DoubleForce<P, false>>,
                         Step<md::DoubleForce<P, true>>, SumPairs<P>>;

template <template <class, bool> class P>
OfPotential<P> of_potential(P<double, true>*);
List<> of_potentials(std::tuple<>*);
template <class First, class... Rest>
auto of_potentials(std::tuple<First, Rest...>*) {
    return decltype(joined(of_potential(static_cast<First*>(nullptr)),
                           decltype(of_potentials(static_cast<std::tuple<Rest...>*>(nullptr))){})){};
}

using CommonKernels =
    List<Append, FindOutside, TakeListed, FindMovers, FindHoles, FillHoles, FindBins, FindOrder, Reorder, CountCells,
         Gather, Scatter, LayOwn, PackOwn, ListSlots, ListShifts, TakeOutgoing, PutIncoming, PutImages, CountRows,
         MeasureGroups, FillRows, CountPairs, SumRuns<std::int32_t>, ScanRuns<std::int32_t>, SumRuns<std::int64_t>,
         ScanRuns<std::int64_t>>;
using AllKernels =
    decltype(joined(CommonKernels{}, decltype(of_potentials(static_cast<md::Potentials<double, true>*>(nullptr))){}));

}  // namespace gpu

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

template <int D, template <class, bool> class P>
using OfPotential = List<Step<D, md::MixedForce<P, false>>, Step<D, md::MixedForce<P, true>>,
                         Step<D, md::DoubleForce<P, false>>, Step<D, md::DoubleForce<P, true>>, SumPairs<D, P>>;

template <int D, template <class, bool> class P>
OfPotential<D, P> of_potential(P<double, true>*);
template <int D>
List<> of_potentials(std::tuple<>*);
template <int D, class First, class... Rest>
auto of_potentials(std::tuple<First, Rest...>*) {
    return decltype(joined(of_potential<D>(static_cast<First*>(nullptr)),
                           decltype(of_potentials<D>(static_cast<std::tuple<Rest...>*>(nullptr))){})){};
}

template <int D>
using InDimensions =
    decltype(joined(List<Append<D>, FindOutside<D>, TakeListed<D>, FindMovers<D>, FillHoles<D>, FindBins<D>,
                         CountCells<D>, LayOwn<D>, PackOwn<D>, ListShifts<D>, TakeOutgoing<D>, PutIncoming<D>,
                         PutImages<D>, CountRows<D>, FillRows<D>, CountPairs<D>, SumExternal<D>, ChangeVelocities<D>>{},
                    decltype(of_potentials<D>(static_cast<md::Potentials<double, true>*>(nullptr))){}));
using CommonKernels =
    List<FindHoles, FindOrder, Reorder, Gather, Scatter, ListSlots, MeasureGroups, SumRuns<std::int32_t>,
         ScanRuns<std::int32_t>, SumRuns<std::int64_t>, ScanRuns<std::int64_t>>;
using AllKernels = decltype(joined(CommonKernels{}, joined(InDimensions<2>{}, InDimensions<3>{})));

}  // namespace gpu

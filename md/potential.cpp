// SPDX-License-Identifier: MIT
#include "md/potential.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>

namespace md {
namespace {

template <class Visit, std::size_t... I>
void visit_all(Visit visit, std::index_sequence<I...>) {
    (visit(static_cast<int>(I), static_cast<std::tuple_element_t<I, Potentials<double, true>>*>(nullptr)), ...);
}

template <class Visit>
void for_each_potential(Visit visit) {
    visit_all(visit, std::make_index_sequence<potential_count>{});
}

template <class P>
PairValue value_at(const P& p, double r) {
    return {p.energy(r * r), p.force_over_r(r * r) * r};
}

// Calls use(functor) with the double-precision functor of `spec`.
template <class Use>
void with_potential(const PotentialSpec& spec, Use use) {
    const int index = potential_index(spec.kind);
    if (index < 0) throw std::invalid_argument("unknown potential kind '" + spec.kind + "'");
    for_each_potential([&]<template <class, bool> class P>(int i, P<double, true>*) {
        if (i == index) use(make_potential<P, double, true>(spec, {}));
    });
}

}  // namespace

std::vector<std::string> potential_kinds() {
    std::vector<std::string> names;
    for_each_potential([&](int, auto* p) { names.emplace_back(std::remove_pointer_t<decltype(p)>::name); });
    return names;
}

int potential_index(const std::string& kind) {
    const std::vector<std::string> names = potential_kinds();
    const auto it = std::find(names.begin(), names.end(), kind);
    return it == names.end() ? -1 : static_cast<int>(it - names.begin());
}

std::span<const Parameter> own_parameters(const std::string& kind) {
    std::span<const Parameter> found;
    for_each_potential([&]<class P>(int, P*) {
        if constexpr (requires { P::parameters; }) {
            static_assert(std::size(P::parameters) <= most_own_parameters);
            if (P::name == kind) found = P::parameters;
        }
    });
    return found;
}

std::string conflict(const PotentialSpec& spec) {
    std::string text;
    for_each_potential([&]<class P>(int, P*) {
        if constexpr (requires { P::conflict(spec); })
            if (P::name == spec.kind) text = P::conflict(spec);
    });
    return text;
}

PairValue pair_value(const PotentialSpec& spec, double r) {
    PairValue value;
    if (r < spec.cutoff) with_potential(spec, [&](const auto& p) { value = value_at(p, r); });
    return value;
}

std::vector<double> smallest_safe_r2(const PotentialSpec& spec, std::span<const double> limits) {
    constexpr int samples = 1 << 14;
    std::vector<double> worst(samples);  // [i]: largest value at distances from cutoff * i / samples to the cutoff
    with_potential(spec, [&](const auto& p) {
        double most = 0;
        for (int i = samples - 1; i >= 0; --i) {
            const double r = spec.cutoff * i / samples;
            const PairValue v = value_at(p, r);
            for (const double x : {v.force, v.energy, v.force * r})
                if (!(std::abs(x) <= most))
                    most = std::isfinite(x) ? std::abs(x) : std::numeric_limits<double>::infinity();
            worst[i] = most;
        }
    });
    std::vector<double> safe;
    for (const double limit : limits) {
        const auto first = std::partition_point(worst.begin(), worst.end(), [limit](double w) { return w > limit; });
        const double r = spec.cutoff * static_cast<double>(first - worst.begin()) / samples;
        safe.push_back(r * r);
    }
    return safe;
}

}  // namespace md

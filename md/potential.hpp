// SPDX-License-Identifier: MIT
// Pair potentials. To add one: write a functor like those below and name it in `Potentials` (docs/potentials.md).
//
// A functor is built for a scalar type T (float or double) and called with T or with a vector of T, so one text serves
// every instruction set. It receives s = r^2, softens it (nothing to do for most decks: `softened` tells them apart
// when compiled), and returns F/r = -2 dU/ds and U, both with the shift folded in: F/r + k and U + a + b s (Shift).
// Only + - * / fma appear, which IEEE rounds the same everywhere; that keeps the bits equal.
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "md/kernels/hd.hpp"
#include "md/kernels/scalar.hpp"
#include "md/potential_spec.hpp"

namespace md {

/// Units in which a kernel wants its numbers: r^2 arrives multiplied by `length2`, F/r must leave multiplied by
/// `force`. Powers of two, so scaling changes no bits.
struct Scale {
    double length2 = 1, force = 1;
};

/// Constants that move F and U to zero at the cutoff: F/r + k, U + a + b s.
struct ShiftTerms {
    double k = 0, a = 0, b = 0;
};

/// A parameter that only one kind of potential has. A functor lists them as `parameters`; the deck's keys, their checks
/// and the effective deck follow from that list.
struct Parameter {
    std::string_view name;     ///< system.potential.<name>
    double standard;           ///< its value where the deck gives none
    double low, high;          ///< allowed range
    int multiple_of;           ///< whole multiples of this number only; 0: any number
    std::string_view meaning;  ///< for the effective deck
};

/// The value that `spec` gives to the i-th parameter of P.
template <class P>
HD double own_parameter(const PotentialSpec& spec, int i) {
    const double x = spec.own[i];
    return x == x ? x : P::parameters[i].standard;
}

/// x^n for n >= 1: by squaring, so that all lanes take the same way.
template <class V>
HD V power(V x, int n) {
    while (n % 2 == 0) x = x * x, n /= 2;
    V result = x;
    while (n /= 2) {
        x = x * x;
        if (n % 2 == 1) result = result * x;
    }
    return result;
}

/// r^2 + softening^2.
template <class T, bool softened>
struct Softening {
    T square;

    template <class V>
    HD V operator()(V s) const {
        if constexpr (softened) return s + V(square);
        else return s;
    }
};

/// 12-6 Lennard-Jones: U = 4 eps i3 (i3 - 1), F/r = (48 eps / sigma^2) iv i3 (i3 - 1/2), iv = sigma^2 / (s +
/// softening^2).
template <class T, bool softened>
struct LennardJones {
    static constexpr std::string_view name = "lennard_jones";
    T sigma2;
    Softening<T, softened> soften;
    T repulsion, attraction, k, four_eps, a, b;

    HD LennardJones(const PotentialSpec& p, Scale u, ShiftTerms t)
        : sigma2(T(p.sigma * p.sigma * u.length2)),
          soften{T(p.softening * p.softening * u.length2)},
          repulsion(T(48 * p.epsilon / (p.sigma * p.sigma) * u.force)),
          attraction(T(-24 * p.epsilon / (p.sigma * p.sigma) * u.force)),
          k(T(t.k * u.force)),
          four_eps(T(4 * p.epsilon)),
          a(T(t.a)),
          b(T(t.b / u.length2)) {}

    template <class V>
    HD V force_over_r(V s) const {
        const V iv = V(sigma2) / soften(s);
        const V i3 = iv * iv * iv;
        return fma(iv * i3, fma(i3, V(repulsion), V(attraction)), V(k));
    }
    template <class V>
    HD V energy(V s) const {
        const V iv = V(sigma2) / soften(s);
        const V i3 = iv * iv * iv;
        return fma(V(four_eps) * i3, i3 - V(T(1)), fma(V(b), s, V(a)));
    }
};

/// Inverse-power soft spheres: U = eps (sigma^2 / (s + softening^2))^6, repulsive at every distance.
template <class T, bool softened>
struct SoftSphere {
    static constexpr std::string_view name = "soft_sphere";
    T sigma2;
    Softening<T, softened> soften;
    T repulsion, k, eps, a, b;

    HD SoftSphere(const PotentialSpec& p, Scale u, ShiftTerms t)
        : sigma2(T(p.sigma * p.sigma * u.length2)),
          soften{T(p.softening * p.softening * u.length2)},
          repulsion(T(12 * p.epsilon / (p.sigma * p.sigma) * u.force)),
          k(T(t.k * u.force)),
          eps(T(p.epsilon)),
          a(T(t.a)),
          b(T(t.b / u.length2)) {}

    template <class V>
    HD V force_over_r(V s) const {
        const V iv = V(sigma2) / soften(s);
        const V i3 = iv * iv * iv;
        return fma(iv * i3, V(repulsion) * i3, V(k));
    }
    template <class V>
    HD V energy(V s) const {
        const V iv = V(sigma2) / soften(s);
        const V i3 = iv * iv * iv;
        return fma(V(eps) * i3, i3, fma(V(b), s, V(a)));
    }
};

/// C of Mie, which makes its depth epsilon: n / (n - m) (n / m)^(m / (n - m)). The root by Newton's method: std::pow
/// isn't the same on all machines. h = n / 2, l = m / 2, h > l.
HD double mie_prefactor(int h, int l) {
    int p = l, q = h - l;  // (h / l)^(p / q)
    for (int d = q; d > 1; --d)
        while (p % d == 0 && q % d == 0) p /= d, q /= d;
    const double ratio = static_cast<double>(h) / l, a = power(ratio, p);
    double root = a;  // a > 1: from above, so that the steps go down until rounding stops them
    for (double next = a; q > 1;) {
        next = root - (root - a / power(root, q - 1)) / q;
        if (!(next < root)) break;
        root = next;
    }
    return static_cast<double>(h) / (h - l) * root;
}

/// Mie: U = C eps (iv^h - iv^l), with iv = sigma^2 / (s + softening^2), h = repulsive / 2 and l = attractive / 2.
///
/// Exponents are even, so no root of s is needed. 12-6 is Lennard-Jones, bit by bit. The difference is taken after l
/// powers have been factored out. So F is infinite rather than NaN where iv^h overflows.
template <class T, bool softened>
struct Mie {
    static constexpr std::string_view name = "mie";
    static constexpr Parameter parameters[] = {
        {"repulsive", 12, 4, 64, 2, "exponent n of (sigma / r)^n, even"},
        {"attractive", 6, 2, 62, 2, "exponent m of (sigma / r)^m, even, below n"},
    };
    static const char* conflict(const PotentialSpec& p) {
        return own_parameter<Mie>(p, 0) > own_parameter<Mie>(p, 1) ? "" : "repulsive must be larger than attractive";
    }
    T sigma2;
    Softening<T, softened> soften;
    int low, difference;  // l, h - l
    T repulsion, attraction, k, depth, a, b;

    HD Mie(const PotentialSpec& p, Scale u, ShiftTerms t)
        : sigma2(T(p.sigma * p.sigma * u.length2)),
          soften{T(p.softening * p.softening * u.length2)},
          low(static_cast<int>(own_parameter<Mie>(p, 1)) / 2),
          difference(static_cast<int>(own_parameter<Mie>(p, 0)) / 2 - low),
          k(T(t.k * u.force)),
          a(T(t.a)),
          b(T(t.b / u.length2)) {
        const double c = mie_prefactor(low + difference, low) * p.epsilon;
        repulsion = T(2 * (low + difference) * c / (p.sigma * p.sigma) * u.force);
        attraction = T(-2 * low * c / (p.sigma * p.sigma) * u.force);
        depth = T(c);
    }

    template <class V>
    HD V force_over_r(V s) const {
        const V iv = V(sigma2) / soften(s);
        const V far = power(iv, low);
        return fma(iv * far, fma(power(iv, difference), V(repulsion), V(attraction)), V(k));
    }
    template <class V>
    HD V energy(V s) const {
        const V iv = V(sigma2) / soften(s);
        return fma(V(depth) * power(iv, low), power(iv, difference) - V(T(1)), fma(V(b), s, V(a)));
    }
};

/// Every potential a deck can name, in the order of kernel tables. The one line to extend.
template <class T, bool softened>
using Potentials = std::tuple<LennardJones<T, softened>, SoftSphere<T, softened>, Mie<T, softened>>;

inline constexpr int potential_count = std::tuple_size_v<Potentials<double, true>>;

/// The constants that `spec.shift` asks for, from the unshifted potential at the cutoff.
template <template <class, bool> class P>
HD ShiftTerms shift_terms(const PotentialSpec& spec) {
    const P<double, true> plain(spec, {}, {});
    const double s = spec.cutoff * spec.cutoff;
    ShiftTerms t;
    if (spec.shift == Shift::none) return t;
    if (spec.shift == Shift::force) {
        t.k = -plain.force_over_r(s);
        t.b = -t.k / 2;  // dU/ds = -(F/r)/2
    }
    t.a = -plain.energy(s) - t.b * s;
    return t;
}

/// The functor for `spec` in the kernel's units.
template <template <class, bool> class P, class T, bool softened>
HD P<T, softened> make_potential(const PotentialSpec& spec, Scale scale) {
    return P<T, softened>(spec, scale, shift_terms<P>(spec));
}

/// Names of all potentials, in table order.
std::vector<std::string> potential_kinds();

/// Place of `kind` in the tables, -1 if there is none.
int potential_index(const std::string& kind);

/// The parameters that only `kind` has.
std::span<const Parameter> own_parameters(const std::string& kind);

/// Why the parameters of `spec`, each within its range, don't go together; empty if they do.
std::string conflict(const PotentialSpec& spec);

/// Energy and force of a pair at distance r (lengths) by the double-precision functor. For tests.
struct PairValue {
    double energy = 0, force = 0;  ///< force along r, positive when repulsive
};
PairValue pair_value(const PotentialSpec& spec, double r);

/// For each limit the smallest r^2 of a safe range. From there to the cutoff |F|, |U| and |F r| are finite and at most
/// that limit. They are sampled at 2^14 radii.
std::vector<double> smallest_safe_r2(const PotentialSpec& spec, std::span<const double> limits);

}  // namespace md

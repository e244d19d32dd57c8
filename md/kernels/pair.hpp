// SPDX-License-Identifier: MIT
// A pair's arithmetic. One text serves the vector kernels of every instruction set and the threads of a device. Vector
// kernels call it with vectors. A thread has one particle and calls it with float or double (scalar.hpp).
//
// Displacements are differences of packed positions in units of 2^-difference_bits lengths, converted exactly. The
// potential is scaled to that unit and to force quanta, so that no loop converts anything.
#pragma once
#include <cstdint>
#include <type_traits>

#include "md/kernels/hd.hpp"
#include "md/kernels/kernels.hpp"
#include "md/kernels/scalar.hpp"
#include "md/kernels/vec.hpp"
#include "md/potential.hpp"

namespace md {

/// 2^n, exactly.
HD constexpr double two_to(int n) {
    double r = 1.0;
    for (; n > 0; --n) r *= 2;
    for (; n < 0; ++n) r /= 2;
    return r;
}

/// Adding 1.5 * 2^52 rounds a double of less than 2^51 to an integer, to even on a tie, for both signs. The low bits
/// then hold that integer, so sums of the bits are exact sums of the integers.
inline constexpr double round_bias = 1.5 * two_to(52);
/// a b rounded once to an integer, plus the bits of round_bias.
template <class F64>
HD auto biased_integer(F64 a, F64 b) {
    return bits_of(fma(a, b, F64(round_bias)));
}
/// The bias of a sum of `count` biased integers.
HD std::uint64_t biases(int count) { return bits_of(round_bias) * static_cast<std::uint64_t>(count); }

/// r^2 of a displacement, in its unit squared. Axes without extent leave the bits of the others alone.
template <class V>
HD V square_of(const Vec<V, 2>& d) {
    return fma(d[0], d[0], d[1] * d[1]);
}
template <class V>
HD V square_of(const Vec<V, 3>& d) {
    return fma(d[0], d[0], fma(d[1], d[1], d[2] * d[2]));
}

/// F/r by potential P in arithmetic of T (float: mixed precision, double: double precision). Times a displacement it
/// is in force quanta.
template <template <class, bool> class P, class T, bool softened>
struct ForceOverR {
    static constexpr Precision precision = std::is_same_v<T, float> ? Precision::mixed : Precision::double_;
    double unit;       ///< F/r of 1 in these quanta
    T cutoff2, safe2;  ///< squared, displacement units: the cutoff; below safe2 forces are out of the exact range
    P<T, softened> potential;

    HD ForceOverR(const PotentialSpec& spec, double safe_r2, int difference_bits)
        : unit(two_to(force_bits(precision) - difference_bits)),
          cutoff2(T(spec.cutoff * spec.cutoff * two_to(2 * difference_bits))),
          safe2(T(safe_r2 * two_to(2 * difference_bits))),
          potential(make_potential<P, T, softened>(spec, {two_to(2 * difference_bits), unit})) {}

    /// At r^2 = s; zero from the cutoff on.
    template <class V>
    HD V at(V s) const {
        return keep(less(s, V(cutoff2)), potential.force_over_r(s));
    }
};

/// The force of a pair in floats. Its quanta are to be rounded to integers of 32 bits, or 64 where sums of 32 could
/// overflow: to_i32(fx), to_i64(fx).
template <template <class, bool> class P, bool softened>
struct MixedForce : ForceOverR<P, float, softened> {
    // Not inherited: an inherited constructor is not always inlined.
    HD MixedForce(const PotentialSpec& spec, double safe_r2, int difference_bits)
        : ForceOverR<P, float, softened>(spec, safe_r2, difference_bits) {}

    template <class F32, int D>
    struct Pair {
        F32 s, g;       ///< r^2, F/r
        Vec<F32, D> f;  ///< quanta, not rounded yet
    };
    template <class F32, int D>
    HD Pair<F32, D> operator()(const Vec<F32, D>& d) const {
        return (*this)(d, square_of(d));
    }
    /// The same for a displacement whose square is known.
    template <class F32, int D>
    HD Pair<F32, D> operator()(const Vec<F32, D>& d, F32 s) const {
        const F32 g = this->at(s);
        return {s, g, vec<D>([&](int a) __attribute__((always_inline)) { return g * d[a]; })};
    }
    /// While the sum of g^2 over `pairs` pairs is below this, sums of their quanta don't leave 32 bits.
    HD float narrow_g2(const double* limits, int pairs) const {
        const int size = pairs < narrow_rows ? pairs : narrow_rows - 1;
        return static_cast<float>(limits[size] * this->unit * this->unit);
    }
};

/// The force of a pair in doubles, rounded to quanta.
template <template <class, bool> class P, bool softened>
struct DoubleForce : ForceOverR<P, double, softened> {
    HD DoubleForce(const PotentialSpec& spec, double safe_r2, int difference_bits)
        : ForceOverR<P, double, softened>(spec, safe_r2, difference_bits) {}

    template <class F64, class I64, int D>
    struct Pair {
        F64 s;          ///< r^2
        Vec<I64, D> f;  ///< biased quanta
    };
    template <class F64, int D>
    HD auto operator()(const Vec<F64, D>& d) const {
        return (*this)(d, square_of(d));
    }
    /// The same for a displacement whose square is known.
    template <class F64, int D>
    HD auto operator()(const Vec<F64, D>& d, F64 s) const {
        const F64 g = this->at(s);
        return Pair<F64, decltype(bits_of(s)), D>{
            s, vec<D>([&](int a) __attribute__((always_inline)) { return biased_integer(g, d[a]); })};
    }
};

/// Energy and virial of a pair in doubles, rounded to 2^-energy_bits.
template <template <class, bool> class P>
struct PairEnergy {
    double cutoff2, virial_unit;
    P<double, true> potential;

    HD PairEnergy(const PotentialSpec& spec, int difference_bits)
        : cutoff2(spec.cutoff * spec.cutoff * two_to(2 * difference_bits)),
          virial_unit(two_to(energy_bits - 2 * difference_bits)),
          potential(make_potential<P, double, true>(spec, {two_to(2 * difference_bits), 1.0})) {}

    template <class M8, class I64>
    struct Pair {
        M8 near;             ///< within the cutoff
        I64 energy, virial;  ///< biased
    };
    template <class F64, int D>
    HD auto operator()(const Vec<F64, D>& d) const {
        const F64 s = square_of(d);
        const auto near = less(s, F64(cutoff2));
        const auto energy = biased_integer(keep(near, potential.energy(s)), F64(two_to(energy_bits)));
        const auto virial = biased_integer(keep(near, potential.force_over_r(s)) * s, F64(virial_unit));
        return Pair<decltype(less(s, s)), decltype(bits_of(s))>{near, energy, virial};
    }
};

}  // namespace md

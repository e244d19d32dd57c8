// SPDX-License-Identifier: MIT
// Vectors for the kernels, in the compiler's own vector types: one text for every instruction set, and the same bits
// everywhere. Only kernels_isa.cpp includes this file. It is compiled once for each STEELYARD_ISA:
//
//   512  AVX-512 (F, DQ, BW, VL), 64 bytes     1  NEON, or whatever vectors the compiler finds, 16 bytes
//   2    AVX2 with FMA, 32 bytes               0  the plain reference, 8 bytes: one double at a time
//
// simd_avx512.hpp and simd_masks.hpp add masks and the operations that a set does better than the compiler. Each is
// correctly rounded or exact. Conversions round to nearest even and want their argument in range: of 32-bit integers
// 31 bits, of 64-bit integers 51 bits.
#pragma once
#include <cstdint>
#include <utility>

#include "md/kernels/hd.hpp"
#include "md/kernels/vec.hpp"

#ifndef STEELYARD_ISA
#error "define STEELYARD_ISA as 512, 2, 1 or 0"
#endif

namespace md::STEELYARD_ISA_NAME {

inline constexpr int vector_bytes = STEELYARD_ISA == 512 ? 64 : STEELYARD_ISA == 2 ? 32 : STEELYARD_ISA == 1 ? 16 : 8;
inline constexpr int width = vector_bytes / 4;        ///< lanes of F32 and I32
inline constexpr int wide_width = vector_bytes / 8;   ///< lanes of F64 and I64
inline constexpr int short_width = vector_bytes / 2;  ///< lanes of I16
inline constexpr int parts = lanes / width;           ///< vectors for the particles of a cluster

template <class T>
struct RawOf {
    typedef T type __attribute__((vector_size(vector_bytes)));
};
template <class T>
using Raw = typename RawOf<T>::type;

/// Floats, doubles, or unsigned integers: their sums and differences wrap, and conversions read them in two's
/// complement.
template <class T>
struct Vector {
    Raw<T> v;
    Vector() = default;
    // Without these constructors compilers copy structures of vectors in pieces, and later loads stall.
    HD Vector(const Vector& a) : v(a.v) {}
    HD Vector& operator=(const Vector& a) {
        v = a.v;
        return *this;
    }
    HD Vector(Raw<T> a) : v(a) {}
    HD Vector(T a) : v(a - Raw<T>{}) {}  // in all lanes; -0 less 0 is -0
    HD friend Vector operator+(Vector a, Vector b) { return a.v + b.v; }
    HD friend Vector operator-(Vector a, Vector b) { return a.v - b.v; }
    HD friend Vector operator*(Vector a, Vector b) { return a.v * b.v; }
    HD friend Vector operator/(Vector a, Vector b) { return a.v / b.v; }
};
using F32 = Vector<float>;
using F64 = Vector<double>;
using I32 = Vector<std::uint32_t>;
using I64 = Vector<std::uint64_t>;
using I16 = Vector<std::uint16_t>;

template <class To, class From>
HD To same_bits(From a) {
    return __builtin_bit_cast(To, a);
}
template <class T>
HD Vector<T> load(const void* p) {
    Raw<T> v;
    __builtin_memcpy(&v, p, sizeof v);
    return v;
}
template <class T>
HD void store(void* p, Vector<T> a) {
    __builtin_memcpy(p, &a.v, sizeof a.v);
}
/// Lane i of the result is lane from(i) of a and b, one after the other.
template <auto from, class R>
HD R shuffled(R a, R b) {
    return [&]<int... i>(std::integer_sequence<int, i...>) __attribute__((always_inline)) {
        return __builtin_shufflevector(a, b, from(i)...);
    }
    (std::make_integer_sequence<int, static_cast<int>(sizeof(R) / sizeof(a[0]))>());
}
/// a, a + 1, ... in the lanes of a Vector<T>.
template <class T>
HD Vector<T> counting_from(T a) {
    Raw<T> v{};
    for (int l = 0; l < vector_bytes / static_cast<int>(sizeof a); ++l) v[l] = static_cast<T>(l);
    return v + a;
}

/// Packed positions, axis by axis.
template <int D>
using Positions = Vec<I32, D>;
/// The same number of lanes as F32 and I32, but twice as wide.
struct WideI {
    I64 low, high;
};
struct WideF {
    F64 low, high;
};

}  // namespace md::STEELYARD_ISA_NAME

#if STEELYARD_ISA == 512
#include "md/kernels/simd_avx512.hpp"
#else
#include "md/kernels/simd_masks.hpp"
#endif

namespace md::STEELYARD_ISA_NAME {

HD F32 abs(F32 a) { return same_bits<Raw<float>>(same_bits<Raw<std::uint32_t>>(a.v) & 0x7fffffffu); }
HD F64 abs(F64 a) { return same_bits<Raw<double>>(same_bits<Raw<std::uint64_t>>(a.v) & ~(std::uint64_t{1} << 63)); }
HD I64 bits_of(F64 a) { return same_bits<Raw<std::uint64_t>>(a.v); }
HD F32 to_f32(I32 a) { return __builtin_convertvector(same_bits<Raw<std::int32_t>>(a.v), Raw<float>); }

/// The largest lane.
template <int step = width / 2>
HD float reduce_max(F32 a) {
    const F32 most = max(a, F32(shuffled<[](int i) { return i ^ step; }>(a.v, a.v)));
    if constexpr (step == 1) return most.v[0];
    else return reduce_max<step / 2>(most);
}

/// Writes the first n positions (2^-40, `shift` bits coarser) to packed ones. Returns floats the largest of which is
/// the largest squared distance from those in `reference`, squared packed units, as md::distance2() has it.
HD F32 store_packed(Packed<2>* to, const Packed<2>* reference, const Vec<I64, 2>& x, int n, int shift) {
    const I64 packed = ((x[0].v >> shift) & 0xffffffffu) | ((x[1].v >> shift) << 32);
    store_first(to, packed, n);
    const F32 f = to_f32(same_bits<Raw<std::uint32_t>>(packed.v) - load<std::uint32_t>(reference).v), q = f * f;
    return keep(first_lanes(2 * n), q + F32(shuffled<[](int i) { return i ^ 1; }>(q.v, q.v)));
}
HD F32 store_packed(Packed<3>* to, const Packed<3>* reference, const Vec<I64, 3>& x, int n, int shift) {
    float farthest = 0.0f;
    for (int l = 0; l < n; ++l) {
        const std::int64_t at[3] = {static_cast<std::int64_t>(x[0].v[l]), static_cast<std::int64_t>(x[1].v[l]),
                                    static_cast<std::int64_t>(x[2].v[l])};
        to[l] = pack(at, shift);
        farthest = md::max(farthest, distance2(to[l], reference[l]));
    }
    return F32(farthest);
}

/// Positions of `width` particles in a row.
HD Positions<2> load_positions(const Packed<2>* p) {
    const Raw<std::uint32_t> a = load<std::uint32_t>(p).v, b = load<std::uint32_t>(p + wide_width).v;
    return {shuffled<[](int i) { return 2 * i; }>(a, b), shuffled<[](int i) { return 2 * i + 1; }>(a, b)};
}
/// Positions in three dimensions of `width` particles; at(lane) points to each. They are loaded whole, with the word
/// behind them.
template <class At>
HD Positions<3> gathered(At at) {
#if STEELYARD_ISA == 0
    const Packed<3> p = *at(0), q = *at(1);
    return vec<3>([&](int a) { return I32(Raw<std::uint32_t>{p.at[a], q.at[a]}); });
#else
    // Quarter g has lanes g, g + 4, ...: so the 16 bytes of four neighbouring lanes are transposed where they stand.
    const Raw<float> a = quarter(0, at), b = quarter(1, at), c = quarter(2, at), d = quarter(3, at);
    constexpr auto xy = [](int i) { return i % 2 * width + i / 4 * 4 + i % 4 / 2; };
    constexpr auto zw = [](int i) { return i % 2 * width + i / 4 * 4 + i % 4 / 2 + 2; };
    constexpr auto first = [](int i) { return i % 4 / 2 * width + i / 4 * 4 + i % 2; };
    constexpr auto second = [](int i) { return i % 4 / 2 * width + i / 4 * 4 + i % 2 + 2; };
    const Raw<float> xy_0 = shuffled<xy>(a, b), xy_1 = shuffled<xy>(c, d);
    const Raw<float> z = shuffled<first>(shuffled<zw>(a, b), shuffled<zw>(c, d));
    const auto words = [](Raw<float> v) __attribute__((always_inline)) {
        return I32(same_bits<Raw<std::uint32_t>>(v));
    };
    return {words(shuffled<first>(xy_0, xy_1)), words(shuffled<second>(xy_0, xy_1)), words(z)};
#endif
}

HD Positions<3> load_positions(const Packed<3>* p) {
    // Three vectors hold what is asked for, word by word: 3 i + axis for lane i.
    const auto word = [p](int vector) { return load<std::uint32_t>(&p->at[0] + vector * width).v; };
    const Raw<std::uint32_t> a = word(0), b = word(1), c = word(2);
    const auto axis = [&]<int k>(std::integral_constant<int, k>) __attribute__((always_inline)) {
        const auto t = shuffled<[](int i) { return 3 * i + k < 2 * width ? 3 * i + k : 0; }>(a, b);
        return I32(shuffled<[](int i) { return 3 * i + k < 2 * width ? i : 3 * i + k - width; }>(t, c));
    };
    return {axis(std::integral_constant<int, 0>{}), axis(std::integral_constant<int, 1>{}),
            axis(std::integral_constant<int, 2>{})};
}

/// Picks positions in three dimensions, where they stay in memory.
struct NearInSpace {
    const Packed<3>* base;
};
template <int D>
using NearOf = std::conditional_t<D == 2, Near, NearInSpace>;
HD void load_near(Near& near, const Packed<2>* base, const Neighbourhood<2>& hood, std::uint32_t far_x) {
    load_near(near, base, hood.start, far_x);
}
HD void load_near(NearInSpace& near, const Packed<3>* base, const Neighbourhood<3>&, std::uint32_t) {
    near.base = base;
}
HD Positions<3> pick(const NearInSpace& near, const std::uint16_t* places) {
    return gathered([&](int lane) { return near.base + places[lane]; });
}

/// Lets f change the lanes of a and b, pair by pair: f(lane of a, lane of b).
template <class F>
HD void for_each_lane(I64& a, I64& b, F f) {
    for (int l = 0; l < wide_width; ++l) {
        std::uint64_t s = a.v[l], t = b.v[l];
        f(s, t);
        a.v[l] = s, b.v[l] = t;
    }
}

}  // namespace md::STEELYARD_ISA_NAME

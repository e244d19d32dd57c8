// SPDX-License-Identifier: MIT
// Random numbers that depend on (seed, particle id) alone, so that any rank can make any particle. Only operations that
// IEEE rounds correctly appear (no libm log or cos), so the numbers are the same on every machine.
#pragma once
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

#include "md/kernels/hd.hpp"

namespace md {

/// 64 well-mixed bits of a counter (the finaliser of splitmix64, Steele, Lea & Flood 2014).
HD constexpr std::uint64_t mix(std::uint64_t z) {
    z += 0x9e3779b97f4a7c15ull;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return z ^ (z >> 31);
}

/// Natural logarithm for x > 0 by ln(m 2^e) = e ln 2 + 2 atanh((m - 1) / (m + 1)); within a few ulp.
HD double portable_log(double x) {
    int e = 0;
    double m = ::frexp(x, &e);
    if (m < 0.70710678118654752) m *= 2, --e;
    const double t = (m - 1) / (m + 1), t2 = t * t;
    double sum = 0;
    for (int k = 23; k >= 1; k -= 2) sum = sum * t2 + 1.0 / k;
    return e * 0.69314718055994531 + 2 * t * sum;
}

/// e^x by 2^k e^r with |r| <= ln 2 / 2; within a few ulp.
inline double portable_exp(double x) {
    const double k = std::floor(x * 1.4426950408889634 + 0.5), r = x - k * 0.69314718055994531;
    double sum = 1;
    for (int n = 18; n >= 1; --n) sum = 1 + sum * r / n;
    return std::ldexp(sum, static_cast<int>(std::max(k, -2000.0)));
}

/// cos(pi x), to about 1e-16.
inline double portable_cos_pi(double x) {
    const double turns = x - 2 * std::floor(x / 2 + 0.5), r = turns * 3.14159265358979323846;  // |r| <= pi
    double sum = 1;
    for (int n = 34; n >= 2; n -= 2) sum = 1 - sum * r * r / (n * (n - 1));
    return sum;
}

/// Philox4x32-10 (Salmon, Moraes, Dror and Shaw, SC'11): 128 random bits of a counter and a key, without any state. Its
/// known-answer vectors, those of the library Random123, are in a test.
struct Philox {
    struct Counter {
        std::uint32_t word[4];
    };
    std::uint32_t key[2];

    HD Counter operator()(Counter c) const {
        std::uint32_t k0 = key[0], k1 = key[1];
        for (int round = 0; round < 10; ++round) {
            const std::uint64_t a = std::uint64_t{0xD2511F53} * c.word[0], b = std::uint64_t{0xCD9E8D57} * c.word[2];
            c = {{static_cast<std::uint32_t>(b >> 32) ^ c.word[1] ^ k0, static_cast<std::uint32_t>(b),
                  static_cast<std::uint32_t>(a >> 32) ^ c.word[3] ^ k1, static_cast<std::uint32_t>(a)}};
            k0 += 0x9E3779B9, k1 += 0xBB67AE85;
        }
        return c;
    }
};

/// A number in [0, 1) from 64 random bits.
constexpr double unit_number(std::uint64_t bits) { return static_cast<double>(bits >> 11) * 0x1p-53; }

struct RandomBits {
    std::uint64_t first, second;
};
struct NormalPair {
    double first, second;
};
/// Two independent standard normal numbers (Marsaglia's polar method). bits(n): RandomBits of trial n.
template <class Bits>
HD NormalPair normal_pair_of(Bits bits) {
    for (std::uint64_t n = 0;; ++n) {
        const RandomBits random = bits(n);
        const double scale = 1.0 / (std::int64_t{1} << 52);
        const double u = static_cast<double>(random.first >> 11) * scale - 1,
                     v = static_cast<double>(random.second >> 11) * scale - 1;
        const double s = u * u + v * v;
        if (s >= 1 || s == 0) continue;
        const double f = ::sqrt(-2 * portable_log(s) / s);
        return {u * f, v * f};
    }
}

/// Bits that depend on a key alone.
struct KeyedBits {
    std::uint64_t key;
    HD RandomBits operator()(std::uint64_t n) const { return {mix(key + 2 * n), mix(key + 2 * n + 1)}; }
};

/// The normal pair of particle `id`.
inline std::array<double, 2> normal_pair(std::uint64_t seed, std::int64_t id) {
    const NormalPair r = normal_pair_of(KeyedBits{mix(mix(seed) ^ static_cast<std::uint64_t>(id))});
    return {r.first, r.second};
}

}  // namespace md

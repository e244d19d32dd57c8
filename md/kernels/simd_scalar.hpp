// SPDX-License-Identifier: MIT
// Plain loops over the operations of one lane (scalar.hpp), for any processor. See simd.hpp for the rules.
#pragma once
#include "md/kernels/scalar.hpp"

namespace md::scalar {

struct M16 {
    unsigned m;
};
struct M8 {
    unsigned m;
};
HD unsigned bits(M16 a) { return a.m; }
HD unsigned bits(M8 a) { return a.m; }
HD M16 both(M16 a, M16 b) { return {a.m & b.m}; }
HD M16 first_of_16(int n) { return {n >= 16 ? 0xffffu : (1u << n) - 1}; }

#define STEELYARD_LANES(n) for (int l = 0; l < (n); ++l)

struct I32 {
    std::uint32_t v[16];  // unsigned: differences wrap
    HD friend I32 operator-(I32 a, I32 b) {
        STEELYARD_LANES(16) a.v[l] -= b.v[l];
        return a;
    }
    HD friend I32 operator+(I32 a, I32 b) {
        STEELYARD_LANES(16) a.v[l] += b.v[l];
        return a;
    }
};
HD I32 i32(std::int32_t a) {
    I32 r;
    STEELYARD_LANES(16) r.v[l] = static_cast<std::uint32_t>(a);
    return r;
}
HD I32 load_i32(const std::int32_t* p) {
    I32 r;
    STEELYARD_LANES(16) r.v[l] = static_cast<std::uint32_t>(p[l]);
    return r;
}
HD I32 counting_from(std::int32_t a) {
    I32 r;
    STEELYARD_LANES(16) r.v[l] = static_cast<std::uint32_t>(a + l);
    return r;
}
HD M16 differs(I32 a, I32 b) {
    M16 r{0};
    STEELYARD_LANES(16) r.m |= unsigned{a.v[l] != b.v[l]} << l;
    return r;
}

template <class T, int N>
struct Real {
    T v[N];
    Real() = default;
    HD Real(T a) { STEELYARD_LANES(N) v[l] = a; }
    HD friend Real operator+(Real a, Real b) {
        STEELYARD_LANES(N) a.v[l] += b.v[l];
        return a;
    }
    HD friend Real operator-(Real a, Real b) {
        STEELYARD_LANES(N) a.v[l] -= b.v[l];
        return a;
    }
    HD friend Real operator*(Real a, Real b) {
        STEELYARD_LANES(N) a.v[l] *= b.v[l];
        return a;
    }
    HD friend Real operator/(Real a, Real b) {
        STEELYARD_LANES(N) a.v[l] /= b.v[l];
        return a;
    }
    HD friend Real min(Real a, Real b) {
        STEELYARD_LANES(N) a.v[l] = md::min(a.v[l], b.v[l]);
        return a;
    }
    HD friend Real max(Real a, Real b) {
        STEELYARD_LANES(N) a.v[l] = md::max(a.v[l], b.v[l]);
        return a;
    }
};
using F32 = Real<float, 16>;
using F64 = Real<double, 8>;
HD F32 fma(F32 a, F32 b, F32 c) {
    STEELYARD_LANES(16) c.v[l] = md::fma(a.v[l], b.v[l], c.v[l]);
    return c;
}
HD F64 fma(F64 a, F64 b, F64 c) {
    STEELYARD_LANES(8) c.v[l] = md::fma(a.v[l], b.v[l], c.v[l]);
    return c;
}
HD F32 abs(F32 a) {
    STEELYARD_LANES(16) a.v[l] = md::abs(a.v[l]);
    return a;
}
HD F64 abs(F64 a) {
    STEELYARD_LANES(8) a.v[l] = md::abs(a.v[l]);
    return a;
}
HD M16 less(F32 a, F32 b) {
    M16 r{0};
    STEELYARD_LANES(16) r.m |= md::bits(md::less(a.v[l], b.v[l])) << l;
    return r;
}
HD M16 less(M16 among, F32 a, F32 b) { return both(among, less(a, b)); }
HD M8 less(F64 a, F64 b) {
    M8 r{0};
    STEELYARD_LANES(8) r.m |= md::bits(md::less(a.v[l], b.v[l])) << l;
    return r;
}
HD M8 not_below(F64 a, F64 b) {
    M8 r{0};
    STEELYARD_LANES(8) r.m |= md::bits(md::not_below(a.v[l], b.v[l])) << l;
    return r;
}
HD F32 keep(M16 m, F32 a) {
    STEELYARD_LANES(16) a.v[l] = md::keep(m.m >> l & 1, a.v[l]);
    return a;
}
HD F64 keep(M8 m, F64 a) {
    STEELYARD_LANES(8) a.v[l] = md::keep(m.m >> l & 1, a.v[l]);
    return a;
}
HD F32 to_f32(I32 a) {
    F32 r;
    STEELYARD_LANES(16) r.v[l] = md::to_f32(a.v[l]);
    return r;
}
HD I32 to_i32(F32 a) {
    I32 r;
    STEELYARD_LANES(16) r.v[l] = md::to_i32(a.v[l]);
    return r;
}
HD F32 load_f32(const float* p) {
    F32 r;
    STEELYARD_LANES(16) r.v[l] = p[l];
    return r;
}
HD void store_f32(float* p, F32 a) { STEELYARD_LANES(16) p[l] = a.v[l]; }
HD float reduce_max(F32 a) {
    float m = a.v[0];
    STEELYARD_LANES(16) m = a.v[l] > m ? a.v[l] : m;
    return m;
}
HD int compress(float* out, M16 m, F32 a) {
    int n = 0;
    STEELYARD_LANES(16) if (m.m >> l & 1) out[n++] = a.v[l];
    return n;
}
HD int compress(std::int32_t* out, M16 m, I32 a) {
    int n = 0;
    STEELYARD_LANES(16) if (m.m >> l & 1) out[n++] = static_cast<std::int32_t>(a.v[l]);
    return n;
}

HD int count_below(const std::int32_t* p, int n, int limit) {
    int count = 0;
    for (int k = 0; k < n; ++k) count += p[k] < limit;
    return count;
}

struct I64 {
    std::uint64_t v[8];
    HD friend I64 operator+(I64 a, I64 b) {
        STEELYARD_LANES(8) a.v[l] += b.v[l];
        return a;
    }
    HD friend I64 operator-(I64 a, I64 b) {
        STEELYARD_LANES(8) a.v[l] -= b.v[l];
        return a;
    }
};
HD I64 i64(std::int64_t a) {
    I64 r;
    STEELYARD_LANES(8) r.v[l] = static_cast<std::uint64_t>(a);
    return r;
}
HD I64 load_i64(const std::int64_t* p) {
    I64 r;
    STEELYARD_LANES(8) r.v[l] = static_cast<std::uint64_t>(p[l]);
    return r;
}
HD void store_first(std::int64_t* p, I64 a, int n) {
    STEELYARD_LANES(8) if (l < n) p[l] = static_cast<std::int64_t>(a.v[l]);
}
HD void store_first(std::uint64_t* p, I64 a, int n) { STEELYARD_LANES(8) if (l < n) p[l] = a.v[l]; }
HD F64 to_f64(I64 a) {
    F64 r;
    STEELYARD_LANES(8) r.v[l] = md::to_f64(a.v[l]);
    return r;
}
HD I64 to_i64(F64 a) {
    I64 r;
    STEELYARD_LANES(8) r.v[l] = md::to_i64(a.v[l]);
    return r;
}
HD I64 bits_of(F64 a) {
    I64 r;
    STEELYARD_LANES(8) r.v[l] = md::bits_of(a.v[l]);
    return r;
}
HD M8 beyond_51_bits(I64 a, I64 b) {
    M8 r{0};
    STEELYARD_LANES(8) r.m |= md::bits(md::beyond_51_bits(a.v[l], b.v[l])) << l;
    return r;
}
HD I64 widen(I32 a, int first) {
    I64 r;
    STEELYARD_LANES(8) r.v[l] = static_cast<std::uint64_t>(std::int64_t{static_cast<std::int32_t>(a.v[first + l])});
    return r;
}
HD I64 low_half(I32 a) { return widen(a, 0); }
HD I64 high_half(I32 a) { return widen(a, 8); }
HD I64 round_lanes(F32 a, int first) {
    I64 r;
    STEELYARD_LANES(8) r.v[l] = md::to_i64(a.v[first + l]);
    return r;
}
HD I64 low_to_i64(F32 a) { return round_lanes(a, 0); }
HD I64 high_to_i64(F32 a) { return round_lanes(a, 8); }
HD I64 pack_positions(I64 x, I64 y, int shift) {
    STEELYARD_LANES(8) x.v[l] = md::pack_positions(x.v[l], y.v[l], shift);
    return x;
}
HD F32 distance2(I64 a, const std::uint64_t* reference, int n) {
    F32 r(0.0f);
    STEELYARD_LANES(n) r.v[l] = md::distance2(a.v[l], reference[l]);
    return r;
}

struct Positions16 {
    I32 x, y;
};
HD void set(Positions16& r, int l, PackedPosition p) { r.x.v[l] = p.x, r.y.v[l] = p.y; }
HD Positions16 load_positions16(const std::uint64_t* p) {
    Positions16 r;
    STEELYARD_LANES(16) set(r, l, md::unpack(p[l]));
    return r;
}

HD Positions16 pick(Near near, const std::uint8_t* places) {
    Positions16 r;
    STEELYARD_LANES(16)
    set(r, l, md::unpack(near.packed[places[l]]));
    return r;
}

struct Halves {
    F64 a, b;
};
inline constexpr int difference_shift = 0;
HD Halves to_halves(const I32& d) {
    Halves r;
    STEELYARD_LANES(8) r.a.v[l] = md::to_f64(d.v[l]), r.b.v[l] = md::to_f64(d.v[l + 8]);
    return r;
}
HD void in_order(I64&, I64&) {}
HD unsigned bits_in_order(M8 a, M8 b) { return a.m | b.m << 8; }
#undef STEELYARD_LANES

}  // namespace md::scalar

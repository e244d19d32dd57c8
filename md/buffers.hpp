// SPDX-License-Identifier: MIT
// Arrays that grow with little slack, and what a thread needs while it rebuilds a tile.
#pragma once
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <vector>

#include "md/kernels/kernels.hpp"

namespace md {

inline constexpr int padding = 16;  ///< kernels read whole vectors

/// Changes the size with little slack: a vector's doubling would cost more memory than everything else.
template <class T>
void fit(std::vector<T>& v, std::size_t n) {
    if (n > v.capacity()) v.reserve(n + n / 64 + 16);
    v.resize(n);
}

/// Gives back what a vector that grew element by element has too much.
template <class T>
void trim(std::vector<T>& v) {
    if (v.capacity() > v.size() + v.size() / 8) v.shrink_to_fit();
}

/// Makes room for n elements.
template <class T>
void at_least(std::vector<T>& v, std::size_t n) {
    if (v.size() < n) v.resize(n + n / 4);
}

/// Bytes that a vector holds.
template <class T>
std::int64_t bytes_of(const std::vector<T>& v) {
    return static_cast<std::int64_t>(v.capacity() * sizeof(T));
}

/// Reusable buffers of one thread.
struct TileScratch {
    std::vector<std::uint32_t> key, order, bin;
    std::vector<std::int64_t> values, edges;
    std::vector<std::uint16_t> coarse[3], x[3], place, lane_rows;
    std::vector<std::int32_t> start, ranges;
    std::vector<const std::int32_t*> columns;

    template <int D>
    std::vector<Neighbourhood<D>>& hoods() {
        return std::get<D - 2>(hoods_);
    }
    template <int D>
    std::vector<Place<D>>& rows() {
        return std::get<D - 2>(rows_);
    }

private:
    std::tuple<std::vector<Neighbourhood<2>>, std::vector<Neighbourhood<3>>> hoods_;
    std::tuple<std::vector<Place<2>>, std::vector<Place<3>>> rows_;
};

}  // namespace md

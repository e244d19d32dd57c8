// SPDX-License-Identifier: MIT
// The faces of the box: a face may have a potential, and it may move.
#pragma once
#include <cstdint>
#include <optional>

#include "balance/words.hpp"

namespace md {

/// The faces of the box, axis by axis.
enum class BoxFace { x_lower, x_upper, y_lower, y_upper, z_lower, z_upper };
constexpr auto words_of(BoxFace) {
    return std::to_array<balance::Word<BoxFace>>({{BoxFace::x_lower, "x_lower"},
                                                  {BoxFace::x_upper, "x_upper"},
                                                  {BoxFace::y_lower, "y_lower"},
                                                  {BoxFace::y_upper, "y_upper"},
                                                  {BoxFace::z_lower, "z_lower"},
                                                  {BoxFace::z_upper, "z_upper"}});
}

/// A face with a potential, or one that moves into the box.
struct Wall {
    BoxFace face = BoxFace::x_lower;
    double epsilon = 0, sigma = 1;        ///< Of the 9-3 potential (WallPotential); epsilon 0: none.
    std::optional<double> cutoff = {};    ///< Lengths. Empty: the potential's minimum, so that the face only repels.
    double velocity = 0;                  ///< Velocity into the box, lengths / time; 0: the face stands still.
    std::int64_t from = 0;                ///< First step at which it moves.
    std::optional<std::int64_t> to = {};  ///< First step after `from` at which it stands still again.

    int axis() const { return static_cast<int>(face) / 2; }
    int side() const { return static_cast<int>(face) % 2; }  ///< 0: lower
    bool moves() const { return velocity > 0; }
};

}  // namespace md

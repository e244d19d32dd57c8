// SPDX-License-Identifier: MIT
// Random sequential addition: trials come one after the other, each at a place that is uniform in the body, and one
// that would lie nearer than the body's spacing to an earlier particle, or to one of another body, is given up. The
// body is full when it has its number of particles.
//
// Space is cut into cells. In each epoch a cell has a number of trials, 1 in the mean (Poisson), which follow from the
// seed, the body, the epoch and the cell; all trials of an epoch are ordered by a random mark, from which also follows
// whether the body's profile leaves one at its place. So the trials of all cells are a Poisson process in space and
// time, and any part of it can be made anywhere. Whether one is kept depends on earlier ones next to it, and on those
// next to these: a box of cells is evaluated with a margin around it, and where something beyond the margin could
// matter, again with a wider one.
#pragma once
#include <compare>
#include <optional>
#include <span>
#include <vector>

#include "md/filling.hpp"

namespace md {

/// Number density times spacing^dimensions up to which a body can be filled, far from others. Places that are free
/// become rare beyond it, and none are left at 0.70 in two dimensions and 0.73 in three (Torquato, Uche & Stillinger
/// 2006).
inline constexpr double fullest = 0.5;

/// Trials for each that a body's profile leaves, at most.
inline constexpr double steepest = 1000;

/// When a trial comes. No two trials of a body have the same.
struct Moment {
    int epoch = 0;
    std::uint64_t mark = 0;
    friend auto operator<=>(const Moment&, const Moment&) = default;
};

/// A trial that is kept.
struct Placed {
    Point at;
    Moment when;
};

class RandomFilling final : public Filling {
public:
    /// number: of the body among all of them, which keys its random numbers. others: fillings from which it keeps its
    /// distance; of those at random the last moment must be known. solid: bodies whose particles are not known here:
    /// it keeps its distance from all of their shape. All must stay.
    RandomFilling(const Domain& domain, const Body& body, std::size_t number, std::uint64_t seed,
                  std::span<const Filling* const> others, std::vector<Body> solid = {});

    /// Boxes of cells into which the body is cut; the same whoever computes what.
    std::int64_t blocks() const;
    /// Epochs after which it counts as full: 128 trials for each particle.
    int most_epochs() const;
    /// What is kept in a block of the trials before epoch `epochs`, in the order of its cells.
    std::vector<Placed> placed(std::int64_t number, int epochs) const { return placed(block(number), epochs); }

    /// The moment of its last particle. What would be kept later is none.
    void set_last(const Moment& last) { last_ = last; }
    const std::optional<Moment>& last() const { return last_; }

    void for_each_in(const Point& lower, const Point& upper,
                     const std::function<void(const Point&)>& use) const override;

private:
    friend class Patch;  // random_filling.cpp
    int block_side() const { return region_.dimensions == 2 ? 128 : 32; }
    balance::Box block(std::int64_t number) const;
    std::vector<Placed> placed(const balance::Box& cells, int epochs) const;
    /// Is this place nearer to a solid body, or to an image of one, than the spacing?
    bool near_solid(const Point& at) const;
    /// Is a trial of this mark one of those that the body's profile leaves at its place?
    bool in_profile(const Point& at, std::uint64_t mark) const;
    /// Is there such a cell, or is it beyond a wall?
    bool exists(const std::array<int, 3>& cell) const;

    std::span<const Filling* const> others_;
    std::vector<Body> solid_;
    std::uint64_t key_;
    Region region_;
    std::int64_t spacing_;      // 2^-40 lengths
    std::array<Axis, 3> axis_;  // the box, cut into cells of its own
    balance::Box cells_;        // those around the body
    std::optional<Moment> last_;
};

}  // namespace md

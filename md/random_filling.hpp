// SPDX-License-Identifier: MIT
// Random sequential addition. Trials come one after the other, each at a place that is uniform in the body. A trial is
// given up if it lies nearer than the body's spacing to an earlier particle or to a particle of another body. The body
// is full when it has its number of particles.
//
// Space is cut into cells. In each epoch a cell has a Poisson number of trials with mean 1. The trials follow from the
// seed, the body, the epoch and the cell. A random mark orders all trials of an epoch. It also decides if the body's
// profile leaves a trial at its place. So the trials of all cells are a Poisson process in space and time, and any part
// of it can be made anywhere.
//
// An earlier trial next to a trial can reject it, and the earlier trial depends on its own neighbours. So a box of
// cells is evaluated with a margin around it. If cells beyond the margin could matter, the margin becomes wider.
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
struct TrialMoment {
    int epoch = 0;
    std::uint64_t mark = 0;
    friend auto operator<=>(const TrialMoment&, const TrialMoment&) = default;
};

/// A trial that is kept.
struct Placed {
    Point at;
    TrialMoment when;
};

class RandomFilling final : public Filling {
public:
    /// number: place of the body among all bodies; it keys the random numbers.
    /// others: fillings from which it keeps its distance. If they are at random, their last moment must be known.
    /// solid: bodies with particles that are not known here. The filling keeps its distance from their whole shape.
    ///
    /// All references must stay valid.
    RandomFilling(const Domain& domain, const Body& body, std::size_t number, std::uint64_t seed,
                  std::span<const Filling* const> others, std::vector<Body> solid = {});

    /// Boxes of cells into which the body is cut; the same whoever computes what.
    std::int64_t blocks() const;
    /// Epochs after which it counts as full: 128 trials for each particle.
    int most_epochs() const;
    /// The trials before epoch `epochs` that are kept in a block, in the order of its cells.
    std::vector<Placed> placed(std::int64_t number, int epochs) const { return placed(block(number), epochs); }

    /// The moment of its last particle. Later trials give no particle.
    void set_last(const TrialMoment& last) { last_ = last; }
    const std::optional<TrialMoment>& last() const { return last_; }

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
    bool exists(const std::array<int, 3>& cell) const {
        for (int a = 0; a < region_.dimensions; ++a)
            if (!axis_[a].periodic && (cell[a] < 0 || cell[a] >= axis_[a].cells)) return false;
        return true;
    }

    std::span<const Filling* const> others_;
    std::vector<Body> solid_;
    std::uint64_t key_;
    Region region_;
    std::int64_t spacing_;      // 2^-40 lengths
    std::array<Axis, 3> axis_;  // the box, cut into cells of its own
    balance::Box cells_;        // those around the body
    std::optional<TrialMoment> last_;
};

}  // namespace md

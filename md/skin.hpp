// SPDX-License-Identifier: MIT
// The skin of `grid: {skin: auto}`: guessed from the deck, then measured. Only time depends on it.
#pragma once

namespace md {

/// Skin (lengths) that should make a step cheapest, for particles of a typical `speed` in two or three dimensions: a
/// wider skin means more pairs in each step, a narrower one more rebuilds.
double guess_skin(int dimensions, double cutoff, double dt, double speed);

/// Looks for the skin with the cheapest step. Where rebuilds cost more than the pairs that a wider skin would add, it
/// tries ever wider ones, else ever narrower ones, as long as that pays; where the first one does not pay, it tries the
/// other way. One that is far dearer is tried once only. Starts again after 16 rebuilds, then 32, at last every 256,
/// because particles melt, heat up and spread.
class SkinSearch {
public:
    /// start: first skin; widest: the most that the cells allow (lengths).
    SkinSearch(int dimensions, double cutoff, double start, double widest)
        : dimensions_(dimensions), cutoff_(cutoff), best_(start), now_(start), widest_(widest) {}

    /// To use until the next call of add().
    double skin() const { return now_; }
    /// Does it want the next cost?
    bool searching() const { return rebuilds_ == 0; }
    /// Call at each rebuild with the mean cost of a step since the previous one (seconds): of the step itself, with its
    /// ghosts, and of rebuilds, spread over the steps. Ignored while not searching.
    void add(double pass, double rebuild);

private:
    void turn_to(double skin);
    bool far_dearer() const;

    int dimensions_;
    double cutoff_, best_, now_, widest_;
    double best_cost_ = 0, best_rebuild_ = 0;  // of a step with the best skin; the part of rebuilds in it
    double cost_ = 0, rebuild_ = 0;            // the same of the cheapest trial with the one in use
    int trials_ = 0, direction_ = 0;           // direction: 0 measures the one in use, -1 narrower, 1 wider
    bool other_way_ = false;                   // has still to be tried, if this direction does not pay
    int rebuilds_ = 0, pause_ = 8;             // since the search ended; between two
};

}  // namespace md

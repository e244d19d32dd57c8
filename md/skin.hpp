// SPDX-License-Identifier: MIT
// The skin of `grid: {skin: auto}`: guessed from the deck, then measured. Only time depends on it.
#pragma once

namespace md {

/// Skin (lengths) that should make a step cheapest, for particles of a typical `speed` in two or three dimensions. A
/// wider skin means more pairs in each step, a narrower skin more rebuilds.
double guess_skin(int dimensions, double cutoff, double dt, double speed);

/// Looks for the skin with the cheapest step. If rebuilds cost more than the pairs of a wider skin would, the search
/// tries ever wider skins, otherwise ever narrower ones. It goes on while that pays. If the first skin does not pay, it
/// tries the other direction. A skin that costs far more is tried only once. The search starts again after 16 rebuilds,
/// then 32, at last every 256, because particles melt, heat up and spread.
class SkinSearch {
public:
    /// start: first skin; widest: the most that the cells allow (lengths).
    SkinSearch(int dimensions, double cutoff, double start, double widest)
        : dimensions_(dimensions), cutoff_(cutoff), best_(start), now_(start), widest_(widest) {}

    /// To use until the next call of add().
    double skin() const { return now_; }
    /// Does it want the next cost?
    bool searching() const { return rebuilds_ == 0; }
    /// Call at each rebuild with the mean costs of a step since the previous rebuild (seconds). They are the cost of
    /// the step itself, with its ghosts, and the cost of rebuilds, spread over the steps. Ignored while not searching.
    void add(double pass, double rebuild);

private:
    void turn_to(double skin) {
        now_ = skin;
        trials_ = 0;
    }
    bool far_dearer() const;

    int dimensions_;
    double cutoff_, best_, now_, widest_;
    double best_cost_ = 0, best_rebuild_ = 0;  // Costs of a step with the best skin, and of rebuilds in it.
    double cost_ = 0, rebuild_ = 0;            // The same costs of the cheapest trial with the skin in use.
    int trials_ = 0, direction_ = 0;           // Direction: 0 measures the skin in use, -1 narrower, 1 wider.
    bool other_way_ = false;                   // True if the other direction has still to be tried.
    int rebuilds_ = 0, pause_ = 8;             // Rebuilds since the search ended, and between two searches.
};

}  // namespace md

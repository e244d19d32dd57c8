// SPDX-License-Identifier: MIT
// The skin of `grid: {skin: auto}`: guessed from the deck, then measured. Only time depends on it.
#pragma once

namespace app {

/// Skin (lengths) that should make a step cheapest, for particles of a typical `speed`: a wider skin means more pairs in each
/// step, a narrower one more rebuilds.
double guess_skin(double cutoff, double dt, double speed);

/// Looks for the skin with the cheapest step: tries the one in use, then ever narrower ones as long as that pays, else ever
/// wider ones. Starts again after 16 rebuilds, then 32, at last every 256, because particles melt, heat up and spread.
class SkinSearch {
public:
    /// start: first skin; widest: the most that the cells allow (lengths).
    SkinSearch(double start, double widest) : best_(start), now_(start), widest_(widest) {}

    /// To use until the next call of add().
    double skin() const { return now_; }
    /// Does it want the next cost?
    bool searching() const { return rebuilds_ == 0; }
    /// At each rebuild, while searching: what a step cost since the last rebuild, with it (seconds); any number else.
    void add(double cost);

private:
    void turn_to(double skin);
    void settle();

    double best_, now_, widest_;
    double best_cost_ = 0, cost_ = 0;  // 0: not measured
    int trials_ = 0, direction_ = 0;   // direction: 0 measures the one in use, -1 narrower, 1 wider
    bool paid_ = false;                // to go in this direction
    int rebuilds_ = 0, pause_ = 8;     // since the search ended; between two
};

}  // namespace app

// SPDX-License-Identifier: MIT
#pragma once
#include <cmath>

#include "app/deck/deck.hpp"

/// The collision of inputs/slab.yaml, larger or smaller.
inline app::Deck slabs(double particles) {
    app::Deck deck;
    const double scale = std::sqrt(particles / 116700);
    deck.name = "slab";
    deck.system.box = {560 * scale, 340 * scale};
    deck.system.seed = 42;
    md::Slab left, right;
    left.lower = {40 * scale, 100 * scale}, left.upper = {180 * scale, 300 * scale}, left.velocity = {14, 0};
    right.lower = {left.upper[0] + 3, 30 * scale}, right.upper = {500 * scale, 310 * scale}, right.velocity = {-6, 0};
    left.temperature = right.temperature = 0.05;
    deck.system.slabs = {left, right};
    deck.grid.cell = deck.system.potential.cutoff;
    deck.run.dt = 0.0005;
    return deck;
}

// SPDX-License-Identifier: MIT
// The outputs of a run with intervals of their own, by name. To add one: a line here, and a file in app/output/series/
// with `SeriesKind NAME_series()` (app/output/series/series.hpp, docs/extend.md).
#pragma once

/// add(name, meaning of the deck's key output.NAME_every)
// clang-format off
#define STEELYARD_OUTPUTS(add)                                     \
    add(fields, "steps between files of cell fields; 0: never")    \
    add(trajectory, "steps between frames of particles; 0: never") \
    add(loads, "steps between the loads of all cells in loads.h5; 0: never")
// clang-format on

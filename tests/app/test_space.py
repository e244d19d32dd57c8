# SPDX-License-Identifier: MIT
"""Three dimensions: one state whatever the ranks, threads, tiles, kernels, partitions, schedules, accelerators and
restarts. Decks that mix two and three dimensions are refused."""
import os

import numpy as np
import pytest

from program import COLLISIONS, SOURCE, datasets, decisions, fails_with, fresh, one_state, run_words, state_of
from program import two_slabs, written

MELT = os.path.join(SOURCE, "inputs/melt.yaml")
COLLISION = COLLISIONS[3].deck
DROPS = os.path.join(SOURCE, "inputs/drops.yaml")
# Settings that make each deck small: it takes a second.
SMALL = {
    MELT: dict(system__slabs__0__cells="[6, 7, 8]", run__steps=60, output__every=20),
    COLLISION: COLLISIONS[3].small,
    DROPS: two_slabs([30, 22, 19], [3, 4, 3], [14, 15, 14], [13, 9, 5], [24, 20, 16]),
}
SMALL[DROPS] |= dict(run__steps=120, output__every=40)
# In two dimensions: a disc that falls onto a slab.
DISC = """system:
  box: [60, 50]
  boundary: [periodic, reflecting]
  slabs:
    - {lower: [0, 1], upper: [60, 16], density: 0.9, temperature: 0.3}
    - {shape: ball, lower: [20, 18], upper: [40, 38], density: 0.9, temperature: 0.3, velocity: [1, -8]}
run: {dt: 0.002, steps: 200}
"""
BALANCED = dict(balance__every=20, balance__clock="work", balance__migrate="always")


@pytest.mark.parametrize("deck", [MELT, COLLISION])
@pytest.mark.parametrize("precision", ["mixed", "double"])
def test_one_hash(tmp_path, deck, precision):
    """The state at the end does not depend on how it is computed."""
    ways = [dict(ranks=n) for n in (2, 3, 4, 7, 8)]
    ways += [dict(threads=2), dict(ranks=2, threads=2)]
    ways += [dict(isa=isa) for isa in ("avx2", "portable", "scalar") if precision == "mixed" or isa != "scalar"]
    ways += [dict(grid__tile=tile) for tile in ("4", "[5, 4, 9]")]
    ways += [dict(grid__skin=skin) for skin in ("0", "0.1", "0.45")] + [dict(grid__cell=2.5)]
    # In double precision cells of more than 4 make packed positions coarser.
    ways += [dict(grid__cell=4.5)] if precision == "mixed" else []
    dealt = [dict(ranks=3, comm__overlap=o, comm__aggregate=a) for o in ("none", "full") for a in ("none", "node")]
    kinds = [
        dict(balance__partition__kind=k) for k in ("none", "rcb", "nested", "compact", "diffusion", "metis", "scotch")
    ]
    kinds += [dict(balance__partition__cut=c) for c in ("patches", "strips", "cells")]
    kinds += [dict(balance__partition__order=o) for o in ("hilbert", "tree")]
    dealt += [dict(ranks=3, **BALANCED, **kind) for kind in kinds]
    dealt += [dict(ranks=2, balance__processes=5, balance__model=m, **BALANCED) for m in ("a1", "exact")]
    # Who owns a cell, and when it is sent, knows nothing of a precision: each of these ways runs with one.
    ways += dealt[2 * (deck == MELT) + (precision == "mixed") :: 4]
    ways += [dict(accelerator__backend="host", accelerator__share=s) for s in (0.1, 0.5, 1)]
    ways += [dict(ranks=2, accelerator__backend="host", accelerator__share=0.5, accelerator__devices=2)]
    one_state(deck, tmp_path, ways, **SMALL[deck], run__precision=precision)


@pytest.mark.parametrize("depths", ((1, 9, 9), (9, 1, 9), (9, 9, 1), (2, 8, 3), (8, 2, 2), (1, 1, 20), (3, 3, 3)))
def test_thin_boxes(tmp_path, depths):
    """Boxes that are one, two or three cells deep along each axis, periodic where neighbours do not reach around."""
    deck, sides = tmp_path / "deck.yaml", [3.0 * d + 0.3 for d in depths]
    boundary = ["reflecting" if d == 1 else "periodic" for d in depths]
    deck.write_text(
        f"system:\n  box: {sides}\n  boundary: [{', '.join(boundary)}]\n  slabs:\n"
        f"    - {{lower: [0.3, 0.3, 0.3], upper: {[s - 0.6 for s in sides]}, lattice: bcc, density: 0.7, "
        "temperature: 2}\nrun: {dt: 0.002, steps: 60}\n"
    )
    ways = [dict(ranks=ranks, isa=isa) for ranks in (1, 2, 3) for isa in ("avx2", "portable")]
    one_state(deck, tmp_path, ways, grid__skin=0.3)


@pytest.mark.parametrize("drops", (True, False), ids=("drops", "disc"))
def test_balls(tmp_path, drops):
    """Two drops in space, whose corners overlap, and a disc in the plane: any ranks, threads, tiles, and a restart."""
    disc = written(tmp_path / "disc.yaml", DISC), dict(run__steps=200)
    deck, small = (DROPS, SMALL[DROPS]) if drops else disc
    ways = [dict(ranks=2), dict(ranks=3), dict(threads=2), dict(grid__tile=4)]
    ways += [dict(ranks=3, **BALANCED, balance__partition__cut="cells")]
    state, out, half = one_state(deck, tmp_path, ways, **small), tmp_path / "restarted", small["run__steps"] // 2
    state_of(deck, out, 2, **small | dict(run__steps=half, checkpoint__every=half))
    # Boxes between the corners of the drops would overlap.
    code, says = (2, ()) if drops else (3, "slabs.1.shape differs")
    fails_with(code, says, 0, *run_words(out, deck=deck, restart="auto", **small, system__slabs__1__shape="box"))
    assert state_of(deck, out, 3, restart="auto", **small) == state


@pytest.mark.group("flights")
@pytest.mark.parametrize("boundary", ["periodic", "reflecting"])
@pytest.mark.parametrize("velocity", [(20, 20, 20), (-20, -20, -20), (20, -20, 0), (0, 20, 20), (-20, 0, 20)])
def test_flights(tmp_path, boundary, velocity):
    """One particle flies through corners and edges of cells, tiles, ranks, blocks of accelerators and the box; it is
    where a particle without forces must be."""
    deck, side, steps = tmp_path / "deck.yaml", 24, 150
    deck.write_text(
        f"system:\n  box: [{side}, {side}, {side}]\n  boundary: [{boundary}, {boundary}, {boundary}]\n  slabs:\n"
        f"    - {{lower: [1, 1, 1], upper: [1.1, 1.1, 1.1], density: 0.3, velocity: {list(velocity)}}}\n"
        f"run: {{dt: 0.01, steps: {steps}}}\noutput: {{trajectory_every: {steps}}}\n"
    )
    way = 1 + 0.01 * steps * np.array(velocity)
    end = way % side if boundary == "periodic" else side - np.abs(way % (2 * side) - side)
    zones, frames = dict(accelerator__backend="host", accelerator__controller="fixed"), "particles/all/position/value"
    ways = [dict(), dict(ranks=8, grid__tile=4)] + [dict(accelerator__share=share, **zones) for share in (0.7, 1)]
    for keys in ways:
        state_of(deck, fresh(tmp_path / "out"), **keys)
        at = datasets(tmp_path / "out/trajectory.h5", frames)[frames][-1][0]
        assert np.allclose(at, end, rtol=0, atol=1e-9), f"{keys}: at {at}, not {end}"


@pytest.mark.group("restarts")
@pytest.mark.parametrize("deck", (MELT, COLLISION))
def test_restarts(tmp_path, deck):
    """From n ranks to m, with balancing and an accelerator on the way; a deck of the other dimension is refused."""
    small, out = SMALL[deck], tmp_path / "out"
    whole, half = state_of(deck, tmp_path / "whole", 2, **small), small["run__steps"] // 2
    for before, after, keys in (
        (1, 3, {}), (3, 2, BALANCED), (4, 1, dict(accelerator__backend="host")), (2, 7, dict(grid__tile=5)),
    ):  # fmt: skip
        state_of(deck, fresh(out), before, **small | keys | dict(run__steps=half, checkpoint__every=half))
        again = state_of(deck, out, after, restart="auto", **small | keys)
        assert again == whole, f"{deck} from {before} to {after}, {keys}"
    words = run_words(tmp_path / "flat", restart=out / f"checkpoint_{half}.h5")
    fails_with(3, "system.box differs", 0, *words)


@pytest.mark.group("results")
def test_decisions(tmp_path):
    """By counted work, a balancing finds the collision in space as in the plane; all models see it."""
    models = "[time_average, moving_average, particle_count, hybrid, a1, b1]"
    keys = dict(balance__processes=24, balance__compare=models)
    state_of(COLLISION, tmp_path / "out", 2, **SMALL[COLLISION], **keys, **BALANCED)
    last = [r for r in decisions(tmp_path / "out") if int(r["step"]) == 100]
    assert len(last) == 7 and all(0.5 < float(r["lbe_model"]) <= 1 for r in last), f"{last}"
    assert any(r["driver"] == "1" and float(r["lbe_model"]) > 0.9 for r in last), f"{last}"

# SPDX-License-Identifier: MIT
"""Three dimensions: one state whatever the ranks, threads, tiles, kernels, partitions, schedules, accelerators and
restarts; what is written of it; and decks that mix two and three dimensions.

Groups: one_hash flights restarts results.
"""
import csv
import os

import h5py
import numpy as np
import pytest

import program
from program import COLLISIONS, SOURCE, decisions, fails_with, run_words

MELT = os.path.join(SOURCE, "inputs/melt.yaml")
COLLISION = COLLISIONS[3].deck
DROPS = os.path.join(SOURCE, "inputs/drops.yaml")
# Settings that make each deck small: it takes a second.
SMALL = {
    MELT: dict(system__slabs__0__cells="[6, 7, 8]", run__steps=60, output__every=20),
    COLLISION: COLLISIONS[3].small,
    DROPS: dict(
        system__box="[30, 22, 19]",
        system__slabs__0__lower="[3, 4, 3]",
        system__slabs__0__upper="[14, 15, 14]",
        system__slabs__1__lower="[13, 9, 5]",
        system__slabs__1__upper="[24, 20, 16]",
        run__steps=120,
        output__every=40,
    ),
}
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


def state_of(deck, out, **keys):
    return program.state_of(deck, out, **(SMALL[deck] | keys))


@pytest.mark.group("one_hash")
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
    kinds = [dict(balance__partition__kind=k) for k in ("none", "rcb", "nested", "metis", "scotch")]
    kinds += [dict(balance__partition__cut=c) for c in ("patches", "strips", "cells")]
    kinds += [dict(balance__partition__order=o) for o in ("hilbert", "tree")]
    dealt += [dict(ranks=3, **BALANCED, **kind) for kind in kinds]
    dealt += [dict(ranks=2, balance__processes=5, balance__model=m, **BALANCED) for m in ("a1", "exact")]
    # Who owns a cell, and when it is sent, knows nothing of a precision: each of these ways runs with one.
    ways += dealt[2 * (deck == MELT) + (precision == "mixed") :: 4]
    ways += [dict(accelerator__backend="host", accelerator__share=s) for s in (0.1, 0.5, 1)]
    ways += [dict(ranks=2, accelerator__backend="host", accelerator__share=0.5, accelerator__devices=2)]
    state = state_of(deck, tmp_path / "alone", run__precision=precision)
    for i, way in enumerate(ways):
        assert state_of(deck, tmp_path / str(i), run__precision=precision, **way) == state, f"{deck} {precision} {way}"


@pytest.mark.group("one_hash")
def test_thin_boxes(tmp_path):
    """Boxes that are one, two or three cells deep along each axis, periodic where neighbours do not reach around."""
    one = tmp_path / "deck.yaml"
    for depths in ((1, 9, 9), (9, 1, 9), (9, 9, 1), (2, 8, 3), (8, 2, 2), (1, 1, 20), (3, 3, 3)):
        sides = [3.0 * d + 0.3 for d in depths]
        boundary = ["reflecting" if d == 1 else "periodic" for d in depths]
        one.write_text(
            f"system:\n  box: {sides}\n  boundary: [{', '.join(boundary)}]\n  slabs:\n"
            f"    - {{lower: [0.3, 0.3, 0.3], upper: {[s - 0.6 for s in sides]}, lattice: bcc, density: 0.7, "
            "temperature: 2}\nrun: {dt: 0.002, steps: 60}\n"
        )
        SMALL[one] = dict(grid__skin=0.3)
        states = {
            state_of(one, tmp_path / f"{depths} {ranks} {isa}", ranks=ranks, isa=isa)
            for ranks in (1, 2, 3)
            for isa in ("avx2", "portable")
        }
        assert len(states) == 1, f"{depths}: {states}"


@pytest.mark.group("one_hash")
def test_balls(tmp_path):
    """Two drops in space, whose corners overlap, and a disc in the plane: any ranks, threads, tiles, and a restart."""
    disc = tmp_path / "disc.yaml"
    disc.write_text(DISC)
    SMALL[disc] = dict(run__steps=200)
    for deck in (DROPS, disc):
        name, half = os.path.basename(deck), SMALL[deck]["run__steps"] // 2
        state = state_of(deck, tmp_path / f"{name} alone")
        ways = [dict(ranks=2), dict(ranks=3), dict(threads=2), dict(grid__tile=4)]
        ways += [dict(ranks=3, **BALANCED, balance__partition__cut="cells")]
        for i, way in enumerate(ways):
            assert state_of(deck, tmp_path / f"{name} {i}", **way) == state, f"{name} {way}"
        out = tmp_path / f"{name} restarted"
        state_of(deck, out, ranks=2, run__steps=half, checkpoint__every=half)
        keys = SMALL[deck] | dict(system__slabs__1__shape="box")
        # Boxes between the corners of the drops would overlap.
        code, says = (2, ()) if deck == DROPS else (3, "slabs.1.shape differs")
        fails_with(code, says, 0, *run_words(out, deck=deck, restart="auto", **keys))
        assert state_of(deck, out, ranks=3, restart="auto") == state, name


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
    SMALL[deck] = {}
    way = 1 + 0.01 * steps * np.array(velocity)
    end = way % side if boundary == "periodic" else side - np.abs(way % (2 * side) - side)
    zones = dict(accelerator__backend="host", accelerator__controller="fixed")
    ways = [dict(), dict(ranks=8, grid__tile=4)] + [dict(accelerator__share=share, **zones) for share in (0.7, 1)]
    for i, keys in enumerate(ways):
        state_of(deck, tmp_path / str(i), **keys)
        with h5py.File(tmp_path / str(i) / "trajectory.h5") as t:
            at = t["particles/all/position/value"][-1][0]
        assert np.allclose(at, end, rtol=0, atol=1e-9), f"{keys}: at {at}, not {end}"


@pytest.mark.group("restarts")
def test_restarts(tmp_path):
    """From n ranks to m, with balancing and an accelerator on the way; a deck of the other dimension is refused."""
    for deck in (MELT, COLLISION):
        whole = state_of(deck, tmp_path / "whole", ranks=2)
        os.rename(tmp_path / "whole", tmp_path / f"whole_{os.path.basename(deck)}")
        for i, (before, after, keys) in enumerate(
            [(1, 3, {}), (3, 2, BALANCED), (4, 1, dict(accelerator__backend="host")), (2, 7, dict(grid__tile=5))]
        ):
            out = tmp_path / f"{os.path.basename(deck)} {i}"
            half = SMALL[deck]["run__steps"] // 2
            state_of(deck, out, ranks=before, run__steps=half, checkpoint__every=half, **keys)
            again = state_of(deck, out, ranks=after, restart="auto", **keys)
            assert again == whole, f"{deck} from {before} to {after}, {keys}"
    file = tmp_path / f"{os.path.basename(COLLISION)} 0" / f"checkpoint_{half}.h5"
    fails_with(3, "system.box differs", 0, *run_words(tmp_path / "flat", restart=file))


@pytest.mark.group("results")
def test_results(tmp_path):
    """Columns, cell fields and trajectories have three axes."""
    out = tmp_path / "out"
    keys = dict(output__fields_every=40, output__trajectory_every=40, output__trajectory_columns="[position, force]")
    state_of(COLLISION, out, ranks=3, **keys, **BALANCED)
    with open(out / "thermo.csv") as f:
        table = list(csv.DictReader(f))
    assert list(table[0])[6:10] == ["momentum_x", "momentum_y", "momentum_z", "temperature"], "columns"
    with h5py.File(out / "trajectory.h5") as t, h5py.File(out / "fields_120.h5") as f:
        position, force = (t[f"particles/all/{name}/value"][-1] for name in ("position", "force"))
        edges = t["particles/all/box/edges/value"][-1]
        assert np.allclose(edges, np.diag([42, 21, 19.5])), f"edges {edges}"
        assert (position.min(0) >= 0).all() and (position.max(0) < [42, 21, 19.5]).all() and position[:, 2].std() > 1
        # Reflecting walls take momentum, pairs do not: the sum of forces is zero to rounding.
        assert np.abs(force.sum(0)).max() < 1e-9 * np.abs(force).sum(), f"forces add up to {force.sum(0)}"
        counts = f["particles"][:]  # [z, y, x]
        cells = np.array(counts.shape[::-1])
        width = np.diag(edges) / cells
        place = np.minimum((position / width).astype(int), cells - 1)
        found = np.zeros(counts.shape, dtype=int)
        np.add.at(found, (place[:, 2], place[:, 1], place[:, 0]), 1)
        assert (found == counts).all(), "particles of cells"
        assert sorted(np.unique(f["owner"][:])) == [0, 1, 2], "owners"
        assert list(f.attrs["cells"]) == list(cells)


@pytest.mark.group("results")
def test_decisions(tmp_path):
    """By counted work, a balancing finds the collision in space as in the plane; all models see it."""
    keys = dict(
        balance__processes=24, balance__compare="[time_average, moving_average, particle_count, hybrid, a1, b1]"
    )
    state_of(COLLISION, tmp_path / "out", ranks=2, **keys, **BALANCED)
    last = [r for r in decisions(tmp_path / "out") if int(r["step"]) == 100]
    assert len(last) == 7 and all(0.5 < float(r["lbe_model"]) <= 1 for r in last), f"{last}"
    assert any(r["driver"] == "1" and float(r["lbe_model"]) > 0.9 for r in last), f"{last}"

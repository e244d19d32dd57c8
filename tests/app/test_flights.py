# SPDX-License-Identifier: MIT
"""Particles without forces, in the four initial distributions of the Parallel Research Kernels' PIC. Each particle is
exactly where it must be, whoever owned it on the way."""
import os

import numpy as np
import pytest

from program import SOURCE, decisions, exact_state, ok_run

DECKS = ["geometric", "sinusoidal", "linear", "patch"]
SIDE, STEPS = 48, 1000
SMALL = dict(
    system__box=[SIDE, SIDE],
    system__bodies__0__upper=[SIDE, SIDE],
    system__bodies__0__particles=1500,
    **dict(run__steps=STEPS, output__every=STEPS, balance__every=100, balance__criterion="every"),
    **dict(checkpoint__every=1, checkpoint__keep=2),
)
OWN = dict(
    geometric=dict(system__bodies__0__profile__ratio=0.94),
    patch=dict(system__bodies__0__lower=[0, 12], system__bodies__0__upper=[12, 24]),
)


def state(path):
    """Positions and velocities by id, in 2^-40."""
    ids, *vectors = exact_state(path)
    assert len(set(ids)) == len(ids)
    return np.hstack(vectors)


def flown(deck, out, ranks, keys):
    """The states at two times."""
    at = []
    for steps, every in ((1, 1), (STEPS + 1, STEPS + 1)):
        keys = keys | dict(run__steps=steps, checkpoint__every=every)
        ok_run(out, deck=deck, ranks=ranks, restart="auto" if at else None, **keys)
        at.append(state(os.path.join(out, f"checkpoint_{steps}.h5")))
    return at


@pytest.mark.parametrize("name, velocity", [(name, [8, 8]) for name in DECKS] + [("geometric", [-5.3, 9.7])])
def test_every_position(tmp_path, name, velocity):
    """x + n dx mod L, in integers, after 1000 steps with balancing on; the same for any number of ranks."""
    deck = os.path.join(SOURCE, f"inputs/gallery/prk_{name}.yaml")
    keys = SMALL | OWN.get(name, {}) | dict(system__bodies__0__velocity=velocity)
    length = SIDE << 40
    first = None
    for ranks in ((1, 2, 3, 7) if name in ("geometric", "patch") else (1, 2, 3)) if velocity == [8, 8] else (3,):
        out = tmp_path / str(ranks)
        before, after = flown(deck, out, ranks, keys)
        x, v = before[:, :2], before[:, 2:]
        assert (v == np.rint(np.array(velocity) * 2.0**40)).all() and (after[:, 2:] == v).all(), "no forces"
        a_step = np.rint(v * 2**-6).astype(np.int64)  # exact in doubles
        assert (after[:, :2] == (x + STEPS * a_step) % length).all(), f"{name} on {ranks} ranks"
        assert len(x) == 1500
        if first is None:
            first = before
        assert (before == first).all(), f"{ranks} ranks begin with another state"
        moved = sum(int(row["cells_moved"]) for row in decisions(out, after=1))
        assert (moved > 0) == (ranks > 1), f"{moved} cells have moved on {ranks} ranks"


@pytest.mark.parametrize("name", DECKS)
def test_distribution(tmp_path, name):
    """Columns hold what the kernel's formula gives them, within the errors of random numbers."""
    deck, out = os.path.join(SOURCE, f"inputs/gallery/prk_{name}.yaml"), tmp_path / "out"
    particles, columns = 20000, 16
    keys = SMALL | OWN.get(name, {}) | dict(system__bodies__0__particles=particles, run__steps=1)
    ok_run(out, deck=deck, ranks=2, **keys)
    u = ((state(out / "checkpoint_1.h5")[:, 0] / 2.0**40 - 0.125) % SIDE) / SIDE
    fine = (np.arange(columns * 64) + 0.5) / (columns * 64)
    weight = dict(
        geometric=0.94 ** (SIDE * fine),
        sinusoidal=np.cos(np.pi * fine) ** 2,
        linear=1 - fine,
        patch=1.0 * (fine < 0.25),
    )[name]
    expected = weight.reshape(columns, -1).sum(axis=1) / weight.sum() * particles
    found = np.histogram(u, bins=columns, range=(0, 1))[0]
    there = expected > 0
    assert (found[~there] == 0).all()
    chi2 = ((found - expected)[there] ** 2 / expected[there]).sum()
    degrees = there.sum() - 1
    assert chi2 < degrees + 5 * np.sqrt(2 * degrees), f"{name}: chi^2 is {chi2} with {degrees} degrees of freedom"

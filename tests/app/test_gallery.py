# SPDX-License-Identifier: MIT
"""The decks of inputs/gallery. Each deck has its conserved quantities and one state, and the dial shows its setting.
The cost of a region goes on and off."""
import glob
import os
import re

import numpy as np
import pytest

from program import DECK, SOURCE, datasets, decisions, hash_of, ok, settings, summary, thermo

GALLERY = sorted(glob.glob(os.path.join(SOURCE, "inputs/gallery/*.yaml")))
DIAL = os.path.join(SOURCE, "inputs/gallery/dial.yaml")
FEW_STEPS = dict(run__steps=10, output__every=10)


def done(ranks, command, source, out, **keys):
    ok(ranks, command, source, "--out", out, "--quiet", *settings(**keys))
    return out


@pytest.mark.group("gallery_decks")
@pytest.mark.parametrize("deck", GALLERY, ids=lambda path: os.path.basename(path)[:-5])
def test_decks(tmp_path, deck):
    """Particles, energy, and momentum along periodic axes stay, and so does the state, whoever balances."""
    one = done(0, "run", deck, tmp_path / "one", **FEW_STEPS)
    balanced = dict(balance__every=5, balance__criterion="every", balance__clock="work", balance__partition__kind="rcb")
    two = done(2, "run", deck, tmp_path / "two", **FEW_STEPS, **balanced, balance__processes="null")
    assert hash_of(one) == hash_of(two)
    first, last = thermo(one)
    assert last["step"] == 10 and last["particles"] == first["particles"] > 10000
    assert abs(last["total"] - first["total"]) <= 1e-3 * first["kinetic"]
    boundary = re.search(r"boundary: \[(.*)\]", (one / "deck.yaml").read_text())[1].split(", ")
    for axis, kind in zip("xyz", boundary):
        moved = abs(last[f"momentum_{axis}"] - first[f"momentum_{axis}"])
        assert kind == "reflecting" or moved < 1e-9 * first["particles"], axis


@pytest.mark.group("gallery_dial")
@pytest.mark.parametrize("percent", range(90, 20, -10))
def test_dial(tmp_path, percent):
    """Without balancing the mean LBE of 200 steps is the input, on 2, 7 and 64 processes; on P it is at least 1 / P."""
    filled = dict(system__slabs__0__upper=f"[{10 * percent}, 142.8]")
    for processes in (2, 7, 64):
        ranks = processes if percent == 50 and processes < 64 else 0
        out = done(ranks, "run", DIAL, tmp_path / f"{processes}", balance__processes=processes, **filled)
        rows = decisions(out)
        assert len(rows) == 40 and {row["cells_moved"] for row in rows} == {"0"}
        mean = np.mean([float(row["lbe"]) for row in rows])
        assert mean == pytest.approx(max(percent / 100, 1 / processes), abs=0.02), processes
        assert summary(out)["overall_lbe"]["none"] == pytest.approx(mean, abs=1e-6)


REGION = dict(
    balance__work__region="{lower: [100, 40], upper: [180, 80], factor: 4, from_step: 20, to_step: 90, period: 20}"
)


@pytest.mark.group("gallery_switch")
def test_switch(tmp_path):
    """The region costs more while it is active, in a series and for all that are compared."""
    keys = dict(run__steps=120, balance__every=10, balance__clock="work", balance__processes=12, output__loads_every=10)
    keys |= dict(balance__criterion="every", balance__speeds="off")
    keys |= dict(balance__compare="[a1, {model: exact, partition: {kind: rcb}}]")
    plain = done(2, "run", DECK, tmp_path / "plain", **keys)
    one, three = (done(n, "run", DECK, tmp_path / f"on_{n}", **keys, **REGION) for n in (1, 3))
    assert hash_of(plain) == hash_of(one) and decisions(one) == decisions(three)
    (_, before), (steps, after) = (datasets(out / "loads.h5", "step", "load").values() for out in (plain, one))
    inside, active = np.zeros(before.shape[1:], bool), {20, 30, 60, 70}
    inside[16:32, 40:72] = True  # cells of 2.5 sigma
    assert active < set(steps)
    for step, a, b in zip(steps, before, after):
        assert np.allclose(b, np.where(inside, 4 * a, a) if step in active else a, rtol=1e-6), step
    again = done(2, "replay", one / "loads.h5", tmp_path / "again", **{k: v for k, v in keys.items() if "balance" in k})
    assert decisions(again) == decisions(one), "a balancing saw other costs than the series"
    lbe = {int(row["step"]): float(row["lbe_model"]) for row in decisions(one) if row["model"].startswith("exact")}
    assert min(lbe.values()) > 0.7

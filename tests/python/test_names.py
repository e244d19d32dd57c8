# SPDX-License-Identifier: MIT
"""Replays by names have the rows of `steelyard replay`, to the last digit."""
import json

import numpy as np
import pytest
import steelyard

from program import decisions, replay, summary, table, written

KINDS = ["none", "rcb", "chain", "nested", "compact", "diffusion", "metis", "scotch"]
WITHOUT_COUNTS = ["time_average", "moving_average", "a1", "exact"]
MODELS = [*WITHOUT_COUNTS, "particle_count", "hybrid", "b1", "r1", "r1_ahead"]
CRITERIA = ["gain", "every", "never", "threshold", "menon", "zhai", "procassini", "boulmier"]


def contenders(models):
    """All pairs of a model and a kind, of a model and a criterion, and of a criterion and a kind."""
    pairs = [(m, k, CRITERIA[(i + j) % len(CRITERIA)]) for i, m in enumerate(models) for j, k in enumerate(KINDS)]
    pairs += [(m, KINDS[(i + j) % len(KINDS)], c) for i, c in enumerate(CRITERIA) for j, m in enumerate(models[::3])]
    return [dict(model=m, partition=dict(kind=k), criterion=c) for m, k, c in dict.fromkeys(pairs)]


def by_program(path, out, more=(), **keys):
    replay(path, out, more=more, **keys)
    return decisions(out)


def same_rows(found, rows):
    """Whether the columns of a Replay are rows of balance.csv."""
    assert len(rows) == len(found.rows["step"])
    for name in rows[0]:
        values = found.rows[name]
        texts = [r[name] for r in rows]
        expected = texts if values.dtype.kind == "U" else np.array([float(text) for text in texts])
        assert np.array_equal(values, expected), name


@pytest.mark.parametrize("counted", [True, False])
def test_all_names(tmp_path, series, counted):
    """All models, kinds and criteria, from arrays and from a file; costs and the overall LBE."""
    compare = contenders(MODELS if counted else WITHOUT_COUNTS)
    path = series.write(tmp_path / "loads.h5", counted)
    keys = dict(processes=9, model="a1", noise=0.01, work={"balancing": 1e-6, "move": 1e-7})
    given = {f"balance__{key}": json.dumps(value) for key, value in keys.items()}
    rows = by_program(path, tmp_path / "out", balance__compare=json.dumps(compare), **given)
    assert len({r["decision"] for r in rows}) > 3
    found = steelyard.replay(**series.arrays(counted), compare=compare, **keys)
    same_rows(found, rows)
    same_rows(steelyard.replay(path, compare=compare, **keys), rows)
    told = summary(tmp_path / "out")
    assert found.lbe == told["overall_lbe"] and list(found.costs) == list(told["contenders"])
    assert found.least_time == told["least_time"]
    for name, cost in found.costs.items():
        assert told["contenders"][name].items() >= cost._asdict().items()
    assert found.owners["a1"].shape == series.load.shape and found.owners["a1"].max() == 8
    assert np.array_equal(found["a1"]["step"], series.step[1:])
    before = zip(series.load[1:], found.owners["a1"])
    assert [steelyard.quality(*pair, 9)["lbe"] for pair in before] == pytest.approx(found["a1"]["lbe"], rel=1e-6)


def test_speeds(tmp_path, series):
    """Slow processes are found, as by the program."""
    path = series.write(tmp_path / "loads.h5")
    slow = {"fraction": 0.3, "speed": 0.5}
    rows = by_program(path, tmp_path / "out", balance__processes=8, balance__work__slow=json.dumps(slow))
    found = steelyard.replay(path, 8, work={"slow": slow})
    same_rows(found, rows)
    told = [float(r["speed"]) for r in table(tmp_path / "out", "resources.csv")[-8:]]
    assert [float(f"{speed:.6g}") for speed in found.speeds] == told and len(set(told)) > 1


def test_deck_and_settings(tmp_path, series):
    """A deck's section counts, and settings overrule it; every second entry is an opportunity."""
    path = series.write(tmp_path / "loads.h5")
    balance = "balance: {model: a1, every: 10, processes: 5, noise: 0.1, compare: [exact, r1]}\n"
    deck = written(tmp_path / "deck.yaml", balance + "system: {seed: 9}\n")
    rows = by_program(path, tmp_path / "out", ["--deck", deck], balance__processes=6, system__seed=4)
    same_rows(steelyard.replay(path, 6, deck=deck, settings={"system.seed": 4}), rows)
    assert {int(r["step"]) % 10 for r in rows} == {0} and {r["model"] for r in rows} == {"a1", "exact", "r1"}


def test_optimum(tmp_path, series):
    path = series.write(tmp_path / "loads.h5")
    keys = dict(balance__processes=6, balance__model="exact", balance__partition__sticky="false")
    by_program(path, tmp_path / "out", ["--optimum"], balance__work__balancing=1e-4, **keys)
    found = steelyard.optimum(path, 6, work={"balancing": 1e-4})
    assert found._asdict() == summary(tmp_path / "out")["optimum"] and 0 < len(found.steps) < len(series.step) - 1
    assert steelyard.optimum(path, 6, "rcb", work={"balancing": 1e-4}).seconds > 0

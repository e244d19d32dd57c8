# SPDX-License-Identifier: MIT
"""Criteria, and contenders that are compared on one trajectory. Their rows are the same on any ranks, over a restart,
and in a run of their own."""
import h5py
import numpy as np
import pytest

from program import COLLISIONS, decisions, hash_of, ok, said_by_run, settings, summary, write_datasets
from program import written

CRITERIA = ["gain", "every", "never", "threshold", "menon", "zhai", "procassini", "boulmier"]
# A migration of these collisions moves some ten particles a process.
BALANCED = dict(balance__every=5, balance__clock="work", balance__processes=12, balance__speeds="off")
BALANCED |= dict(balance__work__balancing=2e-6)


def collide(dimensions, out, ranks=0, restart=None, **keys):
    """The output of a run."""
    c = COLLISIONS[dimensions]
    keys = c.small | dict(run__steps=200) | BALANCED | keys
    return said_by_run(out, ranks=ranks, deck=c.deck, restart=restart, **keys)


def of_ranks(dimensions, folder, **keys):
    """Runs on 1, 2 and 4 ranks in folders of these names. They have the same rows, which are returned, and so has a
    restart on others."""
    for ranks in (1, 2, 4):
        collide(dimensions, folder / str(ranks), ranks, checkpoint__every=100, **keys)
        assert decisions(folder / str(ranks)) == decisions(folder / "1"), ranks
    rows, out = decisions(folder / "1"), folder / "restarted"
    collide(dimensions, out, 3, restart=folder / "4" / "checkpoint_100.h5", checkpoint__every=100, **keys)
    assert decisions(out) == [r for r in rows if int(r["step"]) > 100]
    return rows


def of_one(out, name):
    """Its rows, without what tells it from a driver."""
    own = ("model", "driver")
    chosen = [{k: v for k, v in row.items() if k not in own} for row in decisions(out) if row["model"] == name]
    assert chosen, f"no rows of {name} in {out}"
    return chosen


@pytest.mark.group("criteria")
@pytest.mark.parametrize("dimensions", [2, 3])
def test_compared(tmp_path, dimensions):
    """All criteria on one trajectory. Its state is that of a run that does not balance. The rows of each criterion are
    those of a run that it drives, on any ranks and over a restart."""
    collide(dimensions, tmp_path / "plain", balance__every=0)
    entries = ", ".join(f"{{model: r1, criterion: {c}}}" for c in CRITERIA)
    keys = dict(balance__compare=f"[{entries}]", balance__criteria__threshold=0.95)
    all_rows = of_ranks(dimensions, tmp_path, **keys)
    assert len({hash_of(tmp_path / name) for name in ("plain", "1", "2", "4", "restarted")}) == 1
    taken = {c: [r["decision"] for r in of_one(tmp_path / "1", f"r1/{c}")] for c in CRITERIA}
    assert set(taken["every"]) <= {"moved", "kept: same"} and "moved" in taken["every"]
    assert set(taken["never"]) == {"kept: criterion"}
    for c in ("threshold", "menon", "boulmier"):  # the first partition gets no worse than it was
        assert {"moved", "kept: criterion"} <= set(taken[c]), f"{c}: {taken[c]}"
    assert "kept: gain" in taken["gain"] and len({tuple(t) for t in taken.values()}) >= 6
    # In the same directory, where criteria remember what was before.
    collide(dimensions, tmp_path / "2", 3, restart=tmp_path / "2" / "checkpoint_100.h5", checkpoint__every=100, **keys)
    assert decisions(tmp_path / "2") == all_rows
    for c in CRITERIA:
        collide(dimensions, tmp_path / c, balance__criterion=c, balance__criteria__threshold=0.95)
        assert of_one(tmp_path / c, "r1") == of_one(tmp_path / "1", f"r1/{c}"), c


@pytest.mark.group("contenders")
def test_own_partitions_and_names(tmp_path):
    """An entry with a partition of its own gives the rows of a run with it; its name is in all results."""
    entries = {
        "a1": dict(balance__model="a1"),
        "boxes": dict(balance__model="a1", balance__partition__kind="rcb", balance__criterion="every"),
        "r1/chain": dict(balance__partition__cut="cells"),
        "half": dict(balance__criterion="threshold", balance__criteria__threshold=0.5),
    }
    compared = (
        "[a1, {name: boxes, model: a1, criterion: every, partition: {kind: rcb}}, {model: r1, partition: {cut: cells}},"
        " {name: half, model: r1, criterion: threshold, criteria: {threshold: 0.5}}]"
    )
    out = tmp_path / "all"
    collide(2, out, 2, balance__compare=compared, checkpoint__every=200)
    for name, keys in entries.items():
        alone = tmp_path / name.replace("/", "_")
        collide(2, alone, **keys)
        assert of_one(out, name) == of_one(alone, keys.get("balance__model", "r1")), name
    assert list(summary(out)["overall_lbe"]) == ["r1", *entries]
    with h5py.File(out / "checkpoint_200.h5") as f:
        for name in ["r1", *entries]:
            assert "boxes" in f["balance"][name]


@pytest.mark.group("criteria")
def test_bad_starts_that_stay(tmp_path):
    """Criteria that compare with the last balancing say where they never asked for one, though the LBE is low."""
    deck = written(
        tmp_path / "deck.yaml",
        """system: {box: [60, 60], slabs: [{lower: [1, 1], upper: [20, 15], density: 0.8, temperature: 1}]}
run: {dt: 0.002, steps: 20}
balance:
  {every: 5, clock: work, processes: 8, criterion: procassini, constants: {start: uniform},
   compare: [{model: r1, criterion: zhai}, {model: r1, criterion: boulmier}, {model: r1, criterion: menon},
             {model: r1, criterion: never}]}
""",
    )
    text = ok(0, "run", deck, "--out", tmp_path / "out")
    notes = [line for line in text.splitlines() if "never asked for a balancing" in line]
    assert [line.split("criterion ")[1].split()[0] for line in notes] == ["procassini", "zhai", "boulmier"]
    lbe = summary(tmp_path / "out")["overall_lbe"]["r1"]
    assert lbe < 0.3 and f"the LBE is {100 * lbe:.1f} %" in notes[0], notes


@pytest.mark.parametrize("criterion, noted", [("boulmier", True), ("gain", False)])
def test_bad_starts_of_a_series(criterion, noted, tmp_path):
    """So does a replay of loads that lie in one corner."""
    load = np.zeros((6, 20, 20))
    load[:, :4, :4] = 1e-3
    keys = dict(balance__processes=8, balance__model="exact", balance__criterion=criterion, balance__every=1)
    words = ["replay", write_datasets(tmp_path / "series.h5", load=load), "--out", tmp_path / "out"]
    text = ok(0, *words, *settings(**keys, balance__constants__start="uniform"))
    assert ("never asked for a balancing" in text) == noted, text


@pytest.mark.group("contenders")
@pytest.mark.parametrize("dimensions", [2, 3])
def test_loads_ahead(dimensions, tmp_path):
    """r1_ahead decides the same on any ranks and over a restart; a moving load it balances better than r1 and exact."""
    keys = dict(balance__compare="[r1_ahead, exact]", balance__criterion="every", balance__every=10)
    of_ranks(dimensions, tmp_path, balance__partition="{cut: cells, sticky: false}", **keys)
    lbe = summary(tmp_path / "1")["overall_lbe_measured"]
    assert lbe["r1_ahead"] > max(lbe["r1"], lbe["exact"]) + 0.002, lbe


def test_restarts(tmp_path):
    """A restart goes on with what it knows by name and model; another criterion begins with nothing lost."""
    first = dict(balance__compare="[a1, {name: late, model: b1, criterion: menon}]")
    collide(2, tmp_path / "first", 2, run__steps=100, checkpoint__every=100, **first)
    middle = tmp_path / "first" / "checkpoint_100.h5"

    def again(name, compare, **keys):
        return collide(2, tmp_path / name, restart=middle, balance__compare=compare, **dict(run__steps=105) | keys)

    def last(name, contender):
        return of_one(tmp_path / name, contender)[-1]

    text = again("other", "[{name: late, model: hybrid, criterion: menon}, {name: new, model: r1, criterion: zhai}]")
    for note in ("late starts anew", "new starts anew", "what a1 had learnt is", "what late had learnt is dropped"):
        assert note in text, text
    # Another criterion keeps the partition; only its loss starts at 0.
    again("same", first["balance__compare"])
    again("changed", "[a1, {name: late, model: b1, criterion: never}]")
    before, same, changed = (last(name, "late") for name in ("first", "same", "changed"))
    a, b, c = (float(row["lost_seconds"]) for row in (before, same, changed))
    assert b > a > 0 and before["decision"] == "kept: criterion" and b - a == pytest.approx(c)
    assert changed["lbe"] == same["lbe"]
    # The kind `none` never has another partition than the even one.
    even, kind = "[a1, {name: late, model: b1, partition: {kind: none}}]", dict(balance__partition__kind="none")
    text = again("even", even, **kind)
    assert "late begins with the even partition of kind none" in text and "r1 begins with the even" in text, text
    collide(2, tmp_path / "none", run__steps=105, **kind)
    assert last("even", "late")["ghost_cells"] == last("none", "none")["ghost_cells"]
    assert last("even", "none")["lbe"] == last("none", "none")["lbe"]

# SPDX-License-Identifier: MIT
"""Load series: what a run writes of its loads, and what `steelyard replay` makes of them and of those of others."""
import itertools

import h5py
import numpy as np
import pytest

from program import COLLISIONS, collide, datasets, decisions, fails_with, hash_of, printed, replay, settings, summary
from program import table
from program import write_datasets as write

COMPARED = (
    "[a1, b1, hybrid, particle_count, time_average, moving_average, exact, {model: r1, criterion: menon},"
    " {model: r1, criterion: zhai, partition: {kind: rcb}}, {model: b1, criterion: every, partition: {cut: cells}}]"
)
BALANCED = dict(balance__every=5, balance__clock="work", balance__processes=12, balance__compare=COMPARED)
AHEAD = BALANCED | dict(balance__compare=COMPARED[:-1] + ", r1_ahead, {model: r1_ahead, criterion: every}]")


def series(path):
    with h5py.File(path) as f:
        return datasets(path) | dict(f.attrs)


def same(a, b):
    return a.keys() == b.keys() and all(np.array_equal(a[k], b[k]) for k in a)


@pytest.mark.parametrize("dimensions", [2, 3])
def test_loads(tmp_path, dimensions):
    """The series is that of the particles: the same on any ranks, with or without balancing, accelerators, and over
    restarts; its numbers are those of the cell fields."""
    c = COLLISIONS[dimensions]
    keys = dict(run__steps=60, output__loads_every=10)
    whole = tmp_path / "whole"
    collide(dimensions, whole, output__fields_every=30, **keys)
    found = series(whole / "loads.h5")
    assert list(found["step"]) == list(range(0, 61, 10))
    assert np.allclose(found["time"], c.dt * found["step"])
    assert found["load"].shape == found["particles"].shape == (7, *reversed(c.cells))
    assert np.array_equal(found["box"], c.box[:dimensions]) and len(found["boundary"]) == dimensions
    for step in (0, 30, 60):
        with h5py.File(whole / f"fields_{step}.h5") as f:
            assert np.array_equal(f["particles"][()], found["particles"][step // 10]), step
    # Costs of pairs apart: what is left is linear in the particles.
    plain = tmp_path / "plain"
    collide(dimensions, plain, balance__work__pair=0, balance__work__candidate=0, **keys)
    expected = 2e-9 + 6e-9 * found["particles"]
    prices_rounded = 2.0**-50 * (1 + found["particles"])
    assert (np.abs(series(plain / "loads.h5")["load"] - expected) <= prices_rounded).all()
    assert (found["load"] - expected).max() > 1e-8
    ways = [dict(ranks=2), dict(ranks=3, balance__every=20, balance__clock="work")]
    ways += [dict(ranks=2, accelerator__backend="host", accelerator__share=0.5)]
    for i, way in enumerate(ways):
        collide(dimensions, tmp_path / str(i), **keys, **way)
        assert same(series(tmp_path / str(i) / "loads.h5"), found), way
        assert hash_of(tmp_path / str(i)) == hash_of(whole), way
    out = tmp_path / "restarted"
    collide(dimensions, out, ranks=2, **(keys | dict(run__steps=45, checkpoint__every=25)))
    collide(dimensions, out, ranks=3, restart=out / "checkpoint_25.h5", **keys)
    assert same(series(out / "loads.h5"), found)


@pytest.mark.parametrize("dimensions", [2, 3])
def test_particles_ahead(tmp_path, dimensions):
    """They are nearer to the counts of the next opportunity than the present ones are: the same on any ranks, by both
    clocks, and over restarts. The rest of the series is as without them."""
    keys = dict(run__steps=60, output__loads_every=10)
    ahead = keys | dict(balance__every=10, balance__clock="work", balance__processes=6, balance__model="r1_ahead")
    collide(dimensions, tmp_path / "plain", **keys)
    collide(dimensions, tmp_path / "whole", **ahead)
    found = series(tmp_path / "whole" / "loads.h5")
    now, then = (found[name].astype(int) for name in ("particles", "particles_ahead"))
    assert np.abs(then[:-1] - now[1:]).sum() < 0.5 * np.abs(now[:-1] - now[1:]).sum()
    collide(dimensions, tmp_path / "wall", ranks=2, **ahead | dict(balance__clock="wall", balance__processes=2))
    collide(dimensions, tmp_path / "out", ranks=2, **ahead | dict(run__steps=45, checkpoint__every=25))
    collide(dimensions, tmp_path / "out", ranks=3, restart=tmp_path / "out" / "checkpoint_25.h5", **ahead)
    for other in ("wall", "out"):
        assert same(series(tmp_path / other / "loads.h5"), found), other
    del found["particles_ahead"]
    assert same(series(tmp_path / "plain" / "loads.h5"), found)


@pytest.mark.group("replay")
@pytest.mark.parametrize("dimensions", [2, 3])
def test_run(tmp_path, dimensions):
    """The replay of a run's own loads has the rows of the run, to the last digit, on any ranks. The run has steps after
    its last opportunity."""
    out = tmp_path / "run"
    keys = dict(run__steps=123, balance__noise=0.02, balance__work__balancing=1e-6, system__seed=7)
    collide(dimensions, out, ranks=2, output__loads_every=5, **keys, **AHEAD)
    found = series(out / "loads.h5")
    assert (found["particles_ahead"] != found["particles"]).any()
    in_all = [found[name].reshape(25, -1).sum(1) for name in ("particles_ahead", "particles")]
    assert (in_all[0] == in_all[1]).all()
    for ranks in (1, 3):
        again = tmp_path / f"again{ranks}"
        replay(out / "loads.h5", again, ranks, ["--deck", out / "deck.yaml"])
        assert decisions(again) == decisions(out), ranks
        assert (again / "resources.csv").read_text() == (out / "resources.csv").read_text()
        for key in ("overall_lbe", "contenders", "least_time"):
            assert summary(again)[key] == summary(out)[key], key
    # Every other entry, with another interval than the run's; settings alone.
    half = tmp_path / "half"
    collide(dimensions, half, **keys, **(BALANCED | dict(balance__every=10)))
    given = BALANCED | dict(balance__every=10, balance__noise=0.02, balance__work__balancing=1e-6, system__seed=7)
    replay(out / "loads.h5", tmp_path / "sparse", 2, **given)
    assert decisions(tmp_path / "sparse") == decisions(half)


def foreign(times=7):
    """Loads of another program: three axes, holes, a jump in the middle."""
    random = np.random.default_rng(3)
    load = random.random((times, 5, 8, 12)) ** 4
    load[:, :, 3:5, 2:7] = 0
    load[times // 2 :, 4] *= 30
    return load


FOREIGN = dict(balance__processes=9, balance__model="moving_average")
FOREIGN |= dict(balance__compare="[time_average, a1, {model: exact, criterion: every}]")


@pytest.mark.group("replay_foreign")
def test_foreign(tmp_path):
    """Loads in any unit and layout, without particles or steps; the same rows on 1 and 3 ranks."""
    load = foreign()
    path = write(tmp_path / "mine.h5", load=load)
    for ranks in (1, 3):
        replay(path, tmp_path / str(ranks), ranks, **FOREIGN)
    rows = decisions(tmp_path / "1")
    assert rows == decisions(tmp_path / "3")
    assert len(rows) == 6 * 4 and [int(r["step"]) for r in rows[::4]] == list(range(1, 7))
    for r in rows:
        total = load[int(r["step"])].sum()
        assert float(r["mean_seconds"]) == pytest.approx(total / 9, rel=1e-6)
        assert 0 < float(r["lbe"]) <= 1 and float(r["max_seconds"]) <= total
    every = [r for r in rows if r["model"] == "exact/every"]
    assert min(float(r["lbe_model"]) for r in every) > 0.8 > float(every[2]["lbe"])  # it follows the jump
    # A common factor changes seconds only; so do integers and other layouts nothing.
    stepped = tmp_path / "stepped.h5"
    with h5py.File(stepped, "w") as f:
        f.create_dataset("load", data=(load * 2.0**70).astype("f8"), chunks=(2, 5, 8, 12), compression="gzip")
        f["step"] = (1000 + 5 * np.arange(7)).astype("f4")
        f.attrs["boundary"] = np.array(["periodic  ", "wall", "periodic  "], "S10")
    replay(stepped, tmp_path / "stepped", 2, **FOREIGN)
    scaled = decisions(tmp_path / "stepped")
    for a, b in zip(rows, scaled):
        assert int(b["step"]) == 1000 + 5 * int(a["step"])
        for name, factor in (("max_seconds", 2.0**70), ("lbe", 1)):
            assert float(b[name]) == pytest.approx(float(a[name]) * factor, rel=1e-6)
        assert (a["decision"], a["cells_moved"]) == (b["decision"], b["cells_moved"])
    assert int(scaled[0]["ghost_cells"]) > int(rows[0]["ghost_cells"])  # around the box


@pytest.mark.group("replay_foreign")
def test_price_of_cells(tmp_path):
    """Without particles each cell that moves has the price of a move: in the sums, for criteria, and for the best
    schedule. The cheapest contender is named."""
    t, y, x = np.meshgrid(np.arange(40), np.arange(12), np.arange(20), indexing="ij")
    load = 1 + 50 * np.exp(-((x - 4 - 0.3 * t) ** 2 + (y - 6) ** 2) / 9)  # a hot spot that moves
    path, compared = write(tmp_path / "mine.h5", load=load), ("never", "gain", "menon", "threshold")
    entries = ", ".join(f"{{model: exact, criterion: {c}, name: {c}}}" for c in compared)
    keys = dict(EXACT, balance__processes=9, balance__criterion="every", balance__compare=f"[{entries}]")
    for move, least in ((0, "exact"), (0.5, None), (1e3, "never")):
        out, seconds = tmp_path / str(move), {}
        replay(path, out, 2, more=["--optimum"], **keys, balance__work__move=move)
        s = summary(out)
        for name, c in s["contenders"].items():
            rows, seconds[name] = table(out, "balance.csv", model=name), c["seconds"]
            cells = [int(r["cells_moved"]) for r in rows]
            assert c["balancing_seconds"] == pytest.approx(move * sum(cells) / 9, rel=1e-12), (move, name)
            assert (sum(cells) == 0) == (c["migrations"] == 0), (move, name)
            for r, n in zip(rows, cells):
                if name in ("gain", "menon") and r["decision"] == "moved":
                    assert float(r["move_seconds"]) == pytest.approx(move * n / 9, rel=1e-12), r
        best = min(seconds, key=seconds.get)
        assert best == (least or best) and s["optimum"]["seconds"] <= seconds[best] * (1 + 1e-12), seconds
        assert s["least_time"].startswith(f"least time: {best}, {seconds[best]:.5g} s; "), s["least_time"]
        assert s["contenders"]["exact"]["migrations"] > 0 and bool(s["optimum"]["steps"]) == (move < 1e3)


def received(size, owner, wraps):
    """Bytes that all owners receive, by each cell and each other owner around it. wraps: of each axis."""
    received = 0
    for cell in np.ndindex(owner.shape):
        near = [{(x + d) % n for d in (-1, 0, 1) if w or 0 <= x + d < n} for x, n, w in zip(cell, owner.shape, wraps)]
        received += size[cell] * len({owner[c] for c in itertools.product(*near)} - {owner[cell]})
    return received


@pytest.mark.group("replay_foreign")
@pytest.mark.parametrize("shape, processes", [((6, 10), 4), ((4, 5, 6), 7)])
def test_bytes(tmp_path, shape, processes):
    """Bytes of the series count, not its particles, on any ranks, for the partition that the files of METIS have."""
    random, keys = np.random.default_rng(5), dict(balance__processes=processes, balance__model="exact")
    keys |= dict(balance__criterion="every", balance__partition__cut="cells", output__balance_formats="[metis]")
    size, load = np.floor(1e6 * random.random((4, *shape)) ** 9) / 64, random.random((4, *shape))
    bare = dict(load=load, particles=random.integers(0, 9, load.shape))
    for wraps in (True, False):
        boundary, out = dict(boundary=len(shape) * ["periodic" if wraps else "wall"]), tmp_path / str(wraps)
        path = write(tmp_path / "loads.h5", boundary, **bare, bytes=size)
        for ranks in (0, 3):
            replay(path, out / str(ranks), ranks, **keys)
        rows = decisions(out / "0")
        assert rows == decisions(out / "3") and [r["decision"] for r in rows] == 3 * ["moved"]
        for r, t in zip(rows[:2], (1, 2)):  # owners of the next entry's begin
            owner = np.loadtxt(out / f"0/metis/step_{t + 1}.owners", dtype=int).reshape(shape[::-1]).T
            assert int(r["ghost_bytes"]) == int(received(size[t], owner, len(shape) * [wraps]) + 0.5)
        told = summary(out / "0")["contenders"]["exact"]
        for name in ("ghost_cells", "ghost_bytes"):
            assert told[name] == pytest.approx(np.mean([int(r[name]) for r in rows])), name
        text = printed(0, "replay", write(path, boundary, **bare), "--out", out / "bare", *settings(**keys))
        axes = 4 * len(shape) * bare["particles"]
        owner = np.loadtxt(out / "bare/metis/step_2.owners", dtype=int).reshape(shape[::-1]).T
        assert int(decisions(out / "bare")[0]["ghost_bytes"]) == received(axes[1], owner, len(shape) * [wraps])
        assert "ghost cells  ghost bytes  computing" in text
        text = printed(0, "replay", write(path, boundary, load=load), "--out", out / "empty", *settings(**keys))
        assert {r["ghost_bytes"] for r in decisions(out / "empty")} == {"0"} and "ghost bytes" not in text
        others = [[{**r, "ghost_bytes": ""} for r in decisions(out / name)] for name in ("0", "bare")]
        assert others[0] == others[1]  # bytes decide nothing


def test_foreign_counts(tmp_path):
    """Loads beside particles: seconds of processes add up, and even loads stay where they are."""
    load = foreign() * 2.0**70
    path = write(tmp_path / "measured.h5", load=load, particles=np.ones(load.shape, "i2"))
    replay(path, tmp_path / "measured", balance__processes=9, balance__criterion="every")
    seconds = [float(r["seconds"]) for r in table(tmp_path / "measured", "resources.csv")]
    assert sum(seconds) == pytest.approx(load[1:].sum(), rel=1e-6)
    counts = write(tmp_path / "counts.h5", load=np.ones((3, 6, 10), "u1"), particles=np.ones((3, 6, 10), "i8"))
    replay(counts, tmp_path / "counts", 2, balance__processes=6)
    assert {r["decision"] for r in decisions(tmp_path / "counts")} == {"kept: gain"}
    assert len({r["lbe"] for r in decisions(tmp_path / "counts")}) == 1


def test_neighbours(tmp_path):
    """The view of models around a cell, also across periodic borders. If loads are those of pairs, r1 finds them, and
    balances as well as a model that knows the loads."""
    particles = np.random.default_rng(1).integers(0, 9, (30, 12, 20)) * (np.arange(20) % 7 < 4)
    around = sum(np.roll(particles, (dy, dx), (1, 2)) for dy, dx in itertools.product((-1, 0, 1), repeat=2))
    wraps, load = dict(boundary=["periodic", "periodic"]), 1e-9 * particles * around
    path = write(tmp_path / "pairs.h5", wraps, load=load, particles=particles)
    keys = dict(balance__processes=24, balance__criterion="every", balance__partition__cut="cells")
    for model in ("r1", "exact"):
        replay(path, tmp_path / model, **keys, balance__model=model)
    last, exact = (float(decisions(tmp_path / model)[-1]["lbe_model"]) for model in ("r1", "exact"))
    assert last == pytest.approx(exact, abs=0.02)


GOOD = foreign(3)
COUNTS = np.ones(GOOD.shape, "i4")


def changed(index, value):
    load = GOOD.copy()
    load[index] = value
    return dict(load=load)


BAD_SERIES = {
    "NaN": (changed((1, 2, 3, 4), np.nan), "/load of time 1 holds numbers that are negative, infinite or none"),
    "infinite": (changed((2, 0, 0, 0), np.inf), "/load of time 2"),
    "negative": (changed((0, 4, 7, 11), -1e-300), "/load of time 0"),
    "shapes": (dict(load=GOOD, particles=COUNTS[:, :, :, 1:]), "/load and /particles have different shapes"),
    "times": (dict(load=GOOD, particles=COUNTS[1:]), "/load and /particles have different shapes"),
    "no times": (dict(load=GOOD[:0]), "/load holds no times"),
    "no cells": (dict(load=GOOD[:, :0]), "0 cells along z"),
    "two axes": (dict(load=GOOD[0, 0]), "/load is no dataset of numbers with 3 or 4 dimensions"),
    "words": (dict(load=np.array([[[b"a"]]])), "/load holds no numbers"),
    "nothing": (dict(loads=GOOD), "holds no dataset /load"),
    "zeros": (dict(load=0 * GOOD), "/load holds zeros only"),
    "few steps": (dict(load=GOOD, step=[0, 1]), "/step has 2 steps for 3 times of /load"),
    "same steps": (dict(load=GOOD, step=[0, 5, 5]), "do not ascend"),
    "early steps": (dict(load=GOOD, step=[-5, 0, 5]), "do not ascend"),
    "broken steps": (dict(load=GOOD, step=[0.0, 0.5, 1.0]), "/step is no list of whole numbers"),
    "late steps": (dict(load=GOOD, step=[0, 5, 10**16]), "do not ascend from 0 or more up to 10^15"),
    "too small": (dict(load=GOOD * 1e-300), "the largest number in /load is"),
    "too large": (dict(load=GOOD * 1e300), "the largest number in /load is"),
    "halves": (dict(load=GOOD, particles=COUNTS * 0.5), "/particles of time 0 holds numbers that are no counts"),
    "less than none": (dict(load=GOOD, particles=-COUNTS), "/particles of time 0"),
    "shapes ahead": (dict(load=GOOD, particles_ahead=COUNTS[1:]), "/load and /particles_ahead have different shapes"),
    "halves ahead": (
        dict(load=GOOD, particles_ahead=COUNTS / 2),
        "/particles_ahead of time 0 holds numbers that are no",
    ),
    "shapes of bytes": (dict(load=GOOD, bytes=GOOD[1:]), "/load and /bytes have different shapes"),
    "negative bytes": (
        dict(load=GOOD, bytes=GOOD - 0.01),
        "/bytes of time 0 holds numbers that are negative, infinite",
    ),
    "infinite bytes": (
        dict(load=GOOD, bytes=GOOD + np.inf),
        "/bytes of time 0 holds numbers that are negative, infinite",
    ),
    "words for bytes": (dict(load=GOOD, bytes=np.full(GOOD.shape, b"a")), "/bytes holds no numbers"),
    "too many bytes": (dict(load=GOOD, bytes=GOOD * 1e15), "/bytes holds numbers that are too large to be summed"),
    "too many": (dict(load=GOOD, particles=COUNTS * 1e10), "/particles of time 0"),
    "too many pairs": (dict(load=GOOD, particles=COUNTS * 2**30), "whose pairs cannot be summed exactly"),
}


def cut_at(part):
    def make(path):
        write(path, load=GOOD, step=[0, 5, 9], particles=COUNTS)
        whole = path.read_bytes()
        path.write_bytes(whole[: int(part * len(whole))])

    return make, "bad.h5"


def endless(path):
    with h5py.File(path, "w") as f:
        f.create_dataset("load", (2**62, 1, 1), chunks=(1, 1, 1))


def numpy_array(path):
    with open(path, "wb") as file:
        np.save(file, GOOD)
    return path


def bounded(boundary, says="its attribute boundary is no list of 1 to 3 texts"):
    return lambda path: write(path, dict(boundary=boundary), load=GOOD), says


BAD_SERIES |= {f"cut at {part}": cut_at(part) for part in (0, 0.01, 0.5, 0.99)}
BAD_SERIES |= {
    "numpy": (numpy_array, "is an array of numpy; write it to an HDF5 file by h5py"),
    "endless": (endless, "/load says that it holds over 2^60 numbers"),
    "one boundary": bounded(["periodic"], "its attribute boundary has 1 word for 3 axes"),
    "boundaries of numbers": bounded([1, 2, 3]),
    "four boundaries": bounded(["periodic"] * 4),
    "no boundary": bounded(h5py.Empty("f4")),
}


def refused(path, code, says, ranks, **keys):
    """A replay of the series ends with one line, and writes nothing."""
    out, keys = path.parent / "out", dict(balance__processes=4) | keys
    fails_with(code, says, ranks, "replay", path, "--out", out, *settings(**keys))
    assert not out.exists()


@pytest.mark.group("replay_errors")
@pytest.mark.parametrize("ranks", (0, 2))
@pytest.mark.parametrize("name", BAD_SERIES)
def test_bad_series(tmp_path, ranks, name):
    (make, says), path = BAD_SERIES[name], tmp_path / "bad.h5"
    make(path) if callable(make) else write(path, **make)
    refused(path, 3, says, ranks)


A1, WIDE = dict(balance__model="a1"), "[{model: exact, partition: {min_width: 500}}]"
MOST = "balance__partition__max_particles_per_process"
LACKS = "balance.compare.0.model: {path} has no dataset /particles, which the model "
WITHOUT_COUNTS = [
    ({}, "/particles, which the model r1 needs"),
    (dict(A1, **{MOST: 9}), "balance.partition.max_particles_per_process"),
    (dict(A1, balance__compare=WIDE), "balance.compare.0.partition.min_width: 12 x 8 x 5 cells do not"),
    (dict(balance__processes=481), "balance.processes: 481 processes for 480 cells"),
    (dict(A1, balance__speeds="given"), "balance.speeds"),
    (dict(balance__modl="a1"), "unknown key 'modl'"),
    (dict(balance__processes="null"), "balance.processes: it is missing"),
]
WITHOUT_COUNTS += [
    (dict(A1, balance__compare=f"[{{model: {m}, name: x}}]"), LACKS + m)
    for m in ("hybrid", "b1", "particle_count", "r1", "r1_ahead")
]


@pytest.mark.parametrize("ranks", (0, 2))
@pytest.mark.parametrize("keys, says", WITHOUT_COUNTS)
def test_keys_without_counts(tmp_path, ranks, keys, says):
    """Keys that a series of loads alone cannot serve."""
    path = tmp_path / "loads.h5"
    write(path, load=GOOD)
    refused(path, 2, says.format(path=path), ranks, **keys)


def test_more_ranks_than_processes(tmp_path):
    refused(write(tmp_path / "loads.h5", load=GOOD), 2, (), 4, balance__processes=3, **A1)


EXACT = dict(balance__processes=4, balance__model="exact", balance__partition__sticky="false")
NEVER = dict(EXACT, balance__criterion="never")
OPTIMUM = "--optimum: the best schedule is known only where"
WITH_COUNTS = [
    ([], dict(balance__compare="[r1_ahead]"), "loads.h5 has no dataset /particles_ahead for r1_ahead"),
    ([], {MOST: 100}, "no cut keeps 4 processes within 100 particles; the smallest limit that works now is 120"),
    (["--optimum"], dict(NEVER, **{MOST: 119}), "no cut keeps 4 processes within 119 particles"),
    (["--optimum"], {}, OPTIMUM),
    (["--optimum"], dict(EXACT, balance__work__slow__fraction=0.5), OPTIMUM),
    (["--optimum"], dict(EXACT, balance__noise=0.1), OPTIMUM),
    (["--optimum"], dict(EXACT, balance__partition__kind="compact"), OPTIMUM),
    (["--optimum"], dict(EXACT, balance__partition__kind="diffusion"), OPTIMUM),
    (["--optimum"], dict(EXACT, balance__model="a1"), OPTIMUM),
]


@pytest.fixture
def counted(tmp_path):
    """A series with counts of particles."""
    return write(tmp_path / "loads.h5", load=GOOD, particles=COUNTS)


@pytest.mark.parametrize("more, keys, says", WITH_COUNTS)
def test_keys_with_counts(counted, more, keys, says):
    keys = dict(balance__processes=4) | keys
    fails_with(2, says, 2, "replay", counted, "--out", counted.parent / "out", *more, *settings(**keys))


def test_series_in_the_output_directory(counted):
    replay(counted, counted.parent / "out", 2, more=["--optimum"], **EXACT)
    fails_with(2, "it lies in the output directory", 2, "replay", counted, "--out", counted.parent, *settings(**EXACT))


SCHEDULES = dict(balance__model="exact", balance__speeds="off", balance__partition__sticky="false")


def totals(out):
    return {name: c["seconds"] for name, c in summary(out)["contenders"].items()}


@pytest.mark.group("replay_optimum")
@pytest.mark.parametrize("dimensions", [2, 3])
def test_optimum(tmp_path, dimensions):
    """No criterion is better than the best schedule in hindsight. That schedule is `never` if balancing is dear, and no
    worse than `every` if balancing costs nothing. The sums of the summary follow from balance.csv."""
    collide(dimensions, tmp_path / "run", run__steps=200, output__loads_every=5)
    loads = tmp_path / "run" / "loads.h5"
    criteria = ["gain", "every", "never", "menon", "boulmier", "zhai", "procassini"]
    entries = ", ".join(f"{{model: exact, criterion: {c}, name: {c}}}" for c in criteria)
    keys, best = dict(SCHEDULES, balance__processes=24, balance__compare=f"[{entries}]"), {}
    for name, balancing, move in (("free", 0, 0), ("some", 4e-6, 2e-7), ("dear", 1e3, 0)):
        out, costs = tmp_path / name, dict(balance__work__balancing=balancing, balance__work__move=move)
        replay(loads, out, 2, more=["--optimum"], **keys, **costs)
        best[name], found = summary(out)["optimum"], totals(out)
        assert min(found.values()) >= best[name]["seconds"] * (1 - 1e-12), name
        for c in criteria:
            rows = table(out, "balance.csv", model=c)
            expected = sum(5 * float(r["max_seconds"]) + move * int(r["particles_moved"]) / 24 for r in rows)
            expected += balancing * summary(out)["contenders"][c]["balancings"]
            assert found[c] == pytest.approx(expected, rel=1e-12), (name, c)
    free, some, dear = (totals(tmp_path / n) for n in best)
    assert free["every"] < free["never"]
    assert best["free"]["seconds"] == pytest.approx(free["every"], rel=0.02)
    assert dear["never"] == pytest.approx(best["dear"]["seconds"], rel=1e-12) and best["dear"]["steps"] == []
    assert 0 < len(best["some"]["steps"]) < len(best["free"]["steps"])
    assert best["some"]["seconds"] < min(some["every"], some["never"])
    one = tmp_path / "one rank"
    replay(loads, one, more=["--optimum"], **keys, balance__work__balancing=4e-6)
    assert summary(one)["optimum"] == best["some"] and totals(one) == some


def test_optimum_of_many_processes(tmp_path):
    """The best schedule is found also where opportunities times processes are more than are summed at once."""
    collide(2, tmp_path / "run", run__steps=40, output__loads_every=2)
    keys = dict(balance__processes=1000, balance__compare="[{model: exact, criterion: never, name: never}]")
    more = dict(SCHEDULES, balance__work__balancing=1e3)
    replay(tmp_path / "run" / "loads.h5", tmp_path / "out", 2, more=["--optimum"], **keys, **more)
    best = summary(tmp_path / "out")["optimum"]
    assert best["steps"] == [] and best["seconds"] == pytest.approx(totals(tmp_path / "out")["never"], rel=1e-12)

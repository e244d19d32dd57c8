# SPDX-License-Identifier: MIT
"""Arrays of other kinds, options that cannot be, partitions of one field, and signals."""
import os
import signal
import threading
import time

import numpy as np
import pytest
import steelyard

from conftest import Series

GOOD = Series(2).arrays()


def changed(name, index, value):
    values = GOOD[name].astype(float)
    values[index] = value
    return {name: values}


REFUSED = {
    "NaN": (changed("load", (3, 4, 5), np.nan), "/load of time 3 holds numbers that are negative, infinite or none"),
    "infinite": (changed("load", (0, 4, 5), np.inf), "/load of time 0"),
    "negative": (changed("load", (2, 4, 5), -1e-300), "/load of time 2"),
    "zeros": (dict(load=0 * GOOD["load"]), "/load holds zeros only"),
    "too small": (dict(load=GOOD["load"] * 1e-300), "too large or too small"),
    "two axes": (dict(load=GOOD["load"][0]), "load: it is an array of shape (16, 20)"),
    "five axes": (dict(load=GOOD["load"][None, None]), "load: it is an array of shape"),
    "empty": (dict(load=GOOD["load"][:0]), "none empty"),
    "no columns": (dict(load=GOOD["load"][:, :0]), "none empty"),
    "words": (dict(load=GOOD["load"].astype(str)), "give real numbers"),
    "objects": (dict(load=np.array([None])), "give real numbers"),
    "complex": (dict(load=GOOD["load"] * 1j), "give real numbers"),
    "NaN bytes": (
        dict(bytes=GOOD["load"] * np.nan),
        "/bytes of time 0 holds numbers that are negative, infinite or none",
    ),
    "other bytes": (dict(bytes=GOOD["load"][1:]), "bytes: it is an array of shape"),
    "other counts": (dict(particles=GOOD["particles"][1:]), "particles: it is an array of shape"),
    "half counts": (dict(particles=GOOD["particles"] + 0.5), "/particles of time 0 holds numbers that are no counts"),
    "too many": (dict(particles=GOOD["particles"] + 2**30), "whose pairs cannot be summed exactly"),
    "few steps": (dict(step=[1, 2]), "step: it is an array of shape (2,)"),
    "counts ahead": (
        dict(particles_ahead=-GOOD["particles"]),
        "/particles_ahead of time 0 holds numbers that are no counts",
    ),
    "same steps": (dict(step=GOOD["step"] * 0), "ascend from 0"),
    "half steps": (dict(step=GOOD["step"] + 0.5), "ascend from 0"),
    "boundary": (dict(boundary=["periodic"]), "boundary: 1 words for 2 axes"),
    "word": (dict(boundary=["perodic", "wall"]), "boundary: perodic; give periodic, reflecting or wall"),
    "no name": (dict(model=object()), "is no name and no number"),
    "named alike": (dict(name="a1", compare=["a1"]), "a1 is there twice"),
    "no processes": (dict(processes=0), "balance.processes"),
    "more than cells": (dict(processes=321), "balance.processes: 321 processes for 320 cells"),
    "half a process": (dict(processes=2.5), "balance.processes"),
    "no particles": (dict(particles=None), "balance.model: there is no argument particles, which the model r1 needs"),
    "model": (dict(model="r2"), "balance.model"),
    "ahead": (dict(model="r1_ahead", particles_ahead=None), "there is no argument particles_ahead for r1_ahead"),
    "key": (dict(modl="a1"), "unknown key 'modl' in balance"),
    "kind": (dict(partition="rbc"), "balance.partition"),
    "criterion": (dict(criterion=3), "balance.criterion"),
    "speeds": (dict(speeds="given"), "balance.speeds"),
    "setting": (dict(settings={"balance.work.slow.speed": -1}), "balance.work.slow.speed"),
    "name": (dict(compare=[dict(model="a1", name="a b")]), "balance.compare.0.name"),
    "twice": (dict(compare=["a1", "a1"]), "a1 is there twice"),
    "limit": (dict(partition=dict(max_particles_per_process=1)), "no cut keeps 4 processes within 1 particle"),
    "optimum": (dict(optimum=True), "the best schedule is known only where"),
    "min_width": (dict(partition=dict(min_width=11)), "balance.partition.min_width"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name):
    more, says = REFUSED[name]
    with pytest.raises(ValueError) as raised:
        steelyard.replay(**{"processes": 4, **GOOD, **more})
    assert says in str(raised.value) and "\n" not in str(raised.value)


def test_what_a_reader_is_told():
    """Prices and notes stand below the table, the driver may have a name, and unknown contenders are refused."""
    found = steelyard.replay(**GOOD, processes=4, name="mine", compare="a1", work={"balancing": 0.5, "move": 3})
    assert list(found.costs) == ["mine", "a1"] and found.prices in repr(found) and found.least_time in repr(found)
    assert "0.5 s a balancing, 3 s a particle that moves" in found.prices and found.notes == []
    cost = found.costs["a1"]
    assert cost.seconds == cost.computing_seconds + cost.balancing_seconds
    assert sorted(c.over_least for c in found.costs.values())[0] == 0
    with pytest.raises(KeyError, match="r1: no such contender; there are mine, a1"):
        found["r1"]
    assert "ghost bytes" in repr(found) and cost.ghost_bytes > 0
    bare = {name: GOOD[name] for name in ("load", "boundary", "step")}
    assert "ghost bytes" not in repr(steelyard.replay(**bare, processes=4, model="a1"))
    idle = steelyard.replay(**GOOD, processes=4, every=10**6)
    assert "nothing was balanced" in idle.notes[0] and idle.notes[0] in repr(idle)


def test_kinds_of_arrays():
    """The same numbers in any layout and type have the same rows."""
    whole = np.round(GOOD["load"] * 1e6)
    counts = {name: values for name, values in GOOD.items() if name not in ("load", "boundary")}
    rows = steelyard.replay(whole, **counts, processes=6).rows
    wide = np.zeros((*whole.shape, 2))
    wide[..., 0] = whole
    kinds = [whole.astype(kind) for kind in (">f8", "i4", ">i8", "u2", "f4")]
    for load in (*kinds, np.asfortranarray(whole), wide[..., 0], whole[:, ::-1][:, ::-1], whole.tolist()):
        found = steelyard.replay(load, **counts, processes=np.int64(6))
        for name, values in rows.items():
            assert name.endswith("_seconds") or np.array_equal(found.rows[name], values), name


@pytest.mark.parametrize("dimensions", [2, 3])
def test_partition_and_quality(dimensions):
    """Every cell has an owner, parts follow speeds, limits hold, sticky cuts stay. Numbers are those of a count."""
    series = Series(dimensions)
    load, counts = series.load[0], series.particles[0]
    for kind in ("none", "rcb", "chain", "nested", "compact", "diffusion", "metis", "scotch"):
        owner = steelyard.partition(load, 5, kind, boundary=series.boundary)
        assert owner.shape == load.shape and owner.dtype == np.int32 and set(owner.ravel()) == set(range(5)), kind
    owner = steelyard.partition(load, 5)
    got = steelyard.quality(load, owner, boundary=series.boundary)
    loads = np.array([load[owner == p].sum() for p in range(5)])
    assert got["loads"] == pytest.approx(loads) and got["lbe"] == pytest.approx(loads.mean() / loads.max())
    wraps = [word == "periodic" for word in series.boundary[::-1]]
    padded = owner
    for axis, wrap in enumerate(wraps):
        width = [(int(a == axis),) * 2 for a in range(dimensions)]
        padded = np.pad(padded, width, **(dict(mode="wrap") if wrap else dict(constant_values=-1)))
    ghosts = 0
    for cell in np.ndindex(owner.shape):
        around = padded[tuple(slice(i, i + 3) for i in cell)]
        ghosts += len(set(around.ravel()) - {owner[cell], -1})
    assert got["ghost_cells"] == ghosts
    speeds = [1, 1, 2, 4, 1]
    fast = steelyard.quality(load, steelyard.partition(load, 5, speeds=speeds), 5, speeds=speeds)
    assert fast["lbe"] > 0.8 and fast["loads"][3] == max(fast["loads"])
    limit = int(counts.sum() / 5 * 1.3)
    kept = steelyard.partition(load, 5, particles=counts, max_particles_per_process=limit)
    assert max(np.bincount(kept.ravel(), weights=counts.ravel())) <= limit
    memory = steelyard.Memory()
    first = steelyard.partition(load, 7, "rcb", memory=memory)
    stuck, free = (steelyard.partition(series.load[4], 7, "rcb", memory=m) for m in (memory, None))
    assert (first == stuck).mean() > (first == free).mean()


WRONG_PARTITIONS = [
    (dict(parts=0), "balance.processes"),
    (dict(parts=321), "balance.processes"),
    (dict(kind="rbc"), "balance.partition.kind"),
    (dict(widht=2), "unknown key 'widht'"),
    (dict(speeds=[1, 2]), "give one for each part"),
    (dict(speeds=[1, 2, 0, 1]), "give one for each part"),
    (dict(load=-GOOD["load"][0]), "give numbers >= 0"),
    (dict(load=GOOD["load"][0] * np.nan), "give numbers >= 0"),
    (dict(max_particles_per_process=5), "there is no argument particles"),
    (dict(particles=GOOD["particles"][0], max_particles_per_process=1), "limit"),
]


@pytest.mark.parametrize("more, says", WRONG_PARTITIONS)
def test_wrong_partitions(more, says):
    with pytest.raises(ValueError) as raised:
        steelyard.partition(**{"load": GOOD["load"][0], "parts": 4, **more})
    assert says in str(raised.value)


def test_wrong_owners():
    load = GOOD["load"][0]
    for owner in (np.ones(load.shape), -np.ones(load.shape, int), np.ones((3, 3), int)):
        with pytest.raises(ValueError):
            steelyard.quality(load, owner, 4)


def test_interrupt_and_threads():
    """Ctrl-C ends a replay between opportunities, and other threads go on meanwhile."""
    load, count = np.random.default_rng(1).random((60, 64, 64)), []
    stop = threading.Event()

    def other():
        while not stop.wait(0.001):
            count.append(1)

    thread = threading.Thread(target=other)
    thread.start()
    done = []

    def progress(n, of):
        done.append(n)
        if n == 5:
            assert of == 60
            os.kill(os.getpid(), signal.SIGINT)

    begin = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        steelyard.replay(load, 400, model="a1", compare=["exact"], progress=progress)
    seconds = time.monotonic() - begin
    stop.set()
    thread.join()
    assert done == [1, 2, 3, 4, 5] and len(count) > 5 * min(seconds, 1)

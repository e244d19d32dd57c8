# SPDX-License-Identifier: MIT
"""Runs with accelerators whose zones reach the border of their rank end in the state of the run without accelerators.

The values of SETTINGS are combined so that any two values of different settings meet in a run. Threads stand in for the
accelerators. Each run stops in its middle and goes on from a checkpoint, on other ranks.
"""
import functools
import itertools
import random

import pytest

from program import COLLISIONS, fresh, hash_of, ok_run, rows, table, two_slabs

STEPS, MIDDLE = 60, 30
MATTER = dict(run__dt=0.002, run__steps=STEPS, output__every=MIDDLE, checkpoint__every=MIDDLE, grid__tile=6)
# They meet in the middle of the box, and across its periodic faces.
SLABS = {
    2: two_slabs([60, 40], [0.8, 0.8], [28.5, 39.2], [30, 7], [59.2, 37]),
    3: two_slabs([26, 15, 14], [0.8, 0.8, 0.8], [12.2, 14.2, 13.2], [13.5, 4, 3], [25.2, 12, 11]),
}
WALLS = "[{face: x_lower, epsilon: 0.5, cutoff: 2.5}, {face: y_upper, epsilon: 0.5}]"
PISTONS = "[{face: x_lower, velocity: 2}, {face: y_upper, velocity: 1, from: 10, to: 50}]"
LANGEVIN = dict(system__thermostat__kind="langevin", system__thermostat__temperature=1, system__thermostat__every=7)
MOVING = dict(accelerator__controller="measured_speed", accelerator__share=0.3, accelerator__every=4)
BY_WORK = MOVING | dict(balance__clock="work")
HOST, NONE = (dict(accelerator__backend=backend) for backend in ("host", "none"))
INNER = dict(accelerator__reach="inner")


def fixed(share):
    return dict(balance__clock="work", accelerator__controller="fixed", accelerator__share=share, accelerator__every=9)


# The first three settings are of the system. The keys of `first` and `then` are of the two parts of a run.
SETTINGS = {
    "dimensions": (2, 3),
    "precision": ("mixed", "double"),
    "forces": (dict(), LANGEVIN, dict(system__walls=WALLS), dict(system__walls=PISTONS)),
    "ranks": (1, 2, 3, 4, 7),
    "share": (*map(fixed, (0, 0.1, 0.5, 0.99, 1)), MOVING, BY_WORK),
    "kind": ("chain", "rcb", "nested"),
    "cut": ("patches", "strips", "cells"),
    "parts": ((HOST, HOST), (HOST, NONE), (NONE, HOST), (HOST | INNER, HOST), (HOST, HOST | INNER)),
    "ranks_then": (1, 2, 5),
    "order": ("plain", "near_first", "far_first"),
    "aggregate": ("none", "process", "node", "auto"),
    "overlap": ("none", "links", "full"),
    "devices": (1, 2),
}


def covering():
    """Rows of indices of values, one for each of SETTINGS: any two values of different settings meet in a row."""
    sizes, draw = [len(values) for values in SETTINGS.values()], random.Random(1)
    settings_of_pair = itertools.combinations(range(len(sizes)), 2)
    left = {(i, a, j, b) for i, j in settings_of_pair for a in range(sizes[i]) for b in range(sizes[j])}

    def met(row):
        return {(i, row[i], j, row[j]) for i, j in itertools.combinations(range(len(sizes)), 2)}

    while left:
        i, a, j, b = min(left)
        drawn = [[draw.randrange(n) for n in sizes] for _ in range(300)]
        for row in drawn:
            row[i], row[j] = a, b
        best = max(drawn, key=lambda row: len(met(row) & left))
        left -= met(best)
        yield tuple(best)


@pytest.fixture(scope="module")
def without(tmp_path_factory):
    """The state and the rows of a system without accelerators."""

    @functools.cache
    def of(*system):
        out = tmp_path_factory.mktemp("without") / "out"
        ok_run(out, ranks=0, **keys_of_system(*(values[k] for k, values in zip(system, SETTINGS.values()))))
        return hash_of(out), rows(out)

    return of


def keys_of_system(dimensions, precision, forces):
    faces = ", ".join(["reflecting" if "system__walls" in forces else "periodic"] * dimensions)
    system = SLABS[dimensions] | dict(run__precision=precision, system__boundary=f"[{faces}]")
    return dict(deck=COLLISIONS[dimensions].deck, **MATTER, **system, **forces)


@pytest.mark.parametrize("row", covering(), ids=lambda row: "-".join(map(str, row)))
def test_one_state(without, tmp, row):
    way = {name: values[k] for (name, values), k in zip(SETTINGS.items(), row)}
    keys = keys_of_system(way["dimensions"], way["precision"], way["forces"]) | way["share"]
    keys |= dict(balance__every=6, balance__migrate="always", comm__ranks_per_node=2, comm__threshold_bytes=500)
    keys |= {f"balance__partition__{k}": way[k] for k in ("kind", "cut")}
    keys |= {f"comm__{k}": way[k] for k in ("order", "aggregate", "overlap")}
    keys |= dict(accelerator__devices=way["devices"])
    first, then = way["parts"]
    ok_run(fresh(tmp), ranks=way["ranks"], **keys | first | dict(run__steps=MIDDLE))
    ok_run(tmp, ranks=way["ranks_then"], restart="auto", **keys | then)
    assert (hash_of(tmp), rows(tmp)) == without(*row[:3]), way
    part_of = [(first, then)[int(r["step"]) > MIDDLE] for r in table(tmp, "zones.csv")]
    up_to_border = [r for r, part in zip(table(tmp, "zones.csv"), part_of) if "accelerator__reach" not in part]
    assert up_to_border and all(float(r["most_share"]) == 1 for r in up_to_border), way
    shares = [float(r["next_share"]) for r in up_to_border]
    if way["share"] in (fixed(0), fixed(1)):
        assert all(x == way["share"]["accelerator__share"] for x in shares), way
    if way["share"] == BY_WORK:
        assert max(shares) > 0.5, "the border has not moved from its start"

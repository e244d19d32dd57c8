# SPDX-License-Identifier: MIT
"""Load balancing of recorded loads, from Python: docs/python.md.

replay() balances a load series again, by load models, criteria and partitioners of the program or of one's own.
partition() and quality() look at one load field. run() starts the program, and open() reads its results.
"""
import collections
import os
import sys
import time

import numpy as np

from . import _core
from .results import Run, columns_of, open, run, texts_of

__all__ = ["Memory", "Replay", "Run", "open", "optimum", "partition", "quality", "replay", "run"]
Memory = _core.Memory
Cost = collections.namedtuple("Cost", "computing_seconds balancing_seconds balancings migrations")
Optimum = collections.namedtuple("Optimum", "seconds steps")


class Replay:
    """The result of replay(). names: of the contenders, the driver first. rows: the columns of balance.csv, by name.
    costs, lbe: of each contender, what it costs and its overall LBE. steps: of the opportunities, the first of which is
    the start. owners: of each contender that was watched, the process of each cell after each opportunity. speeds: of
    the processes, as found at last. optimum: seconds and steps of the best schedule. notes: sentences."""

    def __init__(self, found):
        vars(self).update(found)
        self.rows = columns_of(self.rows)
        self.costs = {name: Cost(*cost) for name, cost in zip(self.names, self.costs)}
        self.owners = dict(zip(self.names, self.owners))
        self.optimum = self.optimum and Optimum(*self.optimum)
        self.steps, self.speeds = np.array(self.steps), np.array(self.speeds)

    def __getitem__(self, name):
        """The columns of one contender."""
        return {column: values[self.rows["model"] == name] for column, values in self.rows.items()}

    def __repr__(self):
        lines = [f"{'':16}  overall LBE  balancings  migrations  computing, s  balancing, s"]
        for name, c in self.costs.items():
            lbe = f"{100 * self.lbe[name]:.1f} %" if name in self.lbe else "-"
            seconds = f"{c.computing_seconds:12.5g}  {c.balancing_seconds:12.5g}"
            lines.append(f"{name:16}  {lbe:>11}  {c.balancings:10}  {c.migrations:10}  {seconds}")
        return "\n".join(lines)


def replay(load, processes, *, particles=None, step=None, boundary=None, model=None, partition=None, criterion=None,
           compare=(), optimum=False, owners=False, deck="", settings=None, progress=None, **keys):  # fmt: skip
    """Balances a load series again, as the command `steelyard replay` does, and returns a Replay.

    load: array [t, ny, nx] or [t, nz, ny, nx], or the path of a load series, which has the next three too.
    particles: of each cell, as load.  step: of each entry, ascending.  boundary: a word for each axis, from x on.
    model, partition, criterion: of the driver, as in a deck, or objects (docs/python.md).
    compare: contenders, each a model or a dict of name, model, partition, criterion, criteria.
    optimum: also find the best schedule.  owners: keep the owners of all contenders, not of the driver alone.
    deck: path of a deck whose section balance counts.  settings: {"section.key": value}.
    progress: called with the numbers of opportunities done and of all.  keys: further ones of the section balance.
    """
    if isinstance(load, (str, os.PathLike)):
        load, particles, step, boundary = series_of(load)
    load = numbers(load, "load", (3, 4))
    particles = particles if particles is None else numbers(particles, "particles", (load.ndim,), load.shape)
    step = numbers(np.arange(len(load)) if step is None else step, "step", (1,), load.shape[:1])
    if not np.array_equal(step, np.floor(step)):
        raise ValueError("step: it holds no whole numbers; give the step of each entry")
    driver = dict(keys, processes=processes, model=model, partition=partition, criterion=criterion)
    driver = {key: value for key, value in driver.items() if value is not None}
    own, compared = [own_parts(driver)], []
    for entry in compare:
        compared.append(dict(entry) if isinstance(entry, dict) else {"model": entry})
        own.append(own_parts(compared[-1], own[0]))
        if "model" in own[0] and compared[-1] == {"model": "exact"}:  # a name that stands for the driver's own model
            own[-1]["name"] = own[-1].get("name", "exact")
        if "name" in own[-1]:
            compared[-1]["name"] = f"own.{len(compared)}"
    if "model" not in own[0]:
        own[0].pop("name", None)  # the driver has the name of its model
    words = texts_of({f"balance.{key}": value for key, value in driver.items()})
    words += texts_of(({"balance.compare": compared} if compared else {}) | (settings or {}))
    text = Run.text(deck) if deck else ""
    names = [parts["name"] for parts in own if "name" in parts]
    if len(set(names)) < len(names):
        raise ValueError(f"compare: of {', '.join(names)}, two are the same; give one a name")
    return Replay(
        _core.replay(
            lambda t: (doubles(load[t]), None if particles is None else doubles(particles[t])),
            step.astype(np.int64), grid_of(load[0], boundary), particles is not None, (text, str(deck), words),
            own, optimum, owners, progress or Line(),
        )
    )  # fmt: skip


def optimum(load, processes, partition=None, **keys):
    """Seconds and steps of the best schedule of balancings in hindsight, with the model `exact` and free cuts."""
    partition = {"kind": partition} if isinstance(partition, str) else partition or {}
    keys = {"model": "exact", "partition": {**partition, "sticky": False}, **keys}
    return replay(load, processes, optimum=True, **keys).optimum


def partition(load, parts, kind="chain", *, speeds=(), particles=None, boundary=None, memory=None, **options):
    """The part of each cell, an array like load ([ny, nx] or [nz, ny, nx]).

    speeds: of each part.  particles: of each cell, for max_particles_per_process.  options: as in a deck's section
    balance.partition.  memory: a Memory, kept from one call to the next, for sticky cuts.
    """
    load = numbers(load, "load", (2, 3))
    particles = particles if particles is None else numbers(particles, "particles", (load.ndim,), load.shape)
    entry = doubles(load), None if particles is None else doubles(particles)
    keys = {"processes": parts, "model": "exact", "partition": {"kind": kind, **options}}
    words = texts_of({f"balance.{key}": value for key, value in keys.items()})
    return _core.partition(entry, grid_of(load, boundary), words, speeds_of(speeds), memory or Memory())


def quality(load, owner, parts=None, *, speeds=(), before=None, particles=None, boundary=None):
    """Numbers on a partition: loads of the parts, their mean and maximum, LBE, imbalance (maximum over mean, less 1),
    and ghost cells. With the owners before: cells and particles that move. speeds: of each part; the LBE is then that
    of the times."""
    load, owner = numbers(load, "load", (2, 3)), np.asarray(owner)
    parts, grid = parts or int(owner.max(initial=0)) + 1, grid_of(load, boundary)
    found = {"ghost_cells": _core.ghosts(owner, grid, parts)}
    loads = np.bincount(owner.ravel(), weights=doubles(load).ravel(), minlength=parts)
    speed = np.array(speeds_of(speeds, parts) or np.ones(parts))
    times = loads * (speed.mean() / speed)
    lbe = loads.mean() / times.max() if times.max() > 0 else 1.0
    found |= {"loads": loads, "mean": loads.mean(), "largest": loads.max(), "lbe": lbe, "imbalance": 1 / lbe - 1}
    if before is not None:
        moved = owner != numbers(before, "before", (load.ndim,), load.shape)
        found["cells_moved"] = int(moved.sum())
        if particles is not None:
            found["particles_moved"] = int(numbers(particles, "particles", (load.ndim,), load.shape)[moved].sum())
    return found


def series_of(path):
    """The arrays load, particles, step and the words boundary of a load series; those that are missing are None."""
    import h5py  # not needed for arrays

    with h5py.File(path, "r") as file:
        if "load" not in file:
            raise ValueError(f"{path}: it holds no dataset /load; give a load series (docs/replay.md)")
        found = [file[name][()] if name in file else None for name in ("load", "particles", "step")]
        words = file.attrs.get("boundary")
    return *found, None if words is None else [w.decode() if isinstance(w, bytes) else w for w in words]


def numbers(values, name, axes, shape=None):
    """An array of real numbers, as it is."""
    values = np.asarray(values)
    if values.dtype.kind not in "buif":
        raise ValueError(f"{name}: it holds {values.dtype}; give real numbers")
    if values.ndim not in axes or 0 in values.shape:
        has = " or ".join(map(str, axes))
        raise ValueError(f"{name}: its shape is {values.shape}; give an array of {has} axes, none of them empty")
    if shape is not None and values.shape != shape:
        raise ValueError(f"{name}: its shape is {values.shape}, and that of load is {shape}; give the same")
    return values


def doubles(values):
    return np.ascontiguousarray(values, dtype=np.float64)


def speeds_of(speeds, parts=None):
    speeds = np.asarray(speeds, dtype=float)
    if not (np.isfinite(speeds) & (speeds > 0)).all() or speeds.size and parts not in (None, speeds.size):
        raise ValueError("speeds: they are not all > 0, or not as many as parts; give one for each part")
    return speeds.ravel().tolist()


def grid_of(field, boundary):
    words = ["wall"] * field.ndim if boundary is None else [str(word).strip() for word in boundary]
    if len(words) != field.ndim:
        raise ValueError(f"boundary: it has {len(words)} words for {field.ndim} axes; give one for each, from x on")
    flat = 3 - field.ndim
    periodic = [word == "periodic" for word in words] + [False] * flat
    return _core.Grid([*field.shape[::-1]] + [1] * flat, periodic, field.ndim)


def own_parts(entry, driver=None):
    """Takes objects out of a contender's options: {name, model, criterion, criterion_name, partition}, as far as given.
    An entry without a criterion or partitioner has the driver's."""
    own = {key: value for key, value in (driver or {}).items() if key.split("_")[0] not in (*entry, "name", "model")}
    names = []
    for key, method in (("model", "update"), ("criterion", "decide"), ("partition", "__call__")):
        value = entry.get(key)
        if key == "partition" and isinstance(value, str):
            entry[key] = {"kind": value}
        value = value() if isinstance(value, type) else value
        if isinstance(value, (str, dict)) or not (hasattr(value, method) or callable(value)):
            names += [value] if key == "model" else []
            continue
        name = str(getattr(value, "name", None) or getattr(value, "__name__", type(value).__name__))
        if key == "model" and not hasattr(value, method):
            raise ValueError(f"model: {name} has no method update(times, counts, owner); give it one (docs/python.md)")
        own |= {key: value, "name": name, "criterion_name": name} if key == "criterion" else {key: value, "name": name}
        names.append(name)
        del entry[key]
    if "name" in own:
        own["name"] = entry.get("name") or "/".join(map(str, names))
    if "model" in own:
        entry["model"] = "exact"
    return own


class Line:
    """Shows on a terminal how far a replay is."""

    shown = 0

    def __call__(self, done, of):
        if sys.stderr.isatty() and (done == of or time.monotonic() > self.shown + 0.2):
            self.shown = time.monotonic()
            print(f"\rsteelyard: {done} of {of} opportunities", end="\n" if done == of else "", file=sys.stderr)

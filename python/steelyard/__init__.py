# SPDX-License-Identifier: MIT
"""Load balancing of recorded loads, from Python: docs/python.md.

replay() balances a load series again, by load models, criteria and partitioners of the program or of one's own.
partition() and quality() look at one load field. run() starts the program, and open() reads its results.
"""
import collections
import os
import sys
import time
import types

import numpy as np

from . import _core
from .results import Run, columns_of, open, run, text_of, texts_of

__all__ = ["Memory", "Replay", "Run", "open", "optimum", "partition", "quality", "replay", "run"]
Memory = _core.Memory
Cost = collections.namedtuple("Cost", "computing_seconds balancing_seconds balancings migrations")
Optimum = collections.namedtuple("Optimum", "seconds steps")


class Replay:
    """The result of replay(). rows: the columns of balance.csv, by name. costs, lbe: of each contender, the driver
    first, what it costs and its overall LBE. steps: of the opportunities, the first of which is the start. owners: of
    each contender that was watched, the process of each cell after each opportunity. speeds: of the processes, as found
    at last. optimum: seconds and steps of the best schedule. notes: sentences."""

    def __init__(self, found, fields):
        vars(self).update(found)
        self.rows = columns_of(self.rows)
        self.costs = {name: Cost(*cost) for name, cost in self.costs.items()}
        self.owners = {name: fields.shaped(owners) for name, owners in zip(self.costs, self.owners)}
        self.optimum = self.optimum and Optimum(*self.optimum)
        self.steps, self.speeds = np.array(self.steps), np.array(self.speeds)

    def __getitem__(self, name):
        """The columns of one contender."""
        return {column: values[self.rows["model"] == name] for column, values in self.rows.items()}

    def __repr__(self):
        lines = [f"{'':16}  overall LBE  balancings  migrations  computing, s  balancing, s"]
        for name, (computing, balancing, *counts) in self.costs.items():
            lbe, (balancings, migrations) = 100 * self.lbe.get(name, np.nan), counts
            lines.append(f"{name:16}{lbe:11.1f} %{balancings:12}{migrations:12}{computing:14.5g}{balancing:14.5g}")
        return "\n".join(lines)


class Fields:
    """The shape of a load field, [ny, nx] or [nz, ny, nx]. In the library fields are flat, x slowest."""

    def __init__(self, shape, boundary):
        words = [str(word).strip() for word in (["wall"] * len(shape) if boundary is None else boundary)]
        if len(words) != len(shape):
            raise ValueError(f"boundary: {len(words)} words for {len(shape)} axes; give one for each, from x on")
        flat = 3 - len(shape)
        self.shape = shape
        self.grid = _core.Grid([*shape[::-1], 1][:3], [word == "periodic" for word in words] + [False] * flat, 3 - flat)

    def shaped(self, flat):
        axes = range(flat.ndim - 1)  # that come before the cells
        whole = flat.reshape(*flat.shape[:-1], *self.shape[::-1])
        return whole.transpose(*axes, *range(whole.ndim - 1, flat.ndim - 2, -1))

    def flat(self, field, dtype=float):
        return np.ascontiguousarray(np.transpose(field), dtype=dtype).ravel()

    def answer(self, who, found, kinds, most):
        """The values that a callable has returned."""
        found, whole = np.asarray(found), "numbers" if "f" in kinds else "whole numbers"
        if found.shape != self.shape or found.dtype.kind not in kinds:
            what = f"{found.dtype} of shape {found.shape}"
            raise ValueError(f"{who}: it returns {what}; return {whole} of shape {self.shape}")
        if not ((found >= 0) & (found <= most)).all():
            raise ValueError(f"{who}: it returns numbers that are not from 0 to {most:g}; return {whole} in this range")
        return self.flat(found, float if "f" in kinds else np.int32)

    def model(self, who, model, counted):
        def update(times, counts, owner):
            counts = self.shaped(counts) if counted else None
            return self.answer(f"{who}.update", model.update(times, counts, self.shaped(owner)), "iuf", 1e100)

        return update

    def partitioner(self, who, partition):
        def parts_of(load, parts, owner):
            return self.answer(who, partition(self.shaped(load), parts, self.shaped(owner)), "iu", parts - 1)

        return parts_of


def criterion_of(who, criterion):
    def decide(**now):
        answer = getattr(criterion, "decide", criterion)(types.SimpleNamespace(**now))
        if not isinstance(answer, (bool, np.bool_)):
            raise ValueError(f"{who}: it returns {type(answer).__name__}; return True or False")
        return bool(answer)

    return decide


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
    load, counted = numbers(load, "load", (3, 4)), particles is not None
    particles = numbers(particles, "particles", (load.ndim,), load.shape) if counted else None
    step = numbers(np.arange(len(load)) if step is None else step, "step", (1,), load.shape[:1])
    if (step != np.floor(step)).any() or (np.diff(step) <= 0).any() or step[0] < 0 or step[-1] > 1e15:
        raise ValueError("step: they are no whole numbers that ascend from 0 or more up to 10^15; give others")
    fields = Fields(load.shape[1:], boundary)
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
    text = text_of(deck) if deck else ""
    names = [parts["name"] for parts in own if "name" in parts]
    if len(set(names)) < len(names):
        raise ValueError(f"compare: of {', '.join(names)}, two are the same; give one a name")
    for parts in own:
        who = parts.get("name", "driver")
        if "model" in parts:
            parts["model"] = fields.model(who, parts["model"], counted)
        if "criterion" in parts:
            parts["criterion"] = criterion_of(who, parts["criterion"])
        if "partition" in parts:
            parts["partition"] = fields.partitioner(who, parts["partition"])

    def entry(t):
        return fields.flat(load[t]), fields.flat(particles[t]) if counted else None

    step, progress = step.astype(np.int64), progress or Line()
    found = _core.replay(entry, step, fields.grid, counted, text, str(deck), words, own, optimum, owners, progress)
    return Replay(found, fields)


def optimum(load, processes, partition=None, **keys):
    """Seconds and steps of the best schedule of balancings in hindsight, with the model `exact` and free cuts."""
    partition = {"kind": partition} if isinstance(partition, str) else partition or {}
    keys = {"model": "exact", "partition": {**partition, "sticky": False}, **keys}
    return replay(load, processes, optimum=True, **keys).optimum


def partition(load, parts, kind="chain", *, speeds=(), particles=None, boundary=None, memory=None, **options):
    """The part of each cell, an array like load ([ny, nx] or [nz, ny, nx]).

    load: numbers >= 0; whole ones are used as they are.  speeds: of each part.  particles: of each cell, for a limit.
    options: as in a deck's section balance.partition.  memory: a Memory, kept from call to call, for sticky cuts.
    """
    load = numbers(load, "load", (2, 3))
    counts = np.zeros(0, int) if particles is None else numbers(particles, "particles", (load.ndim,), load.shape)
    for name, values in ("load", load), ("particles", counts):
        if (
            not ((values >= 0) & (values < np.inf)).all()
            or values.dtype.kind in "iu"
            and values.sum(dtype=float) > 2**61
        ):
            raise ValueError(f"{name}: it holds negative, infinite or too large numbers; give numbers >= 0")
    if load.dtype.kind == "f":
        load = np.rint(load * (2.0**61 / load.size / max(load.max(), 1e-290)))
    fields = Fields(load.shape, boundary)
    keys = {"processes": parts, "model": "exact", "partition": {"kind": kind, **options}}
    words = texts_of({f"balance.{key}": value for key, value in keys.items()})
    flat, speeds = (fields.flat(load, int), fields.flat(counts, int)), speeds_of(speeds, parts)
    return fields.shaped(np.array(_core.partition(*flat, fields.grid, words, speeds, memory or Memory()), np.int32))


def quality(load, owner, parts=None, *, speeds=(), boundary=None):
    """Numbers on a partition: loads of the parts, their mean and maximum, LBE, imbalance (maximum over mean, less 1),
    and ghost cells. speeds: of each part; LBE and imbalance are then those of the times."""
    load, owner = numbers(load, "load", (2, 3)), np.asarray(owner)
    fields, parts = Fields(load.shape, boundary), parts or int(np.max(owner, initial=0)) + 1
    ghosts = _core.ghosts(fields.answer("owner", owner, "iu", parts - 1), fields.grid, parts)
    loads = np.bincount(owner.ravel(), weights=load.ravel(), minlength=parts)
    speed = np.array(speeds_of(speeds, parts) or np.ones(parts))
    slowest = (loads * (speed.mean() / speed)).max()
    lbe = loads.mean() / slowest if slowest > 0 else 1.0
    return dict(loads=loads, mean=loads.mean(), largest=loads.max(), lbe=lbe, imbalance=1 / lbe - 1, ghost_cells=ghosts)


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


def speeds_of(speeds, parts):
    speeds = np.asarray(speeds, dtype=float)
    if not (np.isfinite(speeds) & (speeds > 0)).all() or speeds.size not in (0, parts):
        raise ValueError("speeds: they are not all > 0, or not as many as parts; give one for each part")
    return speeds.ravel().tolist()


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
        own["name"] = entry.get("name") or "/".join(map(str, names[: 1 if driver is None else 3]))
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

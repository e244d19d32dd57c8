# SPDX-License-Identifier: MIT
"""Load balancing of recorded loads, from Python: docs/python.md.

replay() balances a load series again, by load models, criteria and partitioners of the program or of one's own.
partition() and quality() look at one load field. run() starts the program, and open() reads its results.
"""
import collections
import os
import pathlib
import sys

import numpy as np

from . import _core
from .fields import Fields, numbers, series_of, speeds_of
from .results import Run, columns_of, open, run, texts_of

__all__ = ["Memory", "Replay", "Run", "open", "optimum", "partition", "quality", "replay", "run"]
Memory = _core.Memory
Cost = collections.namedtuple(
    "Cost",
    "seconds computing_seconds balancing_seconds balancings migrations ghost_cells over_least over_least_error"
    " ghost_bytes",
)
Optimum = collections.namedtuple("Optimum", "seconds steps")


class Replay:
    """The result of replay(), with the attributes rows, costs, lbe, least_time, prices, owners, steps, speeds,
    optimum, notes."""

    def __init__(self, found, fields):
        vars(self).update(found, rows=columns_of(found["rows"]), steps=np.array(found["steps"]))
        self.costs = {name: Cost(*cost) for name, cost in self.costs.items()}
        self.owners = {name: fields.shaped(owners) for name, owners in zip(self.costs, self.owners)}
        self.optimum, self.speeds = self.optimum and Optimum(*self.optimum), np.array(self.speeds)

    def __getitem__(self, name):
        """The columns of one contender."""
        if name not in self.costs:
            raise KeyError(f"{name}: no such contender; there are {', '.join(self.costs)}")
        return {column: values[self.rows["model"] == name] for column, values in self.rows.items()}

    def __repr__(self):
        known = any(c.ghost_bytes for c in self.costs.values())
        ghosts = "ghost cells  ghost bytes" if known else "ghost cells"
        lines = [f"{'':16}  overall LBE  balancings  migrations  {ghosts}  computing, s  balancing, s"]
        for name, c in self.costs.items():
            lbe, counts = 100 * self.lbe.get(name, np.nan), f"{c.balancings:12}{c.migrations:12}{c.ghost_cells:13.0f}"
            counts += f"{c.ghost_bytes:13.5g}" if known else ""
            lines.append(f"{name:16}{lbe:11.1f} %{counts}{c.computing_seconds:14.5g}{c.balancing_seconds:14.5g}")
        return "\n".join([*lines, self.prices, self.least_time, *self.notes]).rstrip()


def replay(load, processes, *, particles=None, particles_ahead=None, bytes=None, step=None, boundary=None,
           model=None, partition=None, criterion=None, name="", compare=(), optimum=False, owners=False, deck="",
           settings=None, progress=None, **keys):  # fmt: skip
    """Balances a load series again, as the command `steelyard replay` does, and returns a Replay.

    load: array [t, ny, nx] or [t, nz, ny, nx], or the path of a load series, which has the next five too.
    particles, particles_ahead: of each cell, as load.  bytes: of each as a ghost cell.
    step: of each entry, ascending.
    boundary: a word for each axis, from x on.
    model, partition, criterion, name: of the driver, as in a deck, or objects.
    compare: models, or dicts of such options.
    optimum: also find the best schedule.  owners: keep those of all contenders.  deck: path of a deck for the defaults.
    settings: {"section.key": value}.  keys: of the section balance.  progress: called with opportunities done, and all.
    """
    if isinstance(load, (str, os.PathLike)):
        load, particles, particles_ahead, bytes, step, boundary = series_of(load)
    load = numbers(load, "load", axes=(3, 4))
    series = {"load": load, "particles": particles, "particles_ahead": particles_ahead, "bytes": bytes}
    series = {name: None if field is None else numbers(field, name, load.shape) for name, field in series.items()}
    step = np.arange(len(load)) if step is None else numbers(step, "step", load.shape[:1])
    if (step != np.floor(step)).any() or (np.diff(step) <= 0).any() or step[0] < 0 or step[-1] > 1e15:
        raise ValueError("step: they are no whole numbers that ascend from 0 or more up to 10^15; give others")
    fields = Fields(load.shape[1:], boundary, particles is not None)
    driver = dict(keys, processes=processes, model=model, partition=partition, criterion=criterion)
    driver = {key: value for key, value in driver.items() if value is not None}
    own, compared = [fields.own_parts(driver)], []
    for entry in [compare] if isinstance(compare, (str, dict)) else compare:
        compared.append(dict(entry) if isinstance(entry, dict) else {"model": entry})
        own.append(fields.own_parts(compared[-1], own[0]))
        if "model" in own[0] and compared[-1] == {"model": "exact"}:  # a name that stands for the driver's own model
            own[-1].setdefault("name", "exact")
        if "name" in own[-1]:
            compared[-1]["name"] = f"own.{len(compared)}"
    if "model" not in own[0]:
        own[0].pop("name", None)  # the driver has the name of its model
    own[0] |= {"name": name} if name else {}
    if optimum and not own[0].keys().isdisjoint(("model", "partition")):
        raise ValueError("optimum: it needs the model exact and a partition by name; leave it out")
    words = texts_of({f"balance.{key}": value for key, value in driver.items()})
    words += texts_of(({"balance.compare": compared} if compared else {}) | (settings or {}))

    def entry(t):
        return {name: fields.flat([] if field is None else field[t]) for name, field in series.items()}

    what = entry, step.astype(np.int64), fields.grid, fields.counted, particles_ahead is not None
    text = pathlib.Path(deck).read_text("utf-8") if deck else "", str(deck), words
    return Replay(checked(_core.replay, *what, *text, own, optimum, owners, progress or show), fields)


def optimum(load, processes, partition=None, **keys):
    """Seconds and steps of the best schedule of balancings in hindsight, with the model `exact` and free cuts. A fair
    rival is replay(..., model="exact", partition=dict(sticky=False))."""
    partition = partition if isinstance(partition, dict) else {"kind": partition or "chain"}
    keys = {"model": "exact", "partition": {**partition, "sticky": False}, **keys}
    return replay(load, processes, optimum=True, **keys).optimum


def partition(load, parts, kind="chain", *, speeds=(), particles=None, boundary=None, memory=None, **options):
    """The part of each cell, an array like load ([ny, nx] or [nz, ny, nx]). Whole loads are used as they are.

    speeds: of each part.  particles: of each cell, for a limit.  options: as in a deck's section balance.partition.
    memory: a Memory, kept from call to call, for sticky cuts.
    """
    load = numbers(load, "load", axes=(2, 3))
    counts = np.zeros(0, int) if particles is None else numbers(particles, "particles", load.shape)
    for name, values in ("load", load), ("particles", counts):
        if (
            not ((values >= 0) & (values < np.inf)).all()
            or values.dtype.kind != "f"
            and values.sum(dtype=float) > 2**61
        ):
            raise ValueError(f"{name}: it holds negative, infinite or too large numbers; give numbers >= 0")
    if load.dtype.kind == "f":
        load = np.rint(load * (2.0**61 / load.size / max(load.max(), 1e-290)))
    fields, options = Fields(load.shape, boundary), {"kind": kind, **options}
    words = texts_of({"balance.processes": parts, "balance.model": "exact", "balance.partition": options})
    flat = fields.flat(load, int), fields.flat(counts, int)
    return fields.shaped(
        checked(_core.partition, *flat, fields.grid, words, speeds_of(speeds, parts), memory or Memory())
    )


def quality(load, owner, parts=None, *, speeds=(), boundary=None):
    """Numbers on a partition: loads of the parts, their mean and maximum, LBE, imbalance (maximum over mean, less 1),
    and ghost cells. speeds: of each part; LBE and imbalance are then those of the times."""
    load, owner = numbers(load, "load", axes=(2, 3)), np.asarray(owner)
    fields, parts = Fields(load.shape, boundary), parts or int(np.max(owner, initial=0)) + 1
    ghosts = _core.ghosts(fields.answer("owner", owner, "iu", parts - 1), fields.grid, parts)
    loads = np.bincount(owner.ravel(), weights=load.ravel(), minlength=parts)
    speed = np.array(speeds_of(speeds, parts) or np.ones(parts))
    slowest = (loads * (speed.mean() / speed)).max()
    lbe = loads.mean() / slowest if slowest > 0 else 1.0
    return dict(loads=loads, mean=loads.mean(), largest=loads.max(), lbe=lbe, imbalance=1 / lbe - 1, ghost_cells=ghosts)


def checked(call, *arguments):
    """The library's answer. Its errors name options as the command line does, which nobody wrote here."""
    try:
        return call(*arguments)
    except _core.Error as e:
        raise ValueError(str(e).removeprefix("--set ")) from None


def show(done, of):
    """Shows on a terminal how far a replay is."""
    if sys.stderr.isatty() and 100 * done // of > 100 * (done - 1) // of:
        print(f"\rsteelyard: {done} of {of} opportunities", end="\n" if done == of else "", file=sys.stderr)

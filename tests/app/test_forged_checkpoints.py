# SPDX-License-Identifier: MIT
"""Checkpoints that somebody changed and gave a fitting digest: exit code 3, one line, nothing else. With --tool
(test_tool)."""
import functools
import os
import shutil
import subprocess
import tempfile
from pathlib import Path
from types import SimpleNamespace

import h5py
import numpy as np
import pytest

from program import COLLISIONS, DECK, QUICK, datasets, environment, fresh, ok_run, one_error, options, run, run_words
from program import two_slabs

SPACE_QUICK = two_slabs([30, 15, 15], [3, 3, 3], [14, 11, 11], [15.2, 4, 4], [27, 12, 12])  # some 1,300 particles
BALANCED = dict(balance__every=10, balance__clock="work", balance__processes=6, balance__migrate="always")
BALANCED |= dict(balance__compare="[a1, moving_average, {name: late, model: b1, criterion: boulmier}]")
BALANCED |= dict(balance__work__balancing=1)  # too dear for `late`
ZONED = dict(accelerator__backend="host", accelerator__controller="cpu_load")
HEATED, HEATED_LATER = (
    dict(system__thermostat=f"{{kind: langevin, temperature: 1, every: 2, from: {step}}}") for step in (10, 30)
)
KEPT = dict(balance__every=10, balance__clock="work", balance__processes=4, balance__model="moving_average")
KEPT |= dict(balance__criterion="every", balance__compare="[{name: kept, model: moving_average, criterion: never}]")


@functools.cache
def checkpoint(dimensions=2, ranks=2, steps=40, **keys):
    """A checkpoint of a run with these keys: its folder, path, and keys of a restart."""
    folder = tempfile.TemporaryDirectory()
    deck, small = {2: (DECK, QUICK), 3: (COLLISIONS[3].deck, SPACE_QUICK)}[dimensions]
    keys = dict(deck=deck, checkpoint__every=steps, **small, **keys)
    out = Path(folder.name) / "out"
    ok_run(out, ranks=ranks, run__steps=steps, **keys)
    path = out / f"checkpoint_{steps}.h5"
    return SimpleNamespace(keep=folder, out=out, path=path, keys=keys | dict(run__steps=steps + 20), d=dimensions)


def sealed(base, folder, changes):
    """Copies of the checkpoint, one for each change, with digests that fit; all are sealed in one start."""
    paths = [folder / f"forged_{i}.h5" for i in range(len(changes))]
    for path, change in zip(paths, changes):
        shutil.copy(base.path, path)
        with h5py.File(path, "r+") as f:
            change(f)
    assert subprocess.run([options.tool, "seal", *paths], env=environment()).returncode == 0
    return paths


def refused(base, folder, forgeries, says=()):
    """A restart from each forgery (a change by its name) is refused on one to three ranks, and writes nothing."""
    for i, path in enumerate(sealed(base, folder, list(forgeries.values()))):
        ranks, out = 1 + i % 3, fresh(folder / "again")
        code, text = run(ranks, *run_words(out, restart=path, **base.keys))
        one_error(code, text, 3, says, alone=False, what=f"{list(forgeries)[i]}, on {ranks} ranks")
        assert not out.exists()


def element(name, index, value):
    return lambda f: f[name].__setitem__(index, value)


def whole(name, values):
    def change(f):
        kind = f[name].dtype
        del f[name]
        f.create_dataset(name, data=np.array(values, dtype=kind))

    return change


def in_plane_and_space(*names):
    """Parameters (dimensions, name) with the groups' marks."""
    groups = {2: pytest.mark.group("hostile"), 3: pytest.mark.group("hostile_space")}
    return pytest.mark.parametrize(
        "dimensions, name", [pytest.param(d, n, marks=groups[d]) for d in groups for n in names[0 if d == 2 else -1]]
    )


PLACES = ["balance/r1/boxes", "balance/r1/first", "balance/r1/splits", "balance/r1/state"]
NUMBERS = [*PLACES, "balance/r1/memory", "balance/r1/record", "balance/a1/memory", "balance/a1/state"]
NUMBERS += ["balance/moving_average/state", "balance/speeds/found", "balance/speeds/reference", "balance/step"]
NUMBERS += ["exact/clock", "exact/energies", "exact/lineage"]


@in_plane_and_space(NUMBERS, PLACES)
def test_datasets(tmp, dimensions, name):
    """Each dataset empty, short, missing, or with a number that is negative, huge or none."""
    base = checkpoint(dimensions, **BALANCED)
    values = datasets(base.path, name)[name]
    forgeries = {}
    if name != "balance/r1/splits":  # nothing is remembered where the kind of the partition has changed
        forgeries["empty"] = whole(name, [])
    if name != "balance/step":
        forgeries["short"] = whole(name, values[:-1])
    if name != "exact/lineage":  # restarts/strip_t1.h5 has none
        forgeries["missing"] = lambda f: f.__delitem__(name)
    wrong = dict(negative=-5, huge=2**31 - 1 if "boxes" in name else 2**62)
    if values.dtype.kind == "f":
        wrong = dict(negative=-5, huge=1e300, NaN=np.nan)
    for what, value in wrong.items():
        index = len(values) // 2
        if name == "exact/lineage":
            index = 1  # a step; identities may have any value
        elif name in ("balance/r1/splits", "exact/energies"):
            index = 0 if what == "huge" else 1
        forgeries[what] = element(name, index, value)
    refused(base, tmp, forgeries)


def of_the_balancing(base, f):
    """Numbers that are in range one by one, but not beside each other."""
    boxes, first, step = f["balance/r1/boxes"][:], f["balance/r1/first"][:], "particles/all/position/step"
    one, other = (slice(n * 2 * base.d, (n + 1) * 2 * base.d) for n in (0, 1))  # a box: its two corners
    return {
        "a mean before the first update that leaves the rest above its maximum": element("balance/r1/record", 8, 1e-9),
        "a mean that is less than a sixth of the maximum": element("balance/r1/record", 1, 1.0),
        "loads of a step to come": element("balance/r1/record", 7, 41),
        "half an update": element("balance/r1/record", 10, 0.5),
        "the largest kinetic energy": element("exact/energies", 1, 1e300),
        "boxes that overlap": element("balance/r1/boxes", one, boxes[other]),
        "a box beyond the grid": element("balance/r1/boxes", 2 * base.d - 1, 1000),
        "processes that share boxes": element("balance/r1/first", 1, first[2] + 1),
        "another step than its front": element(step, 0, 39),
    }


def of_particles_outside(base, f):
    beyond = {a: element("exact/state", (3, a), -1 if a == 0 else 2**62) for a in range(base.d)}
    length = f["particles/all/box/edges/value"][-1, 0, 0] * 2.0**40
    return beyond | {"the first place outside": element("exact/state", (3, 0), int(length))}


def of_fast_particles(base, f):
    return {a: element("exact/state", (3, base.d + a), -(2**63)) for a in range(base.d)}


def of_criteria(base, f):
    name = "balance/late/criterion"
    steps, waited = f[name][:]
    assert steps == 40 and waited > 0, "what a criterion remembers"
    return {"half": whole(name, [steps])} | {v: element(name, 1, v) for v in (np.nan, np.inf, -1e31)}


def of_links(base, f):
    """To other names and files."""

    def link(name, to):
        def change(f):
            if name in f:
                f.move(name, "moved")
            f[name] = to

        return change

    other = str(shutil.copy(base.path, base.out.parent / "other.h5"))
    to_others = {n: link(n, h5py.ExternalLink(other, f"/{n}")) for n in ("exact/id", "exact", "balance")}
    return to_others | {"soft": link("exact/id", h5py.SoftLink("/moved"))}


SAYS = {of_fast_particles: "faster than anything", of_criteria: "late/criterion"}
KINDS = [of_the_balancing, of_particles_outside, of_fast_particles, of_criteria, of_links]


@in_plane_and_space(KINDS)
def test_relations(tmp, dimensions, name):
    base = checkpoint(dimensions, **BALANCED)
    with h5py.File(base.path) as f:
        forgeries = name(base, f)
    refused(base, tmp, forgeries, SAYS.get(name, ()))


@in_plane_and_space([BALANCED])
def test_unchanged(tmp, dimensions, name):
    """A checkpoint that was only sealed anew is no forgery."""
    base = checkpoint(dimensions, **name)
    (path,) = sealed(base, tmp, [lambda f: None])
    ok_run(tmp / "again", ranks=2, restart=path, **base.keys)


@in_plane_and_space([2, 3, 5, 9, 11, 23])
def test_controllers_of_accelerators(tmp, dimensions, name):
    """A checkpoint holds of each rank the share of its accelerators, a count, and ten numbers."""
    base = checkpoint(dimensions, **ZONED)
    with h5py.File(base.path) as f:
        assert list(f["zones/of_ranks"][[1, 13]]) == [10, 10]
    values = [np.nan, 1e300] + ([-1] if name in (3, 9, 11) else [])
    refused(base, tmp, {v: element("zones/of_ranks", name, v) for v in values}, "/zones")


@in_plane_and_space([BALANCED])
def test_pipe_beside_a_checkpoint(tmp, dimensions, name):
    base = checkpoint(dimensions, **name)
    out = shutil.copytree(base.out, tmp / "out")
    os.mkfifo(out / "checkpoint_50.h5")
    assert "warning" in ok_run(out, ranks=2, restart="auto", **base.keys)


@pytest.mark.group("hostile")
def test_energies(tmp):
    """Energies so far that the particles of a checkpoint cannot have, or that nothing has given them."""
    base = checkpoint(ranks=1, steps=20, **HEATED)
    (path,) = sealed(base, tmp, [element("exact/energies", 0, -1000)])
    ok_run(tmp / "true", restart=path, **base.keys)
    values = [(i, v) for i in range(4) for v in (2**62, -(2**62))]
    values += [(slice(0, 2), [1, 0])]  # halves that are swapped
    values += [(3, 1)]  # work, and no face moves
    forgeries = {f"given {index}: {value}": element("exact/given", index, value) for index, value in values}
    forgeries["energies"] = element("exact/energies", 0, 1e12)
    refused(base, tmp, forgeries, "no sense")


def test_heat_before_the_thermostat_acts(tmp):
    base = checkpoint(ranks=1, steps=20, **HEATED_LATER)
    refused(base, tmp, dict(heat=element("exact/given", 1, 1)))


def test_state_and_what_was_spent(tmp):
    """A cell without a state where all have one; seconds of processes that are none."""
    base, state, spent = checkpoint(ranks=1, **KEPT), "balance/moving_average/state", "balance/kept/spent"
    forgeries = {v: element(spent, 3, v) for v in (-1, float("nan"), 1e300)}
    refused(base, tmp, forgeries | dict(state=element(state, 3, -1)))


def test_choice(tmp):
    """A choice that no run can have made, and ratings that are no numbers."""
    base = checkpoint(balance="auto", balance__every=10, balance__clock="work", balance__processes=6)
    forgeries = {(i, v): element("balance/choice/chosen", i, v) for i, v in ((0, 9), (1, -1), (2, 4), (3, 0))}
    forgeries |= {v: element("balance/choice/compact/rating", 0, v) for v in (-1, np.nan, 1e300)}
    refused(base, tmp, forgeries | dict(short=whole("balance/choice/rcb/boxes", [0])), "balance/choice")

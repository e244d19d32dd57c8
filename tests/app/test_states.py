# SPDX-License-Identifier: MIT
"""States from files, and back. Each format gives the same state, on any ranks. An error of a file is reported in one
line. A restart needs no file. LAMMPS computes the same forces and energies, and goes on from our states. Groups:
formats h5md boxes hostile restarts convert lammps."""
import os
import re
import shutil
import subprocess
import sys

import h5py
import numpy as np
import pytest

from program import HANG_SECONDS, COLLISIONS, SOURCE, command, environment, fresh, hash_of, run, settings, summary

sys.path.append(os.path.join(SOURCE, "scripts"))
from export_lammps import read_state, write_data  # noqa: E402

DECK = """system:
  from: {{file: {file}}}
run: {{dt: 0.0005, steps: 20}}
output: {{every: 10}}
"""


def made(tmp, dimensions, step=40):
    """A state of a small collision: its directory, and the path of its checkpoint."""
    c = COLLISIONS[dimensions]
    out = os.path.join(tmp, f"made{dimensions}")
    keys = c.small | dict(
        run__steps=step, output__every=step, checkpoint__every=step, output__trajectory_every=step // 2
    )
    code, text = run(0, "run", c.deck, "--out", out, "--quiet", *settings(**keys))
    assert code == 0, text
    return out, os.path.join(out, f"checkpoint_{step}.h5")


def deck_of(tmp, file, name="deck.yaml", more=""):
    path = os.path.join(tmp, name)
    with open(path, "w") as f:
        f.write(DECK.format(file=file) + more)
    return path


def started(tmp, file, ranks=0, **keys):
    """The hash of the state that a run of no steps starts from."""
    out = fresh(os.path.join(tmp, "started"))
    keys = dict(run__steps=0) | keys
    code, text = run(ranks, "run", deck_of(tmp, file), "--out", out, "--quiet", *settings(**keys))
    assert code == 0, text
    return hash_of(out)


def write_h5md(path, ids, x, v, box, *, timed=False, matrix=False, frames=1, kind="f8", offset=None, chunks=None):
    """As other writers do it: elements that are fixed or have frames, chunked and compressed or not."""
    with h5py.File(path, "w") as f:
        g = f.create_group("particles/atoms")
        g.create_group("box").attrs["dimension"] = x.shape[1]

        def put(name, value, still=False):
            options = dict(chunks=chunks, compression="gzip") if chunks and value.ndim == 2 and not timed else {}
            if timed and not still:
                g[name + "/value"] = np.stack([value * 0.5] * (frames - 1) + [value])
                g[name + "/step"] = np.arange(frames)
            else:
                g.create_dataset(name, data=value, **options)

        put("position", (x if offset is None else x + offset).astype(kind))
        put("velocity", v.astype(kind))
        put("id", ids, still=True)
        put("box/edges", np.diag(box) if matrix else np.array(box), still=not matrix)
        if offset is not None:
            put("box/offset", np.array(offset), still=True)


def write_dump(path, ids, x, v, box, *, frames=1, columns="id type x y z vx vy vz", order=None, ending="\n"):
    values = {"id": ids, "type": np.ones_like(ids)}
    for a, axis in enumerate("xyz"):
        values |= {
            axis: x[:, a],
            axis + "u": x[:, a] + (-2, 3, 0)[a] * box[a],
            axis + "s": x[:, a] / box[a],
            "v" + axis: v[:, a],
        }
    values["q"] = x[:, 0]
    order = range(len(ids)) if order is None else order
    names = columns.split()
    with open(path, "w", newline="") as f:
        for frame in range(frames):
            lines = ["ITEM: TIMESTEP", str(frame), "ITEM: NUMBER OF ATOMS", str(len(ids)), "ITEM: BOX BOUNDS pp pp pp"]
            lines += [f"0 {length:.17g}" for length in box] + [f"ITEM: ATOMS {columns} "]
            scale = 1 if frame == frames - 1 else 0.5
            for i in order:
                lines.append(
                    " ".join(
                        str(values[n][i]) if n in ("id", "type") else f"{values[n][i] * scale:.17g}" for n in names
                    )
                )
            f.write(ending.join(lines) + ending)


@pytest.mark.group("formats")
@pytest.mark.parametrize("dimensions", [2, 3])
def test_formats(tmp, dimensions):
    """A state as checkpoint, trajectory, H5MD of another writer, LAMMPS data and dump: one hash, that of the run."""
    out, checkpoint = made(tmp, dimensions)
    state = read_state(checkpoint)
    ids, x, v, box, found = state
    assert found == dimensions
    expected = hash_of(out)
    other = lambda name: os.path.join(tmp, name)  # noqa: E731
    shuffled = np.random.default_rng(1).permutation(len(ids))
    mixed = [a[shuffled] for a in (ids, x, v)]
    write_h5md(other("fixed.h5"), ids, x, v, box, chunks=(1000, 3))
    write_h5md(other("timed.h5"), *mixed, box, timed=True, matrix=True, frames=3)
    write_dump(other("plain.dump"), ids, x, v, box)
    write_dump(other("mixed.dump"), *mixed, box, frames=3, columns="vy vx vz q type id z x y", ending="\r\n")
    for file in (checkpoint, os.path.join(out, "trajectory.h5"), "fixed.h5", "timed.h5", "plain.dump", "mixed.dump"):
        assert started(tmp, other(file)) == expected, file
    if dimensions == 2:  # a flat file of its own two dimensions
        write_h5md(other("flat.h5"), ids, x[:, :2], v[:, :2], box[:2])
        assert started(tmp, other("flat.h5")) == expected
    # LAMMPS has no id 0: what is written is another state, the same in both of its formats.
    write_data(other("data.lmp"), *state)
    write_dump(other("ids.dump"), ids + 1, x, v, box)
    with open(other("data.lmp")) as f:
        text = f.read()
    atoms, velocities = text.split("Atoms # atomic\n\n")[1].split("\nVelocities\n\n")
    backwards = "".join(reversed(velocities.splitlines(keepends=True)))
    flags = "".join(line + " 0 -1 0\n" for line in atoms.splitlines())
    with open(other("mixed.lmp"), "w") as f:
        f.write(text.split("Atoms # atomic")[0] + "Pair Coeffs # lj/cut\n\n1 1 1\n\nAtoms\n\n" + flags)
        f.write("\nVelocities\n\n" + backwards)
    hashes = {started(tmp, other(file)) for file in ("data.lmp", "ids.dump", "mixed.lmp")}
    assert len(hashes) == 1 and hashes != {expected}
    for ranks in (1, 2, 3, 4, 7):
        assert started(tmp, checkpoint, ranks) == expected, ranks
        assert {started(tmp, other("mixed.lmp"), ranks)} == hashes, ranks
    for file in ("timed.h5", "mixed.dump"):
        assert started(tmp, other(file), 3) == expected, file


@pytest.mark.group("formats")
def test_frames_ids_and_trajectories(tmp):
    """A frame is that of its number; ids may be any, and a trajectory of them is in their order on any ranks."""
    out, checkpoint = made(tmp, 2)
    ids, x, v, box, _ = read_state(checkpoint)
    trajectory = os.path.join(out, "trajectory.h5")
    first = started(tmp, trajectory, system__from__frame=1)
    assert first != hash_of(out) == started(tmp, trajectory, system__from__frame=2)
    write_dump(os.path.join(tmp, "s.dump"), *read_state(trajectory, 1)[:3], box, frames=1)
    assert started(tmp, os.path.join(tmp, "s.dump"), system__from__frame=0) == first
    # Elements with other frames than the positions are taken at the positions' step.
    at_others = os.path.join(tmp, "at_others.h5")
    write_h5md(at_others, ids, x, v, box)
    with h5py.File(at_others, "a") as f:
        g = f["particles/atoms"]
        for name, steps, values in (
            ("position", [0, 10, 20], [x / 2, x, x]),
            ("velocity", [5, 10, 20, 40], [v * 2, v, -v, v]),
        ):
            del g[name]
            g[name + "/value"], g[name + "/step"] = np.stack(values), steps
    assert started(tmp, at_others, system__from__frame=1) == hash_of(out) != started(tmp, at_others)
    refused(tmp, at_others, "velocity has no frame of the step of frame 0 of the positions", system__from__frame=0)
    far = np.random.default_rng(2).permutation(len(ids)) * 1_000_003 + 5
    write_h5md(os.path.join(tmp, "far.h5"), far, x, v, box)
    seen = []
    for ranks in (1, 3):
        where = fresh(os.path.join(tmp, "far"))
        keys = dict(output__trajectory_every=10)
        code, text = run(
            ranks, "run", deck_of(tmp, os.path.join(tmp, "far.h5")), "--out", where, "--quiet", *settings(**keys)
        )
        assert code == 0, text
        with h5py.File(os.path.join(where, "trajectory.h5")) as f:
            g = f["particles/all"]
            seen.append([g["id"][:], g["position/value"][:], g["velocity/value"][:]])
    assert all(np.array_equal(a, b) for a, b in zip(*seen))
    order = np.argsort(far)
    assert np.array_equal(seen[0][0], far[order]) and np.array_equal(seen[0][1][0], x[order])


# H5MD files of four particles. The values tell frames apart: all velocities of frame k are k + 1, and its box is 7 + k.
# The command check prints both, as the largest speed and the box.
X = np.array([[0.5, 0.5, 0.5], [3.5, 0.5, 0.5], [0.5, 3.6, 0.5], [3.5, 3.5, 3.4]])
POSITIONS = np.stack([X, X + 0.01, X + 0.02])
VELOCITIES = np.stack([np.eye(4, 3, -1) * (k + 1) for k in range(3)])
EDGES = np.array([[7.0] * 3, [8.0] * 3, [9.0] * 3])
MATRICES = np.stack([np.diag(e) for e in EDGES])
STEPS = [0, 10, 20]
FIXED = {"position": X, "velocity": VELOCITIES[0], "box/edges": EDGES[0]}


def every(step, offset=None):
    """A scalar step, with the attribute offset."""
    return lambda g: [g.create_dataset("step", data=step)] + (
        [g["step"].attrs.create("offset", offset)] if offset else []
    )


def frames(position=STEPS, velocity=STEPS, **more):
    """Elements of three frames at their steps."""
    return {"position": (POSITIONS, position), "velocity": (VELOCITIES, velocity), "box/edges": EDGES[0]} | more


def write_elements(path, elements, group="all", attributes=()):
    """elements: name to a dataset, or to value and steps, which are a list, every(), or None."""
    with h5py.File(path, "a") as f:
        g = f.require_group("particles").create_group(group)
        g.require_group("box").attrs["dimension"] = 3
        for name, element in elements.items():
            if isinstance(element, tuple):
                inner = g.create_group(name)
                inner["value"] = element[0]
                if callable(element[1]):
                    element[1](inner)
                elif element[1] is not None:
                    inner["step"] = element[1]
            else:
                g[name] = element
        for name, key, value in attributes:
            (f[name] if name.startswith("/") else g[name]).attrs[key] = value


def checked(file, **keys):
    """Exit code, largest speed, length of the box, and standard error."""
    deck = deck_of(os.path.dirname(file), file)
    keys = {f"system__from__{k}": v for k, v in keys.items()}
    done = subprocess.run(
        command(0, "check", deck, *settings(**keys)),
        env=environment(),
        capture_output=True,
        text=True,
        timeout=HANG_SECONDS,
    )
    speed, box = (re.search(pattern, done.stdout) for pattern in (r"fastest: ([\d.]+)", r"  box: \[([\d.]+)"))
    return done.returncode, float(speed[1]) if speed else None, float(box[1]) if box else None, done.stderr


IDS = np.arange(4)
TAKEN = {  # the deck's frame, the speed and the box that are found
    "species_once": (frames(species=(np.ones((1, 4), int), [0])), None, 3, 7),
    "id_once": (frames(id=(IDS[None], [0])), 1, 2, 7),
    "box_once": (frames(**{"box/edges": (EDGES[:1], [0])}), None, 3, 7),
    "mass_once": (frames(mass=(np.ones((1, 4)), [0])), None, 3, 7),
    "no_step": (frames(id=(np.stack([IDS] * 3), None)), None, 3, 7),
    "velocity_no_step": (frames(velocity=None), 1, 2, 7),
    "positions_no_step": (frames(position=None), 1, 2, 7),
    "box_no_step": (frames(**{"box/edges": (MATRICES, None)}), 2, 3, 9),
    "box_lengths_no_step": (frames(**{"box/edges": (EDGES, None)}), 1, 2, 8),
    "box_in_a_group": (frames(every(10), every(10), **{"box/edges": (EDGES[0], every(0))}), 0, 1, 7),
    "matrix_in_a_group": (frames(**{"box/edges": (MATRICES[1], every(0))}), 0, 1, 8),
    "box_scalar": (frames([510, 520, 530], [510, 520, 530], **{"box/edges": (EDGES, every(10, 500))}), 0, 1, 8),
    "offset": (frames(every(10, 500), [500, 510, 520]), 2, 3, 7),
    "two_offsets": (frames(every(10, 1000), every(10, 990)), 0, 2, 7),
    "list_and_scalar": (frames([500, 505, 510], every(10, 500)), 2, 2, 7),
    "all_at_one_step": (frames(every(0), every(0)), 1, 2, 7),
    "linked_steps": (frames(velocity=h5py.SoftLink("/particles/all/position/step")), 1, 2, 7),
    "float_steps": (frames([0.0, 10.0, 20.0]), 1, 2, 7),
    "float_ids": (FIXED | {"id": IDS + 1.0}, None, 1, 7),
    "one_for_all": (FIXED | {"species": 29, "mass": [1.0]}, None, 1, 7),
    "still_groups": (FIXED | {"position": (X, every(10)), "velocity": (VELOCITIES[0], [10])}, None, 1, 7),
    "one_frame": ({"position": X, "velocity": (VELOCITIES[:1], [5]), "box/edges": EDGES[0]}, None, 1, 7),
    "no_charge": (FIXED | {"charge": np.zeros(4)}, None, 1, 7),
}
NOTED = {  # and what is noted
    "box_rarely": (frames(**{"box/edges": (EDGES[:2], [0, 15])}), 2, 3, 8, "edges is not written at step 20; .* 15"),
    "charge": (FIXED | {"charge": np.array([0, 0, 0, 1])}, None, 1, 7, "the charges of .* are not used"),
    "momentum": ({"position": X, "momentum": X, "box/edges": EDGES[0]}, None, 0, 7, "no velocity: .* start at rest"),
    "others": (FIXED | {"dipole": X, "name": 1}, None, 1, 7, "dipole, name of /particles/all not used"),
    "velocity_fixed": (frames() | {"velocity": VELOCITIES[1]}, 0, 2, 7, "velocity is the same in all frames"),
}
REFUSED = {  # the deck's frame, and why
    "mass_40": (FIXED | {"mass": np.full(4, 40)}, None, "particles of mass 40"),
    "mass_mixed": (FIXED | {"mass": [1, 1, 1, 9]}, None, "particles of mass 9"),
    "mass_for_all": (FIXED | {"mass": 39.9}, None, "particles of mass 39.9"),
    "mass_at_last": (frames(mass=(np.array([[1] * 4, [1] * 4, [40] * 4]), STEPS)), None, "particles of mass 40"),
    "mass_nan": (FIXED | {"mass": [1, 1, np.nan, 1]}, None, "particles of mass nan"),
    "species": (frames(species=(np.array([[1, 1, 1, 2]]), [0])), 1, "particles of species 1 and 2"),
    "species_shape": (FIXED | {"species": [1, 1]}, None, r"species has the shape \[2\]"),
    "ids": (FIXED | {"id": IDS + 0.5}, None, "id holds 0.5, which is no whole number"),
    "no_velocity": (frames(velocity=[0, 10, 30]), None, "velocity has no frame .* 20; name frame: 1 beside"),
    "never": (frames(velocity=[1, 2, 3]), None, "velocity has no frame of .* 20; remove /particles/all/velocity"),
    "other_offset": (frames(every(10, 10)), 2, "velocity has no frame of .* 2 of the positions, 30; name frame: 1"),
    "too_late": (frames(id=(IDS[None], [15])), 1, "id has no frame of .*, 10; name frame: 2 beside the file"),
    "velocity_once": (frames() | {"velocity": (VELOCITIES[0], every(5))}, 1, "velocity has no frame of the step"),
    "still_at_others": (FIXED | {"position": (X, every(10)), "velocity": (X, every(5))}, 0, "velocity has no frame of"),
    "frame_of_others": (FIXED | {"position": (X, every(10)), "velocity": (VELOCITIES[:1], [5])}, 0, "velocity has no"),
    "no_steps": (
        frames() | {"velocity": (VELOCITIES[:2], None)},
        1,
        "has 2 frames, the positions 3 frames, and not both",
    ),
    "dead_steps": (frames(velocity=h5py.SoftLink("/nowhere")), 1, "velocity/step is a link to another place"),
    "empty_steps": (frames(velocity=np.zeros(0, int)), 0, "velocity/step is no list of steps"),
    "few_steps": (frames([0, 10]), None, "position/step holds 2 steps, and the positions 3 frames; name frame: 1"),
    "half_step": (frames([0, 10.5, 20]), 1, "step holds 10.5, which is no whole number"),
    "far_step": (frames(every(2**62), every(3)), None, "gives frame 2 a step beyond"),
    "tilted": (frames(**{"box/edges": (MATRICES[0] + np.eye(3, k=1), every(0))}), 0, "its box is triclinic"),
    "bonds": (FIXED | {"/connectivity/bonds": np.array([[0, 1]])}, None, "bonds holds bonds, and particles here"),
    "exact": (FIXED | {"/exact/id": IDS, "/exact/state": np.zeros((4, 6))}, None, "its /exact holds no whole numbers"),
}
UNITS = [("position", "nm"), ("velocity", "Angstrom ps-1"), ("box/edges", "nm"), ("position", "?")]


@pytest.mark.group("h5md")
@pytest.mark.parametrize("name", TAKEN)
def test_h5md_taken(tmp, name):
    """Elements of any steps are taken at the step of the positions' frame, without a word."""
    elements, frame, speed, box = TAKEN[name]
    write_elements(os.path.join(tmp, "state.h5"), elements)
    keys = {} if frame is None else dict(frame=frame)
    assert checked(os.path.join(tmp, "state.h5"), **keys) == (0, speed, box, "")


@pytest.mark.group("h5md")
@pytest.mark.parametrize("name", NOTED)
def test_h5md_noted(tmp, name):
    """One line names the unused parts of a file."""
    elements, frame, speed, box, note = NOTED[name]
    write_elements(os.path.join(tmp, "state.h5"), elements)
    *found, text = checked(os.path.join(tmp, "state.h5"), **({} if frame is None else dict(frame=frame)))
    assert found == [0, speed, box] and text.count("\n") == 1, (found, text)
    assert re.match(f"steelyard: note: {tmp}/state.h5: .*{note}", text), text


@pytest.mark.group("h5md")
@pytest.mark.parametrize("name", REFUSED)
def test_h5md_refused(tmp, name):
    """Settings without a meaning, or without effect on this file, are refused, with their place and a remedy."""
    elements, frame, why = REFUSED[name]
    write_elements(os.path.join(tmp, "state.h5"), elements)
    code, _, _, text = checked(os.path.join(tmp, "state.h5"), **({} if frame is None else dict(frame=frame)))
    assert code == 3 and text.count("\n") == 1 and "; " in text and re.search(why, text), (code, text)


@pytest.mark.group("h5md")
@pytest.mark.parametrize("name, unit", UNITS)
def test_h5md_units(tmp, name, unit):
    """Units that are no reduced ones are refused, wherever they stand."""
    write_elements(os.path.join(tmp, "state.h5"), FIXED, attributes=[(name, "unit", unit)])
    code, _, _, text = checked(os.path.join(tmp, "state.h5"))
    assert code == 3 and f"{name} has the unit {unit}, and numbers here are in units of sigma" in text, text


@pytest.mark.group("h5md")
def test_h5md_reduced_units(tmp):
    """Reduced units may be named."""
    units = [("position", "unit", "sigma"), ("velocity", "unit", np.bytes_("sigma tau-1")), ("box/edges", "unit", "1")]
    write_elements(os.path.join(tmp, "state.h5"), FIXED, attributes=units)
    assert checked(os.path.join(tmp, "state.h5")) == (0, 1, 7, "")


@pytest.mark.group("h5md")
def test_h5md_groups(tmp):
    """If there are several groups, the deck names one."""
    file = os.path.join(tmp, "state.h5")
    write_elements(file, FIXED, "fluid")
    write_elements(file, FIXED | {"velocity": VELOCITIES[2]}, "probe")
    code, _, _, text = checked(file)
    assert code == 3 and "holds the groups fluid, probe; name one beside the file, as in group: fluid" in text, text
    assert [checked(file, group=g) for g in ("fluid", "probe")] == [(0, 1, 7, ""), (0, 3, 7, "")]
    code, _, _, text = checked(file, group="solid")
    assert code == 3 and "holds no group solid, but fluid, probe; name one of these" in text, text


@pytest.mark.group("h5md")
def test_h5md_layouts(tmp):
    """The signature stands behind a user block of any size, and a filter that HDF5 lacks is named."""
    for size in (512, 1024, 4096):
        file = os.path.join(tmp, f"{size}.h5")
        h5py.File(file, "w", userblock_size=size).close()
        write_elements(file, FIXED)
        assert checked(file) == (0, 1, 7, ""), size
    file = os.path.join(tmp, "lzf.h5")
    write_elements(file, {k: v for k, v in FIXED.items() if k != "velocity"})
    with h5py.File(file, "a") as f:
        f["particles/all"].create_dataset("velocity", data=np.zeros((4, 3)), chunks=(4, 3), compression="lzf")
    code, _, _, text = checked(file)
    assert code == 3 and re.search("velocity is compressed by .*lzf.*, which .* lacks; ", text), text


@pytest.mark.group("boxes")
def test_boxes(tmp):
    """Offsets, unwrapped and scaled coordinates, faces of the box, longer boxes, single precision, no velocities."""
    rng = np.random.default_rng(3)
    grid = np.stack(np.meshgrid(*[np.arange(8) * 1.25 + 0.25] * 3, indexing="ij"), axis=-1).reshape(-1, 3)
    x, ids, box = grid, np.arange(len(grid)), [10.0, 10.0, 10.0]
    v = np.round(rng.normal(size=x.shape) * 2**20) / 2**20
    path = lambda name: os.path.join(tmp, name)  # noqa: E731
    write_h5md(path("a.h5"), ids, x, v, box)
    expected = started(tmp, path("a.h5"))
    write_h5md(path("offset.h5"), ids, x, v, box, offset=[-5.0, 2.5, 100.0])
    write_h5md(path("single.h5"), ids, x, v, box, kind="f4")
    write_dump(path("unwrapped.dump"), ids, x, v, box, columns="id xu yu zu vx vy vz")
    write_dump(path("scaled.dump"), ids, x, v, box, columns="xs ys zs vx vy vz")  # ids: the order
    for file in ("offset.h5", "single.h5", "unwrapped.dump", "scaled.dump"):
        assert started(tmp, path(file)) == expected, file
    # A particle on the upper face is one on the lower face, where the axis is periodic; not where it reflects.
    low, high = x.copy(), x.copy()
    low[0, 0], high[0, 0] = 0, 10
    write_h5md(path("low.h5"), ids, low, v, box)
    write_h5md(path("high.h5"), ids, high, v, box)
    assert started(tmp, path("high.h5")) == started(tmp, path("low.h5"))
    walls = dict(system__boundary="[reflecting, periodic, periodic]")
    assert started(tmp, path("high.h5"), **walls) != started(tmp, path("low.h5"), **walls)
    # A longer box has the particles where they were; a shorter one is refused.
    assert started(tmp, path("a.h5"), system__box="[12, 10, 10]") == expected
    code, text = run(0, "check", deck_of(tmp, path("a.h5")), *settings(system__box="[10, 9.5, 10]"))
    assert code == 2 and "the box is 9.5 long along y, and that of the file 10" in text
    code, text = run(0, "check", deck_of(tmp, path("a.h5")), *settings(system__box="[10, 10]"))
    assert code == 2 and "two lengths for a file whose particles lie, or move, along z" in text
    with h5py.File(path("a.h5"), "a") as f:
        del f["particles/atoms/velocity"]
    out = fresh(path("rest"))
    assert run(0, "run", deck_of(tmp, path("a.h5")), "--out", out, *settings(run__steps=0))[0] == 0
    with open(os.path.join(out, "thermo.csv")) as f:
        assert float(f.read().splitlines()[1].split(",")[3]) == 0
    # Beside slabs, or with neither.
    code, text = run(
        0, "check", deck_of(tmp, path("a.h5"), more="load: {kind: uniform}\n"), *settings(system__slabs="[{}]")
    )
    assert code == 2 and "system.slabs is there beside from" in text


def refused(tmp, file, what, ranks=(0, 2), code=3, **keys):
    for n in ranks:
        out = os.path.join(tmp, "refused")
        found, text = run(n, "run", deck_of(tmp, file), "--out", out, *settings(**keys), timeout=HANG_SECONDS)
        assert found == code and text.count("\n") == 1, (file, found, text)
        assert text.startswith("steelyard: error: ") and re.search(what, text), text
        assert "; " in text and not os.path.exists(out), text


def test_hostile(tmp):
    """One line names the error, with exit code 3, before anything is written."""
    rng = np.random.default_rng(4)
    n = 1000
    x = np.stack(np.meshgrid(*[np.arange(10) * 1.2 + 0.1] * 3, indexing="ij"), axis=-1).reshape(-1, 3)
    v, ids, box = rng.normal(size=x.shape), np.arange(n) + 1, [12.0, 12.0, 12.0]
    path = lambda name: os.path.join(tmp, name)  # noqa: E731

    def h5(name, what, edit=None, **changed):
        given = dict(ids=ids, x=x, v=v, box=box) | changed
        write_h5md(path(name), given["ids"], given["x"], given["v"], given["box"])
        if edit:
            with h5py.File(path(name), "a") as f:
                edit(f, f["particles/atoms"])
        refused(tmp, path(name), what)

    def with_one(a, value, i=7):
        a = a.astype(float) if a.ndim == 2 else a.copy()
        a[i] = value
        return a

    def new(g, name, value):
        if name in g:
            del g[name]
        if value is not None:
            g[name] = value

    h5("nan.h5", "the position of particle 8 is no number", x=with_one(x, np.nan))
    h5("inf.h5", "the velocity of particle 8 is no number, or beyond", v=with_one(v, np.inf))
    h5("fast.h5", "a particle crosses a cell of 3 in one step", v=with_one(v, 1e5))
    h5("twice.h5", "id 5 is there twice", ids=with_one(ids, 5, 900))
    h5("negative.h5", "an id is -3", ids=with_one(ids, -3))
    h5(
        "close.h5",
        r"particles 8 and 9 are 0\.05 apart at \[0\.15, 0\.1, 9\.7\], and forces are exact from",
        x=with_one(x, x[8] + [0.05, 0, 0]),
    )
    h5(
        "across.h5",
        r"particles 1 and 901 are 0\.1 apart",
        x=with_one(with_one(x, [0.05, 0.1, 0.1], 0), [11.95, 0.1, 0.1], 900),
    )
    h5("same.h5", "particles 1 and 2 are 0 apart", x=x * 0 + 3)

    def far(f, g):  # integers that no number in a file could give
        f["exact/id"], f["exact/state"] = ids, np.full((n, 6), 2**62)

    h5("far.h5", "the position of particle 1 is no number, or beyond", far)

    def without_position(f, g):
        f.move("particles/atoms", "particles/a\nb")
        del f["particles/a\nb/position"]

    h5("name.h5", r"/particles/a\\x0ab holds no position", without_position)
    with open(path("wide.data"), "w") as f:  # a small file that asks for cells beyond any memory
        f.write("one\n\n1 atoms\n1 atom types\n\n" + "".join(f"0 1000000 {a}lo {a}hi\n" for a in "xyz"))
        f.write("\nAtoms # atomic\n\n1 1 5 5 5\n")
    for ranks in (0, 2):
        code, text = run(ranks, "check", deck_of(tmp, path("wide.data")))
        assert code == 2 and re.search("system.box: .* cells and 1 particle need about .* GB", text), (code, text)
    h5("no_position.h5", "holds no position", lambda f, g: new(g, "position", None))
    h5("shape.h5", "is no list of vectors", lambda f, g: new(g, "position", np.zeros(7)))
    h5("text.h5", "position holds no numbers", lambda f, g: new(g, "position", np.array([b"a", b"b"])))
    h5("ids.h5", r"id has the shape \[999\]", lambda f, g: new(g, "id", np.arange(999)))
    h5(
        "tilted.h5",
        "its box is triclinic",
        lambda f, g: new(g, "box/edges", np.array([[12, 1, 0], [0, 12, 0], [0, 0, 12.0]])),
    )

    h5("types.h5", "particles of species 1 and 2", lambda f, g: new(g, "species", np.where(ids == 500, 2, 1)))
    h5("soft.h5", "position is a link to another place", lambda f, g: new(g, "position", h5py.SoftLink("/nowhere")))
    h5(
        "outer.h5",
        "position is a link to another place",
        lambda f, g: new(g, "position", h5py.ExternalLink("nan.h5", "/a")),
    )
    h5("two.h5", "/particles holds the groups", lambda f, g: f.create_group("particles/others"))
    h5("none.h5", "without /particles", lambda f, g: new(f, "particles", None))
    h5("negative_box.h5", "its box is -12 long", box=[-12.0, 12, 12])

    def announced(f, g):
        new(g, "position", None)
        new(g, "velocity", None)
        new(g, "id", None)
        g.create_dataset("position", shape=(2**41, 3), dtype="f8", chunks=(1024, 3))
        g["position"][0] = [1, 1, 1]

    h5("many.h5", "announces 2199023255552 particles, more than 2", announced)
    walls = dict(system__boundary="[reflecting, periodic, periodic]")
    write_h5md(path("outside.h5"), ids, with_one(x, [12.5, 1, 1]), v, box)
    refused(tmp, path("outside.h5"), "particle 8 lies outside the box, at x = 12.5", **walls)

    # Texts.
    write_data(path("good.lmp"), ids, x, v, np.array(box), 3)
    write_dump(path("good.dump"), ids, x, v, box, frames=2)
    started(tmp, path("good.lmp"))
    with open(path("good.lmp")) as f:
        data = f.read()
    with open(path("good.dump")) as f:
        dump = f.read()

    def text(name, content, what, **keys):
        with open(path(name), "w" if isinstance(content, str) else "wb") as f:
            f.write(content)
        refused(tmp, path(name), what, **keys)

    atom = data.split("Atoms # atomic\n\n")[1].split("\n")[0]
    text("style.lmp", data.replace("# atomic", "# full"), "atom_style is full, and only atomic is known")
    text("charge.lmp", data.replace(atom, "1 1 0.5 0.1 0.1 0.1"), r"charge\.lmp:\d+: 6 words in a line of Atoms")
    text("types.lmp", data.replace(atom, atom.replace("1 1 ", "1 2 ", 1)), "particles of types 2 and 1")
    text("mass.lmp", data.replace("Masses\n\n1 1\n", "Masses\n\n1 39.9\n"), "particles of mass 39.9")
    text("tilt.lmp", data.replace("zlo zhi\n", "zlo zhi\n1 0 0 xy xz yz\n"), "triclinic")
    text("bonds.lmp", data.replace("1 atom types", "1 atom types\n5 bonds"), "5 bonds: particles here are points")
    text("short.lmp", data[: data.index("\n", len(data) // 3) + 1], "ends .* lines before the end of its section Atoms")
    text("cut.lmp", data[: len(data) // 3], "announces|ends|words in a line|no number")
    text(
        "few.lmp",
        data[: data.rindex("\n", 0, len(data) - 20) + 1],
        "ends 1 lines before the end of its section Velocities",
    )
    text("more.lmp", data.replace("1000 atoms", "999 atoms"), "more lines in the section than atoms were announced")
    text("many.lmp", data.replace("1000 atoms", "1099511627776 atoms"), "announces 1099511627776 atoms, which its")
    text("nan.lmp", data.replace(atom, "1 1 nan 0.1 0.1"), "the position of particle 1 is no number")
    text("word.lmp", data.replace(atom, "1 1 zero 0.1 0.1"), "word 3 of the line is no number")
    text("velocity.lmp", data.replace("\nVelocities\n\n1 ", "\nVelocities\n\n4000 "), "id 1 is there twice, or has no")
    text("tail.dump", dump[:-200], r"ends inside its frame 1, after 9\d\d of 1000 atoms; .* frame: 0")
    text("frame.dump", dump, "has frames 0 to 1, not 2", system__from__frame=2)
    text("types.dump", dump.replace("\n5 1 ", "\n5 3 "), "particles of types 1 and 3")
    text("tilt.dump", dump.replace("BOUNDS pp pp pp\n0 12\n", "BOUNDS xy xz yz pp pp pp\n0 12 1\n"), "triclinic")
    text("columns.dump", dump.replace("id type x y z", "id type x y q"), "no column of positions along z")
    text("metal.dump", "ITEM: UNITS\nmetal\n" + dump, "the units are not lj")
    text("many.dump", dump.replace("ATOMS\n1000\n", "ATOMS\n1099511627776\n"), "announces 1099511627776 atoms, which")
    text("empty.h5", "", "is empty")
    text("line.lmp", "title\n1000 atoms" + "x" * 200000, "a line of over 65536 bytes")
    text("prose.txt", "It was a dark night.\n", "is no H5MD file, LAMMPS data file or LAMMPS dump")
    text("bytes.bin", bytes(range(256)) * 100, "is no H5MD file, LAMMPS data file or LAMMPS dump")
    with open(path("close.h5"), "rb") as f:
        whole = f.read()
    for size in (100, 600, len(whole) // 2, len(whole) - 8):
        text("cut.h5", whole[:size], "is damaged, or cut off|cannot be read|is no|holds no|without")

    os.symlink(path("nowhere"), path("dangling"))
    os.mkfifo(path("pipe"))
    refused(tmp, path("dangling"), "there is no such file")
    refused(tmp, path("pipe"), "is no file")
    refused(tmp, "/dev/zero", "is no file")
    refused(tmp, tmp, "is no file")
    refused(tmp, path("gone.h5"), "there is no such file")
    refused(
        tmp,
        path("good.lmp"),
        "its digest is [0-9a-f]{16}, and system.from.digest names 0{16}",
        system__from__digest="'" + "0" * 16 + "'",
    )


def test_damaged_checkpoint(tmp):
    """A checkpoint's own digest is looked at here too."""
    _, checkpoint = made(tmp, 2)
    with open(checkpoint, "r+b") as f:
        f.seek(200000)
        byte = f.read(1)
        f.seek(200000)
        f.write(bytes([byte[0] ^ 1]))
    refused(tmp, checkpoint, "is damaged: its bytes don't match its digest")


test_damaged_checkpoint = pytest.mark.group("hostile")(test_damaged_checkpoint)


def test_restarts(tmp):
    """A restart needs neither the file nor its path. Another file in its place is refused. The effective deck is the
    same run. The hash is the same with and without a restart, and with balancing."""
    _, checkpoint = made(tmp, 2)
    state, out = os.path.join(tmp, "state.h5"), os.path.join(tmp, "out")
    shutil.copy(checkpoint, state)
    deck = deck_of(tmp, state)
    keys = dict(checkpoint__every=10, balance__every=5)
    whole = os.path.join(tmp, "whole")
    assert run(0, "run", deck, "--out", whole, *settings(run__steps=40))[0] == 0
    for n in (1, 3):
        assert run(n, "run", deck, "--out", fresh(out), *settings(**keys))[0] == 0
        os.rename(state, state + ".away")
        again = settings(**keys, run__steps=40, system__from__file="elsewhere.h5")
        explicit = ["--restart", os.path.join(out, "checkpoint_10.h5"), "--out", fresh(os.path.join(tmp, "explicit"))]
        code, text = run(2, "run", deck, *explicit, *again)
        assert code == 0, text
        code, text = run(4 - n, "run", deck, "--restart", "auto", "--out", out, *again)
        assert code == 0, text
        assert hash_of(out) == hash_of(explicit[3]) == hash_of(whole)
        code, text = run(0, "run", os.path.join(out, "deck.yaml"), "--out", os.path.join(tmp, "new"))
        assert code == 3 and "there is no such file" in text
        os.rename(state + ".away", state)
    # The effective deck of a run.
    other = os.path.join(tmp, "other")
    assert run(0, "run", os.path.join(whole, "deck.yaml"), "--out", other)[0] == 0 and hash_of(other) == hash_of(whole)
    # Another file.
    ids, x, v, box, _ = read_state(checkpoint)
    write_h5md(state, ids, x, v * 0.5, box)
    for restart in ("auto", os.path.join(out, "checkpoint_40.h5")):
        code, text = run(2, "run", deck, "--restart", restart, "--out", out, *settings(run__steps=50))
        assert code == 3 and text.count("\n") == 1 and "system.from.digest differs from the deck's" in text, text
    code, text = run(0, "run", os.path.join(whole, "deck.yaml"), "--out", os.path.join(tmp, "new"))
    assert code == 3 and "system.from.digest names" in text


@pytest.mark.group("restarts")
def test_other_commands(tmp):
    """check, partition and predict know the particles of a file."""
    _, checkpoint = made(tmp, 2)
    deck = deck_of(tmp, checkpoint)
    done = subprocess.run(
        command(2, "check", deck), env=environment(), capture_output=True, text=True, timeout=HANG_SECONDS
    )
    assert done.returncode == 0 and re.search(r"# 20142 particles, 104 x 56 cells, 2 processes", done.stdout), done
    machine = settings(machine__nodes=2, machine__cpus_per_node=1, machine__cores_per_cpu=2)
    code, text = run(2, "partition", deck, "--out", os.path.join(tmp, "p"), "--quiet", *machine)
    assert code == 0, text
    code, text = run(
        0, "predict", deck, "--out", os.path.join(tmp, "q"), "--quiet", "--processes", "1,2", timeout=HANG_SECONDS
    )
    assert code == 0, text


def test_convert(tmp):
    """GROMACS's .gro and XYZ through MDAnalysis, in nm and Angstrom, to the state that they hold."""
    pytest.importorskip("MDAnalysis")
    x = np.stack(np.meshgrid(*[np.arange(4) * 4.0 + 1] * 3, indexing="ij"), axis=-1).reshape(-1, 3)  # Angstrom
    v = (np.arange(x.size).reshape(x.shape) % 7 - 3) / 8  # Angstrom / ps
    gro, xyz, out = (os.path.join(tmp, n) for n in ("s.gro", "s.xyz", "s.h5"))
    with open(gro, "w") as f:
        f.write(f"argon\n{len(x)}\n")
        for i, (a, b) in enumerate(zip(x / 10, v / 10)):
            f.write(
                f"{i + 1:5d}AR   {'AR':>5s}{i + 1:5d}"
                + "".join(f"{c:8.3f}" for c in a)
                + "".join(f"{c:8.4f}" for c in b)
            )
            f.write("\n")
        f.write("1.6 1.6 1.6\n")
    with open(xyz, "w") as f:
        f.write(f"{len(x)}\nargon\n" + "".join(f"Ar {a} {b} {c}\n" for a, b, c in x))
    script = os.path.join(SOURCE, "scripts/import_state.py")

    def convert(*words):
        return subprocess.run([sys.executable, script, *words], capture_output=True, text=True, timeout=HANG_SECONDS)

    done = convert(gro, out, "--scale-length", "0.25", "--scale-velocity", "2")
    assert done.returncode == 0 and "64 particles, with velocities, in a box of 4 x 4 x 4" in done.stdout, done
    with h5py.File(out) as f:
        g = f["particles/all"]
        assert np.allclose(g["position"], x / 4, atol=1e-6) and np.allclose(g["velocity"], v * 2, atol=2e-3)
    small = dict(system__potential__cutoff=1.2, grid__skin=0.1)
    assert re.fullmatch("[0-9a-f]{16}", started(tmp, out, **small))
    done = convert(xyz, out, "--scale-length", "0.25")
    assert done.returncode == 0 and "without velocities, without a box" in done.stdout, done
    refused(tmp, out, "the file says no length of its box along x", code=2)
    started(tmp, out, system__box="[4, 4, 4]", **small)
    done = convert(os.path.join(tmp, "none.gro"), out)
    assert done.returncode == 2 and done.stderr.count("\n") == 1, done
    with open(xyz, "w") as f:
        f.write("2\nmixed\nAr 0 0 0\nAl 4 0 0\n")
    done = convert(xyz, os.path.join(tmp, "mixed.h5"))
    assert done.returncode == 2 and "particles of names Al, Ar; give a file of one type" in done.stderr, done
    assert not os.path.exists(os.path.join(tmp, "mixed.h5"))


LAMMPS = """units lj
dimension {dimension}
atom_style atomic
boundary p p p
pair_style lj/cut 2.5
{state}
mass 1 1.0
pair_coeff 1 1 1.0 1.0 2.5
pair_modify shift yes
neighbor 0.3 bin
neigh_modify every 1 delay 0 check yes
timestep 0.002
{fixes}
thermo_modify norm yes format float %.15g
thermo 100
{work}
"""


def lammps(folder, name, **parts):
    with open(os.path.join(folder, name), "w") as f:
        f.write(LAMMPS.format(**parts))
    done = subprocess.run(
        ["lmp", "-log", "none", "-in", name], cwd=folder, capture_output=True, text=True, timeout=HANG_SECONDS
    )
    assert done.returncode == 0, done.stdout[-2000:]
    return done.stdout


def energies(text, name="TotEng"):
    """Energy per atom of each row of the last run."""
    lines = text.splitlines()
    head = max(i for i, line in enumerate(lines) if line.split()[:2] == ["Step", "Temp"])
    column = lines[head].split().index(name)
    rows = []
    for line in lines[head + 1 :]:
        if not line.split() or not line.split()[0].isdigit():
            break
        rows.append(float(line.split()[column]))
    return rows


@pytest.mark.skipif(not shutil.which("lmp"), reason="LAMMPS is not here; scripts/setup.sh --bench")
@pytest.mark.parametrize("dimension", [2, 3])
@pytest.mark.parametrize("precision", ["double", "mixed"])
def test_lammps(tmp, dimension, precision):
    """A state that LAMMPS equilibrates and writes, read here: forces and energies to the bounds of compare_lammps.py.
    The state that we reach, handed back: the energy that LAMMPS sees is ours."""
    state = "lattice {} 0.8442\nregion box block 0 {} {}\ncreate_box 1 box\ncreate_atoms 1 box".format(
        *(("fcc", "8 0 8", "0 8") if dimension == 3 else ("sq", "30 0 30", "-0.25 0.25"))
    )
    flat = "fix 2 all enforce2d" if dimension == 2 else ""
    forces = "dump f all custom 100000 forces.dump id fx fy fz\ndump_modify f sort id format float %.17g\n"
    theirs = energies(
        lammps(
            tmp,
            "in.melt",
            dimension=dimension,
            state=state,
            fixes="velocity all create 1.0 87287\nfix 1 all langevin 1.0 1.0 0.1 4711\nfix 3 all nve\n" + flat,
            work="run 500\nunfix 1\nwrite_data state.lmp\n" + forces + "run 100",
        )
    )
    # write_data has 16 digits and the run goes on from all of them: what is compared is what LAMMPS reads of it.
    read = "read_data state.lmp"
    theirs = energies(
        lammps(
            tmp, "in.again", dimension=dimension, state=read, fixes="fix 3 all nve\n" + flat, work=forces + "run 100"
        )
    )
    with open(os.path.join(tmp, "forces.dump")) as f:
        table = f.read().split("ITEM: ATOMS")[1].splitlines()[1:]
    rows = np.array([[float(w) for w in line.split()] for line in table if line and not line.startswith("ITEM")])
    n = len(np.unique(rows[:, 0]))
    expected = {int(r[0]): r[1:] for r in rows[:n]}
    out = os.path.join(tmp, "out")
    keys = dict(
        run__dt=0.002,
        run__steps=200,
        run__precision=precision,
        output__every=100,
        output__trajectory_every=100,
        output__trajectory_columns="[position, velocity, force]",
    )
    code, text = run(2, "run", deck_of(tmp, os.path.join(tmp, "state.lmp")), "--out", out, "--quiet", *settings(**keys))
    assert code == 0, text
    with h5py.File(os.path.join(out, "trajectory.h5")) as f:
        ids, mine = f["particles/all/id"][:], f["particles/all/force/value"][0]
    assert sorted(expected) == list(ids)
    reference = np.array([expected[i] for i in ids])
    difference = np.sqrt(((mine - reference) ** 2).sum(axis=1)) / np.sqrt((reference**2).sum(axis=1).mean())
    assert difference.max() <= {"double": 1e-6, "mixed": 5e-5}[precision], difference.max()
    with open(os.path.join(out, "thermo.csv")) as f:
        head, *table = [line.split(",") for line in f.read().splitlines()]
    ours = [float(row[head.index("total")]) / n for row in table]
    assert np.allclose(ours[:2], theirs, rtol=1e-6, atol=0), (ours, theirs)
    # And back, from the middle of the run to its end.
    back = os.path.join(tmp, "back.data")
    script = os.path.join(SOURCE, "scripts/export_lammps.py")
    subprocess.run(
        [sys.executable, script, os.path.join(out, "trajectory.h5"), "--frame", "1", back],
        check=True,
        timeout=HANG_SECONDS,
    )
    text = lammps(
        tmp, "in.back", dimension=dimension, state="read_data back.data", fixes="fix 3 all nve", work="run 100"
    )
    assert np.allclose(energies(text), ours[1:], rtol=1e-6, atol=0)
    potential = [float(row[head.index("potential")]) / n for row in table]
    assert np.allclose(energies(text, "E_pair"), potential[1:], rtol=1e-6, atol=0)
    assert summary(out)["particles"] == n

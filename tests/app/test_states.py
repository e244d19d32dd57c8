# SPDX-License-Identifier: MIT
"""States from files, and back. Each format gives the same state, on any ranks. A restart needs no file."""
import re
import shutil

import h5py
import numpy as np
import pytest

from export_lammps import read_state, write_data
from program import datasets, fails_with, fresh, hash_of, ok, ok_run, printed, run_words, script, settings
from program import state_of, thermo
from states import deck_of, lattice, made, refused, started, write_dump, write_h5md


@pytest.mark.parametrize("dimensions", [2, 3])
def test_formats(tmp, dimensions):
    """A state as checkpoint, trajectory, H5MD of another writer, LAMMPS data and dump: one hash, that of the run."""
    out, checkpoint = made(tmp, dimensions)
    state = read_state(checkpoint)
    ids, x, v, box, found = state
    assert found == dimensions
    expected, shuffled = hash_of(out), np.random.default_rng(1).permutation(len(ids))
    mixed = [a[shuffled] for a in (ids, x, v)]
    write_h5md(tmp / "fixed.h5", ids, x, v, box, chunks=(1000, 3))
    write_h5md(tmp / "timed.h5", *mixed, box, timed=True, matrix=True, frames=3)
    write_dump(tmp / "plain.dump", ids, x, v, box)
    write_dump(tmp / "mixed.dump", *mixed, box, frames=3, columns="vy vx vz q type id z x y", ending="\r\n")
    for file in (checkpoint, out / "trajectory.h5", "fixed.h5", "timed.h5", "plain.dump", "mixed.dump"):
        assert started(tmp, tmp / file) == expected, file
    if dimensions == 2:  # a flat file of its own two dimensions
        assert started(tmp, write_h5md(tmp / "flat.h5", ids, x[:, :2], v[:, :2], box[:2])) == expected
    # LAMMPS has no id 0: what is written is another state, the same in both of its formats.
    write_data(str(tmp / "data.lmp"), *state)
    write_dump(tmp / "ids.dump", ids + 1, x, v, box)
    head, _, text = (tmp / "data.lmp").read_text().partition("Atoms # atomic\n\n")
    atoms, velocities = text.split("\nVelocities\n\n")
    backwards = "".join(reversed(velocities.splitlines(keepends=True)))
    flags = "".join(line + " 0 -1 0\n" for line in atoms.splitlines())
    text = f"{head}Pair Coeffs # lj/cut\n\n1 1 1\n\nAtoms\n\n{flags}\nVelocities\n\n{backwards}"
    (tmp / "mixed.lmp").write_text(text)
    at, moved = np.eye(3)[0] * 16, f"16 {16 + box[0]:.17g} xlo xhi"
    write_data(str(tmp / "moved.lmp"), ids, x + at, v, box, dimensions)
    text = (tmp / "moved.lmp").read_text().replace(f"0 {box[0]:.17g} xlo xhi", moved)
    (tmp / "moved.lmp").write_text(text)
    hashes = {started(tmp, tmp / file) for file in ("data.lmp", "ids.dump", "mixed.lmp")}
    lengths = ", ".join(f"{length:.17g}" for length in box[:dimensions])
    assert {started(tmp, tmp / "moved.lmp", system__box=f"[{lengths}]")} == hashes
    assert len(hashes) == 1 and hashes != {expected}
    for ranks in (1, 2, 3, 4, 7):
        assert started(tmp, checkpoint, ranks) == expected, ranks
        assert {started(tmp, tmp / "mixed.lmp", ranks)} == hashes, ranks
    for file in ("timed.h5", "mixed.dump"):
        assert started(tmp, tmp / file, 3) == expected, file


def test_frames_ids_and_trajectories(tmp):
    """A frame is that of its number; ids may be any, and a trajectory of them is in their order on any ranks."""
    out, checkpoint = made(tmp, 2)
    ids, x, v, box, _ = read_state(checkpoint)
    trajectory = out / "trajectory.h5"
    first = started(tmp, trajectory, system__from__frame=1)
    assert first != hash_of(out) == started(tmp, trajectory, system__from__frame=2)
    dump = write_dump(tmp / "s.dump", *read_state(trajectory, 1)[:3], box, frames=1)
    assert started(tmp, dump, system__from__frame=0) == first
    # Elements with other frames than the positions are taken at the positions' step.
    at_others = write_h5md(tmp / "at_others.h5", ids, x, v, box)
    with h5py.File(at_others, "a") as f:
        for name, steps, values in (
            ("position", [0, 10, 20], [x / 2, x, x]),
            ("velocity", [5, 10, 20, 40], [v * 2, v, -v, v]),
        ):
            g = f["particles/atoms"]
            del g[name]
            g[name + "/value"], g[name + "/step"] = np.stack(values), steps
    assert started(tmp, at_others, system__from__frame=1) == hash_of(out) != started(tmp, at_others)
    refused(tmp, at_others, "velocity has no frame of the step of frame 0 of the positions", system__from__frame=0)
    far = np.random.default_rng(2).permutation(len(ids)) * 1_000_003 + 5
    deck, seen = deck_of(tmp, write_h5md(tmp / "far.h5", far, x, v, box)), []
    for ranks in (1, 3):
        ok_run(fresh(tmp / "far"), deck=deck, ranks=ranks, output__trajectory_every=10)
        names = (f"particles/all/{name}" for name in ("id", "position/value", "velocity/value"))
        seen.append(list(datasets(tmp / "far/trajectory.h5", *names).values()))
    assert all(np.array_equal(a, b) for a, b in zip(*seen))
    order = np.argsort(far)
    assert np.array_equal(seen[0][0], far[order]) and np.array_equal(seen[0][1][0], x[order])


@pytest.mark.group("boxes")
def test_boxes(tmp):
    """Offsets, unwrapped and scaled coordinates, faces of the box, longer boxes, single precision, no velocities."""
    x, box = lattice(8, 1.25, 0.25), [10.0, 10.0, 10.0]
    v, ids = np.round(np.random.default_rng(3).normal(size=x.shape) * 2**20) / 2**20, np.arange(len(x))
    plain = write_h5md(tmp / "a.h5", ids, x, v, box)
    expected, deck = started(tmp, plain), deck_of(tmp, plain)
    for file in (
        write_h5md(tmp / "offset.h5", ids, x, v, box, offset=[-5.0, 2.5, 100.0]),
        write_h5md(tmp / "single.h5", ids, x, v, box, kind="f4"),
        write_dump(tmp / "unwrapped.dump", ids, x, v, box, columns="id xu yu zu vx vy vz"),
        write_dump(tmp / "scaled.dump", ids, x, v, box, columns="xs ys zs vx vy vz"),  # ids: the order
    ):
        assert started(tmp, file) == expected, file
    # A particle on the upper face is one on the lower face, where the axis is periodic; not where it reflects.
    low, high = x.copy(), x.copy()
    low[0, 0], high[0, 0] = 0, 10
    low, high = (write_h5md(tmp / f"{n}.h5", ids, at, v, box) for n, at in (("low", low), ("high", high)))
    walls = dict(system__boundary="[reflecting, periodic, periodic]")
    assert started(tmp, high) == started(tmp, low) and started(tmp, high, **walls) != started(tmp, low, **walls)
    # A longer box has the particles where they were; a shorter one is refused, as are slabs beside the file.
    assert started(tmp, plain, system__box="[12, 10, 10]") == expected
    for keys, says in (
        (dict(system__box="[10, 9.5, 10]"), "the box is 9.5 long along y, and that of the file 10"),
        (dict(system__box="[10, 10]"), "two lengths for a file whose particles lie, or move, along z"),
        (dict(system__slabs="[{}]"), "system.slabs is there beside from"),
    ):
        fails_with(2, says, 0, "check", deck_of(tmp, plain), *settings(**keys))
    with h5py.File(plain, "a") as f:
        del f["particles/atoms/velocity"]
    ok_run(tmp / "rest", deck=deck, run__steps=0)
    assert thermo(tmp / "rest")[0]["kinetic"] == 0
    # Particles that lie in a plane and move out of it need three lengths.
    flat, says = write_h5md(tmp / "flat.h5", ids, x * [1, 1, 0], v, box), "particles lie, or move, along z"
    fails_with(2, says, 0, "check", deck_of(tmp, flat), *settings(system__box="[10, 10]"))


@pytest.mark.group("restarts")
def test_restarts(tmp):
    """A restart needs neither the file nor its path. Another file in its place is refused. The effective deck is the
    same run. The hash is the same with and without a restart, and with balancing."""
    _, checkpoint = made(tmp, 2)
    state, out, explicit = shutil.copy(checkpoint, tmp / "state.h5"), tmp / "out", tmp / "explicit"
    deck, keys = deck_of(tmp, state), dict(checkpoint__every=10, balance__every=5)
    whole = state_of(deck, tmp / "whole", run__steps=40)
    for n in (1, 3):
        ok_run(fresh(out), deck=deck, ranks=n, **keys)
        away = state.rename(tmp / "away.h5")
        again = dict(deck=deck, **keys, run__steps=40, system__from__file="elsewhere.h5")
        ok_run(fresh(explicit), ranks=2, restart=out / "checkpoint_10.h5", **again)
        ok_run(out, ranks=4 - n, restart="auto", **again)
        assert hash_of(out) == hash_of(explicit) == whole
        fails_with(3, "there is no such file", 0, *run_words(tmp / "new", deck=out / "deck.yaml"))
        away.rename(state)
    assert state_of(tmp / "whole/deck.yaml", tmp / "other") == whole, "the effective deck"
    ids, x, v, box, _ = read_state(checkpoint)
    write_h5md(state, ids, x, v * 0.5, box)
    for restart in ("auto", out / "checkpoint_40.h5"):
        words = run_words(out, deck=deck, restart=restart, run__steps=50)
        fails_with(3, "system.from.digest differs from the deck's", 2, *words)
    fails_with(3, "system.from.digest names", 0, *run_words(tmp / "new", deck=tmp / "whole/deck.yaml"))


def test_other_commands(tmp):
    """check, partition and predict know the particles of a file."""
    deck = deck_of(tmp, made(tmp, 2)[1])
    assert re.search(r"# 20142 particles, 104 x 56 cells, 2 processes", printed(2, "check", deck))
    machine = settings(machine__nodes=2, machine__cpus_per_node=1, machine__cores_per_cpu=2)
    ok(2, "partition", deck, "--out", tmp / "p", "--quiet", *machine)
    ok(0, "predict", deck, "--out", tmp / "q", "--quiet", "--processes", "1,2")


@pytest.mark.group("convert")
def test_convert(tmp):
    """GROMACS's .gro and XYZ through MDAnalysis, in nm and Angstrom, to the state that they hold."""
    pytest.importorskip("MDAnalysis")
    x = lattice(4, 4.0, 1)  # Angstrom
    v = (np.arange(x.size).reshape(x.shape) % 7 - 3) / 8  # Angstrom / ps
    gro, xyz, out = (tmp / n for n in ("s.gro", "s.xyz", "s.h5"))
    atoms = [
        f"{i:5d}AR   {'AR':>5s}{i:5d}" + "".join(f"{c:8.3f}" for c in a) + "".join(f"{c:8.4f}" for c in b)
        for i, (a, b) in enumerate(zip(x / 10, v / 10), start=1)
    ]
    gro.write_text("\n".join(["argon", str(len(x)), *atoms, "1.6 1.6 1.6", ""]))
    xyz.write_text(f"{len(x)}\nargon\n" + "".join(f"Ar {a} {b} {c}\n" for a, b, c in x))

    def convert(*words):
        return script("import_state.py", *words)

    done = convert(gro, out, "--scale-length", "0.25", "--scale-velocity", "2")
    assert done.returncode == 0 and "64 particles, with velocities, in a box of 4 x 4 x 4" in done.stdout, done
    found = datasets(out, "particles/all/position", "particles/all/velocity").values()
    assert all(np.allclose(a, b, atol=c) for a, b, c in zip(found, (x / 4, v * 2), (1e-6, 2e-3)))
    small = dict(system__potential__cutoff=1.2, grid__skin=0.1)
    assert re.fullmatch("[0-9a-f]{16}", started(tmp, out, **small))
    done = convert(xyz, out, "--scale-length", "0.25")
    assert done.returncode == 0 and "without velocities, without a box" in done.stdout, done
    refused(tmp, out, "the file says no length of its box along x", code=2)
    started(tmp, out, system__box="[4, 4, 4]", **small)
    done = convert(tmp / "none.gro", out)
    assert done.returncode == 2 and done.stderr.count("\n") == 1, done
    xyz.write_text("2\nmixed\nAr 0 0 0\nAl 4 0 0\n")
    done = convert(xyz, tmp / "mixed.h5")
    assert done.returncode == 2 and "particles of names Al, Ar; give a file of one type" in done.stderr, done
    assert not (tmp / "mixed.h5").exists()
    for wrong, says in (((gro, xyz), "s.xyz, is that of the file to write"), ((out, out), "it is what is read")):
        done = convert(*wrong)
        assert done.returncode == 2 and says in done.stderr, done
    assert xyz.read_text().startswith("2\nmixed") and h5py.is_hdf5(out)


def test_exports_that_are_refused(tmp):
    """What is read stays as it is; a file without particles or velocities is named, and nothing is left behind."""
    _, checkpoint = made(tmp, 2)
    before = checkpoint.read_bytes()
    (tmp / "folder").mkdir()
    for name, value in (("empty", np.empty((1, 0, 3))), ("none", np.empty((0, 4, 3))), ("still", np.ones((1, 4, 3)))):
        with h5py.File(tmp / f"{name}.h5", "w") as f:
            f["particles/all/position/value"] = value
            f["particles/all/velocity/value"] = value[: 0 if name == "still" else None]
    there = sorted(tmp.iterdir())
    lacks = "holds no frame of particles with velocities"
    cases = [(checkpoint, checkpoint, "it is what is read"), (checkpoint, tmp / "folder", "cannot write")]
    for state, out, says in [*cases, *((tmp / f"{n}.h5", tmp / "x", lacks) for n in ("empty", "none", "still"))]:
        done = script("export_lammps.py", state, out)
        assert done.returncode == 2 and says in done.stderr and done.stderr.count("\n") == 1, done
    assert checkpoint.read_bytes() == before and sorted(tmp.iterdir()) == there

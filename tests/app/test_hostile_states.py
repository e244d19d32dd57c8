# SPDX-License-Identifier: MIT
"""Files of particles with which no run can begin. One line names the error, with exit code 3, before anything is
written."""
import os

import h5py
import numpy as np
import pytest

from export_lammps import write_data
from program import damage, fails_with
from states import deck_of, lattice, made, refused, started, write_dump, write_h5md

X, BOX, IDS = lattice(10, 1.2, 0.1), [12.0, 12.0, 12.0], np.arange(1000) + 1
GIVEN = dict(ids=IDS, x=X, v=np.random.default_rng(4).normal(size=X.shape), box=BOX)


def one(name, value, i=7):
    """The arrays with another value for one particle."""
    changed = GIVEN[name].copy()
    changed[i] = value
    return {name: changed}


def unnamed(f):
    f.move("particles/atoms", "particles/a\nb")
    del f["particles/a\nb/position"]


def announced(f):
    """A position of one particle, and room for very many."""
    g = f["particles/atoms"]
    for name in ("position", "velocity", "id"):
        del g[name]
    g.create_dataset("position", shape=(2**41, 3), dtype="f8", chunks=(1024, 3))[0] = [1, 1, 1]


CLOSE = r"particles 8 and 9 are 0\.05 apart at \[0\.15, 0\.1, 9\.7\], and forces are exact from"
ACROSS = X.copy()
ACROSS[[0, 900]] = [0.05, 0.1, 0.1], [11.95, 0.1, 0.1]
TILTED = np.array([[12, 1, 0], [0, 12, 0], [0, 0, 12.0]])
# Changed arrays; elements that are replaced, or None for one that is missing; or a function of the file.
H5MD = {
    "nan": (one("x", np.nan), "the position of particle 8 is no number"),
    "inf": (one("v", np.inf), "the velocity of particle 8 is no number, or beyond"),
    "fast": (one("v", 1e5), "a particle crosses a cell of 3 in one step"),
    "twice": (one("ids", 5, 900), "id 5 is there twice"),
    "negative": (one("ids", -3), "an id is -3"),
    "close": (one("x", X[8] + [0.05, 0, 0]), CLOSE),
    "across": (dict(x=ACROSS), r"particles 1 and 901 are 0\.1 apart"),
    "same": (dict(x=X * 0 + 3), "particles 1 and 2 are 0 apart"),
    "negative_box": (dict(box=[-12.0, 12, 12]), "its box is -12 long"),
    # Integers that no number in a file could give.
    "far": (
        {"/exact/id": IDS, "/exact/state": np.full((1000, 6), 2**62)},
        "the position of particle 1 is no number, or beyond",
    ),
    "name": (unnamed, r"/particles/a\\x0ab holds no position"),
    "no_position": ({"/particles/atoms/position": None}, "holds no position"),
    "shape": ({"/particles/atoms/position": np.zeros(7)}, "is no list of vectors"),
    "text": ({"/particles/atoms/position": np.array([b"a", b"b"])}, "position holds no numbers"),
    "ids": ({"/particles/atoms/id": np.arange(999)}, r"id has the shape \[999\]"),
    "tilted": ({"/particles/atoms/box/edges": TILTED}, "its box is triclinic"),
    "types": ({"/particles/atoms/species": np.where(IDS == 500, 2, 1)}, "particles of species 1 and 2"),
    "soft": ({"/particles/atoms/position": h5py.SoftLink("/nowhere")}, "position is a link to another place"),
    "outer": ({"/particles/atoms/position": h5py.ExternalLink("nan.h5", "/a")}, "position is a link to another place"),
    "two": ({"/particles/others/position": X}, "/particles holds the groups"),
    "none": ({"/particles": None}, "without /particles"),
    "many": (announced, "announces 2199023255552 particles, more than 2"),
}


@pytest.mark.parametrize("name", H5MD)
def test_h5md(tmp, name):
    change, what = H5MD[name]
    arrays = isinstance(change, dict) and set(change) <= set(GIVEN)
    file = write_h5md(tmp / f"{name}.h5", **GIVEN | (change if arrays else {}))
    with h5py.File(file, "a") as f:
        if callable(change):
            change(f)
        for element, value in change.items() if isinstance(change, dict) and not arrays else ():
            if element in f:
                del f[element]
            if value is not None:
                f[element] = value
    refused(tmp, file, what)


def test_particle_outside(tmp):
    file = write_h5md(tmp / "outside.h5", **GIVEN | one("x", [12.5, 1, 1]))
    walls = dict(system__boundary="[reflecting, periodic, periodic]")
    refused(tmp, file, "particle 8 lies outside the box, at x = 12.5", **walls)


def test_damaged_checkpoint(tmp):
    """A checkpoint's own digest is looked at here too."""
    _, checkpoint = made(tmp, 2)
    damage(checkpoint, 200000)
    refused(tmp, checkpoint, "is damaged: its bytes don't match its digest")


@pytest.mark.parametrize("ranks", (0, 2))
def test_wide_box(tmp, ranks):
    """A small file that asks for cells beyond any memory."""
    extents = "".join(f"0 1000000 {a}lo {a}hi\n" for a in "xyz")
    (tmp / "wide.data").write_text(f"one\n\n1 atoms\n1 atom types\n\n{extents}\nAtoms # atomic\n\n1 1 5 5 5\n")
    what = "system.box: .* cells and 1 particle need about .* GB"
    fails_with(2, (), ranks, "check", deck_of(tmp, tmp / "wide.data"), matches=what)


def before(text, at):
    """The whole lines in front of a place in a text."""
    return text[: text.rindex("\n", 0, at) + 1]


def put(old, new):
    return lambda text: text.replace(old, new)


def atom(words):
    """Other words in the line of the first atom."""
    return lambda text: text.replace(text.split("Atoms # atomic\n\n")[1].split("\n")[0], words)


DATA = {  # LAMMPS data files
    "style": (put("# atomic", "# full"), "atom_style is full, and only atomic is known"),
    "charge": (atom("1 1 0.5 0.1 0.1 0.1"), r"charge:\d+: 6 words in a line of Atoms"),
    "types": (atom("1 2 0.1 0.1 0.1"), "particles of types 2 and 1"),
    "mass": (put("Masses\n\n1 1\n", "Masses\n\n1 39.9\n"), "particles of mass 39.9"),
    "tilt": (put("zlo zhi\n", "zlo zhi\n1 0 0 xy xz yz\n"), "triclinic"),
    "bonds": (put("1 atom types", "1 atom types\n5 bonds"), "5 bonds: particles here are points"),
    "short": (lambda t: before(t, len(t) // 3), "ends .* lines before the end of its section Atoms"),
    "cut": (lambda t: t[: len(t) // 3], "announces|ends|words in a line|no number"),
    "few": (lambda t: before(t, len(t) - 20), "ends 1 lines before the end of its section Velocities"),
    "more": (put("1000 atoms", "999 atoms"), "more lines in the section than atoms were announced"),
    "many": (put("1000 atoms", "1099511627776 atoms"), "announces 1099511627776 atoms, which its"),
    "nan": (atom("1 1 nan 0.1 0.1"), "the position of particle 1 is no number"),
    "word": (atom("1 1 zero 0.1 0.1"), "word 3 of the line is no number"),
    "velocity": (put("\nVelocities\n\n1 ", "\nVelocities\n\n4000 "), "id 1 is there twice, or has no"),
    "line": (lambda t: "title\n1000 atoms" + "x" * 200000, "a line of over 65536 bytes"),
    "empty": (lambda t: "", "is empty"),
    "prose": (lambda t: "It was a dark night.\n", "is no H5MD file, LAMMPS data file or LAMMPS dump"),
}
DUMPS = {  # of two frames
    "tail": (lambda t: t[:-200], r"ends inside its frame 1, after 9\d\d of 1000 atoms; .* frame: 0"),
    "types": (put("\n5 1 ", "\n5 3 "), "particles of types 1 and 3"),
    "tilt": (put("BOUNDS pp pp pp\n0 12\n", "BOUNDS xy xz yz pp pp pp\n0 12 1\n"), "triclinic"),
    "columns": (put("id type x y z", "id type x y q"), "no column of positions along z"),
    "metal": (lambda t: "ITEM: UNITS\nmetal\n" + t, "the units are not lj"),
    "many": (put("ATOMS\n1000\n", "ATOMS\n1099511627776\n"), "announces 1099511627776 atoms, which"),
}


@pytest.fixture
def texts(tmp):
    """Paths of a data file and a dump."""
    write_data(str(tmp / "good.lmp"), IDS, X, GIVEN["v"], np.array(BOX), 3)
    return tmp / "good.lmp", write_dump(tmp / "good.dump", **GIVEN, frames=2)


@pytest.mark.parametrize("kind, name", [(i, n) for i, cases in enumerate((DATA, DUMPS)) for n in cases])
def test_texts(tmp, texts, kind, name):
    change, what = (DATA, DUMPS)[kind][name]
    (tmp / name).write_text(change(texts[kind].read_text()))
    refused(tmp, tmp / name, what)


def test_keys_of_texts(tmp, texts):
    """The good files are read; a frame and a digest that they lack are named."""
    data, dump = texts
    started(tmp, data)
    refused(tmp, dump, "has frames 0 to 1, not 2", system__from__frame=2)
    what = "its digest is [0-9a-f]{16}, and system.from.digest names 0{16}"
    refused(tmp, data, what, system__from__digest="'" + "0" * 16 + "'")


@pytest.mark.parametrize("size", (100, 600, 0.5, -8))
def test_cut_file(tmp, size):
    path = write_h5md(tmp / "cut.h5", **GIVEN)
    whole = path.read_bytes()
    path.write_bytes(whole[: int(size * len(whole)) if size == 0.5 else size])
    refused(tmp, path, "is damaged, or cut off|cannot be read|is no|holds no|without")


def test_dangling_link(tmp):
    os.symlink(tmp / "nowhere", tmp / "dangling")
    refused(tmp, tmp / "dangling", "there is no such file")

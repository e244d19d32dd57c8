# SPDX-License-Identifier: MIT
"""Files that would harm the program. No reader follows a file to another one, or takes numbers that were never written.
Headers, names and extents alone cost neither memory nor time. Each file is refused in one line, with its name.

Groups: hostile_readers hostile_series hostile_states hostile_results.
"""
import gzip
import os
import sys

import h5py
import numpy as np
import pytest

from program import DECK, SOURCE, fails_with, ok_run, run, run_words, settings

sys.path.append(os.path.join(SOURCE, "scripts"))
from export_lammps import write_data  # noqa: E402

VAST = 4 * 10**12  # bytes of a file that is one hole
GIGABYTES = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 1e9
LOAD = np.ones((3, 8, 8))
EXACT = dict(balance__processes=2, balance__model="exact")


def vast(path):
    with open(path, "wb") as f:
        f.truncate(VAST)


# Files, the last of them missing.
FOREIGN = (
    "trajectory.h5", "fields_20.h5", "deck.yaml", "thermo.csv", "nothing", "notes.txt", "binary", "huge", "pipe", "",
    "damaged.h5", "front.h5", "plain.h5", "packed.gz", "vast", "missing.h5",
)  # fmt: skip
# The command that reads a file in each way, and its exit code.
READERS = {
    "info": (["info"], 3),
    "restart": (["run", DECK, "--restart"], 3),
    "deck": (["check"], 2),
    "machine": (["predict", DECK, "--machine"], 3),
    "series": (["replay"], 3),
    "loads": (["partition", DECK, *settings(load__kind="dataset", load__dataset="load"), "--set", "load.file="], 3),
    "state": (["check"], 3),
}
# Files that are no strangers to a reader: H5MD files hold a state, whatever stands before them.
OWN = {("deck", "deck.yaml")} | {("state", f"{name}.h5") for name in ("trajectory", "damaged", "front", "plain")}


@pytest.fixture(scope="module")
def foreign(tmp_path_factory):
    """A directory with all of them, which a run has made."""
    out = tmp_path_factory.mktemp("foreign") / "out"
    files = dict(checkpoint__every=20, output__fields_every=20, output__trajectory_every=20)
    ok_run(out, run__steps=20, **files)
    whole = (out / "checkpoint_20.h5").read_bytes()
    os.mkfifo(out / "pipe")
    (out / "nothing").write_bytes(b"")
    (out / "notes.txt").write_bytes(b"two words\n")
    (out / "binary").write_bytes(bytes(range(256)))
    (out / "damaged.h5").write_bytes(whole[:100] + b"?" + whole[101:])
    (out / "front.h5").write_bytes(bytes(512) + whole[512:])
    (out / "plain.h5").write_bytes(whole[512:])
    (out / "huge").write_bytes(b"x" * 4096)
    os.truncate(out / "huge", 1 << 40)
    packed(out / "packed.gz")
    vast(out / "vast")
    return out


def deck_from(tmp, path):
    deck = tmp / "deck.yaml"
    deck.write_text(f"system: {{from: {{file: {path}}}}}\nrun: {{dt: 0.001, steps: 1}}\n")
    return deck


@pytest.mark.group("hostile_readers")
@pytest.mark.parametrize("name", FOREIGN)
@pytest.mark.parametrize("reader", READERS)
def test_foreign_files(foreign, tmp, reader, name):
    """Every reader meets every file, refuses those of others in one line, and waits for none."""
    path, (words, code) = foreign / name, READERS[reader]
    says = "there is no such file" if name == "missing.h5" else "is "  # no checkpoint, or damaged in this way
    if reader == "state":
        words = [*words, deck_from(tmp, path)]
    elif reader == "loads":
        words = [*words[:-1], f"load.file={path}"]
    else:
        words = [*words, path]
    if reader not in ("info", "deck", "state"):
        words += ["--out", tmp / "out"]
    if (reader, name) in OWN:
        assert run(0, *words)[0] == 0
        return
    exact = f"steelyard: error: {path}: {says}" if reader in ("info", "restart") else str(path)
    fails_with(code, exact, 2 if reader == "info" else 0, *words)


def partly_written(f):
    f.create_dataset("load", (3, 8, 8), chunks=(1, 4, 8))[:, :4] = 1


def virtual(f):
    layout = h5py.VirtualLayout((3, 8, 8), "f8")
    layout[...] = h5py.VirtualSource("none.h5", "load", (3, 8, 8))
    f.create_virtual_dataset("load", layout)


def sparse(f):
    """Its space is taken in the file, which is a hole."""
    how = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    how.set_alloc_time(h5py.h5d.ALLOC_TIME_EARLY)
    how.set_fill_time(h5py.h5d.FILL_TIME_NEVER)
    h5py.h5d.create(f.id, b"load", h5py.h5t.IEEE_F64LE, h5py.h5s.create_simple((1, 46340, 46340)), how)


def linked(name, link):
    def make(f):
        for each in {"load", name}:
            f[each] = link if each == name else LOAD

    return make


SERIES = {
    "unwritten": (lambda f: f.create_dataset("load", (1, 46340, 46340), chunks=(1, 1000, 1000)), "never written"),
    "partly written": (partly_written, "/load was never written in whole"),
    "external link": (linked("load", h5py.ExternalLink("other.h5", "/load")), "/load is a link to another place"),
    "soft link": (linked("load", h5py.SoftLink("/other")), "/load is a link to another place"),
    "linked steps": (linked("step", h5py.ExternalLink("other.h5", "/step")), "/step is a link to another place"),
    "linked counts": (linked("particles", h5py.SoftLink("/load")), "/particles is a link to another place"),
    "virtual": (virtual, "/load lies in another file"),
    "external": (
        lambda f: f.create_dataset("load", (3, 8, 8), "f8", external=[("raw", 0, LOAD.nbytes)]),
        "/load lies in another file",
    ),
    "steps": (
        lambda f: (f.create_dataset("load", data=LOAD), f.create_dataset("step", (9 * 10**6,), "i8", chunks=(1000,))),
        "/step was never written in whole",
    ),
    "room": (
        lambda f: f.create_dataset("load", data=LOAD, chunks=(1, 8, 8), maxshape=(2**41, 8, 8)),
        "/load has room for over 2^40 chunks",
    ),
    "lzf": (lambda f: f.create_dataset("load", data=LOAD, compression="lzf"), "compressed by the filter lzf"),
    "sparse": (sparse, "/load of 2147395600 cells needs about 85.9 GB of memory"),
}


@pytest.mark.group("hostile_series")
@pytest.mark.parametrize("name", SERIES)
def test_series(tmp, name):
    """Load series in HDF5."""
    if name == "sparse" and GIGABYTES > 80:
        pytest.skip("this machine has the memory")
    make, says = SERIES[name]
    path = tmp / "bad.h5"
    LOAD.tofile(os.path.join(tmp, "raw"))
    with h5py.File(path, "w") as f:
        make(f)
    fails_with(3, (says, f"{path}: "), 0, "replay", path, "--out", tmp / "out", *settings(**EXACT))


@pytest.mark.group("hostile_series")
def test_dataset(tmp):
    """The loads that are partitioned come by the same door."""
    path = tmp / "bad.h5"
    with h5py.File(path, "w") as f:
        f["load"] = h5py.ExternalLink("other.h5", "/load")
    keys = dict(load__kind="dataset", load__file=path, load__dataset="load")
    words = ["partition", DECK, "--out", tmp / "out", *settings(**keys)]
    fails_with(3, f"{path}: load is a link to another place", 2, *words)


@pytest.mark.group("hostile_series")
def test_user_block(tmp):
    """Other bytes may stand before a series: 512, or any number that doubling makes of them."""
    path, out = tmp / "loads.h5", tmp / "out"
    with h5py.File(path, "w", userblock_size=2048) as f:
        f["load"] = LOAD
    assert run(0, "replay", path, "--out", out, "--quiet", *settings(**EXACT)) == (0, "")


@pytest.mark.group("hostile_series")
@pytest.mark.parametrize(
    "entries, keys, says",
    [
        (1, {}, "holds one entry, which is the start; give a second"),
        (2, dict(balance__every=7), "no step of its entries after the start is a multiple of balance.every"),
    ],
)
def test_notes(tmp, entries, keys, says):
    """Why a replay balances nothing is said once."""
    path = tmp / "loads.h5"
    with h5py.File(path, "w") as f:
        f["load"] = LOAD[:entries]
    code, text = run(2, "replay", path, "--out", tmp / "out", "--quiet", *settings(**EXACT, **keys))
    assert code == 0 and text.startswith("steelyard: note: ") and text.count("\n") == 1 and says in text, text


def particles(f, **how):
    group = f.create_group("particles/all")
    group.create_dataset("position", data=np.arange(6.0).reshape(2, 3), **how)
    group["box/edges"] = np.full(3, 12.0)


def lzf(path):
    with h5py.File(path, "w") as f:
        particles(f, compression="lzf")


def packed(path):
    with gzip.open(path, "w") as f:
        f.write(b"ITEM: TIMESTEP\n0\n")


STATES = {
    "lzf": (lzf, "is compressed by the filter lzf, which this HDF5 library lacks; compress it by gzip, or not"),
    "gzip": (packed, "is compressed by gzip; unpack it: gunzip"),
    "vast": (vast, "is no H5MD file, LAMMPS data file or LAMMPS dump"),
}


@pytest.mark.group("hostile_states")
@pytest.mark.parametrize("name", STATES)
def test_states(tmp, name):
    """Files of particles."""
    make, says = STATES[name]
    path = tmp / "bad.state"
    make(path)
    fails_with(3, (f"{path}: ", says), 0, "check", deck_from(tmp, path))


@pytest.mark.group("hostile_states")
def test_packed_deck(tmp):
    path = tmp / "deck.yaml.gz"
    packed(path)
    assert run(0, "check", path) == (2, f"steelyard: error: {path}: is compressed by gzip; unpack it: gunzip\n")


@pytest.mark.group("hostile_states")
def test_state_behind_user_block(tmp):
    path = tmp / "state.h5"
    with h5py.File(path, "w", userblock_size=4096) as f:
        particles(f)
    assert run(0, "check", deck_from(tmp, path))[0] == 0


@pytest.mark.group("hostile_states")
@pytest.mark.parametrize("largest, noted", [(2**31 - 1, False), (2**31, True)])
def test_export(tmp, capsys, largest, noted):
    """A usual LAMMPS reads ids below 2^31."""
    still = np.zeros((2, 3))
    write_data(os.path.join(tmp, "out.data"), np.array([5, largest]), still + 1, still, np.full(3, 12.0), 3)
    assert (f"ids go up to {largest}" in capsys.readouterr().err) == noted


@pytest.mark.group("hostile_results")
@pytest.mark.parametrize("name", ["thermo.csv", "run.json"])
def test_results(tmp, name):
    """A restart reads what lies in its directory, and takes no memory for a file that has grown beyond it."""
    keys = dict(output__every=1, checkpoint__every=2)
    ok_run(tmp, run__steps=2, **keys)
    vast(tmp / name)
    fails_with(3, f"{tmp / name}: needs about", 0, *run_words(tmp, restart="auto", run__steps=3, **keys))

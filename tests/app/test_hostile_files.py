# SPDX-License-Identifier: MIT
"""Files that would harm the program. No reader follows a file to another one, or takes numbers that were never written.
Headers, names and extents alone cost neither memory nor time. Each file is refused in one line, with its name."""
import gzip
import os

import h5py
import numpy as np
import pytest

from export_lammps import write_data
from program import DECK, fails_with, ok, ok_run, run, run_words, settings, write_datasets
from states import deck_of

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
    "damaged.h5", "front.h5", "plain.h5", "packed.gz", "vast", "missing.h5", "/dev/zero", "/dev/tty",
)  # fmt: skip
# The command that reads a file in each way, its exit code, and whether it may write results.
PART = ["partition", DECK, "--set", "load.file={}"]
READERS = {
    "info": (["info"], 3, False),
    "restart": (["run", DECK, "--restart"], 3, True),
    "prediction": (["run", DECK, "--prediction"], 3, True),
    "deck": (["check"], 2, False),
    **{f"deck of {command}": ([command], 2, True) for command in ("run", "predict", "partition")},
    "machine": (["predict", DECK, "--machine"], 3, True),
    "series": (["replay"], 3, True),
    "loads": ([*PART, *settings(load__kind="dataset", load__dataset="load")], 3, True),
    "saved loads": ([*PART, *settings(load__kind="checkpoint")], 3, True),
    "state": (["check"], 3, False),
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


def cases():
    """Readers and files. Decks are read alike by all commands, so the others see a pipe, devices and a directory."""
    waiting = ("pipe", "", "/dev/zero", "/dev/tty")
    few = [r for r in READERS if r.startswith("deck of") or r in ("prediction", "saved loads")]
    return [(r, name) for r in READERS for name in FOREIGN if r not in few or name in waiting]


@pytest.mark.group("hostile_readers")
@pytest.mark.parametrize("reader, name", cases())
def test_foreign_files(foreign, tmp, reader, name):
    """Every reader meets every file, refuses those of others in one line, and waits for none."""
    path, (words, code, writes) = foreign / name, READERS[reader]
    says = "there is no such file" if name == "missing.h5" else "is "  # no checkpoint, or damaged in this way
    words = [w.format(path) for w in words] if reader.endswith("loads") else [*words, path]
    if reader == "state":
        words[-1] = deck_of(tmp, path)
    words += ["--out", tmp / "out"] if writes else []
    if (reader, name) in OWN:
        ok(0, *words)
        return
    exact = f"steelyard: error: {path}: {says}" if reader in ("info", "restart", "state") else str(path)
    for ranks in (0, 2) if name == "pipe" else (2,) if reader == "info" else (0,):
        fails_with(code, exact, ranks, *words)
        assert not (tmp / "out").exists()


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


def test_dataset(tmp):
    """The loads that are partitioned come by the same door."""
    path = write_datasets(tmp / "bad.h5", load=h5py.ExternalLink("other.h5", "/load"))
    keys = dict(load__kind="dataset", load__file=path, load__dataset="load")
    words = ["partition", DECK, "--out", tmp / "out", *settings(**keys)]
    fails_with(3, f"{path}: load is a link to another place", 2, *words)


def test_user_block(tmp):
    """Other bytes may stand before a series: 512, or any number that doubling makes of them."""
    path, out = tmp / "loads.h5", tmp / "out"
    with h5py.File(path, "w", userblock_size=2048) as f:
        f["load"] = LOAD
    assert run(0, "replay", path, "--out", out, "--quiet", *settings(**EXACT)) == (0, "")


@pytest.mark.parametrize(
    "entries, keys, says",
    [
        (1, {}, "holds one entry, which is the start; give a second"),
        (2, dict(balance__every=7), "no step of its entries after the start is a multiple of balance.every"),
    ],
)
def test_notes(tmp, entries, keys, says):
    """Why a replay balances nothing is said once."""
    path = write_datasets(tmp / "loads.h5", load=LOAD[:entries])
    text = ok(2, "replay", path, "--out", tmp / "out", "--quiet", *settings(**EXACT, **keys))
    assert text.startswith("steelyard: note: ") and text.count("\n") == 1 and says in text, text


def packed(path):
    with gzip.open(path, "w") as f:
        f.write(b"ITEM: TIMESTEP\n0\n")


@pytest.mark.group("hostile_states")
@pytest.mark.parametrize("code, deck", [(2, lambda tmp, path: path), (3, deck_of)], ids=["deck", "state"])
def test_packed(tmp, code, deck):
    path = tmp / "packed.gz"
    packed(path)
    fails_with(code, f"error: {path}: is compressed by gzip; unpack it: gunzip", 0, "check", deck(tmp, path))


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

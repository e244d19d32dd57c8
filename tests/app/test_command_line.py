# SPDX-License-Identifier: MIT
"""Exit codes, and the answers of the program about itself and about a deck's memory."""
import calendar
import os
import re
import shutil
import subprocess
import time

import pytest

from program import DECK, HANG_SECONDS, SOURCE, fails_with, ok, ok_run, printed, run_words, settings, summary

TMP = object()  # the test's directory
CALLS = [
    (["--version"], 0, ()),
    (["--help"], 0, ()),
    ([], 2, "no command; give one of run, partition, predict, replay, info, check, selftest, or --help"),
    (["fly"], 2, "unknown command 'fly'; use one of run, partition, predict, replay, info, check"),
    (["rnu", DECK], 2, "unknown command 'rnu'; did you mean 'run'?"),
    (["run"], 2, ()),
    (["run", "--restart", "auto", "--out", TMP], 2, "a restart needs the deck, too; give that of the run"),
    (["run", "no_such.yaml"], 2, ()),
    (["run", DECK, "--set", "run.stepz=4"], 2, ()),
    (["run", DECK, "--set", "run.steps"], 2, ()),
    (["run", DECK, "--steps", "10"], 2, "run: unexpected '--steps'; see steelyard run --help"),
    (["run", DECK, "--ouut", "x"], 2, "run: unexpected '--ouut'; did you mean --out?"),
    (["run", DECK, "other.yaml"], 2, "run: unexpected 'other.yaml'; see steelyard run --help"),
    (["check", DECK], 0, ()),
    (["check", DECK, "--out", "x"], 2, "check: unexpected '--out', an option of run, partition, predict, replay; see"),
    (["check", DECK, "--set", "balance.processes=0"], 2, ()),
    (["check", "--set", "run.steps=3"], 2, ()),
    (["check", "--ranks", "3"], 2, ()),
    (["check", DECK, "--ranks", "0"], 2, "--ranks: Value 0 not in range"),
    (["check", DECK, "--set", "balance.every=5", "--set", "balance.partition.min_width=1000"], 2, ()),
    (["info", ""], 2, ()),
    (["info", "no_such.h5"], 3, ()),
    (["run", DECK, "--restart", "no_such.h5", "--out", TMP], 3, ()),
    (["run", DECK, "--restart", "", "--out", TMP], 2, ()),
    (["run", DECK, "--set", "", "--out", TMP], 2, ()),
    (["run", DECK, "--out", "/proc/nowhere"], 5, ()),
]


@pytest.mark.parametrize("ranks", (0, 2))
@pytest.mark.parametrize("arguments, code, says", CALLS)
def test_exit_code(tmp, ranks, arguments, code, says):
    arguments = [tmp if a is TMP else a for a in arguments]
    if code:
        fails_with(code, f"steelyard: error: command line: {says}" if says else (), ranks, *arguments)
    else:
        ok(ranks, *arguments)


def test_fewer_processes_than_ranks(tmp):
    fails_with(2, (), 3, *run_words(tmp, balance__processes=2))


def test_tiles_in_words(tmp):
    """All tiles of the size that a run names have about as many cells as its box."""
    keys = dict(run__steps=1, balance__every=1, balance__clock="work", balance__processes=40)
    said = printed(0, "run", DECK, "--out", tmp, *settings(**keys))
    cells = [int(n) for n in re.search(r"(\d+) x (\d+) cells", said).groups()]
    tiles, each = map(int, re.search(r"(\d+) tiles of about (\d+) cells", said).groups())
    assert tiles * each == pytest.approx(cells[0] * cells[1], rel=0.1)


ZONES = dict(accelerator__backend="host", accelerator__controller="fixed")
MEMORY = [("liquid", 1, {}), ("slab", 2, {}), ("slab_soft", 1, {}), ("tiny", 3, {})]
MEMORY += [("liquid", 1, ZONES | dict(accelerator__share=1)), ("liquid_3d", 2, ZONES | dict(accelerator__share=0.5))]


@pytest.mark.parametrize("deck, ranks, keys", MEMORY)
def test_expected_memory(tmp, deck, ranks, keys):
    """The memory that check expects is what a run needs: of particles to 10 %, of the whole to 15 %."""
    path = os.path.join(SOURCE, f"inputs/{deck}.yaml")
    pattern = r"about ([0-9.]+) MB per rank for particles,\s+(?:# )?([0-9.]+) MB with cells and the program"
    expected = map(float, re.search(pattern, printed(ranks, "check", path, *settings(**keys))).groups())
    ok_run(tmp, deck=path, ranks=ranks, run__steps=40, output__fields_every=0, **keys)
    for name, megabytes, most in zip(("particle_bytes", "peak_resident_bytes"), expected, (0.1, 0.15)):
        assert megabytes == pytest.approx(summary(tmp)[name]["mean"] * 1e-6, rel=most), name


def test_memory_of_other_ranks():
    """check says for any number of ranks what it says on them."""
    assert printed(0, "check", DECK, "--ranks", 3) == printed(3, "check", DECK)


BALANCINGS = (({}, 1), ({}, 2), (dict(balance__every=2, balance__clock="work"), 1))


@pytest.mark.parametrize("balancing, ranks", BALANCINGS)
def test_expected_memory_of_empty_cells(tmp, balancing, ranks):
    keys = dict(system__box="[6000,6000]", run__steps=4, output__fields_every=0, **balancing)
    said = printed(ranks, "check", DECK, *settings(**keys))
    expected = float(re.search(r"([0-9.]+) MB with cells and the program", said).group(1))
    ok_run(tmp, ranks=ranks, **keys)
    assert expected == pytest.approx(summary(tmp)["peak_resident_bytes"]["mean"] * 1e-6, rel=0.25)


@pytest.mark.parametrize("balancing, ranks", BALANCINGS)
def test_cells_that_no_node_holds(tmp, balancing, ranks):
    """They are refused before anything is done."""
    out = tmp / "huge"
    fails_with(2, "400000 x 400000 cells", ranks, *run_words(out, system__box="[1e6,1e6]", **balancing))
    assert not out.exists()


def test_version(tmp):
    """--version and summary.json name the commit, the compiler and the libraries."""
    first, *lines = printed(0, "--version").splitlines()
    said = dict(line.split(maxsplit=1) for line in lines)
    assert first == "steelyard 0.2.0" and list(said) == ["commit", "compiler", "MPI", "HDF5", "kernels", "CUDA"]
    assert re.fullmatch("unknown|[0-9a-f]{7,}(-dirty)?", said["commit"])
    assert re.match(r"\S.* v?[0-9]+\.[0-9]+", said["MPI"]) and "scalar" in said["kernels"]
    assert re.match(r"1\.[0-9.]+, (serial|parallel)$", said["HDF5"])
    ok_run(tmp, ranks=0, run__steps=0)
    s = summary(tmp)
    b = s["build"]
    assert b["version"] == "0.2.0" and ", ".join(b["kernels"]) == said["kernels"].split(";")[0]
    assert [b[k.lower()] for k in ("commit", "compiler", "MPI", "HDF5")] == list(said.values())[:4]
    assert s["command_line"][1:3] == ["run", DECK]
    assert abs(calendar.timegm(time.strptime(s["date"], "%Y-%m-%dT%H:%M:%SZ")) - time.time()) < 60, s["date"]


@pytest.mark.parametrize("ranks", (0, 2))
def test_page_of_keys(ranks):
    """`steelyard check > docs/deck.md` writes the page anew."""
    with open(os.path.join(SOURCE, "docs/deck.md")) as f:
        assert printed(ranks, "check") == f.read()


def test_scripts_are_executable():
    for folder, _, files in os.walk(os.path.join(SOURCE, "scripts")):
        for path in (os.path.join(folder, f) for f in files):
            with open(path, "rb") as f:
                assert f.read(2) != b"#!" or os.access(path, os.X_OK), path


@pytest.mark.skipif(not shutil.which("cmake") or not shutil.which("git"), reason="there is no cmake or no git")
def test_commits(tmp):
    """The script that finds the commit at each build."""
    tree, found = tmp / "tree", tmp / "commit.cpp"

    def git(*arguments):
        words = ["git", "-C", tree, "-c", "user.name=a", "-c", "user.email=a@b", *arguments]
        return subprocess.run(words, check=True, capture_output=True, text=True).stdout.strip()

    def commit(source=tree):
        script = os.path.join(SOURCE, "app/common/commit.cmake")
        words = ["cmake", "-D", f"SOURCE={source}", "-D", f"FILE={found}", "-P", script]
        subprocess.run(words, check=True, timeout=HANG_SECONDS)
        return re.search('"(.*)"', found.read_text()).group(1)

    (tree / "inside").mkdir(parents=True)
    assert commit() == "unknown", "a commit outside git"
    git("init", "-q")
    for text in ("one", "two"):
        (tree / "file").write_text(text)
        git("add", "file")
        git("commit", "-q", "-m", text)
        assert commit() == git("rev-parse", "--short", "HEAD")
    before = os.stat(found).st_mtime_ns
    commit()
    assert os.stat(found).st_mtime_ns == before, "written although nothing has changed"
    assert commit(tree / "inside") == "unknown", "the commit of a project around a tarball"
    (tree / "file").write_text("three")
    assert commit() == git("rev-parse", "--short", "HEAD") + "-dirty"

# SPDX-License-Identifier: MIT
"""Results that other programs change, and what a run does then. docs/reliability.md lists the promises."""
import fcntl
import os
import re
import shutil

import pytest

from program import DENSE, SMALL, SOURCE, checkpoints, end_of, fails_with, hash_of, kill, ok, ok_run, rows
from program import run_words, summary, under_way, wait_until

# 0.1.0 had 0.899053 of moving_average: it balanced twice more in the last 20 steps, where that cannot pay.
LBE_OF_0_1_0 = {"r1": "0.928814", "a1": "0.928057", "moving_average": "0.900813"}
EVERYTHING = dict(output__every=10, output__fields_every=20, output__trajectory_every=20)
EVERYTHING |= dict(balance__every=10, balance__clock="work", checkpoint__every=50)


def go(ranks, out, *more, **keys):
    """ok_run() of the small collision."""
    return ok_run(out, *more, ranks=ranks, **SMALL | keys)


def begun(ranks, out, *more, rows=25, **keys):
    """under_way() of the small collision."""
    return under_way(ranks, out, *more, rows=rows, **SMALL | EVERYTHING | dict(checkpoint__every=20) | keys)


def read(*path):
    with open(os.path.join(*path), "rb") as f:
        return f.read()


def write(data, *path):
    with open(os.path.join(*path), "wb") as f:
        f.write(data)


def aside(out):
    """The content of the folders previous_<n>, by name."""
    return sorted(
        p.name for folder in os.scandir(out) if folder.name.startswith("previous_") for p in os.scandir(folder)
    )


def emptied(path):
    os.truncate(path, 0)


def replaced(path):
    write(read(path) + b"mine\n", path + ".new")
    os.rename(path + ".new", path)


def damage_while_running(ranks, out, path, damage, *more):
    """A run ends with code 5 and one line that names the damaged file. Its last checkpoint stays."""
    process = begun(ranks, out, *more)
    assert os.path.getsize(path) > 0
    damage(path)
    what = f"{damage.__name__} {path} on {ranks} ranks"
    assert re.search(f"{path}: was (re|changed)", end_of(process, what, 5, ()))
    assert checkpoints(out), what


WAYS = ((1, os.remove), (2, emptied), (3, replaced))
FILES = [("thermo.csv", *way) for way in WAYS]
FILES += [(n, *WAYS[i % 3]) for i, n in enumerate(("timing.csv", "balance.csv", "fields.xdmf", "trajectory.h5"), 1)]


@pytest.mark.parametrize("name, ranks, damage", FILES)
def test_damaged_files(tmp, name, ranks, damage):
    """A file that vanishes, shrinks or is replaced under a run ends it; the restart goes on from its checkpoint."""
    damage_while_running(ranks, tmp, os.path.join(tmp, name), damage)
    end = checkpoints(tmp)[-1] + 40
    text = go(ranks, tmp, "--restart", "auto", **EVERYTHING | dict(run__steps=end))
    assert summary(tmp)["steps"] == end and "error" not in text, text


def test_damaged_trace(tmp):
    """It lies outside of the directory."""
    trace = str(tmp / "trace.csv")
    damage_while_running(2, tmp / "out", trace, os.remove, "--trace-messages", trace)


@pytest.mark.group("locks")
@pytest.mark.parametrize("ranks", (1, 2, 3))
@pytest.mark.parametrize("again", (False, True))
def test_directory_that_vanishes(tmp, ranks, again):
    """It ends its run, also where another one is made in its place."""
    out = tmp / "out"
    process = begun(ranks, out)
    away = out.rename(tmp / "away")  # at once: while files go one by one, the run may begin one anew
    shutil.rmtree(away, ignore_errors=True)
    if again:
        out.mkdir()
    end_of(process, "a directory that vanishes", 5, ())
    # A write that has begun when the directory is exchanged ends in the new one.
    assert not again or len(os.listdir(out)) <= 1, os.listdir(out)


@pytest.mark.parametrize("ranks", (1, 2))
def test_locks(tmp, ranks):
    """A lock that is removed keeps other runs out all the same. Where a file system locks files only, another run gets
    in; the first one notices at its next write and ends."""
    process, lock = begun(ranks, tmp), tmp / ".steelyard.lock"
    lock.unlink()
    for more in (["--force"], ["--restart", "auto"], ["--restart", "auto", "--force"]):
        text = ok(ranks, *run_words(tmp, *more, **SMALL, run__steps=20), code=2)
        assert "another run" in text and not aside(tmp), f"without the lock's file, {more}: {text}"
    for _ in range(2):
        there = os.stat(tmp / "thermo.csv").st_mtime_ns
        assert wait_until(lambda: os.stat(tmp / "thermo.csv").st_mtime_ns != there), "the first run was disturbed"
    assert lock.exists(), "the file of the lock is not made again"
    with open(tmp / "other", "w") as other:
        fcntl.flock(other, fcntl.LOCK_EX)
        os.rename(other.name, lock)
        assert "another run" in end_of(process, "a lock taken away", 5)


@pytest.mark.group("first_result")
@pytest.mark.parametrize("there", ([], ["notes.txt"]))
def test_first_result(tmp, there):
    """A run that fails before its first result leaves nothing in the way of the corrected command."""
    out = tmp / "out"
    for name in there:
        out.mkdir()
        write(b"mine", out, name)

    def contents():
        return {n: read(out, n) for n in os.listdir(out) if n != ".steelyard.lock"} if out.exists() else {}

    keys = dict(run__steps=20, **EVERYTHING)
    dense = DENSE | dict(system__potential__sigma=0.2)  # which shows when neighbour lists are built
    fails_with(4, "16-bit", 1, *run_words(out, **keys, **dense))
    assert list(contents()) == there, "left by a run that failed at once"
    go(1, out, **keys)
    # With results of another run there, which are put aside at the first result only.
    before = contents()
    fails_with(4, "16-bit", 1, *run_words(out, "--force", **keys, **dense))
    assert contents() == before


@pytest.mark.group("killed_early")
@pytest.mark.parametrize("ranks", (1, 2, 3))
def test_killed_early(tmp, ranks):
    """A run was killed before its first checkpoint. --restart auto names a remedy, which works without a watcher."""
    kill(under_way(ranks, tmp, rows=5, **SMALL, output__every=10))
    text = go(ranks, tmp, "--restart", "auto", code=3, run__steps=40)
    assert "--restart auto --force" in text and text.count("\n") == 1, f"before the first checkpoint: {text!r}"
    for steps in (40, 80):  # the second time there is a checkpoint, and --force puts nothing aside
        text = go(ranks, tmp, "--restart", "auto", "--force", run__steps=steps, checkpoint__every=40)
        assert [n for n in os.listdir(tmp) if n.startswith("previous")] == ["previous_1"]
        assert (text.count("put aside") == 1) == (steps == 40), text
    assert checkpoints(tmp) == [40, 80] and rows(tmp).splitlines()[1].startswith("0,"), os.listdir(tmp)
    # A finished run that goes on and is killed keeps its summary, under a name that says it is an earlier one.
    kept, before = read(tmp, "summary.json"), tmp / "summary_before.json"
    kill(under_way(ranks, tmp, "--restart", "auto", rows=12, **SMALL, output__every=10))
    assert not (tmp / "summary.json").exists(), "an old summary passes for that of a killed run"
    assert before.read_bytes() == kept
    go(ranks, tmp, "--restart", "auto", run__steps=120, checkpoint__every=40)
    assert summary(tmp)["steps"] == 120 and not before.exists(), os.listdir(tmp)


@pytest.mark.group("old_checkpoints")
@pytest.mark.parametrize("ranks", (1, 2, 3))
def test_old_checkpoints(tmp, ranks):
    """A checkpoint that version 0.1.0 has written is continued with its balancing, to the hash of 0.1.0."""
    deck, old = os.path.join(SOURCE, "restarts/small.yaml"), os.path.join(SOURCE, "restarts/small_0.1.0.h5")
    assert ok_run(tmp, deck=deck, ranks=ranks, restart=old) == ""
    assert hash_of(tmp) == "8d4ed16b1500105b", "another hash than with version 0.1.0"
    lbe = {m: f"{v:.6f}" for m, v in summary(tmp)["overall_lbe"].items()}
    assert lbe == LBE_OF_0_1_0, "what balancing had learnt is lost"

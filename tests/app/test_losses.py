# SPDX-License-Identifier: MIT
"""Results that other programs change, and what a run does then.

Groups: pipes damaged_files locks first_result killed_early old_checkpoints. docs/reliability.md lists
the promises. Every run has a time limit.
"""
import fcntl
import glob
import os
import signal
import subprocess
import time

import pytest

from program import (
    HANG_SECONDS,
    SMALL,
    DECK,
    SOURCE,
    checkpoints,
    hash_of,
    ok_run,
    our_lines,
    rows,
    run,
    settings,
    start,
    summary,
    wait_for_rows,
)

QUICK = settings(**SMALL)
LBE_OF_0_1_0 = {"r1": "0.928814", "a1": "0.928057", "moving_average": "0.899053"}
EVERYTHING = dict(
    output__every=10,
    output__fields_every=20,
    output__trajectory_every=20,
    balance__every=10,
    balance__clock="work",
    checkpoint__every=50,
)


def go(ranks, out, *more, **keys):
    """ok_run() of the small collision."""
    return ok_run(out, *more, ranks=ranks, **SMALL | keys)


def read(*path):
    with open(os.path.join(*path), "rb") as f:
        return f.read()


def write(data, *path):
    with open(os.path.join(*path), "wb") as f:
        f.write(data)


def aside(out):
    """The content of the folders previous_<n>, by name."""
    return sorted(os.path.basename(p) for p in glob.glob(os.path.join(out, "previous_*", "*")))


def test_pipes(tmp):
    """Pipes, devices and directories in place of input files are refused at once; nothing is opened that could wait."""
    pipe, out = os.path.join(tmp, "pipe"), os.path.join(tmp, "out")
    os.mkfifo(pipe)
    os.mkdir(os.path.join(tmp, "folder"))
    field = ["--set", "load.kind=dataset", "--set", "load.dataset=/x"]
    saved = ["--set", "load.kind=checkpoint"]
    for place, kind in (
        (pipe, "pipe"),
        ("/dev/zero", "device"),
        ("/dev/tty", "device"),
        (os.path.join(tmp, "folder"), "directory"),
    ):
        for words, code in (
            (["check", place], 2),
            (["run", place], 2),
            (["predict", place], 2),
            (["partition", place], 2),
            (["info", place], 3),
            (["run", DECK, "--restart", place], 3),
            (["run", DECK, "--prediction", place], 3),
            (["predict", DECK, "--machine", place], 3),
            (["partition", DECK, *field, "--set", f"load.file={place}"], 3),
            (["partition", DECK, *saved, "--set", f"load.file={place}"], 3),
        ):
            for ranks in (0, 2) if kind == "pipe" else (1,):
                more = ["--out", out] if words[0] in ("run", "predict", "partition") else []
                what = f"{words[0]} of a {kind} on {ranks} ranks: {words}"
                got, text = run(ranks, *words, *more, timeout=HANG_SECONDS)
                lines = our_lines(text)
                assert (
                    got == code and len(lines) == 1 and "; " in lines[0] and place in lines[0]
                ), f"{what}: exit code {got}, not {code}: {text!r}"
                assert not os.path.exists(out), f"{what}: a directory is left"


def under_way(ranks, out, **keys):
    """A run that lasts until it is told to end, with some rows and frames written."""
    process = start(
        ranks,
        "run",
        DECK,
        "--out",
        out,
        "--quiet",
        *QUICK,
        *settings(run__steps=10000000, **dict(EVERYTHING, checkpoint__every=200, **keys)),
    )
    assert wait_for_rows(out, 25, process), "the run does not start"
    return process


def grows(path, process, seconds=HANG_SECONDS):
    """Until a file is there and has grown twice."""
    end, sizes = time.monotonic() + seconds, set()
    while time.monotonic() < end and process.poll() is None and len(sizes) < 3:
        if os.path.exists(path) and os.path.getsize(path) > 0:
            sizes.add((os.path.getsize(path), os.stat(path).st_mtime_ns))
        time.sleep(0.01)
    return len(sizes) >= 3


def ended(process, seconds=HANG_SECONDS):
    try:
        return process.communicate(timeout=seconds)[1]
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        pytest.fail(f"it still runs after {seconds} s")


def emptied(path):
    os.truncate(path, 0)


def replaced(path):
    write(read(path) + b"mine\n", path + ".new")
    os.rename(path + ".new", path)


def damage_while_running(ranks, out, path, damage, *more, **keys):
    """A run ends with code 5 and one line that names the damaged file. Its last checkpoint stays."""
    process = start(ranks, "run", DECK, "--out", out, "--quiet", *more, *QUICK, *settings(
        **dict(EVERYTHING, run__steps=10000000, checkpoint__every=20, **keys)))  # fmt: skip
    assert wait_for_rows(out, 25, process) and os.path.getsize(path) > 0, f"{path}: the run does not start"
    damage(path)
    text = ended(process, 120)
    what = f"{damage.__name__} {path} on {ranks} ranks: {process.returncode} {text!r}"
    ours = our_lines(text)
    assert (
        process.returncode == 5 and len(ours) == 1 and f"{path}: was re" in ours[0].replace("was changed", "was re")
    ), what
    assert checkpoints(out), what


def test_damaged_files(tmp):
    """A file that vanishes, shrinks or is replaced under a run ends it; the restart goes on from its checkpoint."""
    ways = ((1, os.remove), (2, emptied), (3, replaced))
    for i, name in enumerate(("thermo.csv", "timing.csv", "balance.csv", "fields.xdmf", "trajectory.h5")):
        for ranks, damage in ways if name == "thermo.csv" else (ways[i % 3],):
            out = os.path.join(tmp, f"{damage.__name__}_{name}")
            damage_while_running(ranks, out, os.path.join(out, name), damage)
            end = checkpoints(out)[-1] + 40
            text = go(ranks, out, "--restart", "auto", **dict(EVERYTHING, run__steps=end))
            assert summary(out)["steps"] == end, f"{name}: {text!r}"
            assert "error" not in text, f"{name}: {text!r}"
    out, trace = os.path.join(tmp, "traced"), os.path.join(tmp, "trace.csv")  # lies outside of the directory
    damage_while_running(2, out, trace, os.remove, "--trace-messages", trace)


def test_locks(tmp):
    """A directory that vanishes ends its run; a lock that is removed keeps other runs out all the same."""
    for ranks in (1, 2, 3):
        for again in (False, True):
            out = os.path.join(tmp, f"gone{ranks}{again}")
            process = under_way(ranks, out)
            os.rename(out, out + "_away")  # at once, as removing it file by file is not
            if again:
                os.mkdir(out)
            text = ended(process, HANG_SECONDS)
            what = f"a directory that vanishes{' and is made again' if again else ''} on {ranks} ranks"
            ours = [line for line in text.splitlines() if line.startswith("steelyard: error: ")]
            assert (
                process.returncode == 5 and len(ours) == 1 and "; " in ours[0]
            ), f"{what}: {process.returncode} {text!r}"
            # A write that has begun when the directory is exchanged ends in the new one.
            assert not again or len(os.listdir(out)) <= 1, f"{what}: {os.listdir(out)}"
    for ranks in (1, 2):
        out = os.path.join(tmp, f"lock{ranks}")
        process = under_way(ranks, out)
        os.remove(os.path.join(out, ".steelyard.lock"))
        for more in (["--force"], ["--restart", "auto"], ["--restart", "auto", "--force"]):
            got, text = run(ranks, "run", DECK, "--out", out, "--quiet", *more, *QUICK, *settings(run__steps=20))
            assert got == 2 and "another run" in text, f"without the lock's file, {more}: {got} {text!r}"
            assert not aside(out), f"{more}: {os.listdir(out)}"
        assert grows(os.path.join(out, "thermo.csv"), process), "the first run was disturbed"
        assert os.path.exists(os.path.join(out, ".steelyard.lock")), "the file of the lock is not made again"
        # Where a file system locks files only, another run gets in; the first one notices at its next write and ends.
        with open(os.path.join(out, "other"), "w") as other:
            fcntl.flock(other, fcntl.LOCK_EX)
            os.rename(other.name, os.path.join(out, ".steelyard.lock"))
            text = ended(process, HANG_SECONDS)
        assert process.returncode == 5 and "another run" in text, f"a lock taken away: {process.returncode} {text!r}"


def test_first_result(tmp):
    """A run that fails before its first result leaves nothing in the way of the corrected command."""
    dense = [  # too many particles for the 16-bit indices of a tile, which shows when neighbour lists are built
        "system.box=[640, 100]",
        "system.slabs.0.lower=[0.5, 1]",
        "system.slabs.0.upper=[8.4, 99]",
        "system.slabs.0.density=100",
        "system.slabs.1.lower=[600, 10]",
        "system.slabs.1.upper=[610, 20]",
        "system.slabs.1.density=0.5",
        "grid.tile=[8, 512]",
        "system.potential.kind=soft_sphere",
        "system.potential.sigma=0.2",
    ]
    bad = [x for s in dense for x in ("--set", s)]
    ranks = 1  # more of them split the slab
    for there in ([], ["notes.txt"]):
        out = os.path.join(tmp, f"first{len(there)}")
        for name in there:
            os.mkdir(out)
            write(b"mine", out, name)
        words = ["run", DECK, "--out", out, "--quiet", *settings(run__steps=20, **EVERYTHING)]
        got, text = run(ranks, *words, *bad)
        assert got == 4 and "16-bit" in text, f"a slab that is too dense on {ranks} ranks: {got} {text!r}"
        left = [n for n in os.listdir(out) if n != ".steelyard.lock"] if os.path.exists(out) else []
        assert left == there, f"what a run left that failed at once: {left}"
        got, text = run(ranks, *words, *QUICK)
        assert got == 0, f"the corrected command on {ranks} ranks: {got} {text!r}"
        # With results of another run there, which are put aside at the first result only.
        before = {n: read(out, n) for n in os.listdir(out) if n != ".steelyard.lock"}
        got, text = run(ranks, *words, "--force", *bad)
        now = {n: read(out, n) for n in os.listdir(out) if n != ".steelyard.lock"}
        assert got == 4 and now == before, f"--force on {ranks} ranks: {got} {sorted(now)}"


def test_killed_early(tmp):
    """A run was killed before its first checkpoint. --restart auto names a remedy, which works without a watcher."""
    for ranks in (1, 2, 3):
        out = os.path.join(tmp, f"early{ranks}")
        process = start(
            ranks, "run", DECK, "--out", out, "--quiet", *QUICK, *settings(run__steps=10000000, output__every=10)
        )
        assert wait_for_rows(out, 5, process), "the run does not start"
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        text = go(ranks, out, "--restart", "auto", code=3, run__steps=40)
        assert "--restart auto --force" in text and text.count("\n") == 1, f"before the first checkpoint: {text!r}"
        for steps in (40, 80):  # the second time there is a checkpoint, and --force puts nothing aside
            text = go(ranks, out, "--restart", "auto", "--force", run__steps=steps, checkpoint__every=40)
            assert os.listdir(out).count("previous_1") == 1 and "previous_2" not in os.listdir(out), os.listdir(out)
            assert (text.count("put aside") == 1) == (steps == 40), text
        assert checkpoints(out) == [40, 80] and rows(out).splitlines()[1].startswith("0,"), os.listdir(out)
        # A finished run that goes on and is killed keeps its summary, under a name that says it is an earlier one.
        kept = read(out, "summary.json")
        process = start(
            ranks,
            "run",
            DECK,
            "--out",
            out,
            "--quiet",
            "--restart",
            "auto",
            *QUICK,
            *settings(run__steps=10000000, output__every=10),
        )
        assert wait_for_rows(out, 12, process), "the restart does not start"
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        assert not os.path.exists(os.path.join(out, "summary.json")), "an old summary passes for that of a killed run"
        before = os.path.join(out, "summary_before.json")
        assert os.path.exists(before) and read(before) == kept, f"the summary is lost: {os.listdir(out)}"
        go(ranks, out, "--restart", "auto", run__steps=120, checkpoint__every=40)
        assert summary(out)["steps"] == 120 and not os.path.exists(before), os.listdir(out)


def test_old_checkpoints(tmp):
    """A checkpoint that version 0.1.0 has written is continued with its balancing, to the hash of 0.1.0."""
    deck, old = os.path.join(SOURCE, "restarts/small.yaml"), os.path.join(SOURCE, "restarts/small_0.1.0.h5")
    for ranks in (1, 2, 3):
        out = os.path.join(tmp, f"old{ranks}")
        code, text = run(ranks, "run", deck, "--out", out, "--quiet", "--restart", old)
        assert code == 0 and text == "", f"a checkpoint of version 0.1.0 on {ranks} ranks: {code} {text!r}"
        assert hash_of(out) == "8d4ed16b1500105b", f"another hash than with version 0.1.0: {hash_of(out)}"
        lbe = {m: f"{v:.6f}" for m, v in summary(out)["overall_lbe"].items()}
        assert lbe == LBE_OF_0_1_0, f"what balancing had learnt is lost: {lbe}"

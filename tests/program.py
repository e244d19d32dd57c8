# SPDX-License-Identifier: MIT
"""The common part of the tests of the program: runs with a time limit, and readers of their results."""
import csv
import functools
import json
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import time
from types import SimpleNamespace

import h5py
import numpy as np
import pytest

SOURCE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
# Programs of a default build. Options of the command line replace them (conftest.py).
options = SimpleNamespace(
    binary=os.path.join(SOURCE, "build/steelyard"),
    mpiexec=shutil.which("mpiexec.mpich") or "mpiexec",
    tool=None,
    full=False,
    other=[],
    seeds="0:6",
)
# A limit that only ends what would never end: a busy machine takes ten times as long as an idle one.
HANG_SECONDS = 600
DECK = os.path.join(SOURCE, "inputs/tiny.yaml")


def two_slabs(box, *corners, **more):
    """Keys of a box with two slabs: lower and upper corner of one, and of the other."""
    names = (f"system__slabs__{i}__{end}" for i in (0, 1) for end in ("lower", "upper"))
    return dict(zip(("system__box", *names), map(str, (box, *corners)))) | more


# A collision for each number of dimensions. It takes a second, and differs along all axes. `small` holds the settings
# that make the deck so small, `dt` the time of a step.
SMALL_SPACE = two_slabs([42, 21, 19.5], [5, 4, 4], [20, 16, 15], [21.5, 6, 3], [37, 19, 14])
COLLISIONS = {
    2: SimpleNamespace(deck=DECK, small={}, box=[260, 140], cells=[104, 56], dt=0.0005),
    3: SimpleNamespace(
        deck=os.path.join(SOURCE, "inputs/collision_3d.yaml"),
        small=dict(SMALL_SPACE, run__steps=120, output__every=40),
        box=[42, 21, 19.5],
        cells=[14, 7, 6],
        dt=0.002,
    ),
}


@functools.cache
def instruction_sets(binary=None):
    """The sets of kernels that a program has and this processor can run."""
    text = fails_with(2, (), 0, *run_words("none"), isa="none", binary=binary)
    return re.search(r"use one of (.*), or unset it", text)[1].split(", ")


def settings(**keys):
    """Options --set of a command line; two underscores stand for a dot."""
    return [x for k, v in keys.items() for x in ("--set", f"{k.replace('__', '.')}={v}")]


# Settings of a run whose checkpoints are larger than a file-size limit that leaves MPI its shared memory.
LARGE = settings(
    **two_slabs([260, 140], [2, 2], [129, 138], [131, 2], [258, 138]),
    **{f"system__slabs__{i}__density": 2.6 for i in (0, 1)},
    system__potential__sigma=0.6,
)
# Keys of a collision of some 5,000 particles: a step takes less than a millisecond.
QUICK = two_slabs([130, 70], [10, 10], [63, 60], [65, 10], [118, 60])
# The same with some 800 particles.
SMALL = two_slabs([60, 40], [10, 10], [28, 30], [30, 10], [48, 30])
# A slab of too many particles for the 16-bit indices of a tile.
DENSE = two_slabs([640, 100], [0.5, 1], [8.4, 99], [600, 10], [610, 20], grid__tile="[8, 512]")
DENSE |= dict(system__slabs__0__density=100, system__slabs__1__density=0.5, system__potential__kind="soft_sphere")


def command(ranks, *arguments, binary=None):
    start = [options.mpiexec, "-n", str(ranks)] if ranks else []
    return start + [binary or options.binary] + [str(a) for a in arguments]


def environment(threads=1, isa=None):
    # Waiting threads sleep: with more threads than cores, spinning ones keep the others from running.
    e = dict(os.environ, OMP_NUM_THREADS=str(threads), OMP_WAIT_POLICY="passive")
    if isa:
        e["STEELYARD_ISA"] = isa
    return e


def preloaded(library):
    """Variables with which a program loads a library before its own: by its name, since blanks separate paths."""
    folder, name = os.path.split(library)
    folders = [folder] + [f for f in os.environ.get("LD_LIBRARY_PATH", "").split(":") if f]
    return dict(LD_PRELOAD=name, LD_LIBRARY_PATH=":".join(folders))


def completed(
    ranks, *arguments, threads=1, isa=None, binary=None, timeout=HANG_SECONDS, limit=None, variables={}, **more
):
    """The command as a CompletedProcess; `limit` is the largest size of a file in bytes."""
    streams = dict(stdout=subprocess.PIPE, stderr=subprocess.PIPE) | more
    return subprocess.run(
        command(ranks, *arguments, binary=binary),
        env=environment(threads, isa) | variables,
        timeout=timeout,
        text=True,
        preexec_fn=(lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))) if limit else None,
        **streams,
    )


def script(name, *arguments, **how):
    """A script of scripts/ as a CompletedProcess."""
    path = os.path.join(SOURCE, "scripts", name)
    words = [sys.executable, path] if path.endswith(".py") else [path]
    return subprocess.run([*words, *map(str, arguments)], **dict(capture_output=True, text=True) | how)


def run(ranks, *arguments, **how):
    """Returns (exit code, standard error)."""
    done = completed(ranks, *arguments, **how)
    return done.returncode, done.stderr


def ok(ranks, *arguments, code=0, **how):
    """Standard error of a command that ends with this exit code."""
    got, text = run(ranks, *arguments, **how)
    assert got == code, f"{arguments} on {ranks} ranks, {how}: exit code {got}, not {code}: {text!r}"
    return text


def printed(ranks, *arguments, **how):
    """Standard output of a command that succeeds."""
    done = completed(ranks, *arguments, **how)
    assert done.returncode == 0, f"{arguments} on {ranks} ranks: {done.returncode} {done.stderr}"
    return done.stdout


def one_error(got, text, code, says=(), alone=True, what="", matches=""):
    """An error ends with its exit code and one line. The line names a remedy, holds `says` (each of a tuple), and
    matches the pattern behind its first words. Unless it stands alone, MPI may add lines after an abort."""
    what = f"{what}: exit code {got}, not {code}, or another text: {text!r}"
    lines = text.splitlines() if alone else our_lines(text)
    assert got == code and len(lines) == 1 and lines[0].startswith("steelyard: error: "), what
    assert re.search(matches, lines[0].removeprefix("steelyard: error: ")), f"{what} does not match {matches!r}"
    for each in ("; ", says) if isinstance(says, str) else ("; ", *says):
        assert each in text, f"{what} does not say {each!r}"


def fails_with(code, says, ranks, *arguments, matches="", **how):
    """Standard error of a command that ends with this exit code and one line, as one_error() wants it."""
    got, text = run(ranks, *arguments, **how)
    one_error(got, text, code, says, what=f"{arguments} on {ranks} ranks", matches=matches)
    return text


def run_words(out, *more, deck=DECK, restart=None, **keys):
    """Arguments of a run of the deck with these keys into the directory."""
    start = ["--restart", restart] if restart else []
    return ["run", deck, "--out", out, "--quiet", *start, *more, *settings(**keys)]


def ok_run(out, *more, ranks=1, code=0, threads=1, isa=None, binary=None, limit=None, variables={}, **keys):
    """Standard error of a run that ends with this exit code; keys are those of run_words()."""
    how = dict(threads=threads, isa=isa, binary=binary, limit=limit, variables=variables)
    return ok(ranks, *run_words(out, *more, **keys), code=code, **how)


def said_by_run(out, *more, ranks=1, **keys):
    """What a run that succeeds prints, with keys of run_words(). Blanks and ends of lines are single blanks."""
    words = run_words(out, *more, **keys)
    return " ".join(printed(ranks, *(w for w in words if w != "--quiet")).split())


@functools.cache
def documented_keys():
    """Keys of the summary.json of a run, by the table in docs/output.md."""
    with open(os.path.join(SOURCE, "docs/output.md")) as f:
        section = f.read().split("\n## summary.json\n")[1].split("\n## ")[0]
    return set(re.findall(r"`(\w+)`", " ".join(row.split("|")[1] for row in section.splitlines() if row[:3] == "| `")))


def summary(out):
    """The summary.json of a run or a replay. The page of outputs has to have each key of a run."""
    with open(os.path.join(out, "summary.json")) as f:
        found = json.load(f)
    assert "state_hash" not in found or found.keys() <= documented_keys(), found.keys() - documented_keys()
    return found


def hash_of(out):
    return summary(out)["state_hash"]


def collide(dimensions, out, *more, **keys):
    """ok_run() of the collision in so many dimensions."""
    c = COLLISIONS[dimensions]
    return ok_run(out, *more, deck=c.deck, **c.small | keys)


def once(*more, **keys):
    """A fixture: the directory of a run that the tests of a file share, with keys of ok_run()."""

    @pytest.fixture(scope="module")
    def shared(tmp_path_factory):
        out = tmp_path_factory.mktemp("once") / "out"
        ok_run(out, *more, **keys)
        return out

    return shared


def state_of(deck, out, ranks=0, **keys):
    """The state at the end of a run that succeeds."""
    ok_run(out, deck=deck, ranks=ranks, **keys)
    return hash_of(out)


def one_state(deck, folder, ways, **keys):
    """The state of a deck with these keys, which it has on one rank and in each of the ways."""
    state = state_of(deck, folder / "alone", **keys)
    for i, way in enumerate(ways):
        assert state_of(deck, fresh(folder / "way"), **keys | way) == state, f"{deck} {keys}: {way}"
    return state


def table(out, name="thermo.csv", **where):
    """The rows of a table of results, of which these columns have these values."""
    with open(os.path.join(out, name), newline="") as f:
        return [r for r in csv.DictReader(f) if all(r[k] == v for k, v in where.items())]


def thermo(out):
    """The rows of thermo.csv as numbers."""
    return [{k: float(v) for k, v in row.items()} for row in table(out)]


def driver_rows(out):
    """The rows of balance.csv of the model that the run follows."""
    return table(out, "balance.csv", driver="1")


def replay(loads, out, ranks=0, more=(), **keys):
    """A replay of a load series that succeeds."""
    ok(ranks, "replay", loads, "--out", out, *more, *settings(**keys))


def datasets(path, *names):
    """Datasets of an HDF5 file by name; without names all that stand at its top."""
    with h5py.File(path) as f:
        return {name: f[name][()] for name in names or f}


def exact_state(path):
    """Ids in their order, and positions and velocities in 2^-40, of a checkpoint."""
    ids, state = datasets(path, "exact/id", "exact/state").values()
    order = np.argsort(ids)
    return ids[order], *np.split(state[order], 2, axis=1)


def write_datasets(path, attributes={}, **values):
    """An HDF5 file; returns its path."""
    with h5py.File(path, "w") as f:
        for name, value in values.items():
            f[name] = value
        f.attrs.update(attributes)
    return path


def rows(out):
    with open(os.path.join(out, "thermo.csv")) as f:
        return f.read()


def checkpoints(out):
    """Steps of the checkpoints in a directory, which a run that was killed early has not made."""
    if not os.path.isdir(out):
        return []
    return sorted(int(n[11:-3]) for n in os.listdir(out) if n.startswith("checkpoint_") and n.endswith(".h5"))


def decisions(out, after=0):
    """balance.csv without the columns that hold wall-clock times."""
    timed = ("model_seconds", "partition_seconds", "migrate_seconds")
    return [{k: v for k, v in r.items() if k not in timed} for r in table(out, "balance.csv") if int(r["step"]) > after]


def our_lines(text):
    """Lines of the program in a standard error to which MPI may add its own."""
    return [line for line in text.splitlines() if line.startswith("steelyard:")]


def start(ranks, *arguments, binary=None, words=None, stdout=subprocess.DEVNULL, cwd=None, variables={}):
    """A run, or a job by its whole command line, in a process group of its own."""
    how = dict(env=environment() | variables, cwd=cwd, stdout=stdout, stderr=subprocess.PIPE, text=True)
    words = [str(w) for w in words or command(ranks, *arguments, binary=binary)]
    return subprocess.Popen(words, start_new_session=True, **how)


def rows_written(out):
    try:
        return rows(out).count("\n")
    except OSError:
        return 0


def wait_until(condition, seconds=HANG_SECONDS):
    """Whether the condition holds in this time."""
    end = time.monotonic() + seconds
    while not condition() and time.monotonic() < end:
        time.sleep(0.005)
    return condition()


def wait_for_rows(out, n, process):
    """Until thermo.csv has more than n rows: the run is under way."""
    wait_until(lambda: rows_written(out) > n or process.poll() is not None)
    return rows_written(out) > n


def under_way(ranks, out, *more, rows=1, **keys):
    """A run that has written more than so many rows and lasts until it is told to end, with keys of run_words()."""
    process = start(ranks, *run_words(out, *more, **dict(run__steps=10000000) | keys))
    assert wait_for_rows(out, rows, process), "the run does not start"
    return process


def end_of(process, what, code=None, says=None):
    """Standard error of a process that must end by itself, with this exit code, and one_error() if it says something. A
    process that hangs is killed."""
    try:
        text = process.communicate(timeout=HANG_SECONDS)[1]
    except subprocess.TimeoutExpired:
        kill(process)
        raise AssertionError(f"{what}: it still runs after {HANG_SECONDS} s") from None
    assert code in (None, process.returncode), f"{what}: exit code {process.returncode}, not {code}: {text!r}"
    if says is not None:
        one_error(process.returncode, text, code, says, alone=False, what=what)
    return text


def kill(process):
    """Kills all processes of a run, and waits for their end."""
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()


def processes_of(binary_marker):
    """Process ids whose command line holds the marker."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as f:
                words = f.read().split(b"\0")
        except OSError:
            continue
        if words[0] == options.binary.encode() and str(binary_marker).encode() in words:
            found.append(int(pid))
    return found


def built(*programs, page="docs/simulation.md"):
    """A mark that skips tests if a program of another build is missing. This page says how to make it."""
    missing = [p for p in programs if not os.access(os.path.join(SOURCE, p), os.X_OK)]
    return pytest.mark.skipif(bool(missing), reason=f"there is no {missing}; {page} says how to build it")


def same_run(a, b):
    """Two directories have the same state at the end and the same rows."""
    return hash_of(a) == hash_of(b) and rows(a) == rows(b)


def damage(path, at, data=None):
    """Writes bytes over those of a file, or changes a bit of it."""
    with open(path, "r+b") as f:
        f.seek(at)
        data = data or bytes([f.read(1)[0] ^ 1])
        f.seek(at)
        f.write(data)


def written(path, text):
    """A file with this text; returns its path."""
    path.write_text(text)
    return path


def fresh(out):
    """The name of an output directory, empty from now on."""
    shutil.rmtree(out, ignore_errors=True)
    return out

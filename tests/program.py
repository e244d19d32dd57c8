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
import time
from types import SimpleNamespace

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
# A collision for each number of dimensions. It takes a second, and differs along all axes. `small` holds the settings
# that make the deck so small, `dt` the time of a step.
COLLISIONS = {
    2: SimpleNamespace(deck=DECK, small={}, box=[260, 140], cells=[104, 56], dt=0.0005),
    3: SimpleNamespace(
        deck=os.path.join(SOURCE, "inputs/collision_3d.yaml"),
        small=dict(
            system__box="[42, 21, 19.5]",
            system__slabs__0__lower="[5, 4, 4]",
            system__slabs__0__upper="[20, 16, 15]",
            system__slabs__1__lower="[21.5, 6, 3]",
            system__slabs__1__upper="[37, 19, 14]",
            run__steps=120,
            output__every=40,
        ),
        box=[42, 21, 19.5],
        cells=[14, 7, 6],
        dt=0.002,
    ),
}


def settings(**keys):
    """Options --set of a command line; two underscores stand for a dot."""
    return [x for k, v in keys.items() for x in ("--set", f"{k.replace('__', '.')}={v}")]


# Settings of a run whose checkpoints are larger than a file-size limit that leaves MPI its shared memory.
LARGE = settings(
    **{f"system__slabs__{i}__density": 2.6 for i in (0, 1)},
    system__slabs__0__lower="[2, 2]",
    system__slabs__0__upper="[129, 138]",
    system__slabs__1__lower="[131, 2]",
    system__slabs__1__upper="[258, 138]",
    system__potential__sigma=0.6,
)
# Keys of a collision of some 5,000 particles: a step takes less than a millisecond.
QUICK = dict(
    system__box="[130.0, 70.0]",
    system__slabs__0__lower="[10, 10]",
    system__slabs__0__upper="[63, 60]",
    system__slabs__1__lower="[65, 10]",
    system__slabs__1__upper="[118, 60]",
)
# The same with some 800 particles.
SMALL = dict(
    system__box="[60.0, 40.0]",
    system__slabs__0__lower="[10, 10]",
    system__slabs__0__upper="[28, 30]",
    system__slabs__1__lower="[30, 10]",
    system__slabs__1__upper="[48, 30]",
)


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


def run(ranks, *arguments, **how):
    """Returns (exit code, standard error)."""
    done = completed(ranks, *arguments, **how)
    return done.returncode, done.stderr


def printed(ranks, *arguments, **how):
    """Standard output of a command that succeeds."""
    done = completed(ranks, *arguments, **how)
    assert done.returncode == 0, f"{arguments} on {ranks} ranks: {done.returncode} {done.stderr}"
    return done.stdout


def one_error(got, text, code, says=(), alone=True, what=""):
    """An error ends with its exit code and one line, which holds `says` (each of a tuple) and what helps. Unless it
    stands alone, MPI may add lines of its own after an abort."""
    what = f"{what}: exit code {got}, not {code}, or another text: {text!r}"
    lines = text.splitlines() if alone else our_lines(text)
    assert got == code and len(lines) == 1 and lines[0].startswith("steelyard: error: "), what
    for each in ("; ", says) if isinstance(says, str) else ("; ", *says):
        assert each in text, f"{what} does not say {each!r}"


def fails_with(code, says, ranks, *arguments, **how):
    """Standard error of a command that ends with this exit code and one line, which holds `says`."""
    got, text = run(ranks, *arguments, **how)
    one_error(got, text, code, says, what=f"{arguments} on {ranks} ranks")
    return text


def run_words(out, *more, deck=DECK, restart=None, **keys):
    """Arguments of a run of the deck with these keys into the directory."""
    start = ["--restart", restart] if restart else []
    return ["run", deck, "--out", out, "--quiet", *start, *more, *settings(**keys)]


def ok_run(out, *more, ranks=1, code=0, threads=1, isa=None, binary=None, limit=None, variables={}, **keys):
    """Standard error of a run that ends with this exit code; keys are those of run_words()."""
    how = dict(threads=threads, isa=isa, binary=binary, limit=limit, variables=variables)
    got, text = run(ranks, *run_words(out, *more, **keys), **how)
    assert got == code, f"{out} {more} {keys} on {ranks} ranks, {how}: exit code {got}, not {code}: {text!r}"
    return text


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


def state_of(deck, out, ranks=0, **keys):
    """The state at the end of a run that succeeds."""
    ok_run(out, deck=deck, ranks=ranks, **keys)
    return hash_of(out)


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
    with open(os.path.join(out, "balance.csv")) as f:
        table = list(csv.DictReader(f))
    return [
        {k: v for k, v in r.items() if k not in ("model_seconds", "partition_seconds", "migrate_seconds")}
        for r in table
        if int(r["step"]) > after
    ]


def our_lines(text):
    """Lines of the program in a standard error to which MPI may add its own."""
    return [line for line in text.splitlines() if line.startswith("steelyard:")]


def start(ranks, *arguments, binary=None):
    """A run in a process group of its own."""
    return subprocess.Popen(
        command(ranks, *arguments, binary=binary),
        env=environment(),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def rows_written(out):
    try:
        return rows(out).count("\n")
    except OSError:
        return 0


def wait_for_rows(out, n, process, seconds=HANG_SECONDS):
    """Until thermo.csv has n rows: the run is under way."""
    end = time.monotonic() + seconds
    while time.monotonic() < end and process.poll() is None:
        if rows_written(out) > n:
            return True
        time.sleep(0.005)
    return False


def end_of(process, what):
    """Standard error of a process that must end by itself; one that hangs is killed."""
    try:
        return process.communicate(timeout=HANG_SECONDS)[1]
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        raise AssertionError(f"{what}: it still runs after {HANG_SECONDS} s") from None


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


def damage(path, at, data):
    """Writes bytes over those of a file."""
    with open(path, "r+b") as f:
        f.seek(at)
        f.write(data)


def fresh(out):
    """The name of an output directory, empty from now on."""
    shutil.rmtree(out, ignore_errors=True)
    return out

# SPDX-License-Identifier: MIT
"""What the tests of the program share: runs with a time limit, and readers of their results."""
import csv
import json
import os
import resource
import shutil
import subprocess
import time
from types import SimpleNamespace

import pytest

SOURCE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
# What conftest.py replaces by the options of the command line: the programs of a default build.
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
# By the number of dimensions, a collision that takes a second and is not the same along any two axes: its deck, the
# settings that make it so small, its box, its cells, and the time of a step.
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
# Settings that make the deck so large that a file-size limit can lie below a checkpoint's size, and above what MPI
# itself needs for shared memory.
LARGE = [
    "--set",
    "system.slabs.1.lower=[131,2]",
    "--set",
    "system.slabs.1.upper=[258,138]",
    "--set",
    "system.slabs.0.lower=[2,2]",
    "--set",
    "system.slabs.0.upper=[129,138]",
    "--set",
    "system.slabs.0.density=2.6",
    "--set",
    "system.slabs.1.density=2.6",
    "--set",
    "system.potential.sigma=0.6",
]


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


def run(ranks, *arguments, threads=1, isa=None, binary=None, timeout=HANG_SECONDS, limit=None):
    """Returns (exit code, standard error)."""
    before = (lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))) if limit else None
    done = subprocess.run(
        command(ranks, *arguments, binary=binary),
        env=environment(threads, isa),
        timeout=timeout,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=before,
    )
    return done.returncode, done.stderr


def settings(**keys):
    return [x for k, v in keys.items() for x in ("--set", f"{k.replace('__', '.')}={v}")]


def hash_of(out):
    with open(os.path.join(out, "summary.json")) as f:
        return json.load(f)["state_hash"]


def state_of(deck, out, ranks=0, threads=1, isa=None, **keys):
    """The state at the end of a run that succeeds."""
    code, text = run(ranks, "run", deck, "--out", out, "--quiet", *settings(**keys), threads=threads, isa=isa)
    assert code == 0, f"{deck} on {ranks} ranks, {isa}, {keys}: {code} {text}"
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


def summary(out):
    with open(os.path.join(out, "summary.json")) as f:
        return json.load(f)


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


def processes_of(binary_marker):
    """Process ids whose command line holds the marker."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as f:
                words = f.read().split(b"\0")
        except OSError:
            continue
        if words[0] == options.binary.encode() and binary_marker.encode() in words:
            found.append(int(pid))
    return found


def built(*programs, page="docs/simulation.md"):
    """A mark that skips tests where a program of another build is missing, which this page says how to make."""
    missing = [p for p in programs if not os.access(os.path.join(SOURCE, p), os.X_OK)]
    return pytest.mark.skipif(bool(missing), reason=f"there is no {missing}; {page} says how to build it")


def fresh(out):
    """The name of an output directory, empty from now on."""
    shutil.rmtree(out, ignore_errors=True)
    return out

# SPDX-License-Identifier: MIT
"""What the tests of the program share: its command line, runs with a time limit, and readers of its results."""
import argparse
import csv
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time

parser = argparse.ArgumentParser()
parser.add_argument("binary")
parser.add_argument("mpiexec")
parser.add_argument("source")
parser.add_argument("group")
parser.add_argument("--tool", help="the test_tool of this build (test_reliability.py)")
parser.add_argument("--full", action="store_true")
parser.add_argument(
    "--other", action="append", default=[], help="another build that must give the same hashes (one_hash)"
)
options = parser.parse_args()
DECK = os.path.join(options.source, "inputs/tiny.yaml")
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
failures = 0


def check(condition, what):
    global failures
    if not condition:
        failures += 1
        print("FAILED:", what, flush=True)


def command(ranks, *arguments, binary=None):
    start = [options.mpiexec, "-n", str(ranks)] if ranks else []
    return start + [binary or options.binary] + [str(a) for a in arguments]


def environment(threads=1, isa=None):
    # Waiting threads sleep: with more threads than cores, spinning ones keep the others from running.
    e = dict(os.environ, OMP_NUM_THREADS=str(threads), OMP_WAIT_POLICY="passive")
    if isa:
        e["STEELYARD_ISA"] = isa
    return e


def run(ranks, *arguments, threads=1, isa=None, binary=None, timeout=120, limit=None):
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


def rows(out):
    with open(os.path.join(out, "thermo.csv")) as f:
        return f.read()


def checkpoints(out):
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


def wait_for_rows(out, n, process, seconds=30):
    """Until thermo.csv has n rows: the run is under way."""
    end = time.monotonic() + seconds
    while time.monotonic() < end and process.poll() is None:
        try:
            if rows(out).count("\n") > n:
                return True
        except OSError:
            pass
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


def fresh(out):
    """The name of an output directory, empty from now on."""
    shutil.rmtree(out, ignore_errors=True)
    return out


def main(*groups):
    """Runs the group that the command line names in a directory of its own; exits 1 if a check failed."""
    with tempfile.TemporaryDirectory() as folder:
        {f.__name__: f for f in groups}[options.group](folder)
    print("failed" if failures else "passed")
    sys.exit(1 if failures else 0)

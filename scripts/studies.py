# SPDX-License-Identifier: MIT
"""Runs of the program for the scripts in bench/ and reproduce/: options, builds, rounds, quiet machines, tables."""
import argparse
import contextlib
import json
import os
import random
import re
import resource
import shutil
import subprocess
import tempfile
import time

from common import ROOT, call, fail, parser_of, read_csv, read_json, words

# The file of results that a command of the program writes, where it is not summary.json.
RESULTS = {"partition": "partition.json", "predict": "predict.json"}
RESULTS_VERSION = 2  # raised when scripts need keys that older results lack, so these are made anew
PINNED = ["taskset", "-c", "0"]  # starts a program on one core
QUIET = 0.04  # part of all cores that other programs, or the host of this machine, may take during a measurement
TRIES = 5  # runs of a measurement that others disturb


def count(word):
    """The type of an option that is a whole number above 0."""
    if not re.fullmatch("0*[1-9][0-9]*", word):
        raise argparse.ArgumentTypeError(f"{word} is no whole number above 0")
    return int(word)


def options_of(doc, rounds=None):
    """The parser of a script whose docstring is its help. Paths are relative to the checkout from now on.

    rounds: The name of an option for the number of rounds, if the script has one.
    """
    os.chdir(ROOT)
    parser = parser_of(doc)
    if rounds:
        parser.add_argument(rounds, type=count, default=5, help="rounds (default: 5)")
    return parser


def build(*targets, preset="default", setup=None):
    """Builds targets by scripts/build.sh; before that, setup.sh installs the packages of an option, as --bench.

    With STEELYARD_BUILD=skip in the environment, as in tests of a finished build, nothing is built.
    """
    if os.environ.get("STEELYARD_BUILD") == "skip":
        return
    if preset == "smpi" and not shutil.which("smpirun"):
        fail("SimGrid is not here; run scripts/setup.sh --simulate")
    if setup:
        call(["scripts/setup.sh", setup])
    call(["scripts/build.sh", preset], environment=dict(TARGET=" ".join(targets)), stdout=subprocess.DEVNULL)


def steelyard(*arguments, out, settings=(), start=(), binary="build/steelyard", keep=False, **options):
    """Runs a command of the program and returns its results, the content of summary.json or the like.

    arguments: The command, its input and its options.  out: The output directory, emptied before.
    settings: "key.path=value", ...  start: Words before the program, such as mpiexec(2) or PINNED.
    keep: If `out` has results of the same command, they are taken as they are.  options: Those of call().
    """
    command, record = [*arguments, *words(settings)], os.path.join(out, "command.json")
    made = {"command": command, "results": RESULTS_VERSION}
    if not (keep and os.path.exists(record) and read_json(record) == made):
        shutil.rmtree(out, ignore_errors=True)
        call([*start, binary, *command, "--out", out, "--quiet"], **options)
        with open(record, "w") as f:
            json.dump(made, f)
    return read_json(os.path.join(out, RESULTS.get(arguments[0], "summary.json")))


def simulated(ranks, deck, out, settings):
    """Runs a deck on ranks of a simulated cluster (scripts/simulate.sh) and returns its summary."""
    shutil.rmtree(out, ignore_errors=True)
    call(["scripts/simulate.sh", ranks, deck, "--out", out, "--quiet", *words(settings)])
    return read_json(os.path.join(out, "summary.json"))


@contextlib.contextmanager
def run_of(deck, folder=None, **options):
    """Runs a deck, given as text: yields the summary and the output directory, which is removed afterwards.

    folder: where that directory is made.  options: those of steelyard().
    """
    with tempfile.TemporaryDirectory(dir=folder) as place:
        path, out = os.path.join(place, "deck.yaml"), os.path.join(place, "out")
        with open(path, "w") as f:
            f.write(deck)
        yield steelyard("run", path, out=out, **options), out


def seconds_between(out, first, last, clock="wall_seconds"):
    """Seconds from one step of a run to another, both with a row in timing.csv."""
    at = {int(r["step"]): float(r[clock]) for r in read_csv(os.path.join(out, "timing.csv"))}
    return at[last] - at[first]


def in_turns(rounds, cases, run, shuffled=False):
    """{case: [run(case) of each round]}. All cases run once in a round, so a drift of the machine meets all alike."""
    found = {case: [] for case in cases}
    for k in range(rounds):
        for case in random.Random(k).sample(list(found), len(found)) if shuffled else found:
            found[case].append(run(case))
    return found


def taken_by_all():
    """Seconds that the cores have worked, and that the host has taken from this machine, since it was started."""
    with open("/proc/stat") as f:
        user, nice, system, _, _, irq, softirq, steal = map(int, f.readline().split()[1:9])
    return (user + nice + system + irq + softirq + steal) / os.sysconf("SC_CLK_TCK")


def taken_by_us():
    """Processor seconds of this program and of those that it has started."""
    usages = map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(u.ru_utime + u.ru_stime for u in usages)


def quiet(run):
    """The dictionary that run() returns, of the first run beside which no other program was at work.

    If there is none in TRIES runs, the quietest one counts. Adds the part of the cores that others took as `others`.
    """
    best = None
    for _ in range(TRIES):
        all_, us, start = taken_by_all(), taken_by_us(), time.monotonic()
        result = run()
        others = (taken_by_all() - all_) - (taken_by_us() - us)
        result["others"] = max(0, others / (time.monotonic() - start) / os.cpu_count())
        if best is None or result["others"] < best["others"]:
            best = result
        if best["others"] <= QUIET:
            break
    return best


def table(*columns):
    """Prints the heads of a table of text. Returns the function that prints a row of it.

    columns: Pairs of a head and the format of a column's values, such as "<10" or "8.2f". A text in the place of a
    number gets the width of the column.
    """
    of_texts = [re.sub(r"^(<?)(\d+).*", lambda m: (m[1] or ">") + m[2], form) for _, form in columns]

    def row(*values):
        forms = (t if isinstance(v, str) else form for v, t, (_, form) in zip(values, of_texts, columns))
        print("".join(map(format, values, forms)), flush=True)

    row(*(head for head, _ in columns))
    return row


def markdown_row(cells):
    """A row of a Markdown table."""
    return "| " + " | ".join(map(str, cells)) + " |"


def markdown_head(cells):
    """The first two lines of a Markdown table."""
    return markdown_row(cells) + "\n" + "|---" * len(cells) + "|"

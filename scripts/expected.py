#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares runs of the decks in inputs/ with the results that they must have on every machine (inputs/expected.csv).

For each deck and precision, the table has the state hash and the energy after a few steps. For decks of moderate size
it has them after the whole run, too (--whole). Ranks, threads, kernels, compiler, MPI library, balancing and
accelerators change none of them. So the table accepts a new machine or a new build:

    scripts/expected.py --program /opt/steelyard/bin/steelyard --start "srun -n 16"
    scripts/expected.py --set accelerator.backend=cuda tiny slab

--write makes the table anew: after a change that is meant to change bits. docs/expected.md
"""
import os
import re
import shlex
import shutil
import sys
import tempfile

from common import ROOT, fail, parser_of, read_csv, write_csv
from studies import steelyard

TABLE = os.path.join(ROOT, "inputs", "expected.csv")
COLUMNS = ("deck", "particles", "steps", "precision", "state_hash", "energy")
AFTER = {"launch/launch": "launch/equilibrate"}  # decks that begin with the last checkpoint of another deck's run
RESTARTS = {"strip_t1": ("restarts/strip_t1.h5", 1000)}  # decks that go on from a checkpoint, and its step
FEW = 3e5  # particles times steps of a short run, about
MUCH = 1e9  # particles times steps of the longest whole run; the decks lbe* are experiments of minutes
TOO_LARGE = {"lbe_full"}  # 80 GB


def decks():
    """The names of all decks that are run, as "gallery/melt", in the order of the table."""
    inputs = os.path.join(ROOT, "inputs")
    found = []
    for folder, _, files in os.walk(inputs):
        found += [os.path.relpath(os.path.join(folder, f), inputs)[:-5] for f in files if f.endswith(".yaml")]
    return sorted(set(found) - TOO_LARGE, key=lambda name: (os.path.dirname(name), name))


def options_of(name):
    """The words of a run of this deck before its settings."""
    restart = ["--restart", os.path.join(ROOT, RESTARTS[name][0])] if name in RESTARTS else []
    return [os.path.join(ROOT, "inputs", name + ".yaml"), *restart]


class Runs:
    """Runs of decks in a folder of their own, with one program, start and settings."""

    def __init__(self, program, start, settings, folder):
        self.how = dict(binary=program, start=start, threads=None, cwd=folder)
        self.settings, self.folder, self.made = settings, folder, set()

    def row(self, name, steps, precision):
        """The row of the table that this run has. steps: the number of the last step; None: the deck's."""
        before = AFTER.get(name)
        if before and before not in self.made:
            self.made.add(before)
            self.row(before, None, "mixed")
        # Decks look for the checkpoint of another deck's run in out/.
        out = os.path.join(self.folder, "out" if steps is None else "compared", os.path.basename(name))
        settings = [f"run.precision={precision}", *self.settings]
        if steps is not None:
            settings.append(f"run.steps={steps}")
        s = steelyard("run", *options_of(name), out=out, settings=settings, **self.how)
        energy = "" if s["energy_last"] is None else repr(s["energy_last"])
        return dict(zip(COLUMNS, map(str, (name, s["particles"], s["steps"], precision, s["state_hash"], energy))))


def few_steps(particles):
    """Steps of a short run: 10, 20, 50, 100 or 200."""
    return next((n for n in (10, 20, 50, 100) if n * particles >= FEW), 200)


def rows_of(runs, name):
    """All rows of a deck: short runs in both precisions, and the whole run if it does not take too long."""
    start = runs.row(name, RESTARTS[name][1] if name in RESTARTS else 0, "mixed")
    particles, first = int(start["particles"]), int(start["steps"])
    with open(os.path.join(ROOT, "inputs", name + ".yaml")) as deck:
        last = int(re.search(r"^run: .*steps: (\d+)", deck.read(), re.MULTILINE)[1])
    steps = min(last, first + few_steps(particles))
    rows = [runs.row(name, steps, precision) for precision in ("mixed", "double")]
    if steps < last and particles * (last - first) <= MUCH and not name.startswith("lbe"):
        rows.append(runs.row(name, None, "mixed"))
    return rows


def write(runs, names):
    """Makes the rows of these decks anew."""
    old = read_csv(TABLE, COLUMNS) if os.path.exists(TABLE) else []
    rows = {name: [row for row in old if row["deck"] == name] for name in decks()}
    for name in names:
        rows[name] = rows_of(runs, name)
        print(f"{name}: {', '.join(row['state_hash'] for row in rows[name])}", flush=True)
    write_csv(TABLE, [row for of_deck in rows.values() for row in of_deck])


def check(runs, names, whole):
    """Runs rows of the table again, says which differ, and returns whether none does."""
    rows = [row for row in read_csv(TABLE, COLUMNS) if row["deck"] in names]
    shortest = {row["deck"]: min(int(r["steps"]) for r in rows if r["deck"] == row["deck"]) for row in rows}
    wrong = 0
    chosen = [row for row in rows if whole or int(row["steps"]) == shortest[row["deck"]]]
    for row in chosen:
        found = runs.row(row["deck"], int(row["steps"]), row["precision"])
        different = [f"{c} {found[c]} instead of {row[c]}" for c in COLUMNS if found[c] != row[c]]
        wrong += bool(different)
        verdict = ", ".join(different) or "as expected"
        print(f"{row['deck']}, {row['steps']} steps, {row['precision']}: {verdict}", flush=True)
    print(f"{len(chosen) - wrong} of {len(chosen)} runs as expected")
    return wrong == 0


def main():
    parser = parser_of(__doc__)
    parser.add_argument("deck", nargs="*", help="names of decks, such as tiny or gallery/melt (default: all)")
    parser.add_argument("--program", default=os.path.join(ROOT, "build", "steelyard"), help="default: build/steelyard")
    parser.add_argument("--start", default="", help='words before the program, as "mpiexec.mpich -n 3"')
    of_all = dict(action="append", default=[], metavar="KEY=VALUE", help="a key for all runs (repeatable)")
    parser.add_argument("--set", **of_all)
    parser.add_argument("--most", type=float, default=float("inf"), help="only decks of at most so many particles")
    parser.add_argument("--whole", action="store_true", help="whole runs, too")
    parser.add_argument("--write", action="store_true", help="make the table anew")
    arguments = parser.parse_args()
    unknown = sorted(set(arguments.deck) - set(decks()))
    if unknown:
        fail(f"{unknown[0]}: there is no such deck in inputs/; known are {', '.join(decks())}")
    if arguments.write and (arguments.set or arguments.most < float("inf")):
        fail("--write makes the table of the decks as they are; leave out --set and --most")
    try:
        start = shlex.split(arguments.start)
    except ValueError as e:
        fail(f"--start {arguments.start}: {e}; close it")
    for word in (arguments.program, *start[:1]):
        if not shutil.which(word):
            fail(
                f"{word}: there is no such program; build it by scripts/build.sh, or give another to --program, --start"
            )
    start[:1] = [os.path.abspath(shutil.which(word)) for word in start[:1]]
    with tempfile.TemporaryDirectory(dir=os.getcwd() if start else None) as folder:  # other nodes do not share /tmp
        runs = Runs(os.path.abspath(shutil.which(arguments.program)), start, arguments.set, folder)
        if arguments.write:
            return write(runs, arguments.deck or decks())
        rows = read_csv(TABLE, COLUMNS, "make it with --write")
        small = {row["deck"] for row in rows if int(row["particles"]) <= arguments.most}
        names = small & set(arguments.deck or decks())
        if not names:
            fail("no deck is so small; give a larger --most")
        return 0 if check(runs, names, arguments.whole) else 1


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)

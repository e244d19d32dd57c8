#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The decks of inputs/gallery, balanced by load models and partitioners on 64 and 2400 virtual processes.

Each deck runs once, balanced by its true costs at 20 moments of its course, which its picture and its report show. From
the middle on it runs again for 200 steps and records what its cells cost every 10 steps. This series is balanced again
(steelyard replay) at each of its entries, by each model with each partitioner, beside an even partition that stays. The
table shows the overall LBE in percent, by counted work, without the first balancing, whose loads nobody had measured;
so it is the same on every machine. Processes are equally fast, and models are told so (speeds: off). A run or replay
that exists is not made again; --fresh makes all.

  --quick   courses of a quarter of the steps, 64 processes, two models and two partitioners: a minute or two
"""
import argparse
import glob
import os
import re
import shutil
import sys

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir))
from common import call, draw, fail, mpiexec, read_json, words, write_json  # noqa: E402

OUT, DOCS = "results/gallery", "docs/gallery"
DECKS = sorted(os.path.basename(path)[:-5] for path in glob.glob("inputs/gallery/*.yaml"))
MODELS = ["time_average", "particle_count", "a1", "r1", "exact"]
PARTITIONS = {  # name in the table: deck's section partition
    "rcb": "{kind: rcb}",
    "patches": "{kind: chain, cut: patches}",
    "strips": "{kind: chain, cut: strips}",
    "cells": "{kind: chain, cut: cells}",
}
PROCESSES = [64, 2400]
INTERVALS, EVERY = 20, 10
COURSE = [  # 64 processes balanced by the true costs, beside an even partition that stays, and three load models
    "balance.clock=work",
    "balance.processes=64",
    "balance.criterion=every",
    "balance.speeds=off",
    "balance.model=exact",
    "balance.partition={kind: chain, cut: strips}",
    "balance.compare=[{name: even, model: exact, partition: {kind: none}}, particle_count, a1, r1]",
]
TABLE = re.compile(r"(?<=<!-- table -->\n).*(?=<!-- end of table -->)", re.S)


def made(out, command, settings, fresh):
    """The output directory of a command that has ended; it is not run again unless all is made anew."""
    if fresh or not os.path.exists(f"{out}/summary.json"):
        shutil.rmtree(out, ignore_errors=True)
        call([*command, "--out", out, "--quiet"] + words(settings))
    return out


def record(name, out, quick, fresh):
    """The directories of a deck's course, and of the steps from its middle on."""
    deck = f"inputs/gallery/{name}.yaml"
    with open(deck) as f:
        steps = int(re.search(r"steps: (\d+)", f.read())[1]) // (4 if quick else 1)
    middle, every = steps // 2, steps // INTERVALS
    run = [*mpiexec(2), "build/steelyard", "run", deck]
    of_course = [f"run.steps={steps}", f"balance.every={every}", f"checkpoint.every={middle}"]
    course = made(f"{out}/course", run, COURSE + of_course, fresh)
    of_window = [f"run.steps={middle + INTERVALS * EVERY}", f"output.loads_every={EVERY}", "balance.every=0"]
    restarted = [*run, "--restart", f"{course}/checkpoint_{middle}.h5"]
    return course, made(f"{out}/window", restarted, of_window, fresh)


def replay(series, to, processes, models, partitions, fresh):
    """The directory of a replay by so many processes, of an even partition and of all models with all partitions."""
    entries = [f"{{name: {m}+{p}, model: {m}, partition: {PARTITIONS[p]}}}" for m in models for p in partitions]
    settings = [
        f"balance.processes={processes}",
        "balance.criterion=every",
        "balance.speeds=off",
        "balance.partition={kind: none}",
        f"balance.compare=[{', '.join(entries)}]",
    ]
    return made(to, ["build/steelyard", "replay", f"{series}/loads.h5"], settings, fresh)


def overall_lbe(replayed):
    summary = read_json(f"{replayed}/summary.json")
    measured = {m: v for m, v in summary["overall_lbe_measured"].items() if v is not None}
    return summary["overall_lbe"] | measured


def main():
    parser = argparse.ArgumentParser(
        prog="gallery.sh", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--docs", action="store_true", help="also put them into docs/gallery.md")
    parser.add_argument("--fresh", action="store_true", help="run and replay again what exists")
    parser.add_argument("--only", nargs="+", choices=DECKS, default=DECKS)
    arguments = parser.parse_args()
    if arguments.docs and (arguments.quick or arguments.only != DECKS):
        fail("--docs is for the whole table; leave --quick and --only out")
    models, partitions, processes = MODELS, list(PARTITIONS), PROCESSES
    if arguments.quick:
        models, partitions, processes = ["a1", "r1"], ["rcb", "cells"], [64]
    base = f"{OUT}/quick" if arguments.quick else OUT
    os.makedirs(base, exist_ok=True)
    heads = ["deck", "particles", "cells", "partitioner", "even and fixed"] + [f"`{m}`" for m in models]
    rows, cases = ["| " + " | ".join(heads) + " |", "|---" * len(heads) + "|"], []
    print("\n".join(rows))
    for name in arguments.only:
        fresh = arguments.fresh
        course, window = record(name, f"{base}/{name}", arguments.quick, fresh)
        draw("map", f"{base}/{name}.png", course, options=("--colour", "load"))
        lbe = [overall_lbe(replay(window, f"{window}/{n}", n, models, partitions, fresh)) for n in processes]
        run = read_json(f"{window}/summary.json")
        cases.append(
            {"deck": name, "particles": run["particles"], "cells": run["cells"], "lbe": dict(zip(processes, lbe))}
        )

        def cell(label):
            return " / ".join(f"{100 * found[label]:.1f}" for found in lbe)

        for p in partitions:
            first = p == partitions[0]
            what = [f"`{name}`", f"{run['particles']:,}", f"{run['cells']:,}"] if first else [""] * 3
            values = [cell("none") if first else ""] + [cell(f"{m}+{p}") for m in models]
            rows.append("| " + " | ".join([*what, p, *values]) + " |")
            print(rows[-1], flush=True)
    table = "\n".join(rows) + "\n"
    with open(f"{base}/table.md", "w") as f:
        f.write(table)
    print(f"wrote {base}/table.md")
    write_json(f"{base}/summary.json", {"simulated": True, "what": "virtual processes, counted work", "cases": cases})
    if arguments.docs:
        with open(f"{DOCS}.md") as f:
            page = f.read()
        with open(f"{DOCS}.md", "w") as f:
            f.write(TABLE.sub(lambda _: table, page))
        os.makedirs(DOCS, exist_ok=True)
        for name in DECKS:
            shutil.copy(f"{OUT}/{name}.png", f"{DOCS}/{name}.png")
        print(f"wrote {DOCS}.md\nwrote the pictures in {DOCS}/")


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The decks of inputs/gallery, balanced by load models and partitioners on 64 and 2400 virtual processes.

Each deck runs once, balanced by its true costs at 20 moments of its course, which its picture and its report show. From
the middle on it runs again for 200 steps and records what its cells cost every 10 steps. This series is balanced again
(steelyard replay) at each of its entries, by each model with each partitioner, beside an even partition that stays. The
table shows the overall LBE in percent, by counted work, without the first balancing, whose loads nobody had measured;
so it is the same on every machine. Processes are equally fast, and models are told so (speeds: off). A run or replay
that exists is not made again.

Writes results/gallery/ (with --quick results/gallery/quick/): table.md, summary.json and a picture of each deck.
"""
import glob
import os
import re
import shutil

from common import ROOT, draw, fail, mpiexec, read_json, write_json
from studies import build, markdown_head, markdown_row, options_of, steelyard

OUT, DOCS = "results/gallery", "docs/gallery"
DECKS = sorted(os.path.basename(path)[:-5] for path in glob.glob(f"{ROOT}/inputs/gallery/*.yaml"))
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


def record(name, out, quick):
    """The directories of a deck's course, and of the steps from its middle on."""
    deck, course, window = f"inputs/gallery/{name}.yaml", f"{out}/course", f"{out}/window"
    with open(deck) as f:
        steps = int(re.search(r"steps: (\d+)", f.read())[1]) // (4 if quick else 1)
    middle, every, how = steps // 2, steps // INTERVALS, dict(start=mpiexec(2), keep=True)
    of_course = [f"run.steps={steps}", f"balance.every={every}", f"checkpoint.every={middle}"]
    steelyard("run", deck, out=course, settings=COURSE + of_course, **how)
    of_window = [f"run.steps={middle + INTERVALS * EVERY}", f"output.loads_every={EVERY}", "balance.every=0"]
    restart = ["--restart", f"{course}/checkpoint_{middle}.h5"]
    steelyard("run", deck, *restart, out=window, settings=of_window, **how)
    return course, window


def replay(series, processes, models, partitions):
    """The overall LBE by so many processes, of an even partition and of all models with all partitions; and their
    seconds, and who takes the least."""
    entries = [f"{{name: {m}+{p}, model: {m}, partition: {PARTITIONS[p]}}}" for m in models for p in partitions]
    settings = [f"balance.processes={processes}", "balance.criterion=every", "balance.speeds=off"]
    settings += ["balance.partition={kind: none}", f"balance.compare=[{', '.join(entries)}]"]
    summary = steelyard("replay", f"{series}/loads.h5", out=f"{series}/{processes}", settings=settings, keep=True)
    measured = {m: v for m, v in summary["overall_lbe_measured"].items() if v is not None}
    seconds = {m: c["seconds"] for m, c in summary["contenders"].items()}
    return summary["overall_lbe"] | measured, seconds, summary["least_time"]


def main():
    parser = options_of(__doc__)
    small = "courses of a quarter of the steps, 64 processes, two models and two partitioners: a minute or two"
    parser.add_argument("--quick", action="store_true", help=small)
    parser.add_argument("--docs", action="store_true", help="also put rows and pictures into docs/gallery.md")
    parser.add_argument("--only", nargs="+", choices=DECKS, default=DECKS)
    arguments = parser.parse_args()
    if arguments.docs and (arguments.quick or arguments.only != DECKS):
        fail("--docs is for the whole table; leave --quick and --only out")
    build("steelyard")
    models, partitions, processes = MODELS, list(PARTITIONS), PROCESSES
    if arguments.quick:
        models, partitions, processes = ["a1", "r1"], ["rcb", "cells"], [64]
    base = f"{OUT}/quick" if arguments.quick else OUT
    os.makedirs(base, exist_ok=True)
    heads = ["deck", "particles", "cells", "partitioner", "even and fixed"] + [f"`{m}`" for m in models]
    rows, cases, winners = [markdown_head(heads)], [], []
    print(rows[0])
    for name in arguments.only:
        course, window = record(name, f"{base}/{name}", arguments.quick)
        draw("map", f"{base}/{name}.png", course, options=("--colour", "load"))
        lbe, seconds, least = zip(*(replay(window, n, models, partitions) for n in processes))
        winners += [f"{name}, {n} processes: {text}" for n, text in zip(processes, least)]
        run = read_json(f"{window}/summary.json")
        sizes = dict(particles=run["particles"], cells=run["cells"])
        cases.append(dict(deck=name, **sizes, lbe=dict(zip(processes, lbe)), seconds=dict(zip(processes, seconds))))

        def cell(label):
            return " / ".join(f"{100 * found[label]:.1f}" for found in lbe)

        for p in partitions:
            first = p == partitions[0]
            what = [f"`{name}`", f"{run['particles']:,}", f"{run['cells']:,}"] if first else [""] * 3
            values = [cell("none") if first else ""] + [cell(f"{m}+{p}") for m in models]
            rows.append(markdown_row([*what, p, *values]))
            print(rows[-1], flush=True)
    table = "\n".join(rows) + "\n"
    with open(f"{base}/table.md", "w") as f:
        f.write(table)
    print("\n".join([*winners, f"wrote {base}/table.md"]))
    write_json(f"{base}/summary.json", {"simulated": True, "what": "virtual processes, counted work", "cases": cases})
    if arguments.docs:
        with open(f"{DOCS}.md") as f:
            page = f.read()
        shown = "\n".join(r for r in rows if not re.search(r"\| (patches|strips) \|", r)) + "\n"
        with open(f"{DOCS}.md", "w") as f:
            f.write(TABLE.sub(lambda _: shown, page))
        os.makedirs(DOCS, exist_ok=True)
        for name in DECKS:
            shutil.copy(f"{OUT}/{name}.png", f"{DOCS}/{name}.png")
        print(f"wrote {DOCS}.md\nwrote the pictures in {DOCS}/")


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Our partitioners beside METIS and Scotch on the same loads, as steelyard replay makes them.

Three load series: two slabs that collide, in the plane and in space (those of scripts/reproduce/criteria.sh), and a hot
block that expands into a box of which seven eighths are empty. Of each, partitions of the true costs of cells at four
moments, into 24, 240 and 2400 parts; the figures are means over them. LBE_m: mean over largest load of the parts. Ghost
cells: of all parts, one cell wide. Moved: cells, of all, that change their part from one moment to the next; METIS and
Scotch number their parts anew each time. Seconds: of the partitioner, on one rank, beside other programs of the
machine.
"""
import argparse
import csv
import os
import shutil
import sys

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir))
from common import call, mpiexec, read_json, words, write_json  # noqa: E402

OUT = "results/partitioners"
VACUUM = """system:
  box: [1000, 1000]
  boundary: [reflecting, reflecting]
  seed: 8
  slabs: [{lower: [1, 1], upper: [354, 354], density: 0.8, temperature: 4}]
run: {dt: 0.002, steps: 2000}
grid: {cell: 2.5}
output: {every: 500, loads_every: 500}
"""
STRIP = ["run.steps=2000", "balance.every=0", "balance.compare=[]", "output.loads_every=500"]
SERIES = {  # name: deck, settings
    "strip": ("inputs/lbe240.yaml", STRIP),
    "space": ("inputs/lbe200_3d.yaml", STRIP),
    "vacuum": (f"{OUT}/vacuum.yaml", []),
}
KINDS = {  # name: deck's section partition
    "rcb": "{kind: rcb}",
    "chain, patches": "{kind: chain, cut: patches, patches_per_process: 8}",
    "chain, strips": "{kind: chain, cut: strips, patches_per_process: 8}",
    "chain, cells": "{kind: chain, cut: cells, patches_per_process: 8}",
    "chain, cells, hilbert": "{kind: chain, cut: cells, patches_per_process: 8, order: hilbert}",
    "nested": "{kind: nested}",
    "metis": "{kind: metis}",
    "scotch": "{kind: scotch}",
}


def record(name, fresh):
    deck, settings = SERIES[name]
    out = f"{OUT}/{name}"
    if fresh:
        shutil.rmtree(out, ignore_errors=True)
    if not os.path.exists(f"{out}/summary.json"):
        shutil.rmtree(out, ignore_errors=True)
        call(mpiexec(2) + ["build/steelyard", "run", deck, "--out", out, "--quiet"] + words(settings))
    return f"{out}/loads.h5"


def partitions(name, loads, parts, kinds):
    out = f"{OUT}/{name}_{parts}"
    shutil.rmtree(out, ignore_errors=True)
    names = {f"k{i}": kind for i, kind in enumerate(kinds)}
    entries = ", ".join(f"{{name: {n}, model: exact, partition: {KINDS[kind]}}}" for n, kind in names.items())
    settings = [
        f"balance.processes={parts}",
        "balance.model=exact",
        "balance.criterion=every",
        "balance.speeds=off",
        "balance.partition={sticky: false}",
        f"balance.compare=[{entries}]",
    ]
    call(["build/steelyard", "replay", loads, "--out", out, "--quiet"] + words(settings))
    cells = 1
    for n in read_json(f"{out}/summary.json")["cells"]:
        cells *= n
    with open(f"{out}/balance.csv") as f:
        rows = list(csv.DictReader(f))
    cases = []
    for entry, kind in names.items():
        its = [r for r in rows if r["model"] == entry]

        def mean(column):
            return sum(float(r[column]) for r in its) / len(its)

        cases.append(
            {
                "deck": SERIES[name][0],
                "series": name,
                "cells": cells,
                "parts": parts,
                "partitioner": kind,
                "lbe_model": mean("lbe_model"),
                "ghost_cells": mean("ghost_cells"),
                "migrated": mean("cells_moved") / cells,
                "seconds": mean("partition_seconds"),
            }
        )
    return cases


def main():
    parser = argparse.ArgumentParser(
        prog="partitioners.sh", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--fresh", action="store_true", help="record again what exists")
    parser.add_argument("--parts", type=int, nargs="+", default=[24, 240, 2400])
    parser.add_argument("--series", nargs="+", choices=list(SERIES), default=list(SERIES))
    parser.add_argument(
        "--without", nargs="+", choices=list(KINDS), default=[], help="scotch takes minutes a partition"
    )
    arguments = parser.parse_args()
    kinds = [k for k in KINDS if k not in arguments.without]
    os.makedirs(OUT, exist_ok=True)
    with open(f"{OUT}/vacuum.yaml", "w") as f:
        f.write(VACUUM)
    cases = []
    print(
        "| loads | parts | partitioner | LBE_m, % | ghost cells | moved, % | seconds |\n|---|---|---|---|---|---|---|"
    )
    for name in arguments.series:
        loads = record(name, arguments.fresh)
        for parts in arguments.parts:
            cases += partitions(name, loads, parts, kinds)
            for c in cases[-len(kinds) :]:
                print(
                    f"| {name} | {parts} | {c['partitioner']} | {100 * c['lbe_model']:.2f} | {c['ghost_cells']:.0f} |"
                    f" {100 * c['migrated']:.0f} | {c['seconds']:.3f} |",
                    flush=True,
                )
    write_json(f"{OUT}/summary.json", {"simulated": False, "cases": cases})


if __name__ == "__main__":
    main()

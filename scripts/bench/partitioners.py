#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Our partitioners beside METIS and Scotch on the same loads, as steelyard replay makes them. docs/performance.md

Series of loads: two slabs that collide, in the plane and in space, and a hot block that expands into an empty box. The
true costs of cells at four moments are cut into 24, 240 and 2400 parts. The figures are means over these moments:
  - LBE_m: Mean over largest load of the parts.
  - Ghost cells: Those of all parts, one cell wide.
  - Moved: The part of all cells that change their owner from one moment to the next. METIS and Scotch number their
    parts anew each time.
  - Seconds: Those of the partitioner, on one rank, beside other programs of the machine.
Writes results/partitioners/summary.json.
"""
import math
import os
import statistics

from common import mpiexec, read_csv, write_json
from studies import build, markdown_head, markdown_row, options_of, steelyard

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
PARTS = (24, 240, 2400)
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


def partitions(name, parts, kinds):
    """The cases of a series in so many parts, in the order of the kinds."""
    out, entries = f"{OUT}/{name}_{parts}", {f"k{i}": kind for i, kind in enumerate(kinds)}
    compared = ", ".join(f"{{name: {n}, model: exact, partition: {KINDS[kind]}}}" for n, kind in entries.items())
    settings = [f"balance.processes={parts}", "balance.model=exact", "balance.criterion=every", "balance.speeds=off"]
    settings += ["balance.partition={sticky: false}", f"balance.compare=[{compared}]"]
    cells = math.prod(steelyard("replay", f"{OUT}/{name}/loads.h5", out=out, settings=settings)["cells"])
    rows, cases = read_csv(f"{out}/balance.csv"), []
    columns = dict(
        lbe_model="lbe_model", ghost_cells="ghost_cells", migrated="cells_moved", seconds="partition_seconds"
    )
    for entry, kind in entries.items():
        of = [r for r in rows if r["model"] == entry]
        means = {key: statistics.fmean(float(r[column]) for r in of) for key, column in columns.items()}
        means["migrated"] /= cells
        cases.append(dict(deck=SERIES[name][0], series=name, cells=cells, parts=parts, partitioner=kind, **means))
    return cases


def main():
    parser = options_of(__doc__)
    without = dict(nargs="+", choices=list(KINDS), default=[], help="scotch takes minutes a partition")
    parser.add_argument("--without", **without)
    kinds = [k for k in KINDS if k not in parser.parse_args().without]
    build("steelyard")
    os.makedirs(OUT, exist_ok=True)
    with open(f"{OUT}/vacuum.yaml", "w") as f:
        f.write(VACUUM)
    cases = []
    print(markdown_head(["loads", "parts", "partitioner", "LBE_m, %", "ghost cells", "moved, %", "seconds"]))
    for name, (deck, settings) in SERIES.items():
        steelyard("run", deck, out=f"{OUT}/{name}", settings=settings, start=mpiexec(2), keep=True)
        for parts in PARTS:
            cases += partitions(name, parts, kinds)
            for c in cases[-len(kinds) :]:
                figures = f"{100 * c['lbe_model']:.2f}", f"{c['ghost_cells']:.0f}", f"{100 * c['migrated']:.0f}"
                print(markdown_row([name, parts, c["partitioner"], *figures, f"{c['seconds']:.3f}"]), flush=True)
    write_json(f"{OUT}/summary.json", {"simulated": False, "cases": cases})


if __name__ == "__main__":
    main()

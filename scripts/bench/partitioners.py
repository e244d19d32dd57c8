#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Our partitioners beside METIS, Scotch and Zoltan on the same loads. docs/performance.md

Series of loads: two slabs that collide, in the plane and in space, and a hot block that expands into an empty box. The
true costs of cells at four moments are cut into 24, 240 and 2400 parts. The figures are means over these moments:
  - LBE_m: Mean over largest load of the parts.
  - Ghost cells: Those of all parts, one cell wide.
  - Moved: The part of all cells that change their owner from one moment to the next. METIS and Scotch number their
    parts anew each time. Zoltan numbers them so that few cells move.
  - Seconds: Those of the partitioner, on one rank, beside other programs of the machine.
Zoltan (scripts/setup.sh --bench) runs in a program of its own, bench/zoltan/. The others run in steelyard replay.
Writes results/partitioners/summary.json.
"""
import math
import os
import shutil
import statistics
import subprocess

from common import call, mpiexec, note, read_csv, write_json
from plotting import h5py, np
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
    "compact": "{kind: compact}",
    "diffusion": "{kind: diffusion}",
    "metis": "{kind: metis}",
    "scotch": "{kind: scotch}",
}
ZOLTAN = {"zoltan, rcb": "RCB", "zoltan, hsfc": "HSFC", "zoltan, phg": "HYPERGRAPH"}  # name: Zoltan's LB_METHOD
FIGURES = ("lbe_model", "ghost_cells", "migrated", "seconds")


def replayed(name, parts, kinds):
    """{kind: rows of figures, one for each moment} by steelyard replay."""
    out, entries = f"{OUT}/{name}_{parts}", {f"k{i}": kind for i, kind in enumerate(kinds)}
    compared = ", ".join(f"{{name: {n}, model: exact, partition: {KINDS[kind]}}}" for n, kind in entries.items())
    settings = [f"balance.processes={parts}", "balance.model=exact", "balance.criterion=every", "balance.speeds=off"]
    settings += ["balance.partition={sticky: false}", f"balance.compare=[{compared}]"]
    steelyard("replay", f"{OUT}/{name}/loads.h5", out=out, settings=settings)
    columns, found = ("lbe_model", "ghost_cells", "cells_moved", "partition_seconds"), {kind: [] for kind in kinds}
    for row in read_csv(f"{out}/balance.csv"):
        if row["model"] in entries:
            found[entries[row["model"]]].append([float(row[column]) for column in columns])
    return found


def build_zoltan():
    """Builds bench/zoltan/ where Zoltan is here, and returns the kinds of partitions that there are then."""
    if not (shutil.which("mpicxx.openmpi") and os.path.exists("/usr/include/trilinos/zoltan.h")):
        note("Zoltan is left out, because it is not here; scripts/setup.sh --bench installs it")
        return []
    options = ["-DCMAKE_BUILD_TYPE=Release", "-DCMAKE_CXX_COMPILER=mpicxx.openmpi"]
    call(["cmake", "-S", "bench/zoltan", "-B", "build-zoltan", *options], stdout=subprocess.DEVNULL)
    call(["cmake", "--build", "build-zoltan"], stdout=subprocess.DEVNULL)
    return list(ZOLTAN)


def series(name):
    """Cells along the axes and, for each axis, 1 if it is periodic. Writes loads.raw beside loads.h5, for Zoltan: the
    loads in whole numbers, by time, x, y, z."""
    with h5py.File(f"{OUT}/{name}/loads.h5") as f:
        load, boundary = f["load"][:], [*f.attrs["boundary"], b""]
    load = load.reshape(len(load), *[1] * (4 - load.ndim), *load.shape[1:]).transpose(0, 3, 2, 1)
    units = load / load.sum(axis=(1, 2, 3), keepdims=True) * 2.0**50
    np.ascontiguousarray(np.round(units), dtype=np.int64).tofile(f"{OUT}/{name}/loads.raw")
    return load.shape[1:], [int(word == b"periodic") for word in boundary[:3]]


def by_zoltan(name, parts, kind):
    """Rows of figures, one for each moment after the first."""
    cells, periodic = series(name)
    command = ["build-zoltan/zoltan_parts", ZOLTAN[kind], parts, *cells, "".join(map(str, periodic))]
    with open(f"{OUT}/{name}/loads.raw", "rb") as loads:
        lines = call(command, stdin=loads, stdout=subprocess.PIPE).stdout.splitlines()
    return [[float(word) for word in line.split()] for line in lines]


def partitions(name, parts, kinds):
    """The cases of a series in so many parts, in the order of the kinds."""
    cells, cases = math.prod(series(name)[0]), []
    found = replayed(name, parts, [kind for kind in kinds if kind in KINDS])
    found |= {kind: by_zoltan(name, parts, kind) for kind in kinds if kind in ZOLTAN}
    for kind in kinds:
        means = dict(zip(FIGURES, map(statistics.fmean, zip(*found[kind]))))
        means["migrated"] /= cells
        of = dict(deck=SERIES[name][0], series=name, cells=cells, parts=parts, partitioner=kind)
        cases.append(of | means)
    return cases


def main():
    parser = options_of(__doc__)
    without = dict(nargs="+", choices=[*KINDS, *ZOLTAN], default=[], help="scotch takes minutes a partition")
    parser.add_argument("--without", **without)
    without = parser.parse_args().without
    build("steelyard")
    kinds = [k for k in [*KINDS, *build_zoltan()] if k not in without]
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

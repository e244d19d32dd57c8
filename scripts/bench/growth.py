#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A liquid of growing size on one rank, then of fixed size per rank on 1, 2, 4, 8 ranks, without and with balancing.

The first part gives CPU nanoseconds per particle-step (after a warm-up that melts the lattice) and the peak resident
memory of the process, which contains the program and its libraries (about 20 MB). The second part gives memory only: on
a machine with fewer cores than ranks its times mean nothing.
"""
import argparse
import csv
import os
import sys
import tempfile

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir))
from common import call, mpiexec, read_json, write_json  # noqa: E402

PRECISION = "mixed"


LIQUIDS = {  # dimensions: lattice, density, temperature; cells on one rank; ranks and cells
    2: (
        "lattice: hexagonal, density: 0.9, temperature: 1.0",
        ([440, 228], [1000, 500], [2000, 1000]),
        ((1, [500, 250]), (2, [500, 500]), (4, [1000, 500]), (8, [1000, 1000])),
    ),
    3: (
        "lattice: fcc, density: 0.8442, temperature: 1.44",
        ([40, 40, 40], [63, 63, 63], [100, 100, 100]),
        ((1, [40, 40, 40]), (2, [80, 40, 40]), (4, [80, 80, 40]), (8, [80, 80, 80])),
    ),
}


def run(liquid, cells, steps, warm, ranks, balance=""):
    deck = (
        "system:\n  box: fit\n  potential: {shift: none}\n  slabs:\n"
        f"    - {{cells: {cells}, {liquid}}}\n"
        f"run: {{dt: 0.005, steps: {warm + steps}, precision: {PRECISION}}}\noutput: {{every: {warm}}}\n{balance}"
    )
    with tempfile.TemporaryDirectory() as folder:
        path, out = os.path.join(folder, "deck.yaml"), os.path.join(folder, "out")
        with open(path, "w") as f:
            f.write(deck)
        command = ["build/steelyard", "run", path, "--out", out, "--quiet"]
        if ranks > 1:
            command = mpiexec(ranks) + command
        else:
            command = ["taskset", "-c", "0"] + command
        call(command)
        summary = read_json(os.path.join(out, "summary.json"))
        rows = {int(r["step"]): r for r in csv.DictReader(open(os.path.join(out, "timing.csv")))}
    seconds = float(rows[warm + steps]["cpu_seconds"]) - float(rows[warm]["cpu_seconds"])
    return (
        summary["particles"],
        seconds / summary["particles"] / steps * 1e9,
        summary["peak_resident_bytes"]["max"],
        summary["balance_bytes"],
    )


def grow_on_one_rank(liquid, sizes, steps, out):
    print(f"{'particles':>12}{'ns/particle-step':>18}{'peak MB':>10}{'bytes/particle':>16}   one rank")
    for cells in sizes:
        particles, ns, peak, _ = run(liquid, cells, steps, steps, 1)
        out["one_rank"].append(
            {"particles": particles, "nanoseconds_per_particle_step": ns, "peak_resident_bytes": peak}
        )
        print(f"{particles:>12}{ns:>18.2f}{peak * 1e-6:>10.1f}{peak / particles:>16.1f}", flush=True)
    times = [r["nanoseconds_per_particle_step"] for r in out["one_rank"]]
    out["time_spread"] = max(times) / min(times)
    print(f"largest over smallest time: {out['time_spread']:.2f}\n")


def grow_with_ranks(liquid, sizes, out):
    heads = ("particles/rank", 18), ("peak MB/rank", 16), ("migrating every 10 steps", 26), ("balancing keeps", 17)
    print(f"{'ranks':>6}" + "".join(f"{head:>{width}}" for head, width in heads))
    for ranks, cells in sizes:
        _, _, plain, _ = run(liquid, cells, 20, 20, ranks)
        balance = "balance: {every: 10, clock: work, criterion: every}\n"
        particles, _, peak, kept = run(liquid, cells, 20, 20, ranks, balance)
        out["ranks"].append(
            {
                "ranks": ranks,
                "particles": particles,
                "peak_resident_bytes_max": plain,
                "peak_resident_bytes_max_balanced": peak,
                "balance_bytes": kept,
            }
        )
        print(
            f"{ranks:>6}{particles // ranks:>18}{plain * 1e-6:>16.1f}{peak * 1e-6:>26.1f}{kept * 1e-6:>17.2f}",
            flush=True,
        )


def main():
    parser = argparse.ArgumentParser(
        prog="growth.sh", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--dimensions", type=int, choices=LIQUIDS, default=2)
    parser.add_argument("--steps", type=int, default=200, help="steps of the warm-up, and timed steps (default 200)")
    parser.add_argument("--one-rank", action="store_true", help="leave the growth with the ranks out")
    arguments = parser.parse_args()
    liquid, sizes, sizes_on_ranks = LIQUIDS[arguments.dimensions]
    out = {"simulated": False, "precision": PRECISION, "dimensions": arguments.dimensions, "one_rank": [], "ranks": []}
    grow_on_one_rank(liquid, sizes, arguments.steps, out)
    if not arguments.one_rank:
        grow_with_ranks(liquid, sizes_on_ranks, out)
    os.makedirs("results/growth", exist_ok=True)
    write_json("results/growth/summary.json", out)


if __name__ == "__main__":
    main()

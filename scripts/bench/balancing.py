#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs take turns, without balancing and with it every 20 and every 5 steps. The additional wall time is all that
balancing costs: timers, model, partition, migration, and rebuilds that would not have been due.

Centred: two slabs of half a million particles meet in the middle of the box, so that even halves are a perfect split
and there is nothing to win. Off-centre: even halves hold 81 and 19 % of the particles; beside the run without balancing
it is compared with the same slabs centred. `gain` is the program's default: it migrates where that pays, with a rebuild
that is due. `every` makes a new partition and migrates each time, due or not, as the paper's experiment does.
"""
import argparse
import os
import sys
import statistics

import vs_lammps

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir))
from common import write_json  # noqa: E402

SIZES = dict(w=500, h=500)
vs_lammps.CASES["balancing"] = ("slab", SIZES, vs_lammps.slab_deck, 100, 300, 2, 1, 2)
OFF_CENTRE = dict(SIZES, extra=620)
RUNS = {  # name: settings, sizes
    "centred": ([], SIZES),
    "centred, every 20, gain": (["balance.every=20"], SIZES),
    "centred, every 5, gain": (["balance.every=5"], SIZES),
    "centred, every 20, every time": (["balance.every=20", "balance.criterion=every"], SIZES),
    "centred, every 5, every time": (["balance.every=5", "balance.criterion=every"], SIZES),
    "off-centre": ([], OFF_CENTRE),
    "off-centre, every 20, gain": (["balance.every=20"], OFF_CENTRE),
    "off-centre, every 5, gain": (["balance.every=5"], OFF_CENTRE),
}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=5)
    arguments = parser.parse_args()
    rates = {name: [] for name in RUNS}
    migrations = {name: [] for name in RUNS}
    for _ in range(arguments.runs):
        for name, (settings, sizes) in RUNS.items():
            rate, summary = vs_lammps.ours("balancing", "mixed", settings, sizes)
            rates[name].append(rate)
            migrations[name].append(summary["balancing"]["migrations"])
    out = {
        "simulated": False,
        "particles": summary["particles"],
        "ranks": 2,
        "rates": rates,
        "migrations": migrations,
        "more_time": {},
    }
    print(f"{summary['particles']} particles on two ranks, steps 100 to 400, medians of {arguments.runs} rounds")
    print(f"{'':<28}{'M atom-steps/s':>15}{'more time than centred':>24}{'migrations':>12}")
    for name in RUNS:
        more = statistics.median(a / b for a, b in zip(rates["centred"], rates[name])) - 1
        out["more_time"][name] = more
        print(
            f"{name:<28}{statistics.median(rates[name]) / 1e6:>15.1f}{more * 100:>22.1f} %"
            f"{statistics.median(migrations[name]):>12.0f}"
        )
    os.makedirs("results/balancing", exist_ok=True)
    write_json("results/balancing/summary.json", out)


if __name__ == "__main__":
    main()

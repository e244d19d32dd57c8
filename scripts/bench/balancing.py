#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The time that balancing by r1 adds to a million particles on two ranks, in balance or not. docs/performance.md

Runs take turns, without balancing and with it every 20 and every 5 steps. The additional wall time is all that
balancing costs. Centred: even halves are a perfect split, and balancing can win nothing. Off-centre: even halves hold
81 and 19 % of the particles.

The case `gain` is the program's default: it migrates if it pays, with a rebuild that is due. The case `every` makes a
new partition and migrates each time, as the paper's experiment does. Writes results/balancing/summary.json.
"""
import statistics

import vs_lammps
from common import write_json
from studies import build, in_turns, options_of, table

SIZES = dict(w=500, h=500)
CASE = vs_lammps.Case("slab", SIZES, vs_lammps.slab_deck, 100, 300, 2, 1, 2)
OFF_CENTRE = dict(SIZES, extra=620)
EVERY = "balance.criterion=every"
RUNS = {  # name: settings, sizes
    "centred": ([], SIZES),
    "centred, every 20, gain": (["balance.every=20"], SIZES),
    "centred, every 5, gain": (["balance.every=5"], SIZES),
    "centred, every 20, every time": (["balance.every=20", EVERY], SIZES),
    "centred, every 5, every time": (["balance.every=5", EVERY], SIZES),
    "off-centre": ([], OFF_CENTRE),
    "off-centre, every 20, gain": (["balance.every=20"], OFF_CENTRE),
    "off-centre, every 5, gain": (["balance.every=5"], OFF_CENTRE),
}


def main():
    arguments = options_of(__doc__, "--runs").parse_args()
    build("steelyard")
    runs = in_turns(arguments.runs, RUNS, lambda name: vs_lammps.ours(CASE, "mixed", *RUNS[name]))
    particles = runs["centred"][0][1]["particles"]
    rates = {name: [rate for rate, _ in of_name] for name, of_name in runs.items()}
    migrations = {name: [s["balancing"]["migrations"] for _, s in of_name] for name, of_name in runs.items()}
    out = dict(simulated=False, particles=particles, ranks=2, rates=rates, migrations=migrations, more_time={})
    print(f"{particles} particles on two ranks, steps 100 to 400, medians of {arguments.runs} rounds")
    row = table(("", "<30"), ("M atom-steps/s", "15.1f"), ("more time than centred", "24.1%"), ("migrations", "12.0f"))
    for name in RUNS:
        more = out["more_time"][name] = statistics.median(a / b for a, b in zip(rates["centred"], rates[name])) - 1
        row(name, statistics.median(rates[name]) / 1e6, more, statistics.median(migrations[name]))
    write_json("results/balancing/summary.json", out)


if __name__ == "__main__":
    main()

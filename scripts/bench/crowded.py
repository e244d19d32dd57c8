#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The cost of checkpoints, trajectory frames and cell fields where ranks share cores.

Runs of 14,000 particles that write 20 checkpoints, 20 trajectory frames or 20 cell fields, on two ranks and on more
ranks than there are cores, in turns. The time is that of the whole command; `nothing` is the same run without output.
Writes results/crowded/summary.json.
"""
import os
import statistics
import time

from common import mpiexec, write_json
from studies import build, in_turns, options_of, run_of

DECK = """system:
  box: [220.0, 120.0]
  slabs:
    - {lower: [20, 10], upper: [109, 100], lattice: hexagonal, density: 0.9, temperature: 0.05, velocity: [10.0, 0.0]}
    - {lower: [111, 10], upper: [195, 100], lattice: hexagonal, density: 0.9, temperature: 0.05, velocity: [-10.0, 0.0]}
run: {dt: 0.0005, steps: 200}
"""
KINDS = {
    "nothing": [],
    "checkpoints": ["checkpoint.every=10"],
    "trajectory": ["output.trajectory_every=10"],
    "fields": ["output.fields_every=10"],
}
RANKS = (2, 3, 4)


def seconds(case):
    kind, ranks = case
    begin = time.monotonic()
    with run_of(DECK, start=mpiexec(ranks), settings=KINDS[kind]):
        return time.monotonic() - begin


def main():
    arguments = options_of(__doc__, "--runs").parse_args()
    build("steelyard")
    times = in_turns(arguments.runs, [(kind, ranks) for kind in KINDS for ranks in RANKS], seconds)
    medians = {kind: {r: statistics.median(times[kind, r]) for r in RANKS} for kind in KINDS}
    cores = len(os.sched_getaffinity(0))
    print(f"seconds of the whole run on {cores} cores, medians of {arguments.runs}; in brackets over that on 2 ranks")
    print(f"{'':<14}" + "".join(f"{str(r) + ' ranks':>16}" for r in RANKS))
    for kind, row in medians.items():
        print(f"{kind:<14}" + "".join(f"{t:>9.2f} ({t / row[2]:4.1f})" for t in row.values()))
    write_json("results/crowded/summary.json", dict(simulated=False, cores=cores, seconds=medians))


if __name__ == "__main__":
    main()

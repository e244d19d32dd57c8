#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Weak scaling of the balanced collision on ever more ranks of a simulated cluster.

The decks: two slabs of inputs/lbe64.yaml, as high as the ranks need. With --dimensions 3 the slabs are those of
inputs/collision_3d.yaml, as large in all directions.

step_seconds: The mean step in a window without balancings, with one output of sums.
balancing_seconds: The mean of two balancings, longest of all ranks, particles not moved.
Efficiency is relative to the first case. Messages of up to a megabyte: SimGrid takes most of its time for the first
migration, in proportion to the messages, and ghosts are smaller in any case.

2400 flat ranks take 15 minutes of one core and 5.9 GB; in space 12 minutes and 19.1 GB with
PLATFORM_SET=simultaneous_seconds=1e-7 (docs/simulation.md). Writes results/simulated/summary.json, in three dimensions
results/simulated_3d/summary.json.
"""
import json
import resource
import time

from common import read_csv, write_json
from studies import options_of, seconds_between, simulated

DECKS = {2: "inputs/lbe64.yaml", 3: "inputs/collision_3d.yaml"}
HEIGHT, PARTICLES = 513.0, 1_092_024  # of the slabs in the flat deck
PARTICLES_A_RANK, DENSITY = 10_000, 0.9  # of the slabs in space
STEPS, EVERY, ROWS = 18, 10, 6  # a balancing at steps 0 and 10; rows at 0, 6, 12, 18


def flat_slabs(particles):
    height = HEIGHT * particles / PARTICLES
    box = [2850, height + 57]
    return box, [((242, 28.5), (1424.5, 28.5 + height)), ((1425.5, 28.5), (2608, 28.5 + height))], []


def slabs_in_space(particles):
    """Two cubes that are about to touch, off-centre by a quarter of their side, half a side from the walls."""
    side = (particles / DENSITY / 2) ** (1 / 3)
    near, far = 0.5 * side, 1.5 * side
    box = [3 * side + 1, 2.25 * side, 2.25 * side]
    shifted = near + 0.25 * side, far + 0.25 * side
    slabs = [((near,) * 3, (far,) * 3), ((far + 1, shifted[0], shifted[0]), (far + 1 + side, shifted[1], shifted[1]))]
    same = ["balance.criterion=every", "balance.constants.start=uniform"]  # as in the flat deck
    partition = [f"balance.partition.{s}" for s in ("patches_per_process=8", "cut=cells", "sticky=false")]
    return box, slabs, same + partition


def settings(dimensions, ranks):
    box, slabs, result = (flat_slabs if dimensions == 2 else slabs_in_space)(PARTICLES_A_RANK * ranks)
    result.append(f"system.box={[round(length, 1) for length in box]}")
    for i, corners in enumerate(slabs):
        for name, corner in zip(("lower", "upper"), corners):
            result.append(f"system.slabs.{i}.{name}={[round(x, 1) for x in corner]}")
    result += [f"balance.processes={ranks}", f"balance.every={EVERY}", "balance.clock=work", f"run.steps={STEPS}"]
    return result + [f"output.every={ROWS}", "comm.threshold_bytes=1048576"]


def run(folder, dimensions, ranks):
    """The case of so many ranks, and what the platform assumes."""
    out, start = f"{folder}/{ranks}", time.monotonic()
    summary = simulated(ranks, DECKS[dimensions], out, settings(dimensions, ranks))
    took, balancings = time.monotonic() - start, read_csv(f"{out}/balance.csv")
    n, resident = summary["balancing"]["balancings"] + 1, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    return {
        "ranks": ranks,
        "particles": summary["particles"],
        "step_seconds": seconds_between(out, STEPS - ROWS, STEPS) / ROWS,
        "messages_a_step": summary["messages"]["sent"]["mean"] / STEPS,
        "bytes_a_step": summary["messages"]["bytes"]["mean"] / STEPS,
        "balancing_seconds": summary["seconds"]["balancing"]["max"] / n,
        **{key: summary["balancing"][key] / n for key in ("messages_a_rank", "bytes_a_rank")},
        **{key: float(balancings[-1][key]) for key in ("lbe", "lbe_model")},
        "real_seconds": took,
        "resident_bytes": 1024 * resident,
    }, summary["platform"]


def main():
    parser = options_of(__doc__)
    ranks = dict(nargs="*", type=int, default=[24, 96, 384, 2400], help="numbers of ranks (default: 24 96 384 2400)")
    parser.add_argument("ranks", **ranks)
    parser.add_argument("--dimensions", type=int, choices=DECKS, default=2)
    options = parser.parse_args()
    folder = "results/simulated" + ("" if options.dimensions == 2 else "_3d")
    cases = []
    for ranks in options.ranks:
        case, platform = run(folder, options.dimensions, ranks)
        case["efficiency"] = cases[0]["step_seconds"] / case["step_seconds"] if cases else 1.0
        cases.append(case)
        print(json.dumps(case), flush=True)
        write_json(f"{folder}/summary.json", {"simulated": True, "platform": platform, "cases": cases})


if __name__ == "__main__":
    main()

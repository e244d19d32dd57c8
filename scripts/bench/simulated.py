#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Weak scaling of the balanced collision on a simulated cluster: two slabs of inputs/lbe64.yaml, as high as the ranks
need.

step_seconds is that of a mean step in a window without balancings, with one output of sums; balancing_seconds the mean
of two balancings, longest of all ranks, particles not moved. Efficiency is relative to the first case. Messages of up
to a megabyte: SimGrid takes most of its time for the first migration, in proportion to the messages, and ghosts are
smaller in any case.
"""
import csv
import json
import os
import sys
import time

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir))
from common import call, words, write_json  # noqa: E402

PARTICLES_A_RANK = 10_000
DECK = "inputs/lbe64.yaml"
HEIGHT, PARTICLES = 513.0, 1_092_024  # of the slabs in the deck
STEPS, EVERY, ROWS = 18, 10, 6  # a balancing at steps 0 and 10; rows at 0, 6, 12, 18


def settings(ranks):
    height = HEIGHT * PARTICLES_A_RANK * ranks / PARTICLES
    result = [f"system.box=[2850, {height + 57:.1f}]"]
    for i in range(2):
        for corner, x, y in (("lower", (242, 1425.5)[i], 28.5), ("upper", (1424.5, 2608)[i], 28.5 + height)):
            result.append(f"system.slabs.{i}.{corner}=[{x}, {y:.1f}]")
    return result + [
        f"balance.processes={ranks}",
        f"balance.every={EVERY}",
        "balance.clock=work",
        f"run.steps={STEPS}",
        f"output.every={ROWS}",
        "comm.threshold_bytes=1048576",
    ]


def rows(out, name):
    with open(f"{out}/{name}") as f:
        return list(csv.DictReader(f))


def run(ranks):
    out = f"results/simulated/{ranks}"
    command = ["scripts/simulate.sh", str(ranks), DECK, "--out", out, "--force", "--quiet"]
    command += words(settings(ranks))
    start = time.monotonic()
    call(command)
    took = time.monotonic() - start
    with open(f"{out}/summary.json") as f:
        return json.load(f), rows(out, "timing.csv"), rows(out, "balance.csv"), took


def main():
    cases = []
    for ranks in [int(a) for a in sys.argv[1:]] or [24, 96, 384, 2400]:
        summary, timing, balancings, took = run(ranks)
        at = {int(r["step"]): float(r["wall_seconds"]) for r in timing}
        n = summary["balancing"]["balancings"]
        case = {
            "ranks": ranks,
            "particles": summary["particles"],
            "step_seconds": (at[STEPS] - at[STEPS - ROWS]) / ROWS,
            "balancing_seconds": summary["seconds"]["balancing"]["max"] / (n + 1),
            "messages_a_rank": summary["balancing"]["messages_a_rank"] / (n + 1),
            "lbe": float(balancings[-1]["lbe"]),
            "real_seconds": took,
        }
        case["efficiency"] = cases[0]["step_seconds"] / case["step_seconds"] if cases else 1.0
        cases.append(case)
        print(json.dumps(case), flush=True)
        write_json(
            "results/simulated/summary.json", {"simulated": True, "platform": summary["platform"], "cases": cases}
        )


if __name__ == "__main__":
    os.makedirs("results/simulated", exist_ok=True)
    main()

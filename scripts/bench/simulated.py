#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Weak scaling of the balanced collision on a simulated cluster: two slabs of inputs/lbe64.yaml, as high as the ranks need.

Each case runs twice, some steps apart: differences leave out the start. balancing_seconds is the longest of all ranks, of one
balancing, particles not moved; step_seconds is that of a step without balancings. Efficiency is relative to the first case.
"""
import csv
import json
import os
import subprocess
import sys

PARTICLES_A_RANK = 10_000
DECK = "inputs/lbe64.yaml"
HEIGHT, PARTICLES = 513.0, 1_092_024  # of the slabs in the deck
STEPS = (10, 20)
EVERY = 10


def settings(ranks):
    height = HEIGHT * PARTICLES_A_RANK * ranks / PARTICLES
    result = [f"system.box=[2850, {height + 57:.1f}]"]
    for i in range(2):
        for corner, x, y in (("lower", (242, 1425.5)[i], 28.5), ("upper", (1424.5, 2608)[i], 28.5 + height)):
            result.append(f"system.slabs.{i}.{corner}=[{x}, {y:.1f}]")
    return result + [f"balance.processes={ranks}", f"balance.every={EVERY}", "balance.clock=work", "output.every=1000"]


def run(ranks, steps):
    out = f"results/simulated/{ranks}_{steps}"
    command = ["scripts/simulate.sh", str(ranks), DECK, "--out", out, "--force", "--quiet"]
    for s in settings(ranks) + [f"run.steps={steps}"]:
        command += ["--set", s]
    subprocess.run(command, check=True)
    with open(f"{out}/summary.json") as f:
        summary = json.load(f)
    with open(f"{out}/balance.csv") as f:
        return summary, list(csv.DictReader(f))


def main():
    cases = []
    for ranks in [int(a) for a in sys.argv[1:]] or [24, 96, 384, 2400]:
        (short, _), (long, rows) = (run(ranks, s) for s in STEPS)
        balancings = long["balancing"]["balancings"] - short["balancing"]["balancings"]
        more = {k: long["seconds"][k]["max"] - short["seconds"][k]["max"] for k in ("balancing", "migration")}
        steps = STEPS[1] - STEPS[0]
        step = (long["wall_seconds"] - short["wall_seconds"] - more["balancing"] - more["migration"]) / steps
        a_balancing = {k: (long["balancing"][k] - short["balancing"][k]) / balancings for k in ("messages_a_rank", "bytes_a_rank")}
        case = {"ranks": ranks, "particles": long["particles"], "step_seconds": step,
                "balancing_seconds": more["balancing"] / balancings, **a_balancing, "lbe": float(rows[-1]["lbe"])}
        case["efficiency"] = cases[0]["step_seconds"] / step if cases else 1.0
        cases.append(case)
        print(json.dumps(case), flush=True)
        with open("results/simulated/summary.json", "w") as f:
            json.dump({"simulated": True, "platform": long["platform"], "cases": cases}, f, indent=2)


os.makedirs("results/simulated", exist_ok=True)
main()

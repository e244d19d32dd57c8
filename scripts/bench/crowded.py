#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs of 14,000 particles that write 20 checkpoints, 20 trajectory frames or 20 cell fields, on two ranks and on more
ranks than there are cores, in turns: this shows what writing costs when ranks must share cores. The time is that of the
whole command; `nothing` is the same run without output. --other BINARY runs another build beside this one.
"""
import argparse
import os
import sys
import statistics
import tempfile
import time

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir))
from common import call, mpiexec, words, write_json  # noqa: E402

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


def seconds(binary, ranks, settings):
    with tempfile.TemporaryDirectory() as folder:
        deck = os.path.join(folder, "deck.yaml")
        with open(deck, "w") as f:
            f.write(DECK)
        command = [*mpiexec(ranks), binary, "run", deck, "--out", os.path.join(folder, "out"), "--quiet"]
        begin = time.monotonic()
        call(command + words(settings))
        return time.monotonic() - begin


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--ranks", type=int, nargs="+", default=[2, 3, 4])
    parser.add_argument("--other", help="another build's binary, run beside this one")
    arguments = parser.parse_args()
    binaries = {"this build": "build/steelyard", **({"the other": arguments.other} if arguments.other else {})}
    times = {}
    for _ in range(arguments.runs):
        for name, binary in binaries.items():
            for kind, settings in KINDS.items():
                for ranks in arguments.ranks:
                    times.setdefault((name, kind, ranks), []).append(seconds(binary, ranks, settings))
    medians = {key: statistics.median(values) for key, values in times.items()}
    cores, few = len(os.sched_getaffinity(0)), arguments.ranks[0]
    print(
        f"seconds of the whole run on {cores} cores, medians of {arguments.runs}; in brackets over that on {few} ranks"
    )
    print(f"{'':<12}{'':<14}" + "".join(f"{str(r) + ' ranks':>16}" for r in arguments.ranks))
    for name in binaries:
        for kind in KINDS:
            row = [medians[name, kind, r] for r in arguments.ranks]
            print(f"{name:<12}{kind:<14}" + "".join(f"{t:>9.2f} ({t / row[0]:4.1f})" for t in row))
    os.makedirs("results/crowded", exist_ok=True)
    write_json(
        "results/crowded/summary.json",
        {
            "simulated": False,
            "cores": cores,
            "seconds": {
                name: {kind: {r: medians[name, kind, r] for r in arguments.ranks} for kind in KINDS}
                for name in binaries
            },
        },
    )


if __name__ == "__main__":
    main()

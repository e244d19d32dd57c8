#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Pairs: the checkpoints of a run of 4 M particles, then dd with fsync of as many bytes to the same folder.

Writing: from the space check to the flush on the disk, as dd's. The last column adds what dd does not do: digest,
reading back, comparing. dd copies random bytes from memory.
"""
import argparse
import os
import sys
import statistics
import subprocess
import tempfile
import time

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir))
from common import call, mpiexec, read_json, write_json  # noqa: E402

DECK = """system:
  box: fit
  slabs:
    - {lattice: hexagonal, cells: [2000, 1000], density: 0.9, temperature: 1.0}
run: {dt: 0.005, steps: 6}
checkpoint: {every: 3, keep: 2}
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=5, help="pairs (default 5)")
    parser.add_argument("--ranks", type=int, default=2)
    arguments = parser.parse_args()
    os.makedirs("results/checkpoint", exist_ok=True)
    ratios, whole, mine, theirs = [], [], [], []
    print(f"{'bytes':>12}{'ours MB/s':>12}{'dd MB/s':>12}{'ratio':>8}{'verified':>10}")
    for _ in range(arguments.runs):
        with (
            tempfile.TemporaryDirectory(dir="results/checkpoint") as folder,
            tempfile.NamedTemporaryFile(dir="/dev/shm") as source,
        ):
            path, out = os.path.join(folder, "deck.yaml"), os.path.join(folder, "out")
            with open(path, "w") as f:
                f.write(DECK)
            os.sync()
            call([*mpiexec(arguments.ranks), "build/steelyard", "run", path, "--out", out, "--quiet"])
            wrote = read_json(os.path.join(out, "summary.json"))["checkpoints"]
            size = wrote["bytes"] // wrote["count"]
            source.write(os.urandom(size - source.tell()))
            source.flush()
            os.sync()
            start = time.monotonic()
            call(["dd", f"if={source.name}", f"of={folder}/dd", "bs=4M", "conv=fsync"], stderr=subprocess.DEVNULL)
            theirs.append(os.path.getsize(f"{folder}/dd") / (time.monotonic() - start))
            mine.append(wrote["bytes"] / wrote["write_seconds"])
            ratios.append(mine[-1] / theirs[-1])
            whole.append(wrote["bytes"] / (wrote["write_seconds"] + wrote["verify_seconds"]) / theirs[-1])
            print(
                f"{size:>12}{mine[-1] * 1e-6:>12.0f}{theirs[-1] * 1e-6:>12.0f}{ratios[-1]:>8.2f}{whole[-1]:>10.2f}",
                flush=True,
            )
    print(f"median ratio {statistics.median(ratios):.2f}, with verification {statistics.median(whole):.2f}")
    write_json(
        "results/checkpoint/summary.json",
        {
            "simulated": False,
            "ranks": arguments.ranks,
            "bytes_per_second": mine,
            "dd_bytes_per_second": theirs,
            "ratio": statistics.median(ratios),
            "ratio_verified": statistics.median(whole),
        },
    )


if __name__ == "__main__":
    main()

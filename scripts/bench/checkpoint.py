#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Speed of writing a checkpoint of 4 M particles over that of dd with fsync, in pairs on the same disk.

Pairs: the checkpoints of a run, then dd with fsync of as many bytes to the same folder. Writing: from the space check
to the flush on the disk, as dd's. The last column adds what dd does not do: digest, reading back, comparing. dd copies
random bytes from memory. Writes results/checkpoint/summary.json.
"""
import os
import statistics
import subprocess
import tempfile
import time

from common import call, mpiexec, write_json
from studies import build, options_of, run_of, table

FOLDER = "results/checkpoint"
DECK = """system:
  box: fit
  slabs:
    - {lattice: hexagonal, cells: [2000, 1000], density: 0.9, temperature: 1.0}
run: {dt: 0.005, steps: 6}
checkpoint: {every: 3, keep: 2}
"""


def pair(ranks):
    """Bytes of a checkpoint, and bytes a second: ours, ours with verification, dd's."""
    with tempfile.NamedTemporaryFile(dir="/dev/shm") as source:
        os.sync()
        with run_of(DECK, folder=FOLDER, start=mpiexec(ranks)) as (summary, out):
            wrote = summary["checkpoints"]
            size = wrote["bytes"] // wrote["count"]
            source.write(os.urandom(size))
            source.flush()
            os.sync()
            start = time.monotonic()
            call(["dd", f"if={source.name}", f"of={out}/dd", "bs=4M", "conv=fsync"], stderr=subprocess.DEVNULL)
            theirs = os.path.getsize(f"{out}/dd") / (time.monotonic() - start)
    whole = wrote["bytes"] / (wrote["write_seconds"] + wrote["verify_seconds"])
    return size, wrote["bytes"] / wrote["write_seconds"], whole, theirs


def main():
    arguments = options_of(__doc__, "--runs").parse_args()
    build("steelyard")
    os.makedirs(FOLDER, exist_ok=True)
    ranks, pairs = 2, []
    row = table(("bytes", "12"), ("ours MB/s", "12.0f"), ("dd MB/s", "12.0f"), ("ratio", "8.2f"), ("verified", "10.2f"))
    for _ in range(arguments.runs):
        size, mine, whole, theirs = pair(ranks)
        pairs.append((mine, whole, theirs))
        row(size, mine * 1e-6, theirs * 1e-6, mine / theirs, whole / theirs)
    ratio, verified = (statistics.median(p[i] / p[2] for p in pairs) for i in (0, 1))
    print(f"median ratio {ratio:.2f}, with verification {verified:.2f}")
    rates = {key: [p[i] for p in pairs] for key, i in (("bytes_per_second", 0), ("dd_bytes_per_second", 2))}
    out = dict(simulated=False, ranks=ranks, **rates, ratio=ratio, ratio_verified=verified)
    write_json(f"{FOLDER}/summary.json", out)


if __name__ == "__main__":
    main()

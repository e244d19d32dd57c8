#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A liquid of growing size on one rank, then of fixed size per rank on 1, 2, 4, 8 ranks, without and with balancing.

The first part gives CPU nanoseconds per particle-step (after a warm-up that melts the lattice) and the peak resident
memory of the process, which contains the program and its libraries (about 20 MB). The second part gives memory only: on
a machine with fewer cores than ranks its times mean nothing.
"""
import csv
import os
import sys
import tempfile

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir))
from common import call, mpiexec, read_json, write_json  # noqa: E402

PRECISION = "mixed"


def run(cells, steps, warm, ranks, balance=""):
    deck = (
        "system:\n  box: fit\n  potential: {shift: none}\n  slabs:\n"
        f"    - {{lattice: hexagonal, cells: [{cells[0]}, {cells[1]}], density: 0.9, temperature: 1.0}}\n"
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


def main():
    out = {"simulated": False, "precision": PRECISION, "one_rank": [], "ranks": []}
    print(f"{'particles':>12}{'ns/particle-step':>18}{'peak MB':>10}{'bytes/particle':>16}   one rank")
    for cells in ((440, 228), (1000, 500), (2000, 1000)):
        particles, ns, peak, _ = run(cells, 200, 200, 1)
        out["one_rank"].append(
            {"particles": particles, "nanoseconds_per_particle_step": ns, "peak_resident_bytes": peak}
        )
        print(f"{particles:>12}{ns:>18.2f}{peak * 1e-6:>10.1f}{peak / particles:>16.1f}", flush=True)
    times = [r["nanoseconds_per_particle_step"] for r in out["one_rank"]]
    out["time_spread"] = max(times) / min(times)
    print(f"largest over smallest time: {out['time_spread']:.2f}\n")
    print(
        f"{'ranks':>6}{'particles/rank':>18}{'peak MB/rank':>16}{'migrating every 10 steps':>26}{'balancing keeps':>17}"
    )
    for ranks, cells in ((1, (500, 250)), (2, (500, 500)), (4, (1000, 500)), (8, (1000, 1000))):
        _, _, plain, _ = run(cells, 20, 20, ranks)
        particles, _, peak, kept = run(cells, 20, 20, ranks, "balance: {every: 10, clock: work, migrate: always}\n")
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
    os.makedirs("results/growth", exist_ok=True)
    write_json("results/growth/summary.json", out)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Time per particle and step, and memory, as the problem and the number of ranks grow.

A liquid of growing size on one rank, then of fixed size per rank on 1, 2, 4, 8 ranks, without and with balancing.
The first part gives CPU nanoseconds per particle-step (after a warm-up that melts the lattice) and the peak resident
memory of the process, which contains the program and its libraries (about 20 MB). The second part gives memory only: on
a machine with fewer cores than ranks its times mean nothing. Writes results/growth/summary.json.
"""
from common import mpiexec, write_json
from studies import PINNED, build, options_of, run_of, seconds_between, table
from vs_lammps import LIQUID, deck_of

PRECISION = "mixed"
SIZES = {  # dimensions: cells on one rank; ranks and cells
    2: (
        ([440, 228], [1000, 500], [2000, 1000]),
        ((1, [500, 250]), (2, [500, 500]), (4, [1000, 500]), (8, [1000, 1000])),
    ),
    3: (
        ([40, 40, 40], [63, 63, 63], [100, 100, 100]),
        ((1, [40, 40, 40]), (2, [80, 40, 40]), (4, [80, 80, 40]), (8, [80, 80, 80])),
    ),
}


def run(liquid, cells, steps, ranks, balance=""):
    """The summary of a run of twice so many steps, and CPU nanoseconds per particle-step of its second half."""
    deck = deck_of("fit", [f"cells: {cells}, {liquid}"], 0.005, steps, steps) + balance
    how = dict(start=mpiexec(ranks) if ranks > 1 else PINNED, settings=[f"run.precision={PRECISION}"])
    with run_of(deck, **how) as (summary, out):
        seconds = seconds_between(out, steps, 2 * steps, "cpu_seconds")
    return summary, 1e9 * seconds / summary["particles"] / steps


def grow_on_one_rank(liquid, sizes, steps, out):
    print("one rank")
    row = table(("particles", "12"), ("ns/particle-step", "18.2f"), ("peak MB", "10.1f"), ("bytes/particle", "16.1f"))
    for cells in sizes:
        summary, ns = run(liquid, cells, steps, 1)
        particles, peak = summary["particles"], summary["peak_resident_bytes"]["max"]
        out["one_rank"].append(dict(particles=particles, nanoseconds_per_particle_step=ns, peak_resident_bytes=peak))
        row(particles, ns, peak * 1e-6, peak / particles)
    times = [r["nanoseconds_per_particle_step"] for r in out["one_rank"]]
    out["time_spread"] = max(times) / min(times)
    print(f"largest over smallest time: {out['time_spread']:.2f}\n")


def grow_with_ranks(liquid, sizes, out):
    memory = ("peak MB/rank", "16.1f"), ("migrating every 10 steps", "26.1f"), ("balancing keeps", "17.2f")
    row = table(("ranks", "6"), ("particles/rank", "18"), *memory)
    for ranks, cells in sizes:
        plain, _ = run(liquid, cells, 20, ranks)
        balanced, _ = run(liquid, cells, 20, ranks, "balance: {every: 10, clock: work, criterion: every}\n")
        least, most = (s["peak_resident_bytes"]["max"] for s in (plain, balanced))
        particles, kept = balanced["particles"], balanced["balance_bytes"]
        peaks = dict(peak_resident_bytes_max=least, peak_resident_bytes_max_balanced=most)
        out["ranks"].append(dict(ranks=ranks, particles=particles, **peaks, balance_bytes=kept))
        row(ranks, particles // ranks, least * 1e-6, most * 1e-6, kept * 1e-6)


def main():
    parser = options_of(__doc__)
    parser.add_argument("--dimensions", type=int, choices=SIZES, default=2)
    parser.add_argument("--steps", type=int, default=200, help="steps of the warm-up, and timed steps (default: 200)")
    parser.add_argument("--one-rank", action="store_true", help="leave the growth with the ranks out")
    arguments = parser.parse_args()
    build("steelyard")
    liquid, (sizes, sizes_on_ranks) = LIQUID[arguments.dimensions], SIZES[arguments.dimensions]
    out = dict(simulated=False, precision=PRECISION, dimensions=arguments.dimensions, one_rank=[], ranks=[])
    grow_on_one_rank(liquid, sizes, arguments.steps, out)
    if not arguments.one_rank:
        grow_with_ranks(liquid, sizes_on_ranks, out)
    write_json("results/growth/summary.json", out)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Nanoseconds per particle and step of each phase of a liquid on one core, beside the least that the work could take.

Bytes: what a force pass must read and write once, counted from the data structures (neighbour rows 1 byte per entry,
clusters and neighbourhoods 4, positions and velocities 32 read and 32 written, packed positions 16 read and 8 written),
at the bandwidth of a large copy measured in the same round. This bound holds if the particles exceed the caches.

Instructions: a row of 16 neighbours takes 34 vector instructions in `mixed` (counted in the AVX-512 kernel's loop). A
core with four vector units needs at least 8.5 cycles for them. A chain of additions measures the clock.

Softened: the same lattice with dt so small that nobody moves, so both potentials see the same pairs; the ratio of force
times.

Checks: seconds that a check of an accelerator's border takes for each million cells, on one and two threads, and over
those of a pass. Threads stand in for the accelerator, and cells hold 2.5 particles. The fastest round counts, so other
programs matter little. `--checks` measures nothing else.

Writes results/phases/summary.json.
"""
import ctypes
import os
import statistics
import tempfile
import time

from common import call, read_csv, write_json
from plotting import np
from studies import PINNED, build, options_of, run_of, table

LIQUID = """system:
  box: fit
  potential: {{shift: none, softening: {softening}}}
  slabs:
    - {{lattice: hexagonal, cells: [{nx}, {ny}], density: 0.9, temperature: {temperature}}}
run: {{dt: {dt}, steps: {steps}}}
grid: {{skin: 0.3}}
output: {{every: {steps}}}
"""
GAS = """system:
  box: [2500.0, 2500.0]
  slabs:
    - {lower: [1, 1], upper: [2499, 2499], lattice: hexagonal, density: 0.4, temperature: 0.5}
run: {dt: 0.0005, steps: 16}
grid: {cell: 2.5}
accelerator: {backend: host, controller: fixed, share: 0.5, every: 2}
output: {every: 16}
"""
SIZES = {"184,800": (420, 220), "1,000,000": (1000, 500)}
CLOCK = """#include <cstdint>
#include <ctime>
extern "C" double ghz() {
    timespec a, b;
    std::uint64_t n = 1;
    clock_gettime(CLOCK_MONOTONIC, &a);
    for (int i = 0; i < 20000000; ++i) asm volatile("add $1,%0; add $1,%0; add $1,%0; add $1,%0" : "+r"(n));
    clock_gettime(CLOCK_MONOTONIC, &b);
    return 4 * 20000000 / ((b.tv_sec - a.tv_sec) * 1e9 + (b.tv_nsec - a.tv_nsec));
}
"""


def run(**deck):
    with run_of(LIQUID.format(**deck), start=PINNED) as (summary, _):
        return summary


def checks(rounds):
    """{threads: {seconds a million cells of a check, a check over a pass}}"""
    found = {}
    for threads in (1, 2):
        costs = []
        for _ in range(rounds):
            with run_of(GAS, threads=threads) as (s, out):
                checked = 1 + len(read_csv(os.path.join(out, "zones.csv")))  # and once before the first step
                seconds = {p: t["mean"] for p, t in s["seconds"].items()}
                check = seconds["balancing"] / checked
                a_pass = (seconds["forces"] + seconds["accelerator"]) / s["steps"]
                costs.append((check / s["cells"] * 1e6, check / a_pass))
        found[threads] = dict(zip(("seconds_per_million_cells", "over_a_pass"), map(min, zip(*costs))))
        print(
            "a check of a border, {} thread{}: {:.2g} s a million cells, {:.3f} of a pass".format(
                threads, "s" if threads > 1 else "", *found[threads].values()
            )
        )
    return found


def gigahertz():
    with tempfile.TemporaryDirectory() as folder:
        source, library = os.path.join(folder, "clock.cpp"), os.path.join(folder, "clock.so")
        with open(source, "w") as f:
            f.write(CLOCK)
        call(["c++", "-O2", "-shared", "-fPIC", source, "-o", library])
        f = ctypes.CDLL(library).ghz
        f.restype = ctypes.c_double
        return max(f() for _ in range(5))


def bandwidth():
    """Bytes a second, read and written, of a copy far beyond the caches."""
    a, b, best = np.ones(1 << 25), np.empty(1 << 25), 0
    for _ in range(5):
        start = time.perf_counter()
        np.copyto(b, a)
        best = max(best, 2 * a.nbytes / (time.perf_counter() - start))
    return best


def main():
    parser = options_of(__doc__, "--runs")
    parser.add_argument("--checks", action="store_true", help="measure checks of a border alone")
    arguments = parser.parse_args()
    build("steelyard")
    of_checks = checks(arguments.runs)
    if arguments.checks:
        return
    os.sched_setaffinity(0, {0})
    rounds, clocks, copies, softened = {name: [] for name in SIZES}, [], [], []
    for _ in range(arguments.runs):
        clocks.append(gigahertz())
        copies.append(bandwidth())
        for name, (nx, ny) in SIZES.items():
            steps = 400 if nx < 1000 else 100
            s = run(nx=nx, ny=ny, temperature=1.0, dt=0.005, steps=steps, softening=0)
            rounds[name].append({p: t["mean"] / s["particles"] / steps * 1e9 for p, t in s["seconds"].items()})
        still = dict(nx=420, ny=220, temperature=0, dt=1e-9, steps=200)
        plain, soft = (run(**still, softening=a)["seconds"]["forces"]["mean"] for a in (0, 0.75))
        softened.append(soft / plain)
    ghz, copy, soft = (statistics.median(values) for values in (clocks, copies, softened))
    neighbours = 3.14159 * 2.8**2 * 0.9
    floors = {"bytes": (neighbours + 4 + 32 + 32 + 16 + 8) / copy * 1e9, "instructions": neighbours / 16 * 34 / 4 / ghz}
    phases = {name: {p: statistics.median(v[p] for v in of) for p in of[0]} for name, of in rounds.items()}
    machine = f"one core at {ghz:.2f} GHz, copy {copy * 1e-9:.1f} GB/s"
    print(f"liquid, mixed precision, {machine}; medians of {arguments.runs} rounds, ns per particle and step")
    row = table(("particles", "<12"), *((p, "12.2f") for p in phases["184,800"]), ("sum", "9.2f"))
    for name, times in phases.items():
        row(name, *times.values(), sum(times.values()))
    figures = f"instructions {floors['instructions']:.2f}, bytes {floors['bytes']:.2f} (out of cache)"
    print(f"floors of the force pass: {figures}")
    print(f"softened over plain Lennard-Jones, same pairs, force pass: {soft:.3f}")
    out = dict(simulated=False, runs=arguments.runs, phases=phases, clock_ghz=ghz, copy_bytes_per_second=copy)
    out.update(checks=of_checks, floors_ns_per_particle_step=floors, softened_over_plain=soft)
    write_json("results/phases/summary.json", out)


if __name__ == "__main__":
    main()

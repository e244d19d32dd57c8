#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Whole runs with accelerators beside runs of the processor alone, on 1, 2 and 4 ranks of one machine.

Liquids in the plane and in space, in both precisions, and slabs that collide off-centre, with and without balancing.
`all` has every cell on accelerators, `inner` every cell that no other rank needs, `measured` lets measured_speed find
the share. All runs of a system must end in one state. The processor's cores are shared by the ranks. With --backend
host, threads stand in for accelerators, as many as there are cores: such rates say nothing about a device.

Prints G atom-steps/s of the second half of each run, and where the time of the whole run went, as parts of it. Writes
results/devices/summary.json. Takes 7 minutes on a machine with one device, and 4 with --backend host.
"""
import os
import sys

from common import fail, mpiexec, write_json
from studies import build, options_of, run_of, seconds_between, table

RANKS = (1, 2, 4)
PLANE = """system:
  box: fit
  slabs: [{{lattice: hexagonal, cells: [{nx}, {ny}], density: 0.9, temperature: 1.0}}]
run: {{dt: 0.002, steps: {steps}, precision: {precision}}}
output: {{every: {half}}}
"""
SPACE = """system:
  box: fit
  slabs: [{{lattice: fcc, cells: [{nx}, {nx}, {nx}], density: 0.8442, temperature: 1.44}}]
run: {{dt: 0.004, steps: {steps}, precision: {precision}}}
output: {{every: {half}}}
"""
SLABS = """system:
  box: [{w}, {w}]
  slabs:
    - {{lower: [{a}, {a}], upper: [{b}, {c}], lattice: hexagonal, density: 1.0, temperature: 0.1, velocity: [8, 0]}}
    - {{lower: [{d}, {e}], upper: [{f}, {g}], lattice: hexagonal, density: 1.0, temperature: 0.1, velocity: [-8, 0]}}
run: {{dt: 0.001, steps: {steps}, precision: {precision}}}
output: {{every: {half}}}
"""
PHASES = ["forces", "accelerator", "neighbours", "ghosts", "migration", "balancing", "output"]
MODES = {  # settings beside the backend; none: without accelerators
    "cpu": None,
    "all": ["accelerator.controller=fixed", "accelerator.share=1"],
    "inner": ["accelerator.controller=fixed", "accelerator.share=1", "accelerator.reach=inner"],
    "measured": ["accelerator.share=0.9"],
}
BALANCED = ["balance.every=50", "balance.partition.kind=rcb"]


def plane(particles, **run):
    ny = round((particles / 4) ** 0.5)
    return PLANE.format(nx=2 * ny, ny=ny, **run)


def space(particles, **run):
    return SPACE.format(nx=round((particles / 4) ** (1 / 3)), **run)


def slabs(particles, **run):
    """Two slabs of half the particles each in one corner of the box, so that a part of the ranks has them all."""
    side = (particles / 2) ** 0.5
    a, b = 0.02 * side, 1.02 * side
    corners = dict(a=a, b=b, c=b, d=1.03 * side, e=0.2 * side, f=2.03 * side, g=1.2 * side)
    return SLABS.format(w=round(3 * side), **{k: round(v) for k, v in corners.items()}, **run)


def cases(backend, steps):
    """(system, deck, precision, ranks, mode, settings) of every run."""
    sizes = dict(host=((plane, 2e5), (space, 1e5)), cuda=((plane, 1e6), (plane, 16e6), (plane, 64e6), (space, 4e6)))
    for system, particles in sizes[backend]:
        for precision in ("mixed", "double"):
            run = dict(steps=steps, half=steps // 2, precision=precision)
            name = f"{system.__name__} {particles / 1e6:g} M {precision}"
            for ranks in RANKS if particles < 5e7 else RANKS[:1]:
                for mode in MODES if precision == "mixed" else ("all",):
                    if mode != "inner" or ranks > 1:
                        yield name, system(particles, **run), ranks, mode, []
    particles = dict(host=1e5, cuda=8e6)[backend]
    deck = slabs(particles, steps=2 * steps, half=steps, precision="mixed")
    for mode in ("cpu", "all", "measured"):
        for name, settings in (("even", []), ("balanced", BALANCED)):
            yield f"off-centre {particles / 1e6:g} M {name}", deck, 4, mode, settings


def main():
    parser = options_of(__doc__)
    parser.add_argument("--backend", choices=["host", "cuda"], default="cuda", help="(default: cuda)")
    parser.add_argument("--binary", default="build/steelyard", help="of the program (default: build/steelyard)")
    parser.add_argument("--steps", type=int, default=200, help="of each run, even (default: 200)")
    arguments = parser.parse_args()
    if arguments.binary == "build/steelyard":
        build("steelyard")
    row = table(("system", "<30"), ("ranks", "5d"), (" mode", "<9"), ("G/s", "8.4f"), *((p, "12.2f") for p in PHASES))
    cores, runs, states = len(os.sched_getaffinity(0)), [], {}
    for name, deck, ranks, mode, settings in cases(arguments.backend, arguments.steps):
        threads = max(1, cores // ranks)
        if MODES[mode] is not None:
            settings = [
                f"accelerator.backend={arguments.backend}",
                f"accelerator.threads={threads}",
                *MODES[mode],
                *settings,
            ]
        how = dict(start=mpiexec(ranks), threads=threads, environment=dict(OMP_WAIT_POLICY="passive"))
        with run_of(deck, settings=settings, binary=arguments.binary, **how) as (s, out):
            half = s["steps"] // 2
            rate = s["particles"] * half / seconds_between(out, half, s["steps"]) * 1e-9
        phases = {p: s["seconds"].get(p, {}).get("mean", 0) / s["wall_seconds"] for p in PHASES}
        states.setdefault(name.removesuffix(" even").removesuffix(" balanced"), set()).add(s["state_hash"])
        runs.append(dict(system=name, ranks=ranks, mode=mode, rate=rate, phases=phases, zones=s.get("accelerator")))
        row(name, ranks, " " + mode, rate, *phases.values())
    write_json("results/devices/summary.json", dict(stands_in=arguments.backend == "host", cores=cores, runs=runs))
    different = [name for name, hashes in states.items() if len(hashes) > 1]
    if different:
        fail(f"different states of {', '.join(different)}")
    print(f"one state for each of {len(states)} systems")


if __name__ == "__main__":
    sys.exit(main())

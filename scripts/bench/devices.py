#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Whole runs with accelerators beside runs of the processor alone, on 1, 2 and 4 ranks of one machine.

Liquids in the plane and in space, in both precisions, and slabs that collide off-centre, with and without balancing.
`all` has every cell on accelerators, `inner` every cell that no other rank needs, `measured` lets measured_speed find
the share. All runs of a system must end in one state. The processor's cores are shared by the ranks. With --backend
host, threads stand in for accelerators, as many as there are cores, and systems have 1/160 of the particles. Such
rates say nothing about a device.

Prints G atom-steps/s of the second half of each run, and their ratio to: the zone alone (results/gpu/zones.json, which
scripts/bench/gpu.sh writes), one rank, or the even partition. The other columns have the parts of the time of that half
in each phase. Writes results/gpu/runs.json.
"""
import os
import sys
import time

from common import fail, mpiexec, note, read_csv, read_json, write_json
from studies import build, count, options_of, run_of, seconds_between, table

ZONES = "results/gpu/zones.json"
PLANE = """system:
  box: fit
  potential: {{shift: none}}
  slabs: [{{lattice: hexagonal, cells: [{nx}, {ny}], density: 0.9, temperature: 1.0}}]
run: {{dt: 0.005, steps: {steps}, precision: {precision}}}
output: {{every: {half}}}
"""
SPACE = """system:
  box: fit
  slabs: [{{lattice: fcc, cells: [{nx}, {nx}, {nx}], density: 0.8442, temperature: 1.44}}]
run: {{dt: 0.004, steps: {steps}, precision: {precision}}}
output: {{every: {half}}}
"""
OFF_CENTRE = """system:
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
    """The liquid of zone_rates."""
    ny = round((particles / 2 / 3**0.5) ** 0.5)
    return PLANE.format(nx=round(particles / 2 / ny), ny=ny, **run)


def space(particles, **run):
    """The liquid in space of zone_rates."""
    return SPACE.format(nx=round((particles / 4) ** (1 / 3)), **run)


def off_centre(particles, **run):
    """Two slabs of half the particles each in one corner of the box, so that a part of the ranks has them all."""
    side = (particles / 2) ** 0.5
    a, b = 0.02 * side, 1.02 * side
    corners = dict(a=a, b=b, c=b, d=1.03 * side, e=0.2 * side, f=2.03 * side, g=1.2 * side)
    return OFF_CENTRE.format(w=round(3 * side), **{k: round(v) for k, v in corners.items()}, **run)


# System, millions of particles, precision, and the numbers of ranks in each mode. Those that matter most come first.
RUNS = [
    (plane, 16, "mixed", dict(cpu=[1], all=[1, 2, 4])),
    (space, 4, "mixed", dict(all=[1, 2, 4])),
    (off_centre, 4, "mixed", dict(cpu=[4], all=[4], measured=[4])),
    (plane, 16, "mixed", dict(measured=[1, 2, 4])),
    (space, 4, "mixed", dict(measured=[1, 2, 4])),
    (plane, 1, "mixed", dict(cpu=[1], all=[1, 2, 4])),
    (space, 1, "mixed", dict(cpu=[1], all=[1, 2, 4])),
    (plane, 4, "double", dict(cpu=[1], all=[1, 2, 4])),
    (space, 1, "double", dict(cpu=[1], all=[1, 2, 4])),
    (plane, 4, "mixed", dict(all=[1])),
    (space, 16, "mixed", dict(all=[1])),
    (plane, 64, "mixed", dict(all=[1])),
    (plane, 16, "mixed", dict(inner=[2, 4])),
    (space, 4, "mixed", dict(inner=[2, 4])),
    (space, 64, "mixed", dict(all=[1])),
]


def cases(host):
    """(name of the system, deck, half of its steps, ranks, mode, partition) of every run."""
    for system, millions, precision, modes in RUNS:
        # The skin is found within some hundred steps. The last rebuild for a check that comes early is at step 64.
        half = max(100, min(400, 4800 // millions)) // (10 if host else 1)
        particles = millions * 1e6 / (160 if host else 1)
        name = f"{system.__name__} {particles:.0f} {precision}"
        deck = system(particles, steps=2 * half, half=half, precision=precision)
        for mode, numbers in modes.items():
            for ranks in numbers:
                for partition in ("even", "balanced") if system is off_centre else ("even",):
                    yield name, deck, half, ranks, mode, partition


def phases_of(out, half):
    """Parts of the wall time, from the last frame of ranks.csv in the first half of a run to the last frame."""
    frames = [(int(r["step"]), r) for r in read_csv(os.path.join(out, "ranks.csv"))]
    last = frames[-1][0]
    first = max(step for step, _ in frames if step <= half and step < last)

    def spent(column):
        return sum(float(r[column]) * ((step == last) - (step == first)) for step, r in frames)

    return {phase: spent(phase) / spent("wall_seconds") for phase in PHASES}


def compared(rates, zones, name, ranks, mode, partition):
    """The ratio of a rate to that of another run or of the zone alone, and the name of that one."""
    if partition == "balanced":
        to, base = "even", rates.get((name, ranks, mode, "even"))
    elif ranks > 1:
        to, base = "1 rank", rates.get((name, 1, "all" if mode == "inner" else mode, "even"))
    else:
        system, particles, precision = name.split()
        alone = zones.get("rate_" + dict(plane="liquid").get(system, system), {})
        to, base = "zone", alone.get(particles) if mode != "cpu" and precision == "mixed" else None
    return (rates[name, ranks, mode, partition] / base, to) if base else ("", "")


def main():
    parser = options_of(__doc__)
    parser.add_argument("--backend", choices=["host", "cuda"], default="cuda", help="(default: cuda)")
    parser.add_argument("--binary", default="build/steelyard", help="of the program (default: build/steelyard)")
    parser.add_argument("--seconds", type=count, default=3600, help="after which no run starts (default: 3600)")
    arguments = parser.parse_args()
    start, host = time.monotonic(), arguments.backend == "host"
    if arguments.binary == "build/steelyard":
        build("steelyard")
    zones = read_json(ZONES) if os.path.exists(ZONES) else {}
    if zones.get("stand_in") != host:
        zones = {}
    if host:
        print("threads of the processor stand in for devices: these rates say nothing about a device")
    row = table(
        *(
            ("system", "<26"),
            ("ranks", "5d"),
            (" mode", "<10"),
            ("partition", "<10"),
            ("G/s", "8.4f"),
            ("ratio", "7.2f"),
        ),
        *((" to", "<8"), *((p, "12.2f") for p in PHASES)),
    )
    cores, runs, rates, states, left_out = len(os.sched_getaffinity(0)), [], {}, {}, set()
    for name, deck, half, ranks, mode, partition in cases(host):
        if time.monotonic() - start > arguments.seconds:
            left_out.add(f"{name} {mode}")
            continue
        threads, settings = max(1, cores // ranks), BALANCED if partition == "balanced" else []
        if MODES[mode] is not None:
            backend = [f"accelerator.backend={arguments.backend}", f"accelerator.threads={threads}"]
            settings = [*backend, *MODES[mode], *settings]
        how = dict(start=mpiexec(ranks), threads=threads, environment=dict(OMP_WAIT_POLICY="passive"))
        with run_of(deck, settings=settings, binary=arguments.binary, **how) as (s, out):
            rate = s["particles"] * half / seconds_between(out, half, s["steps"])
            phases = phases_of(out, half)
        rates[name, ranks, mode, partition] = rate
        states.setdefault(name, set()).add(s["state_hash"])
        ratio, to = compared(rates, zones, name, ranks, mode, partition)
        of = dict(system=name, ranks=ranks, mode=mode, partition=partition, rate=rate, ratio=ratio, to=to)
        runs.append(dict(of, phases=phases, zones=s.get("accelerator"), state_hash=s["state_hash"]))
        row(name, ranks, " " + mode, partition, rate * 1e-9, ratio, " " + to, *phases.values())
    write_json("results/gpu/runs.json", dict(stand_in=host, cores=cores, runs=runs, left_out=sorted(left_out)))
    if left_out:
        note(f"no time was left for {', '.join(sorted(left_out))}; give more --seconds")
    different = [name for name, hashes in states.items() if len(hashes) > 1]
    if different:
        fail(f"different states of {', '.join(different)}")
    print(f"one state for each of {len(states)} systems")


if __name__ == "__main__":
    sys.exit(main())

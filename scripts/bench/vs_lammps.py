#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Pairs of runs, ours and LAMMPS's, one after the other; the median of the pairs' ratios is what counts.

The cases `balanced` and `balanced3d` are the collision in the left part of a box, so that even halves of it hold 81
and 19 % of the particles: ours without and with balancing (`rcb`), LAMMPS without and with `fix balance rcb` by atoms
and by measured time, one run each in a round; beside them ours in the middle of its box, where even halves are a
perfect split.

One core: atom-steps per CPU second, both pinned to core 0. Two ranks or threads: per second of wall time, unpinned,
against LAMMPS on two ranks. Both sides time the same stretch of steps after the same warm-up: LAMMPS's "Loop time" of
its last run (times its CPU use on one core), ours the difference of two rows of timing.csv. The cases take turns; our
parallel efficiency is the rate of two ranks or threads over twice that of one core in the same round.
"""
import argparse
import csv
import math
import os
import sys
import re
import statistics
import subprocess
import tempfile

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir))
from common import call, mpiexec, read_json, words, write_json  # noqa: E402


def slab_deck(w, h, warm, steps, d=0, extra=0):
    """The geometry of lammps/slab.in: slabs of w x h (x d, in three dimensions) lattice cells at density 1, a gap of
    two, vacuum around, `extra` cells more on the right."""
    a = 4 ** (1 / 3) if d else math.sqrt(2 / math.sqrt(3))
    across = [h * a, d * a] if d else [h * a * math.sqrt(3)]
    lattice = "fcc" if d else "hexagonal"
    eps = 0.01
    left, width = 0.5 * w * a, w * a
    right = left + width + 2 * a
    box = [2 * left + 2 * width + (2 + extra) * a] + [2 * side for side in across]

    def slab(x, v):
        lower = [x] + [0.5 * side for side in across]
        upper = [x + width - eps] + [1.5 * side - eps for side in across]
        return (
            f"    - {{lower: {vector(lower)}, upper: {vector(upper)}, lattice: {lattice}, density: 1.0, "
            f"temperature: 0.05, velocity: {vector([v] + [0.0] * len(across))}}}\n"
        )

    return (
        f"system:\n  box: {vector(box)}\n  potential: {{shift: none}}\n  slabs:\n"
        + slab(left, 10.0)
        + slab(right, -10.0)
        + f"run: {{dt: 0.0005, steps: {warm + steps}}}\noutput: {{every: {math.gcd(warm, steps)}}}\n"
    )


def vector(numbers):
    return "[" + ", ".join(f"{x:.9f}" for x in numbers) + "]"


def liquid_deck(nx, ny, warm, steps):
    return (
        "system:\n  box: fit\n  potential: {shift: none}\n  slabs:\n"
        f"    - {{lattice: hexagonal, cells: [{nx}, {ny}], density: 0.9, temperature: 1.0}}\n"
        f"run: {{dt: 0.005, steps: {warm + steps}}}\noutput: {{every: {math.gcd(warm, steps)}}}\n"
    )


def melt_deck(n, warm, steps):
    """LAMMPS's bench/in.lj in three dimensions: n^3 lattice cells of four particles."""
    return (
        "system:\n  box: fit\n  potential: {shift: none}\n  slabs:\n"
        f"    - {{lattice: fcc, cells: [{n}, {n}, {n}], density: 0.8442, temperature: 1.44}}\n"
        f"run: {{dt: 0.005, steps: {warm + steps}}}\noutput: {{every: {math.gcd(warm, steps)}}}\n"
    )


SLAB_3D = dict(w=24, h=24, d=24)
CASES = {  # name: (LAMMPS input, its variables, deck, warm-up, timed steps, ours: ranks, threads, LAMMPS ranks)
    "slab_1core": ("slab", dict(w=220, h=220), slab_deck, 2000, 600, 1, 1, 1),
    "liquid_1core": ("liquid", dict(nx=420, ny=220), liquid_deck, 300, 600, 1, 1, 1),
    "slab1m_1core": ("slab", dict(w=500, h=500), slab_deck, 200, 100, 1, 1, 1),
    "melt_1core": ("melt", dict(n=20), melt_deck, 400, 400, 1, 1, 1),
    "melt1m_1core": ("melt", dict(n=63), melt_deck, 100, 60, 1, 1, 1),
    "slab3d_1core": ("slab", SLAB_3D, slab_deck, 600, 300, 1, 1, 1),
    "melt256k_1core": ("melt", dict(n=40), melt_deck, 200, 200, 1, 1, 1),
    "melt_2ranks": ("melt", dict(n=40), melt_deck, 200, 200, 2, 1, 2),
    "melt_2threads": ("melt", dict(n=40), melt_deck, 200, 200, 1, 2, 2),
    "slab_2ranks": ("slab", dict(w=220, h=220), slab_deck, 2000, 600, 2, 1, 2),
    "slab_2threads": ("slab", dict(w=220, h=220), slab_deck, 2000, 600, 1, 2, 2),
    "slab3d_2ranks": ("slab", SLAB_3D, slab_deck, 600, 600, 2, 1, 2),
}
EFFICIENCIES = [  # two ranks or threads, one core
    ("slab_2ranks", "slab_1core"),
    ("slab_2threads", "slab_1core"),
    ("melt_2ranks", "melt256k_1core"),
    ("melt_2threads", "melt256k_1core"),
]

# Collisions off-centre: a case and its sizes.
BALANCED = {
    "balanced": ("slab_2ranks", dict(w=220, h=220, extra=273)),
    "balanced3d": ("slab3d_2ranks", dict(SLAB_3D, extra=32)),
}
BALANCING = ["balance.every=20", "balance.partition.kind=rcb"]  # bisection on both sides


def ours(case, precision, settings=(), sizes=None, binary="build/steelyard"):
    """One run in a fresh directory. Returns atom-steps per second (of CPU time on one core, else of wall time) and the
    summary."""
    kind, standard, deck, warm, steps, ranks, threads, _ = CASES[case]
    sizes = sizes or standard
    with tempfile.TemporaryDirectory() as folder:
        path, out = os.path.join(folder, "deck.yaml"), os.path.join(folder, "out")
        with open(path, "w") as f:
            f.write(deck(warm=warm, steps=steps, **sizes))
        command = [binary, "run", path, "--out", out, "--quiet", "--set", f"run.precision={precision}"]
        command += words(settings)
        if ranks > 1:
            command = mpiexec(ranks) + command
        elif threads == 1:
            command = ["taskset", "-c", "0"] + command
        call(command, threads=threads)
        with open(os.path.join(out, "timing.csv")) as f:
            rows = {int(r["step"]): r for r in csv.DictReader(f)}
        summary = read_json(os.path.join(out, "summary.json"))
    key = "cpu_seconds" if ranks * threads == 1 else "wall_seconds"
    seconds = float(rows[warm + steps][key]) - float(rows[warm][key])
    return summary["particles"] * steps / seconds, summary


def lammps(case, **more):
    kind, sizes, _, warm, steps, _, _, ranks = CASES[case]
    command = ["lmp", "-log", "none", "-in", f"scripts/bench/lammps/{kind}.in"]
    for name, value in dict(dict(sizes, **more), warm=warm, steps=steps).items():
        command += ["-var", name, str(value)]
    if ranks > 1:
        command = ["mpiexec.openmpi", "--allow-run-as-root", "-n", str(ranks)] + command
    else:
        command = ["taskset", "-c", "0"] + command
    text = call(command, stdout=subprocess.PIPE).stdout
    loop = re.findall(r"Loop time of ([\d.eE+-]+) on \d+ procs for \d+ steps with (\d+) atoms", text)[-1]
    use = float(re.findall(r"([\d.]+)% CPU use", text)[-1]) / 100
    return int(loop[1]) * steps / (float(loop[0]) * (use if ranks == 1 else 1))


def balanced(name, arguments, out):
    """The off-centre collision on two ranks: medians of the rates, and of the ratios within a round."""
    case, sizes = BALANCED[name]
    rounds = []
    for _ in range(arguments.runs):
        rates = {}
        rates["ours, even halves"], plain = ours(case, arguments.precision, sizes=sizes)
        rates["ours, balanced"], summary = ours(case, arguments.precision, BALANCING, sizes)
        rates["ours, perfect split"], _ = ours(case, arguments.precision)
        if plain["state_hash"] != summary["state_hash"]:
            raise SystemExit("vs_lammps.py: balancing changed the trajectory")
        for how in ("none", "count", "time"):
            rates[f"LAMMPS, {how}"] = lammps(case, extra=sizes["extra"], balance=how)
        rounds.append(rates)

    def best(r):
        return max(r["LAMMPS, count"], r["LAMMPS, time"])

    def ratio(f):
        return statistics.median(f(r) for r in rounds)

    print(
        f"\n{name}: off-centre collision, {plain['particles']} particles on two ranks, M atom-steps/s of wall time"
        f" ({', '.join(BALANCING)}, {summary['clock']} clock)"
    )
    for run in rounds[0]:
        print(f"  {run:<24}{statistics.median(r[run] for r in rounds) / 1e6:>8.2f}")
    figures = {
        "ratio_balanced_2ranks": ratio(lambda r: r["ours, balanced"] / best(r)),
        "gain_of_balancing": ratio(lambda r: r["ours, balanced"] / r["ours, even halves"]),
        "gain_of_balancing_lammps": ratio(lambda r: best(r) / r["LAMMPS, none"]),
        "balanced_over_perfect": ratio(lambda r: r["ours, balanced"] / r["ours, perfect split"]),
    }
    for figure, value in figures.items():
        print(f"  {figure:<24}{value:>8.2f}")
    out[name] = dict(figures, rates=rounds, overall_lbe=summary["overall_lbe"])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=5, help="pairs of each case (default 5)")
    parser.add_argument("--precision", choices=["mixed", "double"], default="mixed")
    parser.add_argument("--only", nargs="*", choices=list(CASES) + list(BALANCED), help="cases (default: all)")
    arguments = parser.parse_args()
    out = {"simulated": False, "precision": arguments.precision, "pairs": arguments.runs, "rates": {}}
    cases = arguments.only or list(CASES) + list(BALANCED)
    pairs = [c for c in cases if c not in BALANCED]
    rates = {case: ([], []) for case in pairs}
    for _ in range(arguments.runs):
        for case, (mine, theirs) in rates.items():
            rate, summary = ours(case, arguments.precision)
            mine.append(rate)
            theirs.append(lammps(case))
            out["rates"][case] = {"ours": mine, "lammps": theirs, "particles": summary["particles"]}
            out.update(kernels=summary["kernels"], cpu_model=summary["cpu_model"], version=summary["version"])
    if pairs:
        print(f"{'case':<15}{'ours':>10}{'LAMMPS':>10}   M atom-steps/s{'ratio':>9}{'min':>7}{'max':>7}")
    for case, (mine, theirs) in rates.items():
        ratios = [a / b for a, b in zip(mine, theirs)]
        out["ratio_" + case] = statistics.median(ratios)
        print(
            (
                f"{case:<15}{statistics.median(mine) / 1e6:>10.2f}{statistics.median(theirs) / 1e6:>10.2f}   {'':<14}"
                f"{statistics.median(ratios):>9.2f}{min(ratios):>7.2f}{max(ratios):>7.2f}"
            ),
            flush=True,
        )
    for case, alone in EFFICIENCIES:
        if case in rates and alone in rates:
            out["efficiency_" + case] = statistics.median(
                two / (2 * one) for one, two in zip(rates[alone][0], rates[case][0])
            )
            print(f"our parallel efficiency, {case}: {out['efficiency_' + case] * 100:.0f} %")
    for name in cases:
        if name in BALANCED:
            balanced(name, arguments, out)
    os.makedirs("results/vs_lammps", exist_ok=True)
    write_json("results/vs_lammps/summary.json", out)


if __name__ == "__main__":
    main()

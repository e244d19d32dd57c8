#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Our speed over that of LAMMPS and other peers on the same problems; the median of the ratios of rounds counts.

Each round runs each case once with each program. LAMMPS is that of Debian, with its fastest style there, lj/cut/opt.
--native adds LAMMPS built for this machine from Debian's source, with the packages OPT, OPENMP and INTEL. --md-bench
adds MD-Bench to the cases `melt` on one core. Both run in the variant that is the fastest one of a case in a trial. A
variant is a style of LAMMPS, or a kernel of MD-Bench. peers.py says how peers differ from ours.

One core: atom-steps per CPU second, all pinned to core 0. Two ranks or threads: per second of wall time, unpinned,
against LAMMPS on two ranks. All time the same steps after the same warm-up, LAMMPS by the "Loop time" of its last run,
ours by two rows of timing.csv. Our parallel efficiency is the rate of two ranks or threads over twice that of one core
in the same round. docs/performance.md.

The cases `balanced` and `balanced3d` are an off-centre collision, of which even halves of the box hold 81 and 19 %.
Each round has one run of each kind. Ours: without and with balancing (`rcb`), and with the collision in the middle, a
perfect split. Debian's LAMMPS: without and with `fix balance rcb`, by atoms and by measured time.
"""
import math
import statistics
import sys
from typing import Callable, NamedTuple

import peers
from common import mpiexec, require_writable, write_json
from studies import PINNED, build, count, in_turns, options_of, run_of, seconds_between, table


LIQUID = {  # by the number of dimensions
    2: "lattice: hexagonal, density: 0.9, temperature: 1.0",
    3: "lattice: fcc, density: 0.8442, temperature: 1.44",
}


def deck_of(box, slabs, dt, warm, steps):
    """A deck that writes rows at the last step and at the one after `warm` steps."""
    lines = "".join(f"    - {{{slab}}}\n" for slab in slabs)
    system = f"system:\n  box: {box}\n  potential: {{shift: none}}\n  slabs:\n{lines}"
    return f"{system}run: {{dt: {dt}, steps: {warm + steps}}}\noutput: {{every: {math.gcd(warm, steps)}}}\n"


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
        corners = f"lower: {vector(lower)}, upper: {vector(upper)}, lattice: {lattice}"
        return f"{corners}, density: 1.0, temperature: 0.05, velocity: {vector([v] + [0.0] * len(across))}"

    return deck_of(vector(box), [slab(left, 10.0), slab(right, -10.0)], 0.0005, warm, steps)


def vector(numbers):
    return "[" + ", ".join(f"{x:.9f}" for x in numbers) + "]"


def liquid_deck(nx, ny, warm, steps):
    return deck_of("fit", [f"cells: [{nx}, {ny}], {LIQUID[2]}"], 0.005, warm, steps)


def melt_deck(n, warm, steps):
    """LAMMPS's bench/in.lj in three dimensions: n^3 lattice cells of four particles."""
    return deck_of("fit", [f"cells: [{n}, {n}, {n}], {LIQUID[3]}"], 0.005, warm, steps)


class Case(NamedTuple):
    """A problem for both programs, and on what each runs it."""

    kind: str  # lammps/<kind>.in
    sizes: dict  # variables of that input, arguments of `deck`
    deck: Callable
    warm: int  # steps before the timed ones
    steps: int
    ranks: int
    threads: int
    lammps_ranks: int


SLAB, SLAB_3D = dict(w=220, h=220), dict(w=24, h=24, d=24)
CASES = {
    "slab_1core": Case("slab", SLAB, slab_deck, 2000, 600, 1, 1, 1),
    "liquid_1core": Case("liquid", dict(nx=420, ny=220), liquid_deck, 300, 600, 1, 1, 1),
    "slab1m_1core": Case("slab", dict(w=500, h=500), slab_deck, 200, 100, 1, 1, 1),
    "melt_1core": Case("melt", dict(n=20), melt_deck, 400, 400, 1, 1, 1),
    "melt1m_1core": Case("melt", dict(n=63), melt_deck, 100, 60, 1, 1, 1),
    "slab3d_1core": Case("slab", SLAB_3D, slab_deck, 600, 300, 1, 1, 1),
    "melt256k_1core": Case("melt", dict(n=40), melt_deck, 200, 200, 1, 1, 1),
    "melt_2ranks": Case("melt", dict(n=40), melt_deck, 200, 200, 2, 1, 2),
    "melt_2threads": Case("melt", dict(n=40), melt_deck, 200, 200, 1, 2, 2),
    "slab_2ranks": Case("slab", SLAB, slab_deck, 2000, 600, 2, 1, 2),
    "slab_2threads": Case("slab", SLAB, slab_deck, 2000, 600, 1, 2, 2),
    "slab3d_2ranks": Case("slab", SLAB_3D, slab_deck, 600, 600, 2, 1, 2),
}
EFFICIENCIES = [  # two ranks or threads, one core
    ("slab_2ranks", "slab_1core"),
    ("slab_2threads", "slab_1core"),
    ("melt_2ranks", "melt256k_1core"),
    ("melt_2threads", "melt256k_1core"),
]
BALANCED = {  # collisions off-centre
    "balanced": CASES["slab_2ranks"]._replace(sizes=dict(SLAB, extra=273)),
    "balanced3d": CASES["slab3d_2ranks"]._replace(sizes=dict(SLAB_3D, extra=32)),
}
BALANCING = ["balance.every=20", "balance.partition.kind=rcb"]  # bisection on both sides


def case_of(name, arguments):
    case = (CASES | BALANCED)[name]
    return peers.shorter(case, 20) if arguments.quick else case


def ours(case, precision, settings=(), sizes=None, binary="build/steelyard"):
    """Atom-steps per second (of CPU time on one core, else of wall time) and the summary of one run of ours."""
    text = case.deck(warm=case.warm, steps=case.steps, **(sizes or case.sizes))
    alone = case.ranks * case.threads == 1
    start = mpiexec(case.ranks) if case.ranks > 1 else PINNED if alone else []
    settings = [f"run.precision={precision}", *settings]
    with run_of(text, start=start, threads=case.threads, settings=settings, binary=binary) as (summary, out):
        clock = "cpu_seconds" if alone else "wall_seconds"
        seconds = seconds_between(out, case.warm, case.warm + case.steps, clock)
    return summary["particles"] * case.steps / seconds, summary


def balanced(name, arguments, out):
    """The off-centre collision on two ranks: medians of the rates, and of the ratios within a round."""
    case = case_of(name, arguments)
    centred = {key: value for key, value in case.sizes.items() if key != "extra"}
    rounds = []
    for _ in range(arguments.runs):
        rates = {}
        rates["ours, even halves"], plain = ours(case, arguments.precision)
        rates["ours, balanced"], summary = ours(case, arguments.precision, BALANCING)
        rates["ours, perfect split"], _ = ours(case, arguments.precision, sizes=centred)
        if plain["state_hash"] != summary["state_hash"]:
            sys.exit("vs_lammps.py: balancing changed the trajectory")
        for how in ("none", "count", "time"):
            rates[f"LAMMPS, {how}"] = peers.lammps(case, balance=how)
        rounds.append(rates)

    def best(r):
        return max(r["LAMMPS, count"], r["LAMMPS, time"])

    def ratio(f):
        return statistics.median(f(r) for r in rounds)

    print(f"\n{name}: off-centre collision, {plain['particles']} particles on two ranks, M atom-steps/s of wall time")
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


def table_of_pairs(other, digits, *more):
    """The function that prints a row of a table of pairs: the case, compared(), and the columns `more`."""
    rates = ("ours", "10.2f"), (other, "10.2f"), ("   M atom-steps/s", "17")
    return table(("case", "<17"), *rates, *((of, f"8.{digits}f") for of in ("ratio", "min", "max")), *more)


def compared(mine, theirs):
    """Median rates of both sides, an empty cell, and of their ratios the median, the least and the most."""
    ratios = [a / b for a, b in zip(mine, theirs)]
    rates = (statistics.median(side) / 1e6 for side in (mine, theirs))
    return *rates, "", statistics.median(ratios), min(ratios), max(ratios)


def peers_of(arguments):
    """{name: peer} that the options ask for."""
    found = {"lammps": peers.debian()}
    if arguments.native:
        found["native"] = peers.native(arguments.native_build, arguments.native_flags, arguments.precision)
    if arguments.md_bench:
        found["md_bench"] = peers.md_bench(arguments.md_bench, arguments.precision)
    return found


def measured(names, arguments, out):
    """Measures the cases beside all peers, prints a row for each case and peer, and fills `out`."""
    beside, cases = peers_of(arguments), {name: case_of(name, arguments) for name in names}
    out["peers"] = {peer: of.build for peer, of in beside.items()}
    trials = {
        n: {peer: peers.trial(of, case) for peer, of in beside.items() if of.has(case)} for n, case in cases.items()
    }
    fastest = {n: {peer: max(rates, key=rates.get) for peer, rates in of_case.items()} for n, of_case in trials.items()}

    def turn(name):
        rate, summary = ours(cases[name], arguments.precision)
        theirs = {peer: beside[peer].variants[variant](cases[name]) for peer, variant in fastest[name].items()}
        return {"ours": rate, **theirs}, summary

    runs = in_turns(arguments.runs, names, turn)
    row = table_of_pairs("peer", 2, ("", "<2"), ("peer", "<30"))
    for name, of_case in runs.items():
        summary = of_case[-1][1]
        rates = {side: [r[side] for r, _ in of_case] for side in of_case[0][0]}
        out["rates"][name] = dict(rates, particles=summary["particles"], variants=fastest[name])
        out["rates"][name]["trials"] = {peer: of for peer, of in trials[name].items() if len(of) > 1}
        out.update(kernels=summary["kernels"], cpu_model=summary["cpu_model"], version=summary["version"])
        for peer, variant in fastest[name].items():
            figures = compared(rates["ours"], rates[peer])
            out["ratio_" + (name if peer == "lammps" else f"{peer}_{name}")] = figures[3]
            row(name, *figures, "", f"{beside[peer].title}, {variant}")


def options():
    parser = options_of(__doc__)
    parser.add_argument("--runs", type=count, default=5, help="rounds of each case (default: 5)")
    parser.add_argument("--precision", choices=["mixed", "double"], default="mixed")
    parser.add_argument("--only", nargs="*", choices=list(CASES) + list(BALANCED), help="cases (default: all)")
    parser.add_argument("--native", action="store_true", help="LAMMPS built for this machine, too")
    parser.add_argument(
        "--native-build", metavar="DIR", default="build-lammps", help="its folder (default: build-lammps)"
    )
    flags = peers.NATIVE_FLAGS
    parser.add_argument("--native-flags", metavar="FLAGS", default=flags, help=f"of g++ (default: {flags})")
    parser.add_argument("--md-bench", metavar="DIR", help="MD-Bench, too, from its source there")
    parser.add_argument("--quick", action="store_true", help="a twentieth of the steps, to try the command")
    results = "results/vs_lammps/summary.json"
    parser.add_argument("--out", metavar="FILE", default=results, help=f"results (default: {results})")
    return parser.parse_args()


def main():
    arguments = options()
    require_writable(arguments.out)
    build("steelyard", setup="--bench")
    out = {"simulated": False, "precision": arguments.precision, "pairs": arguments.runs, "rates": {}}
    cases = arguments.only or list(CASES) + list(BALANCED)
    pairs = [name for name in cases if name not in BALANCED]
    if pairs:
        measured(pairs, arguments, out)
    rates = {name: of["ours"] for name, of in out["rates"].items()}
    for case, alone in EFFICIENCIES:
        if case in rates and alone in rates:
            efficiency = statistics.median(two / (2 * one) for one, two in zip(rates[alone], rates[case]))
            out["efficiency_" + case] = efficiency
            print(f"our parallel efficiency, {case}: {efficiency * 100:.0f} %")
    for name in cases:
        if name in BALANCED:
            balanced(name, arguments, out)
    write_json(arguments.out, out)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Pairs of runs, this checkout's build and another, in turns; the median of the pairs' ratios is what counts.

Which one goes first alternates from pair to pair, so that neither profits from the order. One core: atom-steps per CPU
second, pinned to core 0; two ranks: per second of wall time, unpinned. Both run the decks of vs_lammps.py (193,600
particles in the slabs, which balanced_2ranks collides off-centre and balances every 20 steps, 184,800 in the liquid)
and count the steps after the warm-up. Above 1, this checkout is faster.
"""
import argparse
import os
import statistics
import sys

import vs_lammps

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir))
from common import write_json  # noqa: E402

OURS = "build/steelyard"
CASES = {  # name: a case of vs_lammps.py with fewer steps: warm-up, timed; settings, sizes
    "slab_1core": ("slab_1core", 400, 800, [], None),
    "liquid_1core": ("liquid_1core", 200, 600, [], None),
    "slab_2ranks": ("slab_2ranks", 400, 1200, [], None),
    "melt_1core": ("melt_1core", 200, 400, [], None),
    "balanced_2ranks": ("slab_2ranks", 400, 1200, vs_lammps.BALANCING, vs_lammps.BALANCED["balanced"][1]),
}


def binary_in(path):
    """The steelyard that `path` is, or holds."""
    for candidate in (path, os.path.join(path, "steelyard"), os.path.join(path, "build", "steelyard")):
        if os.path.isfile(candidate) and os.access(candidate, os.X_OK):
            return os.path.abspath(candidate)
    sys.exit(f"vs_build.py: {path} is no steelyard binary and holds none; give the path of a binary or a build folder")


def main():
    parser = argparse.ArgumentParser(
        prog="vs_build.sh", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("other", metavar="OTHER_BUILD", help="a steelyard binary, or a build folder that holds one")
    parser.add_argument("--runs", type=int, default=15, help="pairs of each case (default 15)")
    parser.add_argument(
        "--only",
        nargs="+",
        choices=list(CASES),
        default=list(CASES),
        metavar="CASE",
        help=f"cases (default: {' '.join(CASES)})",
    )
    arguments = parser.parse_args()
    if arguments.runs < 1:
        parser.error("--runs: give at least one pair")
    other = binary_in(arguments.other)
    cases = dict(vs_lammps.CASES)
    for name, (case, warm, steps, _, sizes) in CASES.items():
        kind, standard, deck, _, _, *machine = cases[case]
        vs_lammps.CASES[name] = (kind, sizes or standard, deck, warm, steps, *machine)

    rates = {name: {"ours": [], "other": []} for name in arguments.only}
    hashes = {name: {"ours": set(), "other": set()} for name in arguments.only}
    out = {"simulated": False, "other": other, "particles": {}}
    try:
        for pair in range(arguments.runs):
            for name in arguments.only:  # the cases take turns
                found = {}
                sides = [("ours", OURS), ("other", other)]
                for side, binary in sides if pair % 2 == 0 else reversed(sides):
                    found[side], summary = vs_lammps.ours(name, "mixed", CASES[name][3], binary=binary)
                    hashes[name][side].add(summary["state_hash"])
                    out["particles"][name] = summary["particles"]
                    out.update(kernels=summary["kernels"], cpu_model=summary["cpu_model"])
                for side, rate in found.items():
                    rates[name][side].append(rate)
                print(f"pair {pair + 1}: {name} {found['ours'] / found['other']:.3f}", flush=True)
    except KeyboardInterrupt:
        print("interrupted: the pairs that were complete")
    rates = {name: sides for name, sides in rates.items() if sides["ours"]}
    if not rates:
        sys.exit("vs_build.py: no pair was complete")
    out.update(rates=rates, pairs=max(len(sides["ours"]) for sides in rates.values()))

    print(f"{'case':<17}{'ours':>10}{'other':>10}   M atom-steps/s{'ratio':>9}{'min':>7}{'max':>7}   state hashes")
    for name, sides in rates.items():
        ratios = [a / b for a, b in zip(sides["ours"], sides["other"])]
        equal = len(hashes[name]["ours"] | hashes[name]["other"]) == 1
        out["ratio_" + name] = statistics.median(ratios)
        mine, theirs = statistics.median(sides["ours"]) / 1e6, statistics.median(sides["other"]) / 1e6
        print(
            f"{name:<17}{mine:>10.2f}{theirs:>10.2f}   {'':<14}{statistics.median(ratios):>9.3f}{min(ratios):>7.3f}"
            f"{max(ratios):>7.3f}   {'equal' if equal else 'DIFFERENT'}"
        )
    out["state_hashes"] = {
        name: {side: sorted(found) for side, found in sides.items()} for name, sides in hashes.items()
    }
    out["hash_equal"] = all(len(sides["ours"] | sides["other"]) == 1 for sides in hashes.values())
    os.makedirs("results/vs_build", exist_ok=True)
    write_json("results/vs_build/summary.json", out)
    if not out["hash_equal"]:
        sys.exit("vs_build.py: the two builds compute different trajectories")


if __name__ == "__main__":
    main()

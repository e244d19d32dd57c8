#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The speed of this checkout over that of another build, in pairs of runs; the median of the pairs' ratios counts.

Which one goes first alternates from pair to pair, so that neither profits from the order. One core: atom-steps per CPU
second, pinned to core 0; two ranks: per second of wall time, unpinned. Both run the decks of vs_lammps.py (193,600
particles in the slabs, which balanced_2ranks collides off-centre and balances every 20 steps, 184,800 in the liquid)
and count the steps after the warm-up. Above 1, this checkout is faster. Writes results/vs_build/summary.json; exits 1
if the state hashes of the two differ.
"""
import os
import sys

import vs_lammps
from common import fail, write_json
from studies import build, options_of

OURS = "build/steelyard"
CASES = {  # name: a case of vs_lammps.py with other steps (warm-up, timed), settings
    "slab_1core": ("slab_1core", 400, 800, []),
    "liquid_1core": ("liquid_1core", 200, 600, []),
    "slab_2ranks": ("slab_2ranks", 400, 1200, []),
    "melt_1core": ("melt_1core", 200, 400, []),
    "balanced_2ranks": ("balanced", 400, 1200, vs_lammps.BALANCING),
}


def binary_in(path):
    """The steelyard that `path` is, or holds."""
    for candidate in (path, os.path.join(path, "steelyard"), os.path.join(path, "build", "steelyard")):
        if os.path.isfile(candidate) and os.access(candidate, os.X_OK):
            return os.path.abspath(candidate)
    fail(f"{path} is no steelyard binary and holds none; give the path of a binary or a build folder")


def run(name, binary):
    case, warm, steps, settings = CASES[name]
    case = (vs_lammps.CASES | vs_lammps.BALANCED)[case]._replace(warm=warm, steps=steps)
    return vs_lammps.ours(case, "mixed", settings, binary=binary)


def main():
    parser = options_of(__doc__)
    parser.add_argument("other", metavar="OTHER_BUILD", help="a steelyard binary, or a build folder that holds one")
    parser.add_argument("--runs", type=int, default=15, help="pairs of each case (default: 15)")
    cases = dict(nargs="+", choices=list(CASES), default=list(CASES), metavar="CASE")
    parser.add_argument("--only", **cases, help=f"cases (default: {' '.join(CASES)})")
    arguments = parser.parse_args()
    if arguments.runs < 1:
        parser.error("--runs: give at least one pair")
    binaries = {"ours": OURS, "other": binary_in(arguments.other)}
    build("steelyard")
    rates = {name: {"ours": [], "other": []} for name in arguments.only}
    hashes = {name: {"ours": set(), "other": set()} for name in arguments.only}
    out = {"simulated": False, "other": binaries["other"], "particles": {}}
    try:
        for pair in range(arguments.runs):
            for name in arguments.only:  # the cases take turns
                found = {}
                for side in list(binaries)[:: -1 if pair % 2 else 1]:
                    found[side], summary = run(name, binaries[side])
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
        fail("no pair was complete")
    out.update(rates=rates, pairs=max(len(sides["ours"]) for sides in rates.values()))

    row = vs_lammps.table_of_pairs("other", 3, ("state hashes", "15"))
    same = {name: len(sides["ours"] | sides["other"]) == 1 for name, sides in hashes.items()}
    for name, sides in rates.items():
        figures = vs_lammps.compared(sides["ours"], sides["other"])
        out["ratio_" + name] = figures[3]
        row(name, *figures, "equal" if same[name] else "DIFFERENT")
    out["state_hashes"] = {name: {side: sorted(h) for side, h in sides.items()} for name, sides in hashes.items()}
    out["hash_equal"] = all(same.values())
    write_json("results/vs_build/summary.json", out)
    if not out["hash_equal"]:
        sys.exit("vs_build.py: the two builds compute different trajectories")


if __name__ == "__main__":
    main()

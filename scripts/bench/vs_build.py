#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The speed of this checkout over that of another build, in pairs of runs; the median of the pairs' ratios counts.

Which one goes first alternates from pair to pair, so that neither profits from the order. One core: atom-steps per CPU
second, pinned to core 0; two ranks: per second of wall time, unpinned. Both run the decks of vs_lammps.py (193,600
particles in the slabs, which balanced_2ranks collides off-centre and balances every 20 steps, 184,800 in the liquid)
and count the steps after the warm-up. Above 1, this checkout is faster. Writes results/vs_build/summary.json; exits 1
if the state hashes of the two differ.
"""
import collections
import os
import sys

import vs_lammps
from common import fail, write_json
from studies import build, count, in_turns, options_of

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
    parser.add_argument("--runs", type=count, default=15, help="pairs of each case (default: 15)")
    cases = dict(nargs="+", choices=list(CASES), default=list(CASES), metavar="CASE")
    parser.add_argument("--only", **cases, help=f"cases (default: {' '.join(CASES)})")
    arguments = parser.parse_args()
    binaries = {"ours": OURS, "other": binary_in(arguments.other)}
    build("steelyard")
    out = dict(simulated=False, other=binaries["other"], pairs=arguments.runs, hash_equal=True)
    out.update(particles={}, rates={}, state_hashes={})
    done = collections.Counter()

    def pair(name):
        """Rate and summary of each side, of which the first one alternates."""
        done[name] += 1
        found = {side: run(name, binaries[side]) for side in list(binaries)[:: 1 if done[name] % 2 else -1]}
        print(f"pair {done[name]}: {name} {found['ours'][0] / found['other'][0]:.3f}", flush=True)
        return found

    runs = in_turns(arguments.runs, arguments.only, pair)
    row = vs_lammps.table_of_pairs("other", 3, ("state hashes", "15"))
    for name, pairs in runs.items():
        rates = out["rates"][name] = {side: [p[side][0] for p in pairs] for side in binaries}
        hashes = {side: sorted({p[side][1]["state_hash"] for p in pairs}) for side in binaries}
        out["state_hashes"][name], summary = hashes, pairs[-1]["ours"][1]
        out["particles"][name] = summary["particles"]
        out.update(kernels=summary["kernels"], cpu_model=summary["cpu_model"])
        figures, same = vs_lammps.compared(rates["ours"], rates["other"]), len({*hashes["ours"], *hashes["other"]}) == 1
        out["ratio_" + name] = figures[3]
        row(name, *figures, "equal" if same else "DIFFERENT")
        out["hash_equal"] &= same
    write_json("results/vs_build/summary.json", out)
    if not out["hash_equal"]:
        sys.exit("vs_build.py: the two builds compute different trajectories")


if __name__ == "__main__":
    main()

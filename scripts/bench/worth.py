#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The gain that a run reports for its balancing, against runs without balancing, on two ranks of this machine.

Three runs of the off-centre collision of inputs/quickstart.yaml take turns. The first does not balance. The
second (`even`) measures every 20 steps, but never migrates. The third balances. `saved` of the balanced run gives the
time that a run without balancing would have taken. The first run is the truth. `perfect_saves` gives the time with
perfect balance. `even` is far from it, the balanced run is near. Both must give the same time. Writes
results/worth/summary.json.
"""
import shutil
import statistics

from common import mpiexec, write_json
from studies import build, in_turns, options_of, quiet, steelyard

OUT = "results/worth"
RUNS = {"without": ["balance.every=0"], "even": ["balance.partition.kind=none"], "balanced": []}


def run(settings):
    s = steelyard("run", "inputs/quickstart.yaml", out=f"{OUT}/run", settings=settings, start=mpiexec(2), timeout=300)
    return dict(seconds=s["wall_seconds"], hash=s["state_hash"], **s.get("worth", {}))


def judged(runs):
    """Times that the runs of a round foretold, and how far they are off."""
    assert len({r["hash"] for r in runs.values()}) == 1, "hashes differ"
    took = runs["without"]["seconds"]
    without = runs["balanced"]["seconds"] / (1 - runs["balanced"]["saved"])
    perfect = {name: runs[name]["seconds"] * (1 - runs[name]["perfect_saves"]) for name in ("even", "balanced")}
    errors = dict(without_error=without / took - 1, perfect_error=perfect["even"] / perfect["balanced"] - 1)
    return dict(runs=runs, without_said=without, perfect_said=perfect, **errors)


def main():
    arguments = options_of(__doc__, "--rounds").parse_args()
    build("steelyard")
    runs = in_turns(arguments.rounds, RUNS, lambda name: quiet(lambda: run(RUNS[name])), shuffled=True)
    rounds = [judged(dict(zip(runs, of_round))) for of_round in zip(*runs.values())]
    print("seconds without balancing: measured, said; with perfect balance: said without, with balancing; balanced")
    for r in rounds:
        said, took = r["perfect_said"], {name: run["seconds"] for name, run in r["runs"].items()}
        without = f"{took['without']:.2f} {r['without_said']:.2f} ({100 * r['without_error']:+.1f} %)"
        perfect = f"{said['even']:.2f} {said['balanced']:.2f} ({100 * r['perfect_error']:+.1f} %)"
        print(f"{without}; {perfect}; {took['balanced']:.2f}")
    errors = {key: statistics.median(r[key] for r in rounds) for key in ("without_error", "perfect_error")}
    print("medians: {without_error:+.1%} and {perfect_error:+.1%}".format(**errors))
    write_json(f"{OUT}/summary.json", {"simulated": False, "rounds": rounds, **errors})
    shutil.rmtree(f"{OUT}/run", ignore_errors=True)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What a run says that balancing was worth, against the truth: called by worth.sh.

The off-centre collision of inputs/quickstart.yaml on two ranks, in turns: without balancing; measured every 20 steps
but never migrated (`even`); balanced. `saved` of the balanced run gives the time that it would have taken without; the
truth is the first run's. `perfect_saves` gives the time with perfect balance; `even` and the balanced run, far from it
and near it, must agree.
"""
import argparse
import os
import sys
import random
import shutil
import statistics

from quiet import quiet

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir))
from common import call, mpiexec, words, read_json, write_json  # noqa: E402

DECK, OUT = "inputs/quickstart.yaml", "results/worth"
RUNS = {"without": ["balance.every=0"], "even": ["balance.partition.kind=none"], "balanced": []}


def run(settings):
    command = ["build/steelyard", "run", DECK, "--out", f"{OUT}/run", "--force", "--quiet"]
    call([*mpiexec(2), *command, *words(settings)], timeout=300)
    s = read_json(f"{OUT}/run/summary.json")
    return dict(seconds=s["wall_seconds"], hash=s["state_hash"], **s.get("worth", {}))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    arguments = parser.parse_args()
    os.makedirs(OUT, exist_ok=True)
    rounds = []
    for k in range(arguments.rounds):
        names = list(RUNS)
        random.Random(k).shuffle(names)
        r = {name: quiet(lambda: run(RUNS[name])) for name in names}
        assert len({x["hash"] for x in r.values()}) == 1, "hashes differ"
        without = r["balanced"]["seconds"] / (1 - r["balanced"]["saved"])
        perfect = {name: r[name]["seconds"] * (1 - r[name]["perfect_saves"]) for name in ("even", "balanced")}
        rounds.append(
            dict(
                runs=r,
                without_said=without,
                perfect_said=perfect,
                without_error=without / r["without"]["seconds"] - 1,
                perfect_error=perfect["even"] / perfect["balanced"] - 1,
            )
        )
        print(
            (
                f"without balancing {r['without']['seconds']:.2f} s, said"
                f" {without:.2f} ({100 * rounds[-1]['without_error']:+.1f} %); perfect balance: said"
                f" {perfect['even']:.2f} without balancing, {perfect['balanced']:.2f} with it"
                f" ({100 * rounds[-1]['perfect_error']:+.1f} %), which took {r['balanced']['seconds']:.2f}"
            ),
            flush=True,
        )
    out = {"simulated": False, "rounds": rounds}
    for key in ("without_error", "perfect_error"):
        out[key] = statistics.median(r[key] for r in rounds)
    print(f"medians: {100 * out['without_error']:+.1f} % and {100 * out['perfect_error']:+.1f} %")
    write_json(f"{OUT}/summary.json", out)
    shutil.rmtree(f"{OUT}/run", ignore_errors=True)


if __name__ == "__main__":
    main()

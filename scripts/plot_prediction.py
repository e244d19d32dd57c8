#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""plot_prediction.py DIRECTORY: prediction.png from the predict.json that `steelyard predict` wrote there.

Left: the speed-up, with its uncertainty. Right: what a step is made of. All of it is predicted.
"""
import json
import os
import sys

import matplotlib
import matplotlib.pyplot as plt

TERMS = ["compute", "imbalance", "messages", "bytes", "rebalancing"]

matplotlib.use("Agg")


def main():
    if len(sys.argv) != 2 or sys.argv[1].startswith("-"):
        print(__doc__.strip())
        sys.exit(0 if sys.argv[1:2] in (["-h"], ["--help"]) else 2)
    with open(os.path.join(sys.argv[1], "predict.json")) as f:
        p = json.load(f)
    if "forecasts" not in p:
        sys.exit("plot_prediction.py: this predict.json is of no deck; there is nothing to plot")
    forecasts = p["forecasts"]
    ranks, one = [f["ranks"] for f in forecasts], forecasts[0]["step_seconds"]
    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6))
    left.fill_between(
        ranks,
        [one / f["high_seconds"] for f in forecasts],
        [one / f["low_seconds"] for f in forecasts],
        alpha=0.3,
        linewidth=0,
    )
    left.plot(ranks, [f["speed_up"] for f in forecasts], marker="o", label="predicted")
    left.plot(ranks, ranks, color="gray", linewidth=0.8, label="ideal")
    left.axvline(p["best_ranks"], color="gray", linestyle=":", linewidth=0.8)
    left.set(xscale="log", yscale="log", xlabel="ranks", ylabel="speed-up", title=f"{p['deck']} on {p['machine']}"[:48])
    left.legend()
    below = [0.0] * len(ranks)
    for term in TERMS:
        above = [b + 100 * f["seconds"][term] / f["step_seconds"] for b, f in zip(below, forecasts)]
        right.fill_between(ranks, below, above, label=term, alpha=0.8, linewidth=0)
        below = above
    right.set(xscale="log", xlabel="ranks", ylabel="% of a step", title="predicted")
    right.legend(loc="lower left")
    figure.tight_layout()
    path = os.path.join(sys.argv[1], "prediction.png")
    figure.savefig(path, dpi=120)
    print(path)


main()

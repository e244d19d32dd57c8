#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A prediction: plot_prediction.py DIRECTORY [--output FILE]

Reads the predict.json that `steelyard predict` wrote into the directory. Left: the speed-up, with
its uncertainty. Right: what a step is made of. All of it is predicted.
"""
import argparse
import os

from common import fail, read_json
from plotting import plt, save

TERMS = ["compute", "imbalance", "messages", "bytes", "rebalancing"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("directory", metavar="DIRECTORY")
    parser.add_argument("--output", help="picture (default: DIRECTORY/prediction.png)")
    arguments = parser.parse_args()
    advice = "give the directory that `steelyard predict DECK --out DIRECTORY` wrote"
    p = read_json(os.path.join(arguments.directory, "predict.json"), advice=advice)
    if "forecasts" not in p:
        fail(f"{arguments.directory}/predict.json is of no deck; there is nothing to plot")
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
    save(figure, arguments.output or os.path.join(arguments.directory, "prediction.png"))


if __name__ == "__main__":
    main()

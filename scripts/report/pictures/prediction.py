# SPDX-License-Identifier: MIT
"""A prediction, by the predict.json of `steelyard predict`. Left: the speed-up, with its uncertainty; that of 1 rank is
1 by definition. Right: what a step is made of. All of it is predicted."""
import math
import os

from common import fail, read_json
from plotting import plt

TERMS = ["compute", "imbalance", "messages", "bytes", "rebalancing"]


def speed_ups(forecasts):
    """The lowest and the highest speed-up of each forecast; infinite where the time may be 0."""
    one = forecasts[0]["step_seconds"]
    low = [one / f["high_seconds"] for f in forecasts]
    high = [one / f["low_seconds"] if f["low_seconds"] > 0 else math.inf for f in forecasts]
    return [1, *low[1:]], [1, *high[1:]]  # the first is that of 1 rank


def ticks(ranks):
    """Those of the ranks, up to the largest, whose labels find room beside each other on a logarithmic axis."""
    apart, kept = (max(ranks) / min(ranks)) ** (1 / 13), []
    for r in sorted(ranks, reverse=True):
        if not kept or r * apart <= kept[-1]:
            kept.append(r)
    return kept[::-1]


def draw(options, outdir):
    advice = "give the directory that `steelyard predict DECK --out DIRECTORY` wrote"
    p = read_json(os.path.join(outdir, "predict.json"), advice=advice)
    if "forecasts" not in p:
        fail(f"{outdir}/predict.json is of no deck; there is nothing to plot")
    forecasts = p["forecasts"]
    ranks = [f["ranks"] for f in forecasts]
    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6))
    low, high = speed_ups(forecasts)
    top = 2 * max(*ranks, *(h for h in high if h < math.inf))  # what may be infinite leaves the picture there
    left.fill_between(ranks, low, [min(h, 10 * top) for h in high], alpha=0.3, linewidth=0)
    left.plot(ranks, [f["speed_up"] for f in forecasts], marker="o", label="predicted")
    left.plot(ranks, ranks, color="gray", linewidth=0.8, label="ideal")
    left.axvline(p["best_ranks"], color="gray", linestyle=":", linewidth=0.8)
    left.set(xscale="log", yscale="log", xlabel="ranks", ylabel="speed-up", title=f"{p['deck']} on {p['machine']}"[:48])
    left.set_ylim(top=min(top, left.get_ylim()[1]))
    left.legend()
    below = [0.0] * len(ranks)
    for term in TERMS:
        above = [b + 100 * f["seconds"][term] / f["step_seconds"] for b, f in zip(below, forecasts)]
        right.fill_between(ranks, below, above, label=term, alpha=0.8, linewidth=0)
        below = above
    right.set(xscale="log", xlabel="ranks", ylabel="% of a step", title="predicted")
    right.legend(loc="lower left")
    for axis in (left, right):
        axis.set_xticks(ticks(ranks), [str(r) for r in ticks(ranks)])
        axis.set_xticks([], minor=True)
    figure.tight_layout()
    return figure

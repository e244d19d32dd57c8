# SPDX-License-Identifier: MIT
"""Load balance efficiency against the step, of every model in balance.csv. Above: LBE, the mean over the largest
compute time of the processes. Below: LBE_m, the same of the loads of the partition in use: the efficiency that its
model predicts. One column for each directory."""
import os

from common import fail, read_csv, read_json
from plotting import plt

COLOURS = {
    "time_average": "#999999",
    "moving_average": "#c29b2f",
    "particle_count": "#2f7fc2",
    "hybrid": "#7b4fb5",
    "a1": "#2f9e5b",
    "b1": "#d8742f",
    "r1": "#c22f3e",
    "r1_ahead": "#e377c2",
}


def style(model):
    fixed = model in ("none", "even")
    return dict(color=COLOURS.get(model, "black"), lw=1.6 if model == "r1" else 1, ls="--" if fixed else "-")


def read(outdir):
    """{model: [(step, LBE, LBE_m), ...]}, the driver first, and the summary."""
    path = os.path.join(outdir, "balance.csv")
    advice = "give the output directory of a run that has ended, with balance.every > 0"
    rows = read_csv(path, ("step", "model", "lbe", "lbe_model", "decision"), advice)
    curves = {}
    for r in rows:
        if r["decision"] != "kept: clock":
            curves.setdefault(r["model"], []).append((int(r["step"]), float(r["lbe"]), float(r["lbe_model"])))
    if not curves:
        fail(f"{path} holds no balancing that the clock could resolve")
    return curves, read_json(os.path.join(outdir, "summary.json"), ("overall_lbe", "overall_lbe_measured"), advice)


def draw(options, *outdirs):
    runs = [read(o) for o in outdirs]
    size = (7 * len(runs), 6.4)
    shared = dict(squeeze=False, sharex="col", sharey="row", layout="constrained")
    figure, axes = plt.subplots(2, len(runs), figsize=size, **shared)
    for (above, below), (curves, summary), outdir in zip(axes.T, runs, outdirs):
        for model, points in curves.items():
            step, lbe, lbe_model = zip(*points)
            overall, measured = summary["overall_lbe"].get(model), summary["overall_lbe_measured"].get(model)
            label = f"{model}  {100 * (measured if measured is not None else overall):.1f} ({100 * overall:.1f})"
            above.plot(step, [100 * v for v in lbe], label=label, **style(model))
            below.plot(step, [100 * v for v in lbe_model], **style(model))
        clock = "counted work" if summary["clock"] == "work" else "wall clock"
        run = f"{summary['deck']}, {os.path.basename(os.path.normpath(outdir))}"
        machine = f"{summary['processes']} processes on {summary['ranks']} ranks, {clock}"
        above.set(title=f"{run}: {machine}")
        title = "overall LBE, %, after the first measured update (of all balancings)"
        above.legend(title=title, title_fontsize=8, ncols=2, loc="lower right")
        below.set(xlabel="step")
        for axis in (above, below):
            axis.grid()
    axes[0][0].set(ylabel="LBE, %", ylim=(0, 101))
    axes[1][0].set(ylabel="LBE_m, %")
    return figure

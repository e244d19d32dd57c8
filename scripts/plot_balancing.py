#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A run without and one with balancing, side by side: plot_balancing.py WITHOUT WITH [--output FILE]

WITHOUT and WITH are output directories of the same deck, both with balance.every > 0, the first with
balance.partition.kind=none. Above: density and the border between the processes at the last step of which there are
cell fields. Below: LBE at each balancing. Writes WITH/balancing.png and prints what balancing gained.
"""
import argparse
import os

from common import fail, read_csv, read_json
from plotting import LineCollection, borders, field_files, np, periodic, plt, read_fields, save, smoothed

COLOURS = ("#777777", "#c22f3e")


def read(outdir):
    """Summary, (step, LBE) of the balancings, density, owners and step of the last cell fields."""
    advice = "give the output directory of a run that has ended, with balance.every > 0"
    files = field_files(outdir)
    rows = [
        (int(r["step"]), 100 * float(r["lbe"]))
        for r in read_csv(os.path.join(outdir, "balance.csv"), ("step", "lbe", "driver", "decision"), advice)
        if r["driver"] == "1" and r["decision"] != "kept: clock"
    ]
    if not rows:
        fail(f"{outdir}/balance.csv holds no balancing that the clock could resolve; balance less often")
    summary = read_json(os.path.join(outdir, "summary.json"), ("overall_lbe", "wall_seconds"), advice)
    _, (particles, owner) = read_fields(files[max(files)], "particles", "owner")
    return summary, rows, smoothed(particles, periodic(outdir)), owner, max(files)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("without")
    parser.add_argument("balanced", metavar="with")
    parser.add_argument("--output", help="picture (default: balancing.png in WITH)")
    arguments = parser.parse_args()
    runs = [read(arguments.without), read(arguments.balanced)]
    lbe = [100 * next(iter(s["overall_lbe"].values())) for s, *_ in runs]

    figure, axes = plt.subplot_mosaic(
        [["without", "with"], ["lbe", "lbe"]],
        figsize=(11, 7),
        layout="constrained",
        gridspec_kw={"height_ratios": [1.7, 1]},
    )
    top = None
    for (summary, rows, density, owner, step), name, value in zip(runs, ("without", "with"), lbe):
        top = top or np.percentile(density, 99.9)
        axis = axes[name]
        ny, nx = density.shape
        axis.imshow(
            density,
            origin="lower",
            extent=[0, nx, 0, ny],
            cmap="magma_r",
            vmin=0,
            vmax=top,
            interpolation="nearest",
            aspect="equal",
        )
        axis.add_collection(LineCollection(borders(owner), colors="#1d6fa5", linewidths=1.6))
        axis.set_title(f"{name} balancing: {summary['wall_seconds']:.1f} s, overall LBE {value:.1f} %", fontsize=11)
        axis.set_xlabel("cell in x")
        axis.set_ylabel("cell in y")
    for (_, rows, *_), name, colour in zip(runs, ("without", "with"), COLOURS):
        steps, values = zip(*rows)
        axes["lbe"].plot(steps, values, label=f"{name} balancing", color=colour, lw=1.2)
    axes["lbe"].set_ylim(0, 101)
    axes["lbe"].set_xlabel("step")
    axes["lbe"].set_ylabel("LBE, %")
    axes["lbe"].grid(alpha=0.25)
    axes["lbe"].legend(loc="lower right", fontsize=9)
    summary = runs[0][0]
    figure.suptitle(
        (
            f"{summary['deck']}: {summary['particles']} particles on {summary['ranks']} ranks; the line is the border"
            f" between the processes at step {runs[0][4]}"
        ),
        fontsize=11,
    )
    path = arguments.output or os.path.join(arguments.balanced, "balancing.png")
    seconds = [s["wall_seconds"] for s, *_ in runs]
    print(
        "Balancing raised the load balance efficiency (mean compute time of the ranks over the largest) from"
        f" {lbe[0]:.1f} to {lbe[1]:.1f} % and the speed by {100 * (seconds[0] / seconds[1] - 1):.0f} %:"
        f" {seconds[1]:.1f} instead of {seconds[0]:.1f} s."
    )
    save(figure, path, dpi=110)


if __name__ == "__main__":
    main()

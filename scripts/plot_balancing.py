#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A run without and one with balancing, side by side: plot_balancing.py WITHOUT WITH [--slice AXIS=LAYER] [--output
FILE]

WITHOUT and WITH are output directories of the same deck, ranks and steps, both with balance.every > 0, the first with
balance.partition.kind=none. Above: density, as the mean of 3 x 3 cells, and the border between the processes at the
last step of which there are cell fields, in three dimensions of one layer of cells. Below: LBE at each balancing.
Writes WITH/balancing.png and prints what balancing gained; of virtual processes only the LBE, since their speed is not
known.
"""
import argparse
import os
from types import SimpleNamespace

from common import fail, read_csv, read_json
from plotting import LineCollection, View, add_view, borders, field_files, np, periodic, plt, read_fields
from plotting import save, smoothed

COLOURS = ("#777777", "#c22f3e")
# What two runs must have in common for balancing to be their only difference: keys of summary.json, in words.
SAME = {
    "particles": "the number of particles",
    "first_step": "the first step",
    "steps": "the last step",
    "ranks": "the number of ranks",
    "threads": "the threads of a rank",
    "processes": "the number of processes",
    "times_by": "the clock",
    "simulated": "whether ranks were simulated",
    "state_hash": "the state at the end",
}


def read(outdir, settings, arguments):
    """What a run with these settings left: summary, models that decided, (step, LBE) of the balancings, and density,
    owners and step of the last cell fields, of which View(arguments) is what is drawn."""
    advice = f"give the output directory of a run that has ended, with {settings}"
    files = field_files(outdir)
    rows = [
        r
        for r in read_csv(os.path.join(outdir, "balance.csv"), ("step", "model", "lbe", "driver", "decision"), advice)
        if r["driver"] == "1" and r["decision"] != "kept: clock"
    ]
    if not rows:
        fail(f"{outdir}/balance.csv holds no balancing that the clock could resolve; balance less often")
    keys = ("overall_lbe", "wall_seconds", *(k for k in SAME if k != "simulated"))
    summary = read_json(os.path.join(outdir, "summary.json"), keys, advice)
    attributes, (particles, owner) = read_fields(files[max(files)], "particles", "owner")
    view = View(arguments, attributes["cells"])
    return SimpleNamespace(
        outdir=outdir,
        summary=dict({"simulated": False}, **summary),
        models={r["model"] for r in rows},
        lbe=100 * next(iter(summary["overall_lbe"].values())),
        balancings=[(int(r["step"]), 100 * float(r["lbe"])) for r in rows],
        view=view,
        density=smoothed(view(particles), view.of(periodic(outdir))),
        owner=view(owner),
        step=max(files),
    )


def refusal(without, balanced):
    """Why the difference of two runs is not what balancing gains, in one line; None where it is."""
    both = f"{without.outdir} and {balanced.outdir}"
    order = "give the run with balance.partition.kind=none first, and then the one that balances"
    for key, what in SAME.items():
        a, b = without.summary[key], balanced.summary[key]
        if a != b:
            return f"{both} differ in {what} ({a} and {b}); give two runs that differ in balance.partition.kind only"
    if without.step != balanced.step:
        return f"{both} end in cell fields of step {without.step} and {balanced.step}; run with one output.fields_every"
    if without.models != {"none"}:
        return f"{without.outdir} balances, by {', '.join(sorted(without.models - {'none'}))}; {order}"
    if "none" in balanced.models:
        return f"{balanced.outdir} does not balance; {order}"
    return None


def virtual(summary):
    return summary["processes"] != summary["ranks"]


def place(summary):
    """The ranks of a run, and its virtual processes."""
    ranks = f"{summary['ranks']} rank{'s' if summary['ranks'] != 1 else ''}"
    return f"{summary['processes']} processes on {ranks}" if virtual(summary) else ranks


def verb(change):
    return "raised" if change > 0 else "lowered" if change < 0 else "left"


def gain(without, balanced):
    """What balancing did to the load balance efficiency and, where the processes are not virtual, to the speed."""
    summary, before, after = balanced.summary, round(without.lbe, 1), round(balanced.lbe, 1)
    who = "processes" if virtual(summary) else "ranks"
    values = f"from {before:.1f} to {after:.1f} %" if before != after else f"at {after:.1f} %"
    lbe = (
        f"Balancing {verb(after - before)} the load balance efficiency (mean compute time of the {who} over the"
        f" largest) {values}"
    )
    if virtual(summary):
        return f"{lbe}. These are {place(summary)}: what balancing would do to their speed is not known."
    seconds = [run.summary["wall_seconds"] for run in (without, balanced)]
    percent = round(100 * (seconds[0] / seconds[1] - 1))
    much = f"by {abs(percent)} %" if percent else "as it was"
    digits = 1 if min(seconds) >= 10 else 2
    return f"{lbe} and {verb(percent)} the speed {much}: {seconds[1]:.{digits}f} instead of {seconds[0]:.{digits}f} s."


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("without")
    parser.add_argument("balanced", metavar="with")
    add_view(parser)
    parser.add_argument("--output", help="picture (default: balancing.png in WITH)")
    arguments = parser.parse_args()
    runs = [
        read(arguments.without, "balance.every > 0 and balance.partition.kind=none", arguments),
        read(arguments.balanced, "balance.every > 0", arguments),
    ]
    why = refusal(*runs)
    if why:
        fail(why)

    figure, axes = plt.subplot_mosaic(
        [["without", "with"], ["lbe", "lbe"]],
        figsize=(11, 7),
        layout="constrained",
        gridspec_kw={"height_ratios": [1.7, 1]},
    )
    top = None
    for run, name in zip(runs, ("without", "with")):
        top = top or np.percentile(run.density, 99.9)
        axis = axes[name]
        ny, nx = run.density.shape
        axis.imshow(
            run.density,
            origin="lower",
            extent=[0, nx, 0, ny],
            cmap="magma_r",
            vmin=0,
            vmax=top,
            interpolation="nearest",
            aspect="equal",
        )
        axis.add_collection(LineCollection(borders(run.owner), colors="#1d6fa5", linewidths=1.6))
        seconds = "" if virtual(run.summary) else f"{run.summary['wall_seconds']:.1f} s, "
        axis.set_title(f"{name} balancing: {seconds}overall LBE {run.lbe:.1f} %", fontsize=11)
        axis.set(**run.view.labels("cell in {}"))
    for run, name, colour in zip(runs, ("without", "with"), COLOURS):
        steps, values = zip(*run.balancings)
        axes["lbe"].plot(steps, values, label=f"{name} balancing", color=colour, lw=1.2)
    axes["lbe"].set_ylim(0, 101)
    axes["lbe"].set_xlabel("step")
    axes["lbe"].set_ylabel("LBE, %")
    axes["lbe"].grid(alpha=0.25)
    axes["lbe"].legend(loc="lower right", fontsize=9)
    summary = runs[0].summary
    figure.suptitle(
        f"{summary['deck']}: {summary['particles']} particles, {place(summary)}; density (mean of 3 x 3 cells) and the"
        f" border between the processes at step {runs[0].step}{runs[0].view.text}",
        fontsize=10,
    )
    path = arguments.output or os.path.join(arguments.balanced, "balancing.png")
    print(gain(*runs))
    save(figure, path, dpi=110)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The border between the zones of a CPU and its accelerator: how soon two controllers find the best share, and its
cost.

Part 1 is a model of a machine, not a measurement. It has 12 cores and one accelerator, fast enough that 87 % of the
load are best for it, as in the paper of Andrianov et al. (2020). Both zones compute at the same time, so that a step
takes as long as the slower one. The border is checked at equal distances. Noise is an error of 5 % of each measured
time (standard deviation), of 500 runs for each start.

A correction is a check that moves the border. "time" is that of the steps from the 4th correction to check 100,
relative to the best fixed share.

Part 2 (--real) runs the program on this machine (inputs/zones.yaml). It has one rank, and at the same time a thread
that stands in for an accelerator and runs the device's kernels. All cases run once in each round, in a random order.
Times are of windows in the second half of the steps, each the median of all rounds.

Writes results/zones/: summary.json, CSV files, pictures.
"""
import os
import statistics

import zones_real
from common import call, read_csv, write_json
from plotting import plt, save
from studies import build, options_of
from zones_real import CONTROLLERS, STARTS, plot_shares

BEST = 0.87
CHECKS_SHOWN = 200
FIXED_SHOWN = [100, 97, 95, 93, 91, 89, 87, 85, 83, 75, 50, 0]
NEAR = 0.01


def rows_of(path):
    return [{k: v if k in ("kind", "controller") else float(v) for k, v in r.items()} for r in read_csv(path)]


def percentile(values, part):
    return sorted(values)[min(len(values) - 1, int(part * len(values)))]


def one_run(row, kind):
    """A case without noise."""
    kept = {key: row[key] for key in ("final_share", "best_share", "time_over_best", "reversals")}
    case = dict(kind=kind, controller=row["controller"], start_share=row["start_share"], simulated=True)
    return case | dict(kept, corrections=int(row["corrections"]) if row["corrections"] >= 0 else None, noise=0)


def many_runs(rows, kind):
    """A case of all seeds: the median of corrections and shares (null: most never come so near), the mean of times, and
    how far the worst are off."""
    row, times = rows[0], [r["time_over_best"] for r in rows]
    corrections = statistics.median_high(r["corrections"] if r["corrections"] >= 0 else float("inf") for r in rows)
    return dict(
        kind=kind,
        controller=row["controller"],
        start_share=row["start_share"],
        corrections=None if corrections == float("inf") else int(corrections),
        final_share=statistics.median(r["final_share"] for r in rows),
        best_share=row["best_share"],
        time_over_best=statistics.mean(times),
        time_over_best_99_percent=percentile(times, 0.99),
        largest_time_over_best=max(times),
        reversals=statistics.mean(r["reversals"] for r in rows),
        within_4_corrections=sum(0 <= r["corrections"] <= 4 for r in rows) / len(rows),
        stays_within_1_percent=sum(r["largest_error"] <= NEAR + 1e-9 for r in rows) / len(rows),
        noise=0.05,
        seeds=len(rows),
        simulated=True,
    )


def fixed_cases(rows):
    """Borders that never move."""
    best = min(r["seconds"] for r in rows)
    common = dict(kind="fixed", controller="fixed", corrections=0, best_share=BEST, simulated=True)
    return [
        dict(common, start_share=r["share"], final_share=r["share"], time_over_best=r["seconds"] / best) for r in rows
    ]


def model_cases(folder):
    """The cases of the model, from the files of bench_zones."""
    rows, cases, groups = rows_of(os.path.join(folder, "cases.csv")), [], {}
    for row in rows:
        if row["kind"] in ("converge", "change"):
            cases.append(one_run(row, row["kind"]))
        else:
            groups.setdefault((row["kind"], row["controller"], row["start_share"], row["best_share"]), []).append(row)
    cases += [many_runs(group, "noise" if key[0] == "noise" else "change") for key, group in groups.items()]
    return cases + fixed_cases(rows_of(os.path.join(folder, "fixed.csv")))


def print_model(cases):
    print("MODEL of a machine with 12 cores and an accelerator, not measured; shares of the accelerator in %")
    heads = f"{'corrections':>13}{'final':>8}{'time':>8}{'99 %':>8}{'turns':>8}{'within 4':>10}{'stays':>8}"
    print(f"{'kind':<10}{'controller':<16}{'noise':>6}{'best':>7}{'start':>7}{heads}")
    for c in cases:
        if c["kind"] == "fixed":
            continue
        corrections = "-" if c["corrections"] is None else c["corrections"]
        text = f"{c['kind']:<10}{c['controller']:<16}{100 * c['noise']:>5.0f}%{100 * c['best_share']:>7.1f}"
        text += f"{100 * c['start_share']:>7.0f}{corrections:>13}{100 * c['final_share']:>8.1f}"
        text += f"{c['time_over_best']:>8.3f}"
        if "seeds" in c:
            text += f"{c['time_over_best_99_percent']:>8.3f}{c['reversals']:>8.3f}"
            text += f"{100 * c['within_4_corrections']:>9.1f}%{100 * c['stays_within_1_percent']:>7.1f}%"
        else:
            text += f"{'':>8}{c['reversals']:>8.0f}"
        print(text)
    print(
        "corrections: until the share is within 1 % of the best (cpu_load: 2 %, for its band lies beside it); -: never."
    )
    print("turns: how often the border turns back, in 50 checks (change: 100). within 4: runs that come so near within")
    print("4 corrections. stays: within 1 % from check 20 on.")


def plot_model_shares(axes, series):
    """Figure 3 of the paper: the share over the checks, from each start."""
    points = {}
    for r in series:
        if r["check"] <= CHECKS_SHOWN:
            points.setdefault((r["controller"], r["start_share"]), []).append((r["check"], 100 * r["share"]))
    plot_shares(axes, points, BEST)
    ticks = [0, 2, 4, 6, 8, 10, 20, 50, 100, 200]
    for axis in axes:
        axis.text(95, 100 * BEST - 3, "best fixed share, 87 %", fontsize=8, ha="right", va="top")
        axis.set_xscale("symlog", linthresh=10)
        axis.set_xticks(ticks, ticks)
        axis.set_xlim(0, CHECKS_SHOWN)
        axis.set_xlabel("checks of the border")
    axes[0].set_ylabel("share of the accelerator, %")
    axes[1].legend(fontsize=8, loc="lower right")


def plot_times(axis, fixed, series):
    """Figure 2 of the paper: the time of a whole run, of fixed shares and of borders that move, relative to the best
    fixed share."""
    of_share = {round(100 * r["share"]): r["seconds"] for r in fixed}
    bars = [(f"{p}", of_share[p], "tab:gray") for p in FIXED_SHOWN]
    for controller, colour in zip(CONTROLLERS, ("tab:orange", "tab:blue")):
        for start in STARTS:
            rows = [r for r in series if (r["controller"], r["start_share"]) == (controller, start)]
            seconds = statistics.mean(r["seconds"] for r in rows if r["check"] < CHECKS_SHOWN)
            bars.append((f"d{100 * start:.0f}", seconds, colour))
    best, top = min(r["seconds"] for r in fixed), 2
    places = [i + 0.7 * (i >= len(FIXED_SHOWN)) + 0.7 * (i >= len(FIXED_SHOWN) + len(STARTS)) for i in range(len(bars))]
    axis.bar(places, [min(b[1] / best, top) for b in bars], color=[b[2] for b in bars])
    for place, (_, seconds, _) in zip(places, bars):
        axis.text(place, min(seconds / best, top) + 0.02, f"{seconds / best:.2f}", ha="center", fontsize=7.5)
    axis.set_xticks(places)
    axis.set_xticklabels([b[0] for b in bars], fontsize=8)
    axis.axhline(1, color="black", linewidth=0.8, linestyle="--")
    axis.set_ylim(0, top + 0.2)
    axis.set_ylabel("run time / that of\nthe best fixed share")
    groups = [
        ("fixed share, %", 0, len(FIXED_SHOWN)),
        ("cpu_load, from 100 to 0 %", len(FIXED_SHOWN), len(FIXED_SHOWN) + 4),
        ("measured_speed", len(FIXED_SHOWN) + 4, len(bars)),
    ]
    for text, begin, end in groups:
        axis.text((places[begin] + places[end - 1]) / 2, -0.36, text, ha="center", va="top", fontsize=9)
    axis.set_title(f"run of {CHECKS_SHOWN} checks; bars above {top} are cut off", fontsize=10)


def plot_model(folder, picture):
    series, fixed = rows_of(os.path.join(folder, "shares.csv")), rows_of(os.path.join(folder, "fixed.csv"))
    figure = plt.figure(figsize=(10, 7))
    grid = figure.add_gridspec(2, 2, height_ratios=[1.15, 1])
    left = figure.add_subplot(grid[0, 0])
    plot_model_shares([left, figure.add_subplot(grid[0, 1], sharey=left)], series)
    plot_times(figure.add_subplot(grid[1, :]), fixed, series)
    figure.suptitle("12 cores and an accelerator: model of a machine, not a measurement", fontsize=11)
    figure.tight_layout()
    save(figure, picture, dpi=110)


def model(arguments):
    """Controllers on the model of a machine: its cases. Writes the files of bench_zones and a picture."""
    call(["build/bench/bench_zones", arguments.out])
    cases = model_cases(arguments.out)
    print_model(cases)
    plot_model(arguments.out, os.path.join(arguments.out, "zones.png"))
    return cases


def main():
    parser = options_of(__doc__)
    zones_real.add_options(parser)
    arguments = parser.parse_args()
    build("steelyard", "bench_zones")
    arguments.out = "results/zones"
    os.makedirs(arguments.out, exist_ok=True)
    cases = [] if arguments.only_real else model(arguments)
    if arguments.real or arguments.only_real:
        cases += zones_real.real(arguments)
    what = "controllers of the border between zones; cases with simulated: true are of a model of a machine"
    write_json(os.path.join(arguments.out, "summary.json"), {"what": what, "cases": cases})


if __name__ == "__main__":
    main()

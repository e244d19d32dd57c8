#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The border between the zones of a CPU and its accelerator, after Andrianov et al. (2020): how soon two controllers
find the best share, and its cost. docs/zones.md

Part 1 is a model of a machine, not a measurement. It has 12 cores and an accelerator, for which 87 % of the load are
best. Both zones compute at the same time. Noise is an error of 5 % of each measured time, of 500 runs for each start.
"time" is that of the steps from the 4th correction to check 100, relative to the best fixed share.

Part 2 (--real) runs the program on this machine (inputs/zones.yaml). A thread that stands in for an accelerator runs
the device's kernels. All cases run once in each round, in a random order. Times are of windows in the second half of
the steps, each the median of all rounds.

Writes results/zones/: summary.json, CSV files, pictures.
"""
import os
import statistics

from common import call, read_csv, write_csv, write_json
from plotting import plt, save
from studies import build, in_turns, options_of, quiet, steelyard, table

OUT = "results/zones"
BEST = 0.87
CHECKS_SHOWN = 200
FIXED_SHOWN = [100, 97, 95, 93, 91, 89, 87, 85, 83, 75, 50, 0]
NEAR = 0.01
STARTS = [1, 0.75, 0.5, 0]
CONTROLLERS = ["cpu_load", "measured_speed"]
SHARES = [0, 0.06, 0.1, 0.12, 0.14, 0.16, 0.18, 0.25, 1]  # that stay fixed
COLOURS = {"fixed": "tab:gray", "cpu_load": "tab:orange", "measured_speed": "tab:blue"}
WINDOWS = 8  # in the second half of a run


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
        dict(common, start_share=s, final_share=s, time_over_best=t / best)
        for s, t in ((r["share"], r["seconds"]) for r in rows)
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
    shares = ("noise", "6.0%"), ("best", "7.1%"), ("start", "7.0%"), ("corrections", "13"), ("final", "8.1%")
    all_ = ("99 %", "8.3f"), ("turns", "8.3f"), ("within 4", "10.1%"), ("stays", "8.1%")
    row = table(("kind", "<10"), ("controller", "<16"), *shares, ("time", "8.3f"), *all_)
    for c in cases:
        if c["kind"] == "fixed":
            continue
        corrections = "-" if c["corrections"] is None else c["corrections"]
        keys = ("kind", "controller", "noise", "best_share", "start_share")
        of_seeds = (c.get(k, "") for k in ("within_4_corrections", "stays_within_1_percent"))
        times = c["time_over_best"], c.get("time_over_best_99_percent", "")
        row(*(c[k] for k in keys), corrections, c["final_share"], *times, c["reversals"], *of_seeds)
    print("corrections: until the share is within 1 % of the best (cpu_load: 2 %, for its band lies beside it); -:")
    print("never. turns: how often the border turns back, in 50 checks (change: 100). within 4: runs that come so near")
    print("within 4 corrections. stays: within 1 % from check 20 on.")


def plot_shares(axes, series, best):
    """Shares in % over steps or checks, for each controller one axis and for each start one curve. best: dashed."""
    for axis, controller in zip(axes, CONTROLLERS):
        for start in STARTS:
            label = f"from {100 * start:.0f} %"
            axis.plot(*zip(*series[controller, start]), marker=".", markersize=3, linewidth=1.2, label=label)
        axis.axhline(100 * best, color="black", linewidth=0.8, linestyle="--")
        whose = " (the paper's rule)" if controller == "cpu_load" else " (ours)"
        axis.set(title=controller + whose, ylim=(-3, 103))
        axis.grid()


def plot_bars(axis, bars, top, size, rotation):
    """Times of cases over that of the best fixed share, cut off at `top`; a gap between kinds. Returns the places.

    bars: Kind, label and ratio of each.  size, rotation: Of their texts.
    """
    kinds = list(dict.fromkeys(kind for kind, _, _ in bars))
    places = [i + 0.7 * kinds.index(kind) for i, (kind, _, _) in enumerate(bars)]
    axis.bar(places, [min(top, ratio) for _, _, ratio in bars], color=[COLOURS[kind] for kind, _, _ in bars])
    for place, (_, _, ratio) in zip(places, bars):
        how = dict(ha="center", fontsize=size, rotation=rotation)
        axis.text(place, min(top, ratio) + 0.025, f"{ratio:.2f}", **how)
    axis.set_xticks(places, [label for _, label, _ in bars], fontsize=size + 0.5, rotation=rotation)
    axis.axhline(1, color="black", linewidth=0.8, linestyle="--")
    return places


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
        axis.set(xlim=(0, CHECKS_SHOWN), xlabel="checks of the border")
    axes[0].set_ylabel("share of the accelerator, %")
    axes[1].legend(loc="lower right")


def plot_times(axis, fixed, series):
    """Figure 2 of the paper: the time of a whole run, of fixed shares and of borders that move, relative to the best
    fixed share."""
    of_share = {round(100 * r["share"]): r["seconds"] for r in fixed}
    best = min(of_share.values())
    bars = [("fixed", f"{p}", of_share[p] / best) for p in FIXED_SHOWN]
    for controller, start in ((c, s) for c in CONTROLLERS for s in STARTS):
        rows = [r for r in series if (r["controller"], r["start_share"]) == (controller, start)]
        seconds = statistics.mean(r["seconds"] for r in rows if r["check"] < CHECKS_SHOWN)
        bars.append((controller, f"d{100 * start:.0f}", seconds / best))
    places = plot_bars(axis, bars, 2, 7.5, 0)
    title = f"run of {CHECKS_SHOWN} checks; bars above 2 are cut off"
    axis.set(ylim=(0, 2.2), ylabel="run time / that of\nthe best fixed share", title=title)
    texts = ("fixed", "fixed share, %"), ("cpu_load", "cpu_load, from 100 to 0 %"), ("measured_speed",) * 2
    for kind, text in texts:
        middle = statistics.mean(place for place, bar in zip(places, bars) if bar[0] == kind)
        axis.text(middle, -0.36, text, ha="center", va="top", fontsize=9)


def plot_model(folder, picture):
    series, fixed = rows_of(os.path.join(folder, "shares.csv")), rows_of(os.path.join(folder, "fixed.csv"))
    figure = plt.figure(figsize=(10, 7))
    grid = figure.add_gridspec(2, 2, height_ratios=[1.15, 1])
    left = figure.add_subplot(grid[0, 0])
    plot_model_shares([left, figure.add_subplot(grid[0, 1], sharey=left)], series)
    plot_times(figure.add_subplot(grid[1, :]), fixed, series)
    figure.suptitle("12 cores and an accelerator: model of a machine, not a measurement")
    figure.tight_layout()
    save(figure, picture, dpi=110)


def run(folder, steps, settings):
    """One run of the program: seconds a step in each window of its second half, and the rows of zones.csv."""
    window, zones = max(1, steps // (2 * WINDOWS)), os.path.join(folder, "zones.csv")
    keys = [f"run.steps={2 * WINDOWS * window}", f"output.every={window}"]
    keys += [f"accelerator.{key}={value}" for key, value in settings.items()]
    how = dict(settings=keys, environment=dict(OMP_WAIT_POLICY="passive"))
    summary = steelyard("run", "inputs/zones.yaml", out=folder, **how)
    wall = [float(row["wall_seconds"]) for row in read_csv(os.path.join(folder, "timing.csv"))]
    return dict(
        seconds=[(b - a) / window for a, b in zip(wall[WINDOWS:], wall[WINDOWS + 1 :])],
        particles=summary["particles"],
        hash=summary["state_hash"],
        zones=read_csv(zones) if os.path.exists(zones) else [],
    )


def settings_of_cases(backend):
    """By name, a kind and a share: the settings of each case."""
    cases = [("fixed", s) for s in SHARES] + [(controller, start) for controller in CONTROLLERS for start in STARTS]
    settings = {c: dict(backend=backend, controller=c[0], share=c[1]) for c in cases}
    return {("none", 0): dict(backend="none"), **settings}


def real(rounds, steps, backend):
    """Runs all cases, in rounds; prints a table, writes real.csv and real.png, returns the cases."""
    settings, folder = settings_of_cases(backend), os.path.join(OUT, "run")
    runs = in_turns(rounds, settings, lambda c: quiet(lambda: run(folder, steps, settings[c])), shuffled=True)
    seconds = {
        case: statistics.mean(statistics.median(times) for times in zip(*(r["seconds"] for r in of_case)))
        for case, of_case in runs.items()
    }
    best = min((c for c in seconds if c[0] == "fixed"), key=seconds.get)
    particles = runs[best][0]["particles"]
    # Atom-steps a second of the two alone, together.
    both = particles / seconds["none", 0] + particles / seconds["fixed", 1]
    hashes = {r["hash"] for of_case in runs.values() for r in of_case}
    what = "1 thread in the place of the accelerator" if backend == "host" else "one GPU"
    others = statistics.median(r["others"] for of_case in runs.values() for r in of_case)
    print(f"\nREAL RUNS: {particles} particles, threads of the CPU: 1; {what}; {rounds} rounds;")
    print(f"others took {100 * others:.1f} % of the cores; {'one hash' if len(hashes) == 1 else 'HASHES DIFFER'}")
    columns = ("M atom-steps/s", "16.2f"), ("time / best fixed", "19.3f"), ("of both alone", "15.3f")
    row = table(("controller", "<16"), ("start", "7.0%"), *columns, ("corrections", "13"), ("last share", "12.1%"))
    cases = []
    for case, of_case in runs.items():
        zones, rate, over = of_case[-1]["zones"], particles / seconds[case], seconds[case] / seconds[best]
        share = float(zones[-1]["next_share"]) if zones else 0.0
        corrections = sum(check["decision"] != "kept" for check in zones)
        row(*case, rate * 1e-6, over, rate / both, corrections, share)
        kind = "fixed" if case[0] in ("fixed", "none") else "converge"
        found = dict(kind=kind, controller=case[0], start_share=case[1], corrections=corrections, final_share=share)
        found.update(best_share=best[1], time_over_best=over, atom_steps_per_second=rate, of_both_alone=rate / both)
        found.update(hash_equal=len(hashes) == 1, others=statistics.median(r["others"] for r in of_case))
        cases.append(dict(found, simulated=False, stands_in=backend == "host"))
    last = {case: of_case[-1]["zones"] for case, of_case in runs.items()}
    columns = ("step", "share", "cpu_seconds", "accelerator_seconds")
    rows = [dict(controller=c, start_share=s) | {k: r[k] for k in columns} for (c, s), of in last.items() for r in of]
    write_csv(os.path.join(OUT, "real.csv"), rows)
    series = {case: [(int(r["step"]), 100 * float(r["share"])) for r in rows] for case, rows in last.items()}
    plot_real(series, seconds, best, os.path.join(OUT, "real.png"), what)
    return cases


def plot_real(series, seconds, best, picture, what):
    """Shares over the steps, and the times of all cases."""
    figure, axes = plt.subplots(1, 3, figsize=(12, 4), gridspec_kw=dict(width_ratios=[1, 1, 1.4]))
    plot_shares(axes, series, best[1])
    for axis in axes[:2]:
        axis.set(xscale="log", xlabel="step")
    axes[0].set_ylabel("share of the accelerator, % (dashed: best fixed)")
    axes[1].legend()
    bars = [(c[0], f"{100 * c[1]:.3g}", s / seconds[best]) for c, s in seconds.items() if c[0] != "none"]
    plot_bars(axes[2], bars, 2.5, 6.5, 90)
    axes[2].set(ylim=(0, 2.9), ylabel="time of a step / of the best fixed share")
    axes[2].set_xlabel("fixed share (grey), start of cpu_load (orange),\nof measured_speed (blue), %")
    figure.suptitle(f"Measured, {what}")
    figure.tight_layout()
    save(figure, picture)


def main():
    parser = options_of(__doc__, "--rounds")
    parser.add_argument("--real", action="store_true", help="also run the program itself (some minutes)")
    parser.add_argument("--backend", default="host", choices=["host", "cuda"])
    parser.add_argument("--steps", type=int, default=600)
    arguments = parser.parse_args()
    build("steelyard", "bench_zones")
    os.makedirs(OUT, exist_ok=True)
    call(["build/bench/bench_zones", OUT])
    cases = model_cases(OUT)
    print_model(cases)
    plot_model(OUT, os.path.join(OUT, "zones.png"))
    if arguments.real:
        cases += real(arguments.rounds, arguments.steps, arguments.backend)
    what = "controllers of the border between zones; cases with simulated: true are of a model of a machine"
    write_json(os.path.join(OUT, "summary.json"), {"what": what, "cases": cases})


if __name__ == "__main__":
    main()

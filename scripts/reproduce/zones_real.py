# SPDX-License-Identifier: MIT
"""The part of zones.py that runs the program: borders that never move, and both controllers from several starts, on
this machine."""
import os
import statistics

from common import read_csv, write_csv
from plotting import plt, save
from studies import in_turns, quiet, steelyard, table

STARTS = [1, 0.75, 0.5, 0]
CONTROLLERS = ["cpu_load", "measured_speed"]
SHARES = [0, 0.06, 0.1, 0.12, 0.14, 0.16, 0.18, 0.25, 1]  # that stay fixed
COLOURS = {"fixed": "tab:gray", "cpu_load": "tab:orange", "measured_speed": "tab:blue"}
WINDOWS = 8  # in the second half of a run


def add_options(parser):
    parser.add_argument("--real", action="store_true", help="also run the program itself (some minutes)")
    parser.add_argument("--backend", default="host", choices=["host", "cuda"])
    parser.add_argument("--steps", type=int, default=600)


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


def real(out, rounds, steps, backend):
    """Runs all cases, in rounds; prints a table, writes real.csv and real.png, returns the cases."""
    settings, folder = settings_of_cases(backend), os.path.join(out, "run")
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
    write_csv(os.path.join(out, "real.csv"), rows)
    series = {case: [(int(r["step"]), 100 * float(r["share"])) for r in rows] for case, rows in last.items()}
    plot(series, seconds, best, os.path.join(out, "real.png"), what)
    return cases


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


def plot(series, seconds, best, picture, what):
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

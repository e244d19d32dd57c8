# SPDX-License-Identifier: MIT
"""The part of zones.py that runs the program: borders that never move, and both controllers from several starts, on
this machine."""
import csv
import os
import statistics

from common import read_csv
from plotting import plt, save
from studies import in_turns, quiet, steelyard

STARTS = [1, 0.75, 0.5, 0]
CONTROLLERS = ["cpu_load", "measured_speed"]
WINDOWS = 8  # in the second half of a run


def add_options(parser):
    parser.add_argument("--real", action="store_true", help="also run the program itself (some minutes)")
    parser.add_argument("--only-real", action="store_true", help="only that")
    parser.add_argument("--backend", default="host", choices=["host", "cuda"])
    threads = "of the CPU, and as many that stand in for the accelerator (default: 1)"
    parser.add_argument("--threads", type=int, default=1, help=threads)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--steps", type=int, default=600)
    shares = [0, 0.06, 0.1, 0.12, 0.14, 0.16, 0.18, 0.25]
    parser.add_argument("--shares", type=float, nargs="+", default=shares, help="that stay fixed, besides 1")


def run(arguments, settings):
    """One run of the program: seconds a step in each window of its second half, and the rows of zones.csv."""
    folder, window = os.path.join(arguments.out, "run"), max(1, arguments.steps // (2 * WINDOWS))
    keys = [f"run.steps={2 * WINDOWS * window}", f"output.every={window}", f"accelerator.threads={arguments.threads}"]
    keys += [f"accelerator.{key}={value}" for key, value in settings.items()]
    how = dict(threads=arguments.threads, environment=dict(OMP_WAIT_POLICY="passive"))
    summary = steelyard("run", "inputs/zones.yaml", out=folder, settings=keys, **how)
    wall = [float(row["wall_seconds"]) for row in read_csv(os.path.join(folder, "timing.csv"))]
    zones = os.path.join(folder, "zones.csv")
    return dict(
        seconds=[(b - a) / window for a, b in zip(wall[WINDOWS:], wall[WINDOWS + 1 :])],
        particles=summary["particles"],
        hash=summary["state_hash"],
        zones=read_csv(zones) if os.path.exists(zones) else [],
    )


def settings_of_cases(arguments):
    """By name, a kind and a share: the settings of each case."""
    shares = [("fixed", share) for share in sorted(set(arguments.shares) | {1})]
    moving = [(controller, start) for controller in CONTROLLERS for start in STARTS]
    cases = {c: dict(backend=arguments.backend, controller=c[0], share=c[1]) for c in shares + moving}
    return {("none", 0): dict(backend="none"), **cases}


def real(arguments):
    """Runs all cases, in rounds; prints a table, writes real.csv and real.png, returns the cases."""
    settings = settings_of_cases(arguments)
    runs = in_turns(
        arguments.rounds, settings, lambda case: quiet(lambda: run(arguments, settings[case])), shuffled=True
    )
    seconds = {
        case: statistics.mean(statistics.median(times) for times in zip(*(r["seconds"] for r in of_case)))
        for case, of_case in runs.items()
    }
    best = min((c for c in seconds if c[0] == "fixed"), key=seconds.get)
    particles = runs[best][0]["particles"]
    # Atom-steps a second of the two alone, together.
    both = particles / seconds["none", 0] + particles / seconds["fixed", 1]
    hashes = {r["hash"] for of_case in runs.values() for r in of_case}
    stands_in = arguments.backend == "host"
    threads = f"{arguments.threads} thread{'s' * (arguments.threads > 1)} in the place of the accelerator"
    what = threads if stands_in else "one GPU"
    others = statistics.median(r["others"] for of_case in runs.values() for r in of_case)
    print(
        f"\nREAL RUNS: {particles} particles, threads of the CPU: {arguments.threads}; {what}; {arguments.rounds}",
        end="",
    )
    print(
        f" rounds; others took {100 * others:.1f} % of the cores;", "one hash" if len(hashes) == 1 else "HASHES DIFFER"
    )
    heads = f"{'M atom-steps/s':>16}{'time / best fixed':>19}{'of both alone':>15}{'corrections':>13}{'last share':>12}"
    print(f"{'controller':<16}{'start':>7}{heads}")
    cases = []
    for case, of_case in runs.items():
        zones, rate, over = of_case[-1]["zones"], particles / seconds[case], seconds[case] / seconds[best]
        share = float(zones[-1]["next_share"]) if zones else 0.0
        corrections = sum(row["decision"] != "kept" for row in zones)
        speed = f"{rate * 1e-6:>16.2f}{over:>19.3f}{rate / both:>15.3f}"
        print(f"{case[0]:<16}{100 * case[1]:>6.0f}%{speed}{corrections:>13}{100 * share:>11.1f}%")
        kind = "fixed" if case[0] in ("fixed", "none") else "converge"
        row = dict(kind=kind, controller=case[0], start_share=case[1], corrections=corrections, final_share=share)
        row.update(best_share=best[1], time_over_best=over, atom_steps_per_second=rate, of_both_alone=rate / both)
        row.update(hash_equal=len(hashes) == 1, others=statistics.median(r["others"] for r in of_case))
        cases.append(dict(row, simulated=False, stands_in=stands_in))
    last = {case: of_case[-1]["zones"] for case, of_case in runs.items()}
    columns = ["step", "share", "cpu_seconds", "accelerator_seconds"]
    with open(os.path.join(arguments.out, "real.csv"), "w", newline="") as f:
        table = csv.writer(f, lineterminator="\n")
        table.writerow(["controller", "start_share", *columns])
        table.writerows([*case, *(row[c] for c in columns)] for case, rows in last.items() for row in rows)
    series = {case: [(int(r["step"]), 100 * float(r["share"])) for r in rows] for case, rows in last.items()}
    plot(series, seconds, best, os.path.join(arguments.out, "real.png"), what)
    return cases


def plot_shares(axes, series, best):
    """Shares in % over steps or checks, for each controller one axis and for each start one curve. best: dashed."""
    for axis, controller in zip(axes, CONTROLLERS):
        for start in STARTS:
            label = f"from {100 * start:.0f} %"
            axis.plot(*zip(*series[controller, start]), marker=".", markersize=3, linewidth=1.2, label=label)
        axis.axhline(100 * best, color="black", linewidth=0.8, linestyle="--")
        axis.set_title(controller + (" (the paper's rule)" if controller == "cpu_load" else " (ours)"), fontsize=10)
        axis.set_ylim(-3, 103)
        axis.grid(alpha=0.3)


def plot(series, seconds, best, picture, what):
    """Shares over the steps, and the times of all cases."""
    figure, axes = plt.subplots(1, 3, figsize=(12, 4), gridspec_kw=dict(width_ratios=[1, 1, 1.4]))
    plot_shares(axes, series, best[1])
    for axis in axes[:2]:
        axis.set_xscale("log")
        axis.set_xlabel("step")
    axes[0].set_ylabel("share of the accelerator, % (dashed: best fixed)")
    axes[1].legend(fontsize=8)
    bars = [c for c in seconds if c[0] != "none"]
    places = [i + 0.7 * (c[0] != "fixed") + 0.7 * (c[0] == "measured_speed") for i, c in enumerate(bars)]
    colours = {"fixed": "tab:gray", "cpu_load": "tab:orange", "measured_speed": "tab:blue"}
    top = 2.5
    axes[2].bar(places, [min(top, seconds[c] / seconds[best]) for c in bars], color=[colours[c[0]] for c in bars])
    for place, case in zip(places, bars):
        over = seconds[case] / seconds[best]
        axes[2].text(place, min(top, over) + 0.03, f"{over:.2f}", ha="center", fontsize=6.5, rotation=90)
    axes[2].set_xticks(places)
    axes[2].set_xticklabels([f"{100 * c[1]:.3g}" for c in bars], fontsize=7, rotation=90)
    axes[2].axhline(1, color="black", linewidth=0.8, linestyle="--")
    axes[2].set_ylim(0, top + 0.4)
    axes[2].set_ylabel("time of a step / of the best fixed share")
    axes[2].set_xlabel("fixed share (grey), start of cpu_load (orange),\nof measured_speed (blue), %")
    figure.suptitle(f"Measured, {what}", fontsize=11)
    figure.tight_layout()
    save(figure, picture)

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The part of zones.py that runs the program: borders that never move, and both controllers from several starts, on
this machine."""
import csv
import os
import random
import shutil
import statistics
import sys

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir))
from common import call, read_json  # noqa: E402
from plotting import plt, save  # noqa: E402

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "bench"))
from quiet import quiet  # noqa: E402

STARTS = [1, 0.75, 0.5, 0]
CONTROLLERS = ["cpu_load", "measured_speed"]
WINDOWS = 8  # in the second half of a run


def add_options(parser):
    parser.add_argument("--real", action="store_true", help="also run the program itself (some minutes)")
    parser.add_argument("--only-real", action="store_true", help="only that")
    parser.add_argument("--backend", default="host", choices=["host", "cuda"])
    parser.add_argument(
        "--threads", type=int, default=1, help="of the CPU, and as many that stand in for the accelerator"
    )
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--steps", type=int, default=600)
    parser.add_argument(
        "--shares",
        type=float,
        nargs="+",
        default=[0, 0.06, 0.1, 0.12, 0.14, 0.16, 0.18, 0.25],
        help="that stay fixed, besides 1",
    )


def run(arguments, settings):
    """One run of the program: seconds a step in each window of its second half, and the rows of zones.csv."""
    folder = os.path.join(arguments.out, "run")
    shutil.rmtree(folder, ignore_errors=True)
    window = max(1, arguments.steps // (2 * WINDOWS))
    keys = {
        "run.steps": 2 * WINDOWS * window,
        "output.every": window,
        "accelerator.threads": arguments.threads,
        **settings,
    }
    command = ["build/steelyard", "run", "inputs/zones.yaml", "--out", folder, "--quiet"] + [
        x for k, v in keys.items() for x in ("--set", f"{k}={v}")
    ]
    call(command, threads=arguments.threads, environment=dict(OMP_WAIT_POLICY="passive"))
    with open(os.path.join(folder, "timing.csv")) as f:
        wall = [float(row["wall_seconds"]) for row in csv.DictReader(f)]
    summary = read_json(os.path.join(folder, "summary.json"))
    zones = []
    if os.path.exists(os.path.join(folder, "zones.csv")):
        with open(os.path.join(folder, "zones.csv")) as f:
            zones = list(csv.DictReader(f))
    return dict(
        seconds=[(b - a) / window for a, b in zip(wall[WINDOWS:], wall[WINDOWS + 1 :])],
        particles=summary["particles"],
        hash=summary["state_hash"],
        zones=zones,
    )


def settings_of_cases(arguments):
    """By name, a kind and a share: what each case sets."""
    zone = {"accelerator.backend": arguments.backend}
    cases = {("none", 0): {"accelerator.backend": "none"}}
    for share in sorted(set(arguments.shares) | {1}):
        cases["fixed", share] = {**zone, "accelerator.controller": "fixed", "accelerator.share": share}
    for controller in CONTROLLERS:
        for start in STARTS:
            cases[controller, start] = {**zone, "accelerator.controller": controller, "accelerator.share": start}
    return cases


def real(arguments):
    """Runs all cases, in rounds; prints a table, writes real.csv and real.png, returns the cases."""
    runs = {}
    order = list(settings_of_cases(arguments).items())
    for k in range(arguments.rounds):
        random.Random(k).shuffle(order)  # the speed of a shared machine drifts
        for case, settings in order:
            runs.setdefault(case, []).append(quiet(lambda: run(arguments, settings)))
    runs = {case: runs[case] for case in settings_of_cases(arguments)}
    seconds = {
        case: statistics.mean(statistics.median(times) for times in zip(*(r["seconds"] for r in list_)))
        for case, list_ in runs.items()
    }
    best = min((c for c in seconds if c[0] == "fixed"), key=seconds.get)
    particles = runs[best][0]["particles"]
    both = (
        particles / seconds["none", 0] + particles / seconds["fixed", 1]
    )  # atom-steps a second of the two alone, together
    hashes = {r["hash"] for list_ in runs.values() for r in list_}
    what = (
        f"{arguments.threads} thread{'s' * (arguments.threads > 1)} in the place of the accelerator"
        if arguments.backend == "host"
        else "one GPU"
    )
    print(
        f"\nREAL RUNS: {particles} particles, threads of the CPU: {arguments.threads}; {what};"
        f" {arguments.rounds} rounds; others took"
        f" {100 * statistics.median(r['others'] for list_ in runs.values() for r in list_):.1f} % of the cores;"
        f" {'one hash' if len(hashes) == 1 else 'HASHES DIFFER'}"
    )
    print(
        f"{'controller':<16}{'start':>7}{'M atom-steps/s':>16}{'time / best fixed':>19}{'of both alone':>15}"
        f"{'corrections':>13}{'last share':>12}"
    )
    cases = []
    for case, list_ in runs.items():
        zones = list_[-1]["zones"]
        share = float(zones[-1]["next_share"]) if zones else 0.0
        corrections = sum(row["decision"] != "kept" for row in zones)
        rate = particles / seconds[case]
        print(
            f"{case[0]:<16}{100 * case[1]:>6.0f}%{rate * 1e-6:>16.2f}{seconds[case] / seconds[best]:>19.3f}"
            f"{rate / both:>15.3f}{corrections:>13}{100 * share:>11.1f}%"
        )
        cases.append(
            dict(
                kind="fixed" if case[0] in ("fixed", "none") else "converge",
                controller=case[0],
                start_share=case[1],
                corrections=corrections,
                final_share=share,
                best_share=best[1],
                time_over_best=seconds[case] / seconds[best],
                atom_steps_per_second=rate,
                of_both_alone=rate / both,
                hash_equal=len(hashes) == 1,
                others=statistics.median(r["others"] for r in list_),
                simulated=False,
                stands_in=arguments.backend == "host",
            )
        )
    with open(os.path.join(arguments.out, "real.csv"), "w") as f:
        f.write("controller,start_share,step,share,cpu_seconds,accelerator_seconds\n")
        for case, list_ in runs.items():
            for row in list_[-1]["zones"]:
                f.write(
                    f"{case[0]},{case[1]},{row['step']},{row['share']},{row['cpu_seconds']},"
                    f"{row['accelerator_seconds']}\n"
                )
    plot(
        {case: [(int(r["step"]), 100 * float(r["share"])) for r in list_[-1]["zones"]] for case, list_ in runs.items()},
        seconds,
        best,
        os.path.join(arguments.out, "real.png"),
        what,
    )
    return cases


def plot(series, seconds, best, picture, what):
    """Shares over the steps, and the times of all cases."""

    figure, axes = plt.subplots(1, 3, figsize=(12, 4), gridspec_kw=dict(width_ratios=[1, 1, 1.4]))
    for axis, controller in zip(axes, CONTROLLERS):
        for start in STARTS:
            points = series[controller, start]
            axis.plot(
                [p[0] for p in points],
                [p[1] for p in points],
                marker=".",
                markersize=3,
                linewidth=1.2,
                label=f"from {100 * start:.0f} %",
            )
        axis.axhline(100 * best[1], color="black", linewidth=0.8, linestyle="--")
        axis.set_title(controller + (" (the paper's rule)" if controller == "cpu_load" else " (ours)"), fontsize=10)
        axis.set_xscale("log")
        axis.set_ylim(-3, 103)
        axis.set_xlabel("step")
        axis.grid(alpha=0.3)
    axes[0].set_ylabel("share of the accelerator, % (dashed: best fixed)")
    axes[1].legend(fontsize=8)
    bars = [c for c in seconds if c[0] != "none"]
    places = [i + 0.7 * (c[0] != "fixed") + 0.7 * (c[0] == "measured_speed") for i, c in enumerate(bars)]
    colours = {"fixed": "tab:gray", "cpu_load": "tab:orange", "measured_speed": "tab:blue"}
    top = 2.5
    axes[2].bar(places, [min(top, seconds[c] / seconds[best]) for c in bars], color=[colours[c[0]] for c in bars])
    for place, case in zip(places, bars):
        axes[2].text(
            place,
            min(top, seconds[case] / seconds[best]) + 0.03,
            f"{seconds[case] / seconds[best]:.2f}",
            ha="center",
            fontsize=6.5,
            rotation=90,
        )
    axes[2].set_xticks(places)
    axes[2].set_xticklabels([f"{100 * c[1]:.3g}" for c in bars], fontsize=7, rotation=90)
    axes[2].axhline(1, color="black", linewidth=0.8, linestyle="--")
    axes[2].set_ylim(0, top + 0.4)
    axes[2].set_ylabel("time of a step / of the best fixed share")
    axes[2].set_xlabel("fixed share (grey), start of cpu_load (orange),\nof measured_speed (blue), %")
    figure.suptitle(f"Measured, {what}", fontsize=11)
    figure.tight_layout()
    save(figure, picture, dpi=110)

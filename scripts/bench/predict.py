#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Predicted beside measured times of a step.

On this machine: each deck on 1 and 2 ranks of one thread, prediction and run in turns, medians. A run is repeated where
other programs were at work. With --simulated: on ranks of the simulated cluster tianhe1a, with its machine file, even
partition, with and without overlap. With --balancing: on the same cluster, with balancing and without. With --overlap:
on 2 ranks here, steps with and without overlap of a small liquid in many messages.
"""
import argparse
import csv
import os
import shutil
import statistics
import sys

from quiet import quiet

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir))
from common import call, mpiexec, read_json, words, write_json  # noqa: E402

# Steps of a run.
DECKS = {
    "inputs/liquid.yaml": 300,
    "inputs/slab.yaml": 500,
    "inputs/quickstart.yaml": 300,
    "inputs/melt.yaml": 200,
    "inputs/collision_3d.yaml": 300,
}
SIMULATED = {
    "inputs/lbe64.yaml": [8, 24, 96, 192, 384],
    "inputs/strip.yaml": [2, 4, 8, 16, 32, 64, 128, 256],
    "inputs/melt.yaml": [2, 8, 24, 96],
    "inputs/collision_3d.yaml": [2, 8, 24, 96],
}
SIMULATED_STEPS = (
    1,
    6,
)  # of two runs: the steps between them count, in one of which the lists, which serve 5, are rebuilt
# With --balancing: a run of so many steps with a balancing every so many, and one without.
BALANCING = {"inputs/strip.yaml": [8, 16, 32], "inputs/tiny.yaml": [8, 16, 32], "inputs/collision_3d.yaml": [8, 16, 32]}
BALANCING_STEPS, BALANCING_EVERY = 300, 20
OVERLAP_DECK, OVERLAP_STEPS = "inputs/liquid.yaml", 1000
OVERLAP = [
    ["grid.skin=0.4", "system.slabs.0.cells=[120,68]", "comm.aggregate=none", f"grid.tile=[{n},{n}]"] for n in (4, 8)
]
OUT = "results/predict"


def predicted(deck, ranks, settings, start=(), machine=()):
    shutil.rmtree(f"{OUT}/predicted", ignore_errors=True)
    out = ["--out", f"{OUT}/predicted", "--quiet", "--processes", ",".join(map(str, ranks))]
    call([*start, "build/steelyard", "predict", deck, *out, *machine, *words(settings)])
    return {f["ranks"]: f for f in read_json(f"{OUT}/predicted/predict.json")["forecasts"]}


def step_seconds(out, steps):
    """Of a mean step: between the rows of the first step and the last, so without the start."""
    with open(f"{out}/timing.csv") as f:
        first, last = list(csv.DictReader(f))
    return (float(last["wall_seconds"]) - float(first["wall_seconds"])) / steps


def measured(deck, settings, start, steps):
    """Seconds of a mean step of a run here."""
    shutil.rmtree(f"{OUT}/run", ignore_errors=True)
    settings = [*settings, f"run.steps={steps}", "output.every=0", "output.fields_every=0"]
    call([*start, "build/steelyard", "run", deck, "--out", f"{OUT}/run", "--quiet", *words(settings)])
    return {"seconds": step_seconds(f"{OUT}/run", steps)}


def real(arguments):
    cases = []
    for deck, steps in DECKS.items():
        for ranks in (1, 2):
            start = mpiexec(ranks)

            def predict():
                return {"seconds": predicted(deck, [ranks], [f"run.steps={steps}"], start)[ranks]["step_seconds"]}

            def measure():
                return measured(deck, [], start, steps)

            pairs = [(quiet(predict), quiet(measure)) for _ in range(arguments.rounds)]
            case = {
                "deck": deck,
                "ranks": ranks,
                "steps": steps,
                "predicted": [p["seconds"] for p, _ in pairs],
                "measured": [m["seconds"] for _, m in pairs],
                "others": max(x["others"] for pair in pairs for x in pair),
            }
            case["predicted_seconds"], case["measured_seconds"] = (
                statistics.median(case[k]) for k in ("predicted", "measured")
            )
            cases.append(case)
            print(
                (
                    f"{deck:<26}{ranks:>3} ranks: predicted {case['predicted_seconds']:.4g}, measured"
                    f" {case['measured_seconds']:.4g} s a step, ratio"
                    f" {case['predicted_seconds'] / case['measured_seconds']:.3f}"
                ),
                flush=True,
            )
    return cases


def overlap(arguments):
    """What `full` wins over `none` on 2 ranks, where small tiles make many messages; runs of both in turns."""
    start = mpiexec(2)
    cases = []
    deck, steps = OVERLAP_DECK, OVERLAP_STEPS
    for settings in OVERLAP:
        rows = []
        for _ in range(arguments.rounds):
            forecast = predicted(deck, [2], settings + [f"run.steps={steps}"], start)[2]["overlap_seconds"]
            row = {"predicted_none": forecast["none"], "predicted_full": forecast["full"]}
            for value in ("none", "full"):

                def measure():
                    return measured(deck, [*settings, f"comm.overlap={value}"], start, steps)

                row[f"measured_{value}"] = quiet(measure)["seconds"]
            rows.append(row)
        gains = {
            kind: sorted(1e6 * (r[f"{kind}_none"] - r[f"{kind}_full"]) for r in rows)
            for kind in ("predicted", "measured")
        }
        case = {
            "deck": deck,
            "settings": settings,
            "steps": steps,
            "rounds": rows,
            "predicted_us": statistics.median(gains["predicted"]),
            "measured_us": statistics.median(gains["measured"]),
            "ratio": statistics.median(
                (r["predicted_none"] - r["predicted_full"]) / (r["measured_none"] - r["measured_full"]) for r in rows
            ),
        }  # the machine's speed drifts
        cases.append(case)
        shown = {k: 1e6 * statistics.median(r[k] for r in rows) for k in rows[0]}
        print(
            f"{deck}, {' '.join(settings)}\n  full: predicted {shown['predicted_full']:.1f}, measured"
            f" {shown['measured_full']:.1f} us a step; none: {shown['predicted_none']:.1f},"
            f" {shown['measured_none']:.1f}\n  "
            + "; ".join(
                f"{kind} gain {statistics.median(g):.1f} us ({g[0]:.1f} to {g[-1]:.1f})" for kind, g in gains.items()
            )
            + f"; median of the rounds' ratios {case['ratio']:.2f}",
            flush=True,
        )
    return cases


def simulated_run(ranks, deck, settings, steps):
    """Seconds of the run, and of force passes of the busiest rank."""
    out = f"{OUT}/simulated"
    shutil.rmtree(out, ignore_errors=True)
    more = [f"balance.processes={ranks}", f"run.steps={steps}", f"output.every={steps}"]
    call(["scripts/simulate.sh", str(ranks), deck, "--out", out, "--quiet", *words(settings + more)])
    summary = read_json(f"{out}/summary.json")
    return summary["wall_seconds"], summary["seconds"]["forces"]["max"]


def simulated():
    cases = []
    call(["scripts/simulate/machine.py", "tianhe1a", f"{OUT}/tianhe1a.yaml"])
    for deck, counts in SIMULATED.items():
        for overlap in ("full", "none"):
            settings = ["balance.every=0", "balance.clock=work", "grid.skin=0.4", f"comm.overlap={overlap}"]
            same_steps = [f"run.steps={SIMULATED_STEPS[1]}"]
            forecasts = predicted(deck, counts, settings + same_steps, machine=["--machine", f"{OUT}/tianhe1a.yaml"])
            for ranks in counts:
                # What a run does once, at its start and its end, is in both runs.
                (start, start_forces), (wall, forces) = (
                    simulated_run(ranks, deck, settings, n) for n in SIMULATED_STEPS
                )
                steps = SIMULATED_STEPS[1] - SIMULATED_STEPS[0]
                step, compute = (wall - start) / steps, (forces - start_forces) / steps
                f = forecasts[ranks]
                case = {
                    "deck": deck,
                    "ranks": ranks,
                    "overlap": overlap,
                    "predicted_seconds": f["step_seconds"],
                    "simulated_seconds": step,
                    "predicted_communication_seconds": f["seconds"]["communication"],
                    "simulated_communication_seconds": step - compute,
                }
                cases.append(case)
                print(
                    (
                        f"{deck:<20}{ranks:>5} ranks, overlap {overlap}: predicted {f['step_seconds']:.4g}, simulated"
                        f" {step:.4g} s a step, ratio {f['step_seconds'] / step:.3f}; communication"
                        f" {1e6 * f['seconds']['communication']:.2f}, {1e6 * (step - compute):.2f} us, ratio"
                        f" {f['seconds']['communication'] / (step - compute):.3f}"
                    ),
                    flush=True,
                )
        for ranks in counts:
            full, none = (
                next(c for c in cases if (c["deck"], c["ranks"], c["overlap"]) == (deck, ranks, o))
                for o in ("full", "none")
            )
            gains = [1e6 * (none[k] - full[k]) for k in ("predicted_seconds", "simulated_seconds")]
            print(
                f"{deck:<20}{ranks:>5} ranks: full instead of none wins {gains[0]:.2f} us predicted,"
                f" {gains[1]:.2f} simulated, ratio {gains[0] / gains[1]:.3f}"
            )
    return cases


def balancing():
    """A step with balancing and without, on simulated ranks: what a run takes beyond the start of one without."""
    cases = []
    call(["scripts/simulate/machine.py", "tianhe1a", f"{OUT}/tianhe1a.yaml"])
    for deck, counts in BALANCING.items():
        common = ["balance.clock=work", "grid.skin=0.4", f"run.steps={BALANCING_STEPS}"]
        ways = {"balanced": [f"balance.every={BALANCING_EVERY}"], "without": ["balance.every=0"]}
        forecasts = {
            way: predicted(deck, counts, common + more, machine=["--machine", f"{OUT}/tianhe1a.yaml"])
            for way, more in ways.items()
        }
        for ranks in counts:
            case = {"deck": deck, "ranks": ranks, "steps": BALANCING_STEPS, "every": BALANCING_EVERY}
            start, _ = simulated_run(ranks, deck, common + ways["without"], 1)
            for way, more in ways.items():
                wall, _ = simulated_run(ranks, deck, common + more, BALANCING_STEPS)
                case[f"predicted_{way}_seconds"] = forecasts[way][ranks]["step_seconds"]
                case[f"predicted_{way}"] = forecasts[way][ranks]["seconds"]
                case[f"simulated_{way}_seconds"] = (wall - start) / (BALANCING_STEPS - 1)
                case[f"ratio_{way}"] = case[f"predicted_{way}_seconds"] / case[f"simulated_{way}_seconds"]
            predicted_gain, simulated_gain = (
                case[f"{k}_without_seconds"] - case[f"{k}_balanced_seconds"] for k in ("predicted", "simulated")
            )
            case["sign_right"] = (predicted_gain > 0) == (simulated_gain > 0)
            cases.append(case)
            print(
                f"{deck:<20}{ranks:>4} ranks, us a step: balanced"
                f" {1e6 * case['predicted_balanced_seconds']:.2f} predicted,"
                f" {1e6 * case['simulated_balanced_seconds']:.2f} simulated, ratio {case['ratio_balanced']:.3f};"
                f" without {1e6 * case['predicted_without_seconds']:.2f},"
                f" {1e6 * case['simulated_without_seconds']:.2f}, {case['ratio_without']:.3f};"
                f" the sign of the gain is {'right' if case['sign_right'] else 'WRONG'}",
                flush=True,
            )
    return cases


def balancing_here(arguments):
    """The same by the wall clock on two ranks of this machine: prediction and both runs in turns, medians."""
    start, cases = mpiexec(2), []
    for deck in BALANCING:
        common = [f"run.steps={BALANCING_STEPS}"]
        ways = {"balanced": [f"balance.every={BALANCING_EVERY}"], "without": ["balance.every=0"]}
        times = {f"{kind}_{way}": [] for kind in ("predicted", "measured") for way in ways}
        for _ in range(arguments.rounds):
            for way, more in ways.items():
                settings = [*common, "balance.clock=wall", *more]
                forecast = predicted(deck, [2], settings, start)[2]["step_seconds"]
                times[f"predicted_{way}"].append(forecast)
                times[f"measured_{way}"].append(
                    quiet(lambda: measured(deck, settings, start, BALANCING_STEPS))["seconds"]
                )
        case = {"deck": deck, "ranks": 2, "steps": BALANCING_STEPS, "every": BALANCING_EVERY, "rounds": times}
        case.update({f"{k}_seconds": statistics.median(v) for k, v in times.items()})
        for way in ways:
            case[f"ratio_{way}"] = case[f"predicted_{way}_seconds"] / case[f"measured_{way}_seconds"]
        gains = [case[f"{k}_without_seconds"] - case[f"{k}_balanced_seconds"] for k in ("predicted", "measured")]
        case["sign_right"] = (gains[0] > 0) == (gains[1] > 0)
        cases.append(case)
        print(
            f"{deck:<20}   2 ranks here, us a step: "
            + "; ".join(
                f"{way} {1e6 * case[f'predicted_{way}_seconds']:.1f} predicted,"
                f" {1e6 * case[f'measured_{way}_seconds']:.1f} measured, ratio {case[f'ratio_{way}']:.3f}"
                for way in ways
            )
            + f"; the sign of the gain is {'right' if case['sign_right'] else 'WRONG'}",
            flush=True,
        )
    return cases


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--simulated", action="store_true", help="on simulated ranks (docs/simulation.md)")
    parser.add_argument(
        "--overlap", action="store_true", help="what comm.overlap wins on 2 ranks, in decks of many messages"
    )
    parser.add_argument(
        "--balancing", action="store_true", help="on simulated ranks: steps of runs that balance, and of those without"
    )
    parser.add_argument("--here", action="store_true", help="with --balancing: on two ranks of this machine instead")
    parser.add_argument("--rounds", type=int, default=5, help="predictions and runs of each case (default: 5)")
    arguments = parser.parse_args()
    os.makedirs(OUT, exist_ok=True)
    if arguments.balancing:
        cases = balancing_here(arguments) if arguments.here else balancing()
    elif arguments.simulated:
        cases = simulated()
    else:
        cases = overlap(arguments) if arguments.overlap else real(arguments)
    is_simulated = arguments.simulated or (arguments.balancing and not arguments.here)
    write_json(f"{OUT}/summary.json", {"simulated": is_simulated, "cases": cases})


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Predicted beside measured times of a step.

On this machine: each deck on 1 and 2 ranks of one thread, prediction and run in turns, medians. A run is repeated where
other programs were at work. With --simulated: on ranks of the simulated cluster tianhe1a, with its machine file, even
partition, with and without overlap. With --balancing: on the same cluster, with balancing and without. With --overlap:
on 2 ranks here, steps with and without overlap of a small liquid in many messages.
Writes results/predict/summary.json.
"""
import os
import statistics

import studies
from common import call, mpiexec, write_json
from studies import build, options_of, quiet, seconds_between, steelyard

DECKS = {  # steps of a run
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
# The last steps of two runs. The steps between them count. In one of these the lists, which serve 5 steps, are rebuilt.
SIMULATED_STEPS = 1, 6
BALANCING = {"inputs/strip.yaml": [8, 16, 32], "inputs/tiny.yaml": [8, 16, 32], "inputs/collision_3d.yaml": [8, 16, 32]}
BALANCING_STEPS, BALANCING_EVERY = 300, 20
WAYS = {"balanced": [f"balance.every={BALANCING_EVERY}"], "without": ["balance.every=0"]}
OVERLAP_DECK, OVERLAP_STEPS = "inputs/liquid.yaml", 1000
OVERLAP = [
    ["grid.skin=0.4", "system.slabs.0.cells=[120,68]", "comm.aggregate=none", f"grid.tile=[{n},{n}]"] for n in (4, 8)
]
OUT, MACHINE = "results/predict", "results/predict/tianhe1a.yaml"


def predicted(deck, ranks, settings, start=(), machine=()):
    """The forecasts by their numbers of ranks."""
    command = ["predict", deck, "--processes", ",".join(map(str, ranks)), *machine]
    found = steelyard(*command, out=f"{OUT}/predicted", settings=settings, start=start)
    return {f["ranks"]: f for f in found["forecasts"]}


def on_cluster(deck, ranks, settings):
    """The forecasts for the simulated cluster."""
    return predicted(deck, ranks, settings, machine=["--machine", MACHINE])


def measured(deck, settings, start, steps):
    """Seconds of a mean step of a run here, without its start, and `others` as quiet() gives them."""
    settings = [*settings, f"run.steps={steps}", "output.every=0", "output.fields_every=0"]

    def run():
        steelyard("run", deck, out=f"{OUT}/run", settings=settings, start=start)
        return {"seconds": seconds_between(f"{OUT}/run", 0, steps) / steps}

    return quiet(run)


def simulated_run(ranks, deck, settings, steps):
    """Seconds of the run, and of force passes of the busiest rank."""
    more = [f"balance.processes={ranks}", f"run.steps={steps}", f"output.every={steps}"]
    summary = studies.simulated(ranks, deck, f"{OUT}/simulated", settings + more)
    return summary["wall_seconds"], summary["seconds"]["forces"]["max"]


def real(rounds):
    cases = []
    for deck, steps, ranks in ((deck, steps, ranks) for deck, steps in DECKS.items() for ranks in (1, 2)):
        start = mpiexec(ranks)

        def predict():
            return {"seconds": predicted(deck, [ranks], [f"run.steps={steps}"], start)[ranks]["step_seconds"]}

        pairs = [(quiet(predict), measured(deck, [], start, steps)) for _ in range(rounds)]
        case = {"deck": deck, "ranks": ranks, "steps": steps, "others": max(x["others"] for p in pairs for x in p)}
        for i, kind in enumerate(("predicted", "measured")):
            case[kind] = [pair[i]["seconds"] for pair in pairs]
            case[kind + "_seconds"] = statistics.median(case[kind])
        cases.append(case)
        foretold, took = case["predicted_seconds"], case["measured_seconds"]
        figures = f"predicted {foretold:.4g}, measured {took:.4g} s a step, ratio {foretold / took:.3f}"
        print(f"{deck:<26}{ranks:>3} ranks: {figures}", flush=True)
    return cases


def overlap(rounds):
    """The gain of `full` over `none` on 2 ranks with small tiles and many messages. Runs of both take turns."""
    start, deck, steps, cases = mpiexec(2), OVERLAP_DECK, OVERLAP_STEPS, []
    for settings in OVERLAP:
        rows = []
        for _ in range(rounds):
            forecast = predicted(deck, [2], settings + [f"run.steps={steps}"], start)[2]["overlap_seconds"]
            row = {f"predicted_{value}": forecast[value] for value in ("none", "full")}
            for value in ("none", "full"):
                found = measured(deck, [*settings, f"comm.overlap={value}"], start, steps)
                row[f"measured_{value}"] = found["seconds"]
            rows.append(row)
        gains = {kind: [r[f"{kind}_none"] - r[f"{kind}_full"] for r in rows] for kind in ("predicted", "measured")}
        # The speed of the machine drifts, so ratios are those within a round.
        case = {"deck": deck, "settings": settings, "steps": steps, "rounds": rows}
        case.update({f"{kind}_us": 1e6 * statistics.median(of_kind) for kind, of_kind in gains.items()})
        case["ratio"] = statistics.median(a / b for a, b in zip(gains["predicted"], gains["measured"]))
        cases.append(case)
        print(f"{deck}, {' '.join(settings)}")
        for value in ("full", "none"):
            times = [1e6 * statistics.median(r[f"{kind}_{value}"] for r in rows) for kind in gains]
            print(f"  {value}: predicted {times[0]:.1f}, measured {times[1]:.1f} us a step")
        for kind, of_kind in gains.items():
            print(f"  {kind} gain {case[kind + '_us']:.1f} us ({1e6 * min(of_kind):.1f} to {1e6 * max(of_kind):.1f})")
        print(f"  median of the rounds' ratios {case['ratio']:.2f}", flush=True)
    return cases


def simulated_case(deck, ranks, settings, forecast):
    """A mean step of simulated ranks, as the difference of two runs. Both contain the work at the start and the end."""
    (start, start_forces), (wall, forces) = (simulated_run(ranks, deck, settings, n) for n in SIMULATED_STEPS)
    steps = SIMULATED_STEPS[1] - SIMULATED_STEPS[0]
    step = (wall - start) / steps
    return {
        "predicted_seconds": forecast["step_seconds"],
        "simulated_seconds": step,
        "predicted_communication_seconds": forecast["seconds"]["communication"],
        "simulated_communication_seconds": step - (forces - start_forces) / steps,
    }


def simulated():
    cases = []
    for deck, counts in SIMULATED.items():
        of_deck = {}
        for value in ("full", "none"):
            settings = ["balance.every=0", "balance.clock=work", "grid.skin=0.4", f"comm.overlap={value}"]
            forecasts = on_cluster(deck, counts, settings + [f"run.steps={SIMULATED_STEPS[1]}"])
            for ranks in counts:
                found = simulated_case(deck, ranks, settings, forecasts[ranks])
                of_deck[value, ranks] = dict(deck=deck, ranks=ranks, overlap=value, **found)
                foretold, step, message, waited = found.values()
                times = f"predicted {foretold:.4g}, simulated {step:.4g} s a step, ratio {foretold / step:.3f}"
                parts = f"communication {1e6 * message:.2f}, {1e6 * waited:.2f} us, ratio {message / waited:.3f}"
                print(f"{deck:<20}{ranks:>5} ranks, overlap {value}: {times}; {parts}", flush=True)
        for ranks in counts:
            full, none = of_deck["full", ranks], of_deck["none", ranks]
            gains = [1e6 * (none[f"{k}_seconds"] - full[f"{k}_seconds"]) for k in ("predicted", "simulated")]
            wins = f"{gains[0]:.2f} us predicted, {gains[1]:.2f} simulated, ratio {gains[0] / gains[1]:.3f}"
            print(f"{deck:<20}{ranks:>5} ranks: full instead of none wins {wins}")
        cases += of_deck.values()
    return cases


def balancing_case(deck, ranks, kind, seconds, **more):
    """A case of steps with balancing and without. kind: measured or simulated.  seconds: {predicted_balanced: ...}."""
    case = {"deck": deck, "ranks": ranks, "steps": BALANCING_STEPS, "every": BALANCING_EVERY, **more}
    case.update({f"{key}_seconds": value for key, value in seconds.items()})
    case.update({f"ratio_{way}": seconds[f"predicted_{way}"] / seconds[f"{kind}_{way}"] for way in WAYS})
    gains = [seconds[f"{k}_without"] - seconds[f"{k}_balanced"] for k in ("predicted", kind)]
    case["sign_right"] = (gains[0] > 0) == (gains[1] > 0)
    figures = []
    for way in WAYS:
        foretold, took = (1e6 * seconds[f"{k}_{way}"] for k in ("predicted", kind))
        figures.append(f"{way} {foretold:.2f} predicted, {took:.2f} {kind}, ratio {case[f'ratio_{way}']:.3f}")
    sign = f"the sign of the gain is {'right' if case['sign_right'] else 'WRONG'}"
    print(f"{deck:<20}{ranks:>4} ranks, us a step: {'; '.join(figures)}; {sign}", flush=True)
    return case


def balancing():
    """Steps with balancing and without, on simulated ranks: what a run takes beyond the start of one without."""
    cases = []
    for deck, counts in BALANCING.items():
        common = ["balance.clock=work", "grid.skin=0.4", f"run.steps={BALANCING_STEPS}"]
        forecasts = {way: on_cluster(deck, counts, common + more) for way, more in WAYS.items()}
        for ranks in counts:
            start, _ = simulated_run(ranks, deck, common + WAYS["without"], 1)
            seconds, parts = {}, {}
            for way, more in WAYS.items():
                wall, _ = simulated_run(ranks, deck, common + more, BALANCING_STEPS)
                seconds[f"predicted_{way}"] = forecasts[way][ranks]["step_seconds"]
                seconds[f"simulated_{way}"] = (wall - start) / (BALANCING_STEPS - 1)
                parts[f"predicted_{way}"] = forecasts[way][ranks]["seconds"]
            cases.append(balancing_case(deck, ranks, "simulated", seconds, **parts))
    return cases


def balancing_here(rounds):
    """The same by the wall clock on two ranks of this machine: prediction and both runs in turns, medians."""
    start, cases = mpiexec(2), []
    for deck in BALANCING:
        times = {f"{kind}_{way}": [] for kind in ("predicted", "measured") for way in WAYS}
        for _ in range(rounds):
            for way, more in WAYS.items():
                settings = [f"run.steps={BALANCING_STEPS}", "balance.clock=wall", *more]
                times[f"predicted_{way}"].append(predicted(deck, [2], settings, start)[2]["step_seconds"])
                times[f"measured_{way}"].append(measured(deck, settings, start, BALANCING_STEPS)["seconds"])
        seconds = {key: statistics.median(values) for key, values in times.items()}
        cases.append(balancing_case(deck, 2, "measured", seconds, rounds=times))
    return cases


def main():
    parser = options_of(__doc__, "--rounds")
    parser.add_argument("--simulated", action="store_true", help="on simulated ranks (docs/simulation.md)")
    what = "what comm.overlap wins on 2 ranks, in decks of many messages"
    parser.add_argument("--overlap", action="store_true", help=what)
    what = "on simulated ranks: steps of runs that balance, and of those without"
    parser.add_argument("--balancing", action="store_true", help=what)
    parser.add_argument("--here", action="store_true", help="with --balancing: on two ranks of this machine instead")
    arguments = parser.parse_args()
    build("steelyard")
    on_ranks = arguments.simulated or (arguments.balancing and not arguments.here)
    if on_ranks:
        os.makedirs(OUT, exist_ok=True)
        call(["scripts/simulate/machine.py", "tianhe1a", MACHINE])
        cases = balancing() if arguments.balancing else simulated()
    elif arguments.balancing:
        cases = balancing_here(arguments.rounds)
    else:
        cases = (overlap if arguments.overlap else real)(arguments.rounds)
    write_json(f"{OUT}/summary.json", {"simulated": on_ranks, "cases": cases})


if __name__ == "__main__":
    main()

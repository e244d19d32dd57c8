#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The experiment of Liu et al. (2015) with two colliding slabs, balanced every 5 of 1000 steps.

It compares their six load models, ours, and the true costs (exact).

Stage 1 runs to t = 1, where only a small zone is compressed, and checkpoints. Stage 2 goes on from there: test 1 with
dt = 1e-13 (nothing moves), test 2 with dt = 1e-3. All models see one trajectory, each with a partition of its own.

  --quick:    A strip of 1140 x 114 cells, 240 processes. A few minutes.
  (default):  1140 x 1140 cells, 5.46 million particles, 2400 processes. About an hour and a half on two cores.
  --full:     The paper's own 11,400 x 11,400 cells, 5.5e8 particles, 2400 processes. For a cluster.
  --space:    The same in three dimensions, 11.6 million particles, 2400 processes. With --quick 970,000 and 200.
  --studies:  Also noise, a region of hidden cost, a cost outside r1's features, and sticky partitions, on the strip's
              test 2.

  --wall:     Only real timers (inputs/lbe64.yaml, 64 processes), by the wall clock and by CPU time. Each model drives
              500 steps of its own. Beside them stand the timers' results for equal pieces of work.
              --rounds N repeats all in turns, and takes medians.

Except with --wall, the processes are virtual and their times are counted work with the costs of the deck. So the table
is the same on every machine and any number of ranks. The table compares models and partitions, not machines. A stage
whose results exist is not run again; remove them to have it run. Writes results/load_models/: summary.json, lbe.csv,
pictures.
"""
import csv
import json
import os
import re
import statistics
import subprocess

from common import draw, mpiexec, read_csv, write_json
from studies import build, options_of, steelyard

MODELS = ["time_average", "moving_average", "particle_count", "hybrid", "a1", "b1", "r1", "r1_ahead", "exact"]
COMPARED = "balance.compare=[" + ", ".join(m for m in MODELS if m != "r1") + "]"  # the decks' driver is r1
PAPER = {  # overall LBE, Liu et al. (2015), tables of tests 1 and 2
    "test1": dict(zip(MODELS, [0.342, 0.494, 0.314, 0.457, 0.841, 0.742])),
    "test2": dict(zip(MODELS, [0.351, 0.496, 0.286, 0.485, 0.760, 0.723])),
}
DECKS = {  # (quick, full, in space): deck and name
    (False, False, False): ("inputs/lbe2400.yaml", "standard"),
    (True, False, False): ("inputs/lbe240.yaml", "quick"),
    (False, True, False): ("inputs/lbe_full.yaml", "full"),
    (False, False, True): ("inputs/lbe2400_3d.yaml", "space"),
    (True, False, True): ("inputs/lbe200_3d.yaml", "space_quick"),
}
DT = {"test1": "1e-13", "test2": "1e-3"}
FIRST, LAST = 1000, 2000  # steps of stage 1, and of both stages
CUTS = ["patches", "strips", "cells"]
MEANS = ["lbe_model", "particles_moved", "ghost_cells", "model_seconds", "partition_seconds"]
STICKY = [f"balance.partition.{key}" for key in ("sticky=true", "cut=strips", "patches_per_process=4")]
REGION = "balance.work.region={lower: [1300, 90], upper: [1450, 180], factor: 3}"
STUDIES = {  # name: what is set beside the deck, all in test 2 with cuts at cells unless said
    "plain": [],
    "start from particles": ["balance.constants.start=particles"],
    "noise 1 %": ["balance.noise=0.01"],
    "region x 3": [REGION],
    "outside features": ["balance.work.capacity=10", "balance.work.spill=2e-9"],
    "sticky morton strips": STICKY,
    "sticky tree strips": STICKY + ["balance.partition.order=tree"],
}


def run(arguments, deck, out, settings, restart=None):
    """The summary of a stage, which is run if it has not been yet."""
    how = dict(start=mpiexec(arguments.ranks), threads=os.environ.get("OMP_NUM_THREADS", "1"), keep=True)
    more = ["--restart", restart] if restart else []
    print(f"\n> {out}: {deck}, {' '.join(settings)}", flush=True)
    return steelyard("run", deck, *more, out=out, settings=settings, **how)


def stage_1(arguments, deck, base):
    """The checkpoint from which the tests go on."""
    out = os.path.join(base, "stage1")
    run(arguments, deck, out, ["balance.every=0", f"checkpoint.every={FIRST}"])
    return os.path.join(out, f"checkpoint_{FIRST}.h5")


def means(out):
    """The means of each model over its balancings: LBE_m, part of the particles that moved, ghost cells, seconds."""
    rows = {}
    for row in read_csv(os.path.join(out, "balance.csv")):
        rows.setdefault(row["model"], []).append(row)
    return {m: {key: statistics.fmean(float(r[key]) for r in of) for key in MEANS} for m, of in rows.items()}


def both_ways(lbe, measured):
    """Overall LBE without the balancing before the model's first measured update, and of all balancings in brackets."""
    return f"{100 * measured:.1f} ({100 * lbe:.1f})"


def table(result, cuts, tests):
    sizes = f"{result['processes']} virtual processes, {result['particles']} particles, counted work"
    print(f"\noverall LBE in %, {sizes} ({result['deck']})")
    print(f"{'':<16}" + "".join(f"{t + ': paper':>16}" + "".join(f"{c:>16}" for c in cuts) for t in tests))
    for m in MODELS:
        line = f"{m:<16}"
        for t in tests:
            line += f"{PAPER[t][m] * 100:>16.1f}" if m in PAPER[t] else f"{'-':>16}"
            line += "".join(f"{both_ways(result['cuts'][c][t][m], result['measured'][c][t][m]):>16}" for c in cuts)
        print(line)
    line = "LBE_m of r1     "
    for t in tests:
        line += f"{'':>16}" + "".join(f"{result['means'][c][t]['r1']['lbe_model'] * 100:>16.2f}" for c in cuts)
    print(line)
    print("The order of the six is the paper's, except for hybrid: docs/hybrid.md tells why.")
    for cut, of in result["least_time"].items():
        print("\n".join(f"{t}, {cut}: {text}" for t, text in of.items()))


def equal_work(ranks, processes, microseconds):
    """The timers' results for equal pieces of work, as many and as long as the processes' own: {clock: numbers}."""
    command = [*mpiexec(ranks), "build/bench/bench_equal_work", str(processes), "5", f"{microseconds:.1f}", "100"]
    return json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, timeout=600).stdout)


def wall(arguments):
    """Overall LBE by thread timers, each model driving a run of its own from the same checkpoint."""
    deck, base, steps, timers = "inputs/lbe64.yaml", os.path.join(arguments.out, "wall"), 500, ["wall", "cpu"]
    start = stage_1(arguments, deck, base)
    models = arguments.models or [m for m in MODELS if m != "exact"] + ["none"]

    def one_round(i):
        """Summaries by model and timer, and what timers say of equal work."""
        runs = {}
        for m, timer in ((m, timer) for m in models for timer in timers):
            how = ["balance.partition.kind=none"] if m == "none" else [f"balance.model={m}"]
            settings = how + [f"balance.timer={timer}", f"run.steps={FIRST + steps}"]
            runs[m, timer] = run(arguments, deck, os.path.join(base, f"{m}_{timer}_{i}"), settings, start)
        s, rows = runs[models[0], "wall"], read_csv(os.path.join(base, f"{models[0]}_wall_{i}", "balance.csv"))
        microseconds = 1e6 * statistics.fmean(float(row["mean_seconds"]) for row in rows)
        return runs, equal_work(s["ranks"], s["processes"], microseconds)

    rounds = [one_round(i) for i in range(arguments.rounds)]
    s = rounds[-1][0][models[0], "wall"]

    def medians(value):
        """By timer and model, of value(summary, model)."""
        return {t: {m: statistics.median(value(runs[m, t], m) for runs, _ in rounds) for m in models} for t in timers}

    lbe, measured = (medians(lambda s, m: s[key][m]) for key in ("overall_lbe", "overall_lbe_measured"))
    seconds = medians(lambda s, _: s["wall_seconds"])
    equal = {t: [found[t] for _, found in rounds] for t in timers}
    same = {t: {n: statistics.median(e[n] for e in equal[t]) for n in equal[t][0]} for t in timers}
    sizes = f"{s['processes']} processes on {s['ranks']} ranks, {s['particles']} particles, {steps} steps ({deck})"
    print(f"\noverall LBE in % by thread timers, {sizes}, medians of {arguments.rounds}")
    print(f"{'':<16}{'wall clock':>18}{'CPU time':>18}")
    for m in models:
        print(f"{m:<16}" + "".join(f"{both_ways(lbe[t][m], measured[t][m]):>18}" for t in timers))
    print(f"{'equal work':<16}" + "".join(f"{100 * same[t]['overall_lbe']:>18.1f}" for t in timers))
    print("equal work: as many pieces of equal arithmetic, as long as a process of the run, in turns with the runs")
    result = {"simulated": False, "deck": deck, "clock": "wall", "steps": steps, "equal_work": same}
    result.update({key: s[key] for key in ("processes", "ranks", "particles")}, rounds=arguments.rounds)
    by = {t: dict(overall_lbe=lbe[t], overall_lbe_measured=measured[t], wall_seconds=seconds[t]) for t in timers}
    write_json(os.path.join(base, "summary.json"), result | by["wall"] | {"by_cpu_time": by["cpu"]})


def cut_tests(arguments, deck, base, start):
    """The part of summary.json about all cuts and tests, and the rows of lbe.csv."""
    result, rows = {key: {} for key in ("cuts", "measured", "means", "seconds", "least_time")}, []
    for cut, test in ((cut, test) for cut in arguments.cuts for test in arguments.tests):
        out = os.path.join(base, f"{test}_{cut}")
        settings = [f"run.steps={LAST}", f"run.dt={DT[test]}", COMPARED, f"balance.partition.cut={cut}"]
        summary = run(arguments, deck, out, settings + [f"output.fields_every={LAST}"], start)
        result.update({key: summary[key] for key in ("particles", "cells", "processes", "clock", "version")})
        of = means(out)
        lbe, measured = ({m: summary[key][m] for m in MODELS} for key in ("overall_lbe", "overall_lbe_measured"))
        seconds = {m: summary["contenders"][m]["seconds"] for m in MODELS}
        every = dict(cuts=lbe, measured=measured, means=of, seconds=seconds, least_time=summary["least_time"])
        for key, values in every.items():
            result[key].setdefault(cut, {})[test] = values
        rows += [[test, cut, m, lbe[m], measured[m], of[m]["lbe_model"], seconds[m]] for m in MODELS]
    return result, rows


def studies(arguments):
    """Test 2 on the strip with other settings; prints the table, returns the part of summary.json."""
    deck, found = "inputs/lbe240.yaml", {}
    start = stage_1(arguments, deck, os.path.join(arguments.out, "quick"))
    for study, settings in STUDIES.items():
        out = os.path.join(arguments.out, "studies", re.sub(r"\W+", "_", study))
        common = [f"run.steps={LAST}", "run.dt=1e-3", COMPARED, "balance.partition.cut=cells"]
        summary, r1 = run(arguments, deck, out, common + settings, start), means(out)["r1"]
        found[study] = {"settings": settings, "lbe_model": r1["lbe_model"]}
        found[study].update({key: summary[key] for key in ("overall_lbe", "overall_lbe_measured")})
        found[study]["particles_moved"] = r1["particles_moved"] / summary["particles"]
    print(f"\nstudies, {deck}, test 2: overall LBE in %; LBE_m and particles moved per balancing by r1")
    print(f"{'':<24}" + "".join(f"{m[:14]:>16}" for m in MODELS) + f"{'LBE_m':>9}{'moved':>9}")
    for study, s in found.items():
        lbe = "".join(f"{both_ways(s['overall_lbe'][m], s['overall_lbe_measured'][m]):>16}" for m in MODELS)
        print(f"{study:<24}{lbe}{s['lbe_model'] * 100:>9.2f}{s['particles_moved'] * 100:>8.1f}%")
    return found


def main():
    parser = options_of(__doc__)
    size = parser.add_mutually_exclusive_group()
    for name in ("--quick", "--full"):
        size.add_argument(name, action="store_true")
    for name in ("--space", "--studies", "--wall"):
        parser.add_argument(name, action="store_true")
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--models", nargs="+", choices=MODELS, help="with --wall: only these")
    for name, known in (("--cuts", CUTS), ("--tests", list(DT))):
        parser.add_argument(name, nargs="+", choices=known, default=known, help="only these")
    parser.add_argument("--ranks", type=int, default=len(os.sched_getaffinity(0)), help="MPI ranks (default: cores)")
    arguments = parser.parse_args()
    if arguments.full and arguments.space:
        parser.error("--full is in two dimensions; leave --full or --space out")
    build("steelyard", "bench_equal_work")
    arguments.out = "results/load_models"
    if arguments.wall:
        return wall(arguments)
    deck, name = DECKS[arguments.quick, arguments.full, arguments.space]
    base = os.path.join(arguments.out, name)
    found, rows = cut_tests(arguments, deck, base, stage_1(arguments, deck, base))
    result = {"simulated": True, "what": "virtual processes, counted work", "deck": deck, "size": name}
    result.update(found, ranks=arguments.ranks, paper=PAPER)
    finest = arguments.cuts[-1]
    result.update(found["cuts"][finest], cut=finest)  # the plain keys are those of the last, finest cut
    table(result, arguments.cuts, arguments.tests)
    if arguments.studies:
        result["studies"] = studies(arguments)
    with open(os.path.join(arguments.out, "lbe.csv"), "w", newline="") as f:
        heads = ["test", "cut", "model", "overall_lbe", "overall_lbe_measured", "lbe_model", "seconds"]
        csv.writer(f).writerows([heads] + rows)
    write_json(os.path.join(arguments.out, "summary.json"), result)
    for test in arguments.tests:
        for picture in ("lbe", "partition"):
            path = os.path.join(arguments.out, f"{test}_{picture}.png")
            draw(picture, path, os.path.join(base, f"{test}_{finest}"))


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Processes of unequal speed that nobody tells the program: the speeds that it finds, and the gain by them.

Counted work: test 2 of the load models' experiment on a strip with 240 virtual processes (inputs/lbe240.yaml, from t =
1 on, balanced every 5 of 1000 steps). A tenth of the processes runs at half speed: always, from step 1250 to 1500, or
in every other 250 steps. The times are counted, so the figures are the same on every machine.

Wall clock (--wall): two ranks, each bound to a core of its own, and the second one is slow in one of several ways
(DISTURBANCES). Each way is run without balancing, with speeds: off, and with speeds: measured, in turns. The true speed
comes from runs of one rank alone on either core. --other BUILD adds the measured speeds of another build. One more run
has a busy process in its middle third only. These are times of this machine.

Runs by counted work that exist are not made again. Writes results/speeds/: summary.json or wall.json, and pictures.
"""
import os
import statistics
import subprocess
import sys

from common import fail, mpiexec, read_csv, write_json
from plotting import plt, save
from studies import build, in_turns, options_of, steelyard, table

OUT, DECK, FIRST, LAST = "results/speeds", "inputs/lbe240.yaml", 1000, 2000
PROCESSES, FRACTION, SLOW = 240, 0.1, 0.5
TENTH = [f"balance.work.slow.fraction={FRACTION}", f"balance.work.slow.speed={SLOW}"]
MODELS = ["time_average", "moving_average", "particle_count", "hybrid", "a1", "b1"]
CASES = {  # name: settings
    "equal": [],
    "a tenth slow": TENTH,
    "a tenth slow, noise 1 %": TENTH + ["balance.noise=0.01"],
    "equal, noise 1 %": ["balance.noise=0.01"],
    "slow from 1250 to 1500": TENTH + ["balance.work.slow.from_step=1250", "balance.work.slow.to_step=1500"],
    "slow by turns of 250": TENTH + ["balance.work.slow.from_step=1000", "balance.work.slow.period=250"],
}
WARM_UP = 4  # balancings that do not count


def is_slow(process):
    return int((process + 1) * FRACTION + 1e-9) > int(process * FRACTION + 1e-9)


def lbe_by_model(out):
    """Overall LBE of each model from the balancing after the warm-up on."""
    sums = {}
    for row in read_csv(os.path.join(out, "balance.csv")):
        sums.setdefault(row["model"], []).append((float(row["mean_seconds"]), float(row["max_seconds"])))
    return {m: sum(a for a, _ in s[WARM_UP:]) / sum(b for _, b in s[WARM_UP:]) for m, s in sums.items()}


def speeds_by_step(out):
    """Found speeds relative to the median, by step: those of the slow tenth, those of the others."""
    steps = {}
    for row in read_csv(os.path.join(out, "resources.csv")):
        steps.setdefault(int(row["step"]), []).append(float(row["speed"]))
    found = {}
    for step, speeds in steps.items():
        usual = statistics.median(speeds)
        found[step] = [[s / usual for p, s in enumerate(speeds) if is_slow(p) == slow] for slow in (True, False)]
    return found


def true_speed(name, step):
    """The speed of the slow tenth."""
    if name.startswith("equal"):
        return 1.0
    if "1250" in name:
        return SLOW if 1250 <= step < 1500 else 1.0
    if "turns" in name:
        return SLOW if (step - FIRST) // 250 % 2 == 0 else 1.0
    return SLOW


def largest_error(name, found, step):
    slow, others = found[step]
    return max([abs(s / true_speed(name, step) - 1) for s in slow] + [abs(s - 1) for s in others])


def balancings_to_follow(name, found):
    """For each change of the speeds: after how many balancings all are within 3 % again, or None."""
    steps, follow = sorted(found), []
    truth = [true_speed(name, s) for s in steps]
    for i, speed in enumerate(truth):
        if speed == (truth[i - 1] if i else 1):
            continue
        after = steps[i : i + 50]
        good = [s for s in after if largest_error(name, found, s) < 0.03 and true_speed(name, s) == speed]
        follow.append(after.index(good[0]) + 1 if good else None)
    return follow


def counted():
    """The cases by counted work."""
    first, result, how = f"{OUT}/stage1", [], dict(start=mpiexec(2), keep=True)
    steelyard("run", DECK, out=first, settings=["balance.every=0", f"checkpoint.every={FIRST}"], **how)
    restart = ["--restart", f"{first}/checkpoint_{FIRST}.h5"]
    print(f"{'counted work, ' + str(PROCESSES) + ' processes':<28}{'speeds':>10}{'LBE of r1':>11}", end="")
    print(f"{'error after 10':>16}{'largest later':>15}   balancings to follow a change")
    for name, settings in CASES.items():
        compared = MODELS if name in ("equal", "a tenth slow") else []
        common = [f"run.steps={LAST}", "run.dt=1e-3", "output.every=0", f"balance.compare=[{', '.join(compared)}]"]
        for speeds in ["measured", "off"]:
            out = f"{OUT}/{name}_{speeds}".replace(" ", "_").replace(",", "").replace("%", "percent")
            steelyard("run", DECK, *restart, out=out, settings=[*common, f"balance.speeds={speeds}", *settings], **how)
            case = {"case": name, "speeds": speeds, "lbe": lbe_by_model(out)}
            text = f"{name:<28}{speeds:>10}{100 * case['lbe']['r1']:>10.2f}%"
            if speeds == "measured":
                found = speeds_by_step(out)
                steps = sorted(found)
                errors = [largest_error(name, found, s) for s in steps[9:]]
                case.update(error_after_10=errors[0], largest_error_later=max(errors))
                case["balancings_to_follow"] = balancings_to_follow(name, found)
                case["series"] = [[s, *(limit(of) for of in found[s] for limit in (min, max))] for s in steps]
                text += f"{100 * errors[0]:>15.2f}%{100 * max(errors):>14.2f}%   {case['balancings_to_follow']}"
            print(text, flush=True)
            result.append(case)
    print("\noverall LBE in % from the 5th balancing on, a tenth of the processes at half speed")
    slow = [c for c in result if c["case"] == "a tenth slow"]
    for m in ["r1"] + MODELS:
        print(f"{m:<16}" + "".join(f"{c['speeds']:>10} {100 * c['lbe'][m]:>6.2f}" for c in slow))
    return result


# A process on a core, for some time: it computes, or copies more memory than caches hold.
BUSY = """import os, sys, time
core, begin, length, size = int(sys.argv[1]), float(sys.argv[2]), float(sys.argv[3]), int(sys.argv[4])
time.sleep(begin)
os.sched_setaffinity(0, {core})
end, a, b = time.time() + length, bytearray(size), bytearray(size)
while time.time() < end: b[:] = a
"""
DISTURBANCES = {  # of the second rank: the environment's STEELYARD_ISA, MB that a busy process on its core copies
    "none": ("", None),
    "portable kernels": ("portable", None),
    "a busy process": ("", 0),
    "a process that copies memory": ("", 256),
}
# Three times as long and wide as inputs/slab.yaml, so that a step takes longer than what a scheduler gives a program at
# a time.
WIDE = [
    *("output.every=0", "output.fields_every=0", "system.box=[1680, 1020]"),
    *("system.slabs.0.lower=[120, 300]", "system.slabs.0.upper=[540, 900]"),
    *("system.slabs.1.lower=[549, 90]", "system.slabs.1.upper=[1500, 930]"),
]
MODES = {
    "none": ["balance.every=0"],
    "off": ["balance.every=20", "balance.speeds=off"],
    "measured": ["balance.every=20", "balance.speeds=measured"],
}


def run_disturbed(disturbance, mode, out, steps, ranks=(0, 1), begin=0.0, length=1e6, binary="build/steelyard"):
    """A run whose rank 1 is disturbed. ranks: those that run, each on its core; one of them alone computes all."""
    cores = sorted(os.sched_getaffinity(0))
    if len(cores) < 2:
        fail("--wall needs two cores")
    isa, megabytes = DISTURBANCES[disturbance]
    start = mpiexec(len(ranks), "-bind-to", "user:" + ",".join(str(cores[r]) for r in ranks))
    slow = f'[ $((PMI_RANK + {ranks[0]})) = 1 ] && export STEELYARD_ISA={isa}; exec "$@"'
    arguments = [cores[1], begin, length, (megabytes or 0) << 20]
    command = [sys.executable, "-c", BUSY, *map(str, arguments)]
    busy = [] if megabytes is None else [subprocess.Popen(command)]
    try:
        settings = [*WIDE, f"run.steps={steps}", *MODES[mode]]
        start += ["sh", "-c", slow, "sh"] if isa else []
        return steelyard("run", "inputs/slab.yaml", out=out, settings=settings, start=start, binary=binary)
    finally:
        for process in busy:
            process.kill()
            process.wait()


def found(out):
    """Speed of the second rank over that of the first, and LBE, as medians over the second half of the balancings."""
    rows = [r for r in read_csv(f"{out}/resources.csv")]
    steps = sorted({int(r["step"]) for r in rows})
    late = [r for r in rows if int(r["step"]) >= steps[len(steps) // 2]]
    speeds = [[float(r["speed"]) for r in late if r["resource"] == p] for p in "01"]
    return statistics.median(b / a for a, b in zip(*speeds))


def wall(rounds, steps, other):
    """The results by the wall clock."""
    ways = {mode: (mode, "build/steelyard") for mode in MODES} | ({"other": ("measured", other)} if other else {})

    def case(what):
        disturbance, way = what
        if way == "alone":  # the truth
            runs = [run_disturbed(disturbance, "none", f"{OUT}/wall_alone", steps // 3, (r,)) for r in (0, 1)]
            return dict(speed=runs[0]["wall_seconds"] / runs[1]["wall_seconds"])
        mode, binary = ways[way]
        s = run_disturbed(disturbance, mode, f"{OUT}/wall_{way}", steps, binary=binary)
        lbe = next(iter(s["overall_lbe_measured"].values()), None) if mode != "none" else None
        speed = found(f"{OUT}/wall_{way}") if mode == "measured" else None
        return dict(seconds=s["wall_seconds"], speed=speed, lbe=lbe, state=s["state_hash"], particles=s["particles"])

    cases = [(d, w) for d in DISTURBANCES for w in ("alone", *ways)]
    runs = in_turns(rounds, cases, case)
    row = table(
        ("second rank", "<30"), ("", "<10"), ("seconds", "24s"), ("over off", "10.3f"), ("speed", "26s"), ("LBE", "26s")
    )

    def spread(values, form):
        values = [v for v in values if v is not None]
        return f"{statistics.median(values):{form}} ({min(values):{form}} to {max(values):{form}})" if values else ""

    for (d, w), of_case in runs.items():
        seconds = [r.get("seconds") for r in of_case]
        ratios = [a / b["seconds"] for a, b in zip(seconds, runs[d, "off"])] if w != "alone" else []
        over = statistics.median(ratios) if ratios else ""
        row(
            d,
            w,
            spread(seconds, ".2f"),
            over,
            spread([r["speed"] for r in of_case], ".3f"),
            spread([r.get("lbe") for r in of_case], ".3f"),
        )
    if len({r["state"] for of_case in runs.values() for r in of_case if "state" in r}) != 1:
        fail("the runs end in different states")
    busy, measured = "a busy process", f"{OUT}/wall_middle"
    third = statistics.median(r["seconds"] for r in runs[busy, "measured"]) / 3
    s = run_disturbed(busy, "measured", measured, steps, begin=third, length=third)
    rows = [r for r in read_csv(f"{measured}/resources.csv") if r["resource"] == "1"]
    series = [[int(r["step"]), float(r["speed"]), float(r["load"])] for r in rows]
    loads = " ".join(f"{load:.2f}" for _, _, load in series)
    print(f"busy in the middle third only: the second rank's load, relative to the mean, at the balancings: {loads}")
    shown = [dict(second_rank=d, way=w, runs=of_case) for (d, w), of_case in runs.items()]
    return dict(cases=shown, series=series, times_by=s["times_by"], steps=steps, particles=s["particles"])


def plot_counted(cases, path):
    shown = [c for c in cases if c["speeds"] == "measured" and not c["case"].startswith("equal")]
    figure, axes = plt.subplots(len(shown), 1, figsize=(7, 1.9 * len(shown)), sharex=True, sharey=True)
    for axis, case in zip(axes, shown):
        steps, *limits = zip(*case["series"])
        axis.fill_between(steps, *limits[2:], color="tab:blue", alpha=0.5, label="found, all other processes")
        axis.fill_between(steps, *limits[:2], color="tab:orange", alpha=0.8, label="found, the slow tenth")
        truth = [true_speed(case["case"], x) for x in steps]
        axis.plot(steps, truth, color="black", linewidth=0.8, label="true, the slow tenth")
        axis.set_ylabel("speed")
        axis.set_ylim(0.4, 1.15)
        axis.set_title(case["case"], fontsize=9)
    axes[0].legend(fontsize=7, loc="center right")
    axes[-1].set_xlabel("step")
    figure.suptitle("speeds found by the run (counted work, 240 virtual processes)", fontsize=10)
    figure.tight_layout()
    save(figure, path, dpi=120)


def plot_wall(result, path):
    figure, axis = plt.subplots(figsize=(7, 3))
    steps, speeds, loads = zip(*result["series"])
    axis.step(steps, loads, where="post", label="load of the second rank, relative to the mean")
    axis.step(steps, speeds, where="post", linestyle="--", label="its speed as found, relative to the mean")
    axis.set_xlim(0, result["steps"])
    axis.set_ylim(0.4, 1.3)
    axis.set_xlabel("step")
    axis.legend(fontsize=8)
    axis.set_title("a busy process shares the second rank's core in the middle third", fontsize=9)
    figure.tight_layout()
    save(figure, path, dpi=120)


def main():
    parser = options_of(__doc__)
    parser.add_argument("--wall", action="store_true", help="only the runs by the wall clock")
    parser.add_argument("--runs", type=int, default=5, help="--wall: runs of each kind (default: 5)")
    parser.add_argument("--steps", type=int, default=900, help="--wall: of a run (default: 900)")
    parser.add_argument("--other", metavar="BINARY", help="--wall: another build of the program, beside this one")
    arguments = parser.parse_args()
    build("steelyard")
    if arguments.wall:
        result = wall(arguments.runs, arguments.steps, arguments.other)
        write_json(f"{OUT}/wall.json", {"simulated": False, "wall": result})
        plot_wall(result, f"{OUT}/border.png")
    else:
        cases, what = counted(), "virtual processes, counted work"
        write_json(f"{OUT}/summary.json", {"simulated": True, "what": what, "deck": DECK, "cases": cases})
        plot_counted(cases, f"{OUT}/speeds.png")


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Processes of unequal speed, which nobody tells the program: what it finds, and what that wins.

Counted work: test 2 of the load models' experiment on a strip with 240 virtual processes (inputs/lbe240.yaml, from t =
1 on, balanced every 5 of 1000 steps). A tenth of the processes runs at half speed: always, from step 1250 to 1500, or
in every other 250 steps. The times are counted, so the figures are the same on every machine.

Wall clock (--wall): two ranks, each bound to a core of its own, and a busy process on the core of the second: for the
whole run, or for the middle third of it. These are times of this machine.
"""
import argparse
import csv
import os
import shutil
import statistics
import subprocess
import sys

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir))
from common import call, mpiexec, read_json, words, write_json  # noqa: E402
from plotting import plt, save  # noqa: E402

DECK, FIRST, LAST, EVERY = "inputs/lbe240.yaml", 1000, 2000, 5
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


def run(deck, out, settings, restart=None, ranks=2, bind=(), keep=False):
    if keep and os.path.exists(os.path.join(out, "summary.json")):
        return
    shutil.rmtree(out, ignore_errors=True)
    command = [*mpiexec(ranks, *bind), "build/steelyard", "run", deck, "--out", out, "--quiet"]
    if restart:
        command += ["--restart", restart]
    command += words(settings)
    call(command)


def rows_of(out, name):
    with open(os.path.join(out, name)) as f:
        return list(csv.DictReader(f))


def summary_of(out):
    return read_json(os.path.join(out, "summary.json"))


def lbe_by_model(out):
    """Overall LBE of each model from the balancing after the warm-up on."""
    sums = {}
    for row in rows_of(out, "balance.csv"):
        sums.setdefault(row["model"], []).append((float(row["mean_seconds"]), float(row["max_seconds"])))
    return {m: sum(a for a, _ in s[WARM_UP:]) / sum(b for _, b in s[WARM_UP:]) for m, s in sums.items()}


def speeds_by_step(out):
    """Found speeds relative to the median, by step: those of the slow tenth, those of the others."""
    steps = {}
    for row in rows_of(out, "resources.csv"):
        steps.setdefault(int(row["step"]), []).append(float(row["speed"]))
    found = {}
    for step, speeds in steps.items():
        usual = statistics.median(speeds)
        found[step] = (
            [s / usual for p, s in enumerate(speeds) if is_slow(p)],
            [s / usual for p, s in enumerate(speeds) if not is_slow(p)],
        )
    return found


def true_speed(name, step):
    """Of the slow tenth."""
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
    changes = [
        s
        for a, s in zip([None] + steps, steps)
        if a is None and true_speed(name, s) != 1 or a is not None and true_speed(name, a) != true_speed(name, s)
    ]
    for change in changes:
        after = [s for s in steps if s >= change]
        good = [
            i + 1
            for i, s in enumerate(after[:50])
            if largest_error(name, found, s) < 0.03 and true_speed(name, s) == true_speed(name, change)
        ]
        follow.append(good[0] if good else None)
    return follow


def counted(arguments, base):
    start = os.path.join(base, "stage1", f"checkpoint_{FIRST}.h5")
    run(DECK, os.path.join(base, "stage1"), ["balance.every=0", f"checkpoint.every={FIRST}"], keep=not arguments.fresh)
    result = []
    print(
        f"{'counted work, ' + str(PROCESSES) + ' processes':<28}{'speeds':>10}{'LBE of r1':>11}"
        f"{'error after 10':>16}{'largest later':>15} "
        "  balancings to follow a change"
    )
    for name, settings in CASES.items():
        for speeds in ["measured", "off"]:
            out = os.path.join(base, (name + "_" + speeds).replace(" ", "_").replace(",", "").replace("%", "percent"))
            compare = (
                f"balance.compare=[{', '.join(MODELS)}]" if name in ("equal", "a tenth slow") else "balance.compare=[]"
            )
            run(
                DECK,
                out,
                [f"run.steps={LAST}", "run.dt=1e-3", "output.every=0", f"balance.speeds={speeds}", compare] + settings,
                start,
                keep=not arguments.fresh,
            )
            case = {"case": name, "speeds": speeds, "lbe": lbe_by_model(out)}
            text = f"{name:<28}{speeds:>10}{100 * case['lbe']['r1']:>10.2f}%"
            if speeds == "measured":
                found = speeds_by_step(out)
                steps = sorted(found)
                case["error_after_10"] = largest_error(name, found, steps[9])
                case["largest_error_later"] = max(largest_error(name, found, s) for s in steps[9:])
                case["balancings_to_follow"] = balancings_to_follow(name, found)
                case["series"] = [
                    [s, min(found[s][0]), max(found[s][0]), min(found[s][1]), max(found[s][1])] for s in steps
                ]
                text += (
                    f"{100 * case['error_after_10']:>15.2f}%{100 * case['largest_error_later']:>14.2f}%  "
                    f" {case['balancings_to_follow']}"
                )
            print(text, flush=True)
            result.append(case)
    print("\noverall LBE in % from the 5th balancing on, a tenth of the processes at half speed")
    for m in ["r1"] + MODELS:
        print(
            f"{m:<16}"
            + "".join(f"{c['speeds']:>10} {100 * c['lbe'][m]:>6.2f}" for c in result if c["case"] == "a tenth slow")
        )
    return result


BUSY = """import os, sys, time
os.sched_setaffinity(0, {int(sys.argv[1])})
end = time.time() + float(sys.argv[2])
while time.time() < end: pass
"""


def wall(arguments, base):
    cores = sorted(os.sched_getaffinity(0))
    if len(cores) < 2:
        sys.exit("speeds.py: --wall needs two cores")
    bind = ["-bind-to", f"user:{cores[0]},{cores[1]}"]
    # Three times as long and wide as inputs/slab.yaml, so that a step takes longer than what a scheduler gives a
    # program at a time.
    common = [
        "output.every=0",
        "output.fields_every=0",
        "system.box=[1680, 1020]",
        "system.slabs.0.lower=[120, 300]",
        "system.slabs.0.upper=[540, 900]",
        "system.slabs.1.lower=[549, 90]",
        "system.slabs.1.upper=[1500, 930]",
    ]
    steps = arguments.steps
    modes = {
        "none": ["balance.every=0"],
        "off": ["balance.every=20", "balance.speeds=off"],
        "measured": ["balance.every=20", "balance.speeds=measured"],
    }
    seconds, hashes = {m: [] for m in modes}, set()

    def disturbed(out, settings, begin=0.0, length=1e6):
        """A run beside which the second core is busy for `length` seconds, `begin` seconds after its start."""
        busy = subprocess.Popen(
            [sys.executable, "-c", f"import time; time.sleep({begin})\n" + BUSY, str(cores[1]), str(length)]
        )
        try:
            run("inputs/slab.yaml", out, common + [f"run.steps={steps}"] + settings, ranks=2, bind=bind)
        finally:
            busy.kill()
            busy.wait()
        return summary_of(out)

    for r in range(arguments.runs):
        for mode, settings in modes.items():
            s = disturbed(os.path.join(base, f"wall_{mode}"), settings)
            seconds[mode].append(s["wall_seconds"])
            hashes.add(s["state_hash"])
    print(
        f"\nwall clock, two ranks of one thread, a busy process on the core of the second; {s['particles']} particles,"
        f" {steps} steps; seconds, medians of {arguments.runs}"
    )
    for mode in modes:
        print(f"  {mode:<10}{statistics.median(seconds[mode]):>8.2f}   {' '.join(f'{t:.2f}' for t in seconds[mode])}")
    gain = statistics.median(a / b for a, b in zip(seconds["none"], seconds["measured"]))
    over_off = statistics.median(a / b for a, b in zip(seconds["off"], seconds["measured"]))
    print(
        f"  with speeds: {gain:.2f} x as fast as without balancing, {over_off:.2f} x as fast as without speeds;"
        f" {'one state hash' if len(hashes) == 1 else 'DIFFERENT HASHES'}"
    )
    third = statistics.median(seconds["measured"]) / 3
    out = os.path.join(base, "wall_middle")
    s = disturbed(out, modes["measured"], third, third)
    hashes.add(s["state_hash"])
    series = [
        [int(r["step"]), float(r["speed"]), float(r["load"])]
        for r in rows_of(out, "resources.csv")
        if r["resource"] == "1"
    ]
    print(
        "  busy in the middle third only: the second rank's load, relative to the mean, at the balancings:"
        f" {' '.join(f'{load:.2f}' for _, _, load in series)}"
    )
    return {
        "seconds": seconds,
        "times_faster": gain,
        "times_faster_than_off": over_off,
        "hashes": sorted(hashes),
        "series": series,
        "times_by": s["times_by"],
        "steps": steps,
    }


def plot(result, out):
    if "cases" in result:
        shown = [c for c in result["cases"] if c["speeds"] == "measured" and not c["case"].startswith("equal")]
        figure, axes = plt.subplots(len(shown), 1, figsize=(7, 1.9 * len(shown)), sharex=True, sharey=True)
        for axis, case in zip(axes, shown):
            s = case["series"]
            steps = [r[0] for r in s]
            axis.fill_between(
                steps,
                [r[3] for r in s],
                [r[4] for r in s],
                color="tab:blue",
                alpha=0.5,
                label="found, all other processes",
            )
            axis.fill_between(
                steps,
                [r[1] for r in s],
                [r[2] for r in s],
                color="tab:orange",
                alpha=0.8,
                label="found, the slow tenth",
            )
            axis.plot(
                steps,
                [true_speed(case["case"], x) for x in steps],
                color="black",
                linewidth=0.8,
                label="true, the slow tenth",
            )
            axis.set_ylabel("speed")
            axis.set_ylim(0.4, 1.15)
            axis.set_title(case["case"], fontsize=9)
        axes[0].legend(fontsize=7, loc="center right")
        axes[-1].set_xlabel("step")
        figure.suptitle("speeds found by the run (counted work, 240 virtual processes)", fontsize=10)
        figure.tight_layout()
        save(figure, os.path.join(out, "speeds.png"), dpi=120)
    if "wall" in result:
        figure, axis = plt.subplots(figsize=(7, 3))
        s = result["wall"]["series"]
        axis.step(
            [r[0] for r in s], [r[2] for r in s], where="post", label="load of the second rank, relative to the mean"
        )
        axis.step(
            [r[0] for r in s],
            [r[1] for r in s],
            where="post",
            linestyle="--",
            label="its speed as found, relative to the mean",
        )
        axis.set_xlim(0, result["wall"]["steps"])
        axis.set_ylim(0.4, 1.3)
        axis.set_xlabel("step")
        axis.legend(fontsize=8)
        axis.set_title("a busy process shares the second rank's core in the middle third", fontsize=9)
        figure.tight_layout()
        save(figure, os.path.join(out, "border.png"), dpi=120)


def main():
    parser = argparse.ArgumentParser(
        prog="speeds.sh", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--wall", action="store_true", help="only the runs by the wall clock")
    parser.add_argument("--runs", type=int, default=5, help="--wall: runs of each kind (default 5)")
    parser.add_argument("--steps", type=int, default=900, help="--wall: of a run (default 900)")
    parser.add_argument("--out", default="results/speeds")
    parser.add_argument("--fresh", action="store_true", help="run what is there again")
    arguments = parser.parse_args()
    os.makedirs(arguments.out, exist_ok=True)
    if arguments.wall:
        result, name = {"simulated": False, "wall": wall(arguments, arguments.out)}, "wall.json"
    else:
        result, name = {
            "simulated": True,
            "what": "virtual processes, counted work",
            "deck": DECK,
            "cases": counted(arguments, arguments.out),
        }, "summary.json"
    write_json(os.path.join(arguments.out, name), result)
    plot(result, arguments.out)


if __name__ == "__main__":
    main()

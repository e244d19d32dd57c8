#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Criteria, which say when to balance, over the best schedule in hindsight. docs/experiment.md

Three collisions run for 2000 steps and record their loads every 5 steps: the strip of the experiment on load models,
two unlike slabs that meet off-centre in it, and slabs in three dimensions. So do three decks of the gallery. Each
series is balanced again (steelyard replay) with three costs of a balancing: 1, 10 and 100 mean steps. Each particle
that moves costs 0.2 us besides. Models are told the true costs, so a partition depends on the loads of its step alone,
and the best schedule is known exactly.

The table shows how much longer each criterion takes than that schedule, in percent, computing and balancing together.
Times are counted work, so it is the same on every machine. Series and replays that exist are not made again.
Writes results/criteria/: summary.json and pictures.

--wall runs gallery decks on two real ranks by the wall clock instead, with all criteria in turns. The table shows the
time of each over the least of its round, in the median of --rounds, and the migrations. The best schedule is unknown
there. Writes results/criteria/wall.json.
"""
import os
import statistics

from common import mpiexec, read_csv, write_json
from plotting import h5py, np, plt, save
from studies import build, in_turns, markdown_head, markdown_row, options_of, steelyard

OUT = "results/criteria"
UNLIKE = [  # slabs of unlike size and density that meet off-centre
    *(f"system.slabs.0.{s}" for s in ("lower=[242, 14.25]", "upper=[1100, 200]", "density=1.1")),
    *(f"system.slabs.1.{s}" for s in ("lower=[1102, 120]", "upper=[2608, 270.75]", "density=0.7", "velocity=[-60, 0]")),
]
COLLISIONS = {  # name: deck, settings, processes
    "strip": ("inputs/lbe240.yaml", [], 240),
    "off-centre": ("inputs/lbe240.yaml", UNLIKE, 240),
    "space": ("inputs/lbe200_3d.yaml", [], 200),
    "collapse": ("inputs/gallery/collapse.yaml", ["system.seed=105"], 240),
    "impact": ("inputs/gallery/impact.yaml", ["system.seed=107"], 240),
    "piston": ("inputs/gallery/piston.yaml", ["system.seed=110"], 240),
}
COSTS = (1, 10, 100)  # of a balancing, mean steps
CRITERIA = ["gain", "menon", "boulmier", "procassini", "zhai", "threshold", "every", "never"]
EVERY = 5


def record(name):
    """The load series of a collision."""
    deck, settings, _ = COLLISIONS[name]
    steps = ["run.steps=2000", "balance.every=0", "balance.compare=[]", f"output.loads_every={EVERY}"]
    steelyard("run", deck, out=f"{OUT}/{name}", settings=settings + steps, start=mpiexec(2), keep=True)
    return f"{OUT}/{name}/loads.h5"


def mean_step(loads, processes):
    """Seconds of a step of a process with perfect balance, over the whole series."""
    with h5py.File(loads) as f:
        return float(np.mean([f["load"][t].sum() for t in range(f["load"].shape[0])])) / processes


def replay(name, loads, cost):
    """summary.json of all criteria with a balancing of so many mean steps, and the folder of the replay."""
    processes, out = COLLISIONS[name][2], f"{OUT}/{name}_{cost}"
    entries = ", ".join(f"{{name: {c}, model: exact, criterion: {c}}}" for c in CRITERIA)
    settings = [f"balance.processes={processes}", "balance.model=exact", "balance.speeds=off"]
    settings += ["balance.constants.start=uniform", f"balance.compare=[{entries}]"]
    settings += ["balance.partition={cut: strips, patches_per_process: 8, sticky: false}"]
    settings += [f"balance.work.balancing={cost * mean_step(loads, processes)!r}"]
    return steelyard("replay", loads, "--optimum", out=out, settings=settings, start=mpiexec(2), keep=True), out


def draw(name, cost, summary, out):
    """The imbalance that each criterion leaves, and its balancings, beside those of the best schedule."""
    curves = {}
    for row in read_csv(f"{out}/balance.csv"):
        curves.setdefault(row["model"], []).append((int(row["step"]), float(row["lbe"]), row["decision"]))
    shown = [c for c in CRITERIA if c != "never"]
    rows = dict(sharex=True, gridspec_kw={"height_ratios": (3, 2)})
    figure, (above, below) = plt.subplots(2, 1, figsize=(9, 7), layout="constrained", **rows)
    colours = plt.get_cmap("tab10").colors
    for i, criterion in enumerate(CRITERIA):
        steps, lbe, decisions = zip(*curves[criterion])
        colour = "black" if criterion == "never" else colours[i]
        if criterion in ("gain", "menon", "boulmier", "never"):
            above.plot(steps, [100 * (1 - x) for x in lbe], color=colour, lw=1, label=criterion)
        if criterion in shown:
            moved = [s for s, d in zip(steps, decisions) if d == "moved"]
            below.eventplot(moved, lineoffsets=shown.index(criterion) + 1, linelengths=0.7, colors=[colour])
    below.eventplot(summary["optimum"]["steps"], lineoffsets=0, linelengths=0.7, colors=["black"])
    best = summary["optimum"]["seconds"]
    labels = [f"{c}  +{100 * (summary['contenders'][c]['seconds'] / best - 1):.1f} %" for c in shown]
    below.set_yticks(range(len(shown) + 1), ["best in hindsight"] + labels)
    below.invert_yaxis()
    title = "balancings, and how much longer all takes than with the best schedule"
    below.set(xlabel="step", title=title)
    above.set(ylabel="time lost by waiting, % of the slowest process's", ylim=(0, None))
    above.legend()
    above.grid()
    steps = f"{cost} mean step{'' if cost == 1 else 's'}"
    above.set_title(f"{name}: {COLLISIONS[name][2]} processes, counted work, a balancing costs {steps}")
    save(figure, f"{OUT}/{name}_{cost}.png")


def cases_of(name, cost, summary):
    """The cases of all criteria in one replay."""
    (deck, settings, _), best, cases = COLLISIONS[name], summary["optimum"], []
    for criterion in CRITERIA:
        its = {key: summary["contenders"][criterion][key] for key in ("seconds", "balancings")}
        case = dict(deck=deck, settings=settings, collision=name, cost=cost, criterion=criterion, **its)
        case.update(seconds_optimum=best["seconds"], balancings_optimum=len(best["steps"]))
        cases.append(dict(case, ratio=its["seconds"] / best["seconds"]))
    return cases


def wall(arguments):
    """All criteria in turns on two ranks, for 1000 steps of each deck of the gallery."""
    print(markdown_head(["deck"] + [f"`{c}`" for c in CRITERIA]))
    decks = {}
    for name in arguments.only:
        deck, settings, _ = COLLISIONS[name]

        def one(criterion, deck=deck, settings=settings):
            more = ["run.steps=1000", "output={every: 1000}", f"balance={{every: {EVERY}, criterion: {criterion}}}"]
            return steelyard("run", deck, out=f"{OUT}/wall", settings=settings + more, start=mpiexec(2))

        runs = in_turns(arguments.rounds, CRITERIA, one)
        least = [min(runs[c][i]["wall_seconds"] for c in CRITERIA) for i in range(arguments.rounds)]
        over = {c: statistics.median(s["wall_seconds"] / t for s, t in zip(runs[c], least)) for c in CRITERIA}
        made = {c: statistics.median(s["balancing"]["migrations"] for s in runs[c]) for c in CRITERIA}
        print(markdown_row([name] + [f"{over[c]:.3f} ({made[c]:.0f})" for c in CRITERIA]), flush=True)
        decks[name] = dict(over_least=over, migrations=made)
    write_json(f"{OUT}/wall.json", dict(simulated=False, ranks=2, rounds=arguments.rounds, decks=decks))


def main():
    parser = options_of(__doc__, rounds="--rounds")
    parser.add_argument("--only", nargs="+", choices=list(COLLISIONS), default=list(COLLISIONS))
    parser.add_argument("--wall", action="store_true")
    arguments = parser.parse_args()
    build("steelyard")
    os.makedirs(OUT, exist_ok=True)
    if arguments.wall:
        arguments.only = [name for name in arguments.only if "gallery" in COLLISIONS[name][0]]
        return wall(arguments)
    heads = ["collision", "cost, mean steps", "best: balancings"] + [f"`{c}`" for c in CRITERIA]
    cases, table, winners = [], [markdown_head(heads)], []
    for name in arguments.only:
        loads = record(name)
        for cost in COSTS:
            summary, out = replay(name, loads, cost)
            draw(name, cost, summary, out)
            found = cases_of(name, cost, summary)
            over = [f"{100 * (c['ratio'] - 1):.1f}" for c in found]
            table.append(markdown_row([name, cost, found[0]["balancings_optimum"], *over]))
            winners.append(f"{name}, cost {cost}: {summary['least_time']}")
            cases += found
    print("\n".join(table + winners))
    write_json(f"{OUT}/summary.json", {"simulated": False, "cases": cases})


if __name__ == "__main__":
    main()

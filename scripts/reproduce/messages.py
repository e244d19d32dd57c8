#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Order and merging of messages, after Peng et al.: traces replayed under every schedule. docs/messages.md

Part 1 is simulated. The program runs on 4 and 16 nodes of a simulated Tianhe-2 and writes its plans of messages. The
program replay_messages carries them out there under every schedule. The gain of a schedule is 1 - its time / that of
the naive scheme (a message for each part, in the order of the receivers). In "counted" the time to make the schedule is
added to both, shared by the exchanges that use it. It is measured on this machine if it is arithmetic.

Part 2 is measured: the same replay on 2 ranks of this machine, and on 4 where it has as many cores. There MPI's own
persistent collective call among neighbours is compared too. Writes results/messages/: summary.json, traces, pictures.
"""
import os
import shutil
import subprocess

from common import call, mpiexec, read_csv, read_json, words, write_json
from plotting import plt, save
from studies import build, options_of, steelyard, table

QUIETLY = dict(stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
CONTROL = "none, plain"
DEFAULT = "auto, near_first"
SHOWN = ["none, near_first", "process, near_first", "node, near_first", DEFAULT]
PLATFORM, RANKS_PER_NODE, NODES_PER_SWITCH = "tianhe2_16", 24, 8
PAPER = {
    "mean_gain_4_nodes": 0.1259,
    "mean_gain_16_nodes": 0.1127,
    "largest_gain": 0.41,
    "of": "communication time of six applications on Tianhe-2 (Peng et al.), the cost of scheduling counted",
}


def uniform(nodes, cell, tile, cells_a_rank):
    """A liquid of 24 ranks a node, each with about so many cells."""
    ranks = {2: (8, 6), 4: (12, 8), 16: (24, 16)}[nodes]
    length = [r * cells_a_rank * cell for r in ranks]
    spacing = (2 / (3**0.5 * 0.9)) ** 0.5  # of a hexagonal lattice of this density
    columns, rows = round(length[0] / spacing), 2 * round(length[1] / (spacing * 3**0.5))
    settings = [f"system.slabs.0.cells=[{columns},{rows}]", f"grid.cell={cell}", f"grid.tile={tile}", "run.steps=10"]
    return ["inputs/liquid.yaml", *words(settings)]


def collided(nodes, state):
    settings = ["run.dt=0.002", f"balance.processes={24 * nodes}", "balance.clock=work", "run.steps=510"]
    return ["inputs/lbe64.yaml", "--restart", state, *words(settings)]


def collided_strip(nodes, _):
    settings = ["balance.every=5", "balance.criterion=every", "balance.clock=work", f"balance.processes={24 * nodes}"]
    return ["inputs/strip_t1.yaml", "--restart", "restarts/strip_t1.h5", *words([*settings, "run.steps=1010"])]


# Name of the trace: (options of the run, by nodes and collided state; {workload: kind of plan}).
TRACES = {
    "uniform": (lambda nodes, _: uniform(nodes, 2.5, 4, 16), {"uniform state, ghosts": "ghosts"}),
    "large_cells": (lambda nodes, _: uniform(nodes, 10, "[8,4]", 8), {"uniform state, large cells, ghosts": "ghosts"}),
    "collided": (collided, {"collided state, ghosts": "ghosts", "collided state, migration": "migration"}),
}
QUICK = {"uniform": TRACES["uniform"], "collided": (collided_strip, TRACES["collided"][1])}
PATCHES = [
    *("run.steps=30", "grid.tile=4", "balance.processes=64", "balance.every=100", "balance.clock=work"),
    *("balance.criterion=every", "balance.partition.cut=patches"),
]
OF_PATCHES = {"small patches, ghosts": "ghosts", "small patches, migration": "migration"}
REAL = {
    "patches": (["inputs/slab.yaml", *words(PATCHES)], OF_PATCHES),
    "liquid": (["inputs/liquid.yaml", *words(["run.steps=10"])], {"liquid, ghosts": "ghosts"}),
}


def on_simulated(ranks, program, arguments):
    variables = dict(PLATFORM=PLATFORM, PROGRAM=program)
    call(["scripts/simulate.sh", ranks, *arguments], environment=variables, **QUIETLY)


def here(ranks, program, arguments):
    """Starts a program on some ranks of this machine."""
    command = ["run"] if program == "steelyard" else []
    call([*mpiexec(ranks), f"build/{program}", *command, *arguments], **QUIETLY)


def exchanges(trace, kind, last_step):
    """How many exchanges use one schedule: ghosts are sent in each step until the next plan, or the last step; the rest
    once."""
    plans = {r["plan"]: int(r["step"]) for r in read_csv(trace) if r["kind"] == kind}
    return (last_step - min(plans.values()) + 1) / len(plans) if kind == "ghosts" else 1


def replayed(launch, ranks, name, case, out, options):
    """Makes a trace and replays it: cases. case: options of the run, and {workload: kind of plan}."""
    (run, workloads), trace, results = case, os.path.join(out, name + ".csv"), os.path.join(out, name + ".json")
    folder = os.path.join(out, "run")
    shutil.rmtree(folder, ignore_errors=True)
    if os.path.exists(trace):
        os.remove(trace)
    launch(ranks, "steelyard", [*run, "--out", folder, "--quiet", "--trace-messages", trace])
    orders = ["--order", "plain", "near_first", "far_first", "--kind", *workloads.values()]
    launch(ranks, "replay_messages", [trace, "--json", results, *orders, *options])
    last_step, rows = read_json(os.path.join(folder, "summary.json"))["steps"], read_json(results)["cases"]
    shutil.rmtree(folder)
    os.remove(results)
    cases = []
    for workload, kind in workloads.items():
        uses = exchanges(trace, kind, last_step)
        of_kind = [r for r in rows if r["kind"] == kind]
        counted = {r["schedule"]: r["seconds"] + r["schedule_seconds"] / uses for r in of_kind}
        seconds = next(r["seconds"] for r in of_kind if r["schedule"] == CONTROL)
        for r in of_kind:
            part = counted[r["schedule"]] / counted[CONTROL]
            gains = dict(gain=1 - r["seconds"] / seconds, gain_counted=1 - part)
            sizes = dict(mean_part_bytes=r["bytes"] / r["parts"], small_part_share=r["small_parts"] / r["parts"])
            cases.append(dict(workload=workload, ranks=ranks, exchanges_a_plan=uses, **gains, **sizes, **r))
    return cases


def collided_state(out):
    """The two slabs of inputs/lbe64.yaml after they have met, by a run on this machine."""
    folder = os.path.join(out, "state")
    settings = ["run.dt=0.002", "run.steps=500", "checkpoint.every=500", "balance.processes=2", "balance.every=50"]
    steelyard("run", "inputs/lbe64.yaml", out=folder, settings=[*settings, "balance.clock=work"], start=mpiexec(2))
    return os.path.join(folder, "checkpoint_500.h5")


def print_cases(cases, title):
    print(title)
    for workload in dict.fromkeys((c["workload"], c["ranks"]) for c in cases):
        rows = [c for c in cases if (c["workload"], c["ranks"]) == workload]
        r = rows[0]
        parts = f"{r['parts']:.0f} parts of {r['mean_part_bytes']:.0f} bytes"
        small = f"{100 * r['small_part_share']:.0f} % of at most 4096; {r['exchanges_a_plan']:.1f} exchanges a plan"
        print(f"\n{workload[0]}, {workload[1]} ranks: {parts}, {small}")
        times = ("us an exchange", "16.1f"), ("gain", "9.1%"), ("us to plan", "12.1f"), ("counted", "9.1%")
        row = table(("schedule", "<28"), ("messages", "9.0f"), *times)
        for c in rows:
            seconds = c["seconds"] * 1e6, c["gain"], c["schedule_seconds"] * 1e6, c["gain_counted"]
            row(c["schedule"], c.get("messages", "-"), *seconds)


def plot(cases, nodes, picture):
    """Figures 7 and 8 of the paper: the gain of each schedule, and what is left when the schedule's own cost is
    counted."""
    workloads = list(dict.fromkeys(c["workload"] for c in cases))
    figure, axes = plt.subplots(len(nodes), 1, figsize=(10, 3.3 * len(nodes) + 0.5), squeeze=False)
    for axis, n in zip(axes[:, 0], nodes):
        for s, schedule in enumerate(SHOWN):
            rows = [c for c in cases if (c["nodes"], c["schedule"]) == (n, schedule)]  # in the order of workloads
            places = [w + (s - 1.5) * 0.2 for w in range(len(workloads))]
            bars = axis.bar(places, [100 * r["gain"] for r in rows], 0.18, alpha=0.35, color=f"C{s}")
            axis.bar(places, [100 * r["gain_counted"] for r in rows], 0.18, color=f"C{s}", label=schedule)
            for bar, r in zip(bars, rows):
                at = bar.get_x() + bar.get_width() / 2, max(0, 100 * r["gain"]) + 1
                axis.text(*at, f"{100 * r['gain']:.0f}", ha="center", fontsize=8)
        axis.axhline(0, color="black", linewidth=0.8)
        axis.set_xticks(range(len(workloads)), [w.replace(", ", ",\n") for w in workloads], fontsize=8)
        low, high = axis.get_ylim()
        title = f"{n} nodes x {RANKS_PER_NODE} ranks: simulated"
        axis.set(title=title, ylabel="gain, %", ylim=(max(low, -40), high + 8))
    title = "Communication time saved against a message for each part; dark: the cost of making the schedule counted"
    figure.suptitle(title + " (cut off at -40 %)", fontsize=10)
    figure.tight_layout(rect=(0, 0.04, 1, 1))
    figure.legend(*axes[0, 0].get_legend_handles_labels(), ncol=len(SHOWN), loc="lower center")
    save(figure, picture, dpi=110)


def judge(cases):
    """The gains of `auto`."""
    auto = [c for c in cases if c["schedule"].startswith("auto")]
    small = [c for c in cases if c["schedule"] == DEFAULT and c["small_part_share"] > 0.95]
    by_nodes = {str(n): [c["gain"] for c in auto if c["nodes"] == n] for n in {c["nodes"] for c in auto}}
    return {
        "smallest_gain_of_auto": min(c["gain"] for c in auto),
        "smallest_gain_of_auto_where_messages_are_small": min(c["gain"] for c in small),
        "mean_gain_of_auto": {n: sum(gains) / len(gains) for n, gains in by_nodes.items()},
    }


def main():
    parser = options_of(__doc__)
    parser.add_argument("--out", default="results/messages")
    parser.add_argument("--quick", action="store_true", help="2 nodes, and smaller states")
    parser.add_argument("--no-real", action="store_true", help="without the part that is measured on this machine")
    arguments = parser.parse_args()
    for preset in ("smpi", "default"):
        build("steelyard", "replay_messages", preset=preset)
    out = os.path.abspath(arguments.out)
    os.makedirs(out, exist_ok=True)
    nodes, traces = ([2], QUICK) if arguments.quick else ([4, 16], TRACES)
    state = None if arguments.quick else collided_state(out)
    cases, real = [], []
    for n in nodes:
        for name, (run, workloads) in traces.items():
            case, how = (run(n, state), workloads), ["--rounds", 1, "--nodes-per-switch", NODES_PER_SWITCH]
            found = replayed(on_simulated, RANKS_PER_NODE * n, f"{name}_{n}_nodes", case, out, how)
            cases += [{**c, "nodes": n, "simulated": True} for c in found]
    planning = "us to plan: measured on this machine, but for messages in it"
    print_cases(cases, f"SIMULATED on {PLATFORM} (docs/simulation.md); {planning}")
    if not arguments.no_real:
        for ranks in [r for r in (2, 4) if r <= max(2, os.cpu_count() or 1)]:
            for name, case in REAL.items():
                found = replayed(here, ranks, f"{name}_{ranks}_ranks_here", case, out, ["--rounds", 301])
                real += [{**c, "simulated": False} for c in found]
        print_cases(real, "\nMEASURED on this machine, ranks that share memory; medians of 301 rounds")
    verdict = judge(cases)
    least, small = (100 * verdict["smallest_gain_of_auto" + key] for key in ("", "_where_messages_are_small"))
    print(f"\nauto: gains {least:.2f} % at least, {small:.1f} % at least where messages are small")
    print("The paper, on Tianhe-2: 12.59 % on average on 4 nodes, 11.27 % on 16, 41 % at most, of the communication")
    print("time of six applications")
    plot(cases, nodes, os.path.join(out, "messages.png"))
    result = {"simulated": True, "platform": PLATFORM, "control": CONTROL, "cases": cases, "real": real}
    write_json(os.path.join(out, "summary.json"), result | {"auto": verdict, "paper": PAPER})


if __name__ == "__main__":
    main()

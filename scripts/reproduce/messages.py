#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Order and merging of messages, after Peng et al.: traces of molecular dynamics replayed under every schedule.

Part 1 is simulated: the program runs on 4 and 16 nodes of 24 ranks of a simulated Tianhe-2 (docs/simulation.md) and
writes its plans of messages, and replay_messages carries them out there under every schedule. The gain of a schedule is
1 - its time / that of the naive scheme (a message for each part, in the order of the receivers). "counted": the time to
make the schedule is added to both, shared by the exchanges that use it. It is measured on this machine where it is
arithmetic. 4 nodes are the first four of the 16-node platform.

Part 2 is measured: the same replay on 2 ranks of this machine, and on 4 where it has as many cores. There MPI's own
persistent collective call among neighbours is compared too.
"""
import argparse
import sys
import csv
import json
import os
import shutil
import subprocess

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir))
from common import call, mpiexec, write_json  # noqa: E402
from plotting import plt, save  # noqa: E402

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
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
    """A liquid of 24 ranks a node, each with about so many cells: settings for inputs/liquid.yaml."""
    ranks = {2: (8, 6), 4: (12, 8), 16: (24, 16)}[nodes]
    length = [r * cells_a_rank * cell for r in ranks]
    spacing = (2 / (3**0.5 * 0.9)) ** 0.5  # of a hexagonal lattice of this density
    columns, rows = round(length[0] / spacing), 2 * round(length[1] / (spacing * 3**0.5))
    return [
        "inputs/liquid.yaml",
        "--set",
        f"system.slabs.0.cells=[{columns},{rows}]",
        "--set",
        f"grid.cell={cell}",
        "--set",
        f"grid.tile={tile}",
        "--set",
        "run.steps=10",
    ]


def collided(nodes, state):
    return [
        "inputs/lbe64.yaml",
        "--restart",
        state,
        *COLLISION,
        "--set",
        f"balance.processes={24 * nodes}",
        "--set",
        "balance.clock=work",
        "--set",
        "run.steps=510",
    ]


def collided_strip(nodes, _):
    return [
        "inputs/strip_t1.yaml",
        "--restart",
        "restarts/strip_t1.h5",
        "--set",
        "balance.every=5",
        "--set",
        "balance.criterion=every",
        "--set",
        "balance.clock=work",
        "--set",
        f"balance.processes={24 * nodes}",
        "--set",
        "run.steps=1010",
    ]


COLLISION = ["--set", "run.dt=0.002"]
# Name of the trace: (options of the run, by nodes and collided state; {workload: kind of plan}).
TRACES = {
    "uniform": (lambda nodes, _: uniform(nodes, 2.5, 4, 16), {"uniform state, ghosts": "ghosts"}),
    "large_cells": (lambda nodes, _: uniform(nodes, 10, "[8,4]", 8), {"uniform state, large cells, ghosts": "ghosts"}),
    "collided": (collided, {"collided state, ghosts": "ghosts", "collided state, migration": "migration"}),
}
QUICK = {"uniform": TRACES["uniform"], "collided": (collided_strip, TRACES["collided"][1])}
PATCHES = [
    "inputs/slab.yaml",
    *(
        x
        for s in [
            "run.steps=30",
            "grid.tile=4",
            "balance.processes=64",
            "balance.every=100",
            "balance.clock=work",
            "balance.criterion=every",
            "balance.partition.cut=patches",
        ]
        for x in ("--set", s)
    ),
]
REAL = {
    "patches": (PATCHES, {"small patches, ghosts": "ghosts", "small patches, migration": "migration"}),
    "liquid": (["inputs/liquid.yaml", "--set", "run.steps=10"], {"liquid, ghosts": "ghosts"}),
}


def execute(command, **environment):
    call(command, cwd=ROOT, environment=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)


def on_simulated(ranks, program, arguments):
    execute(["scripts/simulate.sh", str(ranks), *arguments], PLATFORM=PLATFORM, PROGRAM=program)


def on_mpi(build):
    """A function that starts a program of this build on some ranks of this machine."""

    def launch(ranks, program, arguments):
        command = [f"{build}/{program}", *(["run"] if program == "steelyard" else []), *arguments]
        execute([*mpiexec(ranks), *command])

    return launch


def exchanges(trace, kind, last_step):
    """How many exchanges use one schedule: ghosts are sent in each step until the next plan, or the last step; the rest
    once."""
    with open(trace) as f:
        plans = {r["plan"]: int(r["step"]) for r in csv.DictReader(f) if r["kind"] == kind}
    return (last_step - min(plans.values()) + 1) / len(plans) if kind == "ghosts" else 1


def replayed(launch, ranks, name, run, workloads, out, options):
    """Makes a trace and replays it: cases."""
    trace, results = os.path.join(out, name + ".csv"), os.path.join(out, name + ".json")
    folder = os.path.join(out, "run")
    shutil.rmtree(folder, ignore_errors=True)
    if os.path.exists(trace):
        os.remove(trace)
    launch(ranks, "steelyard", [*run, "--out", folder, "--quiet", "--trace-messages", trace])
    launch(
        ranks,
        "replay_messages",
        [
            trace,
            "--json",
            results,
            "--order",
            "plain",
            "near_first",
            "far_first",
            "--kind",
            *workloads.values(),
            *options,
        ],
    )
    with open(os.path.join(folder, "summary.json")) as f:
        last_step = json.load(f)["steps"]
    shutil.rmtree(folder)
    with open(results) as f:
        rows = json.load(f)["cases"]
    os.remove(results)
    cases = []
    for workload, kind in workloads.items():
        uses = exchanges(trace, kind, last_step)
        of_kind = [r for r in rows if r["kind"] == kind]
        control = next(r for r in of_kind if r["schedule"] == CONTROL)

        def counted(r):
            return r["seconds"] + r["schedule_seconds"] / uses

        for r in of_kind:
            cases.append(
                dict(
                    workload=workload,
                    ranks=ranks,
                    exchanges_a_plan=uses,
                    gain=1 - r["seconds"] / control["seconds"],
                    gain_counted=1 - counted(r) / counted(control),
                    mean_part_bytes=r["bytes"] / r["parts"],
                    small_part_share=r["small_parts"] / r["parts"],
                    **r,
                )
            )
    return cases


def collided_state(out, launch):
    """The two slabs of inputs/lbe64.yaml after they have met, by a run on this machine."""
    folder = os.path.join(out, "state")
    shutil.rmtree(folder, ignore_errors=True)
    launch(
        2,
        "steelyard",
        [
            "inputs/lbe64.yaml",
            *COLLISION,
            "--out",
            folder,
            "--quiet",
            "--set",
            "run.steps=500",
            "--set",
            "checkpoint.every=500",
            "--set",
            "balance.processes=2",
            "--set",
            "balance.every=50",
            "--set",
            "balance.clock=work",
        ],
    )
    return os.path.join(folder, "checkpoint_500.h5")


def print_cases(cases, title):
    print(title)
    for workload in dict.fromkeys((c["workload"], c["ranks"]) for c in cases):
        rows = [c for c in cases if (c["workload"], c["ranks"]) == workload]
        r = rows[0]
        print(
            f"\n{workload[0]}, {workload[1]} ranks: {r['parts']:.0f} parts of {r['mean_part_bytes']:.0f} bytes,"
            f" {100 * r['small_part_share']:.0f} % of at most 4096; {r['exchanges_a_plan']:.1f} exchanges a plan"
        )
        print(f"  {'schedule':<28}{'messages':>9}{'us an exchange':>16}{'gain':>9}{'us to plan':>12}{'counted':>9}")
        for c in rows:
            messages = f"{c['messages']:.0f}" if "messages" in c else "-"
            print(
                f"  {c['schedule']:<28}{messages:>9}{c['seconds'] * 1e6:>16.1f}{100 * c['gain']:>8.1f}%"
                f"{c['schedule_seconds'] * 1e6:>12.1f}{100 * c['gain_counted']:>8.1f}%"
            )


def plot(cases, nodes, picture):
    """Figures 7 and 8 of the paper: the gain of each schedule, and what is left when the schedule's own cost is
    counted."""

    workloads = list(dict.fromkeys(c["workload"] for c in cases))
    figure, axes = plt.subplots(len(nodes), 1, figsize=(10, 3.3 * len(nodes) + 0.5), squeeze=False)
    for axis, n in zip(axes[:, 0], nodes):
        for s, schedule in enumerate(SHOWN):
            rows = [
                next(c for c in cases if c["nodes"] == n and c["workload"] == w and c["schedule"] == schedule)
                for w in workloads
            ]
            places = [w + (s - 1.5) * 0.2 for w in range(len(workloads))]
            bars = axis.bar(places, [100 * r["gain"] for r in rows], 0.18, alpha=0.35, color=f"C{s}")
            axis.bar(places, [100 * r["gain_counted"] for r in rows], 0.18, color=f"C{s}", label=schedule)
            for bar, r in zip(bars, rows):
                axis.text(
                    bar.get_x() + bar.get_width() / 2,
                    max(0, 100 * r["gain"]) + 1,
                    f"{100 * r['gain']:.0f}",
                    ha="center",
                    fontsize=8,
                )
        axis.axhline(0, color="black", linewidth=0.8)
        axis.set_xticks(range(len(workloads)))
        axis.set_xticklabels([w.replace(", ", ",\n") for w in workloads], fontsize=8)
        axis.set_ylabel("gain, %")
        axis.set_title(f"{n} nodes x {RANKS_PER_NODE} ranks: simulated", fontsize=10)
        low, high = axis.get_ylim()
        axis.set_ylim(max(low, -40), high + 8)
    figure.suptitle(
        (
            "Communication time saved against a message for each part; dark: the cost of making the schedule counted"
            " (cut off at -40 %)"
        ),
        fontsize=10,
    )
    figure.tight_layout(rect=(0, 0.04, 1, 1))
    figure.legend(*axes[0, 0].get_legend_handles_labels(), fontsize=8, ncol=len(SHOWN), loc="lower center")
    save(figure, picture, dpi=110)


def judge(cases):
    """What `auto` promises."""
    auto = [c for c in cases if c["schedule"].startswith("auto")]
    small = [c for c in cases if c["schedule"] == DEFAULT and c["small_part_share"] > 0.95]
    return {
        "smallest_gain_of_auto": min(c["gain"] for c in auto),
        "smallest_gain_of_auto_where_messages_are_small": min(c["gain"] for c in small),
        "mean_gain_of_auto": {
            str(n): sum(c["gain"] for c in auto if c["nodes"] == n) / sum(c["nodes"] == n for c in auto)
            for n in {c["nodes"] for c in auto}
        },
    }


def main():
    parser = argparse.ArgumentParser(
        prog="messages.sh", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--out", default="results/messages")
    parser.add_argument("--quick", action="store_true", help="2 nodes, and smaller states")
    parser.add_argument("--no-real", action="store_true", help="without the part that is measured on this machine")
    parser.add_argument("--build", default="build", help="folder of the program for this machine (build)")
    arguments = parser.parse_args()
    out = os.path.abspath(arguments.out)
    os.makedirs(out, exist_ok=True)
    here = on_mpi(arguments.build)
    nodes, traces = ([2], QUICK) if arguments.quick else ([4, 16], TRACES)
    state = None if arguments.quick else collided_state(out, here)
    cases, real = [], []
    for n in nodes:
        for name, (run, workloads) in traces.items():
            found = replayed(
                on_simulated,
                RANKS_PER_NODE * n,
                f"{name}_{n}_nodes",
                run(n, state),
                workloads,
                out,
                ["--rounds", "1", "--nodes-per-switch", str(NODES_PER_SWITCH)],
            )
            cases += [{**c, "nodes": n, "simulated": True} for c in found]
    print_cases(
        cases,
        f"SIMULATED on {PLATFORM} (docs/simulation.md); us to plan: measured on this machine, but for messages in it",
    )
    if not arguments.no_real:
        for ranks in [r for r in (2, 4) if r <= max(2, os.cpu_count() or 1)]:
            for name, (run, workloads) in REAL.items():
                found = replayed(here, ranks, f"{name}_{ranks}_ranks_here", run, workloads, out, ["--rounds", "301"])
                real += [{**c, "simulated": False} for c in found]
        print_cases(real, "\nMEASURED on this machine, ranks that share memory; medians of 301 rounds")
    verdict = judge(cases)
    print(
        f"\nauto: gains {100 * verdict['smallest_gain_of_auto']:.2f} % at least,"
        f" {100 * verdict['smallest_gain_of_auto_where_messages_are_small']:.1f} % at least where messages are small"
    )
    print(
        "The paper, on Tianhe-2: 12.59 % on average on 4 nodes, 11.27 % on 16, 41 % at most, of the communication time"
        " of six applications"
    )
    plot(cases, nodes, os.path.join(out, "messages.png"))
    write_json(
        os.path.join(out, "summary.json"),
        {
            "simulated": True,
            "platform": PLATFORM,
            "control": CONTROL,
            "cases": cases,
            "real": real,
            "auto": verdict,
            "paper": PAPER,
        },
    )


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The tests of Liu, Yang & Yang (2018) on nested partitions, by Algorithms 1 (greedy) and 2 (inner_outer).

Balance: 1600 x 320 cells on 1 to 32 nodes. Nodes have CPUs only, 3 accelerators each, or 0 to 3 at random. Prints LBE_m
beside its bound, and the cells that accelerators would exchange with remote regions.

Communication: 600 x 400 x 400 cells, 3 accelerators a node. Counts the bytes that accelerators exchange. A model of
links (communication.py) gives their time, for links of several generations. Modelled, not measured.

With --simulated: only the communication, on a simulated Tianhe-2, as figure 10 of the paper. Hosts forward the messages
of accelerators, or accelerators send them by themselves and slowly. A sweep over the links on 32 nodes follows.

Writes results/nested/: summary.json, CSV files, pictures; with --simulated simulated.json, .csv, .png. docs/nested.md
"""
import concurrent.futures
import os
import random

import communication
from common import draw, write_csv, write_json
from plotting import plt, save
from studies import build, options_of, steelyard, table

DECK = "inputs/nested_1600x320.yaml"
NODES = [1, 2, 4, 8, 16, 32]
GRID_3D = [600, 400, 400]
ENOUGH, TOLERANCE = 0.98, 0.005
PICTURES = {
    "uniform_accelerators_1_greedy": "figure5",
    "slabs_random_32_seed1_greedy": "figure6",
    "uniform_accelerators_1_inner_outer": "figure7",
    "uniform_accelerators_32_inner_outer": "figure8",
    "slabs_accelerators_32_inner_outer": "slabs_32",
    "3d_32_inner_outer": "3d_32",
}
LOADS = {"uniform": "uniform load", "slabs": "slab collision"}
ENVIRONMENTS = {  # accelerators of a node in the table; label, colour and marker in the picture
    "cpus": ("none", "CPUs only", "#08519c", "o"),
    "accelerators": ("3 a node", "3 accelerators a node", "#d94801", "s"),
    "random": ("0 to 3", "0 to 3 accelerators a node, worst of the seeds", "#238b45", "^"),
}


def partition(folder, name, load, nodes, accelerators, algorithm, more=()):
    """The content of partition.json for a machine of so many nodes."""
    settings = [f"load.kind={load}", f"machine.nodes={nodes}", f"machine.accelerators_per_node={accelerators}"]
    settings += [f"balance.partition.algorithm={algorithm}", *more]
    return steelyard("partition", DECK, out=os.path.join(folder, "runs", name), settings=settings)


def partitions_3d(folder, grid, nodes):
    """By number of nodes and algorithm: the partitions of the test of communication."""
    more = [f"load.cells={grid}", f"load.bytes_per_cell={communication.BYTES}"]
    return {
        (n, algorithm): partition(folder, f"3d_{n}_{algorithm}", "uniform", n, 3, algorithm, more)
        for n in nodes
        for algorithm in communication.ALGORITHMS
    }


def accelerators_of(environment, nodes, seed):
    of_node = random.Random(seed)
    return [of_node.randint(0, 3) for _ in range(nodes)] if seed else 3 * (environment == "accelerators")


def all_cases(seeds):
    numbers = {"cpus": [0], "accelerators": [0], "random": range(1, seeds + 1)}
    for load, environment in ((load, environment) for load in LOADS for environment in numbers):
        for nodes in NODES:
            for seed in numbers[environment]:
                for algorithm in communication.ALGORITHMS:
                    yield dict(nodes=nodes, environment=environment, load=load, seed=seed, algorithm=algorithm)


def name_of(c):
    return f"{c['load']}_{c['environment']}_{c['nodes']}{'_seed%d' % c['seed'] if c['seed'] else ''}_{c['algorithm']}"


def run_case(folder, c):
    accelerators = accelerators_of(c["environment"], c["nodes"], c["seed"])
    p = partition(folder, name_of(c), c["load"], c["nodes"], accelerators, c["algorithm"])
    found = [r for r in p["resources"] if r["kind"] == "accelerator"]
    ways = ("between_nodes", "between_cpus", "inside")
    return dict(
        c,
        lbe_model=p["lbe_model"],
        remote_cells=sum(r["remote_cells"] for r in found),
        **{f"bytes_{way}": p["bytes"][way] for way in ways},
        **{key: p[key] for key in ("bound", "bound_of_cells")},
        accelerators=len(found),
        **{f"ghosts_{way}": p["ghosts"][way] for way in ways},
        **{key: p[key] for key in ("node_distance", "other_cpu_contacts")},
        largest_shortfall=max((s["shortfall"] for s in p["shortfalls"]), default=0),
        empty_resources=sum(r["cells"] == 0 for r in p["resources"]),
    )


def balance(folder, seeds, jobs):
    """Makes all partitions of the first test, prints the table, and returns the cases."""
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        cases = list(pool.map(lambda c: run_case(folder, c), all_cases(seeds)))
    found = {}  # of random machines all seeds
    for c in cases:
        found.setdefault((c["load"], c["environment"], c["nodes"], c["algorithm"]), []).append(c)
    print(f"\n1600 x 320 cells; LBE_m in %, of random machines the least of {seeds} seeds; remote: ghost cells that")
    print("accelerators get from other nodes and other accelerators, the most of all seeds; other CPU: contacts of")
    print("accelerators with the second CPU of their node")
    cases = ("load", "<10"), ("accelerators", "<14"), ("nodes", "6"), ("bound", "8.2f")
    one, two = (((f"Algorithm {n}", "13.2f"), ("remote", "8")) for n in (1, 2))
    row = table(*cases, *one, *two, ("other CPU", "11"), ("bytes between nodes", "21"))
    for (load, environment, nodes, algorithm), one in found.items():
        if algorithm == "inner_outer":
            continue
        two = found[load, environment, nodes, "inner_outer"]
        worst = min(two, key=lambda c: c["lbe_model"])
        figures = [(100 * min(c["lbe_model"] for c in of), max(c["remote_cells"] for c in of)) for of in (one, two)]
        most = (max(c[key] for c in two) for key in ("other_cpu_contacts", "bytes_between_nodes"))
        row(load, ENVIRONMENTS[environment][0], nodes, 100 * worst["bound"], *figures[0], *figures[1], *most)
    low = [c for c in cases if c["algorithm"] == "inner_outer" and c["lbe_model"] < ENOUGH]
    print(f"\ncases of Algorithm 2 below {ENOUGH}: {len(low)}")
    for c in low:
        c["reason"] = reason_of(c)
        print(f"  {name_of(c)}: LBE_m {c['lbe_model']:.4f}, bound {c['bound']:.4f}: {c['reason']}")
    return cases


def reason_of(c):
    if c["lbe_model"] < c["bound"] - TOLERANCE:
        return "missed by the partitioner"
    if c["bound"] < c["bound_of_cells"]:
        return "the inner regions are too small"
    return "cells are too coarse for so many resources"


def modelled(folder):
    """The test of communication by the model of links: its part of summary.json."""
    rows = []
    for (nodes, algorithm), p in partitions_3d(folder, GRID_3D, NODES[1:]).items():
        case = dict(nodes=nodes, algorithm=algorithm, lbe_model=p["lbe_model"])
        rows += [dict(row, **case) for row in communication.modelled(p)]
    print(f"\n{' x '.join(map(str, GRID_3D))} cells, uniform, 3 accelerators a node: MB that the accelerators of all")
    print("nodes get in one exchange of ghost cells, and modelled milliseconds of the slowest node (accelerators")
    print("alone; with the CPUs' traffic between nodes). MODELLED from link speeds, not measured.")
    savings = communication.say_modelled(rows)
    write_csv(os.path.join(folder, "communication.csv"), rows)
    communication.plot_modelled(rows, os.path.join(folder, "communication.png"))
    sizes = dict(grid_3d=GRID_3D, bytes_per_cell=communication.BYTES)
    return dict(sizes, communication=rows, savings=savings, links=communication.LINKS)


def simulated(folder, grid, nodes, jobs):
    """The test of communication on a simulated Tianhe-2: tables, simulated.json, .csv and .png."""
    partitions = partitions_3d(folder, grid, nodes)
    figure, sweep, platform = communication.simulated(partitions, os.path.join(folder, "runs"), jobs)
    print(f"\nSIMULATED, not measured: {' x '.join(map(str, grid))} cells, 3 accelerators a node; time of an exchange")
    print("of ghost cells, slowest rank; MB remote: bytes that accelerators get from other nodes and accelerators.")
    print("Network 6.36 GB/s, links of accelerators 8 GB/s and 5 us; alone: 5 times slower.")
    communication.say_simulated(figure)
    print("\nSIMULATED: accelerators alone, with one assumption changed")
    communication.say_simulated(sweep)
    name = os.path.join(folder, "simulated")
    result = dict(simulated=True, grid=grid, bytes_per_cell=communication.BYTES, platform=platform)
    write_json(name + ".json", dict(result, figure_10=figure, sweep=sweep))
    write_csv(name + ".csv", figure + sweep)
    communication.plot_simulated(grid, figure, sweep, name + ".png")


def plot(cases, path):
    """LBE_m over the number of nodes, after figure 9 of the paper."""
    figure, axes = plt.subplots(1, len(LOADS), figsize=(6.2 * len(LOADS), 4.4), layout="constrained", sharey=True)
    for axis, load in zip(axes, LOADS):
        for environment, (_, label, colour, marker) in ENVIRONMENTS.items():
            for algorithm, style in (("inner_outer", "-"), ("greedy", ":")):
                found = {}
                for c in cases:
                    if (c["load"], c["environment"], c["algorithm"]) == (load, environment, algorithm):
                        found.setdefault(c["nodes"], []).append(c["lbe_model"])
                if algorithm == "greedy" and environment == "cpus":
                    continue  # without accelerators both are the same
                looks = dict(color=colour, marker=marker, markersize=5, alpha=1 if style == "-" else 0.6)
                text = label if style == "-" else "the same, Algorithm 1"
                axis.plot(NODES, [min(found[n]) for n in NODES], style, label=text, **looks)
        axis.axhline(ENOUGH, color="grey", linewidth=0.8)
        axis.set(title=LOADS[load], xlabel="nodes of 2 x 12 cores")
        communication.scale_of(axis, NODES)
    axes[0].set(ylabel="LBE_m", ylim=(min(0.95, min(c["lbe_model"] for c in cases) - 0.01), 1.002))
    axes[0].legend(loc="lower left")
    save(figure, path)


def main():
    parser = options_of(__doc__)
    parser.add_argument("--full", action="store_true", help="20 seeds of random machines instead of 3")
    parser.add_argument("--simulated", action="store_true", help="only the communication, on a simulated cluster")
    small = "with --simulated: 60 x 40 x 40 cells on 1 and 2 nodes, for a test"
    parser.add_argument("--quick", action="store_true", help=small)
    parser.add_argument("--out", default="results/nested", help="folder of the results (default: %(default)s)")
    arguments = parser.parse_args()
    out, jobs, seeds = arguments.out, len(os.sched_getaffinity(0)), 20 if arguments.full else 3
    build("steelyard")
    if arguments.simulated:
        build("replay_messages", preset="smpi")
        grid, nodes = ([60, 40, 40], [1, 2]) if arguments.quick else (GRID_3D, NODES)
        return simulated(out, grid, nodes, jobs)
    cases = balance(out, seeds, jobs)
    two = [c for c in cases if c["algorithm"] == "inner_outer"]
    result = {
        "simulated": True,
        "what": "partitions for machines that are not here; times of communication are modelled from link speeds",
        "deck": DECK,
        "seeds": seeds,
        "cases": cases,
        "least_lbe_model": min(c["lbe_model"] for c in two),
        "most_remote_cells": max(c["remote_cells"] for c in two),
        "below_bound": [c for c in two if c["lbe_model"] < min(ENOUGH, c["bound"] - TOLERANCE)],
    }
    write_csv(os.path.join(out, "cases.csv"), cases)
    write_json(os.path.join(out, "summary.json"), dict(result, **modelled(out)))
    plot(cases, os.path.join(out, "lbe.png"))
    for name, picture in PICTURES.items():
        draw("nested", os.path.join(out, f"{picture}.png"), os.path.join(out, "runs", name))


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The tests of Liu, Yang & Yang (2018) on nested partitions; nodes have 2 CPUs of 12 cores, an accelerator is worth 12
cores.

Balance: 1600 x 320 cells on 1 to 32 nodes, CPUs only, with 3 accelerators a node, and with 0 to 3 at random; a uniform
load and that of two slabs in collision; Algorithm 1 (greedy) and 2 (inner_outer). Prints LBE_m beside its bound, and
what accelerators would exchange with remote regions.

Communication: 600 x 400 x 400 cells, 3 accelerators a node, Algorithm 1 against 2: bytes that accelerators exchange,
and the time that this takes by a model of links (communication.py), for links of several generations. Modelled, not
measured.

  (default)     3 seeds of random machines: some minutes
  --full        20 seeds
  --no-3d       without the test of communication
  --simulated   as the first option: the test of communication alone, on a simulated Tianhe-2; --simulated --help says
  more
"""
import argparse
import concurrent.futures
import csv
import os
import random
import shutil
import sys

import communication

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir))
from common import call, draw, read_json, words, write_json  # noqa: E402
from plotting import plt, save  # noqa: E402

DECK = "inputs/nested_1600x320.yaml"
NODES = [1, 2, 4, 8, 16, 32]
ALGORITHMS = ["greedy", "inner_outer"]
GRID_3D, BYTES_3D = [600, 400, 400], 48  # six components of the field in FDTD, 8 bytes each
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
ENVIRONMENTS = {
    "cpus": ("CPUs only", "#08519c", "o"),
    "accelerators": ("3 accelerators a node", "#d94801", "s"),
    "random": ("0 to 3 accelerators a node, worst of the seeds", "#238b45", "^"),
}


def partition(out, settings):
    """Runs the program; its partition.json."""
    shutil.rmtree(out, ignore_errors=True)
    call(["build/steelyard", "partition", DECK, "--out", out, "--quiet", *words(settings)])
    return read_json(os.path.join(out, "partition.json"))


def accelerators_of(environment, nodes, seed):
    if environment == "cpus":
        return "0"
    if environment == "accelerators":
        return "3"
    draw = random.Random(seed)
    return str([draw.randint(0, 3) for _ in range(nodes)])


def all_cases(arguments):
    for load in ("uniform", "slabs"):
        for environment, seeds in (("cpus", [0]), ("accelerators", [0]), ("random", range(1, arguments.seeds + 1))):
            for nodes in NODES:
                for seed in seeds:
                    for algorithm in ALGORITHMS:
                        yield dict(nodes=nodes, environment=environment, load=load, seed=seed, algorithm=algorithm)


def name_of(c):
    return f"{c['load']}_{c['environment']}_{c['nodes']}{'_seed%d' % c['seed'] if c['seed'] else ''}_{c['algorithm']}"


def run_case(arguments, c):
    settings = [
        f"load.kind={c['load']}",
        f"machine.nodes={c['nodes']}",
        f"machine.accelerators_per_node={accelerators_of(c['environment'], c['nodes'], c['seed'])}",
        f"balance.partition.algorithm={c['algorithm']}",
    ]
    p = partition(os.path.join(arguments.out, "runs", name_of(c)), settings)
    found = [r for r in p["resources"] if r["kind"] == "accelerator"]
    return dict(
        c,
        lbe_model=p["lbe_model"],
        remote_cells=sum(r["remote_cells"] for r in found),
        bytes_between_nodes=p["bytes"]["between_nodes"],
        bytes_between_cpus=p["bytes"]["between_cpus"],
        bytes_inside=p["bytes"]["inside"],
        bound=p["bound"],
        bound_of_cells=p["bound_of_cells"],
        accelerators=len(found),
        ghosts_between_nodes=p["ghosts"]["between_nodes"],
        ghosts_between_cpus=p["ghosts"]["between_cpus"],
        ghosts_inside=p["ghosts"]["inside"],
        node_distance=p["node_distance"],
        other_cpu_contacts=p["other_cpu_contacts"],
        largest_shortfall=max((s["shortfall"] for s in p["shortfalls"]), default=0),
        empty_resources=sum(r["cells"] == 0 for r in p["resources"]),
    )


def balance(arguments):
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        cases = list(pool.map(lambda c: run_case(arguments, c), all_cases(arguments)))
    found = {}  # of random machines the worst seed
    for c in cases:
        found.setdefault((c["load"], c["environment"], c["nodes"], c["algorithm"]), []).append(c)
    print(
        f"\n1600 x 320 cells; LBE_m in %, of random machines the least of {arguments.seeds} seeds; remote: ghost cells"
        " that accelerators get from\nother nodes and other accelerators, the most of all seeds; other CPU: contacts"
        " of accelerators with the second CPU of their node"
    )
    print(
        f"{'load':<10}{'accelerators':<14}{'nodes':>6}{'bound':>8}{'Algorithm 1':>13}{'remote':>8}"
        f"{'Algorithm 2':>13}{'remote':>8}{'other CPU':>11}{'bytes between nodes':>21}"
    )
    for (load, environment, nodes, algorithm), of_key in found.items():
        if algorithm == "greedy":
            two = found[load, environment, nodes, "inner_outer"]
            worst = min(two, key=lambda c: c["lbe_model"])
            many = {"cpus": "none", "accelerators": "3 a node", "random": "0 to 3"}[environment]
            print(
                f"{load:<10}{many:<14}{nodes:>6}{100 * worst['bound']:>8.2f}"
                f"{100 * min(c['lbe_model'] for c in of_key):>13.2f}"
                f"{max(c['remote_cells'] for c in of_key):>8}"
                f"{100 * worst['lbe_model']:>13.2f}{max(c['remote_cells'] for c in two):>8}"
                f"{max(c['other_cpu_contacts'] for c in two):>11}"
                f"{max(c['bytes_between_nodes'] for c in two):>21}"
            )
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


def three_dimensions(arguments):
    rows = []
    for nodes in NODES[1:]:
        for algorithm in ALGORITHMS:
            settings = [
                "load.kind=uniform",
                f"load.cells={GRID_3D}",
                f"load.bytes_per_cell={BYTES_3D}",
                f"machine.nodes={nodes}",
                "machine.accelerators_per_node=3",
                f"balance.partition.algorithm={algorithm}",
            ]
            p = partition(os.path.join(arguments.out, "runs", f"3d_{nodes}_{algorithm}"), settings)
            rows += [
                dict(row, nodes=nodes, algorithm=algorithm, lbe_model=p["lbe_model"])
                for row in communication.rows(p, BYTES_3D)
            ]
    print(
        f"\n{' x '.join(map(str, GRID_3D))} cells, uniform, 3 accelerators a node: MB that the accelerators of all"
        " nodes get in one exchange of ghost cells, and"
    )
    print(
        "modelled milliseconds of the slowest node (accelerators alone; with the CPUs' traffic between nodes). MODELLED"
        " from link speeds, not measured."
    )
    print(
        f"{'links':<44}{'nodes':>6}{'MB remote 1':>13}{'2':>8}{'ms accel. 1':>13}{'2':>8}{'saved':>8}"
        f"{'ms all 1':>11}{'2':>8}{'saved':>8}"
    )
    savings = []
    for one in [r for r in rows if r["algorithm"] == "greedy"]:
        two = next(
            r
            for r in rows
            if r["algorithm"] == "inner_outer" and (r["nodes"], r["links"]) == (one["nodes"], one["links"])
        )
        saved = {key: 1 - two[key] / one[key] for key in ("accelerator_seconds", "seconds")}
        savings.append(
            dict(
                nodes=one["nodes"],
                links=one["links"],
                saved_accelerator_time=saved["accelerator_seconds"],
                saved_time=saved["seconds"],
            )
        )
        print(
            f"{one['links']:<44}{one['nodes']:>6}{one['remote_bytes'] * 1e-6:>13.2f}"
            f"{two['remote_bytes'] * 1e-6:>8.2f}{one['accelerator_seconds'] * 1e3:>13.3f}"
            f"{two['accelerator_seconds'] * 1e3:>8.3f}"
            f"{100 * saved['accelerator_seconds']:>7.0f}%{one['seconds'] * 1e3:>11.3f}"
            f"{two['seconds'] * 1e3:>8.3f}{100 * saved['seconds']:>7.0f}%"
        )
    return rows, savings


def plot(cases, path):
    """LBE_m over the number of nodes, after figure 9 of the paper."""
    figure, axes = plt.subplots(1, len(LOADS), figsize=(6.2 * len(LOADS), 4.4), layout="constrained", sharey=True)
    for axis, load in zip(axes, LOADS):
        for environment, (label, colour, marker) in ENVIRONMENTS.items():
            for algorithm, style in (("inner_outer", "-"), ("greedy", ":")):
                found = {}
                for c in cases:
                    if (c["load"], c["environment"], c["algorithm"]) == (load, environment, algorithm):
                        found.setdefault(c["nodes"], []).append(c["lbe_model"])
                if found and (
                    algorithm == "inner_outer" or environment != "cpus"
                ):  # without accelerators they are the same
                    nodes = sorted(found)
                    axis.plot(
                        nodes,
                        [min(found[n]) for n in nodes],
                        style,
                        color=colour,
                        marker=marker,
                        markersize=5,
                        alpha=1 if style == "-" else 0.6,
                        label=label if style == "-" else "the same, Algorithm 1",
                    )
        axis.axhline(0.98, color="grey", linewidth=0.8)
        axis.set(xscale="log", title=LOADS[load], xlabel="nodes of 2 x 12 cores")
        axis.set_xticks(sorted({c["nodes"] for c in cases}), [str(n) for n in sorted({c["nodes"] for c in cases})])
        axis.minorticks_off()
        axis.grid(alpha=0.3)
    axes[0].set_ylabel("LBE_m")
    low = min(c["lbe_model"] for c in cases)
    axes[0].set_ylim(min(0.95, low - 0.01), 1.002)
    axes[0].legend(fontsize=8, loc="lower left")
    save(figure, path)


def write_csv(path, rows):
    with open(path, "w", newline="") as f:
        table = csv.DictWriter(f, list(dict.fromkeys(key for r in rows for key in r)))
        table.writeheader()
        table.writerows(rows)


def main():
    parser = argparse.ArgumentParser(
        prog="nested.sh", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--full", action="store_true")
    parser.add_argument("--no-3d", action="store_true")
    parser.add_argument(
        "--jobs", type=int, default=len(os.sched_getaffinity(0)), help="partitions at a time (default: cores)"
    )
    parser.add_argument("--out", default="results/nested")
    arguments = parser.parse_args()
    arguments.seeds = 20 if arguments.full else 3
    os.makedirs(arguments.out, exist_ok=True)

    cases = balance(arguments)
    result = {
        "simulated": True,
        "what": "partitions for machines that are not here; times of communication are modelled from link speeds",
        "deck": DECK,
        "seeds": arguments.seeds,
        "cases": cases,
        "least_lbe_model": min(c["lbe_model"] for c in cases if c["algorithm"] == "inner_outer"),
        "most_remote_cells": max(c["remote_cells"] for c in cases if c["algorithm"] == "inner_outer"),
        "below_bound": [
            c for c in cases if c["algorithm"] == "inner_outer" and c["lbe_model"] < min(ENOUGH, c["bound"] - TOLERANCE)
        ],
    }
    write_csv(os.path.join(arguments.out, "cases.csv"), cases)
    if not arguments.no_3d:
        rows, savings = three_dimensions(arguments)
        result.update(
            grid_3d=GRID_3D, bytes_per_cell=BYTES_3D, communication=rows, savings=savings, links=communication.LINKS
        )
        write_csv(os.path.join(arguments.out, "communication.csv"), rows)
        communication.plot(rows, os.path.join(arguments.out, "communication.png"))
    summary = os.path.join(arguments.out, "summary.json")
    write_json(summary, result)
    plot(cases, os.path.join(arguments.out, "lbe.png"))
    for name, picture in PICTURES.items():
        if arguments.no_3d and name.startswith("3d"):
            continue
        draw("nested", os.path.join(arguments.out, f"{picture}.png"), os.path.join(arguments.out, "runs", name))


if __name__ == "__main__":
    main()

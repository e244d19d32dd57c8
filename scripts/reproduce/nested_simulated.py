#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The second test of Liu, Yang & Yang (2018) on a simulated Tianhe-2: the communication of Algorithm 1 (greedy) and 2
(inner_outer).

600 x 400 x 400 cells on 1 to 32 nodes with 2 CPUs of 12 cores and 3 accelerators. Each core and each accelerator is a
rank, an accelerator is a host of its own behind a link (scripts/simulate/platform.py, tianhe2_mic), and replay_messages
exchanges the ghost cells of a partition, one message for each pair of ranks that need them. The slowest rank counts.
All times are SIMULATED.

Figure 10 of the paper: the time over the nodes, where the hosts forward the messages of accelerators, and where
accelerators reach other nodes and each other by themselves and slowly. Then a sweep over the links on 32 nodes.
"""
import argparse
import concurrent.futures
import csv
import functools
import os
import subprocess
import sys
import tempfile

import communication
import nested

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir))
from common import call, read_json, write_json  # noqa: E402
from plotting import plt, save  # noqa: E402

NODES, RANKS_PER_NODE = nested.NODES, 27
PLATFORM = "tianhe2_mic"
GREEDY, INNER_OUTER = nested.ALGORITHMS
# Of the platform: what is assumed for figure 10, by name. The sweep replaces some of "alone", which is Tianhe-2 as the
# paper sees it.
TIANHE2 = {
    "link_bytes_per_second": 6.36e9,
    "accelerator_link_bytes_per_second": 8e9,
    "accelerator_latency_seconds": 5e-6,
}
LINKS = {
    "the host forwards": dict(TIANHE2, accelerator_remote_slowdown=1),
    "accelerators alone": dict(TIANHE2, accelerator_remote_slowdown=5),
}
ALONE = LINKS["accelerators alone"]
SWEEP = {
    "accelerator_remote_slowdown": [1, 2, 3, 5, 10],
    "accelerator_latency_seconds": [1e-6, 5e-6, 20e-6, 100e-6],
    "accelerator_link_bytes_per_second": [2e9, 4e9, 8e9, 15.75e9],
    "link_bytes_per_second": [6.36e9, 12.5e9, 25e9, 50e9],
}


def write_trace(partition, bytes_per_cell, path):
    """What resources get from each other, as a trace of messages."""
    sizes = communication.ghosts_from_each(partition) * bytes_per_cell  # [to, from]
    node = [r["node"] for r in partition["resources"]]
    with open(path, "w", newline="") as f:
        trace = csv.writer(f, lineterminator="\n")
        trace.writerow(["plan", "kind", "step", "source", "target", "bytes", "source_node", "target_node"])
        for source in range(len(node)):
            for target in sizes[:, source].nonzero()[0]:
                trace.writerow([0, "ghosts", 0, source, target, sizes[target, source], node[source], node[target]])


@functools.lru_cache(maxsize=None)  # the sweep repeats some of figure 10
def simulate(trace, ranks, settings):
    """Seconds of an exchange, and what the platform assumes. settings: of the platform, as simulate.sh takes them."""
    with tempfile.NamedTemporaryFile("r", suffix=".json") as results:
        command = [
            "scripts/simulate.sh",
            str(ranks),
            trace,
            "--order",
            "plain",
            "--aggregate",
            "none",
            "--overlap",
            "links",
            "--json",
            results.name,
        ]
        platform = dict(PLATFORM=PLATFORM, PLATFORM_SET=settings, PROGRAM="replay_messages")
        call(command, environment=platform, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        result = read_json(results.name)
    return result["cases"][0]["seconds"], result["platform"]


def traces(out, grid, nodes):
    """For each number of nodes and each algorithm: the file of the trace, and what it holds."""
    found = {}
    for n in nodes:
        for algorithm in nested.ALGORITHMS:
            p = nested.partition(
                os.path.join(out, "runs", f"3d_{n}_{algorithm}"),
                [
                    "load.kind=uniform",
                    f"load.cells={grid}",
                    f"load.bytes_per_cell={nested.BYTES_3D}",
                    f"machine.nodes={n}",
                    "machine.accelerators_per_node=3",
                    f"balance.partition.algorithm={algorithm}",
                ],
            )
            assert len(p["resources"]) == RANKS_PER_NODE * n
            path = os.path.join(out, "runs", f"3d_{n}_{algorithm}.csv")
            write_trace(p, nested.BYTES_3D, path)
            remote = sum(r["remote_cells"] for r in p["resources"] if r["kind"] == "accelerator")
            found[n, algorithm] = path, dict(
                lbe_model=p["lbe_model"],
                remote_bytes=remote * nested.BYTES_3D,
                bytes_between_nodes=p["bytes"]["between_nodes"],
            )
    return found


def all_rows(found, cases, jobs):
    """cases: (name, links, nodes). A row for each and both algorithms."""

    def row(case):
        (name, links, nodes), algorithm = case
        path, held = found[nodes, algorithm]
        seconds, platform = simulate(
            path, RANKS_PER_NODE * nodes, " ".join(f"{key}={value:g}" for key, value in links.items())
        )
        return dict(case=name, nodes=nodes, algorithm=algorithm, seconds=seconds, **links, **held), platform

    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        done = list(pool.map(row, [(c, a) for c in cases for a in nested.ALGORITHMS]))
    return [r for r, _ in done], done[0][1]


def pairs(rows):
    """Rows of Algorithm 1 with those of Algorithm 2, and what it saves of the time."""
    for one in rows:
        if one["algorithm"] == GREEDY:
            two = next(
                r
                for r in rows
                if r["algorithm"] == INNER_OUTER
                and all(r[k] == one[k] for k in ("case", "nodes", *TIANHE2, "accelerator_remote_slowdown"))
            )
            yield one, two, 1 - two["seconds"] / one["seconds"]


def print_rows(rows):
    print(f"{'links':<52}{'nodes':>6}{'MB remote 1':>13}{'2':>7}{'ms 1':>9}{'2':>9}{'saved':>8}")
    for one, two, saved in pairs(rows):
        print(
            f"{one['case']:<52}{one['nodes']:>6}{one['remote_bytes'] * 1e-6:>13.1f}"
            f"{two['remote_bytes'] * 1e-6:>7.1f}{one['seconds'] * 1e3:>9.3f}{two['seconds'] * 1e3:>9.3f}"
            f"{100 * saved:>7.0f}%"
        )


def plot(grid, figure_rows, sweep_rows, path):
    figure, axes = plt.subplots(1, 2, figsize=(11, 5), layout="constrained")
    for links, colour, width in zip(
        LINKS, ("#08519c", "#d94801"), (3.5, 1.5)
    ):  # lines of Algorithm 2 lie upon each other
        for algorithm, label, style in ((GREEDY, "Algorithm 1", "-"), (INNER_OUTER, "Algorithm 2", "--")):
            rows = [r for r in figure_rows if (r["case"], r["algorithm"]) == (links, algorithm)]
            axes[0].plot(
                [r["nodes"] for r in rows],
                [1e3 * r["seconds"] for r in rows],
                style,
                marker="o",
                markersize=4,
                linewidth=width,
                color=colour,
                label=f"{label}, {links}",
            )
    axes[0].set(xscale="log", xlabel="nodes", ylabel="simulated ms per exchange", ylim=(0, None))
    nodes = sorted({r["nodes"] for r in figure_rows})
    axes[0].set_xticks(nodes, [str(n) for n in nodes])
    axes[0].minorticks_off()
    names = {
        "accelerator_remote_slowdown": (
            "how many times slower than the network an accelerator is by itself: 1, 2, 3, 5, 10"
        ),
        "accelerator_latency_seconds": "latency of its link: 1, 5, 20, 100 us",
        "accelerator_link_bytes_per_second": "its link: 2, 4, 8, 15.75 GB/s",
        "link_bytes_per_second": "network (an accelerator by itself has a fifth of it): 6.36, 12.5, 25, 50 GB/s",
    }
    for key, marker in zip(SWEEP, "os^D"):
        of_key = sorted(
            (one[key] / ALONE[key], saved)
            for one, _, saved in pairs([r for r in sweep_rows if r["case"].startswith(key + " ")])
        )
        axes[1].plot(
            [x for x, _ in of_key], [100 * y for _, y in of_key], marker=marker, markersize=5, label=names[key]
        )
    axes[1].set(
        xscale="log",
        xlabel='value / that of "accelerators alone" on the left',
        ylabel=f"% of the time saved by Algorithm 2, {nodes[-1]} nodes",
    )
    axes[1].set_xticks([0.2, 0.5, 1, 2, 5, 10, 20], ["0.2", "0.5", "1", "2", "5", "10", "20"])
    axes[1].minorticks_off()
    axes[1].axhline(0, color="black", linewidth=0.8)
    for axis in axes:
        axis.legend(fontsize=8, loc="upper center", bbox_to_anchor=(0.5, -0.14))
        axis.grid(alpha=0.3)
    figure.suptitle(
        f"SIMULATED exchange of ghost cells, {' x '.join(map(str, grid))} cells, 3 accelerators a node, slowest rank",
        fontsize=11,
    )
    save(figure, path)


def main():
    parser = argparse.ArgumentParser(
        prog="nested.sh --simulated", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--jobs", type=int, default=len(os.sched_getaffinity(0)), help="simulations at a time (default: cores)"
    )
    parser.add_argument("--quick", action="store_true", help="60 x 40 x 40 cells on 1 and 2 nodes, for a test")
    parser.add_argument("--out", default="results/nested")
    arguments = parser.parse_args()
    grid, nodes = ([60, 40, 40], [1, 2]) if arguments.quick else (nested.GRID_3D, NODES)
    os.makedirs(arguments.out, exist_ok=True)
    found = traces(arguments.out, grid, nodes)
    figure_rows, platform = all_rows(
        found, [(name, links, n) for name, links in LINKS.items() for n in nodes], arguments.jobs
    )
    print(
        f"\nSIMULATED, not measured: {' x '.join(map(str, grid))} cells, 3 accelerators a node; time of an exchange of"
        " ghost cells, slowest rank; MB remote:"
    )
    print(
        "what accelerators get from other nodes and other accelerators. Network 6.36 GB/s, links of accelerators 8 GB/s"
        " and 5 us; alone: 5 times slower."
    )
    print_rows(figure_rows)
    sweep = [
        (f"{key} {value:g}", dict(ALONE, **{key: value}), nodes[-1])
        for key, values in SWEEP.items()
        for value in values
    ]
    sweep_rows, _ = all_rows(found, sweep, arguments.jobs)
    print("\nSIMULATED: accelerators alone, with one assumption changed")
    print_rows(sweep_rows)
    for key in (*TIANHE2, "accelerator_remote_slowdown"):
        platform.pop(key)  # they differ from row to row
    platform["sources"] = [s for s in platform["sources"] if "set to" not in s]
    name = os.path.join(arguments.out, "simulated")
    write_json(
        name + ".json",
        {
            "simulated": True,
            "grid": grid,
            "bytes_per_cell": nested.BYTES_3D,
            "platform": platform,
            "figure_10": figure_rows,
            "sweep": sweep_rows,
        },
    )
    nested.write_csv(name + ".csv", figure_rows + sweep_rows)
    plot(grid, figure_rows, sweep_rows, name + ".png")


if __name__ == "__main__":
    main()

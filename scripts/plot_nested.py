#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Pictures of nested partitions, after figures 5 to 9 of Liu, Yang & Yang (2018): plot_nested.py OUTDIR | SUMMARY
[OPTIONS]

OUTDIR of `steelyard partition`: the grid with the borders between nodes (thick) and resources (thin), shaded by the
number of the node, accelerators in orange; below, one node with its CPUs in two hues and its accelerators. Of a 3D grid
one layer is drawn. Writes OUTDIR/nested.png.

SUMMARY, a summary.json of scripts/reproduce/nested.sh: LBE_m over the number of nodes. Writes lbe.png beside it.
"""
import argparse
import json
import os

import matplotlib
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.collections import LineCollection

ACCELERATORS = ["#e6550d", "#fd8d3c", "#fdae6b", "#d94801", "#f16913", "#a63603"]
CPUS = ["Blues", "Greens", "Purples", "Greys"]
LOADS = {"uniform": "uniform load", "slabs": "slab collision"}
ENVIRONMENTS = {
    "cpus": ("CPUs only", "#08519c", "o"),
    "accelerators": ("3 accelerators a node", "#d94801", "s"),
    "random": ("0 to 3 accelerators a node, worst of the seeds", "#238b45", "^"),
}

matplotlib.use("Agg")


def owners(partition, layer):
    """Owner of each cell [y, x] of one layer."""
    nx, ny, _ = partition["grid"]
    owner = np.full((ny, nx), -1)
    for r in partition["resources"]:
        for x0, y0, z0, x1, y1, z1 in r["boxes"]:
            if z0 <= layer < z1:
                owner[y0:y1, x0:x1] = r["id"]
    return owner


def borders(values, at=(0, 0)):
    """Line segments between cells of different values; runs of them are one line each."""
    segments, (left, low) = [], at
    for axis, pairs in ((0, values[:, 1:] != values[:, :-1]), (1, values[1:, :] != values[:-1, :])):
        lines = pairs.T if axis == 0 else pairs
        for k, line in enumerate(lines):
            edges = np.flatnonzero(np.diff(np.concatenate(([0], line.view(np.int8), [0]))))
            for a, b in zip(edges[::2], edges[1::2]):
                segments.append(
                    [(left + k + 1, low + a), (left + k + 1, low + b)]
                    if axis == 0
                    else [(left + a, low + k + 1), (left + b, low + k + 1)]
                )
    return segments


def whole_colours(resources, nodes):
    """Of each resource: light shades by node for cores, orange for accelerators."""
    shade = plt.get_cmap("YlGnBu")
    return np.array(
        [
            (
                matplotlib.colors.to_rgb("#e6550d")
                if r["kind"] == "accelerator"
                else shade(0.1 + 0.55 * r["node"] / max(1, nodes - 1))[:3]
            )
            for r in resources
        ]
    )


def node_colours(resources, node):
    """Of each resource: the CPUs of the node in hues of their own, others in grey."""
    colours = np.full((len(resources), 3), 0.9)
    accelerators = 0
    own = [r for r in resources if r["node"] == node and r["kind"] != "accelerator"]
    cores = {cpu: [r["id"] for r in own if r["cpu"] == cpu] for cpu in {r["cpu"] for r in own}}
    for r in resources:
        if r["node"] != node:
            continue
        if r["kind"] == "accelerator":
            colours[r["id"]] = matplotlib.colors.to_rgb(ACCELERATORS[accelerators % len(ACCELERATORS)])
            accelerators += 1
        else:
            ids = cores[r["cpu"]]
            place = ids.index(r["id"])
            colours[r["id"]] = plt.get_cmap(CPUS[r["cpu"] % len(CPUS)])(0.3 + 0.4 * (place % 4) / 3)[:3]
    return colours


def draw_partition(arguments):
    with open(os.path.join(arguments.path, "partition.json")) as f:
        partition = json.load(f)
    resources, (nx, ny, nz) = partition["resources"], partition["grid"]
    nodes = 1 + max(r["node"] for r in resources)
    if arguments.node is None:  # the one with most accelerators, in the middle of the list
        count = [sum(r["kind"] == "accelerator" for r in resources if r["node"] == n) for n in range(nodes)]
        arguments.node = min((n for n in range(nodes) if count[n] == max(count)), key=lambda n: abs(n - nodes // 2))
    # Through the middle of its largest box, which is an accelerator's where it has some.
    largest = max(
        (b for r in resources if r["node"] == arguments.node for b in r["boxes"]),
        key=lambda b: np.prod(np.subtract(b[3:], b[:3])),
    )
    layer = arguments.layer if arguments.layer is not None else (largest[2] + largest[5]) // 2
    owner = owners(partition, layer)
    node = np.array([r["node"] for r in resources])[owner]
    ys, xs = np.nonzero(node == arguments.node)
    if len(xs) == 0:
        raise SystemExit(f"plot_nested.py: node {arguments.node} has no cells in this layer")
    # A node may reach across a periodic boundary: its bounding box is what is drawn.
    margin = max(2, (xs.max() - xs.min()) // 20)
    x0, x1, y0, y1 = (
        max(0, xs.min() - margin),
        min(nx, xs.max() + 1 + margin),
        max(0, ys.min() - margin),
        min(ny, ys.max() + 1 + margin),
    )

    # A single node is drawn once; a wide grid above its node, another one beside it.
    wide = nx > 1.6 * ny or nodes == 1
    heights = [12 * ny / nx, min(5.5, 12 * (y1 - y0) / (x1 - x0))][nodes == 1 :]
    shape = (len(heights), 1) if wide else (1, 2)
    figure, axes = plt.subplots(
        *shape,
        figsize=(12, sum(heights) + 0.8 * len(heights)) if wide else (13, 6.2),
        layout="constrained",
        squeeze=False,
        gridspec_kw={"height_ratios": heights} if wide else {},
    )
    axes = axes.flatten()
    algorithm = {"inner_outer": "inner-outer (Algorithm 2)", "greedy": "greedy (Algorithm 1)"}[partition["algorithm"]]
    where = f", layer z = {layer}" if nz > 1 else ""
    title = f"{nodes} node{'s' * (nodes != 1)}, {algorithm}, LBE_m {partition['lbe_model']:.4f}{where}"
    text = f"node {arguments.node}: its CPUs (one hue each) and accelerators (orange)"
    panels = [(axes[0], (0, nx, 0, ny), whole_colours(resources, nodes), title, 0.25, 1.2)] if nodes > 1 else []
    panels += [
        (
            axes[-1],
            (x0, x1, y0, y1),
            node_colours(resources, arguments.node),
            text if nodes > 1 else f"{title}; {text}",
            0.7,
            2.2,
        )
    ]
    for axis, (a, b, c, d), colours, text, thin, thick in panels:
        axis.imshow(
            colours[owner[c:d, a:b]], origin="lower", extent=[a, b, c, d], interpolation="nearest", aspect="equal"
        )
        axis.add_collection(LineCollection(borders(owner[c:d, a:b], (a, c)), colors="#444444", linewidths=thin))
        axis.add_collection(LineCollection(borders(node[c:d, a:b], (a, c)), colors="black", linewidths=thick))
        axis.set(title=text, xlabel="cell in x", ylabel="cell in y", xlim=(a, b), ylim=(c, d))
        axis.title.set_fontsize(10)
    own = [r for r in resources if r["node"] == arguments.node and r["kind"] == "accelerator"]
    for n, r in enumerate(own):
        ys, xs = np.nonzero(owner == r["id"])
        if len(xs):
            axes[-1].text(
                xs.mean() + 0.5, ys.mean() + 0.5, f"A{n}", ha="center", va="center", fontsize=12, weight="bold"
            )
    save(figure, arguments.output or os.path.join(arguments.path, "nested.png"))


def draw_curves(arguments):
    with open(arguments.path) as f:
        cases = json.load(f)["cases"]
    loads = [name for name in LOADS if any(c["load"] == name for c in cases)]
    figure, axes = plt.subplots(
        1, len(loads), figsize=(6.2 * len(loads), 4.4), layout="constrained", sharey=True, squeeze=False
    )
    for axis, load in zip(axes[0], loads):
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
    axes[0][0].set_ylabel("LBE_m")
    low = min(c["lbe_model"] for c in cases)
    axes[0][0].set_ylim(min(0.95, low - 0.01), 1.002)
    axes[0][0].legend(fontsize=8, loc="lower left")
    save(figure, arguments.output or os.path.join(os.path.dirname(arguments.path), "lbe.png"))


def save(figure, path):
    figure.savefig(path, dpi=130)
    print(f"wrote {path}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("path", metavar="OUTDIR | SUMMARY")
    parser.add_argument(
        "--node", type=int, help="that is drawn by itself (default: one in the middle with most accelerators)"
    )
    parser.add_argument(
        "--layer", type=int, help="z of the cells drawn of a 3D grid (default: through the node that is drawn)"
    )
    parser.add_argument("--output", help="picture")
    arguments = parser.parse_args()
    (draw_partition if os.path.isdir(arguments.path) else draw_curves)(arguments)


if __name__ == "__main__":
    main()

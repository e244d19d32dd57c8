# SPDX-License-Identifier: MIT
"""A nested partition, after figures 5 to 8 of Liu, Yang & Yang (2018), by partition.json and fields_0.h5. One picture
shows the load of the cells (the mean of those in a dot) with the borders between nodes. A second shows each node's
speed and load. A third shows one node with its CPUs in hues and its accelerators in orange. In three dimensions a
picture shows one layer of cells."""
import os

from common import fail, read_json
from plotting import LineCollection, View, borders, matplotlib, np, plt, read_fields

from matplotlib.patheffects import withStroke  # after plotting, which looks for a Python that has it

ACCELERATORS = ["#e6550d", "#fd8d3c", "#fdae6b", "#d94801", "#f16913", "#a63603"]
CPUS = ["Blues", "Greens", "Purples", "Greys"]


def node_colours(resources, node):
    """Colours of the resources: the CPUs of the node in hues of their own, those of other nodes in grey."""
    colours = np.full((len(resources), 3), 0.9)
    own = [r for r in resources if r["node"] == node]
    for n, r in enumerate(r for r in own if r["kind"] == "accelerator"):
        colours[r["id"]] = matplotlib.colors.to_rgb(ACCELERATORS[n % len(ACCELERATORS)])
    cores = [r for r in own if r["kind"] != "accelerator"]
    for cpu in {r["cpu"] for r in cores}:
        for n, r in enumerate(r for r in cores if r["cpu"] == cpu):
            colours[r["id"]] = plt.get_cmap(CPUS[cpu % len(CPUS)])(0.3 + 0.4 * (n % 4) / 3)[:3]
    return colours


def chosen_node(resources, nodes):
    """The one with most accelerators, in the middle of the list."""
    count = [sum(r["kind"] == "accelerator" for r in resources if r["node"] == n) for n in range(nodes)]
    return min((n for n in range(nodes) if count[n] == max(count)), key=lambda n: abs(n - nodes // 2))


def whole(axis, partition, view, node, load):
    """The load of all cells, with the borders of nodes."""
    nodes, (ny, nx) = 1 + max(r["node"] for r in partition["resources"]), load.shape
    n = max(1, round(nx / 800))  # a dot of the picture, which a cell's own fluctuations would make grey
    dots = load[: ny // n * n, : nx // n * n].reshape(ny // n, n, nx // n, n).mean(axis=(1, 3)) / load.mean()
    top = np.percentile(dots, 99.9)
    shown = [0, nx // n * n, 0, ny // n * n]
    scale = dict(cmap="magma_r", vmin=0, vmax=top, interpolation="antialiased")
    image = axis.imshow(dots, origin="lower", extent=shown, **scale)
    axis.figure.colorbar(image, ax=axis, shrink=0.9, pad=0.01, label="load of a cell / mean")
    axis.add_collection(LineCollection(borders(node), colors="#1d6fa5", linewidths=1))
    axis.set(**view.labels("cell in {}"), xlim=(0, nx), ylim=(0, ny), aspect="equal")
    nested = {"inner_outer": "inner-outer (Algorithm 2)", "greedy": "greedy (Algorithm 1)"}
    algorithm = nested.get(partition["algorithm"], partition["algorithm"])
    heading = f"{nodes} node{'s' * (nodes != 1)}, {algorithm}, LBE_m {partition['lbe_model']:.4f}"
    axis.set_title(f"{heading}: load of the cells, borders between nodes{view.text}")
    for n in range(nodes if 1 < nodes <= 64 else 0):
        ys, xs = np.nonzero(node == n)
        if len(xs):
            style = dict(ha="center", va="center", fontsize=11, weight="bold")
            number = axis.text(np.median(xs), np.median(ys), str(n), **style)
            number.set(color="#0b3c5d", path_effects=[withStroke(linewidth=3, foreground="white")])


def shares(axis, resources):
    """The part of all speeds and of the load that each node has, or each resource of a single node."""
    what, key = ("resource", "id") if all(r["node"] == 0 for r in resources) else ("node", "node")
    groups = {}
    for r in resources:
        groups.setdefault(r[key], []).append(r)
    bars = (
        ("speed", "of the speeds", "#9ecae1"),
        ("load", "of the load", "#08519c"),
        ("cells", "of the cells", "#cccccc"),
    )
    for place, (column, label, colour) in enumerate(bars):
        values = np.array([sum(r[column] for r in group) for group in groups.values()])
        x = np.arange(len(groups)) + 0.28 * (place - 1)
        axis.bar(x, 100 * values / values.sum(), width=0.28, label=label, color=colour)
    axis.set(xlabel=what, ylabel="part of all, %", xlim=(-0.6, len(groups) - 0.4))
    axis.set_title(f"what each {what} has: balanced where its part of the load is that of the speeds")
    axis.xaxis.set_major_locator(matplotlib.ticker.MaxNLocator(integer=True, nbins=32))
    axis.set_ylim(0, 1.18 * axis.get_ylim()[1])
    axis.legend(loc="upper center", ncols=3)


def one_node(axis, resources, number, window, owner, node, view):
    """A node with its surroundings, and a legend of its parts: their speed and their load, in % of the node's."""
    x0, x1, y0, y1 = window
    colours = node_colours(resources, number)
    axis.imshow(colours[owner[y0:y1, x0:x1]], origin="lower", extent=[x0, x1, y0, y1], interpolation="nearest")
    for values, colour, width in ((owner, "#444444", 0.7), (node, "black", 2.2)):
        lines = borders(values[y0:y1, x0:x1], (x0, y0))
        axis.add_collection(LineCollection(lines, colors=colour, linewidths=width))
    axis.set(**view.labels("cell in {}"), xlim=(x0, x1), ylim=(y0, y1), aspect="equal")
    axis.set_title(f"node {number}{view.text}: cores (thin borders) and accelerators")
    own = [r for r in resources if r["node"] == number]
    whole_load = sum(r["load"] for r in own) or 1
    handles = []
    for cpu in sorted({r["cpu"] for r in own if r["kind"] != "accelerator"}):
        cores = [r for r in own if r["cpu"] == cpu and r["kind"] != "accelerator"]
        speed, load = sum(r["speed"] for r in cores), sum(r["load"] for r in cores) / whole_load
        text = f"CPU {cpu}: {len(cores)} cores, speed {speed:g}, {100 * load:.1f} % of the load"
        handles.append(matplotlib.patches.Patch(color=colours[cores[len(cores) // 2]["id"]], label=text))
    for n, r in enumerate(r for r in own if r["kind"] == "accelerator"):
        text = f"A{n}: accelerator, speed {r['speed']:g}, {100 * r['load'] / whole_load:.1f} % of the load"
        handles.append(matplotlib.patches.Patch(color=colours[r["id"]], label=text))
        ys, xs = np.nonzero(owner == r["id"])
        if len(xs):
            axis.text(xs.mean() + 0.5, ys.mean() + 0.5, f"A{n}", ha="center", va="center", fontsize=12, weight="bold")
    axis.legend(handles=handles, loc="upper left", bbox_to_anchor=(1.01, 1), borderaxespad=0)


def draw(options, outdir):
    advice = "give the directory that `steelyard partition` wrote"
    partition = read_json(os.path.join(outdir, "partition.json"), ("resources", "grid", "algorithm"), advice)
    resources, fields = partition["resources"], os.path.join(outdir, "fields_0.h5")
    nodes = 1 + max(r["node"] for r in resources)
    number = options.node if options.node is not None else chosen_node(resources, nodes)
    if not 0 <= number < nodes:
        fail(f"there is no node {number}; there are {nodes}")
    # Through the middle of its largest box, which is an accelerator's where it has some.
    boxes = [b for r in resources if r["node"] == number for b in r["boxes"]]
    largest = max(boxes, key=lambda b: np.prod(np.subtract(b[3:], b[:3])))
    view = View(options, read_fields(fields)[0]["cells"], layer=(largest[2] + largest[5]) // 2)
    _, (load, owner) = read_fields(fields, "load", "owner", pick=view)
    ny, nx = owner.shape
    node = np.array([r["node"] for r in resources])[owner]
    ys, xs = np.nonzero(node == number)
    if len(xs) == 0:
        fail(f"node {number} has no cells there{view.text}; choose another --slice")
    # A node may reach across a periodic boundary: its bounding box is what is drawn.
    margin = max(2, (xs.max() - xs.min()) // 20)
    x0, x1 = max(0, xs.min() - margin), min(nx, xs.max() + 1 + margin)
    y0, y1 = max(0, ys.min() - margin), min(ny, ys.max() + 1 + margin)

    heights = [min(6, 12 * ny / nx) + 0.6, 2.3, min(5.5, 9 * (y1 - y0) / (x1 - x0)) + 0.6]
    layout = dict(layout="constrained", gridspec_kw={"height_ratios": heights})
    figure, axes = plt.subplots(3, 1, figsize=(13, sum(heights)), **layout)
    whole(axes[0], partition, view, node, load)
    shares(axes[1], resources)
    one_node(axes[2], resources, number, (x0, x1, y0, y1), owner, node, view)
    return figure

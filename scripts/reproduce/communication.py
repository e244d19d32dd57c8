# SPDX-License-Identifier: MIT
"""The exchange of ghost cells of accelerators, for nested.py: a model of its links, and the simulation of it.

The model: an accelerator gets ghost cells from the cores of its node over its own link. Those from another accelerator
of the node pass both links, one after the other through the host. Those from another node pass the network, its own
link, and the link of the accelerator that owns them, if one does. The network port is shared by all that a node gets
from others. The slowest node counts. Latencies are left out, because messages of this size are long.

The simulation: each core and each accelerator is a rank. An accelerator is a host of its own behind a link
(scripts/simulate/platform.py, tianhe2_mic). replay_messages exchanges the ghost cells, with one message for each pair
of ranks that need them. The slowest rank counts.
"""
import concurrent.futures
import functools
import os
import subprocess
import tempfile

from common import call, read_json, write_csv
from plotting import np, plt, save
from studies import table

ALGORITHMS = {"greedy": "Algorithm 1", "inner_outer": "Algorithm 2"}
BYTES = 48  # of a cell: six components of the field in FDTD, 8 bytes each
# GB/s in one direction. Links of PCI Express by its specifications (payload rate of 16 lanes).
LINKS = [
    # TH Express-2: 6.36 GB/s by MPI (J. Dongarra, Visit to the National University for Defense Technology, Changsha,
    # 2013). MICs through the host, as a proxy there sends it on.
    dict(links="PCIe 2.0, TH Express-2, via the host", link=8.0, network=6.36, direct=1),
    # Without such a proxy, a MIC reaches other nodes with a fifth of that bandwidth (Potluri et al., MVAPICH-PRISM,
    # SC13: up to five times the bandwidth between MICs of different nodes by a proxy). This is the way that the paper
    # means to avoid.
    dict(links="PCIe 2.0, TH Express-2, MICs by themselves", link=8.0, network=6.36, direct=5),
    dict(links="PCIe 3.0, 100 Gbit/s", link=15.75, network=12.5, direct=1),  # InfiniBand EDR
    dict(links="PCIe 4.0, 200 Gbit/s", link=31.5, network=25.0, direct=1),  # HDR
    dict(links="PCIe 5.0, 400 Gbit/s", link=63.0, network=50.0, direct=1),  # NDR
    # NVIDIA: 900 GB/s in both directions together
    dict(links="NVLink-C2C, 400 Gbit/s", link=450.0, network=50.0, direct=1),
]
# Assumptions about the simulated platform for figure 10, by name. The sweep replaces some of "alone", which is
# Tianhe-2 as the paper sees it.
PLATFORM, RANKS_PER_NODE = "tianhe2_mic", 27
TIANHE2 = dict(link_bytes_per_second=6.36e9, accelerator_link_bytes_per_second=8e9, accelerator_latency_seconds=5e-6)
WAYS = {
    "the host forwards": dict(TIANHE2, accelerator_remote_slowdown=1),
    "accelerators alone": dict(TIANHE2, accelerator_remote_slowdown=5),
}
ALONE = WAYS["accelerators alone"]
SLOWER = "how many times slower than the network an accelerator is by itself: 1, 2, 3, 5, 10"
FIFTH = "network (an accelerator by itself has a fifth of it): 6.36, 12.5, 25, 50 GB/s"
SWEEP = {  # values, and the label of their curve
    "accelerator_remote_slowdown": ([1, 2, 3, 5, 10], SLOWER),
    "accelerator_latency_seconds": ([1e-6, 5e-6, 20e-6, 100e-6], "latency of its link: 1, 5, 20, 100 us"),
    "accelerator_link_bytes_per_second": ([2e9, 4e9, 8e9, 15.75e9], "its link: 2, 4, 8, 15.75 GB/s"),
    "link_bytes_per_second": ([6.36e9, 12.5e9, 25e9, 50e9], FIFTH),
}


def images(partition):
    """Offsets of the periodic images of the grid."""
    steps = [(-n, 0, n) if wraps else (0,) for n, wraps in zip(partition["grid"], partition["periodic"])]
    return [np.array([x, y, z]) for x in steps[0] for y in steps[1] for z in steps[2]]


def ghosts_from_each(partition):
    """Ghost cells that each resource gets from each other: a matrix. Each box of a resource has ghost cells of its
    own."""
    boxes = np.array([box for r in partition["resources"] for box in r["boxes"]])
    owner = np.array([r["id"] for r in partition["resources"] for _ in r["boxes"]])
    width = np.array([partition["ghost_width"] if n > 1 else 0 for n in partition["grid"]])
    matrix = np.zeros((len(partition["resources"]),) * 2, dtype=np.int64)
    for box, mine in zip(boxes, owner):
        for offset in images(partition):
            upper, lower = np.minimum(box[3:] + width, boxes[:, 3:] + offset), boxes[:, :3] + offset
            shared = upper - np.maximum(box[:3] - width, lower)
            np.add.at(matrix[mine], owner, np.prod(np.maximum(shared, 0), axis=1))
    np.fill_diagonal(matrix, 0)
    return matrix


def modelled(partition):
    """For each kind of links: bytes and seconds of one exchange."""
    resources = partition["resources"]
    node, fast = np.array([r["node"] for r in resources]), np.array([r["kind"] == "accelerator" for r in resources])
    ghosts = ghosts_from_each(partition) * BYTES
    outside = node[:, None] != node[None, :]
    # Bytes that each resource gets, by their origin.
    local, beside = (ghosts * (~outside & ~fast)).sum(1), (ghosts * (~outside & fast)).sum(1)
    afar, afar_fast = (ghosts * (outside & ~fast)).sum(1), (ghosts * (outside & fast)).sum(1)
    remote, network_bytes = (beside + afar + afar_fast) * fast, afar + afar_fast
    found = []
    for speeds in LINKS:
        link, network = speeds["link"] * 1e9, speeds["network"] * 1e9
        of_link = (local + 2 * beside + afar + 2 * afar_fast) / link
        # Accelerators alone: each by itself, with the network port to itself.
        wait = of_link + network_bytes / (network / speeds["direct"])
        # All: the bytes that a node gets pass its port one after the other, slower where an accelerator is at either
        # end and is its own proxy.
        slow = np.where(fast, network_bytes, afar_fast) * (speeds["direct"] - 1)
        port = np.bincount(node, (network_bytes + slow) / network)
        links = np.zeros(len(port))
        np.maximum.at(links, node[fast], of_link[fast])
        times = dict(accelerator_seconds=float(wait[fast].max()), seconds=float((port + links).max()))
        sizes = dict(local_bytes=int((local * fast).sum()), remote_bytes=int(remote.sum()))
        found.append(dict(links=speeds["links"], **sizes, **times))
    return found


def write_trace(partition, path):
    """The bytes that resources get from each other, as a trace of messages."""
    sizes = ghosts_from_each(partition) * BYTES  # [to, from]
    node = [r["node"] for r in partition["resources"]]
    pairs = [(source, target) for source in range(len(node)) for target in sizes[:, source].nonzero()[0]]
    columns = ("plan", "kind", "step", "source", "target", "bytes", "source_node", "target_node")
    rows = [(0, "ghosts", 0, a, b, sizes[b, a], node[a], node[b]) for a, b in pairs]
    write_csv(path, [dict(zip(columns, row)) for row in rows])


@functools.lru_cache(maxsize=None)  # the sweep repeats some of figure 10
def simulate(trace, ranks, settings):
    """Seconds of an exchange, and what the platform assumes. settings: of the platform, as simulate.sh takes them."""
    with tempfile.NamedTemporaryFile("r", suffix=".json") as results:
        schedule = "--order plain --aggregate none --overlap links".split()
        command = ["scripts/simulate.sh", ranks, trace, *schedule, "--json", results.name]
        platform = dict(PLATFORM=PLATFORM, PLATFORM_SET=settings, PROGRAM="replay_messages")
        call(command, environment=platform, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        result = read_json(results.name)
    return result["cases"][0]["seconds"], result["platform"]


def simulated(partitions, folder, jobs):
    """Rows of figure 10, rows of the sweep on the most nodes, and the platform without what differs between rows.

    partitions: by number of nodes and algorithm.  folder: for their traces.  jobs: simulations at a time.
    """
    traces, held = {}, {}
    for (n, algorithm), p in partitions.items():
        assert len(p["resources"]) == RANKS_PER_NODE * n
        path = traces[n, algorithm] = os.path.join(folder, f"3d_{n}_{algorithm}.csv")
        write_trace(p, path)
        remote = BYTES * sum(r["remote_cells"] for r in p["resources"] if r["kind"] == "accelerator")
        between = p["bytes"]["between_nodes"]
        held[n, algorithm] = dict(lbe_model=p["lbe_model"], remote_bytes=remote, bytes_between_nodes=between)

    def row(case):
        (name, platform, n), algorithm = case
        settings = " ".join(f"{key}={value:g}" for key, value in platform.items())
        seconds, assumed = simulate(traces[n, algorithm], RANKS_PER_NODE * n, settings)
        return dict(case=name, nodes=n, algorithm=algorithm, seconds=seconds, **platform, **held[n, algorithm]), assumed

    nodes = sorted({n for n, _ in partitions})
    figure = [(name, platform, n) for name, platform in WAYS.items() for n in nodes]
    sweep = [(f"{key} {x:g}", dict(ALONE, **{key: x}), nodes[-1]) for key, (values, _) in SWEEP.items() for x in values]
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        done = list(pool.map(row, [(case, algorithm) for case in figure + sweep for algorithm in ALGORITHMS]))
    rows = [r for r, _ in done]
    platform = {key: value for key, value in done[0][1].items() if key not in ALONE}
    platform["sources"] = [s for s in platform["sources"] if "set to" not in s]
    return rows[: 2 * len(figure)], rows[2 * len(figure) :], platform


def pairs(rows, *keys):
    """Rows of Algorithm 1, each with that of Algorithm 2 where these keys are the same."""
    two = {tuple(r[k] for k in keys): r for r in rows if r["algorithm"] == "inner_outer"}
    return [(one, two[tuple(one[k] for k in keys)]) for one in rows if one["algorithm"] == "greedy"]


def saved(one, two, key="seconds"):
    """The part of a time that Algorithm 2 saves."""
    return 1 - two[key] / one[key]


def say_modelled(rows):
    """Prints the rows of all kinds of links; returns the parts of the times that Algorithm 2 saves."""
    columns = ("links", "<44"), ("nodes", "6"), ("MB remote 1", "13.2f"), ("2", "8.2f")
    alone, together = (("ms accel. 1", "13.3f"), ("2", "8.3f"), ("saved", "8.0%")), (("ms all 1", "11.3f"),)
    row, savings = table(*columns, *alone, *together, *alone[1:]), []
    for one, two in pairs(rows, "nodes", "links"):
        part = dict(accelerator_seconds=saved(one, two, "accelerator_seconds"), seconds=saved(one, two))
        names = dict(nodes=one["nodes"], links=one["links"])
        savings.append(dict(names, saved_accelerator_time=part["accelerator_seconds"], saved_time=part["seconds"]))
        times = (value for key in part for value in (one[key] * 1e3, two[key] * 1e3, part[key]))
        row(one["links"], one["nodes"], one["remote_bytes"] * 1e-6, two["remote_bytes"] * 1e-6, *times)
    return savings


def say_simulated(rows):
    sizes = ("MB remote 1", "13.1f"), ("2", "7.1f")
    row = table(("links", "<52"), ("nodes", "6"), *sizes, ("ms 1", "9.3f"), ("2", "9.3f"), ("saved", "8.0%"))
    for one, two in pairs(rows, "case", "nodes"):
        values = (r[key] * unit for key, unit in (("remote_bytes", 1e-6), ("seconds", 1e3)) for r in (one, two))
        row(one["case"], one["nodes"], *values, saved(one, two))


def scale_of(axis, values):
    """A logarithmic horizontal axis with these values alone."""
    axis.set(xscale="log")
    axis.set_xticks(values, [str(v) for v in values])
    axis.minorticks_off()
    axis.grid()


def over_nodes(axis, rows, key, label, **style):
    """Draws milliseconds over the number of nodes."""
    xs = [r["nodes"] for r in rows]
    axis.plot(xs, [1e3 * r[key] for r in rows], marker="o", markersize=4, label=label, **style)
    axis.set(ylim=(0, None))
    scale_of(axis, sorted(set(xs)))


def plot_modelled(rows, path):
    kinds = list(dict.fromkeys(r["links"] for r in rows))
    figure, axes = plt.subplots(2, (len(kinds) + 1) // 2, figsize=(13, 7.2), layout="constrained", sharex=True)
    for axis, kind in zip(axes.flat, kinds):
        for (algorithm, label), colour in zip(ALGORITHMS.items(), ("#d94801", "#08519c")):
            of_kind = [r for r in rows if (r["links"], r["algorithm"]) == (kind, algorithm)]
            over_nodes(axis, of_kind, "accelerator_seconds", f"{label}, accelerators", color=colour)
            over_nodes(axis, of_kind, "seconds", f"{label}, with the CPUs' traffic", color=colour, linestyle=":")
        axis.set_title(kind)
    for axis in axes[:, 0]:
        axis.set_ylabel("modelled ms per exchange")
    for axis in axes[-1]:
        axis.set_xlabel("nodes")
    axes[0][0].legend()
    figure.suptitle("Modelled time of an exchange of ghost cells, slowest node")
    save(figure, path)


def plot_simulated(grid, figure_rows, sweep_rows, path):
    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 5), layout="constrained")
    # Lines of Algorithm 2 lie upon each other.
    for way, colour, width in zip(WAYS, ("#08519c", "#d94801"), (3.5, 1.5)):
        for (algorithm, label), style in zip(ALGORITHMS.items(), ("-", "--")):
            rows = [r for r in figure_rows if (r["case"], r["algorithm"]) == (way, algorithm)]
            over_nodes(left, rows, "seconds", f"{label}, {way}", color=colour, linestyle=style, linewidth=width)
    left.set(xlabel="nodes", ylabel="simulated ms per exchange")
    for (key, (_, label)), marker in zip(SWEEP.items(), "os^D"):
        of_key = [r for r in sweep_rows if r["case"].startswith(key + " ")]
        points = sorted((one[key] / ALONE[key], 100 * saved(one, two)) for one, two in pairs(of_key, "case"))
        right.plot(*zip(*points), marker=marker, markersize=5, label=label)
    right.set(xlabel='value / that of "accelerators alone" on the left')
    right.set_ylabel(f"% of the time saved by Algorithm 2, {sweep_rows[0]['nodes']} nodes")
    scale_of(right, [0.2, 0.5, 1, 2, 5, 10, 20])
    right.axhline(0, color="black", linewidth=0.8)
    for axis in (left, right):
        axis.legend(loc="upper center", bbox_to_anchor=(0.5, -0.14))
    cells = " x ".join(map(str, grid))
    title = f"SIMULATED exchange of ghost cells, {cells} cells, 3 accelerators a node, slowest rank"
    figure.suptitle(title)
    save(figure, path)

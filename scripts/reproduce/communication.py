# SPDX-License-Identifier: MIT
"""A model of what accelerators wait for when ghost cells are exchanged, for nested.py. Times are modelled, not
measured.

An accelerator gets its ghost cells from the cores of its node over its own link; from another accelerator of the node
over both links, one after the other through the host; from another node over the network and its own link, and the
other accelerator's link where one owns them. The network port is shared by all that a node gets from others. The
slowest node counts. Latencies are left out: messages of this size are long.
"""
import os
import sys

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir))
from plotting import np, plt, save  # noqa: E402

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
    dict(
        links="NVLink-C2C, 400 Gbit/s", link=450.0, network=50.0, direct=1
    ),  # NVIDIA: 900 GB/s in both directions together
]


def images(partition):
    """Offsets of the periodic images of the grid."""
    steps = [(-n, 0, n) if wraps else (0,) for n, wraps in zip(partition["grid"], partition["periodic"])]
    return [np.array([x, y, z]) for x in steps[0] for y in steps[1] for z in steps[2]]


def ghosts_from_each(partition):
    """Ghost cells that each resource gets from each other: a matrix. Of a resource with several boxes, those of each
    box."""
    boxes = np.array([box for r in partition["resources"] for box in r["boxes"]])
    owner = np.array([r["id"] for r in partition["resources"] for _ in r["boxes"]])
    width = np.array([partition["ghost_width"] if n > 1 else 0 for n in partition["grid"]])
    matrix = np.zeros((len(partition["resources"]),) * 2, dtype=np.int64)
    for box, mine in zip(boxes, owner):
        for offset in images(partition):
            shared = np.minimum(box[3:] + width, boxes[:, 3:] + offset) - np.maximum(
                box[:3] - width, boxes[:, :3] + offset
            )
            np.add.at(matrix[mine], owner, np.prod(np.maximum(shared, 0), axis=1))
    np.fill_diagonal(matrix, 0)
    return matrix


def rows(partition, bytes_per_cell):
    """For each kind of links: bytes and seconds of one exchange."""
    resources = partition["resources"]
    node, fast = np.array([r["node"] for r in resources]), np.array([r["kind"] == "accelerator" for r in resources])
    ghosts = ghosts_from_each(partition) * bytes_per_cell
    outside = node[:, None] != node[None, :]
    # Of each resource: bytes by where they come from.
    local, beside = (ghosts * (~outside & ~fast)).sum(1), (ghosts * (~outside & fast)).sum(1)
    afar, afar_fast = (ghosts * (outside & ~fast)).sum(1), (ghosts * (outside & fast)).sum(1)
    to_fast = (ghosts * (outside & fast)).sum(1) * ~fast  # cores that get them from accelerators of other nodes
    remote = (beside + afar + afar_fast) * fast
    found = []
    for speeds in LINKS:
        link, network = speeds["link"] * 1e9, speeds["network"] * 1e9 / speeds["direct"]
        # Accelerators alone: each by itself, with the network port to itself.
        wait = (local + 2 * beside + afar + 2 * afar_fast) / link + (afar + afar_fast) / network
        # All: what a node gets passes its port one after the other, slower where an accelerator is at either end and is
        # its own proxy.
        slow = ((afar + afar_fast) * fast + to_fast) * (speeds["direct"] - 1)
        port = np.bincount(node, (afar + afar_fast + slow) / (speeds["network"] * 1e9))
        links = np.array(
            [
                max((((local + 2 * beside + afar + 2 * afar_fast) / link)[(node == n) & fast]), default=0)
                for n in range(node.max() + 1)
            ]
        )
        found.append(
            dict(
                links=speeds["links"],
                local_bytes=int((local * fast).sum()),
                remote_bytes=int(remote.sum()),
                accelerator_seconds=float(wait[fast].max()),
                seconds=float((port + links).max()),
            )
        )
    return found


def plot(rows, path):
    kinds = list(dict.fromkeys(r["links"] for r in rows))
    figure, axes = plt.subplots(2, (len(kinds) + 1) // 2, figsize=(13, 7.2), layout="constrained", sharex=True)
    for axis, kind in zip(axes.flat, kinds):
        for algorithm, label, colour in (
            ("greedy", "Algorithm 1", "#d94801"),
            ("inner_outer", "Algorithm 2", "#08519c"),
        ):
            of_kind = [r for r in rows if (r["links"], r["algorithm"]) == (kind, algorithm)]
            for key, style, what in (
                ("accelerator_seconds", "-", "accelerators"),
                ("seconds", ":", "with the CPUs' traffic"),
            ):
                axis.plot(
                    [r["nodes"] for r in of_kind],
                    [1e3 * r[key] for r in of_kind],
                    style,
                    marker="o",
                    markersize=4,
                    color=colour,
                    label=f"{label}, {what}",
                )
        axis.set(title=kind, xscale="log", ylim=(0, None))
        axis.title.set_fontsize(10)
        axis.set_xticks(sorted({r["nodes"] for r in rows}), [str(n) for n in sorted({r["nodes"] for r in rows})])
        axis.minorticks_off()
        axis.grid(alpha=0.3)
    for axis in axes[:, 0]:
        axis.set_ylabel("modelled ms per exchange")
    for axis in axes[-1]:
        axis.set_xlabel("nodes")
    axes[0][0].legend(fontsize=8)
    figure.suptitle("Modelled time of an exchange of ghost cells, slowest node", fontsize=11)
    save(figure, path)

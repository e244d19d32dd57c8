#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""platform.py NAME RANKS FOLDER [KEY=VALUE ...]: writes platform.xml and hosts for SimGrid, and assumptions.json, into
FOLDER.

Everything that is assumed of a simulated cluster stands here, with where it comes from. KEY=VALUE replaces a number of
it.
"""
import json
import math
import sys

# Ranks on consecutive nodes of a fat tree with full bandwidth between its halves; one core a rank. Where a node has
# accelerators, each is a host of its own, and the last ranks of a node are on them.
PLATFORMS = {
    "tianhe1a": {
        "nodes": 400,
        "ranks_per_node": 6,
        "nodes_per_switch": 16,
        "link_bytes_per_second": 6.34e9,
        "latency_seconds": 1.57e-6,
        "sources": [
            "400 nodes of 6 processes: Liu et al. 2015",
            "6.34 GB/s one way, between MPI processes: Xie et al., IEEE Micro 32(1), 2012",
            "1.57 us from process to process: assumed",
        ],
    },
    "tianhe2_16": {"nodes": 16},
    "tianhe2_32": {"nodes": 32},
}
for name in ("tianhe2_16", "tianhe2_32"):
    PLATFORMS[name].update(
        {
            "ranks_per_node": 24,
            "nodes_per_switch": 8,
            "link_bytes_per_second": 8e9,
            "latency_seconds": 1.57e-6,
            "sources": [
                "2 x 12 cores a node, 16 GB/s a link in both directions together, fat tree: Peng et al.",
                "latency: that of Tianhe-1A, assumed",
            ],
        }
    )
PLATFORMS["tianhe2_mic"] = {
    **PLATFORMS["tianhe2_32"],
    "ranks_per_node": 27,
    "accelerators_per_node": 3,
    "accelerator_link_bytes_per_second": 8e9,
    "accelerator_latency_seconds": 5e-6,
    # By what factor messages to and from other nodes and other accelerators are slower than the network; 1: the host
    # forwards them.
    "accelerator_remote_slowdown": 1,
    "sources": PLATFORMS["tianhe2_32"]["sources"]
    + [
        "3 accelerators a node: Liu, Yang & Yang 2018",
        "8 GB/s one way between an accelerator and its host: PCI Express 2.0, 16 lanes",
        "5 us from a process on an accelerator to one on its host: assumed",
        "a process on an accelerator handles a message as fast as one on a core: assumed",
    ],
}
# Of every platform. Measured by scripts/bench/message_costs.py on 2 ranks of a 2-core x86-64 machine (MPICH 4.0.2,
# shared memory):
MESSAGE_SECONDS = (
    0.43e-6  # of the sender's core for each nonblocking message, the receiver's part included; 0.34 to 0.48 were seen
)
COPY_BYTES_PER_SECOND = (
    6.8e9  # of the sender's core that copies a message into buffers of MPI and out of them; 6.3 to 8.6 GB/s were seen
)
COSTS_SOURCE = "a message and its copies: measured on 2 ranks of a 2-core x86-64 machine, MPICH 4.0.2, shared memory"
# Assumed, in the range of common MPI libraries:
EAGER_BYTES = 65536  # messages of this size and more are not copied
NODE_BYTES_PER_SECOND = 5e9  # between two ranks of a node
NODE_LATENCY_SECONDS = 0.4e-6  # between two ranks of a node
# SimGrid takes events within so long as one. Where thousands of ranks send at once it saves most of SimGrid's time to
# take more (docs/simulation.md).
for p in PLATFORMS.values():
    p["simultaneous_seconds"] = 1e-9
OPERATIONS_PER_SECOND = 1e9  # what comm/simulated/job.cpp reckons with: a unit, no property of a machine


def cluster(name, p):
    """A fat tree whose leaves are nodes without accelerators, by SimGrid's own generator."""
    per_switch = p["nodes_per_switch"]
    return f"""  <cluster id="{name}" prefix="node" suffix="" radical="0-{p['nodes'] - 1}"
           speed="{OPERATIONS_PER_SECOND:.0f}f"
           core="{p['ranks_per_node']}" bw="{p['link_bytes_per_second']:.0f}Bps" lat="{link_latency(p):.4g}s"
           loopback_bw="{NODE_BYTES_PER_SECOND:.0f}Bps" loopback_lat="{NODE_LATENCY_SECONDS:.4g}s"
           topology="FAT_TREE" topo_parameters="2;{per_switch},{switches(p)};1,{per_switch};1,1"
           sharing_policy="SPLITDUPLEX"/>
"""


def switches(p):
    return p["nodes"] // p["nodes_per_switch"]


def link_latency(p):
    return p["latency_seconds"] / 4  # node - switch - root - switch - node


def link(name, bandwidth, latency, policy="SPLITDUPLEX"):
    return f'<link id="{name}" bandwidth="{bandwidth:.0f}Bps" latency="{latency:.4g}s" sharing_policy="{policy}"/>\n'


def fat_tree(p, nodes):
    """The first nodes of the same tree as cluster(), which cannot have accelerators: hosts, links, and a route for each
    pair of hosts. Accelerators reach the cores of their node over their own link, and all other hosts over it, too.
    If the host does not forward their messages, these also pass a slow link of the accelerator."""
    width, accelerators = p["nodes_per_switch"], p["accelerators_per_node"]
    slow = p["accelerator_remote_slowdown"] > 1
    hosts = [(n, m) for n in range(nodes) for m in range(-1, accelerators)]  # -1: the cores
    text = '<zone id="tree" routing="Full">\n'
    for n, m in hosts:
        text += (
            f'<host id="{host_name(n, m)}" speed="{OPERATIONS_PER_SECOND:.0f}f"'
            f' core="{p["ranks_per_node"] - accelerators if m < 0 else 1}"/>\n'
        )
        if m < 0:
            text += link(f"node{n}", p["link_bytes_per_second"], link_latency(p))
            text += link(f"node{n}_inside", NODE_BYTES_PER_SECOND, NODE_LATENCY_SECONDS, "FATPIPE")
        else:
            text += link(host_name(n, m), p["accelerator_link_bytes_per_second"], p["accelerator_latency_seconds"])
            if slow:
                text += link(
                    f"{host_name(n, m)}_remote", p["link_bytes_per_second"] / p["accelerator_remote_slowdown"], 0
                )
    for s in range(switches(p)):
        text += "".join(link(f"switch{s}_root{r}", p["link_bytes_per_second"], link_latency(p)) for r in range(width))

    def between(a, b):
        """From one node to another: from switch to switch over the root switch that the target's number says."""
        above = [(f"switch{a // width}_root{b % width}", "UP"), (f"switch{b // width}_root{b % width}", "DOWN")]
        return [(f"node{a}", "UP"), *(above if a // width != b // width else []), (f"node{b}", "DOWN")]

    def own(n, m, direction, local):
        """The links of a host itself, in the order of leaving; there are none of the cores."""
        links = [] if m < 0 else [host_name(n, m)] + [f"{host_name(n, m)}_remote"] * (slow and not local)
        return [(name, direction) for name in links]

    for a, m in hosts:
        for b, k in hosts:
            local = a == b and min(m, k) < 0
            links = own(a, m, "UP", local) + (between(a, b) if a != b else []) + own(b, k, "DOWN", local)[::-1]
            if (a, m) != (b, k) or m < 0:
                text += route(host_name(a, m), host_name(b, k), links or [(f"node{a}_inside", None)])
    return text + "</zone>\n"


def route(source, target, links):
    """In one direction; links are (name, "UP" or "DOWN"), or (name, None) where they have no direction."""
    inside = "".join(f'<link_ctn id="{name}"' + (f' direction="{d}"' if d else "") + "/>" for name, d in links)
    return f'<route src="{source}" dst="{target}" symmetrical="NO">{inside}</route>\n'


def host_name(node, accelerator):
    return f"node{node}" if accelerator < 0 else f"node{node}_mic{accelerator}"


def host_of(rank, p):
    node, place = divmod(rank, p["ranks_per_node"])
    return host_name(node, max(-1, place - (p["ranks_per_node"] - p.get("accelerators_per_node", 0))))


def changed(p, name, settings):
    """The platform with some of its numbers replaced."""
    p = dict(p)
    for setting in settings:
        key, _, value = setting.partition("=")
        known = [k for k in p if k == "nodes" or k.endswith(("_seconds", "_per_second", "_slowdown"))]
        if key not in known:
            sys.exit(f"platform.py: {setting}: {name} has no number {key}; there are {', '.join(known)}")
        try:
            number = float(value)
        except ValueError:
            number = math.nan
        if not (math.isfinite(number) and number > 0 and (number >= 1 or not key.endswith("_slowdown"))):
            sys.exit(f"platform.py: {setting}: give a number > 0, of a slowdown one >= 1")
        if key == "nodes":
            each = p["nodes_per_switch"]
            if number % each != 0:
                sys.exit(f"platform.py: {setting}: a switch has {each} nodes; give a multiple of that")
            number = int(number)
        p[key] = number
        p["sources"] = p["sources"] + [f"{key}: set to {number:g}"]
    return p


def main():
    name, ranks, folder, settings = sys.argv[1], int(sys.argv[2]), sys.argv[3], sys.argv[4:]
    if name not in PLATFORMS:
        sys.exit(f"platform.py: no platform {name}; there are {', '.join(PLATFORMS)}")
    p = changed(PLATFORMS[name], name, settings)
    most = p["nodes"] * p["ranks_per_node"]
    if not 0 < ranks <= most:
        sys.exit(
            f"platform.py: {name} has {most} cores{' and accelerators' if 'accelerators_per_node' in p else ''};"
            f" {ranks} ranks do not fit"
        )
    host_nodes = math.ceil(ranks / p["ranks_per_node"])
    with open(f"{folder}/platform.xml", "w") as f:
        f.write(
            f"""<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
{fat_tree(p, host_nodes) if "accelerators_per_node" in p else cluster(name, p)}</platform>
"""
        )
    with open(f"{folder}/hosts", "w") as f:
        f.writelines(host_of(r, p) + "\n" for r in range(ranks))
    with open(f"{folder}/assumptions.json", "w") as f:
        json.dump(
            {
                "platform": name,
                **p,
                "sources": p["sources"] + [COSTS_SOURCE],
                "message_seconds": MESSAGE_SECONDS,
                "copy_bytes_per_second": COPY_BYTES_PER_SECOND,
                "eager_bytes": EAGER_BYTES,
                "node_bytes_per_second": NODE_BYTES_PER_SECOND,
                "node_latency_seconds": NODE_LATENCY_SECONDS,
            },
            f,
        )
    cost = f"0:{MESSAGE_SECONDS:.4g}:{1 / COPY_BYTES_PER_SECOND:.4g};{EAGER_BYTES}:{MESSAGE_SECONDS:.4g}:0"
    with open(f"{folder}/options", "w") as f:
        f.write(f"--cfg=smpi/ois:{cost}\n")  # of MPI_Isend: from so many bytes on, constant, per byte
        f.write(f"--cfg=surf/precision:{p['simultaneous_seconds']:.4g}\n")


if __name__ == "__main__":
    main()

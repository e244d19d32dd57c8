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
TIANHE2 = {
    "ranks_per_node": 24,
    "nodes_per_switch": 8,
    "link_bytes_per_second": 8e9,
    "latency_seconds": 1.57e-6,
    "sources": [
        "2 x 12 cores a node, 16 GB/s a link in both directions together, fat tree: Peng et al.",
        "latency: that of Tianhe-1A, assumed",
    ],
}
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
    "tianhe2_16": {"nodes": 16, **TIANHE2},
    "tianhe2_32": {"nodes": 32, **TIANHE2},
    "tianhe2_mic": {
        **{"nodes": 32, **TIANHE2, "ranks_per_node": 27},
        "accelerators_per_node": 3,
        "accelerator_link_bytes_per_second": 8e9,
        "accelerator_latency_seconds": 5e-6,
        # By what factor messages to and from other nodes and other accelerators are slower than the network; 1: the
        # host forwards them.
        "accelerator_remote_slowdown": 1,
        "sources": TIANHE2["sources"]
        + [
            "3 accelerators a node: Liu, Yang & Yang 2018",
            "8 GB/s one way between an accelerator and its host: PCI Express 2.0, 16 lanes",
            "5 us from a process on an accelerator to one on its host: assumed",
            "a process on an accelerator handles a message as fast as one on a core: assumed",
        ],
    },
}
# SimGrid takes events within so long as one. Where thousands of ranks send at once it saves most of SimGrid's time to
# take more (docs/simulation.md).
for p in PLATFORMS.values():
    p["simultaneous_seconds"] = 1e-9
# Of every platform. The first two were measured by scripts/bench/message_costs.py on 2 ranks of a 2-core x86-64 machine
# (MPICH 4.0.2, shared memory). The others are assumed, in the range of common MPI libraries.
COSTS = {
    # Of the sender's core for each nonblocking message, the receiver's part included; 0.34 to 0.48 us were seen.
    "message_seconds": 0.43e-6,
    # Of the sender's core that copies a message into buffers of MPI and out of them; 6.3 to 8.6 GB/s were seen.
    "copy_bytes_per_second": 6.8e9,
    "eager_bytes": 65536,  # messages of this size and more are not copied
    "node_bytes_per_second": 5e9,  # between two ranks of a node
    "node_latency_seconds": 0.4e-6,  # between two ranks of a node
}
COSTS_SOURCE = "a message and its copies: measured on 2 ranks of a 2-core x86-64 machine, MPICH 4.0.2, shared memory"
OPERATIONS_PER_SECOND = 1e9  # what comm/simulated/job.cpp reckons with: a unit, no property of a machine


def cluster(name, p):
    """A fat tree whose leaves are nodes without accelerators, by SimGrid's own generator."""
    per_switch = p["nodes_per_switch"]
    return f"""  <cluster id="{name}" prefix="node" suffix="" radical="0-{p['nodes'] - 1}"
           speed="{OPERATIONS_PER_SECOND:.0f}f"
           core="{p['ranks_per_node']}" bw="{p['link_bytes_per_second']:.0f}Bps" lat="{link_latency(p):.4g}s"
           loopback_bw="{COSTS['node_bytes_per_second']:.0f}Bps" loopback_lat="{COSTS['node_latency_seconds']:.4g}s"
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
        cores = p["ranks_per_node"] - accelerators if m < 0 else 1
        text += f'<host id="{host_name(n, m)}" speed="{OPERATIONS_PER_SECOND:.0f}f" core="{cores}"/>\n'
        if m < 0:
            text += link(f"node{n}", p["link_bytes_per_second"], link_latency(p))
            text += link(f"node{n}_inside", COSTS["node_bytes_per_second"], COSTS["node_latency_seconds"], "FATPIPE")
        else:
            text += link(host_name(n, m), p["accelerator_link_bytes_per_second"], p["accelerator_latency_seconds"])
            if slow:
                remote = p["link_bytes_per_second"] / p["accelerator_remote_slowdown"]
                text += link(f"{host_name(n, m)}_remote", remote, 0)
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
        of = f"cores{' and accelerators' if 'accelerators_per_node' in p else ''}"
        sys.exit(f"platform.py: {name} has {most} {of}; {ranks} ranks do not fit")
    host_nodes = math.ceil(ranks / p["ranks_per_node"])
    zone = fat_tree(p, host_nodes) if "accelerators_per_node" in p else cluster(name, p)
    head = """<?xml version='1.0'?>\n<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">\n"""
    assumptions = {"platform": name, **p, "sources": p["sources"] + [COSTS_SOURCE], **COSTS}
    message, eager = f"{COSTS['message_seconds']:.4g}", COSTS["eager_bytes"]
    cost = f"0:{message}:{1 / COSTS['copy_bytes_per_second']:.4g};{eager}:{message}:0"
    for file, text in {
        "platform.xml": f'{head}<platform version="4.1">\n{zone}</platform>\n',
        "hosts": "".join(host_of(r, p) + "\n" for r in range(ranks)),
        "assumptions.json": json.dumps(assumptions),
        # The cost of MPI_Isend: from so many bytes on, constant, per byte.
        "options": f"--cfg=smpi/ois:{cost}\n--cfg=surf/precision:{p['simultaneous_seconds']:.4g}\n",
    }.items():
        with open(f"{folder}/{file}", "w") as f:
            f.write(text)


if __name__ == "__main__":
    main()

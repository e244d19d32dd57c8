#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""platform.py NAME RANKS FOLDER: writes platform.xml and hosts for SimGrid, and assumptions.json, into FOLDER.

Everything that is assumed of a simulated cluster stands here, with where it comes from.
"""
import json
import sys

# Ranks on consecutive nodes of a fat tree with full bandwidth between its halves; one core a rank.
PLATFORMS = {
    "tianhe1a": {
        "nodes": 400, "ranks_per_node": 6, "nodes_per_switch": 16,
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
    PLATFORMS[name].update({
        "ranks_per_node": 24, "nodes_per_switch": 8,
        "link_bytes_per_second": 8e9,
        "latency_seconds": 1.57e-6,
        "sources": [
            "2 x 12 cores a node, 16 GB/s a link in both directions together, fat tree: Peng et al.",
            "latency: that of Tianhe-1A, assumed",
        ],
    })
# Of every platform. Measured by scripts/bench/message_costs.sh on 2 ranks of a 2-core x86-64 machine (MPICH 4.0.2, shared memory):
MESSAGE_SECONDS = 0.43e-6        # of the sender's core for each nonblocking message, the receiver's part included; 0.34 to 0.48 were seen
COPY_BYTES_PER_SECOND = 6.8e9    # of the sender's core that copies a message into buffers of MPI and out of them; 6.3 to 8.6 GB/s were seen
COSTS_SOURCE = "a message and its copies: measured on 2 ranks of a 2-core x86-64 machine, MPICH 4.0.2, shared memory"
# Assumed, in the range of common MPI libraries:
EAGER_BYTES = 65536              # messages of this size and more are not copied
NODE_BYTES_PER_SECOND = 5e9      # between two ranks of a node
NODE_LATENCY_SECONDS = 0.4e-6    # between two ranks of a node
OPERATIONS_PER_SECOND = 1e9      # what comm/simulated/job.cpp reckons with: a unit, no property of a machine


def main():
    name, ranks, folder = sys.argv[1], int(sys.argv[2]), sys.argv[3]
    if name not in PLATFORMS:
        sys.exit(f"platform.py: no platform {name}; there are {', '.join(PLATFORMS)}")
    p = PLATFORMS[name]
    most = p["nodes"] * p["ranks_per_node"]
    if not 0 < ranks <= most:
        sys.exit(f"platform.py: {name} has {most} cores; {ranks} ranks do not fit")
    down = p["nodes_per_switch"]
    switches = p["nodes"] // down
    link_latency = p["latency_seconds"] / 4  # node - switch - root - switch - node
    with open(f"{folder}/platform.xml", "w") as f:
        f.write(f"""<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <cluster id="{name}" prefix="node" suffix="" radical="0-{p['nodes'] - 1}" speed="{OPERATIONS_PER_SECOND:.0f}f"
           core="{p['ranks_per_node']}" bw="{p['link_bytes_per_second']:.0f}Bps" lat="{link_latency:.4g}s"
           loopback_bw="{NODE_BYTES_PER_SECOND:.0f}Bps" loopback_lat="{NODE_LATENCY_SECONDS:.4g}s"
           topology="FAT_TREE" topo_parameters="2;{down},{switches};1,{down};1,1" sharing_policy="SPLITDUPLEX"/>
</platform>
""")
    with open(f"{folder}/hosts", "w") as f:
        for r in range(ranks):
            f.write(f"node{r // p['ranks_per_node']}\n")
    with open(f"{folder}/assumptions.json", "w") as f:
        json.dump({
            "platform": name, **p, "sources": p["sources"] + [COSTS_SOURCE],
            "message_seconds": MESSAGE_SECONDS, "copy_bytes_per_second": COPY_BYTES_PER_SECOND, "eager_bytes": EAGER_BYTES,
            "node_bytes_per_second": NODE_BYTES_PER_SECOND, "node_latency_seconds": NODE_LATENCY_SECONDS,
        }, f)
    cost = f"0:{MESSAGE_SECONDS:.4g}:{1 / COPY_BYTES_PER_SECOND:.4g};{EAGER_BYTES}:{MESSAGE_SECONDS:.4g}:0"
    with open(f"{folder}/options", "w") as f:
        f.write(f"--cfg=smpi/ois:{cost}\n")  # of MPI_Isend: from so many bytes on, constant, per byte


main()

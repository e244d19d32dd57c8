#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""machine.py PLATFORM FILE: writes the machine file of a simulated cluster, for `steelyard predict --machine FILE`.

All of it follows from what platform.py assumes of the cluster, and from how simulate.sh runs the simulator.
"""
import os
import subprocess
import sys
import tempfile

from common import fail, parser_of, read_json, replacing

BANDWIDTH_FACTOR = 0.95  # simulate.sh: smpi/bw-factor
PARTICLE_BYTES = 40  # that migrate with it (md::Particle); a node's ranks share its link


def main():
    parser = parser_of(__doc__)
    parser.add_argument("platform", metavar="PLATFORM")
    parser.add_argument("file", metavar="FILE")
    arguments = parser.parse_args()
    name, path = arguments.platform, arguments.file
    with tempfile.TemporaryDirectory() as folder:
        script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "platform.py")
        if subprocess.run([sys.executable, script, name, "1", folder]).returncode != 0:
            sys.exit(2)
        p = read_json(os.path.join(folder, "assumptions.json"))
    if "accelerators_per_node" in p:
        fail(f"{name} has accelerators as ranks, of which predictions know nothing; choose a platform without")
    inside = BANDWIDTH_FACTOR * p["node_bytes_per_second"]
    between = BANDWIDTH_FACTOR * p["link_bytes_per_second"]
    with replacing(path) as unfinished, open(unfinished, "w") as f:
        f.write(
            f"""# Of the simulated cluster {name}: written by scripts/simulate/machine.py from what platform.py assumes.
name: '{name}, simulated'
costs: deck
ranks_per_node: {p['ranks_per_node']}
nodes_per_switch: {p['nodes_per_switch']}
inside: {{latency_seconds: {p['node_latency_seconds']}, bytes_per_second: {inside}}}
between: {{latency_seconds: {p['latency_seconds']}, bytes_per_second: {between}}}
message_seconds: {p['message_seconds']}
copy_bytes_per_second: {p['copy_bytes_per_second']}
eager_bytes: {p['eager_bytes']}
simulated: true
reductions_travel: false      # SimGrid's nonblocking reductions would take as many messages as there are ranks
move_seconds: {PARTICLE_BYTES * (1 / p['copy_bytes_per_second'] + p['ranks_per_node'] / between):.3g}
"""
        )
    print(f"wrote {path}")


if __name__ == "__main__":
    main()

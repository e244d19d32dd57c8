#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""test_simulated_messages.py SOURCE: scripts/reproduce/messages.sh --quick on simulated ranks, and what
`comm.aggregate: auto` promises."""
import json
import os
import subprocess
import sys
import tempfile

SKIP = 77
ORDERS, AGGREGATES = ("plain", "near_first", "far_first"), ("none", "process", "node", "auto")


def main():
    source = sys.argv[1]
    for program in ("steelyard", "replay_messages"):
        if not os.access(os.path.join(source, "build-smpi", program), os.X_OK):
            print(f"skipped: there is no build-smpi/{program}; docs/simulation.md says how to build it")
            sys.exit(SKIP)
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(
            [os.path.join(source, "scripts/reproduce/messages.py"), "--quick", "--no-real", "--out", folder], check=True
        )
        with open(os.path.join(folder, "summary.json")) as f:
            cases = json.load(f)["cases"]
        assert os.path.getsize(os.path.join(folder, "messages.png")) > 10000
    workloads = {c["workload"] for c in cases}
    assert len(workloads) == 3, workloads
    for workload in workloads:
        of = {c["schedule"]: c for c in cases if c["workload"] == workload}
        assert set(of) == {f"{a}, {o}" for a in AGGREGATES for o in ORDERS}, sorted(of)
        control = of["none, plain"]
        for name, c in of.items():
            assert c["simulated"] is True and c["nodes"] == 2 and c["ranks"] == 48, c
            assert abs(c["gain"] - (1 - c["seconds"] / control["seconds"])) < 1e-12 and c["schedule_seconds"] > 0, c
            assert c["parts"] == control["messages"] == control["parts"] and c["bytes"] == control["bytes"], c
            if name.startswith("auto"):
                assert c["gain"] > (0.25 if c["small_part_share"] > 0.95 else -0.01), c


main()

# SPDX-License-Identifier: MIT
"""scripts/reproduce/messages.py --quick on simulated ranks, and what `comm.aggregate: auto` promises."""
import json
import os

from program import built, script

ORDERS, AGGREGATES = ("plain", "near_first", "far_first"), ("none", "process", "node", "auto")
pytestmark = built("build-smpi/steelyard", "build-smpi/replay_messages")


def test_experiment(tmp):
    skip = dict(os.environ, STEELYARD_BUILD="skip")
    script("reproduce/messages.py", "--quick", "--no-real", "--out", tmp, check=True, env=skip)
    cases = json.loads((tmp / "summary.json").read_text())["cases"]
    assert (tmp / "messages.png").stat().st_size > 10000
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

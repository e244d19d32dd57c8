# SPDX-License-Identifier: MIT
"""Messages of accelerators that are hosts of their own on a simulated cluster,
against what the links say; and the communication test of nested partitions in a small form."""
import csv
import json
import os
import subprocess
import sys

from program import SOURCE, built

pytestmark = built("build-smpi/replay_messages", "build/steelyard")
BANDWIDTH = 0.95  # of a link that messages get: simulate.sh, smpi/bw-factor
NETWORK, LINK, LATENCY, INSIDE = 8e9, 8e9, 5e-6, 5e9
NODE = 27  # ranks; the last three are on accelerators


def simulate(folder, messages, platform="tianhe2_mic", settings=""):
    """Seconds of an exchange of messages (source, target, bytes)."""
    trace, results = os.path.join(folder, "trace.csv"), os.path.join(folder, "results.json")
    with open(trace, "w") as f:
        f.write("plan,kind,step,source,target,bytes,source_node,target_node\n")
        f.writelines(f"0,ghosts,0,{s},{t},{n},0,0\n" for s, t, n in messages)
    ranks = 1 + max(max(s, t) for s, t, _ in messages)
    command = [
        os.path.join(SOURCE, "scripts/simulate.sh"),
        str(ranks),
        trace,
        "--order",
        "plain",
        "--aggregate",
        "none",
        "--overlap",
        "links",
        "--json",
        results,
    ]
    done = subprocess.run(
        command,
        env=dict(os.environ, PLATFORM=platform, PLATFORM_SET=settings, PROGRAM="replay_messages"),
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    with open(results) as f:
        found = json.load(f)
    assert found["simulated"] is True and found["platform"]["platform"] == platform, found
    return found["cases"][0]["seconds"]


def test_one_message_takes_what_its_links_say(tmp):
    size = 8_000_000
    mic, other_mic, far = NODE - 3, NODE - 2, 9 * NODE  # another switch
    slow, narrow = "accelerator_remote_slowdown=5", "accelerator_link_bytes_per_second=2e9"
    for source, target, settings, bandwidth in (
        (mic, 0, "", LINK),
        (0, mic, "", LINK),
        (mic, other_mic, "", LINK),
        (0, 1, "", INSIDE),
        (0, far, "", NETWORK),
        (mic, far, "", NETWORK),
        (mic, far, slow, NETWORK / 5),
        (far, mic, slow, NETWORK / 5),
        (mic, other_mic, slow, NETWORK / 5),
        (mic, 0, slow, LINK),
        (0, far, slow, NETWORK),
        (far, mic, narrow, 2e9),
        (0, far, narrow, NETWORK),
        (mic, far + mic, slow, NETWORK / 5),
        (0, far, "link_bytes_per_second=1e9", 1e9),
    ):
        took = simulate(tmp, [(source, target, size)], settings=settings)
        assert abs(took / (size / (BANDWIDTH * bandwidth)) - 1) < 0.02, (source, target, settings, took)
    # The time of a small message is that of its latencies: twice 5 us between accelerators.
    small = simulate(tmp, [(mic, other_mic, 1)]) - simulate(tmp, [(mic, 0, 1)])
    assert abs(small - LATENCY) < 0.2e-6, small


def test_links_are_shared(tmp):
    size = 8_000_000
    alone = simulate(tmp, [(0, 24, size)])
    two = simulate(tmp, [(0, 24, size), (1, 24, size)])
    apart = simulate(tmp, [(0, 24, size), (1, 25, size)])
    back = simulate(tmp, [(0, 24, size), (24, 1, size)])
    assert abs(two / alone - 2) < 0.02 and abs(apart / alone - 1) < 0.02 and abs(back / alone - 1) < 0.02, (
        alone,
        two,
        apart,
        back,
    )


def test_same_tree_as_without_accelerators(tmp):
    cores = [(i * 7 % 240, i * 5 % 239, 1000 * i) for i in range(1, 150)]
    cores = [(s, t, n) for s, t, n in cores if s != t]

    def place(r):
        return r // 24 * NODE + r % 24

    one = simulate(tmp, cores, platform="tianhe2_32")
    two = simulate(tmp, [(place(s), place(t), n) for s, t, n in cores])
    assert abs(one / two - 1) < 1e-6, (one, two)
    # From two nodes of a switch to nodes of two others with the same place there: over the same root switch.
    size = 8_000_000
    for nodes in ([(0, 8), (1, 16)], [(0, 8), (1, 17)]):
        one = simulate(tmp, [(24 * s, 24 * t, size) for s, t in nodes], platform="tianhe2_32")
        two = simulate(tmp, [(NODE * s, NODE * t, size) for s, t in nodes])
        assert abs(one / two - 1) < 1e-5, (nodes, one, two)  # the precision of simulated times


def test_algorithms(tmp):
    out = os.path.join(tmp, "nested")
    script = os.path.join(SOURCE, "scripts/reproduce/nested.py")
    command = [script, "--simulated", "--quick", "--out", out]
    subprocess.run(command, check=True, env=dict(os.environ, STEELYARD_BUILD="skip"))
    with open(os.path.join(out, "simulated.json")) as f:
        found = json.load(f)
    assert found["simulated"] is True and "sources" in found["platform"]
    time = {(r["case"], r["nodes"], r["algorithm"]): r["seconds"] for r in found["figure_10"] + found["sweep"]}
    for n in (1, 2):
        host, alone = "the host forwards", "accelerators alone"
        # With Algorithm 2, accelerators have no remote messages that could be slow.
        assert time[host, n, "inner_outer"] == time[alone, n, "inner_outer"] < 0.6 * time[alone, n, "greedy"], time
        assert time[host, n, "greedy"] < time[alone, n, "greedy"], time
    for algorithm in ("greedy", "inner_outer"):
        with open(os.path.join(out, "runs", f"3d_2_{algorithm}.csv")) as f:
            messages = [{k: int(v) for k, v in m.items() if k != "kind"} for m in csv.DictReader(f)]
        with open(os.path.join(out, "runs", f"3d_2_{algorithm}", "partition.json")) as f:
            resources = json.load(f)["resources"]

        def fast(rank):
            return rank % NODE >= 24

        for r in resources:
            if r["kind"] == "accelerator" and len(r["boxes"]) == 1:  # ghosts of several boxes may be the same cells
                remote = sum(
                    m["bytes"]
                    for m in messages
                    if m["target"] == r["id"] and (fast(m["source"]) or m["source_node"] != m["target_node"])
                )
                assert fast(r["id"]) and remote == 48 * r["remote_cells"], (algorithm, r, remote)
        assert (
            algorithm != "greedy" or sum(len(r["boxes"]) == 1 for r in resources if r["kind"] == "accelerator") >= 2
        ), resources
    for r in found["figure_10"]:
        assert (r["remote_bytes"] == 0) == (r["algorithm"] == "inner_outer"), r
    slow = [time[f"accelerator_remote_slowdown {s}", 2, "greedy"] for s in (1, 2, 3, 5, 10)]
    assert (
        slow == sorted(slow)
        and slow[0] == time["the host forwards", 2, "greedy"]
        and slow[3] == time["accelerators alone", 2, "greedy"]
    ), slow
    assert os.path.getsize(os.path.join(out, "simulated.png")) > 10000


def test_refusals(tmp):
    for settings, word in (
        ("accelerator_link_bytes_per_second=0", "> 0"),
        ("accelerator_remote_slowdown=0.5", ">= 1"),
        ("latency_seconds=nan", "> 0"),
        ("nodes=3", "a multiple of that"),
        ("sources=1", "no number sources"),
        ("latency_seconds", "> 0"),
    ):
        done = subprocess.run(
            [os.path.join(SOURCE, "scripts/simulate.sh"), "2", "deck"],
            env=dict(os.environ, PLATFORM="tianhe2_mic", PLATFORM_SET=settings),
            capture_output=True,
            text=True,
        )
        assert done.returncode != 0 and settings in done.stderr and word in done.stderr, done
    done = subprocess.run(
        [
            sys.executable,
            os.path.join(SOURCE, "scripts/simulate/machine.py"),
            "tianhe2_mic",
            os.path.join(tmp, "machine.yaml"),
        ],
        capture_output=True,
        text=True,
    )
    assert (
        done.returncode != 0 and "accelerators" in done.stderr and not os.path.exists(os.path.join(tmp, "machine.yaml"))
    ), done

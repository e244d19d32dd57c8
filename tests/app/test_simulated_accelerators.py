# SPDX-License-Identifier: MIT
"""Messages of accelerators that are hosts of their own on a simulated cluster, against the times of the links. A
small form of the communication test of nested partitions follows."""
import json
import os

import pytest

from program import built, script, table

pytestmark = built("build-smpi/replay_messages", "build/steelyard")
BANDWIDTH = 0.95  # of a link that messages get: simulate.sh, smpi/bw-factor
NETWORK, LINK, LATENCY, INSIDE = 8e9, 8e9, 5e-6, 5e9
NODE = 27  # ranks; the last three are on accelerators


def simulate(folder, messages, platform="tianhe2_mic", settings=""):
    """Seconds of an exchange of messages (source, target, bytes)."""
    trace, results = folder / "trace.csv", folder / "results.json"
    rows = "".join(f"0,ghosts,0,{s},{t},{n},0,0\n" for s, t, n in messages)
    trace.write_text("plan,kind,step,source,target,bytes,source_node,target_node\n" + rows)
    ranks = 1 + max(max(s, t) for s, t, _ in messages)
    schedule = ["--order", "plain", "--aggregate", "none", "--overlap", "links"]
    variables = dict(PLATFORM=platform, PLATFORM_SET=settings, PROGRAM="replay_messages")
    done = script("simulate.sh", ranks, trace, *schedule, "--json", results, env=os.environ | variables)
    assert done.returncode == 0, done.stderr
    found = json.loads(results.read_text())
    assert found["simulated"] is True and found["platform"]["platform"] == platform, found
    return found["cases"][0]["seconds"]


MIC, OTHER_MIC, FAR = NODE - 3, NODE - 2, 9 * NODE  # another switch
SLOW, NARROW = "accelerator_remote_slowdown=5", "accelerator_link_bytes_per_second=2e9"


MESSAGES = [
    (MIC, 0, "", LINK), (0, MIC, "", LINK), (MIC, OTHER_MIC, "", LINK), (0, 1, "", INSIDE),
    (0, FAR, "", NETWORK), (MIC, FAR, "", NETWORK), (MIC, FAR, SLOW, NETWORK / 5), (FAR, MIC, SLOW, NETWORK / 5),
    (MIC, OTHER_MIC, SLOW, NETWORK / 5), (MIC, 0, SLOW, LINK), (0, FAR, SLOW, NETWORK), (FAR, MIC, NARROW, 2e9),
    (0, FAR, NARROW, NETWORK), (MIC, FAR + MIC, SLOW, NETWORK / 5), (0, FAR, "link_bytes_per_second=1e9", 1e9),
]  # fmt: skip


@pytest.mark.parametrize("source, target, settings, bandwidth", MESSAGES)
def test_time_of_a_large_message(tmp, source, target, settings, bandwidth):
    size = 8_000_000
    took = simulate(tmp, [(source, target, size)], settings=settings)
    assert took == pytest.approx(size / (BANDWIDTH * bandwidth), rel=0.02)


def test_time_of_a_small_message(tmp):
    """It is that of its latencies: twice 5 us between accelerators."""
    small = simulate(tmp, [(MIC, OTHER_MIC, 1)]) - simulate(tmp, [(MIC, 0, 1)])
    assert abs(small - LATENCY) < 0.2e-6


def test_links_are_shared(tmp):
    size = 8_000_000
    alone = simulate(tmp, [(0, 24, size)])
    two = simulate(tmp, [(0, 24, size), (1, 24, size)])
    apart = simulate(tmp, [(0, 24, size), (1, 25, size)])
    back = simulate(tmp, [(0, 24, size), (24, 1, size)])
    assert [t / alone for t in (two, apart, back)] == pytest.approx([2, 1, 1], abs=0.02)


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


def fast(rank):
    return rank % NODE >= 24


def check_remote_messages(run, algorithm):
    """Messages of accelerators that are remote hold the cells that partition.json counts."""
    messages = [{k: int(v) for k, v in m.items() if k != "kind"} for m in table(run.parent, f"{run.name}.csv")]
    resources = json.loads((run / "partition.json").read_text())["resources"]
    # Ghosts of several boxes may be the same cells.
    alone = [r for r in resources if r["kind"] == "accelerator" and len(r["boxes"]) == 1]
    for r in alone:
        to_it = [m for m in messages if m["target"] == r["id"]]
        far = [m["bytes"] for m in to_it if fast(m["source"]) or m["source_node"] != m["target_node"]]
        assert fast(r["id"]) and sum(far) == 48 * r["remote_cells"], (algorithm, r, far)
    assert algorithm != "greedy" or len(alone) >= 2


def test_algorithms(tmp):
    out, skip = tmp / "nested", dict(os.environ, STEELYARD_BUILD="skip")
    script("reproduce/nested.py", "--simulated", "--quick", "--out", out, check=True, env=skip)
    found = json.loads((out / "simulated.json").read_text())
    assert found["simulated"] is True and "sources" in found["platform"]
    time = {(r["case"], r["nodes"], r["algorithm"]): r["seconds"] for r in found["figure_10"] + found["sweep"]}
    for n in (1, 2):
        host, alone = "the host forwards", "accelerators alone"
        # With Algorithm 2, accelerators have no remote messages that could be slow.
        assert time[host, n, "inner_outer"] == time[alone, n, "inner_outer"] < 0.6 * time[alone, n, "greedy"], time
        assert time[host, n, "greedy"] < time[alone, n, "greedy"], time
    for algorithm in ("greedy", "inner_outer"):
        check_remote_messages(out / "runs" / f"3d_2_{algorithm}", algorithm)
    for r in found["figure_10"]:
        assert (r["remote_bytes"] == 0) == (r["algorithm"] == "inner_outer"), r
    slow = [time[f"accelerator_remote_slowdown {s}", 2, "greedy"] for s in (1, 2, 3, 5, 10)]
    ends = [time[case, 2, "greedy"] for case in ("the host forwards", "accelerators alone")]
    assert slow == sorted(slow) and [slow[0], slow[3]] == ends
    assert (out / "simulated.png").stat().st_size > 10000


@pytest.mark.parametrize(
    "settings, word",
    [
        ("accelerator_link_bytes_per_second=0", "> 0"),
        ("accelerator_remote_slowdown=0.5", ">= 1"),
        ("latency_seconds=nan", "> 0"),
        ("nodes=3", "a multiple of that"),
        ("sources=1", "no number sources"),
        ("latency_seconds", "> 0"),
    ],
)
def test_refused_platforms(settings, word):
    variables = dict(PLATFORM="tianhe2_mic", PLATFORM_SET=settings)
    done = script("simulate.sh", 2, "deck", env=os.environ | variables)
    assert done.returncode != 0 and settings in done.stderr and word in done.stderr, done


def test_machine_file_of_accelerators(tmp):
    done = script("simulate/machine.py", "tianhe2_mic", tmp / "machine.yaml")
    assert done.returncode != 0 and "accelerators" in done.stderr and not (tmp / "machine.yaml").exists(), done

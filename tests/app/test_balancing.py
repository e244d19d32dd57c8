# SPDX-License-Identifier: MIT
"""Balancing changes no run, and by counted work decides alike on any ranks and after a restart."""
import re

import pytest

from program import checkpoints, decisions, fails_with, hash_of, ok_run, once, replay, run, run_words, same_run
from program import fresh, said_by_run, summary

KEYS = dict(run__steps=120, output__every=20)
BALANCED = KEYS | dict(balance__every=5, balance__clock="work", balance__processes=40, balance__noise=0.02)
BALANCED |= dict(balance__compare="[time_average, moving_average, particle_count, hybrid, a1, b1]")
BALANCED |= dict(balance__migrate="always", balance__partition__cut="cells")
GAINING = BALANCED | dict(balance__migrate="gain", balance__partition__cut="strips", balance__partition__order="tree")
plain = once(ranks=2, **KEYS)
plain_half = once(ranks=2, run__steps=60, output__every=20)


@pytest.mark.group("balancing")
@pytest.mark.parametrize("keys, n, m", [(BALANCED, 2, 3), (BALANCED, 7, 1), (GAINING, 1, 4)])
def test_same_decisions(plain, tmp, keys, n, m):
    """To the last digit on any ranks and after a restart, with the plain run's hash and rows."""
    whole, out = tmp / "whole", tmp / "out"
    ok_run(whole, **keys)
    assert same_run(whole, plain), "balancing changes the run"
    expected = decisions(whole)
    assert len(expected) == 7 * 24 and len({r["lbe"] for r in expected}) > 50
    kept = sum(r["decision"] == "kept: gain" for r in expected)
    assert 0 < kept < 7 * 24 if keys is GAINING else kept == 0
    ok_run(out, ranks=n, checkpoint__every=63, **keys)
    assert decisions(out) == expected
    ok_run(out, ranks=m, restart=out / "checkpoint_63.h5", threads=2, **keys)
    assert hash_of(out) == hash_of(plain) and decisions(out) == expected
    assert summary(out)["overall_lbe"] == summary(whole)["overall_lbe"]


@pytest.mark.parametrize("clock", ("work", "wall"))
def test_between_steps(plain, tmp, clock):
    """Opportunities lie from from_step on and before to_step, in a replay of the run's loads as well."""
    window = dict(balance__every=5, balance__from_step=42, balance__to_step=80, balance__processes=4)
    window |= dict(balance__clock=clock, balance__criterion="every")
    ok_run(tmp, ranks=2, output__loads_every=5, **KEYS, **window)
    found = [int(r["step"]) for r in decisions(tmp)]
    assert same_run(tmp, plain) and found and 42 <= min(found) and max(found) < 80
    if clock == "wall":
        return
    assert found == list(range(45, 80, 5))
    replay(tmp / "loads.h5", tmp / "replay", **window)
    assert [int(r["step"]) for r in decisions(tmp / "replay")] == found
    gain = window | dict(
        balance__criterion="gain"
    )  # which counts the steps up to the end of the run, not of the window
    ok_run(fresh(tmp), ranks=2, output__loads_every=5, **KEYS, **gain)
    replay(tmp / "loads.h5", tmp / "replay", **gain)
    assert decisions(tmp / "replay") == decisions(tmp)


@pytest.mark.parametrize("window, says", [((42, 45), "nothing is balanced"), ((42, 46), "stand for these steps")])
def test_notes_on_steps(tmp, window, says):
    keys = dict(balance__every=5, balance__clock="work", balance__from_step=window[0], balance__to_step=window[1])
    assert says in said_by_run(tmp, **KEYS, **keys)


@pytest.mark.parametrize(
    "ranks, threads, keys",
    [
        (2, 1, {}),
        (2, 2, {}),
        (4, 2, dict(balance__partition__processes_per_node=2)),
        (3, 2, dict(balance__clock="work", balance__processes=30, balance__partition__processes_per_node=10)),
    ],
)
def test_nested_partition(plain, tmp, ranks, threads, keys):
    """Its last level is over threads: the same run, on fewer ranks than one node's and by both clocks. An interval of
    20 steps takes several times what the wall clock needs to be believed."""
    nested = dict(balance__every=20, balance__migrate="always", balance__partition__kind="nested")
    ok_run(tmp, ranks=ranks, threads=threads, **KEYS, **nested, **keys)
    assert same_run(tmp, plain) and "moved" in {r["decision"] for r in decisions(tmp)}


KINDS = [
    dict(balance__partition__kind=k)
    for k in ("chain", "nested", "compact", "compact", "diffusion", "diffusion", "chain", "none", "none", "rcb")
]
MODELS = [
    dict(balance__clock="work", balance__processes=p, balance__model=m)
    for p, m in ((5, "r1"), (9, "particle_count"), (4, "a1"), (4, "r1"))
]


@pytest.mark.parametrize("changes", (KINDS, MODELS))
def test_changes_at_restarts(tmp, changes):
    """Each start has another kind of partition, or another number of processes and another model."""
    for i, change in enumerate(changes):
        keys = dict(run__steps=15 * (i + 1), output__every=0, balance__every=5, checkpoint__every=15)
        ok_run(tmp, ranks=2, restart="auto" if i else None, **keys, **change)


@pytest.mark.parametrize(
    "before, after",
    [
        (KEYS, BALANCED | dict(balance__model="b1", balance__compare="[a1, r1]")),
        (KEYS, BALANCED | dict(balance__clock="wall", balance__compare="[]", balance__migrate="gain")),
        (KEYS, KEYS),
        (BALANCED, KEYS),
    ],
)
def test_balancing_that_begins_or_ends(plain, tmp, before, after):
    ok_run(tmp, ranks=3, **before | dict(run__steps=60), checkpoint__every=60)
    ok_run(tmp, ranks=2, restart="auto", **after)
    assert hash_of(tmp) == hash_of(plain)


@pytest.mark.parametrize("ranks", (2, 3, 4))
@pytest.mark.parametrize("model", ("a1", "b1", "r1"))
@pytest.mark.parametrize("lower, factor", (("[0, 0]", 100), ("[110, 0]", 1000)), ids=["all ranks", "one rank"])
def test_too_much_counted_work(tmp, ranks, model, lower, factor):
    """Counted work beyond the largest sum in 64 bits is an error for each model that would see false times."""
    keys = dict(balance__every=5, balance__clock="work", balance__model=model, balance__migrate="always")
    keys |= {f"balance__work__{kind}": 1e-3 for kind in ("cell", "particle", "candidate", "pair")}
    keys |= dict(balance__work__region=f"{{lower: {lower}, upper: [260, 140], factor: {factor}}}")
    says = "steelyard: error: run: step 5: the counted work of one step is "
    text = fails_with(4, says, ranks, *run_words(tmp, run__steps=5, **keys))
    assert text.endswith(f"; make balance.work.region.factor ({factor}) smaller\n")


LIMITED = dict(run__steps=60, output__every=20, balance__every=5, balance__clock="work", balance__migrate="always")
# The step at which a limit fails follows from the loads alone.
LIMITED |= dict(balance__speeds="off", balance__processes=6, balance__partition__cut="patches")
LIMITED |= dict(balance__work__region="{lower: [130, 0], upper: [260, 140], factor: 1.3}")
WHERE = "steelyard: error: balance.partition.max_particles_per_process: "
BEGIN = "no cut keeps 6 processes within"


def limited(out, limit, **more):
    return run_words(out, **LIMITED | more, balance__partition__max_particles_per_process=limit)


def test_limit_of_many_processes(tmp):
    words = run_words(tmp, **BALANCED, balance__partition__max_particles_per_process=400)
    fails_with(2, "max_particles_per_process", 3, *words)


@pytest.mark.group("limits")
@pytest.mark.parametrize("ranks", (1, 3))
def test_limit_that_fails_at_the_start(tmp, ranks):
    """Nothing is done yet, so there is nothing to go on from."""
    text = fails_with(2, (), ranks, *limited(tmp, 3400))
    assert text.startswith(f"{WHERE}step 0: {BEGIN} 3400 particles; the smallest limit that works now is ")
    assert text.endswith("; use it, or use more processes\n") and not checkpoints(tmp)


@pytest.mark.parametrize("ranks", (1, 3))
def test_limit_that_fails_in_mid_run(plain_half, tmp, ranks):
    """The run ends with a checkpoint, from which the stated limit works; the row of that step is written once."""
    text = fails_with(2, (), ranks, *limited(tmp, 3700))
    advice = "restart from the checkpoint of this step with it, or use more processes\n"
    pattern = rf"step (\d+): {BEGIN} 3700 particles; the smallest limit that works now is (\d+); {advice}"
    step, limit = map(int, re.fullmatch(re.escape(WHERE) + pattern, text).groups())
    assert step > 5 and limit > 3700 and checkpoints(tmp) == [step]
    assert [r["decision"] for r in decisions(tmp, step - 1)] == ["kept: limit"]
    assert run(4 - ranks, *limited(tmp, limit), "--restart", "auto") == (0, "")
    assert same_run(tmp, plain_half)
    done = decisions(tmp, step - 1)
    assert [int(r["step"]) for r in done] == list(range(step, 61, 5))
    assert [r["decision"] for r in done[:2]] == ["kept: limit", "moved"]
    assert {r["decision"] for r in done[1:]} <= {"moved", "kept: same"}


@pytest.mark.parametrize("ranks", (1, 3))
def test_limit_by_the_wall_clock(tmp, ranks):
    """It is met in the same way; when it fails depends on the times."""
    fails_with(2, WHERE, ranks, *limited(tmp, 3400, balance__clock="wall"))

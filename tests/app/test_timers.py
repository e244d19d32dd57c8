# SPDX-License-Identifier: MIT
"""Times by timers in threads and for pieces of equal work, and clocks that are set during a run."""
import json
import os

import pytest

from program import DECK, fails_with, fresh, hash_of, ok, options, preloaded, printed, run_words, state_of, summary
from program import table

BY = {"wall": "the wall clock of each thread", "cpu": "the CPU time of each thread"}


MANY = len(os.sched_getaffinity(0))
WAYS = [("wall", 2, 1, "wall"), ("cpu", 2, 1, "cpu"), ("wall", 2, MANY, "wall")]
WAYS += [("auto", 2, MANY, "cpu"), ("auto", 1, 1, "wall")]


def test_timers(tmp):
    """The summary names the deck's timer; auto is the wall clock where each thread has a unit; one trajectory."""
    hashes = set()
    for timer, ranks, threads, by in WAYS:
        keys = dict(run__steps=40, balance__every=10, balance__timer=timer)
        hashes.add(state_of(DECK, fresh(tmp), ranks, threads=threads, **keys))
        assert summary(tmp)["times_by"] == BY[by], f"{timer} on {ranks} ranks of {threads} threads"
    assert len(hashes) == 1
    fails_with(2, "balance.timer", 1, *run_words(fresh(tmp), balance__timer="sun"))


@pytest.mark.group("equal_work")
def test_equal_work():
    """Pieces of equal work are as long as asked for, and their LBE by CPU time hardly misses anything."""
    bench = os.path.join(os.path.dirname(options.binary), "bench/bench_equal_work")
    found = json.loads(printed(2, "8", "5", "400", "9", binary=bench))
    assert (found["pieces"], found["steps"], found["intervals"]) == (8, 5, 9)
    for clock in ("wall", "cpu"):
        assert 0 < found[clock]["overall_lbe"] <= 1 and 0 < found[clock]["median_lbe"] <= 1, found
    assert 100 < found["cpu"]["microseconds"] < 1600, found


# Enough steps to be under way when the clock jumps, and rows to see it.
STEPS, INTERVAL = 1500, 100
KEYS = dict(run__steps=STEPS, output__every=INTERVAL, balance__every=50)
KEYS |= dict(checkpoint__every=300, checkpoint__time_limit_seconds=600)
LONGEST_SECONDS = 100


@pytest.fixture(scope="module")
def hashes():
    """State hashes of the runs so far."""
    return set()


@pytest.mark.group("set_clocks")
@pytest.mark.parametrize("ranks", [1, 2])
@pytest.mark.parametrize("how", ["none", "forward", "backward", "reversed", "still"])
def test_set_clocks(tmp, hashes, how, ranks):
    """Clocks are set, run backwards or stand still. Intervals are measured by a monotonic clock, so that changes
    nothing. No loop waits for a clock alone."""
    out = os.path.join(tmp, "out")
    clock = dict(SET_CLOCK=how, SET_CLOCK_AFTER=os.path.join(out, "timing.csv")) | preloaded(options.tool)
    assert ok(ranks, *run_words(out, **KEYS), timeout=LONGEST_SECONDS, variables=clock) == ""
    seconds = [(float(r["wall_seconds"]), float(r["cpu_seconds"])) for r in table(out, "timing.csv")]
    assert len(seconds) == STEPS // INTERVAL + 1
    assert all(0 <= wall < LONGEST_SECONDS and 0 <= cpu for wall, cpu in seconds)
    assert seconds == sorted(seconds), "time runs backwards"
    assert 0 <= summary(out)["wall_seconds"] < LONGEST_SECONDS
    assert how == "still" or seconds[-1][0] > 0.05
    hashes.add(hash_of(out))
    assert len(hashes) == 1

# SPDX-License-Identifier: MIT
"""Times by timers in threads, and for pieces of equal work."""
import json
import os
import subprocess

from program import DECK, HANG_SECONDS, fails_with, fresh, options, run_words, state_of, summary

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


def test_equal_work():
    """Pieces of equal work are as long as asked for, and their LBE by CPU time hardly misses anything."""
    bench = os.path.join(os.path.dirname(options.binary), "bench/bench_equal_work")
    done = subprocess.run(
        [options.mpiexec, "-n", "2", bench, "8", "5", "400", "9"], stdout=subprocess.PIPE, timeout=HANG_SECONDS
    )
    assert done.returncode == 0
    found = json.loads(done.stdout)
    assert (found["pieces"], found["steps"], found["intervals"]) == (8, 5, 9)
    for clock in ("wall", "cpu"):
        assert 0 < found[clock]["overall_lbe"] <= 1 and 0 < found[clock]["median_lbe"] <= 1, found
    assert 100 < found["cpu"]["microseconds"] < 1600, found

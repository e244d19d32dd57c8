# SPDX-License-Identifier: MIT
"""What times the threads, and what timers say of equal work."""
import json
import os
import subprocess

from program import HANG_SECONDS, DECK, fresh, hash_of, options, run, settings, summary

BY = {"wall": "the wall clock of each thread", "cpu": "the CPU time of each thread"}


def test_timers(tmp):
    """The summary names the deck's timer; auto is the wall clock where each thread has a unit; one trajectory."""
    out, hashes = os.path.join(tmp, "out"), set()
    many = len(os.sched_getaffinity(0))
    for timer, ranks, threads, by in (
        ("wall", 2, 1, BY["wall"]),
        ("cpu", 2, 1, BY["cpu"]),
        ("wall", 2, many, BY["wall"]),
        ("auto", 2, many, BY["cpu"]),
        ("auto", 1, 1, BY["wall"]),
    ):
        keys = settings(run__steps=40, balance__every=10, balance__timer=timer)
        code, text = run(ranks, "run", DECK, "--out", fresh(out), "--quiet", *keys, threads=threads)
        assert code == 0, text
        assert summary(out)["times_by"] == by, f"{timer} on {ranks} ranks of {threads} threads"
        hashes.add(hash_of(out))
    assert len(hashes) == 1
    code, text = run(1, "run", DECK, "--out", fresh(out), "--quiet", *settings(balance__timer="sun"))
    assert code == 2 and "balance.timer" in text and text.count("\n") == 1, text


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

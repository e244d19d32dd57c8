# SPDX-License-Identifier: MIT
"""Clocks that are set, run backwards or stand still during a run.

Intervals are measured by a monotonic clock, so a clock that is set changes nothing. No loop waits for a clock alone.
"""
import csv
import os

import pytest

from program import hash_of, options, preloaded, run, run_words, summary

# Enough steps to be under way when the clock jumps, and rows to see it.
STEPS, EVERY = 1500, 100
KEYS = dict(
    run__steps=STEPS, checkpoint__every=300, checkpoint__time_limit_seconds=600, output__every=EVERY, balance__every=50
)
LONGEST_SECONDS = 100


def seconds_of(out):
    with open(os.path.join(out, "timing.csv")) as f:
        return [(float(r["wall_seconds"]), float(r["cpu_seconds"])) for r in csv.DictReader(f)]


@pytest.fixture(scope="module")
def hashes():
    """State hashes of the runs so far."""
    return set()


@pytest.mark.parametrize("ranks", [1, 2])
@pytest.mark.parametrize("how", ["none", "forward", "backward", "reversed", "still"])
def test_set_clocks(tmp, monkeypatch, hashes, how, ranks):
    out = os.path.join(tmp, "out")
    monkeypatch.setenv("SET_CLOCK", how)
    monkeypatch.setenv("SET_CLOCK_AFTER", os.path.join(out, "timing.csv"))
    for name, value in preloaded(options.tool).items():
        monkeypatch.setenv(name, value)
    assert run(ranks, *run_words(out, **KEYS), timeout=LONGEST_SECONDS) == (0, "")
    seconds = seconds_of(out)
    assert len(seconds) == STEPS // EVERY + 1
    assert all(0 <= wall < LONGEST_SECONDS and 0 <= cpu for wall, cpu in seconds)
    assert seconds == sorted(seconds), "time runs backwards"
    assert 0 <= summary(out)["wall_seconds"] < LONGEST_SECONDS
    assert how == "still" or seconds[-1][0] > 0.05
    hashes.add(hash_of(out))
    assert len(hashes) == 1

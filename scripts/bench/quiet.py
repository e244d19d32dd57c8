#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Measurements on a machine that is not ours alone: a run beside which others were at work is repeated."""
import os
import resource
import time

QUIET = 0.04  # of all cores: what other programs, or the host of this machine, may take
TRIES = 5


def taken_by_all():
    """Seconds that the cores have worked, and that the host has taken from this machine, since it was started."""
    with open("/proc/stat") as f:
        user, nice, system, _, _, irq, softirq, steal = map(int, f.readline().split()[1:9])
    return (user + nice + system + irq + softirq + steal) / os.sysconf("SC_CLK_TCK")


def taken_by_us():
    """Seconds of this program and of those that it has started."""
    return sum(
        u.ru_utime + u.ru_stime for u in map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    )


def quiet(run):
    """What run() returns, a dictionary, where nobody else was at work; where that can't be had, the quietest of some
    runs. Adds under `others` the part of the cores that others took meanwhile."""
    best = None
    for _ in range(TRIES):
        all_, us, start = taken_by_all(), taken_by_us(), time.monotonic()
        result = run()
        others = (taken_by_all() - all_) - (taken_by_us() - us)
        result["others"] = max(0, others / (time.monotonic() - start) / os.cpu_count())
        if best is None or result["others"] < best["others"]:
            best = result
        if best["others"] <= QUIET:
            break
    return best

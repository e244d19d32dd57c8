# SPDX-License-Identifier: MIT
"""Runs that are stopped: by signals, by a time limit, by a full disk, by kills.

Groups: signals full_disk kills.
"""
import os
import random
import signal
import subprocess
import time

import pytest

from program import HANG_SECONDS, LARGE, checkpoints, end_of, fails_with, ok_run, options, processes_of, rows_written
from program import run, run_words, same_run, start, wait_for_rows


@pytest.fixture(scope="module")
def long(tmp_path_factory):
    out = tmp_path_factory.mktemp("long") / "out"
    ok_run(out, ranks=2, run__steps=2000, output__every=20)
    return out


@pytest.mark.group("signals")
@pytest.mark.parametrize(
    "ranks, number", [(2, signal.SIGTERM), (2, signal.SIGINT), (2, signal.SIGUSR1), (0, signal.SIGTERM)]
)
def test_signal(long, tmp, ranks, number):
    """A signal to the launcher: a checkpoint, exit code 75, and the undisturbed run after a restart."""
    keys = dict(run__steps=2000, output__every=20)
    process = start(ranks, *run_words(tmp, **keys))
    assert wait_for_rows(tmp, 3, process), "the run does not start"
    process.send_signal(number)
    text = end_of(process, number)
    assert process.returncode == 75 and len(checkpoints(tmp)) == 1, text
    ok_run(tmp, restart="auto", **keys)
    assert same_run(tmp, long)


@pytest.mark.group("signals")
def test_time_limit(tmp):
    text = ok_run(tmp, ranks=2, code=75, run__steps=10000000, checkpoint__time_limit_seconds=0.5)
    assert len(checkpoints(tmp)) == 1 and "step" in text


DISK = dict(run__steps=200, output__every=50, checkpoint__every=50)


@pytest.mark.group("full_disk")
@pytest.mark.parametrize("ranks", (1, 2))
def test_file_size_limit(tmp, ranks):
    """The previous checkpoint stays, and a restart with room goes on from it."""
    ok_run(tmp, *LARGE, ranks=ranks, **DISK | dict(run__steps=60))
    words = run_words(tmp, *LARGE, restart="auto", **DISK)
    fails_with(5, (), ranks, *words, limit=6 << 20)
    assert run(0, "info", tmp / "checkpoint_60.h5")[0] == 0
    assert run(ranks, *words)[0] == 0


@pytest.mark.group("full_disk")
@pytest.mark.parametrize("ranks", (1, 2))
def test_full_disk(tmp, ranks):
    """A small tmpfs, where this user may mount one, keeps a valid checkpoint."""
    mount = tmp / "small"
    mount.mkdir()
    words = ["mount", "-t", "tmpfs", "-o", "size=5m", "tmpfs", mount]
    if subprocess.run(words, capture_output=True).returncode != 0:
        pytest.skip("no permission to mount a tmpfs")
    try:
        out = mount / "out"
        fails_with(5, (), ranks, *run_words(out, **DISK, checkpoint__keep=9))
        assert checkpoints(out) and run(0, "info", out / f"checkpoint_{checkpoints(out)[-1]}.h5")[0] == 0
    finally:
        subprocess.run(["umount", mount], check=True)


def kill_at_random(draw, out, words):
    """Starts the run, kills a rank or mpiexec, and waits for the end of all. Returns the seconds until that end, or
    None if the run has finished before."""
    there = rows_written(out)
    process = start(2, *words)
    # Start-up, restart, steps and checkpoint writing are all hit, by the run's own progress.
    if draw.random() < 0.7:
        wait_for_rows(out, there + draw.randint(0, 8), process)
    time.sleep(draw.uniform(0, 0.3))
    if process.poll() is not None:
        return None
    ranks = processes_of(out)
    os.kill(draw.choice(ranks) if draw.random() < 0.5 and ranks else process.pid, signal.SIGKILL)
    begin = time.monotonic()
    while time.monotonic() - begin < HANG_SECONDS and (process.poll() is None or processes_of(out)):
        time.sleep(0.01)
    assert process.poll() is not None and not processes_of(out), "the job outlives its kill"
    process.stderr.close()
    return time.monotonic() - begin


def test_kills(tmp):
    """kill -9 of a rank or of mpiexec at random times; the job is gone, a restart goes on to the same end."""
    keys, whole = dict(run__steps=1500, output__every=30), tmp / "whole"
    ok_run(whole, ranks=2, **keys)
    draw = random.Random(5)
    wanted, ends, runs = 60 if options.full else 6, [], 0
    while len(ends) < wanted:
        out = tmp / f"run{runs}"
        runs += 1
        words = run_words(out, "--force", restart="auto", checkpoint__every=10, **keys)
        while len(ends) < wanted:
            end = kill_at_random(draw, out, words)
            if end is None:
                break
            ends.append(end)
        code, text = run(2, *words)
        assert code == 0 and same_run(out, whole), f"after kills: {code} {text}"
    print(f"{len(ends)} kills in {runs} runs; the slowest job was gone after {max(ends):.2f} s")

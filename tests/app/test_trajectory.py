# SPDX-License-Identifier: MIT
"""Trajectories over ranks, restarts, damage and kills."""
import os
import random
import shutil
import signal
import time

import numpy as np
import pytest

from program import HANG_SECONDS, QUICK, checkpoints, damage, datasets, exact_state, fails_with, ok_run, once
from program import options, processes_of, rows_written, run_words, same_run, start, wait_for_rows, wait_until

TRAJECTORY = dict(
    run__steps=240, output__every=60, output__trajectory_every=12, checkpoint__every=60, checkpoint__keep=9
)
TO_60 = TRAJECTORY | dict(run__steps=60)


def frames_of(out):
    """Steps and positions of all frames of a run's trajectory."""
    path = os.path.join(out, "trajectory.h5")
    steps, positions = datasets(path, "particles/all/position/step", "particles/all/position/value").values()
    return list(steps), positions


def bytes_of(out):
    with open(os.path.join(out, "trajectory.h5"), "rb") as f:
        return f.read()


whole = once(**TRAJECTORY)
first_60 = once(ranks=2, **TO_60)


@pytest.fixture
def begun(first_60, tmp):
    """A copy of the run of 60 steps, to be continued."""
    return shutil.copytree(first_60, tmp / "out")


@pytest.mark.group("trajectory")
def test_frames(whole):
    """Frames hold the positions of the checkpoints in the order of ids."""
    steps, positions = frames_of(whole)
    assert steps == list(range(0, 241, 12)) and not positions[:, :, 2].any()
    for step in checkpoints(whole):
        _, x, _ = exact_state(whole / f"checkpoint_{step}.h5")
        assert np.array_equal(positions[steps.index(step)][:, :2], x * 2.0**-40), step


@pytest.mark.parametrize("ranks", (3, 7))
def test_same_bytes(tmp, whole, ranks):
    out = tmp / "out"
    ok_run(out, ranks=ranks, **TRAJECTORY | dict(checkpoint__keep=1))
    assert bytes_of(out) == bytes_of(whole)
    assert not [n for n in os.listdir(out) if n.endswith(".tmp")], os.listdir(out)


@pytest.mark.parametrize("first, second", ((3, 2), (7, 1)))
def test_earlier_checkpoint(tmp, whole, first, second):
    """Frames after the checkpoint come again, and more than the file had room for."""
    out, (steps, positions) = tmp / "out", frames_of(whole)
    ok_run(out, ranks=first, **TRAJECTORY | dict(run__steps=130))
    assert frames_of(out)[0] == list(range(0, 130, 12))
    ok_run(out, ranks=second, restart=out / "checkpoint_60.h5", **TRAJECTORY)
    found, values = frames_of(out)
    assert found == steps and np.array_equal(values, positions), found


def test_other_columns(begun, whole):
    """Other columns begin another file; the old one stays."""
    text = ok_run(begun, ranks=2, restart="auto", **TRAJECTORY, output__trajectory_columns="[position]")
    assert "previous_1" in text and frames_of(begun / "previous_1")[0] == list(range(0, 61, 12)), text
    found, values = frames_of(begun)
    assert found == list(range(72, 241, 12)) and np.array_equal(values, frames_of(whole)[1][6:]), found


def test_damaged(begun):
    """A damaged file is put aside, not continued."""
    damage(begun / "trajectory.h5", 5000, b"nonsense")
    text = ok_run(begun, ranks=2, restart="auto", **TRAJECTORY)
    assert frames_of(begun)[0] == list(range(72, 241, 12)) and (begun / "previous_1/trajectory.h5").exists(), text


def test_without_frames(begun):
    """A restart without frames of its own leaves the file alone."""
    before = os.stat(begun / "trajectory.h5")
    ok_run(begun, restart="auto", run__steps=120)
    after = os.stat(begun / "trajectory.h5")
    assert (before.st_mtime_ns, before.st_ino) == (after.st_mtime_ns, after.st_ino)


@pytest.mark.parametrize("columns", ("[]", "[position, position]", "[mass]", "position"))
def test_bad_columns(tmp, columns):
    words = run_words(tmp / "out", output__trajectory_columns=columns)
    fails_with(2, "trajectory_columns", 1, *words)


def kill_at_random(draw, out, words):
    """Starts the run, kills a rank or mpiexec, and waits for the end of all. Returns the seconds until that end, or
    None if the run has finished before."""
    there = rows_written(out)
    process = start(2, *words)
    # Moments go by the run's own progress, however fast the machine is. Start-up, restart, steps and writing of
    # checkpoints are all hit.
    if draw.random() < 0.8:
        wait_for_rows(out, there + draw.randint(-1, 8), process)
    time.sleep(draw.uniform(0, 0.2))
    if process.poll() is not None:
        return None
    ranks = processes_of(out)
    os.kill(draw.choice(ranks) if draw.random() < 0.6 and ranks else process.pid, signal.SIGKILL)
    begin = time.monotonic()
    gone = wait_until(lambda: process.poll() is not None and not processes_of(out), HANG_SECONDS)
    assert gone, "the job outlives its kill"
    process.stderr.close()
    return time.monotonic() - begin


@pytest.mark.group("trajectory_kills")
def test_trajectory_kills(tmp):
    """kill -9 of a rank or of mpiexec at random times: the job is gone. The trajectory opens with every frame up to the
    last checkpoint, and all that it shows is right. A restart goes on to the same end."""
    keys = QUICK | dict(run__steps=1500, output__every=30, output__trajectory_every=3, checkpoint__every=10)
    whole = tmp / "whole"
    ok_run(whole, ranks=2, **keys)
    steps, positions = frames_of(whole)
    draw, wanted, ends, runs, frames = random.Random(11), 100 if options.full else 10, [], 0, 0
    while len(ends) < wanted:
        out = tmp / f"run{runs}"
        words = run_words(out, "--force", restart="auto", **keys)
        runs += 1
        while len(ends) < wanted and (end := kill_at_random(draw, out, words)) is not None:
            ends.append(end)
            last = max(checkpoints(out), default=-1)
            if last < 0 and not (out / "trajectory.h5").exists():
                continue
            found, values = frames_of(out)
            n = len(found)
            assert found == steps[:n] and n > last // 3, f"kill {len(ends)}: frames {found[-3:]}, checkpoint {last}"
            assert np.array_equal(values, positions[:n]), f"kill {len(ends)}: a frame that was not finished is shown"
            frames += n
        ok_run(out, "--force", ranks=2, restart="auto", **keys)
        assert bytes_of(out) == bytes_of(whole) and same_run(out, whole), "after kills"
    print(
        f"{len(ends)} kills in {runs} runs; {frames} frames were there; the slowest job took {max(ends):.2f} s to end"
    )
    assert frames > 0, "no kill left a frame"

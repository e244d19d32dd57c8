# SPDX-License-Identifier: MIT
"""Trajectories over ranks, restarts, damage and kills. Groups: trajectory trajectory_kills."""
import os
import random
import signal
import time

import h5py
import numpy as np
import pytest

from program import (
    HANG_SECONDS,
    QUICK,
    checkpoints,
    damage,
    fails_with,
    ok_run,
    options,
    processes_of,
    rows_written,
    run_words,
    start,
    wait_for_rows,
)

TRAJECTORY = dict(
    run__steps=240, output__every=60, output__trajectory_every=12, checkpoint__every=60, checkpoint__keep=9
)
TO_60 = TRAJECTORY | dict(run__steps=60)


def frames_of(out):
    """Steps and positions of all frames of a run's trajectory."""
    with h5py.File(os.path.join(out, "trajectory.h5")) as f:
        g = f["particles/all"]
        return list(g["position/step"][:]), g["position/value"][:]


def bytes_of(out):
    with open(os.path.join(out, "trajectory.h5"), "rb") as f:
        return f.read()


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """The directory of a run on one rank without a stop."""
    out = tmp_path_factory.mktemp("whole") / "out"
    ok_run(out, **TRAJECTORY)
    return out


@pytest.mark.group("trajectory")
def test_frames(whole):
    """Frames hold the positions of the checkpoints in the order of ids."""
    steps, positions = frames_of(whole)
    assert steps == list(range(0, 241, 12))
    assert not positions[:, :, 2].any()
    for step in checkpoints(whole):
        with h5py.File(whole / f"checkpoint_{step}.h5") as f:
            state = f["exact/state"][:][np.argsort(f["exact/id"][:])]
        assert np.array_equal(positions[steps.index(step)][:, :2], state[:, :2] * 2.0**-40), step


@pytest.mark.group("trajectory")
@pytest.mark.parametrize("ranks", (3, 7))
def test_same_bytes(tmp, whole, ranks):
    out = tmp / "out"
    ok_run(out, ranks=ranks, **TRAJECTORY | dict(checkpoint__keep=1))
    assert bytes_of(out) == bytes_of(whole)
    assert not [n for n in os.listdir(out) if n.endswith(".tmp")], os.listdir(out)


@pytest.mark.group("trajectory")
@pytest.mark.parametrize("first, second", ((3, 2), (7, 1)))
def test_earlier_checkpoint(tmp, whole, first, second):
    """Frames after the checkpoint come again, and more than the file had room for."""
    out, (steps, positions) = tmp / "out", frames_of(whole)
    ok_run(out, ranks=first, **TRAJECTORY | dict(run__steps=130))
    assert frames_of(out)[0] == list(range(0, 130, 12))
    ok_run(out, ranks=second, restart=out / "checkpoint_60.h5", **TRAJECTORY)
    found, values = frames_of(out)
    assert found == steps and np.array_equal(values, positions), found


@pytest.mark.group("trajectory")
def test_other_columns(tmp, whole):
    """Other columns begin another file; the old one stays."""
    out = tmp / "out"
    ok_run(out, ranks=2, **TO_60)
    text = ok_run(out, ranks=2, restart="auto", **TRAJECTORY, output__trajectory_columns="[position]")
    assert "previous_1" in text and frames_of(out / "previous_1")[0] == list(range(0, 61, 12)), text
    found, values = frames_of(out)
    assert found == list(range(72, 241, 12)) and np.array_equal(values, frames_of(whole)[1][6:]), found


@pytest.mark.group("trajectory")
def test_damaged(tmp):
    """A damaged file is put aside, not continued."""
    out = tmp / "out"
    ok_run(out, ranks=2, **TO_60)
    damage(out / "trajectory.h5", 5000, b"nonsense")
    text = ok_run(out, ranks=2, restart="auto", **TRAJECTORY)
    assert frames_of(out)[0] == list(range(72, 241, 12)) and (out / "previous_1/trajectory.h5").exists(), text


@pytest.mark.group("trajectory")
def test_without_frames(tmp):
    """A restart without frames of its own leaves the file alone."""
    out = tmp / "out"
    ok_run(out, **TO_60)
    before = os.stat(out / "trajectory.h5")
    ok_run(out, restart="auto", run__steps=120)
    after = os.stat(out / "trajectory.h5")
    assert (before.st_mtime_ns, before.st_ino) == (after.st_mtime_ns, after.st_ino)


@pytest.mark.group("trajectory")
@pytest.mark.parametrize("columns", ("[]", "[position, position]", "[mass]", "position"))
def test_bad_columns(tmp, columns):
    words = run_words(tmp / "out", output__trajectory_columns=columns)
    fails_with(2, "trajectory_columns", 1, *words)


def killed(out, words, rng):
    """Whether a run, or one of its ranks, could be killed before its end."""
    there = rows_written(out)
    process = start(2, *words)
    # Moments go by the run's own progress, however fast the machine is: before the first row, or after some.
    wait_for_rows(out, there + rng.randint(-1, 3), process)
    time.sleep(rng.uniform(0, 0.1))
    if process.poll() is not None:
        return False
    ranks = processes_of(out)
    os.kill(rng.choice(ranks) if rng.random() < 0.7 and ranks else process.pid, signal.SIGKILL)
    process.wait(timeout=HANG_SECONDS)
    end = time.monotonic() + HANG_SECONDS
    while processes_of(out) and time.monotonic() < end:
        time.sleep(0.01)
    process.stderr.close()
    return True


def test_trajectory_kills(tmp):
    """kill -9 at random times: the file opens with every frame up to the last checkpoint, all that it shows is right, a
    restart goes on."""
    keys = QUICK | dict(run__steps=1500, output__every=60, output__trajectory_every=3, checkpoint__every=30)
    whole = tmp / "whole"
    ok_run(whole, ranks=2, **keys)
    steps, positions = frames_of(whole)
    rng = random.Random(11)
    wanted, done, runs, frames = 40 if options.full else 6, 0, 0, 0
    while done < wanted:
        out = tmp / f"run{runs}"
        words = run_words(out, "--force", restart="auto", **keys)
        runs += 1
        while done < wanted and killed(out, words, rng):
            done += 1
            last = max(checkpoints(out), default=-1)
            if last < 0 and not (out / "trajectory.h5").exists():
                continue
            found, values = frames_of(out)
            n = len(found)
            assert found == steps[:n] and n > last // 3, f"kill {done}: frames {found[-3:]}, checkpoint {last}"
            assert np.array_equal(values, positions[:n]), f"kill {done}: a frame that was not finished is shown"
            frames += n
        ok_run(out, "--force", ranks=2, restart="auto", **keys)
        assert bytes_of(out) == bytes_of(whole), "after kills"
    print(f"{done} kills in {runs} runs; {frames} frames were there after them")
    assert frames > 0, "no kill left a frame"

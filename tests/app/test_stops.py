# SPDX-License-Identifier: MIT
"""Runs that are stopped by signals or by a full disk."""
import signal
import subprocess

import pytest

from program import LARGE, checkpoints, end_of, fails_with, ok, ok_run, once, run_words, same_run, under_way


LONG = dict(run__steps=2000, output__every=20)
long = once(ranks=2, **LONG)


@pytest.mark.group("signals")
@pytest.mark.parametrize(
    "ranks, number", [(2, signal.SIGTERM), (2, signal.SIGINT), (2, signal.SIGUSR1), (0, signal.SIGTERM)]
)
def test_signal(long, tmp, ranks, number):
    """A signal to the launcher: a checkpoint, exit code 75, and the undisturbed run after a restart."""
    process = under_way(ranks, tmp, rows=3, **LONG)
    process.send_signal(number)
    end_of(process, number, 75)
    assert len(checkpoints(tmp)) == 1
    ok_run(tmp, restart="auto", **LONG)
    assert same_run(tmp, long)


DISK = dict(run__steps=200, output__every=50, checkpoint__every=50)


@pytest.mark.group("full_disk")
@pytest.mark.parametrize("ranks", (1, 2))
def test_file_size_limit(tmp, ranks):
    """The previous checkpoint stays, and a restart with room goes on from it."""
    ok_run(tmp, *LARGE, ranks=ranks, **DISK | dict(run__steps=60))
    words = run_words(tmp, *LARGE, restart="auto", **DISK)
    fails_with(5, (), ranks, *words, limit=6 << 20)
    ok(0, "info", tmp / "checkpoint_60.h5")
    ok(ranks, *words)


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
        ok(0, "info", out / f"checkpoint_{checkpoints(out)[-1]}.h5")
    finally:
        subprocess.run(["umount", mount], check=True)

# SPDX-License-Identifier: MIT
"""The lines that a run and `info` print."""
import contextlib
import os
import pty
import re
import subprocess

import pytest

from program import DECK, HANG_SECONDS, command, environment, ok_run, printed, settings, summary, written

KEYS = dict(run__steps=40, output__every=1, system__potential__epsilon=1000, run__dt=1e-5)
BALANCED = KEYS | dict(balance__every=5, balance__clock="work", balance__migrate="always")
BALANCED |= dict(balance__compare="[time_average, a1, b1]")


def output_of(out, ranks, deck=DECK, **keys):
    return printed(ranks, "run", deck, "--out", out, *settings(**keys))


@pytest.mark.parametrize("ranks, keys", ((0, KEYS), (2, BALANCED)))
def test_lines_of_a_run(tmp, ranks, keys):
    """An 80-column terminal does not wrap them, and each noun has its number."""
    text = output_of(tmp, ranks, **keys)
    assert "state hash" in text and all(len(line) < 80 for line in text.replace(str(tmp), "out").splitlines()), text
    assert not re.search(r"\b1 (ranks|threads|processes|tiles|rebuilds|migrations|balancings)", text), text
    assert ranks or "1 rank x 1 thread," in text and "1 process," in text, text
    shorter = re.search(r"balancing made this run (\d+\.\d % (shorter|longer)|no shorter)", text)
    assert (ranks > 0) == (shorter is not None), text


def test_one_process_of_check():
    assert "1 process on 1 rank," in printed(0, "check", DECK)


def test_partition_that_stays(tmp):
    """A run that measures balance only has saved nothing."""
    text = output_of(tmp, 2, **BALANCED, balance__partition__kind="none")
    assert "8 measurements of balance, the partition stays, 0 migrations," in text and "by none" not in text, text
    assert "perfect balance would" in text and "balancing made" not in text, text


def test_longer_run(tmp):
    """A balancing that made a run longer is not called a saving."""
    keys = BALANCED | dict(balance__compare="[]", balance__processes=4, balance__model="a1", balance__noise=1)
    text = output_of(tmp, 2, **keys)
    net = summary(tmp)["worth"]["net"]
    said = re.search(r"balancing makes computing ([0-9.]+) % longer for 4 virtual processes,\s+(\S+) s on the", text)
    assert net["saved"] < -0.01 and said and abs(float(said[1]) / 100 + net["saved"]) < 1e-3, f"{net}: {text}"
    assert said[2] == f"{net['seconds']:.3g}", f"{net}: {text}"


def test_steps_too_short_for_the_clock(tmp):
    slab = "{lower: [10, 10], upper: [12, 12], lattice: hexagonal, density: 0.25, temperature: 0.1}"
    system = f"system: {{box: [50, 30], slabs: [{slab}]}}\n"
    deck = written(tmp / "few.yaml", system + "run: {dt: 0.001, steps: 20}\n")
    text = output_of(tmp / "out", 2, deck, balance__every=1, balance__migrate="always")
    assert "20 balancings" in text and "overall LBE" not in text, text
    assert "too little time between two balancings for the clock" in text, text


def test_progress_in_a_terminal(tmp):
    """The line of a step is written over in place."""
    main_end, other_end = pty.openpty()
    words = command(0, "run", DECK, "--out", tmp / "out", *settings(**KEYS | dict(run__steps=300)))
    process = subprocess.Popen(words, env=environment(), stdout=other_end, stderr=other_end)
    os.close(other_end)
    text = b""
    with contextlib.suppress(OSError):  # the other end is closed
        while piece := os.read(main_end, 65536):
            text += piece
    os.close(main_end)
    assert process.wait(timeout=HANG_SECONDS) == 0
    plain = text.decode().replace("\x1b[K", "").replace(str(tmp / "out"), "out")
    lines = [line for line in re.split(r"[\r\n]+", plain) if line]
    assert sum(line.startswith("step ") for line in lines) >= 2 and max(map(len, lines)) < 80, lines


def test_info(tmp):
    """--brief says in eight lines what a checkpoint holds, on any number of ranks; without it more follows."""
    keys = dict(balance__every=10, balance__clock="work", balance__processes=3, balance__compare="[a1]")
    ok_run(tmp, ranks=0, run__steps=20, checkpoint__every=20, **keys)
    path = tmp / "checkpoint_20.h5"
    brief = printed(0, "info", "--brief", path)
    assert len(brief.splitlines()) <= 8 and summary(tmp)["state_hash"] in brief, brief
    for words in ("step 20, time 0.01, 20142 particles", "a run to step 20", "last at step 20"):
        assert words in brief
    assert "r1 (3 processes), a1 (3 processes)" in brief
    assert brief == printed(2, "info", "--brief", path)
    assert printed(0, "info", path).startswith(brief + "\n#")

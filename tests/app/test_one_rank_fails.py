# SPDX-License-Identifier: MIT
"""A signal to one rank, or what fails on one rank, ends the job: with one line, with its exit code, without a hang."""
import os
import random
import signal
import subprocess
import time

import pytest

from program import DECK, HANG_SECONDS, QUICK, SOURCE, checkpoints, command, end_of, environment, fresh, ok_run
from program import one_error, options, our_lines, processes_of, run, run_words, settings, start, summary, wait_for_rows

pytestmark = pytest.mark.group("one_rank_fails")
STOPS = [signal.SIGTERM, signal.SIGINT, signal.SIGUSR1]
draw = random.Random(11)


@pytest.mark.parametrize("i", range(40 if options.full else 9))
def test_signal_to_one_rank(tmp, i):
    """TERM, INT or USR1 at a random moment from the first row on: all stop with a checkpoint."""
    ranks, number = 2 + i % 3, draw.choice(STOPS)
    process = start(ranks, *run_words(tmp, **QUICK, run__steps=1000000, output__every=50))
    assert wait_for_rows(tmp, 1, process), "the run does not start"
    time.sleep(draw.uniform(0, 0.5))
    found = processes_of(tmp)
    assert len(found) == ranks
    os.kill(draw.choice(found), number)
    text = end_of(process, f"{number!r} to one of {ranks} ranks")
    assert process.returncode == 75 and len(our_lines(text)) == 1 and "stopped early" in text, text
    end = time.monotonic() + HANG_SECONDS
    while processes_of(tmp) and time.monotonic() < end:
        time.sleep(0.01)
    assert not processes_of(tmp), "processes are left"
    assert checkpoints(tmp) == [summary(tmp)["steps"]], "one checkpoint, of the last step"
    if i == 0:
        ok_run(tmp, restart="auto", **QUICK, run__steps=checkpoints(tmp)[0] + 20)


def test_end_table_survives(tmp):
    """A stop by a signal to one rank loses neither the table at the end nor the sentence that says so."""
    process = subprocess.Popen(
        command(3, "run", DECK, "--out", tmp, *settings(**QUICK, run__steps=1000000)),
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert wait_for_rows(tmp, 1, process), "the run does not start"
    os.kill(processes_of(tmp)[-1], signal.SIGTERM)
    table, text = process.communicate(timeout=HANG_SECONDS)
    assert "state hash" in table and "share of the run" in table and text.count("stopped early") == 1, text


BIG = """system:
  box: [430.0, 500.0]
  slabs:
    - {lower: [5, 5], upper: [425, 495], lattice: hexagonal, density: 1.0, temperature: 0.3}
run: {dt: 0.0005, steps: 4}
output: {every: 1, trajectory_every: 3}
checkpoint: {every: 2}
balance: {every: 2, clock: work}
"""


def test_out_of_memory(tmp):
    """bad_alloc on one rank at six limits, from start-up to the verification of a checkpoint."""
    deck, limited = tmp / "big.yaml", tmp / "limited.sh"
    deck.write_text(BIG)
    limited.write_text('#!/bin/sh\n[ "$PMI_RANK" = "$LIMITED_RANK" ] && ulimit -v "$LIMIT"\nexec "$@"\n')
    os.chmod(limited, 0o755)

    def at(kilobytes, ranks):
        out = fresh(tmp / "out")
        process = subprocess.Popen(
            [options.mpiexec, "-n", str(ranks), limited, options.binary, "run", deck, "--out", out, "--quiet"],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            env=dict(environment(), LIMIT=str(kilobytes), LIMITED_RANK=str(ranks - 1)),
            text=True,
            start_new_session=True,
        )
        text = end_of(process, f"{kilobytes} kB for one of {ranks} ranks")
        return process.returncode, text

    # The least memory that is enough, to some MB, then limits below it: the closer, the later the rank fails.
    low, high = 30_000, 1_000_000
    while high - low > 4_000:
        middle = (low + high) // 2
        low, high = (low, middle) if at(middle, 2)[0] == 0 else (middle, high)
    ours = 0
    for i, below in enumerate((2_000, 4_000, 8_000, 14_000, 22_000, 32_000)):
        ranks = 2 + i % 3
        code, text = at(high - 4_000 - below, ranks)
        what = f"{below} kB less than is needed on {ranks} ranks: {code} {text!r}"
        # Where MPICH itself gets no memory it ends the job its own way. A rank of more than two has a smaller part, and
        # may do with so much.
        lines = our_lines(text)
        ours += code == 4
        assert code != 0 or ranks > 2, what
        assert len(lines) <= 1 and (code != 4 or (len(lines) == 1 and "memory" in lines[0])), what
    assert ours > 0, "no limit was met by an allocation of the program's own"


@pytest.mark.parametrize("ranks", (2, 3, 4))
@pytest.mark.parametrize("mode, code", (("mismatch", 1), ("reading", 1), ("writing", 1), ("two_exchanges", 0)))
def test_exchanges_and_files(tmp, ranks, mode, code):
    path = os.path.join(SOURCE, "restarts/strip_t1.h5") if mode == "reading" else tmp / "new.h5"
    got, text = run(ranks, mode, path, binary=options.tool)
    assert got == code and len(our_lines(text)) == (code != 0), text


@pytest.mark.parametrize("ranks", (2, 3, 4))
def test_all_fail_at_once(ranks):
    code, text = run(ranks, "together", binary=options.tool)
    assert 20 <= code < 20 + ranks and len(our_lines(text)) == 1, text


@pytest.mark.parametrize("ranks", (2, 3, 4))
def test_dense_tile(tmp, ranks):
    """Too many particles for the 16-bit indices of a tile, which one rank alone would own: refused before the start."""
    dense = dict(
        system__box="[640, 100]",
        system__slabs__0__lower="[0.5, 1]",
        system__slabs__0__upper="[8.4, 99]",
        system__slabs__0__density=100,
        system__slabs__1__lower="[600, 10]",
        system__slabs__1__upper="[610, 20]",
        system__slabs__1__density=0.5,
        grid__tile="[8, 512]",
        system__potential__kind="soft_sphere",
    )
    code, text = run(ranks, *run_words(tmp, **dense))
    one_error(code, text, 2, "system.slabs.0.density", alone=False)
    assert text.count(";") == 1, text


@pytest.mark.parametrize("ranks", (2, 3, 4))
@pytest.mark.parametrize("model", ("a1", "b1", "r1"))
def test_counted_work_of_one_rank(tmp, ranks, model):
    """Counted work beyond what 64 bits can sum."""
    work = {f"balance__work__{kind}": 1e-3 for kind in ("cell", "particle", "candidate", "pair")}
    region = dict(lower="[55, 0]", upper="[130, 70]", factor=1000)
    work |= {f"balance__work__region__{name}": value for name, value in region.items()}
    keys = dict(balance__every=5, balance__clock="work", balance__model=model, balance__migrate="always")
    code, text = run(ranks, *run_words(tmp, **QUICK, run__steps=20, **work, **keys))
    one_error(code, text, 4, "balance.work.", alone=False)

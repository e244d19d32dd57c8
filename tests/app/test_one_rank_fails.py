# SPDX-License-Identifier: MIT
"""A signal to one rank, or what fails on one rank, ends the job: with one line, with its exit code, without a hang."""
import os
import random
import signal
import subprocess
import time

import pytest

from program import DECK, HANG_SECONDS, QUICK, SOURCE, checkpoints, end_of, fresh, ok_run
from program import options, our_lines, processes_of, run, run_words, settings, start, summary, under_way
from program import wait_for_rows, wait_until

STOPS = [signal.SIGTERM, signal.SIGINT, signal.SIGUSR1]
draw = random.Random(11)


@pytest.mark.parametrize("i", range(40 if options.full else 9))
def test_signal_to_one_rank(tmp, i):
    """TERM, INT or USR1 at a random moment from the first row on: all stop with a checkpoint."""
    ranks, number = 2 + i % 3, draw.choice(STOPS)
    process = under_way(ranks, tmp, **QUICK, output__every=50)
    time.sleep(draw.uniform(0, 0.5))
    found = processes_of(tmp)
    assert len(found) == ranks
    os.kill(draw.choice(found), number)
    text = end_of(process, f"{number!r} to one of {ranks} ranks", 75)
    assert len(our_lines(text)) == 1 and "stopped early" in text, text
    assert wait_until(lambda: not processes_of(tmp)), "processes are left"
    assert checkpoints(tmp) == [summary(tmp)["steps"]], "one checkpoint, of the last step"
    if i == 0:
        ok_run(tmp, restart="auto", **QUICK, run__steps=checkpoints(tmp)[0] + 20)


def test_end_table_survives(tmp):
    """A stop by a signal to one rank loses neither the table at the end nor the sentence that says so."""
    words = ["run", DECK, "--out", tmp, *settings(**QUICK, run__steps=1000000)]
    process = start(3, *words, stdout=subprocess.PIPE)
    assert wait_for_rows(tmp, 1, process), "the run does not start"
    os.kill(processes_of(tmp)[-1], signal.SIGTERM)
    said, text = process.communicate(timeout=HANG_SECONDS)
    assert "state hash" in said and "share of the run" in said and text.count("stopped early") == 1, text


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
        words = [options.mpiexec, "-n", ranks, limited, options.binary, *run_words(fresh(tmp / "out"), deck=deck)]
        process = start(ranks, words=words, variables=dict(LIMIT=str(kilobytes), LIMITED_RANK=str(ranks - 1)))
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

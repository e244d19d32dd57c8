# SPDX-License-Identifier: MIT
"""What must not hang, mix, get lost or be believed.

Groups: one_rank_fails stories directories hostile hostile_space. docs/reliability.md lists what each part covers. Every
run has a time limit.
"""
import os
import random
import re
import shutil
import signal
import subprocess
import time

import pytest

from program import (
    HANG_SECONDS,
    DECK,
    LARGE,
    SOURCE,
    checkpoints,
    command,
    environment,
    fresh,
    hash_of,
    options,
    processes_of,
    rows,
    run,
    settings,
    start,
    summary,
    wait_for_rows,
)

SMALL = [
    "system.box=[130.0, 70.0]",
    "system.slabs.0.lower=[10, 10]",
    "system.slabs.0.upper=[63, 60]",
    "system.slabs.1.lower=[65, 10]",
    "system.slabs.1.upper=[118, 60]",
]
QUICK = [x for s in SMALL for x in ("--set", s)]  # some 5,000 particles: a step takes less than a millisecond
SPACE = os.path.join(SOURCE, "inputs/collision_3d.yaml")
SPACE_QUICK = settings(  # some 1,300 particles
    system__box="[30, 15, 15]",
    system__slabs__0__lower="[3, 3, 3]",
    system__slabs__0__upper="[14, 11, 11]",
    system__slabs__1__lower="[15.2, 4, 4]",
    system__slabs__1__upper="[27, 12, 12]",
)


def our_lines(text):
    return [line for line in text.splitlines() if line.startswith("steelyard:")]


def one_line(got, code, text, what, ranks=2):
    """An error ends with its code and one line of ours; MPICH may add its own after an abort."""
    assert (
        got == code
        and len(our_lines(text)) == 1
        and our_lines(text)[0].startswith("steelyard: error: ")
        and "; " in text
    ), f"{what} on {ranks} ranks: exit code {got}, not {code}: {text!r}"


def finished_within(process, seconds, what):
    """The end of a process that must end by itself; returns its standard error. One that hangs is killed. The seconds
    are many: on a busy machine more ranks than cores take ten times as long as alone, and a hang lasts forever."""
    begin = time.monotonic()
    try:
        text = process.communicate(timeout=seconds)[1]
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        raise AssertionError(f"{what}: it still runs after {seconds} s") from None
    return text, time.monotonic() - begin


@pytest.mark.group("one_rank_fails")
def test_signal_one_rank(tmp):
    """TERM, INT or USR1 to one rank, at a random moment from the first row on: all stop with a checkpoint."""
    rng = random.Random(11)
    slowest = 0.0
    for i in range(40 if options.full else 9):
        ranks, number, out = (
            2 + i % 3,
            rng.choice([signal.SIGTERM, signal.SIGINT, signal.SIGUSR1]),
            os.path.join(tmp, f"signal{i}"),
        )
        process = start(
            ranks, "run", DECK, "--out", out, "--quiet", *QUICK, *settings(run__steps=1000000, output__every=50)
        )
        assert wait_for_rows(out, 1, process), "the run does not start"
        time.sleep(rng.uniform(0, 0.5))
        what = f"{number!r} to one of {ranks} ranks"
        found = processes_of(out)
        assert len(found) == ranks, f"{what}: {len(found)} processes found"
        os.kill(rng.choice(found), number)
        text, seconds = finished_within(process, HANG_SECONDS, what)
        slowest = max(slowest, seconds)
        assert (
            process.returncode == 75
            and len(checkpoints(out)) == 1
            and len(our_lines(text)) == 1
            and "stopped early" in text
        ), f"{what}: {process.returncode} {text!r} {os.listdir(out)}"
        end = time.monotonic() + HANG_SECONDS
        while processes_of(out) and time.monotonic() < end:
            time.sleep(0.01)
        assert not processes_of(out), f"{what}: processes are left"
        assert (
            summary(out)["steps"] == checkpoints(out)[0]
        ), f"{what}: summary.json is of another step than the checkpoint"
        if i == 0:
            code, text = run(
                1,
                "run",
                DECK,
                "--out",
                out,
                "--quiet",
                "--restart",
                "auto",
                *QUICK,
                *settings(run__steps=checkpoints(out)[0] + 20),
            )
            assert code == 0, f"{what}: the checkpoint can't be continued: {code} {text!r}"
    print(f"the slowest stop took {slowest:.1f} s")


@pytest.mark.group("one_rank_fails")
def test_end_table_survives(tmp):
    """A stop by a signal to one rank loses neither the table at the end nor the sentence that says so."""
    out = os.path.join(tmp, "table")
    process = subprocess.Popen(
        command(3, "run", DECK, "--out", out, *QUICK, *settings(run__steps=1000000)),
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert wait_for_rows(out, 1, process), "the run does not start"
    os.kill(processes_of(out)[-1], signal.SIGTERM)
    table, text = process.communicate(timeout=HANG_SECONDS)
    assert (
        "state hash" in table and "share of the run" in table and text.count("stopped early") == 1
    ), f"the end of a run that is stopped: {table!r} {text!r}"


@pytest.mark.group("one_rank_fails")
def test_out_of_memory(tmp):
    """bad_alloc on one rank at six limits, from start-up to the verification of a checkpoint."""
    deck = os.path.join(tmp, "big.yaml")
    with open(deck, "w") as f:
        f.write(
            "system:\n  box: [430.0, 500.0]\n  slabs:\n    - {lower: [5, 5], upper: [425, 495], lattice: hexagonal,"
            " density: 1.0, temperature: 0.3}\nrun: {dt: 0.0005, steps: 4}\noutput: {every: 1, trajectory_every:"
            " 3}\ncheckpoint: {every: 2}\nbalance: {every: 2, clock: work}\n"
        )
    limited = os.path.join(tmp, "limited.sh")
    with open(limited, "w") as f:
        f.write('#!/bin/sh\n[ "$PMI_RANK" = "$LIMITED_RANK" ] && ulimit -v "$LIMIT"\nexec "$@"\n')
    os.chmod(limited, 0o755)

    def at(kilobytes, ranks, i):
        out = os.path.join(tmp, f"memory{i}")
        process = subprocess.Popen(
            [options.mpiexec, "-n", str(ranks), limited, options.binary, "run", deck, "--out", out, "--quiet"],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            env=dict(environment(), LIMIT=str(kilobytes), LIMITED_RANK=str(ranks - 1)),
            text=True,
            start_new_session=True,
        )
        text, _ = finished_within(process, HANG_SECONDS, f"{kilobytes} kB for one of {ranks} ranks")
        shutil.rmtree(out, ignore_errors=True)
        return process.returncode, text

    # The least memory that is enough, to some MB, then limits below it: the closer, the later the rank fails.
    low, high = 30_000, 1_000_000
    while high - low > 4_000:
        middle = (low + high) // 2
        low, high = (low, middle) if at(middle, 2, "search")[0] == 0 else (middle, high)
    ours = 0
    for i, below in enumerate((2_000, 4_000, 8_000, 14_000, 22_000, 32_000)):
        ranks = 2 + i % 3
        code, text = at(high - 4_000 - below, ranks, i)
        # Where MPICH itself gets no memory it ends the job its own way. A rank of more has a smaller part, and may do
        # with so much.
        lines = our_lines(text)
        ours += code == 4
        assert code != 0 or ranks > 2, f"{below} kB less than is needed on {ranks} ranks: exit code 0"
        assert len(lines) <= 1 and (
            code != 4 or (len(lines) == 1 and "memory" in lines[0])
        ), f"{below} kB less than is needed on {ranks} ranks: {code} {text!r}"
    assert ours > 0, "no limit was met by an allocation of the program's own"


def test_one_rank_fails(tmp):
    restart = os.path.join(SOURCE, "restarts/strip_t1.h5")
    for ranks in (2, 3, 4):
        for mode, code in (("mismatch", 1), ("reading", 1), ("writing", 1), ("two_exchanges", 0)):
            process = start(
                ranks, mode, restart if mode == "reading" else os.path.join(tmp, "new.h5"), binary=options.tool
            )
            text, _ = finished_within(process, HANG_SECONDS, f"{mode} on {ranks} ranks")
            assert process.returncode == code and len(our_lines(text)) == (
                code != 0
            ), f"{mode} on {ranks} ranks: {process.returncode} {text!r}"
        process = start(ranks, "together", binary=options.tool)
        text, _ = finished_within(process, HANG_SECONDS, f"together on {ranks} ranks")
        assert (
            20 <= process.returncode < 20 + ranks and len(our_lines(text)) == 1
        ), f"all ranks fail at once, {ranks}: {process.returncode} {text!r}"
        # Too many particles for the 16-bit indices of a tile, which one rank alone would own: refused before the start.
        dense = [
            "system.box=[640, 100]",
            "system.slabs.0.lower=[0.5, 1]",
            "system.slabs.0.upper=[8.4, 99]",
            "system.slabs.0.density=100",
            "system.slabs.1.lower=[600, 10]",
            "system.slabs.1.upper=[610, 20]",
            "system.slabs.1.density=0.5",
            "grid.tile=[8, 512]",
            "system.potential.kind=soft_sphere",
        ]
        process = start(
            ranks,
            "run",
            DECK,
            "--out",
            os.path.join(tmp, f"dense{ranks}"),
            "--quiet",
            *[x for s in dense for x in ("--set", s)],
        )
        text, _ = finished_within(process, HANG_SECONDS, f"a tile that is too dense on {ranks} ranks")
        one_line(process.returncode, 2, text, "a tile that is too dense", ranks)
        assert "system.slabs.0.density" in text and text.count(";") == 1, f"a tile that is too dense: {text!r}"
        # Counted work beyond what 64 bits can sum.
        work = [f"balance.work.{k}=1e-3" for k in ("cell", "particle", "candidate", "pair")] + [
            "balance.work.region.lower=[55, 0]",
            "balance.work.region.upper=[130, 70]",
            "balance.work.region.factor=1000",
        ]
        for model in ("a1", "b1", "r1"):
            process = start(
                ranks,
                "run",
                DECK,
                "--out",
                os.path.join(tmp, f"work{ranks}{model}"),
                "--quiet",
                *QUICK,
                *[x for s in work for x in ("--set", s)],
                *settings(
                    run__steps=20,
                    balance__every=5,
                    balance__clock="work",
                    balance__model=model,
                    balance__migrate="always",
                ),
            )
            text, _ = finished_within(process, HANG_SECONDS, f"counted work on {ranks} ranks")
            one_line(process.returncode, 4, text, f"counted work by {model}", ranks)
            assert "balance.work." in text, f"counted work by {model}: no key is named: {text!r}"


def test_stories(tmp):
    """Restarts that go back, stop early, or find other checkpoints in their way: the true continuation, or a
    refusal."""

    def go(out, *more, ranks=1, code=0, **keys):
        got, text = run(ranks, "run", DECK, "--out", out, "--quiet", *more, *QUICK, *settings(output__every=30, **keys))
        assert got == code, f"{more} {keys}: exit code {got}, not {code}: {text!r}"
        return text

    # Back to step 30 with another dt, then on with auto.
    o, truth = os.path.join(tmp, "o"), os.path.join(tmp, "truth")
    go(o, run__steps=120, checkpoint__every=30, checkpoint__keep=9)
    go(truth, "--restart", os.path.join(o, "checkpoint_30.h5"), run__dt=0.0002, run__steps=200)
    text = go(
        o,
        "--restart",
        os.path.join(o, "checkpoint_30.h5"),
        run__dt=0.0002,
        run__steps=80,
        checkpoint__every=10,
        checkpoint__keep=9,
    )
    assert "put aside" in text and checkpoints(o) == [
        30,
        40,
        50,
        60,
        70,
        80,
    ], f"after going back: {checkpoints(o)} {text!r}"
    assert checkpoints(os.path.join(o, "previous_1")) == [
        60,
        90,
        120,
    ], f"the old ones: {os.listdir(os.path.join(o, 'previous_1'))}"
    assert "\n120," in rows(os.path.join(o, "previous_1")) and "\n90," not in rows(
        o
    ), "rows of the old trajectory are not kept aside"
    go(o, "--restart", "auto", ranks=2, run__dt=0.0002, run__steps=200, checkpoint__every=10)
    assert hash_of(o) == hash_of(truth), "auto did not go on with the run that was written last"
    assert [r for r in rows(o).splitlines() if int(r.split(",")[0] if r[0].isdigit() else -1) > 30] == rows(
        truth
    ).splitlines()[2:], "other rows than the true continuation"
    # Going back by a checkpoint that was put aside: nothing of the other trajectory stays among its results.
    go(o, "--restart", os.path.join(o, "previous_1", "checkpoint_90.h5"), run__steps=150, checkpoint__every=150)
    assert checkpoints(o) == [150] and rows(o).splitlines()[1].startswith("90,"), f"another run's rows: {rows(o)}"
    whole = os.path.join(tmp, "whole")
    go(whole, run__steps=150)
    assert hash_of(o) == hash_of(whole), "another hash than the undisturbed run"

    # A stop by the time limit, with checkpoints of later steps in the way; keep 1.
    for keep in (1, 2):
        k = os.path.join(tmp, f"keep{keep}")
        go(k, run__steps=900, checkpoint__every=300, checkpoint__keep=3)
        text = go(
            k,
            "--restart",
            os.path.join(k, "checkpoint_300.h5"),
            code=75,
            run__dt=0.0002,
            run__steps=2000000,
            checkpoint__keep=keep,
            checkpoint__time_limit_seconds=0.3,
        )
        stopped = int(re.search(r"stopped early at step (\d+)", text)[1])
        assert checkpoints(k) == (
            [300, stopped] if keep == 2 else [stopped]
        ), f"keep {keep}: {checkpoints(k)}, stopped at {stopped}"
        go(k, "--restart", "auto", run__dt=0.0002, run__steps=stopped + 50)
        go(
            truth,
            "--force",
            "--restart",
            os.path.join(k, f"checkpoint_{stopped}.h5"),
            run__dt=0.0002,
            run__steps=stopped + 50,
        )
        assert hash_of(k) == hash_of(truth), f"keep {keep}: auto went on with another checkpoint"

    # auto: nothing there, results without a checkpoint, checkpoints that are all damaged, one of another run.
    a = os.path.join(tmp, "auto")
    go(a, "--restart", "auto", run__steps=30)
    text = go(a, "--restart", "auto", code=3, run__steps=30)
    assert "--force" in text and os.path.exists(
        os.path.join(a, "summary.json")
    ), f"results without a checkpoint: {text!r}"
    text = go(a, "--restart", "auto", "--force", run__steps=60, checkpoint__every=30)
    assert os.path.exists(os.path.join(a, "previous_1", "thermo.csv")) and checkpoints(a) == [
        30,
        60,
    ], f"auto --force: {os.listdir(a)}"
    for step in (30, 60):
        with open(os.path.join(a, f"checkpoint_{step}.h5"), "r+b") as f:
            f.seek(5000)
            f.write(b"damaged")
    kept = rows(a)
    text = go(a, "--restart", "auto", code=3, run__steps=90)
    assert (
        text.count("warning") == 2 and rows(a) == kept and checkpoints(a) == [30, 60]
    ), f"all checkpoints damaged: {text!r}"
    text = go(a, "--restart", "auto", "--force", run__steps=60, checkpoint__every=30)
    assert checkpoints(os.path.join(a, "previous_2")) == [30, 60] and checkpoints(a) == [
        30,
        60,
    ], f"auto --force with damaged ones: {os.listdir(a)}"
    shutil.copy(os.path.join(whole, "run.json"), a)
    assert "of another run" in go(
        a, "--restart", "auto", code=3, run__steps=90
    ), "checkpoints of another run are continued"

    # A run with a dt that was given up leaves its rows and frames to nobody: back to the old dt, from the same
    # checkpoint.
    g = os.path.join(tmp, "given_up")
    frames = dict(output__trajectory_every=20, output__fields_every=20)
    go(g, run__steps=40, checkpoint__every=20, **frames)
    go(g, "--restart", "auto", run__steps=80, run__dt=0.00025, **frames)
    go(g, "--restart", "auto", run__steps=60)

    def times(folder):
        import h5py

        with h5py.File(os.path.join(folder, "trajectory.h5")) as f:
            return list(f["particles/all/position/step"][:]), f["particles/all/position/time"][-1]

    assert times(g) == ([0, 20, 40], 0.02) and times(os.path.join(g, "previous_1")) == (
        [0, 20, 40, 60, 80],
        0.03,
    ), f"frames of a run that was given up: {os.listdir(g)}"
    assert (
        "\n60,0.03," in rows(g)
        and "\n60,0.025," in rows(os.path.join(g, "previous_1"))
        and summary(os.path.join(g, "previous_1"))["steps"] == 80
    ), "rows of a run that was given up are lost"
    # The same settings again: what was written comes again, and nothing is put aside.
    h = os.path.join(tmp, "again")
    go(h, run__steps=60, checkpoint__every=20, checkpoint__keep=3, **frames)
    os.remove(os.path.join(h, "checkpoint_60.h5"))
    os.remove(os.path.join(h, "summary.json"))
    assert go(h, "--restart", "auto", run__steps=60, **frames) == "" and not os.path.exists(
        os.path.join(h, "previous_1")
    ), f"after a kill: {os.listdir(h)}"
    # A finished run is left alone.
    f = os.path.join(tmp, "finished")
    go(f, run__steps=60, checkpoint__every=30)
    kept = {n: open(os.path.join(f, n), "rb").read() for n in os.listdir(f) if n != ".steelyard.lock"}
    go(f, "--restart", "auto", ranks=2, run__steps=60, checkpoint__every=30)
    assert {
        n: open(os.path.join(f, n), "rb").read() for n in os.listdir(f) if n != ".steelyard.lock"
    } == kept, "a finished run was changed"
    # Rotation removes this run's checkpoints, not one that somebody put there.
    shutil.copy(
        (
            os.path.join(whole, "checkpoint_150.h5")
            if os.path.exists(os.path.join(whole, "checkpoint_150.h5"))
            else os.path.join(o, "checkpoint_150.h5")
        ),
        os.path.join(f, "checkpoint_10.h5"),
    )
    go(f, "--restart", "auto", run__steps=120, checkpoint__every=20, checkpoint__keep=2)
    assert checkpoints(f) == [10, 100, 120], f"rotation: {checkpoints(f)}"
    # Stopped before its first output step, a run says nothing of its energy.
    go(f, "--restart", "auto", run__steps=130, checkpoint__every=130)
    go(f, "--restart", "auto", code=75, run__steps=900, checkpoint__every=300, checkpoint__time_limit_seconds=1e-6)
    assert (
        summary(f)["energy_drift"] is None and summary(f)["energy_last"] is None
    ), f"energy of a run without a row: {summary(f)['energy_last']}"

    # What a restart changes, it says.
    b = os.path.join(tmp, "said")
    go(
        b,
        run__steps=60,
        checkpoint__every=60,
        balance__every=10,
        balance__clock="work",
        balance__processes=4,
        balance__compare="[a1]",
        balance__migrate="always",
        ranks=2,
    )
    done = subprocess.run(
        command(
            3,
            "run",
            DECK,
            "--out",
            b,
            "--restart",
            "auto",
            *QUICK,
            *settings(
                run__steps=80,
                run__precision="double",
                balance__every=10,
                balance__clock="work",
                balance__processes=5,
                balance__model="b1",
                balance__compare="[r1]",
            ),
        ),
        env=environment(),
        capture_output=True,
        text=True,
        timeout=HANG_SECONDS,
    )
    for said in (
        f"goes on from {b}/checkpoint_60.h5, step 60",
        "run.precision: double instead of mixed",
        "balance.model: b1 instead of r1",
        "balance.processes: 5 instead of 4",
        "b1 starts anew: the checkpoint holds nothing of it",
        "r1 keeps what it has learnt of the cells; its partition, made for 4 processes, starts anew with 5",
        "what a1 had learnt is dropped",
    ):
        assert done.returncode == 0 and said in " ".join(
            done.stdout.split()
        ), f"the restart does not say {said!r}: {done.stdout} {done.stderr}"


def test_directories(tmp):
    """The same output directory twice, another deck, two runs at once, a wrong launcher, links and pipes at the names
    of files."""

    def refused(code, what, *arguments, ranks=1, **keys):
        got, text = run(ranks, "run", *arguments, "--quiet", *QUICK, *settings(**keys))
        one_line(got, code, text, what, ranks)
        return text

    d = os.path.join(tmp, "d")
    assert (
        run(
            1,
            "run",
            DECK,
            "--out",
            d,
            "--quiet",
            *QUICK,
            *settings(run__steps=40, output__fields_every=20, output__trajectory_every=20, checkpoint__every=20),
        )[0]
        == 0
    ), "first run"

    def contents():
        return {n: open(os.path.join(d, n), "rb").read() for n in sorted(os.listdir(d)) if n != ".steelyard.lock"}

    names = ("deck.yaml", "map.csv", "ranks.csv", "run.json", "summary.json", "thermo.csv", "timing.csv")
    before = contents()
    refused(2, "a used directory", DECK, "--out", d, run__steps=20)
    refused(2, "a used directory", DECK, "--out", d, ranks=3, system__seed=8)
    refused(2, "the directory's own deck", os.path.join(d, "deck.yaml"), "--out", d)
    assert contents() == before, "a refused run changed something"
    code, text = run(2, "run", DECK, "--out", d, "--quiet", "--force", *QUICK, *settings(run__steps=20, system__seed=8))
    assert (
        code == 0 and "put aside" in text and set(os.listdir(d)) == {".steelyard.lock", "previous_1", *names}
    ), f"--force: {text!r} {os.listdir(d)}"
    aside = os.path.join(d, "previous_1")
    assert all(open(os.path.join(aside, n), "rb").read() == before[n] for n in before), "--force lost something"
    # A restart may name its directory's own deck.
    code, text = run(
        1,
        "run",
        os.path.join(aside, "deck.yaml"),
        "--out",
        aside,
        "--quiet",
        "--restart",
        "auto",
        *settings(run__steps=60),
    )
    assert code == 0, f"a restart by the directory's own deck: {code} {text!r}"
    # A deck of the user's own, and nothing else.
    own = os.path.join(tmp, "own")
    os.mkdir(own)
    shutil.copy(DECK, os.path.join(own, "deck.yaml"))
    for more in ([], ["--restart", "auto"]):
        refused(2 if not more else 3, "the user's own deck", os.path.join(own, "deck.yaml"), "--out", own, *more)
    assert open(os.path.join(own, "deck.yaml")).read() == open(DECK).read(), "the user's own deck was overwritten"
    # Names that mean another place.
    odd = os.path.join(tmp, "odd")
    os.mkdir(odd)
    for name in ("...yaml", "..yaml"):
        shutil.copy(DECK, os.path.join(odd, name))
        done = subprocess.run(
            command(1, "run", name, *QUICK),
            cwd=odd,
            env=environment(),
            capture_output=True,
            text=True,
            timeout=HANG_SECONDS,
        )
        one_line(done.returncode, 2, done.stderr, f"a deck named {name}")
    assert sorted(os.listdir(odd)) == ["...yaml", "..yaml"], f"a deck's name led out of out/: {os.listdir(odd)}"
    line = os.path.join(tmp, "two\nlines")
    assert (
        run(1, "run", DECK, "--out", line, "--quiet", *QUICK, *settings(run__steps=20, checkpoint__every=20))[0] == 0
    ), "a directory with a line break in its name"
    code, text = run(2, "run", DECK, "--out", line, "--quiet", "--restart", "auto", *QUICK, *settings(run__steps=40))
    assert (
        code == 0 and "\n0," in rows(line) and summary(line)["first_step"] == 20
    ), f"auto in a directory with a line break in its name: {code} {text!r}"

    # What can't be printed loses no run.
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            command(0, "run", DECK, "--out", os.path.join(tmp, "silent"), *QUICK, *settings(run__steps=20)),
            env=environment(),
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            timeout=HANG_SECONDS,
        )
        assert done.returncode == 0 and done.stderr == "", f"a log on a full disk: {done.returncode} {done.stderr!r}"
        done = subprocess.run(
            command(0, "run", DECK, "--out", d),
            env=environment(),
            stdout=subprocess.PIPE,
            stderr=full,
            text=True,
            timeout=HANG_SECONDS,
        )
        assert done.returncode == 2, f"an error that can't be printed: {done.returncode}"
    refused(2, "an empty name for a directory", DECK, "--out", "")
    # An edited deck in the directory is kept when a restart by it writes the effective one.
    edited = os.path.join(aside, "deck.yaml")
    with open(edited, "a") as deck:
        deck.write("# my own words\n")
    code, text = run(1, "run", edited, "--out", aside, "--quiet", "--restart", "auto", *settings(run__steps=80))
    assert code == 0 and open(os.path.join(aside, "previous_1", "deck.yaml")).read().endswith(
        "# my own words\n"
    ), f"an edited deck: {code} {text!r}"

    # Two at once; the lock goes with its process, however that ends.
    two = os.path.join(tmp, "two")
    first = start(
        2,
        "run",
        DECK,
        "--out",
        two,
        "--quiet",
        *QUICK,
        *settings(run__steps=1000000, output__every=50, checkpoint__every=200),
    )
    assert wait_for_rows(two, 3, first), "the first of two runs does not start"
    for more in ([], ["--force"], ["--restart", "auto"]):
        assert "another run" in refused(2, "two runs at once", DECK, "--out", two, *more), "two runs at once"
    assert first.poll() is None, "the first of two runs was disturbed"
    os.killpg(first.pid, signal.SIGKILL)
    first.communicate()
    code, text = run(
        2,
        "run",
        DECK,
        "--out",
        two,
        "--quiet",
        "--restart",
        "auto",
        "--force",
        *QUICK,
        *settings(run__steps=max(checkpoints(two), default=0) + 20),
    )
    assert code == 0, f"after a run that was killed: {code} {text!r}"

    # A launcher of another MPI starts runs of one rank each.
    for variables, ranks, code in (
        (dict(OMPI_COMM_WORLD_SIZE="2", OMPI_COMM_WORLD_RANK="0"), 0, 2),
        (dict(OMPI_COMM_WORLD_SIZE="2", OMPI_COMM_WORLD_RANK="1"), 0, 2),
        (dict(PMI_SIZE="3", PMI_RANK="0"), 0, 2),
        (dict(SLURM_NTASKS="5", SLURM_PROCID="0"), 0, 0),
        (dict(OMPI_COMM_WORLD_SIZE="4"), 2, 0),
    ):
        out = os.path.join(tmp, "launcher" + "_".join(variables.values()))
        done = subprocess.run(
            command(ranks, "run", DECK, "--out", out, "--quiet", *QUICK, *settings(run__steps=1)),
            env=dict(environment(), **variables),
            capture_output=True,
            text=True,
            timeout=HANG_SECONDS,
        )
        lines = 0 if code == 0 or variables.get("OMPI_COMM_WORLD_RANK") == "1" else 1
        assert (
            done.returncode == code and len(our_lines(done.stderr)) == lines
        ), f"{variables} on {ranks or 1} ranks: {done.returncode} {done.stderr!r}"
        assert os.path.exists(out) == (code == 0), f"{variables}: files were written"

    # Links and pipes at every name that can be foreseen are replaced, not followed.
    for kind in ("link", "pipe"):
        out, target = os.path.join(tmp, kind), os.path.join(tmp, "precious")
        os.mkdir(out)
        with open(target, "w") as f:
            f.write("precious")
        names = [
            n + e
            for n in (
                "thermo.csv",
                "timing.csv",
                "map.csv",
                "ranks.csv",
                "balance.csv",
                "deck.yaml",
                "summary.json",
                "run.json",
                "checkpoint_20.h5",
                "fields_20.h5",
                "fields_20.xdmf",
                "fields.xdmf",
                "trajectory.h5",
            )
            for e in ("", ".tmp")
        ]
        for name in names:
            if kind == "link":
                os.symlink(target, os.path.join(out, name))
            else:
                os.mkfifo(os.path.join(out, name))
        code, text = run(
            2,
            "run",
            DECK,
            "--out",
            out,
            "--quiet",
            "--force",
            *QUICK,
            *settings(
                run__steps=20,
                output__fields_every=20,
                output__trajectory_every=20,
                checkpoint__every=20,
                balance__every=10,
            ),
            timeout=HANG_SECONDS,
        )
        assert code == 0, f"{kind}s in the way: {code} {text!r}"
        for name in names:
            if not name.endswith(".tmp"):
                assert os.path.isfile(os.path.join(out, name)) and not os.path.islink(
                    os.path.join(out, name)
                ), f"{kind} at {name} is still there"
        with open(target) as f:
            assert f.read() == "precious", f"a {kind} was followed"
        code, text = run(1, "run", DECK, "--out", out, "--quiet", "--restart", "auto", *QUICK, *settings(run__steps=40))
        assert code == 0, f"a restart after {kind}s: {code} {text!r}"
    lock = os.path.join(tmp, "lock")
    os.mkdir(lock)
    os.symlink(target, os.path.join(lock, ".steelyard.lock"))
    refused(2, "a link for a lock", DECK, "--out", lock)

    # What cannot be written is an output error, and leaves no half-written file with a final name.
    for name, keys in (
        ("fields_0.h5", dict(output__fields_every=20)),
        ("fields_0.xdmf", dict(output__fields_every=20)),
        ("fields.xdmf", dict(output__fields_every=20)),
        ("trajectory.h5", dict(output__trajectory_every=20)),
        ("checkpoint_20.h5", dict(checkpoint__every=20)),
        ("thermo.csv", {}),
    ):
        for ranks in (1, 2):
            out = os.path.join(tmp, f"blocked_{name}_{ranks}")
            os.makedirs(os.path.join(out, name + ".tmp", "something"))
            refused(5, f"a directory at {name}.tmp", DECK, "--out", out, ranks=ranks, run__steps=20, **keys)
    for ranks in (1, 2):
        out = os.path.join(tmp, f"gone{ranks}")
        process = start(
            ranks,
            "run",
            DECK,
            "--out",
            out,
            "--quiet",
            *QUICK,
            *settings(run__steps=1000000, output__every=50, output__trajectory_every=50),
        )
        assert wait_for_rows(out, 2, process), "the run does not start"
        os.rename(out, out + "_away")  # at once: while files go one by one, the run may begin one anew and say so
        shutil.rmtree(out + "_away", ignore_errors=True)
        text, _ = finished_within(process, HANG_SECONDS, "a directory that is removed")
        one_line(process.returncode, 5, text, "a directory that is removed", ranks)
        out = os.path.join(tmp, f"limit{ranks}")
        code, text = run(
            ranks,
            "run",
            DECK,
            "--out",
            out,
            "--quiet",
            *LARGE,
            *settings(run__steps=4, output__trajectory_every=2),
            limit=6 << 20,
        )
        one_line(code, 5, text, "a trajectory beyond the file-size limit", ranks)
        assert not [
            n for n in os.listdir(out) if n.startswith("trajectory")
        ], f"half a trajectory is left: {os.listdir(out)}"


@pytest.mark.parametrize(
    "deck, small, dimensions",
    [
        pytest.param(DECK, QUICK, 2, marks=pytest.mark.group("hostile")),
        pytest.param(SPACE, SPACE_QUICK, 3, marks=pytest.mark.group("hostile_space")),
    ],
)
def test_hostile(tmp, deck, small, dimensions):
    """Pipes for checkpoints, and checkpoints that somebody changed and gave a fitting digest: exit code 3, one line,
    nothing else."""
    import h5py
    import numpy as np

    out = os.path.join(tmp, "out")
    keys = dict(
        run__steps=40,
        checkpoint__every=40,
        balance__every=10,
        balance__clock="work",
        balance__processes=6,
        balance__compare="[a1, moving_average, {name: late, model: b1, criterion: boulmier}]",
        balance__work__balancing=1,  # too dear for `late`
        balance__migrate="always",
    )
    assert run(2, "run", deck, "--out", out, "--quiet", *small, *settings(**keys))[0] == 0, "run"
    good = os.path.join(out, "checkpoint_40.h5")

    def sealed(change, of=good):
        path = os.path.join(tmp, "forged.h5")
        shutil.copy(of, path)
        with h5py.File(path, "r+") as f:
            change(f)
        assert (
            subprocess.run([options.tool, "seal", path], env=environment(), timeout=HANG_SECONDS).returncode == 0
        ), "sealing"
        return path

    def outcome(path, ranks):
        target = os.path.join(tmp, "again")
        shutil.rmtree(target, ignore_errors=True)
        return run(
            ranks,
            "run",
            deck,
            "--out",
            target,
            "--quiet",
            "--restart",
            path,
            *small,
            *settings(**dict(keys, run__steps=60)),
            timeout=HANG_SECONDS,
        )

    assert outcome(sealed(lambda f: None), 2)[0] == 0, "a checkpoint sealed anew is refused"
    tried = 0

    def refused(name, change, ranks=2, says=""):
        nonlocal tried
        tried += 1
        try:
            code, text = outcome(sealed(change), ranks)
            one_line(code, 3, text, name, ranks)
            assert says in text, f"{name}: {text!r}"
        except subprocess.TimeoutExpired:
            assert False, f"{name}: it hangs"

    def replace(name, value):
        def change(f):
            kind = f[name].dtype
            del f[name]
            f.create_dataset(name, data=np.array(value, dtype=kind))

        return change

    def element(name, index, value):
        return lambda f: f[name].__setitem__(index, value)

    with h5py.File(good) as f:
        old = {
            n: f[n][:]
            for n in (
                "balance/r1/boxes",
                "balance/r1/first",
                "balance/r1/splits",
                "balance/r1/memory",
                "balance/r1/record",
                "balance/r1/state",
                "balance/a1/memory",
                "balance/a1/state",
                "balance/moving_average/state",
                "balance/speeds/found",
                "balance/speeds/reference",
                "balance/step",
                "exact/clock",
                "exact/energies",
                "exact/lineage",
                "exact/id",
                "exact/state",
            )
        }
    for name, values in old.items():
        if name.startswith("exact/id") or name.startswith("exact/state"):
            continue
        if dimensions == 3 and name not in (
            "balance/r1/boxes",
            "balance/r1/first",
            "balance/r1/splits",
            "balance/r1/state",
        ):
            continue  # as in the plane
        if name != "balance/r1/splits":  # nothing is remembered where the kind of the partition has changed
            refused(f"{name}: empty", replace(name, []))
        if name != "balance/step":
            refused(f"{name}: short", replace(name, values[:-1]))
        if name != "exact/lineage":  # restarts/strip_t1.h5 has none
            refused(f"{name}: missing", lambda f: f.__delitem__(name))
        huge = (
            2**31 - 1
            if values.dtype.kind == "i" and "boxes" in name
            else 2**62
            if values.dtype.kind == "i"
            else 1e300
        )
        for what, value in (("negative", -5), ("huge", huge)) + (
            (("NaN", np.nan),) if values.dtype.kind == "f" else ()
        ):
            if name == "exact/lineage":
                index = 1  # a step; identities may have any value
            elif name == "balance/r1/splits":
                index = 0 if what == "huge" else 1
            else:
                index = len(values) // 2
            if name == "exact/energies":
                index = 0 if what == "huge" else 1
            refused(f"{name}: {what}", element(name, index, value), ranks=1 + tried % 3)
    # Numbers that are in range one by one, but not beside each other.
    refused(
        "a mean before the first update that leaves the rest above its maximum", element("balance/r1/record", 8, 1e-9)
    )
    refused("a mean that is less than a sixth of the maximum", element("balance/r1/record", 1, 1.0))
    refused("loads of a step to come", element("balance/r1/record", 7, 41))
    refused("half an update", element("balance/r1/record", 10, 0.5))
    refused("the largest kinetic energy", element("exact/energies", 1, 1e300))
    first, second = (slice(n * 2 * dimensions, (n + 1) * 2 * dimensions) for n in (0, 1))  # a box: its two corners
    refused("boxes that overlap", element("balance/r1/boxes", first, old["balance/r1/boxes"][second]))
    refused("a box beyond the grid", element("balance/r1/boxes", 2 * dimensions - 1, 1000))
    refused("processes that share boxes", element("balance/r1/first", 1, old["balance/r1/first"][2] + 1))
    for axis in range(dimensions):
        refused("a particle outside the box", element("exact/state", (3, axis), -1 if axis == 0 else 2**62))
        too_fast = element("exact/state", (3, dimensions + axis), -(2**63))
        refused("a particle that is too fast", too_fast, says="faster than anything")
    with h5py.File(good) as f:
        steps, waited = f["balance/late/criterion"][:]
        assert steps == 40 and waited > 0, "what a criterion remembers"
    refused("half the memory of a criterion", replace("balance/late/criterion", [steps]), says="late/criterion")
    for value in (np.nan, np.inf, -1e31):
        refused(
            f"a criterion that remembers {value}", element("balance/late/criterion", 1, value), says="late/criterion"
        )
    refused("another step than its front", element("particles/all/position/step", 0, 39))
    # What the controllers of accelerators remember, of each of two ranks: share, count, ten numbers.
    zoned = os.path.join(tmp, "zoned")
    keys_with_zones = dict(
        run__steps=40, checkpoint__every=40, accelerator__backend="host", accelerator__controller="cpu_load"
    )
    code, text = run(2, "run", deck, "--out", zoned, "--quiet", *small, *settings(**keys_with_zones))
    assert code == 0, f"run with accelerators: {code} {text!r}"
    with h5py.File(os.path.join(zoned, "checkpoint_40.h5")) as f:
        assert list(f["zones/of_ranks"][[1, 13]]) == [10, 10], f"memory of controllers: {f['zones/of_ranks'][:]}"

    def zones_refused(index, value, ranks):
        path = sealed(element("zones/of_ranks", index, value), os.path.join(zoned, "checkpoint_40.h5"))
        out = fresh(os.path.join(tmp, "zoned_again"))
        restart = ["--restart", path, *small, *settings(**dict(keys_with_zones, run__steps=60))]
        code, text = run(ranks, "run", deck, "--out", out, "--quiet", *restart, timeout=HANG_SECONDS)
        one_line(code, 3, text, f"zones/of_ranks[{index}] = {value}", ranks)
        assert "/zones" in text and not os.path.exists(out), text

    for index in (2, 3, 5, 9, 11, 23):
        for value in (np.nan, 1e300) + ((-1,) if index in (3, 9, 11) else ()):
            zones_refused(index, value, 1 + index % 3)
    # Links to other names and files.
    other = os.path.join(tmp, "other.h5")
    shutil.copy(good, other)

    def link(name, to):
        def change(f):
            if name in f:
                f.move(name, "moved")
            f[name] = to

        return change

    refused("an external link to a dataset", link("exact/id", h5py.ExternalLink(other, "/exact/id")))
    refused("an external link to a group", link("exact", h5py.ExternalLink(other, "/exact")))
    refused("an external link to /balance", link("balance", h5py.ExternalLink(other, "/balance")))
    refused("a soft link", link("exact/id", h5py.SoftLink("/moved")))
    # Pipes.
    pipe = os.path.join(tmp, "pipe")
    os.mkfifo(pipe)
    for ranks in (0, 2):
        for arguments in (["info", pipe], ["run", deck, "--restart", pipe, "--out", os.path.join(tmp, "p")]):
            code, text = run(ranks, *arguments, timeout=HANG_SECONDS)
            one_line(code, 3, text, f"{arguments[0]} of a pipe", ranks)
    shutil.copy(good, os.path.join(tmp, "kept.h5"))
    os.mkfifo(os.path.join(out, "checkpoint_50.h5"))
    code, text = run(
        2,
        "run",
        deck,
        "--out",
        out,
        "--quiet",
        "--restart",
        "auto",
        *small,
        *settings(**dict(keys, run__steps=60)),
        timeout=HANG_SECONDS,
    )
    assert code == 0 and "warning" in text, f"auto with a pipe for a checkpoint: {code} {text!r}"
    print(tried, "forged checkpoints")


@pytest.fixture
def forge(tmp):
    """A run with these settings, and a function of a dataset, an index, a value: (code, text) of a restart from its
    checkpoint with that value, sealed anew."""

    def prepared(steps, **keys):
        import h5py

        words = ["run", DECK, "--quiet", *QUICK, *settings(checkpoint__every=steps, **keys)]
        good = os.path.join(tmp, "good")
        code, text = run(1, *words, "--out", good, *settings(run__steps=steps))
        assert code == 0, text
        good = os.path.join(good, f"checkpoint_{steps}.h5")

        def forged(name, index, value):
            path, out = os.path.join(tmp, "forged.h5"), fresh(os.path.join(tmp, "again"))
            shutil.copy(good, path)
            with h5py.File(path, "r+") as f:
                f[name][index] = value
            assert subprocess.run([options.tool, "seal", path], env=environment(), timeout=HANG_SECONDS).returncode == 0
            return run(1, *words, "--out", out, "--restart", path, *settings(run__steps=steps + 20))

        return forged

    return prepared


@pytest.mark.group("hostile")
def test_forged_energies(tmp, forge):
    """Energies so far that the particles of a checkpoint cannot have, or that nothing has given them."""
    keys = dict(system__thermostat="{kind: langevin, temperature: 1, every: 2, from: 10}", steps=20)
    forged = forge(**keys)
    assert forged("exact/energies", 0, -1000)[0] == 0, "a true checkpoint would be refused"
    for name, index, value in (
        *(("exact/given", index, 2**62) for index in range(4)),
        *(("exact/given", index, -(2**62)) for index in range(4)),
        ("exact/given", slice(0, 2), [1, 0]),  # halves that are swapped
        ("exact/given", 3, 1),  # work, and no face moves
        ("exact/energies", 0, 1e12),
    ):
        code, text = forged(name, index, value)
        one_line(code, 3, text, f"{name}[{index}] = {value}", 1)
        assert "make no sense" in text or "makes no sense" in text, text


@pytest.mark.group("hostile")
def test_forged_heat_before_the_thermostat_acts(tmp, forge):
    forged = forge(system__thermostat="{kind: langevin, temperature: 1, every: 2, from: 30}", steps=20)
    code, text = forged("exact/given", 1, 1)
    one_line(code, 3, text, "heat before the first action", 1)


@pytest.mark.group("hostile")
def test_forged_state_and_what_was_spent(tmp, forge):
    """A cell without a state where all have one; seconds of processes that are none."""
    keys = dict(balance__every=10, balance__clock="work", balance__processes=4, balance__model="moving_average")
    keys["balance__compare"] = "[{name: kept, model: moving_average, criterion: never}]"
    forged = forge(steps=40, **keys, balance__criterion="every")
    state, spent = "balance/moving_average/state", "balance/kept/spent"
    for name, value in ((state, -1), (spent, -1), (spent, float("nan")), (spent, 1e300)):
        code, text = forged(name, 3, value)
        one_line(code, 3, text, f"{name}: {value}", 1)

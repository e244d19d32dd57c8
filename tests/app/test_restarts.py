# SPDX-License-Identifier: MIT
"""Restarts: the undisturbed run's continuation on any ranks, after going back, stopping early, or finding other
checkpoints in the way; or a refusal. docs/reliability.md lists the promises."""
import functools
import itertools
import json
import os
import re
import shutil

import h5py
import pytest

from program import QUICK, checkpoints, damage, fails_with, hash_of, ok_run, once, options, rows, run_words
from program import said_by_run, same_run, summary

STEPS = dict(run__steps=120, output__every=20)
HALF = STEPS | dict(run__steps=60, checkpoint__every=60)
go = functools.partial(ok_run, **QUICK, output__every=30)


whole = once(**QUICK | STEPS)
first_half = once(ranks=2, **QUICK | HALF)


@pytest.fixture
def half(first_half, tmp):
    """A copy of the run of 60 steps, to be continued."""
    return shutil.copytree(first_half, tmp / "out")


large = once(**STEPS)
ALL = list(itertools.product([1, 2, 3, 4, 7], repeat=2))
SOME = [(1, 2), (2, 1), (2, 3), (4, 7), (7, 2)]


@pytest.mark.group("restarts")
@pytest.mark.parametrize("n, m", ALL if options.full else SOME)
def test_from_ranks_to_ranks(large, tmp, n, m):
    """Hash and rows of the undisturbed run, with other threads, cadences of checkpoints and of output."""
    out = tmp / "out"
    ok_run(out, ranks=n, **STEPS | dict(run__steps=60), checkpoint__every=25)
    assert checkpoints(out) == [50, 60]
    os.remove(out / "checkpoint_60.h5")
    ok_run(out, ranks=m, restart="auto", threads=2, **STEPS, checkpoint__every=33)
    assert same_run(out, large)
    ok_run(out, ranks=m, restart=out / "checkpoint_99.h5", run__steps=120, output__every=7, checkpoint__every=120)
    assert hash_of(out) == hash_of(large), "another cadence of output"
    ok_run(out, ranks=n, restart="auto", **STEPS)
    assert hash_of(out) == hash_of(large), "a finished run"
    assert checkpoints(out)[-1] == 120, "no checkpoint at the last step"


@pytest.mark.parametrize("ranks, steps, every", [(1, 0, 5), (1, 10, 5), (3, 12, 5), (3, 3, 5)])
def test_checkpoint_at_the_end(tmp, ranks, steps, every):
    """A run with checkpoints writes one at its last step, and one only, so its restart has nothing to do."""
    keys = dict(run__steps=steps, checkpoint__every=every, checkpoint__keep=9)
    go(tmp, ranks=ranks, **keys)
    assert checkpoints(tmp) == sorted({*range(every, steps + 1, every), steps})
    said = said_by_run(tmp, ranks=ranks, restart="auto", **QUICK | keys)
    assert "there is nothing to do" in said and starts_of(tmp) == [0]


@pytest.mark.parametrize("ranks", (1, 3))
def test_steps_that_are_computed_again(whole, tmp, ranks):
    """A restart says so, names checkpoint.every where it is missing, and reaches the same state."""

    def said(last, restart="auto", **keys):
        text = said_by_run(tmp, ranks=ranks, restart=restart, **QUICK | STEPS | dict(run__steps=last) | keys)
        return re.findall(r"results reach step .*? again(?:; with checkpoint.every)?", text)

    go(tmp, ranks=ranks, run__steps=60, checkpoint__every=60)
    assert said(90) == []
    assert said(80, checkpoint__every=50) == ["results reach step 90: steps 61 to 80 are computed again"]
    assert said(81) == []
    assert said(120) == ["results reach step 81: step 81 is computed again; with checkpoint.every"]
    assert hash_of(tmp) == hash_of(whole)
    later = "results reach step 120: steps 81 to 90 are computed again"
    assert said(90, restart=tmp / "checkpoint_80.h5") == [later]


@pytest.mark.parametrize("change", (dict(grid__tile=9), dict(grid__cell=2.6), dict(run__steps=40)))
def test_changes_that_are_refused(half, change):
    """Another grid, and a last step before the checkpoint's."""
    fails_with(3, (), 2, *run_words(half, restart="auto", **QUICK | STEPS | change))


@pytest.mark.parametrize(
    "before, after",
    [
        (dict(grid__skin="auto"), dict(grid__skin=0.4)),
        (dict(grid__skin=0.4), dict(grid__skin="auto")),
        (dict(grid__skin=0.4), dict(grid__skin=0.2)),
        (dict(grid__tile=9), dict()),
    ],
)
def test_changes_that_do_not_matter(whole, tmp, before, after):
    go(tmp, ranks=2, **HALF, **before)
    go(tmp, restart="auto", **STEPS, **after)
    assert same_run(tmp, whole)


def test_time_after_another_dt(half):
    go(half, ranks=2, restart="auto", **STEPS, run__dt=0.0002)
    step, time = rows(half).splitlines()[-1].split(",")[:2]
    assert step == "120" and abs(float(time) - (60 * 0.0005 + 60 * 0.0002)) < 1e-12


def test_damaged_newest_checkpoint(whole, tmp):
    """The previous one is used, and said so."""
    go(tmp, ranks=2, **STEPS, checkpoint__every=50)
    damage(tmp / "checkpoint_120.h5", 100000)
    assert "warning" in go(tmp, ranks=3, restart="auto", **STEPS)
    assert hash_of(tmp) == hash_of(whole)


@pytest.fixture(scope="module")
def gone_back(tmp_path_factory):
    """A folder with a run that went back to step 30 with another dt, and its true continuation; and the note."""
    folder = tmp_path_factory.mktemp("back")
    out = folder / "out"
    go(out, run__steps=120, checkpoint__every=30, checkpoint__keep=9)
    go(folder / "truth", restart=out / "checkpoint_30.h5", run__dt=0.0002, run__steps=200)
    again = dict(run__dt=0.0002, run__steps=80, checkpoint__every=10, checkpoint__keep=9)
    return folder, go(out, restart=out / "checkpoint_30.h5", **again)


@pytest.mark.group("stories")
def test_going_back_keeps_the_other_future_aside(gone_back):
    folder, text = gone_back
    out, aside = folder / "out", folder / "out/previous_1"
    assert "put aside" in text and checkpoints(out) == [30, 40, 50, 60, 70, 80]
    assert checkpoints(aside) == [60, 90, 120]
    assert "\n120," in rows(aside) and "\n90," not in rows(out)


def test_auto_goes_on_with_the_run_that_was_written_last(gone_back, tmp):
    folder, _ = gone_back
    out, truth = shutil.copytree(folder / "out", tmp / "out"), folder / "truth"
    go(out, restart="auto", ranks=2, run__dt=0.0002, run__steps=200, checkpoint__every=10)
    assert hash_of(out) == hash_of(truth)
    assert [r for r in rows(out).splitlines()[1:] if int(r.split(",")[0]) > 30] == rows(truth).splitlines()[2:]


def test_a_checkpoint_that_was_put_aside(gone_back, tmp):
    """A restart from it leaves nothing of the other trajectory among its results."""
    out = shutil.copytree(gone_back[0] / "out", tmp / "out")
    go(out, restart=out / "previous_1/checkpoint_90.h5", run__steps=150, checkpoint__every=150)
    assert checkpoints(out) == [150] and rows(out).splitlines()[1].startswith("90,"), rows(out)
    go(tmp / "whole", run__steps=150)
    assert hash_of(out) == hash_of(tmp / "whole")


@pytest.mark.parametrize("keep", (1, 2))
def test_stop_with_later_checkpoints_in_the_way(tmp, keep):
    """The checkpoint of a stop by the time limit stays, and auto goes on with it."""
    out, truth, other = tmp / "out", tmp / "truth", dict(run__dt=0.0002)
    go(out, run__steps=900, checkpoint__every=300, checkpoint__keep=3)
    limits = dict(run__steps=2000000, checkpoint__keep=keep, checkpoint__time_limit_seconds=0.3)
    text = go(out, ranks=2, restart=out / "checkpoint_300.h5", code=75, **other, **limits)
    stopped = int(re.search(r"stopped early at step (\d+)", text)[1])
    assert checkpoints(out) == ([300, stopped] if keep == 2 else [stopped])
    go(truth, restart=out / f"checkpoint_{stopped}.h5", run__steps=stopped + 50, **other)
    go(out, restart="auto", run__steps=stopped + 50, **other)
    assert hash_of(out) == hash_of(truth)


def test_auto_without_a_checkpoint(tmp):
    """It starts where nothing is; other results it leaves alone, or with --force puts aside."""
    go(tmp, restart="auto", run__steps=30)
    assert "--force" in go(tmp, restart="auto", code=3, run__steps=30) and (tmp / "summary.json").exists()
    go(tmp, "--force", restart="auto", run__steps=60, checkpoint__every=30)
    assert (tmp / "previous_1/thermo.csv").exists() and checkpoints(tmp) == [30, 60]


def test_auto_with_damaged_checkpoints_only(tmp):
    keys = dict(run__steps=60, checkpoint__every=30)
    go(tmp, **keys)
    for step in (30, 60):
        damage(tmp / f"checkpoint_{step}.h5", 5000, b"damaged")
    kept = rows(tmp)
    text = go(tmp, restart="auto", code=3, run__steps=90)
    assert text.count("warning") == 2 and rows(tmp) == kept and checkpoints(tmp) == [30, 60], text
    go(tmp, "--force", restart="auto", **keys)
    assert checkpoints(tmp / "previous_1") == checkpoints(tmp) == [30, 60]


def test_checkpoints_of_another_run(whole, half):
    shutil.copy(whole / "run.json", half)
    assert "of another run" in go(half, restart="auto", code=3, run__steps=90)


def test_dt_that_was_given_up(tmp):
    """Rows and frames with it are put aside when a run goes back to the old dt, from the same checkpoint."""
    frames = dict(output__trajectory_every=20, output__fields_every=20)
    go(tmp, run__steps=40, checkpoint__every=20, **frames)
    go(tmp, restart="auto", run__steps=80, run__dt=0.00025, **frames)
    go(tmp, restart="auto", run__steps=60)

    def times(folder):
        with h5py.File(folder / "trajectory.h5") as f:
            return list(f["particles/all/position/step"][:]), f["particles/all/position/time"][-1]

    aside = tmp / "previous_1"
    assert times(tmp) == ([0, 20, 40], 0.02) and times(aside) == ([0, 20, 40, 60, 80], 0.03)
    assert "\n60,0.03," in rows(tmp) and "\n60,0.025," in rows(aside) and summary(aside)["steps"] == 80


def test_fields_without_loads_come_again(tmp):
    keys = dict(run__steps=60, output__trajectory_every=20, output__fields_every=20)
    go(tmp, checkpoint__every=20, checkpoint__keep=3, **keys)
    os.remove(tmp / "checkpoint_60.h5")
    os.remove(tmp / "summary.json")
    assert go(tmp, restart="auto", **keys) == "" and not (tmp / "previous_1").exists()


def test_finished_run_is_left_alone(half):
    def contents():
        return {p.name: p.read_bytes() for p in half.iterdir() if p.name != ".steelyard.lock"}

    kept = contents()
    go(half, restart="auto", ranks=2, **HALF)
    assert contents() == kept


def test_rotation_spares_checkpoints_of_others(half):
    go(half.parent / "other", run__steps=30, checkpoint__every=30)
    shutil.copy(half.parent / "other/checkpoint_30.h5", half / "checkpoint_10.h5")
    go(half, restart="auto", run__steps=120, checkpoint__every=20, checkpoint__keep=2)
    assert checkpoints(half) == [10, 100, 120]


def test_no_energy_without_a_row(half):
    """A run that stops before its first output step says nothing of its energy."""
    go(half, restart="auto", run__steps=70, checkpoint__every=70)
    more = dict(run__steps=900, checkpoint__every=300, checkpoint__time_limit_seconds=1e-6)
    go(half, restart="auto", code=75, **more)
    assert summary(half)["energy_drift"] is None and summary(half)["energy_last"] is None


def test_changes_are_said(tmp):
    balanced = QUICK | dict(balance__every=10, balance__clock="work")
    before = dict(balance__processes=4, balance__compare="[a1]", balance__migrate="always")
    go(tmp, ranks=2, run__steps=60, checkpoint__every=60, **balanced, **before)
    after = dict(balance__processes=5, balance__model="b1", balance__compare="[r1]", run__precision="double")
    text = said_by_run(tmp, ranks=3, restart="auto", run__steps=80, **balanced, **after)
    for said in (
        f"goes on from {tmp}/checkpoint_60.h5, step 60",
        "run.precision: double instead of mixed",
        "balance.model: b1 instead of r1",
        "balance.processes: 5 instead of 4",
        "b1 starts anew: the checkpoint holds nothing of it",
        "r1 keeps what it has learnt of the cells; its partition, made for 4 processes, starts anew with 5",
        "what a1 had learnt is dropped",
    ):
        assert said in text


@pytest.fixture(scope="module")
def two_checkpoints(tmp_path_factory):
    """Checkpoints of steps 10 and 20, and the state after 40 steps."""
    folder = tmp_path_factory.mktemp("two")
    go(folder / "out", run__steps=20, checkpoint__every=10)
    go(folder / "truth", run__steps=40)
    return folder / "out", hash_of(folder / "truth")


MOVE, COPY = os.rename, shutil.copy
FALSE_NAMES = {
    "copied": [(COPY, 10, 999)],
    "swapped": [(MOVE, 10, 7), (MOVE, 20, 10), (MOVE, 7, 20)],
    "renamed to 5": [(MOVE, 20, 5)],
    "renamed to 999": [(MOVE, 20, 999)],
    "renamed to 30": [(MOVE, 20, 30)],
    "renamed, and another in its place": [(MOVE, 20, 999), (COPY, 10, 20)],
}


def give_false_names(out, what):
    for way, a, b in FALSE_NAMES[what]:
        way(out / f"checkpoint_{a}.h5", out / f"checkpoint_{b}.h5")


def starts_of(out):
    """The steps from which a directory's runs have started."""
    return [s["step"] for s in json.loads((out / "run.json").read_text())["starts"]]


def front(path):
    """The step inside a checkpoint."""
    with open(path, "rb") as f:
        return dict(line.split() for line in f.read(512).decode().splitlines()[1:] if line)["step"]


@pytest.mark.group("steps")
@pytest.mark.parametrize("what", FALSE_NAMES)
def test_auto_goes_by_the_step_in_the_file(two_checkpoints, tmp_path, what):
    """The newest state is continued, none is removed, and each false name is said once."""
    base, truth = two_checkpoints
    out = shutil.copytree(base, tmp_path / "out")
    give_false_names(out, what)
    states = {p.read_bytes() for p in out.glob("checkpoint_*.h5")}
    false = sum(int(front(p)) != int(p.stem[11:]) for p in out.glob("checkpoint_*.h5"))
    text = go(out, restart="auto", run__steps=40, checkpoint__every=10, checkpoint__keep=3)
    assert starts_of(out) == [0, 20] and hash_of(out) == truth
    assert text.count("holds the state of step") == false, text
    there = {p.read_bytes() for p in [*out.glob("checkpoint_*.h5"), *out.glob("previous_*/checkpoint_*.h5")]}
    assert states - there in ({(base / "checkpoint_10.h5").read_bytes()}, set()), "the newest state is gone"


def test_keep_one_spares_the_newest_state(two_checkpoints, tmp_path):
    """A newest checkpoint with a low name stays while the run that goes on has none of its own."""
    out = shutil.copytree(two_checkpoints[0], tmp_path / "out")
    give_false_names(out, "renamed to 5")
    go(out, restart="auto", run__steps=22, checkpoint__every=0)
    assert sorted(front(p) for p in out.glob("checkpoint_*.h5")) == ["10", "20"] and starts_of(out)[-1] == 20
    go(out, restart="auto", run__steps=24, checkpoint__every=24, checkpoint__keep=1)
    assert {front(p) for p in out.glob("checkpoint_*.h5")} >= {"24"}

# SPDX-License-Identifier: MIT
"""A run that chooses its model and partition: the same trajectory, and by counted work the same choices."""
import os

import h5py
import pytest

from program import SOURCE, datasets, decisions, fails_with, hash_of, ok_run, once, printed, replay
from program import run_words, said_by_run, same_run, summary, table

KEYS = dict(run__steps=120, output__every=20)
AUTO = KEYS | dict(balance="auto", balance__every=4, balance__processes=40, balance__clock="work")
# Costs that no particle shows, which the first model does not learn.
REGION = "{lower: [60, 30], upper: [200, 110], factor: 5, period: 20, from_step: 8}"
HIDDEN = AUTO | dict(balance__every=2, balance__criterion="every", balance__work__region=REGION)
plain = once(ranks=2, **KEYS)
chosen = once(output__loads_every=2, **HIDDEN)


def without(found, *keys):
    return [{k: v for k, v in row.items() if k not in keys} for row in found]


@pytest.mark.parametrize("first, second, steps", [(2, 4, (35, 7)), (4, 1, (63,))])
def test_same_choices(plain, chosen, tmp, first, second, steps):
    """On any ranks, and after restarts in the midst of a trial and behind it."""
    found = summary(chosen)["auto"]
    assert same_run(chosen, plain) and found["choices"]
    ok_run(tmp, ranks=first, checkpoint__every=7, checkpoint__keep=99, **HIDDEN)
    assert decisions(tmp) == decisions(chosen) and summary(tmp)["auto"] == found
    for step in steps:  # a restart removes later checkpoints
        with h5py.File(tmp / f"checkpoint_{step}.h5") as f:
            assert (f["balance/choice/chosen"][2] > 0) == (step < 63), "in a trial"
        ok_run(tmp, ranks=second, restart=tmp / f"checkpoint_{step}.h5", **HIDDEN)
        assert hash_of(tmp) == hash_of(plain) and decisions(tmp) == decisions(chosen), step
        now = summary(tmp)["auto"]
        assert {k: now[k] for k in ("model", "partition")} == {k: found[k] for k in ("model", "partition")}


def test_replay(chosen, tmp):
    """A replay of the run's loads chooses as the run did."""
    keys = dict(balance="auto", balance__every=2, balance__processes=40, balance__criterion="every")
    replay(chosen / "loads.h5", tmp, **keys)
    assert decisions(tmp) == decisions(chosen) and summary(tmp)["auto"] == summary(chosen)["auto"]
    del keys["balance__every"]
    entries = len(datasets(chosen / "loads.h5", "step")["step"])
    for every in {}, {"balance__every": 0}, {"balance__every": 1}:
        replay(chosen / "loads.h5", tmp / "each", more=["--force"], **keys, **every)
        rows = decisions(tmp / "each")
        assert len(rows) == entries - 1 and rows[0]["model"] == "auto", "each entry is an opportunity"


def test_starts_as_the_first(tmp):
    """Before its first trial has ended, a run that chooses decides as one that was told its first candidates."""
    steps = AUTO | dict(run__steps=16)
    ok_run(tmp / "auto", **steps)
    fixed = steps | dict(balance__model="r1_ahead", balance__partition__kind="compact")
    ok_run(tmp / "fixed", **{k: v for k, v in fixed.items() if k != "balance"})
    assert without(decisions(tmp / "auto"), "model") == without(decisions(tmp / "fixed"), "model")


def test_never(plain, tmp):
    """A run that never balances has nothing to choose."""
    ok_run(tmp, **AUTO | dict(balance__every=0))
    assert same_run(tmp, plain) and "auto" not in summary(tmp)


def test_other_settings_stay():
    """Those of the deck, and those before `balance=auto`."""
    deck = os.path.join(SOURCE, "inputs/quickstart.yaml")
    text = printed(0, "check", deck, "--set", "balance.model=a1", "--set", "balance=auto")
    assert "every: 20" in text and "model: a1" in text and "auto: true" in text


def test_says_whether_others_were_tried(chosen, tmp):
    """In one sentence at the end."""
    short = said_by_run(tmp, **AUTO | dict(run__steps=8))
    assert "without a trial of the others" in short


@pytest.mark.parametrize("price, tried", [(1e-12, True), (1, False)])
def test_price_of_a_trial(tmp, price, tried):
    """By counted work a trial waits until it fits into the run, by the price of a balancing, and is paid for."""
    prices = dict(balance__work__balancing=price, balance__work__move=0)
    said = said_by_run(tmp, **AUTO | prices | dict(balance__criterion="every"))
    assert ("without a trial of the others" in said) != tried
    found = summary(tmp)["contenders"]["auto"]
    beside = round(found["balancing_seconds"] / price) - found["balancings"]
    assert beside == 4 * 9 * 2 * tried, "two trials, four models and five partitions"


def test_given_keys_stay(plain, tmp):
    """With model and kind given nothing is left to choose. The effective deck is the deck."""
    given = dict(balance__model="a1", balance__partition__kind="rcb")
    assert "rcb, because there are no others" in said_by_run(tmp / "auto", **AUTO, **given)
    ok_run(tmp / "fixed", **{k: v for k, v in AUTO.items() if k != "balance"}, **given)
    assert same_run(tmp / "auto", plain)
    assert without(decisions(tmp / "auto"), "model") == without(decisions(tmp / "fixed"), "model")
    assert summary(tmp / "auto")["auto"] == {"model": "a1", "partition": "rcb", "choices": []}
    half = AUTO | dict(balance__partition__order="hilbert")
    ok_run(tmp / "half", **half)
    ok_run(tmp / "again", deck=tmp / "half/deck.yaml")
    assert decisions(tmp / "again") == decisions(tmp / "half")
    assert (tmp / "again/deck.yaml").read_text() == (tmp / "half/deck.yaml").read_text()


def test_wall(plain, tmp):
    """By the wall clock, and with accelerators, which leave some candidates out."""
    said = said_by_run(tmp / "wall", ranks=2, **KEYS, balance="auto")
    assert "auto: " in said and same_run(tmp / "wall", plain)
    zones = dict(balance="auto", accelerator__backend="host", accelerator__share=0.3)
    ok_run(tmp / "zones", ranks=2, **KEYS, **zones)
    assert same_run(tmp / "zones", plain) and summary(tmp / "zones")["auto"]["partition"] != "compact"


def test_from_other_checkpoints(plain, tmp):
    """A restart may begin to choose, stop choosing, have other candidates, or other processes."""
    fixed = {k: v for k, v in AUTO.items() if k != "balance"}
    ways = [(fixed, AUTO), (HIDDEN, fixed), (HIDDEN, HIDDEN | dict(balance__partition__cut="patches"))]
    ways += [(HIDDEN, HIDDEN | dict(balance__processes=7)), (HIDDEN, HIDDEN | dict(balance__model="hybrid"))]
    for i, (before, after) in enumerate(ways):
        out = tmp / str(i)
        ok_run(out, checkpoint__every=60, **before)
        ok_run(out, ranks=2, restart=out / "checkpoint_60.h5", **after)
        assert hash_of(out) == hash_of(plain) and table(out, "balance.csv"), i


@pytest.mark.parametrize(
    "keys, says",
    [
        (dict(balance__auto="perhaps"), "balance.auto can't be 'perhaps'; use one of false, true"),
        (dict(balance="automatic"), "use the word auto or the keys auto, every"),
        (dict(AUTO, balance__compare="[{name: auto, model: r1}]"), "name can't be auto"),
    ],
)
def test_errors(tmp, keys, says):
    fails_with(2, says, 0, *run_words(tmp, **keys))

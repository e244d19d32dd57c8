# SPDX-License-Identifier: MIT
"""Load models, criteria and partitioners in Python. Those that imitate the program have its rows, to the last digit."""
import gc
import sys

import numpy as np
import pytest
import steelyard


def sum_of(values):
    """The sum in the order of balance/model/projection.cpp."""
    part, whole = np.zeros(8), len(values) // 8 * 8
    for row in values[:whole].reshape(-1, 8):
        part += row
    for value in values[whole:]:
        part[0] += value
    return sum(part, 0.0)


def projected(previous, time):
    """The nearest loads to the previous ones whose sum is `time`, with the arithmetic of project_to_sum()."""
    if time == 0:
        return np.zeros(len(previous))
    total, active = sum_of(previous), previous
    shift = (time - total) / len(previous)
    while previous.min() + shift < 0:
        kept = active[active + shift > 0]
        if len(kept) in (0, len(active)):
            break
        active, shift = kept, (time - sum_of(kept)) / len(kept)
    load = np.maximum(previous + shift, 0)
    return load * (time / sum_of(load))


class A1:
    """The model a1 of a series without particles."""

    def __init__(self):
        self.load = None

    def update(self, times, counts, owner):
        assert counts is None and times.dtype == float and owner.dtype == np.int32
        cells = [np.nonzero(owner.T.ravel() == p)[0] for p in range(len(times))]  # x slowest
        if self.load is None:
            before = [sum([1.0] * len(mine)) for mine in cells]
            self.load = np.full(owner.size, sum(map(float, times)) / sum(before))
        for mine, time in zip(cells, times):
            self.load[mine] = projected(self.load[mine], time)
        return self.load.reshape(owner.shape[::-1]).T


class Hybrid:
    """The model hybrid: a process's time shared by particles."""

    def update(self, times, counts, owner):
        of_each = np.bincount(owner.ravel(), weights=counts.ravel(), minlength=len(times))
        cells = np.bincount(owner.ravel(), minlength=len(times))
        with np.errstate(divide="ignore", invalid="ignore"):
            load = counts * (times / of_each)[owner]
        return np.where(of_each[owner] == 0, (times / cells)[owner], load)


class Rcb:
    """The partitioner rcb, with cuts that may go anywhere."""

    def __call__(self, load, parts, owner):
        assert load.dtype == np.int64 and owner.shape == load.shape
        return steelyard.partition(load, parts, "rcb", sticky=False)


class Menon:
    def decide(self, now):
        return now.lost > now.cost


def same(a, b, but=()):
    """Whether two contenders have the same rows."""
    for name, values in a.items():
        if name not in ("model", "driver", "model_seconds", "partition_seconds", "migrate_seconds", *but):
            assert np.array_equal(values, b[name]), name


@pytest.mark.parametrize("model, counted", [(A1, False), (Hybrid, True)])
def test_imitations(series, model, counted):
    """One's own driver and contenders beside the program's, which have the driver's parts where they name none."""
    name = model.__name__.lower()
    cuts, prices = dict(kind="rcb", sticky=False), dict(work={"balancing": 1e-3, "move": 1e-7})
    arrays = series.arrays(counted)
    built = steelyard.replay(**arrays, processes=7, model=name, partition=cuts, criterion="menon", **prices)
    assert 0 < built.costs[name].migrations < len(series.step) - 1
    rows = built[name]
    compare = [name, "exact", dict(model=model, name="again", partition=Rcb), dict(model=name, partition=cuts)]
    compare += [dict(model=name, criterion="menon"), dict(model=name, criterion=lambda now: now.lost > now.cost)]
    own = steelyard.replay(
        **arrays, processes=7, model=model, partition=Rcb(), criterion=Menon, compare=compare, owners=True, **prices
    )
    names = [model.__name__, name, "exact", "again", f"{name}/rcb", f"{name}/menon", f"{name}/<lambda>"]
    assert list(own.costs) == names
    for other in (model.__name__, "again", name, f"{name}/rcb", f"{name}/menon", f"{name}/<lambda>"):
        same(own[other], rows, ["criterion"])
        assert np.array_equal(own.owners[other], built.owners[name])
        assert own.costs[other][:5] == built.costs[name][:5] and own.lbe[other] == built.lbe[name]
    assert set(own[name]["criterion"]) == {"Menon"}


def test_speeds_and_first_partition(series):
    """A partitioner is asked for the first partition too, by the first loads. Times are those at the mean speed."""
    seen, slow = [], {"fraction": 0.3, "speed": 0.5}

    def keep(load, parts, owner):
        seen.append((load.copy(), parts))
        return owner

    class Look:
        def update(self, times, counts, owner):
            self.times = times
            return np.ones(owner.shape)

    look = Look()
    found = steelyard.replay(
        **series.arrays(), processes=6, model=look, partition=keep, criterion="every", work={"slow": slow}
    )
    assert len(seen) == len(series.step) and np.array_equal(seen[0][0], series.particles[0]) and seen[0][1] == 6
    assert (found.owners["Look"] == found.owners["Look"][0]).all() and len(set(np.round(found.speeds, 6))) == 2
    work = np.bincount(found.owners["Look"][0].ravel(), weights=series.load[-1].ravel())
    ratio = look.times / work
    assert ratio == pytest.approx(ratio[0])


class Broken(Exception):
    pass


def breaking(*_):
    raise Broken("of its own")


class Model:
    def __init__(self, answer):
        self.update = lambda times, counts, owner: answer(owner)


WRONG = {
    "raise in a model": (dict(model=Model(breaking)), Broken, "of its own"),
    "raise in a partitioner": (dict(partition=breaking), Broken, "of its own"),
    "raise in a criterion": (dict(criterion=breaking), Broken, "of its own"),
    "interrupt": (dict(partition=lambda *_: (_ for _ in ()).throw(KeyboardInterrupt)), KeyboardInterrupt, ""),
    "no update": (dict(model=lambda *_: 1), ValueError, "has no method update"),
    "nothing": (dict(model=Model(lambda o: None)), ValueError, "update: it returns object of shape ()"),
    "shape": (dict(model=Model(lambda o: np.ones(o.shape[::-1]))), ValueError, "of shape"),
    "NaN": (dict(model=Model(lambda o: o * np.nan)), ValueError, "return numbers from 0 to 1e"),
    "infinite": (dict(model=Model(lambda o: o + np.inf)), ValueError, "return numbers from 0 to 1e"),
    "negative": (dict(model=Model(lambda o: -1.0 - o)), ValueError, "return numbers from 0 to 1e"),
    "complex": (dict(model=Model(lambda o: o + 1j)), ValueError, "it returns complex128"),
    "owners of floats": (dict(partition=lambda load, p, o: o * 1.0), ValueError, "it returns float64"),
    "owner too large": (dict(partition=lambda load, p, o: o + 1), ValueError, "it returns 5 in cell ["),
    "owner negative": (dict(partition=lambda load, p, o: o - 1), ValueError, "return whole numbers from 0 to 4"),
    "flat owners": (dict(partition=lambda load, p, o: o.ravel()), ValueError, "it returns int32 of shape"),
    "a number": (dict(partition=lambda load, p, o: 0), ValueError, "of shape ()"),
    "no answer": (dict(criterion=lambda now: None), ValueError, "it returns NoneType; return True or False"),
    "optimum": (dict(optimum=True, partition=Rcb), ValueError, "optimum: it needs"),
    "same names": (dict(compare=[dict(model="a1", partition=Rcb)] * 2), ValueError, "is there twice"),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_callables(name, series):
    more, error, says = WRONG[name]
    of_contender = dict(compare=[dict(dict(model="a1", name="x"), **more)])
    for keys in (more, more if {"compare", "optimum"} & set(more) else of_contender):
        with pytest.raises(error) as raised:
            steelyard.replay(**series.arrays(), processes=5, **{"criterion": "every", **keys})
        assert says in str(raised.value), raised.value


def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096


def test_leaks():
    """Nothing is left of many replays, also of those that an exception ends: neither references nor memory."""
    load, before = np.random.default_rng(0).random((2, 4, 4)), None
    model, bad = Model(lambda owner: owner + 1.0), Model(breaking)
    for i in range(1000):
        if i == 100:
            gc.collect()
            before = sys.getrefcount(model), sys.getrefcount(bad), sys.getrefcount(load), resident()
        if i % 2 == 0:
            steelyard.replay(load, 3, model=model, partition=Rcb, criterion=Menon, compare=["a1"])
            continue
        with pytest.raises(Broken):
            steelyard.replay(load, 3, model=bad, criterion="every")
    gc.collect()
    after = sys.getrefcount(model), sys.getrefcount(bad), sys.getrefcount(load)
    assert after == before[:3] and resident() - before[3] < 8e6

# SPDX-License-Identifier: MIT
"""Accelerators as users have them. Threads stand in for them; where there is a GPU, the hashes are compared on it too.
"""
import functools

import pytest

from program import COLLISIONS, DECK, datasets, fails_with, fresh, hash_of, ok, ok_run, rows, run, run_words, settings
from program import summary, table, two_slabs

SPACE = COLLISIONS[3].deck
HEAD = "step rank share cpu_load cpu_seconds accelerator_seconds decision next_share most_share speed".split()
NESTED = dict(balance__migrate="always", balance__partition__kind="nested")
BY_WORK = dict(balance__every=5, balance__clock="work")


def zone(backend="host", **keys):
    return dict(accelerator__backend=backend, accelerator__every=20, **keys)


def fixed(share, **keys):
    return dict(accelerator__controller="fixed", accelerator__share=share, **keys)


def zones(out):
    found = table(out, "zones.csv")
    assert not found or list(found[0]) == HEAD
    return found


def state(out, restart=None, **keys):
    """The state and the rows at the end of a run."""
    ok_run(out if restart else fresh(out), restart=restart, **keys)
    return hash_of(out), rows(out)


@functools.cache
def backends():
    """Those that this program can use here besides none."""
    with_cuda = run(0, "run", DECK, "--out", "/proc/nowhere", *settings(accelerator__backend="cuda"))[1]
    return ["host"] if "accelerator.backend" in with_cuda else ["host", "cuda"]


DEFAULT = dict(accelerator__share=0.9)
INNER = dict(accelerator__reach="inner")
BY_LOAD = dict(accelerator__controller="cpu_load", accelerator__threads=2)
LIMITED = dict(balance__processes=9, balance__partition__max_particles_per_process=4000, **BY_WORK)


@pytest.fixture(scope="module")
def plain(tmp_path_factory):
    return state(tmp_path_factory.mktemp("plain") / "out", ranks=2)


@pytest.mark.group("accelerator_hash")
@pytest.mark.parametrize("ranks", (1, 2, 3))
@pytest.mark.parametrize(
    "keys",
    [fixed(0.1), fixed(0.5, **INNER), fixed(0.9, accelerator__devices=2), fixed(1), DEFAULT, BY_LOAD, LIMITED]
    + [fixed(1, **INNER)]
    + [dict(accelerator__share=0, balance__every=7, **NESTED)],
)
def test_one_hash(plain, tmp, ranks, keys):
    for backend in backends():
        assert state(tmp, ranks=ranks, **zone(backend, **keys)) == plain, backend
        table = zones(tmp)
        assert [int(r["step"]) for r in table if r["rank"] == "0"][:6] == [1, 2, 4, 8, 16, 20]
        most = [float(r["most_share"]) for r in table]
        assert all(float(r["next_share"]) <= m + 1e-9 for r, m in zip(table, most)), "beyond the reach"
        inner = keys.get("accelerator__reach") == "inner" and ranks > 1
        assert all(m < 1 for m in most) if inner else all(m == 1 for m in most)
        shares = [float(r["next_share"]) for r in table]
        if keys.get("accelerator__controller") == "fixed" and not inner:
            assert all(abs(x - keys["accelerator__share"]) < 0.02 for x in shares)
        z = summary(tmp)["accelerator"]
        assert (z["backend"], z["stands_in"], len(z["zones"])) == (backend, backend == "host", ranks)


def test_checks_where_cells_move(plain, tmp):
    """By the wall clock, a check that meets a balancing measures the cells of before."""
    keys = NESTED | dict(balance__every=20, balance__model="time_average")
    assert state(tmp, ranks=2, **zone(**keys)) == plain
    moved = {int(r["step"]) for r in table(tmp, "balance.csv") if r["decision"] == "moved"}
    checked = {int(r["step"]) for r in zones(tmp)}
    assert moved and moved <= checked


def test_threads_on_both_sides(plain, tmp):
    """By itself, and where zones of many blocks change at each balancing, which all threads fill."""
    for keys in ({}, dict(balance__migrate="always", balance__processes=8, **BY_WORK, **fixed(0.9))):
        assert state(tmp, threads=2, ranks=2, **zone(accelerator__threads=2, **keys)) == plain


def test_fields(tmp):
    """Cell fields name the owner of a cell and the zone that computes it."""
    keys = dict(run__steps=40, output__fields_every=40, balance__processes=6, balance__migrate="always")
    keys |= dict(balance__every=20, balance__clock="work")

    def fields(**more):
        ok_run(fresh(tmp), ranks=2, **keys, **more)
        return datasets(tmp / "fields_40.h5")

    without = fields()
    for backend in backends():
        found = fields(**zone(backend, **fixed(0.6, accelerator__devices=2)))
        particles = found["particles"]
        assert all((found[k] == without[k]).all() for k in ("particles", "owner"))
        part = [particles[found["zone"] == z].sum() / particles.sum() for z in range(3)]
        assert abs(part[0] - 0.4) < 0.1 and abs(part[1] - part[2]) < 0.05, part


SPACE_STEPS = dict(deck=SPACE, run__steps=60, output__every=20)


@pytest.fixture(scope="module")
def space(tmp_path_factory):
    return state(tmp_path_factory.mktemp("space") / "out", **SPACE_STEPS)


@pytest.mark.group("accelerator_space")
@pytest.mark.parametrize(
    "ranks, keys",
    [(1, keys) for keys in (fixed(0.1), fixed(0.5), fixed(1), fixed(0.6, accelerator__devices=3))]
    + [(2, dict(DEFAULT, accelerator__devices=2)), (2, BY_LOAD), (3, dict(balance__every=10, **NESTED))],
)
def test_space(space, tmp, ranks, keys):
    """In three dimensions: one hash, shares that are slabs of cells, and rows that add up."""
    for backend in backends():
        assert state(tmp, ranks=ranks, **SPACE_STEPS, **zone(backend, **keys)) == space, backend
        moves = zones(tmp)
        assert len(moves) >= 4 * ranks and {int(r["rank"]) for r in moves} == set(range(ranks))
        for r in moves:
            share, following, most = (float(r[k]) for k in ("share", "next_share", "most_share"))
            assert 0 <= share <= 1 and 0 <= following <= most + 1e-9 <= 1 + 1e-9, r
            assert float(r["cpu_seconds"]) >= 0 and float(r["accelerator_seconds"]) >= 0, r
            if keys.get("accelerator__controller") == "fixed":  # as near as slabs of cells come
                assert abs(following - keys["accelerator__share"]) < 0.05, r
        z = summary(tmp)["accelerator"]["zones"]
        assert len(z) == ranks and all(0 <= x["share"] <= x["most_share"] <= 1 for x in z), z
        if "balance__every" in keys:
            balancings = table(tmp, "balance.csv")
            assert len(balancings) >= 5
            for r in balancings:
                assert 0 < float(r["lbe"]) <= 1 and 0 < float(r["lbe_model"]) <= 1, r
                assert 0 < float(r["mean_seconds"]) <= float(r["max_seconds"]), r


@pytest.mark.group("accelerator_restarts")
def test_restarts(plain, tmp):
    """With an accelerator, without, and on other ranks; on as many ranks the border goes on where it stood."""
    ways = [dict(accelerator__backend="none")]
    ways += [zone(b, checkpoint__every=100, checkpoint__keep=9) for b in backends()]
    for first in ways:
        for then in ways:
            ok_run(fresh(tmp), ranks=2, **first | dict(run__steps=100, checkpoint__every=100))
            with_zones = first is not ways[0]
            shares = [float(r["next_share"]) for r in zones(tmp) if int(r["step"]) == 100] if with_zones else []
            for ranks in (1, 3, 2):
                again = state(tmp, ranks=ranks, restart=tmp / "checkpoint_100.h5", **then)
                assert again == plain, f"{first}, then {then} on {ranks} ranks"
            if shares and then is first:
                begun = [float(r["share"]) for r in zones(tmp) if int(r["step"]) == 101]
                assert len(begun) == 2 and begun == pytest.approx(shares, abs=0.03)
                steps = [int(r["step"]) for r in zones(tmp) if r["rank"] == "0"]
                assert steps == sorted(set(steps)) and steps[0] == 1
                # A check waits for new lists, but not longer than 40 steps after the last one.
                assert 260 < steps[-1] <= 300, steps


def test_fixed_share_after_a_restart(tmp):
    """The deck sets it, not the border that a checkpoint remembers."""
    ok_run(tmp, **zone(), run__steps=60, checkpoint__every=60)
    ok_run(tmp, restart="auto", **zone(**fixed(0.7)))
    late = [float(r["share"]) for r in zones(tmp) if int(r["step"]) > 61]
    assert late and all(abs(x - 0.7) < 0.03 for x in late), late


def test_checkpoint_of_borders(tmp):
    ok_run(tmp, ranks=2, **zone(), run__steps=60, checkpoint__every=60)
    assert len(datasets(tmp / "checkpoint_60.h5", "/zones/of_ranks")["/zones/of_ranks"]) >= 4


@pytest.mark.group("accelerator_speeds")
def test_speeds(plain, tmp):
    """Accelerators of different speeds, on emulated nodes: the run finds them, and gives each rank its part."""
    keys = zone() | BY_WORK | NESTED | dict(accelerator__every=10, accelerator__speed="[4, 8]")
    assert state(tmp, ranks=2, **keys) == plain
    last = [float(r["speed"]) for r in zones(tmp) if int(r["step"]) == 300]
    assert last == pytest.approx([4, 8], rel=0.05) and summary(tmp)["speeds"] == pytest.approx([5 / 7, 9 / 7], rel=0.05)
    late = [r for r in table(tmp, "balance.csv") if int(r["step"]) > 150]
    assert sum(float(r["mean_seconds"]) for r in late) / sum(float(r["max_seconds"]) for r in late) > 0.95
    # Half of the accelerators' speed changes nothing but the border.
    assert state(tmp, ranks=2, **keys | dict(accelerator__speed=2)) == plain


@pytest.mark.parametrize(
    "more, said",
    [
        (INNER, True),
        ({}, False),
        (dict(balance__partition__kind="rcb", **INNER), False),
        (dict(balance__every=0, **INNER), False),
    ],
)
def test_patches_that_leave_little(tmp, more, said):
    """Where patches leave an accelerator less than it could take, the run says so."""
    keys = zone() | BY_WORK | dict(accelerator__speed=50) | more
    text = ok(2, "run", DECK, "--out", tmp, *settings(**keys))
    assert ("accelerators could take only" in text) == said, text


REFUSED = [
    (dict(accelerator__backend="gpu"), "accelerator.backend"),
    (zone(accelerator__share=1.1), "accelerator.share"),
    (zone(accelerator__threads=0), "accelerator.threads"),
    (zone(accelerator__speed="[1, 2, 3]"), "accelerator.speed"),
    (zone(accelerator__threads=128, accelerator__devices=64), "accelerator.threads"),
    (zone(balance__every=5, balance__processes=8), "balance.processes"),
    (zone(balance__compare="[a1]", **BY_WORK), "balance.compare"),
    (zone("cuda"), "accelerator.backend"),
]


@pytest.mark.group("accelerator_errors")
@pytest.mark.parametrize("ranks", (1, 2))
@pytest.mark.parametrize("keys, where", REFUSED)
def test_refused(tmp, ranks, keys, where):
    if keys["accelerator__backend"] in backends()[1:]:
        pytest.skip("this program has a GPU")
    fails_with(2, where, ranks, *run_words(tmp, **keys))


def test_ranks_without_a_block(tmp):
    """Ranks that have no cells away from other ranks go on without a block, if these alone may be in it."""
    for ranks in (1, 7):
        ok_run(fresh(tmp), ranks=ranks, **zone(**INNER), **two_slabs([40, 30], [2, 2], [19, 28], [21, 2], [38, 28]))
    found = zones(tmp)
    assert any(float(r["most_share"]) == 0 for r in found)
    assert all(float(r["next_share"]) <= float(r["most_share"]) for r in found)

# SPDX-License-Identifier: MIT
"""Tests of accelerators as users have them.

Groups: accelerator_hash accelerator_space accelerator_restarts accelerator_speeds accelerator_errors. Threads stand in
for the accelerators; where there is a GPU, the hashes are compared on it too.
"""
import csv
import os

import h5py

from program import DECK, SOURCE, fresh, hash_of, rows, run, settings, summary

SPACE = os.path.join(SOURCE, "inputs/collision_3d.yaml")

HEAD = [
    "step",
    "rank",
    "share",
    "cpu_load",
    "cpu_seconds",
    "accelerator_seconds",
    "decision",
    "next_share",
    "most_share",
    "speed",
]


def zone(backend="host", **keys):
    return dict(accelerator__backend=backend, accelerator__every=20, **keys)


def zones(out):
    with open(os.path.join(out, "zones.csv")) as f:
        table = list(csv.DictReader(f))
    assert not table or list(table[0]) == HEAD, f"columns of zones.csv: {list(table[0]) if table else None}"
    return table


def done(ranks, out, *more, deck=DECK, threads=1, restart=None, **keys):
    """A run into `out`; its hash."""
    where = [] if restart is None else ["--restart", restart]
    if restart is None:
        fresh(out)
    code, text = run(ranks, "run", deck, "--out", out, "--quiet", *where, *settings(**keys), *more, threads=threads)
    assert code == 0, f"{keys} on {ranks} ranks: {code} {text}"
    return hash_of(out) if code == 0 else None


def backends():
    """Those that this program can use here besides none."""
    with_cuda = run(0, "run", DECK, "--out", "/proc/nowhere", *settings(accelerator__backend="cuda"))[1]
    return ["host"] if "accelerator.backend" in with_cuda else ["host", "cuda"]


def test_accelerator_hash(tmp):
    out = os.path.join(tmp, "out")
    plain = done(2, out)
    table = rows(out)
    for backend in backends():
        print("backend", backend)
        for ranks in (1, 2, 3):
            for keys in (
                dict(accelerator__controller="fixed", accelerator__share=0.1),
                dict(accelerator__controller="fixed", accelerator__share=0.5),
                dict(accelerator__controller="fixed", accelerator__share=0.9, accelerator__devices=2),
                dict(accelerator__controller="fixed", accelerator__share=1),
                dict(accelerator__share=0.9),
                dict(accelerator__controller="cpu_load", accelerator__threads=2),
                dict(
                    accelerator__share=0, balance__every=7, balance__migrate="always", balance__partition__kind="nested"
                ),
                dict(
                    balance__every=5,
                    balance__clock="work",
                    balance__processes=9,
                    balance__partition__max_particles_per_process=4000,
                ),
            ):
                assert (
                    done(ranks, out, **zone(backend, **keys)) == plain
                ), f"{backend}, {ranks} ranks, {keys}: another hash"
                assert rows(out) == table, f"{backend}, {ranks} ranks, {keys}: other rows of thermo.csv"
                assert [int(r["step"]) for r in zones(out) if r["rank"] == "0"][:6] == [
                    1,
                    2,
                    4,
                    8,
                    16,
                    20,
                ], f"steps of {zones(out)}"
                shares = [float(r["next_share"]) for r in zones(out)]
                assert all(
                    float(r["next_share"]) <= float(r["most_share"]) + 1e-9 for r in zones(out)
                ), "a share beyond what the rank's inner cells allow"
                if keys.get("accelerator__controller") == "fixed" and ranks == 1:
                    assert all(abs(x - keys["accelerator__share"]) < 0.02 for x in shares), f"{keys}: shares {shares}"
                assert ranks == 1 or all(x < 1 for x in shares), "a rank beside others that leaves its CPU nothing"
                z = summary(out)["accelerator"]
                assert (
                    z["backend"] == backend and z["stands_in"] == (backend == "host") and len(z["zones"]) == ranks
                ), f"summary.json: {z}"
        # Fields say who owns a cell, and who computes it.
        for keys in (
            dict(),
            zone(backend, accelerator__controller="fixed", accelerator__share=0.6, accelerator__devices=2),
        ):
            done(
                2,
                out,
                run__steps=40,
                output__fields_every=40,
                balance__processes=6,
                balance__every=20,
                balance__clock="work",
                balance__migrate="always",
                **keys,
            )
            with h5py.File(os.path.join(out, "fields_40.h5")) as f:
                fields = {k: f[k][()] for k in f}
                if not keys:
                    without = fields
                    continue
                assert all((fields[k] == without[k]).all() for k in ("particles", "owner")), "fields with accelerators"
                part = [fields["particles"][fields["zone"] == z].sum() / fields["particles"].sum() for z in range(3)]
                assert abs(part[0] - 0.4) < 0.1 and abs(part[1] - part[2]) < 0.05, f"particles of the zones: {part}"
        if backend == "host":
            assert done(1, out, threads=2, **zone(accelerator__threads=2)) == plain, "two threads on both sides"


def test_accelerator_space(tmp):
    """In three dimensions: one hash, shares that are slabs of cells, and rows that add up."""
    out, steps = os.path.join(tmp, "out"), dict(deck=SPACE, run__steps=60, output__every=20)
    plain = done(1, out, **steps)
    table = rows(out)
    for backend in backends():
        for ranks, keys in (
            *((1, dict(accelerator__controller="fixed", accelerator__share=s)) for s in (0.1, 0.5, 1)),
            (1, dict(accelerator__controller="fixed", accelerator__share=0.6, accelerator__devices=3)),
            (2, dict(accelerator__share=0.9, accelerator__devices=2)),
            (2, dict(accelerator__controller="cpu_load", accelerator__threads=2)),
            (3, dict(balance__every=10, balance__migrate="always", balance__partition__kind="nested")),
        ):
            assert done(ranks, out, **steps, **zone(backend, **keys)) == plain, f"{backend}, {ranks} ranks, {keys}"
            assert rows(out) == table, f"{backend}, {ranks} ranks, {keys}: other rows of thermo.csv"
            moves = zones(out)
            assert len(moves) >= 4 * ranks and {int(r["rank"]) for r in moves} == set(range(ranks)), moves
            for r in moves:
                share, following, most = (float(r[k]) for k in ("share", "next_share", "most_share"))
                assert 0 <= share <= 1 and 0 <= following <= most + 1e-9 <= 1 + 1e-9, f"shares {r}"
                assert float(r["cpu_seconds"]) >= 0 and float(r["accelerator_seconds"]) >= 0, f"times {r}"
                if keys.get("accelerator__controller") == "fixed":  # as near as slabs of cells come
                    assert abs(following - keys["accelerator__share"]) < 0.05, f"{keys}: {r}"
            z = summary(out)["accelerator"]["zones"]
            assert len(z) == ranks and all(0 <= x["share"] <= x["most_share"] <= 1 for x in z), z
            if "balance__every" not in keys:
                continue
            with open(os.path.join(out, "balance.csv")) as f:
                balancings = list(csv.DictReader(f))
            assert len(balancings) >= 5, balancings
            for r in balancings:
                assert 0 < float(r["lbe"]) <= 1 and 0 < float(r["lbe_model"]) <= 1, f"balance.csv: {r}"
                assert 0 < float(r["mean_seconds"]) <= float(r["max_seconds"]), f"balance.csv: {r}"


def test_accelerator_restarts(tmp):
    out = os.path.join(tmp, "out")
    plain = done(1, out)
    table = rows(out)
    ways = [dict(accelerator__backend="none")] + [
        zone(b, checkpoint__every=100, checkpoint__keep=9) for b in backends()
    ]
    for first in ways:
        for then in ways:
            done(2, out, **{**first, "run__steps": 100, "checkpoint__every": 100})
            shares = (
                [float(r["next_share"]) for r in zones(out) if int(r["step"]) == 100] if first is not ways[0] else []
            )
            for ranks in (1, 3, 2):
                assert (
                    done(ranks, out, restart=os.path.join(out, "checkpoint_100.h5"), **then) == plain
                ), f"{first}, then {then} on {ranks} ranks: another hash"
                assert rows(out) == table, f"{first}, then {then} on {ranks} ranks: other rows"
            if shares and then is first:  # on as many ranks the border goes on where it stood
                begun = [float(r["share"]) for r in zones(out) if int(r["step"]) == 101]
                assert len(begun) == 2 and all(
                    abs(a - b) < 0.03 for a, b in zip(shares, begun)
                ), f"shares {shares}, then {begun}"
                steps = [int(r["step"]) for r in zones(out) if r["rank"] == "0"]
                assert steps == sorted(set(steps)) and steps[0] == 1, f"rows of zones.csv: {steps}"
                # A check waits for new lists, but not longer than 40 steps after the last one.
                assert 260 < steps[-1] <= 300, f"rows of zones.csv: {steps}"
    # A share that is fixed is the deck's, whatever the border had learnt.
    done(1, out, **{**zone(), "run__steps": 60, "checkpoint__every": 60})
    done(1, out, restart="auto", **zone(accelerator__controller="fixed", accelerator__share=0.7))
    late = [float(r["share"]) for r in zones(out) if int(r["step"]) > 61]
    assert late and all(abs(x - 0.7) < 0.03 for x in late), f"a fixed share after a restart: {late}"
    # What a border has learnt is refused if it makes no sense.
    done(2, out, **{**zone(), "run__steps": 60, "checkpoint__every": 60})
    with h5py.File(os.path.join(out, "checkpoint_60.h5")) as f:
        assert f["/zones/of_ranks"].shape[0] >= 4, "what the borders have learnt stands in the checkpoint"


def test_accelerator_speeds(tmp):
    """Accelerators of different speeds, on emulated nodes: the run finds them by itself, and gives each rank its
    part."""
    out = os.path.join(tmp, "out")
    plain = done(1, out)
    keys = dict(
        zone(),
        accelerator__every=10,
        accelerator__speed="[4, 8]",
        balance__every=5,
        balance__clock="work",
        balance__migrate="always",
        balance__partition__kind="nested",
    )
    assert done(2, out, **keys) == plain, "another hash with accelerators of unequal speeds"
    last = [r for r in zones(out) if int(r["step"]) == 300]
    assert len(last) == 2 and all(
        abs(float(r["speed"]) / s - 1) < 0.05 for r, s in zip(last, (4, 8))
    ), f"speeds of the accelerators: {last}"
    found = summary(out)["speeds"]
    assert all(abs(f / s - 1) < 0.05 for f, s in zip(found, (5 / 7, 9 / 7))), f"speeds of the ranks: {found}"
    late = [r for r in csv.DictReader(open(os.path.join(out, "balance.csv"))) if int(r["step"]) > 150]
    lbe = sum(float(r["mean_seconds"]) for r in late) / sum(float(r["max_seconds"]) for r in late)
    assert lbe > 0.95, f"overall LBE {lbe}"
    # Where patches leave an accelerator less than it could take, the run says so.
    fast = dict(zone(), balance__every=5, balance__clock="work", accelerator__speed=50)
    rcb, none = (dict(balance__partition__kind=kind) for kind in ("rcb", "none"))
    for more, said in (({}, True), (rcb, False), (none, False), (dict(balance__every=0), False)):
        fresh(out)
        code, text = run(2, "run", DECK, "--out", out, *settings(**dict(fast, **more)))
        assert code == 0 and ("accelerators could take only" in text) == said, f"{more}: {code} {text}"
    # Half of the accelerators' speed changes nothing but the border.
    assert done(2, out, **dict(keys, accelerator__speed=2)) == plain, "another hash with slow accelerators"


def test_accelerator_errors(tmp):
    out = os.path.join(tmp, "out")
    cases = [
        (dict(accelerator__backend="gpu"), "accelerator.backend"),
        (dict(zone(), accelerator__share=1.1), "accelerator.share"),
        (dict(zone(), accelerator__threads=0), "accelerator.threads"),
        (dict(zone(), accelerator__speed="[1, 2, 3]"), "accelerator.speed"),
        (dict(zone(), accelerator__threads=128, accelerator__devices=64), "accelerator.threads"),
        (dict(zone(), balance__every=5, balance__processes=8), "balance.processes"),
        (dict(zone(), balance__every=5, balance__clock="work", balance__compare="[a1]"), "balance.compare"),
    ]
    if backends() == ["host"]:
        cases.append((dict(zone("cuda")), "accelerator.backend"))
    for keys, where in cases:
        for ranks in (1, 2):
            code, text = run(ranks, "run", DECK, "--out", fresh(out), *settings(**keys))
            assert (
                code == 2
                and where in text
                and text.startswith("steelyard: error: ")
                and text.count("\n") == 1
                and "; " in text
            ), f"{keys} on {ranks} ranks: {code} {text!r}"
    # Ranks that have no cells away from other ranks go on without a block.
    small = dict(
        zone(),
        system__box="[40, 30]",
        system__slabs__0__lower="[2, 2]",
        system__slabs__0__upper="[19, 28]",
        system__slabs__1__lower="[21, 2]",
        system__slabs__1__upper="[38, 28]",
    )
    for ranks in (1, 7):
        done(ranks, out, **small)
    table = zones(out)
    assert any(float(r["most_share"]) == 0 for r in table) and all(
        float(r["next_share"]) <= float(r["most_share"]) for r in table
    ), f"most shares: {table}"

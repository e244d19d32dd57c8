# SPDX-License-Identifier: MIT
"""Tests of `steelyard partition`. The numbers of partition.json are computed again here from its boxes."""
import filecmp
import itertools
import json
import os

import h5py
import numpy as np
import pytest

from program import DECK, datasets, fails_with, fresh, ok, ok_run, once, printed, settings

MACHINE = dict(machine__nodes=3, machine__cpus_per_node=2, machine__cores_per_cpu=3, machine__accelerator_speed=4)
MACHINE |= dict(machine__accelerators_per_node="[2, 0, 1]", machine__core_speed="[1, 1, 0.5]")


def partition(out, ranks=0, deck=DECK, kind=None, **keys):
    by = ["--kind", kind] if kind else []
    assert ok(ranks, "partition", deck, "--out", fresh(out), "--quiet", *by, *settings(**MACHINE | keys)) == ""
    return read(out)


def read(out):
    with open(os.path.join(out, "partition.json")) as f:
        return json.load(f)


def owners(p):
    """Owner of each cell [x, y, z]; every cell has one."""
    owner, count = np.full(p["grid"], -1), np.zeros(p["grid"], dtype=int)
    for r in p["resources"]:
        for x0, y0, z0, x1, y1, z1 in r["boxes"]:
            owner[x0:x1, y0:y1, z0:z1] = r["id"]
            count[x0:x1, y0:y1, z0:z1] += 1
    assert (count == 1).all(), f"{(count != 1).sum()} cells are not in exactly one box"
    return owner


def check_consistent(p, load, weight):
    """Everything that follows from the boxes; load, weight: of each cell [x, y, z]."""
    owner, resources = owners(p), p["resources"]
    n, grid = len(resources), p["grid"]
    sums = np.bincount(owner.ravel(), load.ravel(), minlength=n)
    speed = np.array([r["speed"] for r in resources])
    assert [r["id"] for r in resources] == list(range(n)), "ids"
    assert [r["cells"] for r in resources] == list(np.bincount(owner.ravel(), minlength=n)), "cells"
    assert np.allclose([r["load"] for r in resources], sums, rtol=1e-9), "loads"
    lbe = sums.sum() / speed.sum() / (sums / speed).max()
    assert abs(lbe - p["lbe_model"]) < 1e-9, f"LBE_m {p['lbe_model']}, not {lbe}"
    assert lbe - 1e-9 <= p["bound"] <= p["bound_of_cells"] <= 1, f"bound {p['bound']}, {p['bound_of_cells']} of {lbe}"
    node, fast = np.array([r["node"] for r in resources]), np.array([r["kind"] == "accelerator" for r in resources])
    sees = np.zeros((n,) + owner.shape, dtype=bool)  # which resources see a cell
    w = [p["ghost_width"] if g > 1 else 0 for g in grid]
    for offset in itertools.product(*(range(-k, k + 1) for k in w)):
        moved = np.roll(owner, offset, (0, 1, 2))
        for axis, o in enumerate(offset):
            if o and not p["periodic"][axis]:
                edge = [slice(None)] * 3
                edge[axis] = slice(0, o) if o > 0 else slice(o, None)
                moved[tuple(edge)] = -1
        for r in range(n):
            sees[r] |= moved == r
    counts = np.array([np.bincount(owner[sees[r]], minlength=n) for r in range(n)])  # [sees, owns]
    other = ~np.eye(n, dtype=bool)
    apart = node[:, None] != node[None, :]
    remote = (counts * (apart | (fast[:, None] & fast[None, :])) * other).sum(1)
    assert [r["remote_cells"] for r in resources] == list(remote)
    # A ghost counts once for each node, each CPU or accelerator, and each core that sees it.
    part = [(r["node"], r["cpu"] if r["kind"] == "core" else f"accelerator {r['id']}") for r in resources]

    def sent(groups, wanted):
        count, total = 0, 0
        for g in set(groups):
            seen = sees[[i for i in range(n) if groups[i] == g]].any(0)
            own = next(i for i in range(n) if groups[i] == g)
            counted = seen & np.array([groups[j] != g and wanted(own, j) for j in range(n)])[owner]
            count, total = count + int(counted.sum()), total + int(weight[counted].sum())
        return count, total

    expected = {
        "between_nodes": sent(list(node), lambda i, j: True),
        "between_cpus": sent(part, lambda i, j: node[i] == node[j]),
        "inside": sent(list(range(n)), lambda i, j: part[i] == part[j]),
    }
    for key, place in (("ghosts", 0), ("bytes", 1)):
        assert p[key] == {k: v[place] for k, v in expected.items()}, f"{key}: {p[key]} instead of {expected}"
    return remote[fast].sum()


def fields_of(out):
    """Fields [x, y, z] of a partition's cells."""
    fields = datasets(os.path.join(out, "fields_0.h5"), "load", "owner", "node", "kind")
    return {name: a.T[:, :, None] if a.ndim == 2 else a.T for name, a in fields.items()}


initial = once(run__steps=0, output__fields_every=1)


@pytest.mark.group("partition_results")
@pytest.mark.parametrize("algorithm, width", (("inner_outer", 1), ("inner_outer", 2), ("greedy", 1)))
def test_results(initial, tmp, algorithm, width):
    """All results follow from the boxes, and are the same on any ranks."""
    out, other = tmp / "out", tmp / "other"
    keys = dict(balance__partition__algorithm=algorithm, balance__partition__ghost_width=width)
    p = partition(out, **keys)
    fields, particles = fields_of(out), datasets(initial / "fields_0.h5", "particles")["particles"]
    remote = check_consistent(p, fields["load"], 8 * particles.T[:, :, None])
    assert algorithm == "greedy" or remote == 0, "remote cells of accelerators"
    assert (p["algorithm"], p["ghost_width"], len(p["machine"])) == (algorithm, width, 3)
    assert (fields["owner"] == owners(p)).all()
    for name, of in (("node", lambda r: r["node"]), ("kind", lambda r: r["kind"] == "accelerator")):
        assert (fields[name] == np.array([of(r) for r in p["resources"]])[fields["owner"]]).all(), name
    for ranks in (1, 2, 3):
        partition(other, ranks, **keys)
        for name in ("partition.json", "deck.yaml", "fields_0.h5", "fields_0.xdmf", "fields.xdmf"):
            assert filecmp.cmp(out / name, other / name, shallow=False), f"{name} differs on {ranks} ranks"


def test_machine_that_is_found(tmp):
    """Without a machine in the deck there is the one that is found; what is printed fits a terminal."""
    text = printed(2, "partition", DECK, "--out", tmp)
    assert "LBE_m" in text and all(len(line) < 80 for line in text.replace(str(tmp), "out").splitlines()), text
    (node,) = read(tmp)["machine"]
    assert node["accelerators"] == 0 and all(r["kind"] == "core" for r in read(tmp)["resources"])


@pytest.mark.group("partition_loads")
@pytest.mark.parametrize("cells", ([40, 30], [12, 16, 20]))
def test_uniform_load(tmp, cells):
    keys = dict(load__kind="uniform", load__cells=cells, load__bytes_per_cell=48)
    p = partition(tmp / "out", **keys)
    shape = tuple(cells) + (1,) * (3 - len(cells))
    assert tuple(p["grid"]) == shape and check_consistent(p, np.ones(shape), np.full(shape, 48)) == 0
    assert (fields_of(tmp / "out")["owner"] == owners(p)).all()
    for ranks in (2, 3):
        assert partition(tmp / "other", ranks, **keys) == p, ranks


def dataset(tmp, values):
    """Keys of a load that another program wrote."""
    path = tmp / "load.h5"
    with h5py.File(path, "w") as f:
        f.create_dataset("deep/er", data=values, **(dict(compression="gzip") if np.ndim(values) else {}))
    return dict(load__kind="dataset", load__file=path, load__dataset="deep/er")


@pytest.mark.parametrize("shape, kind", (((30, 40), "f4"), ((10, 12, 14), "i2")))
def test_load_of_another_program(tmp, shape, kind):
    """Single precision, integers, compressed, in a group."""
    load = (9 * np.random.default_rng(1).random(shape)).astype(kind)
    keys = dataset(tmp, load)
    p = partition(tmp / "out", **keys)
    values = load.astype(float).T.reshape(p["grid"])
    assert check_consistent(p, values, np.full(values.shape, 8)) == 0
    assert partition(tmp / "other", 3, **keys) == p


@pytest.mark.parametrize(
    "values, says",
    [
        (np.full((5, 5), -1.0), "negative, infinite"),
        ([[1, np.inf]], "negative, infinite"),
        (np.zeros((5, 5)), "zeros only"),
        (np.ones(5), "2 or 3 dimensions"),
        ([[b"a"]], "holds no numbers"),
        (None, "no dataset none"),
    ],
)
def test_wrong_load_of_another_program(tmp, values, says):
    keys = dataset(tmp, np.ones((5, 5)) if values is None else values)
    if values is None:
        keys["load__dataset"] = "none"
    fails_with(3, says, 2, "partition", DECK, "--out", tmp / "out", *settings(**keys))


def test_load_of_a_checkpoint(tmp):
    """Particles that have not moved have the load of the slabs; a checkpoint of another box is refused."""
    ok_run(tmp / "run", ranks=2, run__steps=1, run__dt=1e-14, checkpoint__every=1)
    keys = dict(load__kind="checkpoint", load__file=tmp / "run/checkpoint_1.h5")
    assert partition(tmp / "other", 2, **keys) == partition(tmp / "out")
    words = ["partition", DECK, "--out", tmp / "new", *settings(**keys, system__box="[300, 150]")]
    fails_with(3, "system.box", 0, *words)


def check_kind(p, kind, values):
    """Each kind of partition has its own bounds for boxes and loads."""
    speed, got = (np.array([r[name] for r in p["resources"]]) for name in ("speed", "load"))
    target = speed * values.sum() / speed.sum()
    if kind in ("rcb", "none"):
        assert all(len(r["boxes"]) == 1 for r in p["resources"]), "more than a box"
    if kind == "chain":  # no more than a cell above what is even
        assert (got <= target + 2 * values.max()).all()
    if kind in ("rcb", "chain", "none"):
        shortfall = {r["id"]: 0 for r in p["resources"]}
        for s in p["shortfalls"]:
            shortfall[s["id"]] += s["shortfall"]
        assert list(shortfall.values()) == pytest.approx(list(np.maximum(0, 1 - got / target)), abs=1e-6)


@pytest.mark.group("partition_kinds")
@pytest.mark.parametrize("shape, dense", (((60, 80), np.s_[20:30, 30:50]), ((20, 24, 28), np.s_[5:12, 8:15, 10:18])))
def test_kinds(tmp, shape, dense):
    """Chain, rcb and even boxes beside the nested partition, in the plane and in space."""
    load = np.random.default_rng(3).random(shape)
    load[dense] *= 10
    values = load.T if load.ndim == 3 else load.T[:, :, None]
    keys, out, worth = dict(dataset(tmp, load), balance__partition__cut="cells"), tmp / "out", {}
    for kind in (None, "nested", "rcb", "chain", "none"):
        p = partition(out, kind=kind, **keys)
        check_consistent(p, values, np.full(values.shape, 8))
        check_kind(p, kind, values)
        worth[kind] = p["lbe_model"]
        assert p["algorithm"] == {None: "inner_outer", "nested": "inner_outer"}.get(kind, kind)
        assert partition(tmp / "other", 3, kind=kind, **keys) == p, f"{kind} on 3 ranks"
        fields = fields_of(out)
        assert np.allclose(fields["load"], values) and (fields["owner"] == owners(p)).all(), kind
        cells = " ".join(str(n) for n in values.T.shape)
        assert f'Dimensions="{cells}"' in (out / "fields_0.xdmf").read_text(), kind
    assert worth[None] == worth["nested"] and worth["nested"] > 0.95, worth
    assert worth["none"] < 0.5 < worth["rcb"] < worth["chain"], worth


@pytest.mark.parametrize(
    "kind, keys, says",
    [
        ("rcb", dict(load__kind="uniform", load__cells="[4, 4, 1]"), "use fewer"),
        ("rcb", dict(balance__partition__min_width=64), "min_width"),
        ("greedy", {}, "--kind"),
    ],
)
def test_refused_kinds(tmp, kind, keys, says):
    fails_with(2, says, 2, "partition", DECK, "--kind", kind, "--out", tmp / "out", *settings(**MACHINE | keys))


@pytest.mark.group("partition_errors")
@pytest.mark.parametrize("ranks", (0, 2))
@pytest.mark.parametrize(
    "keys, code, says",
    [
        (dict(machine__nodes=0), 2, "machine.nodes is 0"),
        (dict(machine__nodes=100000), 2, "use fewer nodes"),
        (dict(load__kind="dataset"), 2, "load.file is missing"),
        (dict(load__kind="dataset", load__file="no.h5"), 3, "not a readable HDF5 file"),
        (dict(load__kind="dataset", load__file=DECK), 3, "not a readable HDF5 file"),
        (dict(load__kind="dataset", load__file=os.path.dirname(DECK)), 3, "is a directory; give an HDF5 file in it"),
        (dict(load__kind="checkpoint", load__file="no.h5"), 3, "no.h5: "),
        (dict(load__kind="checkpoint", load__file=DECK), 3, "tiny.yaml: "),
    ],
)
def test_errors(tmp, ranks, keys, code, says):
    fails_with(code, says, ranks, "partition", DECK, "--out", tmp, *settings(**keys))
    assert not (tmp / "partition.json").exists()


@pytest.mark.parametrize("words, code", (([], 2), ([DECK, "--out", ""], 2), ([DECK, "--out", "/proc/nowhere"], 5)))
def test_command_line(words, code):
    fails_with(code, (), 0, "partition", *words)

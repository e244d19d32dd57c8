# SPDX-License-Identifier: MIT
"""Tests of `steelyard partition`.

Groups: partition_results partition_loads partition_kinds partition_errors. What partition.json says is computed again
here from its boxes.
"""
import filecmp
import itertools
import json
import os
import subprocess

import h5py
import numpy as np

from program import HANG_SECONDS, DECK, checkpoints, command, environment, fresh, run, settings

MACHINE = dict(
    machine__nodes=3,
    machine__cpus_per_node=2,
    machine__cores_per_cpu=3,
    machine__accelerators_per_node="[2, 0, 1]",
    machine__core_speed="[1, 1, 0.5]",
    machine__accelerator_speed=4,
)


def partition(out, ranks=0, deck=DECK, kind=None, **keys):
    by = ["--kind", kind] if kind else []
    code, text = run(ranks, "partition", deck, "--out", fresh(out), "--quiet", *by, *settings(**{**MACHINE, **keys}))
    assert code == 0 and text == "", f"partition {kind} with {keys} on {ranks} ranks: {code} {text}"
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
    assert [r["remote_cells"] for r in resources] == list(
        remote
    ), f"remote cells: {[r['remote_cells'] for r in resources]} instead of {list(remote)}"
    # What is sent is counted once for each node, each CPU or accelerator, and each core that sees it.
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


def with_load(out):
    """The load and owner [x, y, z] of a partition's cell fields."""
    with h5py.File(os.path.join(out, "fields_0.h5")) as f:
        return {name: f[name][:].T[:, :, None] for name in ("load", "owner", "node", "kind")}


def particles_of(tmp):
    """Particles in each cell [x, y, z] of the deck's initial state."""
    out = fresh(os.path.join(tmp, "initial"))
    assert run(0, "run", DECK, "--out", out, "--quiet", *settings(run__steps=0, output__fields_every=1))[0] == 0, "run"
    with h5py.File(os.path.join(out, "fields_0.h5")) as f:
        return f["particles"][:].T[:, :, None]


def test_partition_results(tmp):
    out, other = os.path.join(tmp, "out"), os.path.join(tmp, "other")
    particles = particles_of(tmp)
    for algorithm, width in (("inner_outer", 1), ("inner_outer", 2), ("greedy", 1)):
        keys = dict(balance__partition__algorithm=algorithm, balance__partition__ghost_width=width)
        p = partition(out, **keys)
        fields = with_load(out)
        remote = check_consistent(p, fields["load"], 8 * particles)
        assert algorithm == "greedy" or remote == 0, f"{remote} remote cells of accelerators"
        assert p["algorithm"] == algorithm and p["ghost_width"] == width and len(p["machine"]) == 3, "options"
        assert (fields["owner"] == owners(p)).all(), "owners in the fields"
        for name, of in (("node", lambda r: r["node"]), ("kind", lambda r: r["kind"] == "accelerator")):
            assert (
                fields[name] == np.array([of(r) for r in p["resources"]])[fields["owner"]]
            ).all(), f"{name} in the fields"
        for ranks in (1, 2, 3):
            partition(other, ranks, **keys)
            for name in ("partition.json", "deck.yaml", "fields_0.h5", "fields_0.xdmf", "fields.xdmf"):
                assert filecmp.cmp(
                    os.path.join(out, name), os.path.join(other, name), shallow=False
                ), f"{name} of {algorithm} differs on {ranks} ranks"
    # What it prints fits a terminal; without a machine in the deck there is the one that is found.
    done = subprocess.run(
        command(2, "partition", DECK, "--out", fresh(out)),
        env=environment(),
        capture_output=True,
        text=True,
        timeout=HANG_SECONDS,
    )
    assert (
        done.returncode == 0
        and "LBE_m" in done.stdout
        and all(len(line) < 80 for line in done.stdout.replace(out, "out").splitlines())
    ), done.stdout
    with open(os.path.join(out, "partition.json")) as f:
        p = json.load(f)
    assert (
        len(p["machine"]) == 1
        and p["machine"][0]["accelerators"] == 0
        and all(r["kind"] == "core" for r in p["resources"])
    ), f"found: {p['machine']}"


def test_partition_loads(tmp):
    out, other, file = (os.path.join(tmp, name) for name in ("out", "other", "load.h5"))
    # Uniform, in 2D and 3D.
    for cells in ([40, 30], [12, 16, 20]):
        keys = dict(load__kind="uniform", load__cells=cells, load__bytes_per_cell=48)
        p = partition(out, **keys)
        shape = tuple(cells) + (1,) * (3 - len(cells))
        assert tuple(p["grid"]) == shape, f"grid {p['grid']}"
        assert check_consistent(p, np.ones(shape), np.full(shape, 48)) == 0, "remote cells"
        with h5py.File(os.path.join(out, "fields_0.h5")) as f:
            owner = np.asarray(f["owner"]).reshape(shape[::-1]).transpose(2, 1, 0)  # files have x fastest
        assert (owner == owners(p).reshape(shape)).all(), "owners in the fields"
        for ranks in (2, 3):
            assert partition(other, ranks, **keys) == p, f"{cells} on {ranks} ranks"
    # Datasets of other programs: single precision, integers, compressed, in groups.
    random = np.random.default_rng(1)
    with h5py.File(file, "w") as f:
        f.create_dataset("flat", data=random.random((30, 40)).astype("f4"), chunks=(7, 9), compression="gzip")
        f.create_dataset("deep/er", data=random.integers(0, 9, (10, 12, 14)).astype("i2"))
        f.create_dataset("negative", data=np.full((5, 5), -1.0))
        f.create_dataset("endless", data=[[1, np.inf]])
        f.create_dataset("zeros", data=np.zeros((5, 5)))
        f.create_dataset("line", data=np.ones(5))
        f.create_dataset("words", data=[[b"a"]])
    for dataset in ("flat", "deep/er"):
        with h5py.File(file) as f:
            load = f[dataset][:].astype(float)
        keys = dict(load__kind="dataset", load__file=file, load__dataset=dataset)
        p = partition(out, **keys)
        values = load.T if load.ndim == 3 else load.T[:, :, None]
        assert check_consistent(p, values, np.full(values.shape, 8)) == 0, "remote cells"
        assert partition(other, 3, **keys) == p, f"{dataset} on 3 ranks"
    for dataset, what in (
        ("negative", "negative, infinite"),
        ("endless", "negative, infinite"),
        ("zeros", "zeros only"),
        ("line", "2 or 3 dimensions"),
        ("words", "holds no numbers"),
        ("none", "no dataset none"),
    ):
        code, text = run(
            2,
            "partition",
            DECK,
            "--out",
            out,
            "--force",
            *settings(load__kind="dataset", load__file=file, load__dataset=dataset),
        )
        assert code == 3 and text.count("\n") == 1 and what in text, f"{dataset}: {code} {text}"
    # A checkpoint of particles that have not moved has the load of the slabs.
    run_out = os.path.join(tmp, "run")
    assert (
        run(2, "run", DECK, "--out", run_out, "--quiet", *settings(run__steps=1, run__dt=1e-14, checkpoint__every=1))[0]
        == 0
    ), "run"
    checkpoint = os.path.join(run_out, f"checkpoint_{checkpoints(run_out)[-1]}.h5")
    p = partition(out)
    assert partition(other, 2, load__kind="checkpoint", load__file=checkpoint) == p, "a checkpoint's load differs"
    code, text = run(
        0,
        "partition",
        DECK,
        "--out",
        fresh(out),
        *settings(load__kind="checkpoint", load__file=checkpoint, system__box="[300, 150]"),
    )
    assert code == 3 and text.count("\n") == 1 and "system.box" in text, f"another box: {code} {text}"


def test_partition_kinds(tmp):
    """Chain, rcb and even boxes beside the nested partition, in the plane and in space."""
    out, other, file = (os.path.join(tmp, name) for name in ("out", "other", "load.h5"))
    random = np.random.default_rng(3)
    loads = {"plane": random.random((60, 80)), "space": random.random((20, 24, 28))}
    loads["plane"][20:30, 30:50] *= 10
    loads["space"][5:12, 8:15, 10:18] *= 10
    with h5py.File(file, "w") as f:
        for name, load in loads.items():
            f[name] = load
    for name, load in loads.items():
        values = load.T if load.ndim == 3 else load.T[:, :, None]
        keys = dict(load__kind="dataset", load__file=file, load__dataset=name)
        worth = {}
        for kind in (None, "nested", "rcb", "chain", "none"):
            cut = dict(keys, balance__partition__cut="cells")
            p = partition(out, kind=kind, **cut)
            check_consistent(p, values, np.full(values.shape, 8))
            worth[kind] = p["lbe_model"]
            assert p["algorithm"] == {None: "inner_outer", "nested": "inner_outer"}.get(kind, kind), p["algorithm"]
            assert partition(other, 3, kind=kind, **cut) == p, f"{kind} of {name} on 3 ranks"
            with h5py.File(os.path.join(out, "fields_0.h5")) as f:
                assert f["load"].shape == load.shape and np.allclose(f["load"], load), f"{kind}: the load of {name}"
                assert (f["owner"][:].reshape(values.T.shape).T == owners(p)).all(), f"{kind}: owners of {name}"
            with open(os.path.join(out, "fields_0.xdmf")) as f:
                shape = " ".join(str(n) for n in values.T.shape)
                assert f'Dimensions="{shape}"' in f.read(), f"{kind}: fields.xdmf of {name}"
            if kind in ("rcb", "none"):
                assert all(len(r["boxes"]) == 1 for r in p["resources"]), f"{kind}: more than a box"
            speed = np.array([r["speed"] for r in p["resources"]])
            got = np.array([r["load"] for r in p["resources"]])
            if kind == "chain":  # no more than a cell above what is even
                assert (got <= speed * values.sum() / speed.sum() + 2 * values.max()).all(), f"{name}: {got / speed}"
            for r, target in zip(p["resources"], speed * values.sum() / speed.sum()):
                listed = [s["shortfall"] for s in p["shortfalls"] if s["id"] == r["id"]]
                lacks = max(0, 1 - r["load"] / target)
                if kind in ("rcb", "chain", "none"):
                    assert abs(sum(listed) - lacks) < 1e-6, f"{kind} of {name}: shortfall {listed} of {lacks}"
        assert worth[None] == worth["nested"] and worth["nested"] > 0.95, worth
        assert worth["none"] < 0.5 < worth["rcb"] < worth["chain"], worth
    for keys, what in (
        (dict(load__kind="uniform", load__cells="[4, 4, 1]"), "use fewer"),
        (dict(balance__partition__min_width=64), "min_width"),
    ):
        code, text = run(2, "partition", DECK, "--kind", "rcb", "--out", fresh(out), *settings(**MACHINE, **keys))
        assert code == 2 and text.count("\n") == 1 and what in text, f"{keys}: {code} {text}"
    code, text = run(0, "partition", DECK, "--kind", "greedy", "--out", fresh(out))
    assert code == 2 and "--kind" in text, f"an unknown kind: {code} {text}"


def test_partition_errors(tmp):
    out, file = os.path.join(tmp, "out"), os.path.join(tmp, "no.h5")
    for keys, code, what in (
        (dict(machine__nodes=0), 2, "machine.nodes is 0"),
        (dict(machine__nodes=100000), 2, "use fewer nodes"),
        (dict(load__kind="dataset"), 2, "load.file is missing"),
        (dict(load__kind="dataset", load__file=file), 3, "not a readable HDF5 file"),
        (dict(load__kind="dataset", load__file=DECK), 3, "not a readable HDF5 file"),
        (dict(load__kind="checkpoint", load__file=file), 3, "no.h5: "),
        (dict(load__kind="checkpoint", load__file=DECK), 3, "tiny.yaml: "),
    ):
        for ranks in (0, 2):
            got, text = run(ranks, "partition", DECK, "--out", out, *settings(**keys))
            assert (
                got == code
                and text.count("\n") == 1
                and text.startswith("steelyard: error: ")
                and "; " in text
                and what in text
            ), f"{keys} on {ranks} ranks: {got} {text}"
            assert not os.path.exists(os.path.join(out, "partition.json")), f"{keys}: wrote a partition"
    assert (
        run(0, "partition")[0] == 2
        and run(0, "partition", DECK, "--out", "")[0] == 2
        and run(0, "partition", DECK, "--out", "/proc/nowhere")[0] == 5
    ), "command line"
    # Results that are there are kept, as those of a run.
    assert run(0, "partition", DECK, "--out", out, "--quiet")[0] == 0, "partition"
    for what in ("partition", "run"):
        code, text = run(2, what, DECK, "--out", out)
        assert (
            code == 2 and "holds results already" in text and text.count("\n") == 1
        ), f"a second {what}: {code} {text}"
    assert run(2, "partition", DECK, "--out", out, "--quiet", "--force")[0] == 0, "partition with --force"
    assert sorted(os.listdir(os.path.join(out, "previous_1"))) == [
        "deck.yaml",
        "fields.xdmf",
        "fields_0.h5",
        "fields_0.xdmf",
        "partition.json",
        "run.json",
    ], os.listdir(out)

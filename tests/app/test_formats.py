# SPDX-License-Identifier: MIT
"""Balancings in the formats of other programs (`output.balance_formats`), and load series of LBDatafiles.

Groups: lbaf metis restart foreign errors.
"""
import csv
import importlib.util
import json
import os
import shutil
import subprocess
import sys

import h5py
import numpy as np
import pytest

from program import HANG_SECONDS, COLLISIONS, SOURCE, decisions, hash_of, run, settings

BOTH = "[lbaf, metis]"
BALANCED = dict(balance__every=10, balance__clock="work", balance__processes=12, run__steps=60)


def collide(dimensions, out, ranks=0, restart=None, more=(), **keys):
    c = COLLISIONS[dimensions]
    where = ["--restart", restart] if restart else []
    code, text = run(ranks, "run", c.deck, "--out", out, "--quiet", *where, *more, *settings(**(c.small | keys)))
    assert code == 0, f"{ranks} ranks, {keys}: {code} {text}"
    return text


def replay(loads, out, ranks=0, code=0, more=(), **keys):
    found, text = run(ranks, "replay", loads, "--out", out, *more, *settings(**keys))
    assert found == code, f"{keys}: {found} {text}"
    return text


def convert(path, out, code=0):
    """scripts/convert_loads.py, and the line that it says."""
    script = os.path.join(SOURCE, "scripts", "convert_loads.py")
    done = subprocess.run([sys.executable, script, str(path), str(out)], capture_output=True, text=True)
    assert done.returncode == code, (path, done.stderr)
    return done.stderr


def driver_rows(out):
    with open(out / "balance.csv") as f:
        return [r for r in csv.DictReader(f) if r["driver"] == "1"]


def only(keys, optional, what):
    """The missing and the unknown keys of an object of JSON."""
    assert set(keys) <= set(what) <= set(keys) | set(optional), what


def check_entity(entity):
    only(("type", "home", "migratable"), ("id", "seq_id", "collection_id", "index", "objgroup_id"), entity)
    assert "id" in entity or "seq_id" in entity
    assert isinstance(entity["type"], str) and isinstance(entity["home"], int)
    assert isinstance(entity["migratable"], bool)
    if entity["migratable"] and "seq_id" in entity:
        assert "collection_id" in entity
    assert all(isinstance(entity[k], int) for k in ("id", "seq_id") if k in entity)


def check_schema(data):
    """As the format's own description demands it (vt: scripts/LBDatafile_schema.py): which keys there must and may be,
    whole numbers or floating-point ones."""
    only(("phases",), ("type", "metadata"), data)
    assert data["type"] == data["metadata"]["type"] == "LBDatafile"
    only((), ("type", "rank", "shared_node", "phases", "attributes"), data["metadata"])
    assert isinstance(data["metadata"]["rank"], int)
    for phase in data["phases"]:
        only(("id", "tasks"), ("communications", "user_defined"), phase)
        assert isinstance(phase["id"], int)
        for task in phase["tasks"]:
            only(("entity", "node", "resource", "time"), ("subphases", "user_defined", "attributes"), task)
            check_entity(task["entity"])
            assert isinstance(task["node"], int) and isinstance(task["resource"], str)
            assert isinstance(task["time"], float)
        for message in phase["communications"]:
            only(("type", "to", "from", "messages", "bytes"), (), message)
            check_entity(message["to"])
            check_entity(message["from"])
            assert message["type"] == "SendRecv" and isinstance(message["messages"], int)
            assert isinstance(message["bytes"], float)


def lbaf(out):
    """The files of all processes, checked, in the order of the processes."""
    files = sorted((out / "lbaf").iterdir(), key=lambda f: int(f.name.split(".")[1]))
    assert [f.name for f in files] == [f"data.{p}.json" for p in range(len(files))]
    found = [json.loads(f.read_text()) for f in files]
    for p, data in enumerate(found):
        check_schema(data)
        assert data["metadata"]["rank"] == p
        assert [phase["id"] for phase in data["phases"]] == list(range(len(data["phases"])))
    return found


def steps_of(data):
    return [phase["user_defined"]["step"] for phase in data["phases"]]


def times_of(files, phase):
    return [sum(t["time"] for t in data["phases"][phase]["tasks"]) for data in files]


def check_times(out, files, steps):
    """Each phase has the times that a row of balance.csv sums up."""
    rows = {int(r["step"]): r for r in driver_rows(out)}
    assert all(steps_of(data) == steps for data in files)
    for i, step in enumerate(steps):
        times, row = times_of(files, i), rows[step]
        assert np.mean(times) == pytest.approx(float(row["mean_seconds"]), rel=1e-12, abs=0), step
        assert max(times) == pytest.approx(float(row["max_seconds"]), rel=1e-12, abs=0), step
        assert np.mean(times) / max(times) == pytest.approx(float(row["lbe"]), rel=1e-12, abs=0), step


def owners_of(files, phase, cells):
    """The process of each cell (x, y, z) and the number of its box; every cell lies in one box."""
    owner, box = -np.ones(cells, int), -np.ones(cells, int)
    count = 0
    for p, data in enumerate(files):
        for task in data["phases"][phase]["tasks"]:
            lower, upper = task["user_defined"]["lower"], task["user_defined"]["upper"]
            where = tuple(slice(a, b) for a, b in zip(lower, upper))
            assert (owner[where] == -1).all()
            assert task["entity"]["id"] == np.ravel_multi_index(lower, cells)
            assert task["node"] == task["entity"]["home"] == p
            owner[where], box[where] = p, count
            count += 1
    assert (owner >= 0).all()
    return owner, box


@pytest.mark.group("lbaf")
@pytest.mark.parametrize("dimensions", [2, 3])
def test_lbaf(tmp_path, dimensions):
    """The files follow the schema. Their times are those of balance.csv, their boxes cover the grid, and their messages
    are the particles at the borders. They are the same on any ranks and from a replay. A replay of them has these
    loads."""
    c, out = COLLISIONS[dimensions], tmp_path / "run"
    cells = tuple(c.cells[:dimensions])
    keys = BALANCED | dict(balance__work__slow__fraction=0.5, balance__work__slow__speed=0.5, balance__noise=0.05)
    collide(dimensions, out, 2, **keys, output__balance_formats="[lbaf]", output__loads_every=10, system__seed=7)
    assert not (out / "metis").exists()
    files = lbaf(out)
    assert len(files) == 12
    check_times(out, files, list(range(10, 61, 10)))
    with h5py.File(out / "loads.h5") as f:
        particles = f["particles"][()].transpose(0, *range(dimensions, 0, -1))
    for i in range(6):
        owner, box = owners_of(files, i, cells)
        tasks = [t for data in files for t in data["phases"][i]["tasks"]]
        held = [int(particles[i + 1][box == b].sum()) for b in range(len(tasks))]
        assert [t["user_defined"]["particles"] for t in tasks] == held
    sent, wraps = {}, [b == "periodic" for b in files[0]["metadata"]["attributes"]["boundary"]]
    for cell in np.ndindex(cells):
        near = [[x + d for d in (-1, 0, 1) if w or 0 <= x + d < n] for x, n, w in zip(cell, cells, wraps)]
        around = np.ix_(*[np.mod(x, n) for x, n in zip(near, cells)])
        for b in set(box[around].ravel()) - {box[cell]}:
            sent[box[cell], b] = sent.get((box[cell], b), 0) + 4 * dimensions * int(particles[6][cell])
    number = {t["entity"]["id"]: b for b, t in enumerate(tasks)}
    found = {
        (number[m["from"]["id"]], number[m["to"]["id"]]): m["bytes"]
        for data in files
        for m in data["phases"][5]["communications"]
    }
    assert found == sent and len(sent) > 30

    # A replay of the loads of the run, and a replay of the files themselves. Both give the same times.
    again = tmp_path / "again"
    replay(out / "loads.h5", again, 3, more=["--deck", out / "deck.yaml"])
    assert [lbaf(again)[p]["phases"] for p in range(12)] == [data["phases"] for data in files]
    even = dict(balance__processes=12, balance__model="exact", balance__criterion="never")
    loads = tmp_path / "of_boxes.h5"
    assert convert(out / "lbaf", loads) == ""
    for ranks in (0, 3):
        replay(loads, tmp_path / f"even{ranks}", ranks, output__balance_formats="[lbaf]", **even)
    assert decisions(tmp_path / "even0") == decisions(tmp_path / "even3")
    rows = driver_rows(tmp_path / "even0")
    assert [int(r["step"]) for r in rows] == list(range(20, 61, 10))  # the first phase is the start
    shares = np.zeros(cells)
    for i, r in enumerate(rows):
        assert float(r["mean_seconds"]) == pytest.approx(np.mean(times_of(files, i + 1)), rel=1e-6)
        for data in files:
            for t in data["phases"][i + 1]["tasks"]:
                where = tuple(slice(a, b) for a, b in zip(t["user_defined"]["lower"], t["user_defined"]["upper"]))
                shares[where] = t["time"] / shares[where].size
        mine, _ = owners_of(lbaf(tmp_path / "even0"), i, cells)
        times = np.bincount(mine.ravel(), shares.ravel())
        assert times == pytest.approx(times_of(lbaf(tmp_path / "even0"), i), rel=1e-6)
        assert float(r["max_seconds"]) == pytest.approx(times.max(), rel=1e-6)
    replay(out / "loads.h5", tmp_path / "same", balance__constants__start="uniform", **even)
    assert {r["ghost_cells"] for r in rows} == {r["ghost_cells"] for r in driver_rows(tmp_path / "same")}
    assert "/particles, which the model r1 needs" in replay(loads, tmp_path / "r1", code=2, balance__processes=12)


@pytest.mark.group("lbaf")
def test_wall(tmp_path):
    """By the wall clock there is a phase for each balancing that makes a partition; nothing changes by it."""
    keys = dict(balance__every=30, balance__processes=6, run__steps=120, output__balance_formats=BOTH)
    collide(2, tmp_path / "plain", run__steps=120)
    for criterion in ("every", "gain"):
        out = tmp_path / criterion
        collide(2, out, 2, balance__criterion=criterion, **keys)
        steps = [int(r["step"]) for r in driver_rows(out) if float(r["model_seconds"]) > 0]
        check_times(out, lbaf(out), steps)
        assert sorted(int(f.stem[5:]) for f in (out / "metis").glob("*.graph")) == steps
        assert steps or criterion == "gain"  # the clock may be too coarse for some of them
        assert hash_of(tmp_path / "plain") == hash_of(out)


def lbe(weights, parts):
    sums = np.bincount(parts, weights)
    return sums.mean() / sums.max()


@pytest.mark.skipif(not shutil.which("gpmetis"), reason="METIS has no gpmetis here")
@pytest.mark.group("metis")
@pytest.mark.parametrize("dimensions", [2, 3])
def test_metis(tmp_path, dimensions):
    """METIS' own program reads and partitions each graph; its weights with the run's owners have the LBE that
    balance.csv says; without particles there is one weight."""
    c, out = COLLISIONS[dimensions], tmp_path / "run"
    # Wide cells of few particles leave little to choose in three dimensions.
    processes = 12 if dimensions == 2 else 6
    keys = BALANCED | dict(balance__processes=processes, output__loads_every=10)
    collide(dimensions, out, 2, **keys, output__balance_formats="[metis]")
    assert not (out / "lbaf").exists()
    n = int(np.prod(c.cells[:dimensions]))
    with h5py.File(out / "loads.h5") as f:
        loads, particles = (
            f[k][()].transpose(0, *range(dimensions, 0, -1)).reshape(-1, n) for k in ("load", "particles")
        )
    for r in driver_rows(out):
        step = int(r["step"])
        graph = out / "metis" / f"step_{step}.graph"
        lines = [line.split() for line in graph.read_text().splitlines() if not line.startswith("%")]
        assert len(lines) == n + 1 and lines[0][0] == str(n) and lines[0][2:] == ["010", "2"]
        weights = np.array([[int(x) for x in line[:2]] for line in lines[1:]])
        assert np.array_equal(weights[:, 1], particles[step // 10])
        assert np.allclose(weights[:, 0] / 2**30, loads[step // 10] / loads[step // 10].sum(), atol=2**-29)
        owners = np.loadtxt(graph.with_suffix(".owners"), dtype=int)
        assert lbe(weights[:, 0], owners) == pytest.approx(float(r["lbe"]), abs=1e-5)
        done = subprocess.run(
            ["gpmetis", "-ufactor=50", graph, str(processes)], capture_output=True, text=True, timeout=HANG_SECONDS
        )
        assert done.returncode == 0 and "Balancing constraints: 2" in done.stdout, done.stdout + done.stderr
        parts = np.loadtxt(f"{graph}.part.{processes}", dtype=int)
        assert len(parts) == n and set(parts) == set(range(processes))
        assert lbe(weights[:, 0], parts) > 0.9 and lbe(weights[:, 1], parts) > 0.9
    bare = tmp_path / "bare.h5"
    with h5py.File(bare, "w") as f:
        f["load"] = np.random.default_rng(1).random((3, 9, 16)) * 1e90
    replay(bare, tmp_path / "bare", balance__processes=4, balance__model="a1", output__balance_formats=BOTH)
    graph = tmp_path / "bare" / "metis" / "step_2.graph"
    done = subprocess.run(["gpmetis", graph, "4"], capture_output=True, text=True, timeout=HANG_SECONDS)
    assert "Balancing constraints: 1" in done.stdout or "Balance:" in done.stdout, done.stdout + done.stderr
    check_times(tmp_path / "bare", lbaf(tmp_path / "bare"), [1, 2])


@pytest.mark.group("restart")
def test_restart(tmp_path):
    """A restart goes on after the phases up to its step, also if the start before was killed or wrote none. Another
    number of processes begins anew. --force puts all aside."""
    keys = BALANCED | dict(output__balance_formats=BOTH, checkpoint__every=20)
    whole, out = tmp_path / "whole", tmp_path / "out"
    collide(2, whole, **keys)
    names = sorted(f.name for f in (whole / "metis").iterdir())

    def same():
        assert [d["phases"] for d in lbaf(out)] == [d["phases"] for d in lbaf(whole)]
        assert sorted(f.name for f in (out / "metis").iterdir()) == names
        assert all((out / "metis" / n).read_text() == (whole / "metis" / n).read_text() for n in names)

    collide(2, out, 2, **(keys | dict(run__steps=50)))
    collide(2, out, 3, restart=out / "checkpoint_40.h5", **keys)
    same()
    # As it is after a kill: the names of unfinished files, no end, and a line that is not whole in one of them.
    for p in range(12):
        path = out / "lbaf" / f"data.{p}.json"
        lines = path.read_text().splitlines(keepends=True)
        assert lines[-1] == "]}\n"
        path.unlink()
        path.with_suffix(".json.tmp").write_text("".join(lines[:-1])[: -7 if p == 5 else None])
    collide(2, out, restart=out / "checkpoint_40.h5", **keys)
    same()
    # Another trajectory: what is dropped is put aside first.
    collide(2, out, restart=out / "checkpoint_40.h5", **(keys | dict(run__dt=0.0004, output__balance_formats="[]")))
    assert steps_of(lbaf(out)[0]) == [10, 20, 30, 40]
    assert len(list((out / "metis").iterdir())) == 8
    aside = max(out.glob("previous_*"), key=lambda f: int(f.name[9:]))
    assert steps_of(lbaf(aside)[0]) == [10, 20, 30, 40, 50, 60]
    assert sorted(f.name for f in (aside / "metis").iterdir()) == names
    # A file that lost phases costs the others nothing: all are put aside.
    short = out / "lbaf" / "data.1.json"
    short.write_text("".join(short.read_text().splitlines(keepends=True)[:2]))
    collide(2, out, restart=out / "checkpoint_40.h5", **keys)
    aside = max(out.glob("previous_*"), key=lambda f: int(f.name[9:]))
    assert steps_of(json.loads((aside / "lbaf" / "data.0.json").read_text())) == [10, 20, 30, 40]
    assert steps_of(lbaf(out)[0]) == [50, 60]
    text = collide(2, out, restart=out / "checkpoint_40.h5", **(keys | dict(balance__processes=9)))
    assert "lbaf is incomplete, or of other processes or cells, so it is put aside" in text
    assert len(lbaf(out)) == 9 and steps_of(lbaf(out)[8]) == [50, 60]
    code, text = run(0, "run", COLLISIONS[2].deck, "--out", out, *settings(run__steps=1))
    assert code == 2 and "holds results already" in text
    collide(2, out, more=["--force"], run__steps=1)
    assert not (out / "lbaf").exists() and not (out / "metis").exists()


def vt(path, tasks, rank=0, **more):
    """A file as vt writes it: phases of (id, time, index)."""
    phases = [
        {
            "id": i,
            "tasks": [
                {
                    "entity": {"type": "object", "id": o, "home": rank, "migratable": True}
                    | ({"index": index, "collection_id": 7} if index else {}),
                    "node": rank,
                    "resource": "cpu",
                    "time": time,
                    "subphases": [{"id": 0, "time": time}],
                }
                for o, time, index in phase
            ],
        }
        for i, phase in enumerate(tasks)
    ]
    path.write_text(json.dumps({"metadata": {"type": "LBDatafile", "rank": rank}, "phases": phases} | more))


EXACT = dict(balance__processes=4, balance__model="exact", balance__criterion="every", balance__partition__cut="cells")


@pytest.mark.group("foreign")
def test_foreign(tmp_path):
    """Files of other programs: objects in a row by their ids, or where their indices say."""
    random = np.random.default_rng(2)
    times = random.random((3, 24)) ** 3
    ids = np.arange(24) * 2**33 + 5
    moved = random.permutation(24)
    for name in ("row", "plane", "space", "mixed"):
        folder = tmp_path / name
        folder.mkdir()
        for rank, mine in enumerate((moved[:10], moved[10:])):
            index = {
                "row": lambda k: None,
                "plane": lambda k: [k // 6, k % 6],
                "space": lambda k: [k // 12, k // 4 % 3, k % 4],
                "mixed": lambda k: [k // 2, 0],  # twice the same
            }[name]
            vt(
                folder / f"any.{rank}.json",
                [[(int(ids[k]), float(t[k]), index(int(k))) for k in mine] for t in times],
                rank,
            )
        assert convert(folder, tmp_path / f"{name}.h5") == ""
        for ranks in (0, 2):
            loads = tmp_path / f"{name}.h5"
            replay(loads, tmp_path / f"{name}{ranks}", ranks, output__balance_formats="[metis]", **EXACT)
        rows = driver_rows(tmp_path / f"{name}0")
        assert decisions(tmp_path / f"{name}0") == decisions(tmp_path / f"{name}2")
        for r, t in zip(rows, times[1:], strict=True):
            assert float(r["mean_seconds"]) == pytest.approx(t.sum() / 4, rel=1e-6)
            graph = (tmp_path / f"{name}0" / "metis" / f"step_{r['step']}.graph").read_text().splitlines()
            shape = {"plane": "4 x 6 x 1", "space": "2 x 3 x 4"}.get(name, "24 x 1 x 1")
            assert graph[0] == f"% step {r['step']}; {shape} cells by x, then y, then z"
            weights = np.array([int(line.split()[0]) for line in graph[3:]])
            assert np.allclose(weights / 2**30, t / t.sum(), atol=1e-6), name  # in the order of ids
    one = tmp_path / "one.h5"
    convert(tmp_path / "row" / "any.0.json", one)
    with h5py.File(one) as a, h5py.File(tmp_path / "row.h5") as b:
        assert np.array_equal(a["load"], b["load"])


@pytest.mark.group("errors")
def test_errors(tmp_path):
    """Bad files: one line says what is wrong, and nothing is written."""
    folder, out = tmp_path / "data", tmp_path / "out.h5"
    tasks = [[(1, 0.5, None), (2, 0.25, None)], [(1, 0.5, None), (2, 0.5, None)]]
    first = folder / "data.0.json"

    def refused(says, path=folder):
        text = convert(path, out, 2)
        assert text.count("\n") == 1 and text.startswith("convert_loads.py: ") and says in text, (says, text)
        assert not out.exists()

    def fresh(tasks=tasks, **more):
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        vt(first, tasks, **more)
        vt(folder / "data.1.json", [[(i + 9, t, x) for i, t, x in phase] for phase in tasks], 1)
        return json.loads(first.read_text())

    def changed(says, change):
        data = fresh()
        change(data)
        first.write_text(json.dumps(data))
        refused(says)

    def task(data):
        return data["phases"][1]["tasks"][0]

    changed("the time -0.25 is no number >= 0", lambda d: task(d).update(time=-0.25))
    changed("the time nan is no number", lambda d: task(d).update(time=float("nan")))
    changed("the time '1' is no number", lambda d: task(d).update(time="1"))
    changed("4294967296 is no whole number from", lambda d: task(d)["entity"].update(index=[2**32, 0]))
    changed("0.5 is no whole number from", lambda d: task(d)["entity"].update(index=[0.5, 0]))
    changed("15.5 is no whole number from", lambda d: d["phases"][1].update(user_defined={"step": 15.5}))
    changed("the key 'time' is missing", lambda d: task(d).pop("time"))
    changed("the key 'phases' is missing", lambda d: d.pop("phases"))
    changed("the key 'tasks' is missing", lambda d: d["phases"][0].pop("tasks"))
    changed("the key 'entity' is missing", lambda d: task(d).pop("entity"))
    changed("the key 'seq_id' is missing", lambda d: task(d)["entity"].pop("id"))
    changed("no whole number", lambda d: task(d)["entity"].update(id=1.5))
    changed("data.1.json: its phases are not those", lambda d: d["phases"].pop())
    changed("data.1.json: its phases are not those", lambda d: d["phases"][1].update(id=7))
    changed("objects of phase 1 are not those of phase 0", lambda d: d["phases"][1]["tasks"].pop())
    changed("objects of phase 1 are not those of phase 0", lambda d: task(d)["entity"].update(id=8))
    changed("phase 1 holds no objects, or one of them twice", lambda d: task(d)["entity"].update(id=10))
    fresh()
    whole = first.read_bytes()
    for size in (0, 1, len(whole) // 2, len(whole) - 1):
        first.write_bytes(whole[:size])
        refused("data.0.json: is no JSON")
    first.write_text("[]")
    refused("is no LBDatafile")
    text = json.dumps(fresh())
    for what in ('"index": ', '"user_defined": '):
        deep = "[" * 100_000 + "]" * 100_000
        first.write_text(text.replace('"id": 1,', f'"id": 1, {what}{deep},', 1))
        refused("nests too deeply")
    first.write_text(text.replace('"id": 0', '"id": 1e300', 1))
    refused("1e+300 is no whole number")
    fresh()
    (folder / "data.1.json").rename(folder / "data.3.json")
    refused("the file of rank 1 is missing")
    (folder / "data.999999999.json").write_text("")
    refused("the file of rank 1 is missing")
    fresh()
    os.truncate(first, 4 * 10**12)
    refused("needs about 40000.0 GB of memory")
    fresh()
    first.rename(folder / "data.0.json.br")
    refused("Brotli" if importlib.util.find_spec("brotli") else "install python3-brotli")
    fresh()
    first.rename(folder / "other.0.json")
    refused("holds files of the names data, other")
    refused("is not called NAME.RANK.json", folder / "data.json")
    pinned = fresh()
    task(pinned)["entity"]["migratable"] = False
    first.write_text(json.dumps(pinned))
    assert "1 objects may not migrate" in convert(folder, tmp_path / "pinned.h5")
    fresh([[], []])
    refused("phase 0 holds no objects")
    fresh([[(i, 1.0, [1100 * i, 1100 * i]) for i in range(6)]])
    (folder / "data.1.json").unlink()
    refused("the indices of 6 objects span 30261001 cells")
    fresh([])
    refused("there are no phases")
    shutil.rmtree(folder)
    folder.mkdir()
    refused("there are no files NAME.RANK.json")

    # Files of this program: one is missing at the end; boxes do not fit.
    run_out = tmp_path / "run"
    collide(2, run_out, **BALANCED, output__balance_formats="[lbaf]")
    first = run_out / "lbaf" / "data.0.json"
    text = first.read_text()
    for key, value, says in (
        ("cells", [2**31 - 1] * 2, "2147483647 is no whole number from 1 to 1048576"),
        ("cells", [2**20] * 3, "GB of memory"),
        ("cells", [2**32 + 8, 8], "4294967304 is no whole number"),
        ("processes", -1, "-1 is no whole number"),
    ):
        data = json.loads(text)
        data["metadata"]["attributes"][key] = value
        if key == "cells":
            data["metadata"]["attributes"]["boundary"] = ["periodic"] * len(value)
        first.write_text(json.dumps(data))
        refused(says, run_out / "lbaf")
    data = json.loads(text)
    data["phases"][0]["tasks"][0].pop("user_defined")
    first.write_text(json.dumps(data))
    refused("some objects have no box", run_out / "lbaf")
    first.write_text(text)
    last = run_out / "lbaf" / "data.11.json"
    text = last.read_text()
    last.unlink()
    refused("there are files of 11 ranks, and 12 have written some", run_out / "lbaf")
    data = json.loads(text)
    data["phases"][3]["tasks"][0]["user_defined"]["upper"][0] += 1
    last.write_text(json.dumps(data))
    refused("the boxes of phase 3 do not cover each cell once", run_out / "lbaf")


@pytest.mark.group("errors")
def test_cannot_write(tmp_path):
    """A file that cannot be written ends the run with code 5, and no half of it bears its name."""
    loads = {"metis": np.ones((3, 400, 400)), "lbaf": np.random.default_rng(1).random((60, 60, 60))}
    for name, load in loads.items():
        path, out = tmp_path / f"{name}.h5", tmp_path / name
        with h5py.File(path, "w") as f:
            f["load"] = load
        keys = dict(balance__processes=2, balance__model="a1", balance__partition__patches_per_process=200)
        keys = settings(**keys, output__balance_formats=f"[{name}]")
        code, text = run(0, "replay", path, "--out", out, "--quiet", *keys, limit=6 << 20)
        assert code == 5 and f"cannot write {name}/" in text and text.count("\n") == 1, (code, text)
        left = [f.name for f in (out / name).iterdir() if f.suffix != ".tmp"]
        assert left == (["step_1.owners"] if name == "metis" else [])

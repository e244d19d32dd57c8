# SPDX-License-Identifier: MIT
"""Balancings in the formats of other programs (`output.balance_formats`), and load series of LBDatafiles."""
import contextlib
import importlib.util
import io
import json
import os
import shutil
import subprocess
from unittest import mock

import numpy as np
import pytest

import convert_loads
from program import HANG_SECONDS, COLLISIONS, collide, datasets, decisions, fails_with, hash_of, ok, run_words
from program import settings, table, write_datasets

BOTH = "[lbaf, metis]"
BALANCED = dict(balance__every=10, balance__clock="work", balance__processes=12, run__steps=60)


def replay(loads, out, ranks=0, more=(), **keys):
    ok(ranks, "replay", loads, "--out", out, *more, *settings(**keys))


def convert(path, out, code=0):
    """The line of scripts/convert_loads.py, which is called here."""
    said = io.StringIO()
    with mock.patch("sys.argv", ["convert_loads.py", str(path), str(out)]), contextlib.redirect_stderr(said):
        try:
            ended = convert_loads.main()
        except SystemExit as e:
            ended = e.code
    assert (ended or 0) == code, (path, said.getvalue())
    return said.getvalue()


def driver_rows(out):
    return table(out, "balance.csv", driver="1")


def fields_of(path, dimensions, *names):
    """Fields of all times, [time, x, y, ...]."""
    return [a.transpose(0, *range(dimensions, 0, -1)) for a in datasets(path, *names).values()]


def only(keys, optional, what):
    """The missing and the unknown keys of an object of JSON."""
    assert set(keys) <= set(what) <= set(keys) | set(optional), what


def check_entity(entity):
    only(("type", "home", "migratable"), ("id", "seq_id", "collection_id", "index", "objgroup_id"), entity)
    kinds = dict(type=str, home=int, migratable=bool, id=int, seq_id=int)
    assert all(isinstance(entity[k], kind) for k, kind in kinds.items() if k in entity)
    assert "id" in entity or "seq_id" in entity and ("collection_id" in entity or not entity["migratable"])


def check_schema(data):
    """As the format's own description demands it (vt: scripts/LBDatafile_schema.py): which keys there must and may be,
    whole numbers or floating-point ones."""
    only(("phases",), ("type", "metadata"), data)
    assert data["type"] == data["metadata"]["type"] == "LBDatafile" and isinstance(data["metadata"]["rank"], int)
    only((), ("type", "rank", "rank_alpha", "shared_node", "phases", "attributes"), data["metadata"])
    assert isinstance(data["metadata"]["rank_alpha"], float) and data["metadata"]["rank_alpha"] >= 0
    for phase in data["phases"]:
        only(("id", "tasks"), ("communications", "user_defined"), phase)
        assert isinstance(phase["id"], int)
        for task in phase["tasks"]:
            only(("entity", "node", "resource", "time"), ("subphases", "user_defined", "attributes"), task)
            check_entity(task["entity"])
            assert [type(task[k]) for k in ("node", "resource", "time")] == [int, str, float]
        for message in phase["communications"]:
            only(("type", "to", "from", "messages", "bytes"), (), message)
            check_entity(message["to"]), check_entity(message["from"])
            assert message["type"] == "SendRecv"
            assert [type(message[k]) for k in ("messages", "bytes")] == [int, float]


def lbaf(out):
    """The files of all processes, checked, in the order of the processes."""
    files = sorted((out / "lbaf").iterdir(), key=lambda f: int(f.name.split(".")[1]))
    assert [f.name for f in files] == [f"data.{p}.json" for p in range(len(files))]
    found = [json.loads(f.read_text()) for f in files]
    for p, data in enumerate(found):
        check_schema(data)
        assert data["metadata"]["rank"] == p
        assert [phase["id"] for phase in data["phases"]] == list(range(len(data["phases"])))
        speed = data["phases"][-1]["user_defined"]["speed"]
        assert data["metadata"]["rank_alpha"] == pytest.approx(1 / speed, rel=1e-6)
    return found


def steps_of(data):
    return [phase["user_defined"]["step"] for phase in data["phases"]]


def times_of(files, phase):
    """Of each process, at its own speed."""
    phases = [data["phases"][phase] for data in files]
    return [sum(t["time"] for t in phase["tasks"]) / phase["user_defined"]["speed"] for phase in phases]


def check_times(out, files, steps):
    """Each phase has the times that a row of balance.csv sums up."""
    rows = {int(r["step"]): r for r in driver_rows(out)}
    assert all(steps_of(data) == steps for data in files)
    for i, step in enumerate(steps):
        times, row = times_of(files, i), rows[step]
        said = [float(row[name]) for name in ("mean_seconds", "max_seconds", "lbe")]
        assert said == pytest.approx([np.mean(times), max(times), np.mean(times) / max(times)], rel=1e-12, abs=0), step


def box_of(task):
    """Where the cells of a task lie in a field."""
    return tuple(slice(a, b) for a, b in zip(task["user_defined"]["lower"], task["user_defined"]["upper"]))


def tasks_of(files, phase):
    """Processes and tasks of a phase."""
    return [(p, task) for p, data in enumerate(files) for task in data["phases"][phase]["tasks"]]


def owners_of(files, phase, cells):
    """The process of each cell (x, y, z) and the number of its box; every cell lies in one box."""
    owner, box = -np.ones(cells, int), -np.ones(cells, int)
    for count, (p, task) in enumerate(tasks_of(files, phase)):
        where = box_of(task)
        assert (owner[where] == -1).all()
        assert task["entity"]["id"] == np.ravel_multi_index(task["user_defined"]["lower"], cells)
        assert task["node"] == task["entity"]["home"] == p
        owner[where], box[where] = p, count
    assert (owner >= 0).all()
    return owner, box


def borders_of(box, counts, periodic, size):
    """Bytes from each box to each other one whose cells touch, corners included: `size` bytes a particle."""
    sent = {}
    for cell in np.ndindex(box.shape):
        near = [[x + d for d in (-1, 0, 1) if w or 0 <= x + d < n] for x, n, w in zip(cell, box.shape, periodic)]
        around = np.ix_(*[np.mod(x, n) for x, n in zip(near, box.shape)])
        for b in set(box[around].ravel()) - {box[cell]}:
            sent[box[cell], b] = sent.get((box[cell], b), 0) + size * int(counts[cell])
    return sent


@pytest.fixture(scope="module", params=[2, 3])
def balanced(request, tmp_path_factory):
    """The dimensions and the folder of a run with files for LBAF, and those files."""
    out = tmp_path_factory.mktemp("balanced") / "run"
    keys = BALANCED | dict(balance__work__slow__fraction=0.5, balance__work__slow__speed=0.5, balance__noise=0.05)
    keys |= dict(output__balance_formats="[lbaf]", output__loads_every=10, system__seed=7)
    collide(request.param, out, ranks=2, **keys)
    assert not (out / "metis").exists()
    return request.param, out, lbaf(out)


def test_lbaf(balanced):
    """The files follow the schema. Their times are those of balance.csv, their boxes cover the grid, and their messages
    are the particles at the borders."""
    dimensions, out, files = balanced
    cells = tuple(COLLISIONS[dimensions].cells)
    assert len(files) == 12
    check_times(out, files, list(range(10, 61, 10)))
    (particles,) = fields_of(out / "loads.h5", dimensions, "particles")
    for i in range(6):
        _, box = owners_of(files, i, cells)
        tasks = [t for _, t in tasks_of(files, i)]
        held = [int(particles[i + 1][box == b].sum()) for b in range(len(tasks))]
        assert [t["user_defined"]["particles"] for t in tasks] == held
    periodic = [b == "periodic" for b in files[0]["metadata"]["attributes"]["boundary"]]
    sent = borders_of(box, particles[6], periodic, 4 * dimensions)
    number = {t["entity"]["id"]: b for b, t in enumerate(tasks)}
    messages = [m for data in files for m in data["phases"][5]["communications"]]
    found = {(number[m["from"]["id"]], number[m["to"]["id"]]): m["bytes"] for m in messages}
    assert found == sent and len(sent) > 30


def test_replays(balanced, tmp_path):
    """A replay of the run's loads on other ranks writes the same files. A replay of the files has the same times
    at the mean speed."""
    dimensions, out, files = balanced
    cells, again, loads = tuple(COLLISIONS[dimensions].cells), tmp_path / "again", tmp_path / "of_boxes.h5"
    replay(out / "loads.h5", again, 3, more=["--deck", out / "deck.yaml"])
    assert [data["phases"] for data in lbaf(again)] == [data["phases"] for data in files]
    even = dict(balance__processes=12, balance__model="exact", balance__criterion="never")
    assert convert(out / "lbaf", loads) == ""
    for ranks in (0, 3):
        replay(loads, tmp_path / f"even{ranks}", ranks, output__balance_formats="[lbaf]", **even)
    assert decisions(tmp_path / "even0") == decisions(tmp_path / "even3")
    rows, replayed = driver_rows(tmp_path / "even0"), lbaf(tmp_path / "even0")
    assert [int(r["step"]) for r in rows] == list(range(20, 61, 10))  # the first phase is the start
    shares = np.zeros(cells)
    for i, r in enumerate(rows):
        assert float(r["mean_seconds"]) == pytest.approx(
            sum(t["time"] for _, t in tasks_of(files, i + 1)) / 12, rel=1e-6
        )
        for _, t in tasks_of(files, i + 1):
            shares[box_of(t)] = t["time"] / shares[box_of(t)].size
        times = np.bincount(owners_of(replayed, i, cells)[0].ravel(), shares.ravel())
        assert times == pytest.approx(times_of(replayed, i), rel=1e-6)
        assert float(r["max_seconds"]) == pytest.approx(times.max(), rel=1e-6)
    replay(out / "loads.h5", tmp_path / "same", balance__constants__start="uniform", **even)
    assert {r["ghost_cells"] for r in rows} == {r["ghost_cells"] for r in driver_rows(tmp_path / "same")}
    words = ["replay", loads, "--out", tmp_path / "r1", *settings(balance__processes=12)]
    fails_with(2, "/particles, which the model r1 needs", 0, *words)


def test_wall(tmp_path):
    """By the wall clock there is a phase for each balancing that makes a partition; nothing changes by it."""
    keys = dict(balance__every=30, balance__processes=6, run__steps=120, output__balance_formats=BOTH)
    collide(2, tmp_path / "plain", run__steps=120)
    for criterion in ("every", "gain"):
        out = tmp_path / criterion
        collide(2, out, ranks=2, balance__criterion=criterion, **keys)
        steps = [int(r["step"]) for r in driver_rows(out) if float(r["model_seconds"]) > 0]
        check_times(out, lbaf(out), steps)
        assert sorted(int(f.stem[5:]) for f in (out / "metis").glob("*.graph")) == steps
        assert steps or criterion == "gain"  # the clock may be too coarse for some of them
        assert hash_of(tmp_path / "plain") == hash_of(out)


def lbe(weights, parts):
    sums = np.bincount(parts, weights)
    return sums.mean() / sums.max()


def gpmetis(*words):
    done = subprocess.run(["gpmetis", *map(str, words)], capture_output=True, text=True, timeout=HANG_SECONDS)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.skipif(not shutil.which("gpmetis"), reason="METIS has no gpmetis here")
@pytest.mark.group("metis")
@pytest.mark.parametrize("dimensions", [2, 3])
def test_metis(tmp_path, dimensions):
    """METIS' own program reads and partitions each graph; its weights with the run's owners have the LBE that
    balance.csv says; without particles there is one weight."""
    out = tmp_path / "run"
    # Wide cells of few particles leave little to choose in three dimensions.
    processes, n = 12 if dimensions == 2 else 6, int(np.prod(COLLISIONS[dimensions].cells))
    keys = BALANCED | dict(balance__processes=processes, output__loads_every=10)
    collide(dimensions, out, ranks=2, **keys, output__balance_formats="[metis]")
    assert not (out / "lbaf").exists()
    loads, particles = (a.reshape(-1, n) for a in fields_of(out / "loads.h5", dimensions, "load", "particles"))
    for r in driver_rows(out):
        graph, load = out / "metis" / f"step_{r['step']}.graph", loads[int(r["step"]) // 10]
        lines = [line.split() for line in graph.read_text().splitlines() if not line.startswith("%")]
        assert len(lines) == n + 1 and lines[0][0] == str(n) and lines[0][2:] == ["010", "2"]
        work, count = np.array([[int(x) for x in line[:2]] for line in lines[1:]]).T
        assert np.array_equal(count, particles[int(r["step"]) // 10])
        assert np.allclose(work / 2**30, load / load.sum(), atol=2**-29)
        owners = np.loadtxt(graph.with_suffix(".owners"), dtype=int)
        assert lbe(work, owners) == pytest.approx(float(r["lbe"]), abs=1e-5)
        assert "Balancing constraints: 2" in gpmetis("-ufactor=50", graph, processes)
        parts = np.loadtxt(f"{graph}.part.{processes}", dtype=int)
        assert len(parts) == n and set(parts) == set(range(processes))
        assert lbe(work, parts) > 0.9 and lbe(count, parts) > 0.9
    bare, out = write_datasets(tmp_path / "bare.h5", load=np.random.default_rng(1).random((3, 9, 16)) * 1e90), tmp_path
    replay(bare, out / "bare", balance__processes=4, balance__model="a1", output__balance_formats=BOTH)
    said = gpmetis(out / "bare/metis/step_2.graph", 4)
    assert "Balancing constraints: 1" in said or "Balance:" in said, said
    check_times(out / "bare", lbaf(out / "bare"), [1, 2])


@pytest.mark.group("restart")
def test_restart(tmp_path):
    """A restart goes on after the phases up to its step, also if the start before was killed or wrote none. Another
    number of processes begins anew. --force puts all aside."""
    keys = BALANCED | dict(output__balance_formats=BOTH, checkpoint__every=20)
    whole, out = tmp_path / "whole", tmp_path / "out"
    collide(2, whole, ranks=0, **keys)

    def graphs(folder):
        return {f.name: f.read_text() for f in (folder / "metis").iterdir()}

    def same():
        return [d["phases"] for d in lbaf(out)] == [d["phases"] for d in lbaf(whole)] and graphs(out) == graphs(whole)

    def again(ranks=0, **changes):
        return collide(2, out, ranks=ranks, restart=out / "checkpoint_40.h5", **keys | changes)

    def aside():
        return max(out.glob("previous_*"), key=lambda f: int(f.name[9:]))

    collide(2, out, ranks=2, **(keys | dict(run__steps=50)))
    again(3)
    assert same()
    # As it is after a kill: the names of unfinished files, no end, and a line that is not whole in one of them.
    for p in range(12):
        path = out / "lbaf" / f"data.{p}.json"
        lines = path.read_text().splitlines(keepends=True)
        assert lines[-1] == "]}\n"
        path.unlink()
        path.with_suffix(".json.tmp").write_text("".join(lines[:-1])[: -7 if p == 5 else None])
    again()
    assert same()
    # Another trajectory: what is dropped is put aside first.
    again(run__dt=0.0004, output__balance_formats="[]")
    assert steps_of(lbaf(out)[0]) == [10, 20, 30, 40] and len(graphs(out)) == 8
    assert steps_of(lbaf(aside())[0]) == [10, 20, 30, 40, 50, 60] and graphs(aside()).keys() == graphs(whole).keys()
    # A file that lost phases costs the others nothing: all are put aside.
    short = out / "lbaf" / "data.1.json"
    short.write_text("".join(short.read_text().splitlines(keepends=True)[:2]))
    again()
    assert steps_of(json.loads((aside() / "lbaf" / "data.0.json").read_text())) == [10, 20, 30, 40]
    assert steps_of(lbaf(out)[0]) == [50, 60]
    assert "lbaf is incomplete, or of other processes or cells, so it is put aside" in again(balance__processes=9)
    assert len(lbaf(out)) == 9 and steps_of(lbaf(out)[8]) == [50, 60]
    fails_with(2, "holds results already", 0, *run_words(out, run__steps=1))
    collide(2, out, "--force", run__steps=1)
    assert not (out / "lbaf").exists() and not (out / "metis").exists()


def vt(path, phases, rank=0, **more):
    """A file as vt writes it: phases of (id, time, index)."""

    def task(o, time, index):
        entity = {"type": "object", "id": o, "home": rank, "migratable": True}
        entity |= {"index": index, "collection_id": 7} if index else {}
        whole = {"entity": entity, "node": rank, "resource": "cpu", "time": time}
        return whole | {"subphases": [{"id": 0, "time": time}]}

    phases = [{"id": i, "tasks": [task(*each) for each in phase]} for i, phase in enumerate(phases)]
    path.write_text(json.dumps({"metadata": {"type": "LBDatafile", "rank": rank}, "phases": phases} | more))


EXACT = dict(balance__processes=4, balance__model="exact", balance__criterion="every", balance__partition__cut="cells")
INDICES = {  # of an object by its number, and the grid that they make
    "row": (lambda k: None, "24 x 1 x 1"),
    "plane": (lambda k: [k // 6, k % 6], "4 x 6 x 1"),
    "space": (lambda k: [k // 12, k // 4 % 3, k % 4], "2 x 3 x 4"),
    "mixed": (lambda k: [k // 2, 0], "24 x 1 x 1"),  # twice the same
}


def test_speeds_over_a_restart(tmp_path):
    """A start without a balancing leaves rank_alpha, a number of any size, as its last phase has it (lbaf())."""
    keys = BALANCED | dict(balance__speeds="given", machine__nodes=2, machine__core_speed="[1, 0.001]")
    keys |= dict(balance__partition__processes_per_node=6, output__balance_formats="[lbaf]", checkpoint__every=60)
    collide(2, tmp_path, **keys)
    collide(2, tmp_path, "--restart", "auto", **keys | dict(run__steps=65))
    files = lbaf(tmp_path)
    assert steps_of(files[0])[-1] == 60 and [d["metadata"]["rank_alpha"] > 100 for d in files] == 6 * [False] + 6 * [
        True
    ]


@pytest.mark.group("foreign")
@pytest.mark.parametrize("name", INDICES)
def test_foreign(tmp_path, name):
    """Files of other programs: objects in a row by their ids, or where their indices say."""
    random, (index, shape) = np.random.default_rng(2), INDICES[name]
    times, ids = random.random((3, 24)) ** 3, np.arange(24) * 2**33 + 5
    moved, folder, loads = random.permutation(24), tmp_path / "files", tmp_path / "loads.h5"
    folder.mkdir()
    for rank, mine in enumerate((moved[:10], moved[10:])):
        phases = [[(int(ids[k]), float(t[k]), index(int(k))) for k in mine] for t in times]
        vt(folder / f"any.{rank}.json", phases, rank)
    assert convert(folder, loads) == ""
    for ranks in (0, 2):
        replay(loads, tmp_path / str(ranks), ranks, output__balance_formats="[metis]", **EXACT)
    assert decisions(tmp_path / "0") == decisions(tmp_path / "2")
    for r, t in zip(driver_rows(tmp_path / "0"), times[1:], strict=True):
        assert float(r["mean_seconds"]) == pytest.approx(t.sum() / 4, rel=1e-6)
        graph = (tmp_path / "0/metis" / f"step_{r['step']}.graph").read_text().splitlines()
        assert graph[0] == f"% step {r['step']}; {shape} cells by x, then y, then z"
        weights = np.array([int(line.split()[0]) for line in graph[3:]])
        assert np.allclose(weights / 2**30, t / t.sum(), atol=1e-6)  # in the order of ids
    convert(folder / "any.0.json", tmp_path / "one.h5")
    assert np.array_equal(*(datasets(path, "load")["load"] for path in (tmp_path / "one.h5", loads)))


class Data:
    """A folder with the files of two ranks."""

    def __init__(self, tmp):
        self.folder, self.out = tmp / "data", tmp / "out.h5"
        self.first, self.second = (self.folder / f"data.{rank}.json" for rank in (0, 1))
        self.folder.mkdir()
        self.write([[(1, 0.5, None), (2, 0.25, None)], [(1, 0.5, None), (2, 0.5, None)]])

    def write(self, tasks):
        vt(self.first, tasks)
        vt(self.second, [[(i + 9, t, x) for i, t, x in phase] for phase in tasks], 1)

    def refused(self, says, path=None):
        """One line says what is wrong, and nothing is written."""
        text = convert(path or self.folder, self.out, 2)
        assert text.count("\n") == 1 and text.startswith("convert_loads.py: ") and says in text, (says, text)
        assert not self.out.exists()


@pytest.fixture
def data(tmp_path):
    return Data(tmp_path)


def edit(path, change):
    """A file of JSON with a change."""
    content = json.loads(path.read_text())
    change(content)
    path.write_text(json.dumps(content))


def json_of(change):
    return lambda data: edit(data.first, change)


def text_of(old, new):
    return lambda data: data.first.write_text(data.first.read_text().replace(old, new, 1))


def task(change):
    return json_of(lambda d: change(d["phases"][1]["tasks"][0]))


def entity(**values):
    return task(lambda t: t["entity"].update(values))


def sized(part):
    return lambda data: os.truncate(data.first, int(part * data.first.stat().st_size))


def alone(tasks):
    """A file of one rank."""
    return lambda data: (data.write(tasks), data.second.unlink())


BROTLI = "Brotli" if importlib.util.find_spec("brotli") else "install python3-brotli"
DEEP = "[" * 100_000 + "]" * 100_000
ERRORS = [
    (task(lambda t: t.update(time=-0.25)), "the time -0.25 is no number >= 0"),
    (task(lambda t: t.update(time=float("nan"))), "the time nan is no number"),
    (task(lambda t: t.update(time="1")), "the time '1' is no number"),
    (entity(index=[2**32, 0]), "4294967296 is no whole number from"),
    (entity(index=[0.5, 0]), "0.5 is no whole number from"),
    (json_of(lambda d: d["phases"][1].update(user_defined={"step": 15.5})), "15.5 is no whole number from"),
    (task(lambda t: t.pop("time")), "the key 'time' is missing"),
    (json_of(lambda d: d.pop("phases")), "the key 'phases' is missing"),
    (json_of(lambda d: d["phases"][0].pop("tasks")), "the key 'tasks' is missing"),
    (task(lambda t: t.pop("entity")), "the key 'entity' is missing"),
    (task(lambda t: t["entity"].pop("id")), "the key 'seq_id' is missing"),
    (entity(id=1.5), "no whole number"),
    (json_of(lambda d: d["phases"].pop()), "data.1.json: its phases are not those"),
    (json_of(lambda d: d["phases"][1].update(id=7)), "data.1.json: its phases are not those"),
    (json_of(lambda d: d["phases"][1]["tasks"].pop()), "objects of phase 1 are not those of phase 0"),
    (entity(id=8), "objects of phase 1 are not those of phase 0"),
    (entity(id=10), "phase 1 holds no objects, or one of them twice"),
    *((sized(part), "data.0.json: is no JSON") for part in (0, 0.01, 0.5, 0.99)),
    (lambda d: d.first.write_text("[]"), "is no LBDatafile"),
    *((text_of('"id": 1,', f'"id": 1, "{key}": {DEEP},'), "nests too deeply") for key in ("index", "user_defined")),
    (text_of('"id": 0', '"id": 1e300'), "1e+300 is no whole number"),
    (lambda d: d.second.rename(d.folder / "data.3.json"), "the file of rank 1 is missing"),
    (lambda d: d.second.rename(d.folder / "data.999999999.json"), "the file of rank 1 is missing"),
    (lambda d: os.truncate(d.first, 4 * 10**12), "needs about 40000.0 GB of memory"),
    (lambda d: d.first.rename(d.folder / "data.0.json.br"), BROTLI),
    (lambda d: d.first.rename(d.folder / "other.0.json"), "holds files of the names data, other"),
    (lambda d: [f.unlink() for f in d.folder.iterdir()], "there are no files NAME.RANK.json"),
    (alone([[], []]), "phase 0 holds no objects"),
    (alone([[(i, 1.0, [1100 * i] * 2) for i in range(6)]]), "the indices of 6 objects span 30261001 cells"),
    (alone([]), "there are no phases"),
]


@pytest.mark.group("errors")
@pytest.mark.parametrize("change, says", ERRORS, ids=range(len(ERRORS)))
def test_errors(data, change, says):
    change(data)
    data.refused(says)


def attributes(**values):
    return lambda d: d["metadata"]["attributes"].update(values)


def test_own_files(data, tmp_path):
    """Files of this program: their values, boxes that do not fit, and a file that is missing at the end."""
    collide(2, tmp_path / "run", **BALANCED, output__balance_formats="[lbaf]")
    folder = tmp_path / "run/lbaf"
    first, last = folder / "data.0.json", folder / "data.11.json"
    for path, change, says in (
        (first, attributes(cells=[2**31 - 1] * 2), "2147483647 is no whole number from 1 to 1048576"),
        (first, attributes(cells=[2**20] * 3, boundary=["periodic"] * 3), "GB of memory"),
        (first, attributes(cells=[2**32 + 8, 8]), "4294967304 is no whole number"),
        (first, attributes(processes=-1), "-1 is no whole number"),
        (first, lambda d: d["phases"][0]["tasks"][0].pop("user_defined"), "some objects have no box"),
        (last, lambda d: d["phases"][3]["tasks"].pop(), "the boxes of phase 3 do not cover each cell once"),
    ):
        text = path.read_text()
        edit(path, change)
        data.refused(says, folder)
        path.write_text(text)
    last.unlink()
    data.refused("there are files of 11 ranks, and 12 have written some", folder)
    data.refused("is not called NAME.RANK.json", folder / "data.json")
    task(lambda t: t["entity"].update(migratable=False))(data)
    assert "1 objects may not migrate" in convert(data.folder, data.out)


@pytest.mark.parametrize(
    "name, load, left",
    [("metis", np.ones((3, 400, 400)), ["step_1.owners"]), ("lbaf", np.random.default_rng(1).random((60, 60, 60)), [])],
)
def test_cannot_write(tmp_path, name, load, left):
    """A file that cannot be written ends the run with code 5, and no half of it bears its name."""
    keys = dict(balance__processes=2, balance__model="a1", balance__partition__patches_per_process=200)
    words = ["replay", write_datasets(tmp_path / "loads.h5", load=load), "--out", tmp_path / "out", "--quiet"]
    words += settings(**keys, output__balance_formats=f"[{name}]")
    fails_with(5, f"cannot write {name}/", 0, *words, limit=6 << 20)
    assert [f.name for f in (tmp_path / "out" / name).iterdir() if f.suffix != ".tmp"] == left

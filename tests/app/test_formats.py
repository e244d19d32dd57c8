# SPDX-License-Identifier: MIT
"""Balancings in the formats of other programs (`output.balance_formats`)."""
import json
import shutil
import subprocess

import numpy as np
import pytest

from program import HANG_SECONDS, COLLISIONS, collide, datasets, decisions, driver_rows, fails_with, hash_of, replay
from program import run_words, script, settings, write_datasets

BOTH = "[lbaf, metis]"
BALANCED = dict(balance__every=10, balance__clock="work", balance__processes=12, run__steps=60)


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
    assert phases(again) == [data["phases"] for data in files]
    even = dict(balance__processes=12, balance__model="exact", balance__criterion="never")
    script("convert_loads.py", out / "lbaf", loads, check=True)
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


@pytest.mark.parametrize("dimensions", [2, 3])
def test_bytes(tmp_path, dimensions):
    """Bytes of the ghost cells of a run are those of the particles at the processes' borders. So say its own files, if
    each process has one box, their series with the same partition, and a replay of the run's loads."""
    cells, even = tuple(COLLISIONS[dimensions].cells), dict(balance__criterion="never", balance__model="exact")
    even |= dict(balance__processes=12, balance__constants__start="uniform", output__balance_formats="[lbaf]")
    for kind in ("rcb", "chain"):
        out, of_boxes, keys = tmp_path / kind, tmp_path / f"{kind}.h5", even | dict(balance__partition__kind=kind)
        collide(dimensions, out, ranks=2, **BALANCED | keys, output__loads_every=10)
        (particles,) = fields_of(out / "loads.h5", dimensions, "particles")
        files, found = lbaf(out), [int(r["ghost_bytes"]) for r in driver_rows(out)]
        periodic = [b == "periodic" for b in files[0]["metadata"]["attributes"]["boundary"]]
        for i, size in enumerate(found):
            owner, _ = owners_of(files, i, cells)
            assert size == sum(borders_of(owner, particles[i + 1], periodic, 4 * dimensions).values()) > 0, kind
            sent = sum(m["bytes"] for data in files for m in data["phases"][i]["communications"])
            assert sent == size if kind == "rcb" else sent > size
        replay(out / "loads.h5", tmp_path / f"{kind}_again", 3, **keys)
        assert decisions(tmp_path / f"{kind}_again") == decisions(out)
        script("convert_loads.py", out / "lbaf", of_boxes, check=True)
        replay(of_boxes, tmp_path / f"{kind}_boxes", 2, **keys)
        boxes = [int(r["ghost_bytes"]) for r in driver_rows(tmp_path / f"{kind}_boxes")]
        assert boxes == (found[1:] if kind == "rcb" else pytest.approx(found[1:], rel=0.2)), kind


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


def graphs(out):
    return {f.name: f.read_text() for f in (out / "metis").iterdir()}


def phases(out):
    return [data["phases"] for data in lbaf(out)]


def aside(out):
    """The folder of what was put aside last."""
    return max(out.glob("previous_*"), key=lambda f: int(f.name[9:]))


RESTARTED = BALANCED | dict(output__balance_formats=BOTH, checkpoint__every=20)


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """A run without a stop."""
    out = tmp_path_factory.mktemp("whole") / "out"
    collide(2, out, **RESTARTED)
    return out


@pytest.fixture
def again(whole, tmp_path):
    """A copy of that run, and a function that restarts it from step 40, with other keys."""
    out = shutil.copytree(whole, tmp_path / "out")

    def restart(ranks=0, **keys):
        return collide(2, out, ranks=ranks, restart=out / "checkpoint_40.h5", **RESTARTED | keys)

    return out, restart


@pytest.mark.group("restart")
def test_restart(whole, again):
    """A restart goes on after the phases up to its step, which come again after it."""
    out, restart = again
    restart(3)
    assert phases(out) == phases(whole) and graphs(out) == graphs(whole)


def test_restart_after_a_kill(whole, again):
    """Files have the names of unfinished ones, no end, and one of them a line that is not whole."""
    out, restart = again
    for p in range(12):
        path = out / "lbaf" / f"data.{p}.json"
        lines = path.read_text().splitlines(keepends=True)
        assert lines[-1] == "]}\n"
        path.unlink()
        path.with_suffix(".json.tmp").write_text("".join(lines[:-1])[: -7 if p == 5 else None])
    restart()
    assert phases(out) == phases(whole) and graphs(out) == graphs(whole)


def test_other_trajectory(whole, again):
    """Phases and graphs that a restart drops are put aside first."""
    out, restart = again
    restart(run__dt=0.0004, output__balance_formats="[]")
    assert steps_of(lbaf(out)[0]) == [10, 20, 30, 40] and len(graphs(out)) == 8
    assert phases(aside(out)) == phases(whole) and graphs(aside(out)).keys() == graphs(whole).keys()


def test_file_that_lost_phases(whole, again):
    """It costs the others nothing: all are put aside, and new ones begin."""
    out, restart = again
    short = out / "lbaf" / "data.1.json"
    short.write_text("".join(short.read_text().splitlines(keepends=True)[:2]))
    restart()
    assert json.loads((aside(out) / "lbaf/data.0.json").read_text())["phases"] == phases(whole)[0]
    assert steps_of(lbaf(out)[0]) == [50, 60]


def test_other_number_of_processes(again):
    out, restart = again
    text = restart(balance__processes=9)
    assert "lbaf is incomplete, or of other processes or cells, so it is put aside" in text
    assert [steps_of(data) for data in lbaf(out)] == [[50, 60]] * 9


def test_force_puts_all_aside(again):
    out, _ = again
    fails_with(2, "holds results already", 0, *run_words(out, run__steps=1))
    collide(2, out, "--force", run__steps=1)
    assert not (out / "lbaf").exists() and not (out / "metis").exists()


def test_speeds_over_a_restart(tmp_path):
    """A start without a balancing leaves rank_alpha, a number of any size, as its last phase has it (lbaf())."""
    keys = BALANCED | dict(balance__speeds="given", machine__nodes=2, machine__core_speed="[1, 0.001]")
    keys |= dict(balance__partition__processes_per_node=6, output__balance_formats="[lbaf]", checkpoint__every=60)
    collide(2, tmp_path, **keys)
    collide(2, tmp_path, "--restart", "auto", **keys | dict(run__steps=65))
    slow = [data["metadata"]["rank_alpha"] > 100 for data in lbaf(tmp_path)]
    assert steps_of(lbaf(tmp_path)[0])[-1] == 60 and slow == 6 * [False] + 6 * [True]


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

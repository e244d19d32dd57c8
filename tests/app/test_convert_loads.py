# SPDX-License-Identifier: MIT
"""Load series of LBDatafiles, by scripts/convert_loads.py."""
import contextlib
import importlib.util
import io
import itertools
import json
import os
from unittest import mock

import numpy as np
import pytest

import convert_loads
from program import collide, datasets, decisions, driver_rows, replay


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


def message(sender, receiver, size, **more):
    ends = {
        end: {"type": "object", "id": o, "home": 0, "migratable": True}
        for end, o in (("from", sender), ("to", receiver))
    }
    return {"type": "SendRecv", "messages": 1, "bytes": size} | ends | more


def vt(path, phases, rank=0, messages=(), **more):
    """A file as vt writes it: phases of (id, time, index), each with the messages."""

    def task(o, time, index):
        entity = {"type": "object", "id": o, "home": rank, "migratable": True}
        entity |= {"index": index, "collection_id": 7} if index else {}
        whole = {"entity": entity, "node": rank, "resource": "cpu", "time": time}
        return whole | {"subphases": [{"id": 0, "time": time}]}

    phases = [{"id": i, "tasks": [task(*each) for each in phase]} for i, phase in enumerate(phases)]
    for phase in phases if messages else ():
        phase["communications"] = list(messages)
    path.write_text(json.dumps({"metadata": {"type": "LBDatafile", "rank": rank}, "phases": phases} | more))


EXACT = dict(balance__processes=4, balance__model="exact", balance__criterion="every", balance__partition__cut="cells")
INDICES = {  # of an object by its number, and the grid that they make
    "row": (lambda k: None, "24 x 1 x 1"),
    "plane": (lambda k: [k // 6, k % 6], "4 x 6 x 1"),
    "space": (lambda k: [k // 12, k // 4 % 3, k % 4], "2 x 3 x 4"),
    "mixed": (lambda k: [k // 2, 0], "24 x 1 x 1"),  # twice the same
}


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


def test_messages(tmp_path):
    """An object's bytes are the mean of what it sends to another one. What is no message between two objects does not
    count, and without messages there are no bytes."""
    tasks = [[(1, 0.5, [0, 0]), (2, 0.25, [2, 0]), (3, 1.0, [0, 1])]] * 2
    node = {"type": "node", "id": 1}
    sent = [message(1, 2, 10.0), message(1, 2, 20), message(1, 3, 6.0), message(3, 1, 7.0), message(2, 2, 99.0)]
    sent += [message(2, 8, 99.0), message(2, 1, 99.0, to=node), message(2, 1, 99.0, type="Broadcast")]
    for i, part in enumerate((sent[1:], sent[:1])):
        vt(tmp_path / f"data.{i}.json", [[] if i else phase for phase in tasks], i, part)
    convert(tmp_path, tmp_path / "out.h5")
    assert datasets(tmp_path / "out.h5", "bytes")["bytes"].tolist() == 2 * [[[18, 0, 0], [7, 0, 0]]]
    vt(tmp_path / "data.1.json", [[], []], 1)
    vt(tmp_path / "data.0.json", tasks)
    convert(tmp_path, tmp_path / "out.h5")
    assert "bytes" not in datasets(tmp_path / "out.h5")


@pytest.mark.parametrize("periodic", [(True, False), (False, False), (False, True, True)])
def test_bytes_of_boxes(periodic):
    """All bytes of the messages are there again, and messages of an even density have one value for all cells."""
    random, shape = np.random.default_rng(1), (11, 8, 9)[: len(periodic)]
    cuts = [np.minimum(np.arange(n) // 4, 1) for n in shape]
    box = sum(np.expand_dims(c << a, [b for b in range(len(shape)) if b != a]) for a, c in enumerate(cuts))
    touched, boxes = {}, 1 << len(shape)  # cells of a box that touch another one
    for cell in np.ndindex(shape):
        near = [{(x + d) % n for d in (-1, 0, 1) if w or 0 <= x + d < n} for x, n, w in zip(cell, shape, periodic)]
        for b in {box[c] for c in itertools.product(*near)} - {box[cell]}:
            touched.setdefault((box[cell], b), []).append(cell)
    even = {pair: 2.5 * len(cells) for pair, cells in touched.items()}
    assert np.allclose(convert_loads.bytes_of_boxes(even, box, boxes, periodic), 2.5, rtol=1e-12)
    sums = {pair: random.random() for pair in touched}
    found = convert_loads.bytes_of_boxes(sums, box, boxes, periodic)
    again = sum(found[cell] for cells in touched.values() for cell in cells)
    assert again == pytest.approx(sum(sums.values()), rel=1e-12) and len(touched) == boxes * (boxes - 1)


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


def communications(*messages):
    return json_of(lambda d: d["phases"][1].update(communications=messages))


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
    (task(lambda t: t.update(time=10**400)), "is no number >= 0"),
    (task(lambda t: t.update(time=float("nan"))), "the time nan is no number"),
    (task(lambda t: t.update(time="1")), "the time '1' is no number"),
    (communications(message(1, 2, -1.0)), "the bytes -1.0 is no number >= 0"),
    (communications(message(1, 2, float("inf"))), "the bytes inf is no number >= 0"),
    (communications({"type": "SendRecv", "bytes": 1.0}), "the key 'from' is missing"),
    (communications(7), "the key 'from' is missing"),
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
    (lambda d: [edit(f, lambda c: c["phases"].reverse()) for f in (d.first, d.second)], "is not behind step 1"),
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
    keys = dict(balance__every=10, balance__clock="work", balance__processes=12, run__steps=60)
    collide(2, tmp_path / "run", output__balance_formats="[lbaf]", **keys)
    folder = tmp_path / "run/lbaf"
    first, last = folder / "data.0.json", folder / "data.11.json"
    for path, change, says in (
        (first, attributes(cells=[2**31 - 1] * 2), "2147483647 is no whole number from 1 to 1048576"),
        (first, attributes(cells=[2**20] * 3, boundary=["periodic"] * 3), "GB of memory"),
        (first, attributes(cells=[2**32 + 8, 8]), "4294967304 is no whole number"),
        (first, attributes(boundary=["wall"]), "boundary ['wall'] has no word for each of 2 axes"),
        (first, attributes(boundary=["wall", 3]), "boundary ['wall', 3] has no word"),
        (first, attributes(processes=-1), "-1 is no whole number"),
        (first, lambda d: d["phases"][0]["tasks"][0].pop("user_defined"), "some objects have no box"),
        (last, lambda d: d["phases"][3]["tasks"].pop(), "the boxes of phase 3 do not cover each cell once"),
    ):
        text = path.read_text()
        edit(path, change)
        data.refused(says, folder)
        path.write_text(text)
    assert "it is what is read" in convert(folder, first, 2) and json.loads(first.read_text())
    last.unlink()
    data.refused("there are files of 11 ranks, and 12 have written some", folder)
    data.refused("is not called NAME.RANK.json", folder / "data.json")
    task(lambda t: t["entity"].update(migratable=False))(data)
    assert "1 objects may not migrate" in convert(data.folder, data.out)

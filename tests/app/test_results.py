# SPDX-License-Identifier: MIT
"""The results as other programs read them.

Groups: balance_rows speeds fields readers. The last one needs MDAnalysis and pvpython.
Every run has a time limit.
"""
import csv
import json
import os
import subprocess
import xml.etree.ElementTree

import h5py
import numpy as np
import pytest

from program import (
    HANG_SECONDS,
    COLLISIONS,
    DECK,
    checkpoints,
    command,
    decisions,
    environment,
    fresh,
    ok_run,
    run,
    settings,
    summary,
)

MODELS = "time_average, moving_average, particle_count, hybrid, a1, b1"
# Keys of a run with rows of all models.
ROWS = dict(
    run__steps=100,
    output__every=20,
    balance__every=5,
    balance__clock="work",
    balance__processes=20,
    balance__compare=f"[{MODELS}]",
    balance__partition__cut="cells",
)


def test_balance_rows(tmp):
    """balance.csv alone explains overall LBE and each decision; all models start from the same loads."""
    out = os.path.join(tmp, "out")
    keys = ROWS
    for start_from in ("uniform", "particles"):
        assert (
            run(
                2,
                "run",
                DECK,
                "--out",
                fresh(out),
                "--quiet",
                *settings(**keys, balance__constants__start=start_from, balance__migrate="always"),
            )[0]
            == 0
        ), "run"
        first = {r["lbe"] for r in decisions(out) if r["step"] == "5"}
        assert len(first) == 1, f"start: {start_from}: the models start with LBE {first}"
        s = summary(out)
        for model in s["overall_lbe"]:
            times = [(float(r["mean_seconds"]), float(r["max_seconds"])) for r in decisions(out) if r["model"] == model]
            for key, part in (("overall_lbe", times), ("overall_lbe_measured", times[1:])):
                expected = sum(a for a, _ in part) / sum(b for _, b in part)
                assert abs(s[key][model] - expected) < 1e-12, f"{key} of {model}: {s[key][model]} instead of {expected}"

    # Criterion gain: what was lost, against what a migration costs, row by row.
    gain = dict(
        keys, balance__constants__start="uniform", balance__migrate="gain", output__fields_every=5, run__steps=200
    )
    seen = set()
    for price in (2e-7, 3e-6):
        assert (
            run(
                3,
                "run",
                DECK,
                "--out",
                fresh(out),
                "--quiet",
                *settings(
                    **dict(
                        gain, balance__model="particle_count", balance__compare="[r1, a1]", balance__work__move=price
                    )
                ),
            )[0]
            == 0
        ), "run with gain"
        for model in ("particle_count", "r1", "a1"):
            lost, cost, in_use, n = 0.0, 0.0, None, 0
            for r in [r for r in decisions(out) if r["model"] == model]:
                v = {
                    k: float(r[k])
                    for k in (
                        "step",
                        "lbe",
                        "lbe_model",
                        "mean_seconds",
                        "max_seconds",
                        "lost_seconds",
                        "move_seconds",
                        "lbe_reachable",
                        "ghost_cells",
                        "particles_moved",
                        "load_step",
                    )
                }
                where = f"{model} at {price}, row {r}"
                lost += max(0.0, v["max_seconds"] - v["mean_seconds"] / v["lbe_reachable"]) * 5
                assert abs(lost - v["lost_seconds"]) < 1e-9 * lost + 1e-18, f"loss {lost}: {where}"
                modelled = v["load_step"] == v["step"]
                assert modelled == (lost > cost), f"modelled although nothing was to gain, or not: {where}"
                assert r["decision"] == (
                    "moved" if modelled and lost > v["move_seconds"] else "kept: gain"
                ), f"decision: {where}"
                if r["decision"] == "moved":
                    assert (
                        abs(v["move_seconds"] - price * v["particles_moved"] / 20) < 1e-15
                    ), f"price of the migration: {where}"
                    lost, in_use = 0.0, v["ghost_cells"]
                else:
                    assert v["particles_moved"] == 0 and in_use in (
                        None,
                        v["ghost_cells"],
                    ), f"ghost cells are not of the partition in use: {where}"
                    seen.add((model, modelled))
                cost, n = v["move_seconds"], n + 1
            assert n == 40, f"{model}: {n} rows"
        # The driver's LBE_m is that of owner and load in the files of that step: its loads are particle counts.
        for r in [r for r in decisions(out) if r["driver"] == "1"]:
            with h5py.File(os.path.join(out, f"fields_{r['step']}.h5")) as f:
                assert int(f["load"].attrs["step"]) == int(r["load_step"]), f"step of the load: {r}"
                assert not f["load"][:][f["particles"][:] == 0].any(), f"empty cells carry load at step {r['step']}"
                if r["load_step"] == r["step"]:
                    sums = np.bincount(f["owner"][:].ravel(), f["load"][:].ravel(), minlength=20)
                    assert (
                        abs(sums.mean() / sums.max() - float(r["lbe_model"])) < 1e-12
                    ), f"LBE_m {sums.mean() / sums.max()}: {r}"
    assert {m for m, modelled in seen if modelled} and {
        m for m, modelled in seen if not modelled
    }, f"no row of each kind: {seen}"


@pytest.mark.group("balance_rows")
def test_partition_that_never_changes(tmp):
    """A partition that never changes bears no model's name."""
    out = os.path.join(tmp, "out")
    keys = ROWS | dict(balance__compare="[]", balance__partition__kind="none", balance__migrate="always")
    ok_run(out, ranks=2, **keys)
    assert {r["decision"] for r in decisions(out)} == {"kept: same"}
    assert {r["model"] for r in decisions(out)} == {"none"} and list(summary(out)["overall_lbe"]) == ["none"]


@pytest.mark.group("balance_rows")
def test_ideal_gas(tmp):
    """The pressure times the area is the kinetic energy in the frame of the centre of mass, without N / (N - 1)."""
    ok_run(tmp, "--force", run__steps=0, system__potential__epsilon=1e-300)
    with open(os.path.join(tmp, "thermo.csv")) as f:
        r = {k: float(v) for k, v in list(csv.DictReader(f))[0].items()}
    thermal = r["temperature"] * (r["particles"] - 1)
    assert abs(r["pressure"] * 260 * 140 / thermal - 1) < 1e-12, r


def resources(out):
    with open(os.path.join(out, "resources.csv")) as f:
        return list(csv.DictReader(f))


def printed(ranks, *arguments):
    done = subprocess.run(
        command(ranks, *arguments), env=environment(), timeout=HANG_SECONDS, capture_output=True, text=True
    )
    return done.returncode, done.stdout


def test_speeds(tmp):
    """Processes that counted work slows are found, the same on any ranks and over a restart; files and table say so."""
    whole, out = os.path.join(tmp, "whole"), os.path.join(tmp, "out")
    keys = dict(
        run__steps=120,
        output__every=0,
        balance__every=5,
        balance__clock="work",
        balance__processes=40,
        balance__compare="[a1, hybrid]",
        balance__migrate="always",
        balance__noise=0.03,
        balance__partition__cut="cells",
        balance__work__slow__fraction=0.1,
        balance__work__slow__speed=0.5,
    )
    slow = {9, 19, 29, 39}
    code, text = printed(1, "run", DECK, "--out", whole, *settings(**keys))
    assert (
        code == 0 and "process 9 runs at 0." in text and "overall LBE by counted work" in text
    ), f"table: {code} {text}"
    last = {int(r["resource"]): float(r["speed"]) for r in resources(whole)[-40:]}
    assert (
        len(resources(whole)) == 24 * 40 and abs(sum(last.values()) / 40 - 1) < 1e-5
    ), f"rows of resources.csv: {len(resources(whole))}"
    usual = sorted(last.values())[20]
    assert all(abs(s / usual - (0.5 if p in slow else 1)) < 0.1 for p, s in last.items()), f"speeds at the end: {last}"
    assert all(abs(s - last[p]) < 1e-5 for p, s in enumerate(summary(whole)["speeds"])), "speeds in summary.json"
    lbe = [float(r["lbe"]) for r in decisions(whole) if r["driver"] == "1"]
    assert sum(lbe[10:]) / len(lbe[10:]) > 0.85, f"LBE with speeds: {lbe}"
    # The same in parts, on other ranks.
    for n, m in ((2, 3), (7, 1)):
        code, text = run(
            n, "run", DECK, "--out", fresh(out), "--quiet", *settings(**dict(keys, run__steps=58), checkpoint__every=58)
        )
        assert code == 0, f"{n} ranks: {code} {text}"
        code, text = run(m, "run", DECK, "--out", out, "--quiet", "--restart", "auto", *settings(**keys))
        assert code == 0 and decisions(out) == decisions(whole), f"{n} -> {m} ranks: other decisions: {code} {text}"
        assert resources(out) == resources(whole), f"{n} -> {m} ranks: other speeds"
    # With another number of processes nothing is known of them.
    code, text = printed(
        2,
        "run",
        DECK,
        "--out",
        out,
        "--restart",
        os.path.join(out, "checkpoint_58.h5"),
        *settings(**dict(keys, balance__processes=30)),
    )
    assert code == 0 and "the speeds of 40 processes are dropped" in text, f"30 processes instead of 40: {code} {text}"
    # Switched off, and on equal processes: the same decisions, without and with the file.
    keys.update(balance__work__slow__fraction=0, balance__noise=0)
    assert run(2, "run", DECK, "--out", fresh(whole), "--quiet", *settings(**keys))[0] == 0, "equal processes"
    assert (
        run(2, "run", DECK, "--out", fresh(out), "--quiet", *settings(**dict(keys, balance__speeds="off")))[0] == 0
    ), "speeds off"
    assert decisions(out) == decisions(whole) and {r["speed"] for r in resources(whole)} == {
        "1"
    }, "equal processes are treated as unequal"
    assert not os.path.exists(os.path.join(out, "resources.csv")) and "speeds" not in summary(
        out
    ), "results of speeds that are off"
    # More processes than come to rank 0 at once, of which 500 are slow.
    many = dict(balance__processes=5000, run__steps=20, balance__work__slow__fraction=0.1, balance__compare="[a1]")
    for ranks, to in ((1, whole), (3, out)):
        code, text = run(ranks, "run", DECK, "--out", fresh(to), "--quiet", *settings(**dict(keys, **many)))
        assert code == 0, f"5000 processes: {code} {text}"
    assert decisions(out) == decisions(whole) and resources(out) == resources(whole), "5000 processes, other ranks"
    rows = [(int(r["step"]), int(r["resource"])) for r in resources(whole)]
    assert rows == [(step, p) for step in (5, 10, 15, 20) for p in range(5000)], "order of resources.csv"
    found = [float(r["speed"]) for r in resources(whole)[-5000:]]
    assert sum(s < 0.8 for s in found[9::10]) > 400, "slow ones of 5000 processes"
    # Given with the machine: four nodes of ten processes, the third at half speed.
    keys.update(
        balance__speeds="given",
        balance__partition__processes_per_node=10,
        machine__nodes=4,
        machine__core_speed="[1, 1, 0.5, 1]",
        output__fields_every=60,
    )
    for kind in ("chain", "nested"):
        code, text = run(
            2, "run", DECK, "--out", fresh(out), "--quiet", *settings(**keys, balance__partition__kind=kind)
        )
        assert code == 0, f"given speeds, {kind}: {code} {text}"
        with h5py.File(os.path.join(out, "fields_60.h5")) as f:
            load = np.bincount(f["owner"][:].ravel(), f["load"][:].ravel(), minlength=40).reshape(4, 10).sum(axis=1)
        assert abs(load[2] / load[[0, 1, 3]].mean() - 0.5) < 0.05, f"given speeds, {kind}: loads of the nodes {load}"
    code, text = run(
        2,
        "run",
        DECK,
        "--out",
        fresh(out),
        "--quiet",
        *settings(**dict(keys, balance__partition__processes_per_node=20)),
    )
    assert (
        code == 2 and text.count("\n") == 1 and "machine.core_speed: 4 values" in text
    ), f"speeds of too many nodes: {code} {text!r}"


@pytest.mark.parametrize("dimensions", [2, 3])
def test_fields(tmp, dimensions):
    fields(tmp, dimensions)


def fields(tmp, dimensions):
    """XDMF as ParaView's readers take it: each step and the series, also over a restart. Returns the run's folder."""
    out, collision = os.path.join(tmp, "out"), COLLISIONS[dimensions]
    keys = collision.small | dict(
        run__steps=60, output__fields_every=20, balance__every=10, balance__clock="work", checkpoint__every=30
    )
    assert run(3, "run", collision.deck, "--out", out, "--quiet", *settings(**keys))[0] == 0, "run"
    width, cells, points = widths(collision), collision.cells[::-1], [n + 1 for n in in_space(collision.cells)[::-1]]

    def grids(name):
        root = xml.etree.ElementTree.parse(os.path.join(out, name)).getroot()
        assert (
            root.tag == "Xdmf"
            and root.attrib["Version"] == "3.0"
            and len(root) == 1
            and root[0].tag == "Domain"
            and len(root[0]) == 1
        ), f"{name}: {root}"
        top = root[0][0]
        assert top.attrib["GridType"] == "Collection", f"{name}: {top.attrib}"
        return list(top) if top.attrib["CollectionType"] == "Temporal" else [top]

    def examine(name, steps):
        found = grids(name)
        assert len(found) == len(steps), f"{name}: {len(found)} grids instead of {steps}"
        for collection, step in zip(found, steps):
            assert (
                collection.attrib["CollectionType"] == "Spatial" and len(collection) == 2
            ), f"{name}: {collection.attrib}"
            grid = collection.find("Grid")
            with h5py.File(os.path.join(out, f"fields_{step}.h5")) as f:
                assert float(collection.find("Time").attrib["Value"]) == float(
                    np.ravel(f.attrs["time"])[0]
                ), f"{name}: time of step {step}"
                topology, geometry = grid.find("Topology"), grid.find("Geometry")
                assert topology.attrib == {
                    "TopologyType": "3DCoRectMesh",
                    "Dimensions": " ".join(map(str, points)),
                } and geometry.attrib == {"GeometryType": "ORIGIN_DXDYDZ"}, f"{name}: mesh"
                for item, values in zip(geometry, ([0, 0, 0], width[::-1])):
                    assert (
                        item.attrib["Format"] == "XML"
                        and item.attrib["Dimensions"] == "3"
                        and [float(word) for word in item.text.split()] == list(values)
                    ), f"{name}: {item.attrib} {item.text}"
                names = [a.attrib["Name"] for a in grid.findall("Attribute")]
                assert names == ["particles", "owner", "load"], f"{name}: {names}"
                for a in grid.findall("Attribute"):
                    item = a[0]
                    file, dataset = item.text.split(":")
                    assert (
                        a.attrib["Center"] == "Cell"
                        and file == f"fields_{step}.h5"
                        and item.attrib["Format"] == "HDF"
                        and item.attrib["Dimensions"] == " ".join(str(n - 1) for n in points)
                    ), f"{name}: {a.attrib} {item.text}"
                    data = f[dataset]
                    assert (
                        data.shape == tuple(cells)
                        and data.dtype.itemsize == int(item.attrib["Precision"])
                        and data.dtype.kind == {"Int": "i", "Float": "f"}[item.attrib["NumberType"]]
                    ), f"{name}: {dataset}: {data.dtype} {item.attrib}"

    for step in (0, 20, 40, 60):
        examine(f"fields_{step}.xdmf", [step])
    examine("fields.xdmf", [0, 20, 40, 60])
    assert (
        run(
            2,
            "run",
            collision.deck,
            "--out",
            out,
            "--quiet",
            "--restart",
            os.path.join(out, "checkpoint_30.h5"),
            *settings(**dict(keys, run__steps=100, output__fields_every=25)),
        )[0]
        == 0
    ), "restart"
    examine("fields.xdmf", [0, 20, 50, 75, 100])
    return out


def in_space(values, last=1):
    """Values for the axes of space, with one for z if there are only two."""
    return [*values, last][:3]


def widths(collision):
    """Widths of a cell along x, y and z."""
    return np.array(in_space(collision.box, 1.0)) / in_space(collision.cells)


@pytest.mark.group("readers")
@pytest.mark.parametrize("dimensions", [2, 3])
def test_mdanalysis(tmp, dimensions):
    """Positions, velocities and box of each frame, and the mean square displacement by our ids, over a restart."""
    import MDAnalysis

    out, collision = os.path.join(tmp, "out"), COLLISIONS[dimensions]
    keys = collision.small | dict(output__trajectory_every=30, checkpoint__every=60, checkpoint__keep=9)
    for ranks, steps, start_from in ((3, 60, []), (2, 240, ["--restart", "auto"])):
        words = settings(**dict(keys, run__steps=steps))
        code, text = run(ranks, "run", collision.deck, "--out", out, "--quiet", *start_from, *words)
        assert code == 0, f"to step {steps}: {text}"
    box = np.array(collision.box)

    def displacement(a, b):
        """The mean square."""
        d = (b - a)[:, :dimensions].astype("f8")
        return ((d - box * np.round(d / box)) ** 2).sum(axis=1).mean()

    states = {}
    for step in checkpoints(out):
        with h5py.File(os.path.join(out, f"checkpoint_{step}.h5")) as f:
            states[step] = f["exact/state"][:][np.argsort(f["exact/id"][:])] * 2.0**-40
    universe = MDAnalysis.Universe.empty(len(states[60]), trajectory=True)
    universe.load_new(os.path.join(out, "trajectory.h5"), format="H5MD")
    assert len(universe.trajectory) == 9, f"MDAnalysis sees {len(universe.trajectory)} frames"
    theirs = {
        frame.data["step"]: (frame.time, frame.positions.copy(), frame.velocities.copy(), frame.dimensions)
        for frame in universe.trajectory
    }
    assert sorted(theirs) == list(range(0, 241, 30)), f"MDAnalysis sees steps {sorted(theirs)}"
    for step in (60, 120, 180, 240):
        time_, *vectors, edges = theirs[step]
        for found, ours in zip(vectors, np.split(states[step], 2, axis=1)):
            assert np.array_equal(found[:, :dimensions], ours.astype("f4")), f"positions or velocities of step {step}"
            assert not found[:, dimensions:].any(), f"a third axis at step {step}"
        assert abs(time_ - step * collision.dt) < 1e-12 and np.allclose(
            edges, [*in_space(collision.box), 90, 90, 90]
        ), f"time and box: {theirs[step]}"
    for step in (120, 180, 240):
        ours, found = displacement(states[60], states[step]), displacement(theirs[60][1], theirs[step][1])
        assert (
            abs(found / ours - 1) < 1e-4
        ), f"mean square displacement from 60 to {step}: {found} by MDAnalysis, {ours} by ids"
        print(f"mean square displacement from step 60 to {step}: {found:.6f} by MDAnalysis, {ours:.6f} by ids")


# ParaView's readers give the bounds, the number of cells and the sum of each field at each time. The script also
# prints the mean place of the particles by their number in each cell.
LOOK = """
import json
import sys
from paraview.simple import OpenDataFile, UpdatePipeline, servermanager, Xdmf3ReaderS, Xdmf3ReaderT, XDMFReader
kind, path = sys.argv[1:]
if kind == "2":
    reader = XDMFReader(FileNames=[path])
else:
    reader = {"S": Xdmf3ReaderS, "T": Xdmf3ReaderT}[kind](FileName=[path])
reader.UpdatePipelineInformation()
for t in list(reader.TimestepValues) or [0.0]:
    UpdatePipeline(time=t, proxy=reader)
    data = servermanager.Fetch(reader)
    while data.IsA("vtkCompositeDataSet"):
        data = data.GetPiece(0) if data.IsA("vtkMultiPieceDataSet") else data.GetBlock(0)
    cells = range(data.GetNumberOfCells())
    values = {n: [data.GetCellData().GetArray(n).GetTuple1(i) for i in cells] for n in ("particles", "owner", "load")}
    bounds = [data.GetCell(i).GetBounds() for i in cells]
    place = [sum(n * (b[2 * a] + b[2 * a + 1]) / 2 for n, b in zip(values["particles"], bounds)) for a in range(3)]
    place = [p / sum(values["particles"]) for p in place]
    sums = [sum(v) for v in values.values()]
    print("FOUND", json.dumps(dict(time=t, bounds=data.GetBounds(), cells=len(cells), sums=sums, place=place)))
"""


@pytest.mark.group("readers")
@pytest.mark.parametrize("dimensions", [2, 3])
def test_paraview(tmp, dimensions):
    """Bounds, times and values of single steps and of the series, over a restart, by its three readers of XDMF."""
    script = os.path.join(tmp, "look.py")
    with open(script, "w") as f:
        f.write(LOOK)
    collision, shown = COLLISIONS[dimensions], fields(os.path.join(tmp, "fields"), dimensions)
    box, width = in_space(collision.box), widths(collision)
    steps = [0, 20, 50, 75, 100]
    for kind, name, which in (
        ("S", "fields.xdmf", steps),
        ("T", "fields.xdmf", steps),
        ("2", "fields.xdmf", steps),
        ("S", "fields_75.xdmf", [75]),
        ("T", "fields_75.xdmf", [75]),
        ("2", "fields_75.xdmf", [75]),
    ):
        done = subprocess.run(
            ["pvpython", script, kind, os.path.join(shown, name)],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=HANG_SECONDS,
        )
        lines = [line for line in done.stdout.splitlines() if line.startswith("FOUND")]
        found = [json.loads(line.split(" ", 1)[1]) for line in lines]
        assert done.returncode == 0 and len(found) == len(
            which
        ), f"ParaView, reader {kind}, {name}: {done.returncode} {done.stdout}"
        for theirs, step in zip(found, which):
            where = f"ParaView, reader {kind}, step {step}: {theirs}"
            with h5py.File(os.path.join(shown, f"fields_{step}.h5")) as f:
                particles = f["particles"][:]
                assert theirs["bounds"] == [v for side in box for v in (0, side)], where
                assert theirs["cells"] == particles.size and theirs["sums"][0] == particles.sum(), where
                assert len(which) == 1 or abs(theirs["time"] - np.ravel(f.attrs["time"])[0]) < 1e-12, where
                sums = [f[n][:].sum() for n in ("particles", "owner", "load")]
                assert sums[0] > 1000 and np.allclose(theirs["sums"], sums, rtol=1e-9), f"{where}: {sums}"
                # The last axis of the field is x.
                places = np.indices(particles.T.shape).reshape(dimensions, -1)
                place = [np.average(p + 0.5, weights=particles.T.ravel()) * w for p, w in zip(places, width)]
                assert np.allclose(theirs["place"], in_space(place, 0.5), rtol=1e-9), f"{where}: {place}"

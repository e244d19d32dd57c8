# SPDX-License-Identifier: MIT
"""The results as other programs read them. Group readers needs MDAnalysis and pvpython. Every run has a time limit."""
import json
import math
import os
import subprocess
import xml.etree.ElementTree

import h5py
import numpy as np
import pytest

from program import COLLISIONS, HANG_SECONDS, checkpoints, datasets, decisions, exact_state, fails_with, fresh, ok_run
from program import rows, run_words, said_by_run, summary, table, thermo

# Keys of a run with rows of all models.
ROWS = dict(run__steps=100, output__every=20, balance__every=5, balance__clock="work", balance__processes=20)
ROWS |= dict(balance__compare="[time_average, moving_average, particle_count, hybrid, a1, b1]")
ROWS |= dict(balance__partition__cut="cells")


def rows_of(out, model):
    """The rows of a model, as numbers where there are such."""
    numbers = ("step", "lbe", "lbe_model", "mean_seconds", "max_seconds", "lost_seconds", "move_seconds")
    numbers += ("lbe_reachable", "ghost_cells", "ghost_bytes", "particles_moved", "load_step")
    return [r | {k: float(r[k]) for k in numbers} for r in decisions(out) if r["model"] == model]


@pytest.mark.group("balance_rows")
@pytest.mark.parametrize("start_from", ("uniform", "particles"))
def test_overall_lbe(tmp, start_from):
    """balance.csv alone explains overall LBE; all models start from the same loads."""
    ok_run(tmp, ranks=2, **ROWS, balance__constants__start=start_from, balance__migrate="always")
    assert len({r["lbe"] for r in decisions(tmp) if r["step"] == "5"}) == 1
    for model in summary(tmp)["overall_lbe"]:
        times = np.array([(r["mean_seconds"], r["max_seconds"]) for r in rows_of(tmp, model)])
        for key, part in (("overall_lbe", times), ("overall_lbe_measured", times[1:])):
            mean, largest = part.sum(axis=0)
            assert summary(tmp)[key][model] == pytest.approx(mean / largest, abs=1e-12), f"{key} of {model}"


def check_seconds(out, begin, balancing, move):
    """The seconds of each contender follow from its rows after `begin`, and so does who takes the least."""
    s, sums = summary(out), {}
    for model, found in s["contenders"].items():
        rows = [r for r in rows_of(out, model) if r["step"] > begin]
        balancings = sum(r["load_step"] == r["step"] for r in rows)
        computing = sum(5 * r["max_seconds"] for r in rows)
        sums[model] = computing + balancings * balancing + move / 20 * sum(r["particles_moved"] for r in rows)
        assert found["seconds"] == pytest.approx(sums[model], rel=1e-12), model
        assert found["computing_seconds"] == pytest.approx(computing, rel=1e-12), model
        migrations = sum(r["decision"] == "moved" for r in rows)
        assert [found[k] for k in ("balancings", "migrations", "from_step")] == [balancings, migrations, begin], model
        for name in ("ghost_cells", "ghost_bytes"):
            ghosts = sum(r[name] for r in rows) / len(rows)
            assert found[name] == pytest.approx(ghosts, rel=1e-12) and ghosts > 0, (model, name)
    least = min(sums, key=sums.get)
    from_step = f" from step {begin} on" if begin else ""
    assert s["least_time"].startswith(f"least time{from_step}: {least}, {sums[least]:.5g} s; "), s["least_time"]
    for model, found in s["contenders"].items():
        assert found["over_least"] == pytest.approx(sums[model] / sums[least] - 1, abs=1e-12), model


@pytest.mark.group("balance_rows")
def test_seconds(tmp):
    """Of computing, and of balancings and moves at their prices; a restart counts anew, and says so."""
    prices = dict(balance__work__balancing=1e-6, balance__work__move=4e-7, balance__migrate="gain")
    compare = "[a1, {model: r1_ahead, criterion: every}, {model: a1, criterion: never}]"
    keys = ROWS | prices | dict(balance__compare=compare, checkpoint__every=58)
    ok_run(tmp, ranks=2, **keys | dict(run__steps=58))
    check_seconds(tmp, 0, 1e-6, 4e-7)
    said = said_by_run(tmp, restart="auto", **keys)
    check_seconds(tmp, 55, 1e-6, 4e-7)
    assert "seconds from step 55 on" in said and summary(tmp)["least_time"] in said, said
    assert "prices: 1e-06 s a balancing, 4e-07 s a particle that moves, shared by 20 processes" in said, said
    ok_run(fresh(tmp), **dict(run__steps=60, balance__every=20))  # by the wall clock nobody is compared
    assert "contenders" not in summary(tmp) and "least_time" not in summary(tmp)


def check_gain(rows, price):
    """The loss against the cost of a migration, row by row. Returns whether rows that stay are modelled."""
    sum_lost, cost, in_use, seen, untried = 0.0, 0.0, None, set(), True
    for r in rows:
        rate = max(0.0, r["max_seconds"] - r["mean_seconds"] / r["lbe_reachable"])
        sum_lost, ahead = sum_lost + rate * 5, rate * (200 - r["step"])
        lost = min(ahead, math.sqrt(sum_lost * ahead) if untried else sum_lost)
        assert abs(lost - r["lost_seconds"]) < 1e-9 * lost + 1e-18, r
        modelled = r["load_step"] == r["step"]
        assert modelled == (lost > cost), f"modelled although nothing was to gain, or not: {r}"
        assert r["decision"] == ("moved" if modelled and lost > r["move_seconds"] else "kept: gain"), r
        if r["decision"] == "moved":
            assert abs(r["move_seconds"] - price * r["particles_moved"] / 20) < 1e-15, r
            sum_lost, in_use = 0.0, r["ghost_cells"]
        else:
            assert r["particles_moved"] == 0 and in_use in (None, r["ghost_cells"]), f"of a partition not in use: {r}"
            seen.add(modelled)
        cost, untried = r["move_seconds"], untried and not modelled
    assert len(rows) == 40
    return seen


def test_criterion_gain(tmp):
    """balance.csv alone explains each decision of the criterion gain, and cell fields the driver's LBE_m."""
    keys = ROWS | dict(balance__constants__start="uniform", balance__migrate="gain", output__fields_every=5)
    keys |= dict(run__steps=200, balance__model="particle_count", balance__compare="[r1, a1]")
    seen = set()
    for price in (2e-7, 3e-6):
        ok_run(fresh(tmp), ranks=3, **keys, balance__work__move=price)
        for model in ("particle_count", "r1", "a1"):
            seen |= check_gain(rows_of(tmp, model), price)
        # The driver's LBE_m is that of owner and load in the files of that step: its loads are particle counts.
        for r in rows_of(tmp, "particle_count"):
            with h5py.File(tmp / f"fields_{r['step']:.0f}.h5") as f:
                load, owner = f["load"][:], f["owner"][:]
                assert f["load"].attrs["step"] == r["load_step"] and not load[f["particles"][:] == 0].any(), r
            if r["load_step"] == r["step"]:
                sums = np.bincount(owner.ravel(), load.ravel(), minlength=20)
                assert r["lbe_model"] == pytest.approx(sums.mean() / sums.max(), abs=1e-12), r
    assert seen == {True, False}


def test_partition_that_never_changes(tmp):
    """A partition that never changes bears no model's name."""
    never = dict(balance__compare="[]", balance__partition__kind="none", balance__migrate="always")
    ok_run(tmp, ranks=2, **ROWS | never)
    assert {(r["model"], r["decision"]) for r in decisions(tmp)} == {("none", "kept: same")}
    assert list(summary(tmp)["overall_lbe"]) == ["none"]


def test_ideal_gas(tmp):
    """The pressure times the area is the kinetic energy in the frame of the centre of mass, without N / (N - 1)."""
    ok_run(tmp, run__steps=0, system__potential__epsilon=1e-300)
    r = thermo(tmp)[0]
    assert r["pressure"] * 260 * 140 == pytest.approx(r["temperature"] * (r["particles"] - 1), rel=1e-12), r


def resources(out):
    return table(out, "resources.csv")


SLOW = dict(balance__work__slow__fraction=0.1, balance__work__slow__speed=0.5, balance__noise=0.03)
SPEEDS = ROWS | dict(run__steps=120, output__every=0, balance__processes=40, balance__compare="[a1, hybrid]")
SPEEDS |= dict(balance__migrate="always")


def go(out, ranks, *more, **keys):
    ok_run(out, *more, ranks=ranks, **SPEEDS | keys)
    return decisions(out), resources(out) if os.path.exists(out / "resources.csv") else None


@pytest.mark.group("speeds")
def test_slow_processes(tmp):
    """Processes that counted work slows are found, the same on any ranks and over a restart; files and table say so."""
    whole, out, slow = tmp / "whole", tmp / "out", {9, 19, 29, 39}
    text = said_by_run(whole, **SPEEDS | SLOW)
    assert "process 9 runs at 0." in text and "overall LBE by counted work" in text, text
    last = {int(r["resource"]): float(r["speed"]) for r in resources(whole)[-40:]}
    assert len(resources(whole)) == 24 * 40 and sum(last.values()) / 40 == pytest.approx(1, abs=1e-5)
    usual = sorted(last.values())[20]
    assert all(abs(s / usual - (0.5 if p in slow else 1)) < 0.1 for p, s in last.items()), f"speeds at the end: {last}"
    assert summary(whole)["speeds"] == pytest.approx([last[p] for p in range(40)], abs=1e-5)
    lbe = [float(r["lbe"]) for r in decisions(whole) if r["driver"] == "1"][10:]
    assert sum(lbe) / len(lbe) > 0.85, f"LBE with speeds: {lbe}"
    for n, m in ((2, 3), (7, 1)):  # the same in parts, on other ranks
        go(fresh(out), n, **SLOW | dict(run__steps=58, checkpoint__every=58))
        assert go(out, m, restart="auto", **SLOW) == (decisions(whole), resources(whole)), f"{n} -> {m} ranks"
    # With another number of processes nothing is known of them.
    again = SPEEDS | SLOW | dict(balance__processes=30)
    said = said_by_run(out, ranks=2, restart=out / "checkpoint_58.h5", **again)
    assert "the speeds of 40 processes are dropped" in said, said


def test_equal_processes(tmp):
    """Equal processes are treated alike, with speeds and without; without them there are no results of them."""
    found, speeds = go(tmp / "on", 2)
    assert {r["speed"] for r in speeds} == {"1"} and go(tmp / "off", 2, balance__speeds="off") == (found, None)
    assert "speeds" not in summary(tmp / "off")


def test_many_processes(tmp):
    """More processes than come to rank 0 at once, of which 500 are slow."""
    many = dict(balance__processes=5000, run__steps=20, balance__work__slow__fraction=0.1, balance__compare="[a1]")
    many |= dict(balance__work__slow__speed=0.5)
    one, three = (go(tmp / str(ranks), ranks, **many) for ranks in (1, 3))
    assert one == three
    rows = [(int(r["step"]), int(r["resource"])) for r in one[1]]
    assert rows == [(step, p) for step in (5, 10, 15, 20) for p in range(5000)], "order of resources.csv"
    assert sum(float(r["speed"]) < 0.8 for r in one[1][-5000:][9::10]) > 400, "slow ones of 5000 processes"


def test_given_speeds(tmp):
    """Four nodes of ten processes, the third at half speed."""
    given = dict(balance__speeds="given", machine__nodes=4, machine__core_speed="[1, 1, 0.5, 1]")
    given |= dict(balance__partition__processes_per_node=10, output__fields_every=60)
    for kind in ("chain", "nested"):
        go(fresh(tmp), 2, **given, balance__partition__kind=kind)
        owner, load = datasets(tmp / "fields_60.h5", "owner", "load").values()
        nodes = np.bincount(owner.ravel(), load.ravel(), minlength=40).reshape(4, 10).sum(axis=1)
        assert nodes[2] / nodes[[0, 1, 3]].mean() == pytest.approx(0.5, abs=0.05), f"{kind}: {nodes}"
    words = run_words(fresh(tmp), **SPEEDS | given | dict(balance__partition__processes_per_node=20))
    fails_with(2, "machine.core_speed: 4 values", 2, *words)


def grids_of(out, name, steps):
    """The grids of an XDMF file, one for each step, with the file and time of that step."""
    root = xml.etree.ElementTree.parse(out / name).getroot()
    assert (root.tag, root.attrib["Version"], len(root)) == ("Xdmf", "3.0", 1), name
    (top,) = root[0]
    assert root[0].tag == "Domain" and top.attrib["GridType"] == "Collection", f"{name}: {top.attrib}"
    found = list(top) if top.attrib["CollectionType"] == "Temporal" else [top]
    assert len(found) == len(steps), f"{name}: {len(found)} grids instead of {steps}"
    for collection, step in zip(found, steps):
        assert collection.attrib["CollectionType"] == "Spatial" and len(collection) == 2, name
        with h5py.File(out / f"fields_{step}.h5") as f:
            assert float(collection.find("Time").attrib["Value"]) == float(np.ravel(f.attrs["time"])[0]), step
            yield collection.find("Grid"), f"fields_{step}.h5", f


def examine(out, name, steps, collision):
    """An XDMF file: its mesh is that of the cells, and its fields are those of the steps' files."""
    points = [n + 1 for n in in_space(collision.cells)[::-1]]
    for grid, of_step, f in grids_of(out, name, steps):
        topology, geometry = grid.find("Topology"), grid.find("Geometry")
        assert topology.attrib == {"TopologyType": "3DCoRectMesh", "Dimensions": " ".join(map(str, points))}, name
        assert geometry.attrib == {"GeometryType": "ORIGIN_DXDYDZ"}, name
        for item, values in zip(geometry, ([0, 0, 0], widths(collision)[::-1])):
            assert item.attrib["Format"] == "XML" and item.attrib["Dimensions"] == "3", name
            assert [float(word) for word in item.text.split()] == list(values), name
        attributes = grid.findall("Attribute")
        assert [a.attrib["Name"] for a in attributes] == ["particles", "owner", "load"], name
        for a in attributes:
            item, (file, dataset) = a[0], a[0].text.split(":")
            assert a.attrib["Center"] == "Cell" and file == of_step and item.attrib["Format"] == "HDF", name
            assert item.attrib["Dimensions"] == " ".join(str(n - 1) for n in points), name
            data, kind = f[dataset], {"Int": "i", "Float": "f"}[item.attrib["NumberType"]]
            assert data.shape == tuple(collision.cells[::-1]) and data.dtype.kind == kind, f"{name}: {dataset}"
            assert data.dtype.itemsize == int(item.attrib["Precision"]), f"{name}: {dataset}"


@pytest.mark.group("fields")
@pytest.mark.parametrize("dimensions", [2, 3])
def test_fields(tmp, dimensions):
    """XDMF as ParaView's readers take it: each step and the series, also over a restart. The run's folder is returned
    to test_paraview."""
    c, out = COLLISIONS[dimensions], tmp / "out"
    keys = c.small | dict(output__fields_every=20, balance__every=10, balance__clock="work", checkpoint__every=30)
    ok_run(out, deck=c.deck, ranks=3, **keys | dict(run__steps=60))
    for step in (0, 20, 40, 60):
        examine(out, f"fields_{step}.xdmf", [step], c)
    examine(out, "fields.xdmf", [0, 20, 40, 60], c)
    again = keys | dict(run__steps=100, output__fields_every=25)
    ok_run(out, deck=c.deck, ranks=2, restart=out / "checkpoint_30.h5", **again)
    examine(out, "fields.xdmf", [0, 20, 50, 75, 100], c)


def in_space(values, last=1):
    """Values for the axes of space, with one for z if there are only two."""
    return [*values, last][:3]


def widths(collision):
    """Widths of a cell along x, y and z."""
    return np.array(in_space(collision.box, 1.0)) / in_space(collision.cells)


WRITTEN = {f"{name}_every": 40 for name in ("checkpoint_", "output__trajectory", "output__fields")}
WORKED = dict(balance__every=10, balance__clock="work", balance__processes=12, balance__migrate="always")


@pytest.fixture(scope="module", params=(2, 3))
def results(request, tmp_path_factory):
    """A collision and the directory of its run."""
    out, c = tmp_path_factory.mktemp("readers") / "out", COLLISIONS[request.param]
    keys = c.small | WORKED | WRITTEN | dict(run__steps=40, balance__model="particle_count")
    ok_run(out, deck=c.deck, ranks=3, **keys, output__trajectory_columns="[force, position]")
    return c, out


@pytest.fixture
def state(results):
    """Positions and velocities of the checkpoint in the order of ids, from its exact numbers."""
    ids, *vectors = exact_state(results[1] / "checkpoint_40.h5")
    assert np.array_equal(ids, np.arange(len(ids)))
    return [a * 2.0**-40 for a in vectors]


@pytest.mark.group("h5py")
def test_checkpoint(results, state):
    collision, out = results
    x, v = state
    d = len(collision.box)
    with h5py.File(out / "checkpoint_40.h5") as f:
        g = f["particles/all"]
        order = np.argsort(g["id/value"][0])
        for name, exact in (("position", x), ("velocity", v)):
            values = g[f"{name}/value"][0][order]
            assert np.array_equal(values[:, :d], exact) and not values[:, d:].any(), name
        assert (x >= 0).all() and (x < collision.box).all() and np.ptp(x, axis=0).min() > 10
        assert np.array_equal(np.diag(g["box/edges/value"][0])[:d], collision.box) and g["box"].attrs["dimension"] == 3
        assert g["position/step"][0] == 40 and abs(g["position/time"][0] - 40 * collision.dt) < 1e-15
        assert list(f["h5md"].attrs["version"]) == [1, 1]
    kinetic = float(table(out)[-1]["kinetic"])
    assert kinetic == pytest.approx(0.5 * (v**2).sum(), rel=1e-6)
    momenta = [f"momentum_{axis}" for axis in "xyz"[:d]]
    assert rows(out).startswith(f"step,time,particles,kinetic,potential,total,{','.join(momenta)},temperature")


def test_trajectory(results, state):
    """A frame holds the checkpoint's state; forces cancel exactly; columns that were not asked for are missing."""
    collision, out = results
    d = len(collision.box)
    with h5py.File(out / "trajectory.h5") as f:
        g = f["particles/all"]
        assert np.array_equal(state[0], g["position/value"][1][:, :d])
        assert np.allclose(np.diag(g["box/edges/value"][-1])[:d], collision.box)
        assert np.abs(g["force/value"][1].sum(axis=0)).max() == 0 and "velocity" not in g


def test_cell_fields(results, state):
    collision, out = results
    fields = out / "fields_40.h5"
    particles, load, owner = datasets(fields, "particles", "load", "owner").values()
    count, _ = np.histogramdd(state[0], bins=collision.cells, range=[(0, side) for side in collision.box])
    assert particles.shape == tuple(collision.cells[::-1]) and np.array_equal(count.T, particles)
    assert np.allclose(load, particles, rtol=1e-9, atol=1e-9), "the load by the particle count"
    assert set(np.unique(owner)) == set(range(12))
    with h5py.File(fields) as f:
        assert list(f.attrs["cells"]) == list(collision.cells)


@pytest.mark.group("readers")
@pytest.mark.parametrize("dimensions", [2, 3])
def test_mdanalysis(tmp, dimensions):
    """Positions, velocities and box of each frame, and the mean square displacement by our ids, over a restart. A
    checkpoint is read alike."""
    import MDAnalysis

    c = COLLISIONS[dimensions]
    keys = c.small | dict(output__trajectory_every=30, checkpoint__every=60, checkpoint__keep=9)
    for ranks, steps, restart in ((3, 60, None), (2, 240, "auto")):
        ok_run(tmp, deck=c.deck, ranks=ranks, restart=restart, **keys | dict(run__steps=steps))
    box = np.array(c.box)
    states = {s: [a * 2.0**-40 for a in exact_state(tmp / f"checkpoint_{s}.h5")[1:]] for s in checkpoints(tmp)}
    universe = MDAnalysis.Universe.empty(len(states[60][0]), trajectory=True)

    def displacement(a, b):
        """The mean square."""
        d = (b - a)[:, :dimensions].astype("f8")
        return ((d - box * np.round(d / box)) ** 2).sum(axis=1).mean()

    def frames(name, order=slice(None)):
        universe.load_new(str(tmp / name), format="H5MD")
        return {
            f.data["step"]: (f.time, f.positions[order].copy(), f.velocities[order].copy(), f.dimensions)
            for f in universe.trajectory
        }

    theirs = frames("trajectory.h5")
    assert list(theirs) == list(range(0, 241, 30)), f"MDAnalysis sees steps {list(theirs)}"
    last = np.argsort(datasets(tmp / "checkpoint_240.h5", "exact/id")["exact/id"])
    for seen, steps in ((theirs, (60, 120, 180, 240)), (frames("checkpoint_240.h5", last), (240,))):
        for step in steps:
            time_, *vectors, edges = seen[step]
            for found, ours in zip(vectors, states[step]):
                assert np.array_equal(found[:, :dimensions], ours.astype("f4")), f"vectors of step {step}"
                assert not found[:, dimensions:].any(), f"a third axis at step {step}"
            assert abs(time_ - step * c.dt) < 1e-12 and np.allclose(edges, [*in_space(c.box), 90, 90, 90]), step
    for step in (120, 180, 240):
        ours, found = displacement(states[60][0], states[step][0]), displacement(theirs[60][1], theirs[step][1])
        assert found == pytest.approx(ours, rel=1e-4), f"mean square displacement from 60 to {step}"
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


def seen_by(script, kind, file):
    """The lines of the script by one of ParaView's readers."""
    done = subprocess.run(["pvpython", script, kind, file], capture_output=True, text=True, timeout=HANG_SECONDS)
    assert done.returncode == 0, done
    lines = [line for line in done.stdout.splitlines() if line.startswith("FOUND")]
    return [json.loads(line.split(" ", 1)[1]) for line in lines]


@pytest.mark.parametrize("dimensions", [2, 3])
def test_paraview(tmp, dimensions):
    """Bounds, times and values of single steps and of the series, over a restart, by its three readers of XDMF."""
    c, script = COLLISIONS[dimensions], tmp / "look.py"
    script.write_text(LOOK)
    test_fields(tmp, dimensions)
    for kind in ("S", "T", "2"):
        for name, steps in (("fields.xdmf", [0, 20, 50, 75, 100]), ("fields_75.xdmf", [75])):
            for theirs, step in zip(seen_by(script, kind, tmp / "out" / name), steps, strict=True):
                where = f"ParaView, reader {kind}, step {step}: {theirs}"
                with h5py.File(tmp / f"out/fields_{step}.h5") as f:
                    fields, time = [f[n][:] for n in ("particles", "owner", "load")], np.ravel(f.attrs["time"])[0]
                assert theirs["bounds"] == [v for side in in_space(c.box) for v in (0, side)], where
                assert theirs["cells"] == fields[0].size and theirs["sums"][0] == fields[0].sum() > 1000, where
                assert len(steps) == 1 or abs(theirs["time"] - time) < 1e-12, where
                assert np.allclose(theirs["sums"], [a.sum() for a in fields], rtol=1e-9), where
                # The last axis of the field is x.
                counts = fields[0].T
                places = np.indices(counts.shape).reshape(dimensions, -1)
                place = [np.average(p + 0.5, weights=counts.ravel()) * w for p, w in zip(places, widths(c))]
                assert np.allclose(theirs["place"], in_space(place, 0.5), rtol=1e-9), f"{where}: {place}"

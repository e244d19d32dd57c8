# SPDX-License-Identifier: MIT
"""The pictures of the scripts, and their answers to wrong files."""
import json
import os
import shutil
from types import SimpleNamespace

import h5py
import numpy as np
import pytest

import plotting
from program import COLLISIONS, DECK, SOURCE, ok, ok_run, printed, script, settings, table
from report import pictures
from report.pictures import density
from report.pictures import map as boxes
from report.pictures import particles, partition, prediction

BOUNDARY = ("reflecting", "periodic", "reflecting")


def draw(name, *arguments, **options):
    return script("report.py", *arguments, "--pictures", "png", "--only", name, **options)


@pytest.mark.group("smoothing")
@pytest.mark.parametrize("wraps", [(x, y) for x in (True, False) for y in (True, False)])
def test_smoothing_crosses_no_wall(wraps):
    field = np.zeros((7, 9))
    field[3, 8], field[0, 4] = 9, 18  # at the right wall, and at the lower one
    got = plotting.smoothed(field, wraps)
    assert got[:, 0].sum() == (3 if wraps[0] else 0), "particles behind the right wall"
    assert got[6].sum() == (6 if wraps[1] else 0), "particles behind the lower wall"
    assert np.isclose(got.sum(), field.sum()), "particles are lost"
    assert np.isclose(got[3, 7], 1) and np.isclose(got[3, 8], 1 if wraps[0] else 2)


def test_smoothing_is_the_mean_of_neighbours():
    field = np.random.default_rng(1).random((6, 8))
    expected = sum(np.roll(field, (i, j), (0, 1)) for i in (-1, 0, 1) for j in (-1, 0, 1)) / 9
    assert np.allclose(plotting.smoothed(field, (True, True)), expected)
    assert np.allclose(plotting.smoothed(np.ones((6, 8)), (False, False)), 1)
    line = plotting.smoothed(np.array([3.0, 0, 0, 0]), (False, True))
    assert np.allclose(line, [2, 1, 0, 0])


def test_borders():
    values = np.zeros((3, 4), dtype=int)
    values[:, 2:] = 1
    values[2, 3] = 2
    lines = [[(12, 20), (12, 23)], [(13, 22), (13, 23)], [(13, 22), (14, 22)]]
    assert sorted(plotting.borders(values, (10, 20))) == lines


def small_runs(folder, dimensions):
    """Directories of small runs: without and with balancing, with zones; of a partition and a prediction."""
    deck, small = COLLISIONS[dimensions].deck, COLLISIONS[dimensions].small | dict(run__steps=20)
    keys = dict(output__fields_every=10, balance__every=5, balance__clock="work", balance__processes=6)
    keys |= dict(system__boundary=str(list(BOUNDARY[:dimensions])).replace("'", ""), output__trajectory_every=10)
    for name, more in (("none", dict(balance__partition__kind="none")), ("with", {})):
        ok_run(folder / name, deck=deck, ranks=2, **small, **keys, **more)
    ok_run(folder / "zones", deck=deck, **small, accelerator__backend="host", accelerator__threads=1)
    machine = dict(machine__nodes=3, machine__accelerators_per_node="[2, 0, 1]", machine__core_speed="[1, 1, 0.5]")
    printed(0, "partition", deck, "--out", folder / "partition", *settings(**small, **machine))
    printed(0, "predict", deck, "--out", folder / "prediction", *settings(**small))
    return folder


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    return small_runs(tmp_path_factory.mktemp("runs"), 2)


@pytest.fixture(scope="module")
def runs_in_space(tmp_path_factory):
    return small_runs(tmp_path_factory.mktemp("runs_in_space"), 3)


@pytest.fixture(params=[2, 3])
def of_dimensions(request):
    """The number of dimensions, and the directories of their runs."""
    return request.param, request.getfixturevalue({2: "runs", 3: "runs_in_space"}[request.param])


@pytest.mark.group("pictures")
def test_pictures(of_dimensions):
    """All that a directory has the files for, in both formats, also of results side by side."""
    dimensions, runs = of_dimensions
    assert pictures.wraps_of(runs / "with") == [False, True, False][:dimensions]
    of_run, seen = ["map", "lbe", "density", "partition", "particles"], set()
    for folders, names, kind in (
        (["with"], of_run, "png"),
        (["none", "with"], ["map", "lbe"], "pdf"),
        (["zones"], ["map", "zones"], "png"),
        (["partition"], ["nested"], "png"),
        (["prediction"], ["prediction"], "png"),
    ):
        only = ["--only", *names] if len(folders) > 1 else []
        done = script("report.py", *(runs / f for f in folders), "--pictures", kind, *only)
        assert done.returncode == 0, done.stderr
        paths = [runs / folders[0] / f"{name}.{kind}" for name in names]
        page = [] if only else [runs / folders[0] / "report.html"]
        assert done.stdout == "".join(f"wrote {path}\n" for path in page + paths)
        assert min(path.stat().st_size for path in paths) > 7000
        seen.update(names)
    folder = os.path.join(SOURCE, "scripts/report/pictures")
    assert {f[:-3] for f in os.listdir(folder) if f.endswith(".py")} == seen | {"__init__"}
    assert seen == set(pictures.PICTURES)


def figure_of(module, *outdirs, **options):
    """The picture that a module draws, as a figure."""
    return module.draw(SimpleNamespace(**dict.fromkeys(("steps", "slice", "project", "colour")) | options), *outdirs)


def texts(module, *outdirs, **options):
    """The texts in a picture."""
    figure = figure_of(module, *outdirs, **options)
    return " ".join(text.get_text() for text in figure.findobj(plotting.matplotlib.text.Text))


def test_map_shows_what_the_table_holds(of_dimensions):
    """Density and loads of the blocks, the borders between their owners, and the LBE."""
    dimensions, runs = of_dimensions
    out, view = runs / "with", {} if dimensions == 2 else {"slice": "z=3"}
    rows = table(out, "map.csv", step=table(out, "map.csv")[-1]["step"])
    rows = [r for r in rows if dimensions == 2 or int(r["z0"]) <= 3 < int(r["z1"])]
    x, y = (len({r[name] for r in rows}) for name in ("x0", "y0"))
    cells = [np.prod([int(r[f"{a}1"]) - int(r[f"{a}0"]) for a in "xyz"]) for r in rows]
    for colour, column, unit in (("density", "particles", None), ("load", "load", 1e6)):
        figure = figure_of(boxes, out, colour=[colour], steps=[20], **view)
        frame, below = figure.axes[0], figure.axes[-2 if colour == "density" else -1]
        shown = frame.collections[0].get_array().reshape(y, x).T.ravel()
        expected = np.array([float(r[column]) / n for r, n in zip(rows, cells)])
        assert np.allclose(shown / shown.max(), expected / expected.max()), colour
        assert unit is None or np.allclose(shown, unit * expected)
    owners = np.array([int(r["owner"]) for r in rows]).reshape(x, y).T
    assert len(frame.collections[-1].get_segments()) == len(plotting.borders(owners)) > 0
    (curve,) = [line for line in figure.axes[-1].lines or below.lines if len(line.get_xdata()) > 2]
    assert list(curve.get_ydata()) == [100 * float(r["lbe"]) for r in table(out, "balance.csv")]


def test_map_of_a_run_that_goes_on(runs, tmp):
    """Without a summary there is no overall LBE, and the map is drawn all the same."""
    for name in ("map.csv", "balance.csv", "deck.yaml"):
        shutil.copy(runs / "with" / name, tmp)
    whole, begun = (len(figure_of(boxes, out).axes) for out in (runs / "with", tmp))
    assert begun == whole - 1 and begun > 2


def test_views():
    """Layers and means of cells that are not the same along any two axes."""
    cells = np.arange(2 * 3 * 4).reshape(2, 3, 4)  # [z, y, x]

    def view(number=cells.shape[::-1], slice=None, project=None, mean=False):
        return plotting.View(SimpleNamespace(slice=slice, project=project), number, mean)

    for words, layer, axes in (("z=0", cells[0], "xy"), ("y=2", cells[:, 2], "xz"), ("x=3", cells[:, :, 3], "yz")):
        seen = view(slice=words)
        assert np.array_equal(seen(cells), layer) and seen.of("xyz") == list(axes)
    assert np.array_equal(view()(cells), cells[1]), "not in the middle"
    assert np.array_equal(view(project="x")(cells), cells[:, :, 2]), "not in the middle"
    for axis, project in ((0, None), (0, "z"), (1, "y"), (2, "x")):
        assert np.array_equal(view(project=project, mean=True)(cells), cells.mean(axis=axis)), project
    assert np.array_equal(view((4, 3), mean=True)(cells[0]), cells[0])


@pytest.mark.parametrize(
    "module, slice, words, missing",
    [
        (density, None, [", mean along z"], "nothing"),
        (density, "x=2", [", layer x = 2", "y / sigma", "z / sigma"], "x / sigma"),
        (partition, None, [", layer z = 3", "cell in x", "cell in y"], "cell in z"),
        (partition, "y=4", [", layer y = 4", "cell in x", "cell in z"], "cell in y"),
    ],
)
def test_pictures_say_what_they_show(runs_in_space, module, slice, words, missing):
    said = texts(module, runs_in_space / "with", slice=slice)
    assert all(word in said for word in words) and missing not in said


def test_layer_is_drawn_as_it_lies(runs_in_space, tmp):
    """A layer across x has the lengths of y and z, and is smoothed across the periodic axis, which is y."""
    for name in ("fields_0.h5", "deck.yaml"):
        shutil.copy(runs_in_space / "with" / name, tmp)
    with h5py.File(os.path.join(tmp, "fields_0.h5"), "r+") as f:
        f["particles"][...] = np.random.default_rng(4).integers(0, 30, f["particles"].shape)
        box, layer = f.attrs["box"], f["particles"][:, :, 2]
    image = figure_of(density, tmp, slice="x=2").axes[0].images[0]
    assert list(image.get_extent()) == [0, box[1], 0, box[2]]
    drawn, expected = image.get_array(), plotting.smoothed(layer, (True, False))
    assert np.allclose(drawn / drawn.max(), expected / expected.max())


def test_particles_have_the_colour_of_their_cell(tmp):
    """In a box whose cells are not as wide along any two axes."""
    cells, path = (4, 3, 5), os.path.join(tmp, "fields_0.h5")
    with h5py.File(path, "w") as f:
        f.attrs.update(box=np.array([8.0, 9, 20]), cells=cells, step=0, time=0.0)
        f["owner"] = np.arange(60).reshape(cells[::-1])
    at = np.array([[1.9, 8.9, 0.1], [7.9, 0.1, 19.9], [2.1, 3.1, 4.1]])
    moment = particles.Moment((at[None], np.ones((1, 3, 3)), 0), path)
    # [z, y, x] of the cells: (0, 2, 0), (4, 0, 3), (1, 1, 1)
    assert list(moment.of["process"]) == [8, 51, 17]


@pytest.mark.group("refusals")
def test_views_that_are_not_there(runs, runs_in_space):
    for folder, option in ((runs, "z=0"), (runs_in_space, "z=6"), (runs_in_space, "y"), (runs_in_space, "w=1")):
        for names, of in ((["map", "density", "partition"], "with"), (["nested"], "partition")):
            done = script("report.py", folder / of, "--pictures", "png", "--only", *names, "--slice", option)
            lines = done.stderr.splitlines()
            assert done.returncode == 2 and len(lines) == len(names), done.stderr
            assert all("two dimensions" in line or "z=0 to z=5" in line for line in lines), done.stderr


@pytest.mark.group("pictures")
def test_edges_of_what_processes_own():
    """The lines along which their surfaces bend, and no others."""
    owner = np.zeros((4, 3, 2), dtype=int)
    assert len(particles.edges(owner, np.ones(3))) == 4 * (4 + 3 + 2)
    owner[2:] = 1  # a plane across x adds its rim
    lines = np.array(particles.edges(owner, np.array([1, 2, 3])))
    assert len(lines) == 4 * (4 + 3 + 2) + 2 * (3 + 2)
    rim = lines[(lines[:, :, 0] == 2).all(axis=1)]
    assert len(rim) == 2 * (3 + 2) and rim[:, :, 1].max() == 6 and rim[:, :, 2].max() == 6


def test_spheres_hide_each_other():
    """In each dot is the particle that is nearest to the viewer; all are seen where none is behind another."""
    camera = particles.Camera(np.array([10.0, 6, 1]))
    nearest, height, _ = particles.spheres(camera, np.array([[3, 3, 0.2], [3.2, 3, 0.8], [8, 2, 0.1]]))
    seen = [(nearest == n).sum() / (np.pi * (0.5 * camera.scale) ** 2) for n in range(3)]
    assert abs(seen[1] - 1) < 0.01 and abs(seen[2] - 1) < 0.01 and 0.1 < seen[0] < 0.3, seen
    row, column = (round(v) for v in camera(np.array([8, 2, 0.1]))[1::-1])
    assert nearest[row, column] == 2 and (np.isfinite(height) == (nearest >= 0)).all()


def test_pictures_say_that_density_is_smoothed(runs):
    assert all("mean of 3 x 3 cells" in texts(module, runs / "with") for module in (density, partition))
    assert "mean of 3 columns" in texts(density, runs / "with")
    assert script("report.py", "--help").stdout.count("mean of 3 x 3 cells") == 2


@pytest.mark.parametrize(
    "steps, chosen",
    [
        ([0, 7, 8], [0, 7, 8]),
        ([0, 1500, 3000, 4500], [0, 1500, 3000, 4500]),
        ([0, 1500, 3000, 4500, 6000], [0, 3000, 6000]),
        ([0, 20, 40, 60, 80, 100, 120], [0, 40, 80, 120]),
        ([0, 20, 40, 60, 80, 100], [0, 40, 60, 100]),  # none are evenly apart
        ([0, 1500, 3000, 4500, 6000, 6010], [0, 1500, 4500, 6010]),
        ([0, 1, 2, 3, 100], [0, 3, 100]),
    ],
)
def test_frames_are_equally_far_apart(steps, chosen):
    assert density.evenly(steps) == chosen


def test_frames_that_cannot_be_equally_far_apart_are_named(runs, tmp):
    for step, of in ((0, 0), (20, 20), (40, 10), (60, 10), (80, 10), (100, 20)):
        shutil.copy(runs / f"with/fields_{of}.h5", os.path.join(tmp, f"fields_{step}.h5"))
    shutil.copy(runs / "with/deck.yaml", tmp)
    assert "drawn are [0, 40, 60, 100]; --steps" in draw("density", tmp).stdout
    os.remove(os.path.join(tmp, "fields_100.h5"))
    assert draw("density", tmp).stdout == f"wrote {tmp}/density.png\n"


def test_ranks_of_a_prediction_are_named():
    assert prediction.ticks([1, 2, 8, 64]) == [1, 2, 8, 64]
    assert prediction.ticks([2**n for n in range(13)]) == [2**n for n in range(13)]
    assert prediction.ticks([*range(1, 17), 1024, 4096]) == [1, 2, 4, 8, 16, 1024, 4096]
    assert prediction.ticks([1]) == [1]


def test_predicted_speed_ups(tmp):
    """That of one rank is 1 by definition; it has no upper bound where the time may be 0."""
    times, terms = [(1, 8, 4, 16), (2, 4, 0, 8), (8, 1, 0.5, 2), (64, 0.5, 0.25, 1)], dict.fromkeys(prediction.TERMS, 0)
    names = ("ranks", "step_seconds", "low_seconds", "high_seconds")
    forecasts = [dict(zip(names, each), speed_up=8 / each[1], seconds=terms) for each in times]
    assert prediction.speed_ups(forecasts) == ([1, 1, 4, 8], [1, float("inf"), 16, 32])
    content = dict(deck="deck", machine="machine", best_ranks=64, forecasts=forecasts)
    (tmp / "predict.json").write_text(json.dumps(content))
    assert {"1", "2", "8", "64"} <= set(texts(prediction, tmp).split())


@pytest.mark.group("refusals")
def test_wrong_files(tmp):
    """One line for each picture names the results that are others, and a remedy."""
    files = ("predict.json", "partition.json", "summary.json", "balance.csv", "zones.csv", "map.csv", "fields_0.h5")
    for file in (*files, "trajectory.h5", "deck.yaml"):
        (tmp / file).write_text("{}\n" if file == "summary.json" else "a,b\n1,2\n")
    done = script("report.py", tmp, "--pictures", "png", "--only", *pictures.PICTURES)
    lines = done.stderr.splitlines()
    assert done.returncode == 2 and len(lines) == len(pictures.PICTURES) and not done.stdout, done.stderr
    assert all(line.startswith("report.py: ") and str(tmp) in line for line in lines), done.stderr


def test_picture_of_a_partition_of_any_kind(tmp):
    ok(0, "partition", DECK, "--out", tmp / "out", "--quiet", "--kind", "chain")
    done = script("report.py", tmp / "out", "--pictures", "png", "--only", "nested")
    assert done.returncode == 0 and (tmp / "out/nested.png").stat().st_size > 10000, done.stderr


PNG = ["--pictures", "png"]
MAP = [*PNG, "--only", "map"]


@pytest.mark.parametrize(
    "out, arguments, line",
    [
        ("with", ["--steps", "3"], "--steps is for --pictures"),
        ("with", [*PNG, "--slice", "z=1", "--project", "x"], "--slice and --project are two ways"),
        ("with", [*MAP, "lbe", "--output", "x.png"], "--output is the name of one picture"),
        ("with", [*MAP, "--colour", "energy"], "a map has the colours density, load, process"),
        ("with", [*PNG, "--only", "particles", "--colour", "load"], "particles have the colours process, energy"),
        ("with", [*MAP, "--output", "/nowhere/x.png"], "cannot write /nowhere/x.png"),
        ("with", [*MAP, "--output", "/nowhere/x.gif"], "cannot write /nowhere/x.gif"),
        ("zones", [*MAP, "--colour", "load"], "has no loads, since the run did not balance"),
    ],
)
def test_options_of_pictures(runs, out, arguments, line):
    """They need --pictures; a name of one picture is for one; colours are a picture's own."""
    done = script("report.py", runs / out, *arguments)
    assert done.returncode == 2 and line in done.stderr and not done.stdout, done.stderr


@pytest.mark.parametrize("ranks", ("sixteen", "0", "-4", "1.5"))
def test_simulate_without_a_number(ranks):
    done = script("simulate.sh", ranks, DECK, "--out", "x")
    assert done.returncode == 2 and done.stderr == f"simulate.sh: {ranks} is no number of ranks; see --help\n"


def test_python_without_libraries(tmp):
    """A Python lacks numpy. One line names the libraries of plots, or Debian's Python goes on."""
    for module in ("numpy", "h5py", "matplotlib"):
        (tmp / f"{module}.py").write_text("raise ImportError('No module named numpy')\n")
    environment = dict(os.environ, PYTHONPATH=tmp, STEELYARD_DEBIANS_PYTHON="tried")
    open(os.path.join(tmp, "thermo.csv"), "w").write("step\n0\n")
    done = draw("density", tmp, env=environment)
    assert done.returncode == 2 and "No module named numpy" in done.stderr and "docs/install.md" in done.stderr
    assert done.stderr.count("\n") == 1, done.stderr


@pytest.mark.parametrize("link, path", [("scripts", "scripts/report.py"), ("report.py", "report.py")])
def test_debians_python_through_links(tmp, link, path):
    """Debian's Python goes on also where scripts/, or the script, is a symbolic link."""
    said = "os.environ.get('STEELYARD_DEBIANS_PYTHON', 'no')"
    (tmp / "h5py.py").write_text(f"import os\nraise ImportError('h5py, Debian: ' + {said})\n")
    os.symlink(os.path.join(SOURCE, "scripts", "" if link == "scripts" else link), tmp / link)
    environment = dict(os.environ, PYTHONPATH=tmp)
    environment.pop("STEELYARD_DEBIANS_PYTHON", None)
    done = script(tmp / path, tmp, "--pictures", "png", env=environment)
    assert done.returncode == 2 and "h5py, Debian: tried" in done.stderr, done.stderr


def test_build_folder_of_another_tree(tmp):
    """A tree was copied with its build folder. One line names a remedy, instead of CMake's."""
    (tmp / "build").mkdir()
    shutil.copytree(os.path.join(SOURCE, "scripts"), tmp / "scripts")
    for file in ("CMakeLists.txt", "CMakePresets.json"):
        shutil.copy(os.path.join(SOURCE, file), tmp)
    (tmp / "build/CMakeCache.txt").write_text(
        f"CMAKE_HOME_DIRECTORY:INTERNAL={SOURCE}\nCMAKE_CACHEFILE_DIR:INTERNAL={SOURCE}/build\n"
    )
    done = script(tmp / "scripts/build.sh", env=os.environ | dict(STEELYARD_SETUP="skip"))
    last = done.stderr.splitlines()[-1]
    assert done.returncode == 2 and last.startswith("build.sh: ") and SOURCE in last and "rm -r " in last, done.stderr


def test_parts_of_the_checks():
    """The script that CI runs knows its parts, and lists them."""
    done = script("ci.sh", "nonsense")
    assert done.returncode == 2 and done.stderr == "ci.sh: unknown part nonsense; see --help\n"
    assert all(f"  {part}:" in script("ci.sh", "--help").stdout for part in ("tests", "clang", "smpi", "asan"))

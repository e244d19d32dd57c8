# SPDX-License-Identifier: MIT
"""What the scripts draw, and what they answer to wrong files."""
import json
import os
import shutil
import subprocess
import sys
from types import SimpleNamespace

import h5py
import numpy as np
import pytest

import plot_balancing
import plot_density
import plot_particles
import plot_partition
import plot_prediction
import plotting
from program import COLLISIONS, DECK, SOURCE, run, settings

BOUNDARY = ("reflecting", "periodic", "reflecting")
PICTURES = ("balancing", "density", "lbe", "nested", "particles", "partition", "prediction", "zones")


def script(name, *arguments, **options):
    path = os.path.join(SOURCE, "scripts", name)
    command = [path] if name.endswith(".sh") else [sys.executable, path]
    return subprocess.run([*command, *map(str, arguments)], capture_output=True, text=True, timeout=120, **options)


def drawn(name, path, *arguments):
    """The script writes this file, and says so."""
    done = script(name, *arguments)
    assert done.returncode == 0, done.stderr
    assert f"wrote {path}\n" in done.stdout and os.path.getsize(path) > 10000


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


@pytest.mark.group("smoothing")
def test_smoothing_is_the_mean_of_neighbours():
    field = np.random.default_rng(1).random((6, 8))
    expected = sum(np.roll(field, (i, j), (0, 1)) for i in (-1, 0, 1) for j in (-1, 0, 1)) / 9
    assert np.allclose(plotting.smoothed(field, (True, True)), expected)
    assert np.allclose(plotting.smoothed(np.ones((6, 8)), (False, False)), 1)
    line = plotting.smoothed(np.array([3.0, 0, 0, 0]), (False, True))
    assert np.allclose(line, [2, 1, 0, 0])


@pytest.mark.group("smoothing")
def test_borders():
    values = np.zeros((3, 4), dtype=int)
    values[:, 2:] = 1
    values[2, 3] = 2
    assert sorted(plotting.borders(values, (10, 20))) == sorted(
        [[(12, 20), (12, 23)], [(13, 22), (13, 23)], [(13, 22), (14, 22)]]
    )


def small_runs(folder, dimensions):
    """Directories of small runs: without and with balancing, with zones; of a partition and a prediction."""
    deck, small = COLLISIONS[dimensions].deck, COLLISIONS[dimensions].small | dict(run__steps=20)
    keys = dict(output__fields_every=10, balance__every=5, balance__clock="work", balance__processes=6)
    keys |= dict(system__boundary=str(list(BOUNDARY[:dimensions])).replace("'", ""), output__trajectory_every=10)
    for name, more in (("none", dict(balance__partition__kind="none")), ("with", {})):
        code, text = run(2, "run", deck, "--out", folder / name, "--quiet", *settings(**small, **keys, **more))
        assert code == 0, text
    keys = dict(accelerator__backend="host", accelerator__threads=1)
    assert run(0, "run", deck, "--out", folder / "zones", "--quiet", *settings(**small, **keys))[0] == 0
    machine = dict(machine__nodes=3, machine__accelerators_per_node="[2, 0, 1]", machine__core_speed="[1, 1, 0.5]")
    assert run(0, "partition", deck, "--out", folder / "partition", *settings(**small, **machine))[0] == 0
    assert run(0, "predict", deck, "--out", folder / "prediction", *settings(**small))[0] == 0
    return folder


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    return small_runs(tmp_path_factory.mktemp("runs"), 2)


@pytest.fixture(scope="module")
def runs_in_space(tmp_path_factory):
    return small_runs(tmp_path_factory.mktemp("runs_in_space"), 3)


@pytest.mark.group("pictures")
@pytest.mark.parametrize("dimensions", [2, 3])
def test_pictures(dimensions, request):
    runs = request.getfixturevalue({2: "runs", 3: "runs_in_space"}[dimensions])
    assert plotting.periodic(runs / "with") == (False, True, False)[:dimensions]
    drawn("plot_particles.py", runs / "with/particles.png", runs / "with")
    drawn("plot_density.py", runs / "with/density.png", runs / "with")
    drawn("plot_partition.py", runs / "with/partition.png", runs / "with")
    drawn("plot_lbe.py", runs / "with/lbe.png", runs / "with", runs / "none")
    drawn("plot_balancing.py", runs / "with/balancing.png", runs / "none", runs / "with")
    drawn("plot_zones.py", runs / "zones/zones.png", runs / "zones")
    drawn("plot_nested.py", runs / "partition/nested.png", runs / "partition")
    drawn("plot_prediction.py", runs / "prediction/prediction.png", runs / "prediction")
    for name in PICTURES:
        assert os.path.exists(os.path.join(SOURCE, f"scripts/plot_{name}.py")), name
    assert {f[5:-3] for f in os.listdir(os.path.join(SOURCE, "scripts")) if f.startswith("plot_")} == set(PICTURES)


def picture(monkeypatch, script, *arguments):
    """The picture that a script would write, as a figure."""
    figures = []
    monkeypatch.setattr(sys, "argv", [script.__file__, *map(str, arguments)])
    monkeypatch.setattr(script, "save", lambda figure, path, **options: figures.append(figure))
    script.main()
    return figures[0]


def texts(monkeypatch, script, *arguments):
    """What is written in the picture that a script draws."""
    figure = picture(monkeypatch, script, *arguments)
    return " ".join(text.get_text() for text in figure.findobj(plotting.matplotlib.text.Text))


@pytest.mark.group("pictures")
def test_views(runs_in_space, monkeypatch):
    """Layers and means of cells that are not the same along any two axes; a picture says which it shows."""
    cells = np.arange(2 * 3 * 4).reshape(2, 3, 4)  # [z, y, x]

    def view(number=cells.shape[::-1], **options):
        return plotting.View(SimpleNamespace(**options), number)

    assert np.array_equal(view(slice="z=0")(cells), cells[0]) and view(slice="z=0").of("xyz") == ["x", "y"]
    assert np.array_equal(view(slice="y=2")(cells), cells[:, 2]) and view(slice="y=2").of("xyz") == ["x", "z"]
    assert np.array_equal(view(slice="x=3")(cells), cells[:, :, 3]) and view(slice="x=3").of("xyz") == ["y", "z"]
    assert np.array_equal(view(slice=None)(cells), cells[1]), "not in the middle"
    for axis, project in ((0, None), (0, "z"), (1, "y"), (2, "x")):
        assert np.array_equal(view(slice=None, project=project)(cells), cells.mean(axis=axis)), project
    assert np.array_equal(view((4, 3), slice=None, project=None)(cells[0]), cells[0])
    balanced = runs_in_space / "with"
    assert ", mean along z" in texts(monkeypatch, plot_density, balanced)
    said = texts(monkeypatch, plot_density, balanced, "--slice", "x=2")
    assert ", layer x = 2" in said and "y / sigma" in said and "z / sigma" in said and "x / sigma" not in said
    for drawing, arguments in ((plot_partition, [balanced]), (plot_balancing, [runs_in_space / "none", balanced])):
        said = texts(monkeypatch, drawing, *arguments)
        assert ", layer z = 3" in said and "cell in x" in said and "cell in y" in said and "cell in z" not in said
        said = texts(monkeypatch, drawing, *arguments, "--slice", "y=4")
        assert ", layer y = 4" in said and "cell in x" in said and "cell in z" in said and "cell in y" not in said


@pytest.mark.group("pictures")
def test_layer_is_drawn_as_it_lies(runs_in_space, tmp, monkeypatch):
    """A layer across x has the lengths of y and z, and is smoothed across the periodic axis, which is y."""
    for name in ("fields_0.h5", "deck.yaml"):
        shutil.copy(runs_in_space / "with" / name, tmp)
    with h5py.File(os.path.join(tmp, "fields_0.h5"), "r+") as f:
        f["particles"][...] = np.random.default_rng(4).integers(0, 30, f["particles"].shape)
        box, layer = f.attrs["box"], f["particles"][:, :, 2]
    image = picture(monkeypatch, plot_density, tmp, "--slice", "x=2").axes[0].images[0]
    assert list(image.get_extent()) == [0, box[1], 0, box[2]]
    drawn, expected = image.get_array(), plotting.smoothed(layer, (True, False))
    assert np.allclose(drawn / drawn.max(), expected / expected.max())


@pytest.mark.group("pictures")
def test_particles_have_the_colour_of_their_cell(tmp):
    """In a box whose cells are not as wide along any two axes."""
    box, cells = np.array([8.0, 9, 20]), (4, 3, 5)
    path = os.path.join(tmp, "fields_0.h5")
    with h5py.File(path, "w") as f:
        f.attrs.update(box=box, cells=cells, step=0, time=0.0)
        f["owner"] = np.arange(60).reshape(cells[::-1])
    at = np.array([[1.9, 8.9, 0.1], [7.9, 0.1, 19.9], [2.1, 3.1, 4.1]])
    moment = plot_particles.Moment((at[None], np.ones((1, 3, 3)), 0), path)
    # [z, y, x] of the cells: (0, 2, 0), (4, 0, 3), (1, 1, 1)
    assert list(moment.of["owner"]) == [8, 51, 17]


@pytest.mark.group("refusals")
def test_views_that_are_not_there(runs, runs_in_space):
    for folder, option in ((runs, "z=0"), (runs_in_space, "z=6"), (runs_in_space, "y"), (runs_in_space, "w=1")):
        for name, of in (("density", "with"), ("partition", "with"), ("nested", "partition")):
            done = script(f"plot_{name}.py", folder / of, "--slice", option)
            assert done.returncode == 2 and done.stderr.count("\n") == 1, done.stderr
            assert "two dimensions" in done.stderr or "z=0 to z=5" in done.stderr, done.stderr


@pytest.mark.group("pictures")
def test_edges_of_what_processes_own():
    """The lines along which their surfaces bend, and no others."""
    owner = np.zeros((4, 3, 2), dtype=int)
    assert len(plot_particles.edges(owner, np.ones(3))) == 4 * (4 + 3 + 2)
    owner[2:] = 1  # a plane across x adds its rim
    lines = np.array(plot_particles.edges(owner, np.array([1, 2, 3])))
    assert len(lines) == 4 * (4 + 3 + 2) + 2 * (3 + 2)
    rim = lines[(lines[:, :, 0] == 2).all(axis=1)]
    assert len(rim) == 2 * (3 + 2) and rim[:, :, 1].max() == 6 and rim[:, :, 2].max() == 6


@pytest.mark.group("pictures")
def test_spheres_hide_each_other():
    """In each dot is the particle that is nearest to the viewer; all are seen where none is behind another."""
    camera = plot_particles.Camera(np.array([10.0, 6, 1]), True)
    nearest, height, _ = plot_particles.spheres(camera, np.array([[3, 3, 0.2], [3.2, 3, 0.8], [8, 2, 0.1]]))
    seen = [(nearest == n).sum() / (np.pi * (0.5 * camera.scale) ** 2) for n in range(3)]
    assert abs(seen[1] - 1) < 0.01 and abs(seen[2] - 1) < 0.01 and 0.1 < seen[0] < 0.3, seen
    row, column = (round(v) for v in camera(np.array([8, 2, 0.1]))[1::-1])
    assert nearest[row, column] == 2 and (np.isfinite(height) == (nearest >= 0)).all()


@pytest.mark.group("pictures")
def test_pictures_say_that_density_is_smoothed(runs, monkeypatch):
    for drawing in (plot_density, plot_partition):
        assert "mean of 3 x 3 cells" in texts(monkeypatch, drawing, runs / "with")
    assert "mean of 3 columns" in texts(monkeypatch, plot_density, runs / "with")
    assert "mean of 3 x 3 cells" in texts(monkeypatch, plot_balancing, runs / "none", runs / "with")
    for name in ("balancing", "density", "partition"):
        assert "mean of 3 x 3 cells" in script(f"plot_{name}.py", "--help").stdout, name


@pytest.mark.group("pictures")
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
    assert plot_density.evenly(steps) == chosen


@pytest.mark.group("pictures")
def test_frames_that_cannot_be_equally_far_apart_are_named(runs, tmp):
    for step, of in ((0, 0), (20, 20), (40, 10), (60, 10), (80, 10), (100, 20)):
        shutil.copy(runs / f"with/fields_{of}.h5", os.path.join(tmp, f"fields_{step}.h5"))
    shutil.copy(runs / "with/deck.yaml", tmp)
    assert "drawn are [0, 40, 60, 100]; --steps" in script("plot_density.py", tmp).stdout
    os.remove(os.path.join(tmp, "fields_100.h5"))
    assert script("plot_density.py", tmp).stdout == f"wrote {tmp}/density.png\n"


@pytest.mark.group("pictures")
def test_virtual_processes_are_named(runs, monkeypatch):
    """And nothing is said of the speed that balancing would give them."""
    assert "6 processes on 2 ranks" in texts(monkeypatch, plot_balancing, runs / "none", runs / "with")
    assert plot_balancing.place(dict(processes=2, ranks=2)) == "2 ranks"
    said = script("plot_balancing.py", runs / "none", runs / "with").stdout
    assert "mean compute time of the processes" in said and "6 processes on 2 ranks" in said, said
    assert "their speed is not known" in said and " s." not in said, said


def result(lbe, seconds, **more):
    """What plot_balancing.py reads of a run."""
    summary = {key: 2 for key in plot_balancing.SAME} | {"wall_seconds": seconds} | more
    models = {"none"} if lbe == 50 else {"r1"}
    return SimpleNamespace(outdir=f"lbe_{lbe}", summary=summary, models=models, lbe=lbe, step=2)


@pytest.mark.group("pictures")
@pytest.mark.parametrize(
    "lbe, seconds, said",
    [
        (
            75,
            20,
            "raised the load balance efficiency (mean compute time of the ranks over the largest) from 50.0 to 75.0 %",
        ),
        (
            40,
            20,
            "lowered the load balance efficiency (mean compute time of the ranks over the largest) from 50.0 to 40.0 %",
        ),
        (50.01, 20, "left the load balance efficiency (mean compute time of the ranks over the largest) at 50.0 %"),
        (75, 20, "and raised the speed by 50 %: 20.0 instead of 30.0 s."),
        (75, 45, "and lowered the speed by 33 %: 45.0 instead of 30.0 s."),
        (75, 30.01, "and left the speed as it was: 30.0 instead of 30.0 s."),
    ],
)
def test_gain_and_loss_are_called_so(lbe, seconds, said):
    assert said in plot_balancing.gain(result(50, 30), result(lbe, seconds))


@pytest.mark.group("refusals")
def test_runs_that_cannot_be_compared(runs, tmp):
    """Balancing must be their only difference, and the run without it comes first."""
    without, balanced = result(50, 30), result(75, 20)
    assert plot_balancing.refusal(without, balanced) is None
    for key, what in plot_balancing.SAME.items():
        line = plot_balancing.refusal(without, result(75, 20, **{key: 3}))
        assert f"lbe_50 and lbe_75 differ in {what} (2 and 3); give two" in line
    assert "one output.fields_every" in plot_balancing.refusal(
        without, SimpleNamespace(**{**vars(balanced), "step": 1})
    )
    assert plot_balancing.refusal(balanced, without).startswith("lbe_75 balances, by r1; give the run with ")
    assert plot_balancing.refusal(without, without).startswith("lbe_50 does not balance; give the run with ")
    restarted = SimpleNamespace(**{**vars(without), "models": {"none", "r1"}})
    assert plot_balancing.refusal(restarted, balanced) and plot_balancing.refusal(without, restarted)
    shutil.copytree(runs / "none", os.path.join(tmp, "other"))
    with open(os.path.join(tmp, "other/summary.json"), "r+") as f:
        summary = dict(json.load(f), state_hash="0123456789abcdef")
        f.seek(0)
        json.dump(summary, f)
        f.truncate()
    for one, other in (("with", "none"), ("none", "none"), (os.path.join(tmp, "other"), "with")):
        done = script("plot_balancing.py", runs / one, runs / other)
        assert done.returncode == 2 and done.stderr.count("\n") == 1 and not done.stdout, done.stderr
        assert str(runs / one) in done.stderr and "balance.partition.kind" in done.stderr, done.stderr


@pytest.mark.group("refusals")
def test_a_first_run_without_balance_csv(runs, tmp):
    for file in ("fields_20.h5", "deck.yaml", "summary.json"):
        shutil.copy(runs / "none" / file, tmp)
    done = script("plot_balancing.py", tmp, runs / "with")
    assert done.returncode == 2 and "balance.every > 0 and balance.partition.kind=none\n" in done.stderr, done.stderr
    done = script("plot_balancing.py", runs / "none", tmp)
    assert done.returncode == 2 and "with balance.every > 0\n" in done.stderr, done.stderr


@pytest.mark.group("pictures")
def test_ranks_of_a_prediction_are_named():
    assert plot_prediction.ticks([1, 2, 8, 64]) == [1, 2, 8, 64]
    assert plot_prediction.ticks([2**n for n in range(13)]) == [2**n for n in range(13)]
    assert plot_prediction.ticks([*range(1, 17), 1024, 4096]) == [1, 2, 4, 8, 16, 1024, 4096]
    assert plot_prediction.ticks([1]) == [1]


@pytest.mark.group("pictures")
def test_predicted_speed_ups(tmp, monkeypatch):
    """That of one rank is 1 by definition; it has no upper bound where the time may be 0."""
    times = [(1, 8, 4, 16), (2, 4, 0, 8), (8, 1, 0.5, 2), (64, 0.5, 0.25, 1)]
    terms = dict.fromkeys(plot_prediction.TERMS, 0)
    forecasts = [
        dict(ranks=n, step_seconds=s, low_seconds=a, high_seconds=b, speed_up=8 / s, seconds=terms)
        for n, s, a, b in times
    ]
    assert plot_prediction.speed_ups(forecasts) == ([1, 1, 4, 8], [1, float("inf"), 16, 32])
    with open(os.path.join(tmp, "predict.json"), "w") as f:
        json.dump(dict(deck="deck", machine="machine", best_ranks=64, forecasts=forecasts), f)
    drawn("plot_prediction.py", os.path.join(tmp, "prediction.png"), tmp)
    assert {"1", "2", "8", "64"} <= set(texts(monkeypatch, plot_prediction, tmp).split())


@pytest.mark.group("refusals")
@pytest.mark.parametrize("name", PICTURES)
def test_wrong_files(tmp, name):
    """One line that says what is wrong and helps, and exit code 2: no such directory, an empty one, other files."""
    other = os.path.join(tmp, "other")
    os.mkdir(other)
    for file in (
        "predict.json",
        "partition.json",
        "summary.json",
        "balance.csv",
        "zones.csv",
        "fields_0.h5",
        "deck.yaml",
    ):
        with open(os.path.join(other, file), "w") as f:
            f.write("{}\n" if file == "summary.json" else "a,b\n1,2\n")
    empty = os.path.join(tmp, "empty")
    os.mkdir(empty)
    for wrong in (os.path.join(tmp, "nowhere"), empty, other, DECK):
        done = script(f"plot_{name}.py", *[wrong] * (2 if name == "balancing" else 1))
        assert done.returncode == 2 and done.stderr.count("\n") == 1 and "Traceback" not in done.stderr, done.stderr
        assert done.stderr.startswith(f"plot_{name}.py: ") and wrong in done.stderr


@pytest.mark.group("refusals")
def test_a_case_that_a_summary_lacks(tmp):
    path = os.path.join(tmp, "summary.json")
    with open(path, "w") as f:
        json.dump({"cases": [{"load": 1}]}, f)
    done = script("plot_nested.py", path)
    assert done.returncode == 2 and done.stderr.count("\n") == 1, done.stderr


@pytest.mark.group("refusals")
@pytest.mark.parametrize("ranks", ("sixteen", "0", "-4", "1.5"))
def test_simulate_without_a_number(ranks):
    done = script("simulate.sh", ranks, DECK, "--out", "x")
    assert done.returncode == 2 and done.stderr == f"simulate.sh: {ranks} is no number of ranks; see --help\n"


@pytest.mark.group("refusals")
def test_python_without_libraries(tmp):
    """A Python that lacks numpy: one line that says what plots need, or Debian's Python goes on."""
    for module in ("numpy", "h5py", "matplotlib"):
        with open(os.path.join(tmp, f"{module}.py"), "w") as f:
            f.write("raise ImportError('No module named numpy')\n")
    environment = dict(os.environ, PYTHONPATH=tmp, STEELYARD_DEBIANS_PYTHON="tried")
    done = script("plot_density.py", tmp, env=environment)
    assert done.returncode == 2 and "No module named numpy" in done.stderr and "docs/install.md" in done.stderr
    assert done.stderr.count("\n") == 1, done.stderr


@pytest.mark.group("refusals")
def test_debians_python_through_links(tmp):
    """Debian's Python goes on also where scripts/, or the script, is a symbolic link."""
    with open(os.path.join(tmp, "h5py.py"), "w") as f:
        f.write("import os\nraise ImportError('h5py, Debian: ' + os.environ.get('STEELYARD_DEBIANS_PYTHON', 'no'))\n")
    os.symlink(os.path.join(SOURCE, "scripts"), os.path.join(tmp, "scripts"))
    os.symlink(os.path.join(SOURCE, "scripts/plot_lbe.py"), os.path.join(tmp, "plot_lbe.py"))
    environment = dict(os.environ, PYTHONPATH=tmp)
    environment.pop("STEELYARD_DEBIANS_PYTHON", None)
    for path in (os.path.join(tmp, "scripts/plot_lbe.py"), os.path.join(tmp, "plot_lbe.py")):
        done = subprocess.run([sys.executable, path, tmp], capture_output=True, text=True, timeout=60, env=environment)
        assert done.returncode == 2 and "h5py, Debian: tried" in done.stderr, done.stderr


@pytest.mark.group("refusals")
def test_build_folder_of_another_tree(tmp):
    """A tree that was copied with its build folder: one line that says what to do, not CMake's."""
    os.makedirs(os.path.join(tmp, "build"))
    shutil.copytree(os.path.join(SOURCE, "scripts"), os.path.join(tmp, "scripts"))
    for file in ("CMakeLists.txt", "CMakePresets.json"):
        shutil.copy(os.path.join(SOURCE, file), tmp)
    with open(os.path.join(tmp, "build/CMakeCache.txt"), "w") as f:
        f.write(f"CMAKE_HOME_DIRECTORY:INTERNAL={SOURCE}\nCMAKE_CACHEFILE_DIR:INTERNAL={SOURCE}/build\n")
    done = subprocess.run(
        [os.path.join(tmp, "scripts/build.sh")],
        env=dict(os.environ, STEELYARD_SETUP="skip"),
        capture_output=True,
        text=True,
        timeout=60,
    )
    last = done.stderr.splitlines()[-1]
    assert done.returncode == 2 and last.startswith("build.sh: ") and SOURCE in last and "rm -r " in last, done.stderr


@pytest.mark.group("refusals")
def test_parts_of_the_checks():
    """What CI runs knows its parts, and says so."""
    done = script("ci.sh", "nonsense")
    assert done.returncode == 2 and done.stderr == "ci.sh: unknown part nonsense; see --help\n"
    assert all(f"  {part} " in script("ci.sh", "--help").stdout for part in ("tests", "clang", "smpi", "asan"))

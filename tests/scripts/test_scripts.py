# SPDX-License-Identifier: MIT
"""What the scripts draw, and what they answer to wrong files."""
import json
import os
import shutil
import subprocess
import sys

import numpy as np
import pytest

import plotting
from program import DECK, SOURCE, run, settings

PICTURES = ("balancing", "density", "lbe", "nested", "partition", "prediction", "zones")


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


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """Directories of small runs: without and with balancing, with zones; of a partition and a prediction."""
    folder = tmp_path_factory.mktemp("runs")
    keys = dict(run__steps=20, output__fields_every=10, balance__every=5, balance__clock="work", balance__processes=6)
    keys["system__boundary"] = "[reflecting, periodic]"
    for name, more in (("none", dict(balance__partition__kind="none")), ("with", {})):
        code, text = run(2, "run", DECK, "--out", folder / name, "--quiet", *settings(**keys, **more))
        assert code == 0, text
    keys = dict(run__steps=20, accelerator__backend="host", accelerator__threads=1)
    assert run(0, "run", DECK, "--out", folder / "zones", "--quiet", *settings(**keys))[0] == 0
    machine = dict(machine__nodes=3, machine__accelerators_per_node="[2, 0, 1]", machine__core_speed="[1, 1, 0.5]")
    assert run(0, "partition", DECK, "--out", folder / "partition", *settings(**machine))[0] == 0
    assert run(0, "predict", DECK, "--out", folder / "prediction")[0] == 0
    yield folder


@pytest.mark.group("pictures")
def test_pictures(runs):
    assert plotting.periodic(runs / "with") == (False, True)
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

# SPDX-License-Identifier: MIT
"""Tests of what is said of decks, machines and command lines before a run."""
import functools
import json
import os
import re
import shutil

import pytest

from program import DECK, SOURCE, fails_with, fresh, ok, ok_run, printed, run_words, settings, written

SLABS = """system:
  box: {box}
  boundary: [{boundary}]
  potential: {{kind: lennard_jones{potential}}}
  slabs:
{slabs}
run: {{dt: 0.001, steps: 20}}
"""


def deck_of(tmp, slabs, box="[200, 100]", boundary="periodic, periodic", potential=""):
    lines = "\n".join("    - {" + s + "}" for s in slabs)
    return written(tmp / "deck.yaml", SLABS.format(box=box, boundary=boundary, slabs=lines, potential=potential))


LEFT, RIGHT = "lower: [0, 0], upper: [100, 100], density: 0.6", "lower: [100, 0], upper: [200, 100], density: 0.1"
CLOSE = [
    # The slabs of somebody's first deck, which touch.
    (
        dict(slabs=[LEFT, RIGHT]),
        r"^system.slabs.1: particles of slabs 0 and 1 are 0\.\d+ apart at \[99\.\d+, .*gap of 1.1 between the slabs$",
    ),
    # The second one touches the image of the first one, and not itself.
    (
        dict(slabs=[LEFT, RIGHT.replace("100, 0", "101.5, 0").replace("0.1", "0.6")], boundary="periodic, reflecting"),
        r"^system.slabs.1: particles of slabs 0 and 1 .*, across the periodic boundary.*gap of 1.1 at the boundary$",
    ),
    # A slab that fills the box, but not with whole rows.
    (
        dict(slabs=["lower: [0, 0], upper: [200, 100], density: 0.8"]),
        r"^system.slabs.0: two particles of slab 0 are .*, across the periodic boundary.*box: fit$",
    ),
    (
        dict(slabs=["lower: [10, 10], upper: [20, 20], density: 40"]),
        r"^system.slabs.0.density: particles of slab 0 are 0.17 apart at its density of 40, .* of at most 1\.\d+$",
    ),
    # Many soft particles in a cell: their neighbour lists cannot name them.
    (
        dict(slabs=["lower: [10, 10], upper: [20, 20], density: 1e6"], potential=", softening: 1"),
        r"^system.slabs.0.density: 1e\+06 puts 1e\+08 particles into the 5 columns of cells .*use at most 655$",
    ),
]


@pytest.mark.group("starts")
@pytest.mark.parametrize("ranks", (0, 2))
@pytest.mark.parametrize("case, what", CLOSE)
def test_particles_that_are_too_close(tmp, ranks, case, what):
    deck, out = deck_of(tmp, **case), tmp / "out"
    for arguments in (["check", deck], ["run", deck, "--out", out], ["predict", deck, "--out", out]):
        assert "dt" not in fails_with(2, (), ranks, *arguments, matches=what) and not out.exists()


@pytest.mark.parametrize(
    "slabs, box",
    [
        ([LEFT.replace("lower: [0, 0]", "lower: [1.1, 1.1]"), RIGHT.replace("100, 0", "101.1, 1.1")], "[200, 100]"),
        (["cells: [200, 50], density: 0.6"], "fit"),
    ],
)
def test_what_the_message_advises_runs(tmp, slabs, box):
    assert ok_run(tmp / "out", deck=deck_of(tmp, slabs, box), ranks=2) == ""


def test_a_hot_start_is_noted_and_runs(tmp):
    """Two slabs 0.6 apart: forces are exact, but nobody wants them."""
    slabs = ["lower: [10, 10], upper: [20, 20], density: 0.8", "lower: [20.2, 10], upper: [30, 20], density: 0.8"]
    for potential, hot in (("", True), (", softening: 0.9", False)):
        deck, out = deck_of(tmp, slabs, potential=potential), tmp / "out"
        for text in (printed(0, "check", deck), printed(0, "run", deck, "--out", fresh(out))):
            said = " ".join(text.replace("\n# ", " ").split())
            assert ("are 0.589 apart at [19.6112, 10]: the start releases 2210 epsilon there" in said) == hot, text
            assert all(len(line) < 80 for line in text.replace(str(out), "out").splitlines() if "releases" in line)


@pytest.mark.parametrize("ranks", (0, 2))
def test_a_failure_after_the_start_names_dt(tmp, ranks):
    """Steps that are far too long: the start is fine, and what helps is a smaller dt. Whichever rank owns two particles
    that have met names them and the step."""
    fails_with(4, ("dt", "particle", "step"), ranks, *run_words(tmp / "out", run__dt=0.03, run__steps=50))


@pytest.mark.group("commands")
def test_help_of_each_command():
    assert printed(0, "help") == printed(0, "--help")
    examples = set()
    for name in ("run", "partition", "predict", "info", "check"):
        text = printed(0, name, "--help")
        assert printed(0, "help", name) == text and max(map(len, text.splitlines())) < 80
        example = text[text.index("Example") :]
        assert f"steelyard {name} " in example, text
        examples.add(example)
        for path in re.findall(r"\b(?:inputs|restarts)/\S+", example):
            assert os.path.exists(os.path.join(SOURCE, path)), path
    assert len(examples) == 5
    for text in (printed(0, "--help"), printed(0, "run", "--help")):
        assert max(map(len, text.splitlines())) <= 80
        for word in ("Exit codes", "  75 ", "OMP_NUM_THREADS", "STEELYARD_ISA", "mpiexec -n"):
            assert word in text


def test_notes_before_a_run(tmp):
    out = tmp / "out"
    text = printed(0, "run", DECK, "--out", out, *settings(run__steps=20, balance__every=50))
    assert "balance.every is 50, beyond run.steps = 20: nothing is balanced" in " ".join(text.split())
    assert "balance.every is 50, beyond" in printed(0, "check", DECK, *settings(run__steps=20, balance__every=50))
    cores = len(os.sched_getaffinity(0))
    for ranks in (cores, cores + 1):
        text = printed(ranks, "run", DECK, "--out", fresh(out), *settings(run__steps=10))
        note = re.search(r"(\d+) ranks share (\d+) cores", text)
        assert (note is not None) == (ranks > cores), text
        assert note is None or note.groups() == (str(ranks), str(cores)), text


MACHINE = """name: two kinds of nodes
nodes: 3
cpus_per_node: [2, 1, 2]
cores_per_cpu: [3, 4, 2]
accelerators_per_node: [0, 1, 2]
core_speed: [1, 0.5, 1]
accelerator_speed: [1, 6, 3]
"""


@pytest.fixture
def machine(tmp):
    return written(tmp / "machine.yaml", MACHINE)


def results(command, out, *more):
    """The JSON that a command writes about the deck."""
    assert ok(0, command, DECK, "--out", fresh(out), "--quiet", *more) == ""
    return json.loads((out / f"{command}.json").read_text())


@pytest.mark.group("machines")
def test_machine_of_a_partition(tmp, machine):
    """A machine file and the deck's keys describe the same nodes."""
    by_file = results("partition", tmp / "out", "--machine", machine)
    shapes = {f"machine__{k}": v for k, v in re.findall(r"(\w+): (\S.*)", MACHINE) if k != "name"}
    assert by_file == results("partition", tmp / "out", *settings(**shapes))
    nodes = [(n["cpus"], n["cores_per_cpu"], n["accelerators"]) for n in by_file["machine"]]
    assert nodes == [(2, 3, 0), (1, 4, 1), (2, 2, 2)]
    assert {r["speed"] for r in by_file["resources"] if r["kind"] == "accelerator"} == {6, 3}


def test_machine_of_a_prediction(tmp, machine):
    """A prediction writes a machine file, which is read back as it is. With a fixed skin the rebuilds of its sample do
    not depend on measured times."""
    predict = ["--processes", "2", *settings(grid__skin=0.4), "--machine"]
    first = results("predict", tmp / "first", *predict, machine)
    wrote = tmp / "first/machine.yaml"
    second = results("predict", tmp / "second", *predict, wrote)
    assert wrote.read_text() == (tmp / "second/machine.yaml").read_text()
    # The first file says nothing of costs, the one that was written has those that were assumed.
    assert [p.pop("messages") for p in (first, second)] == ["assumed", "as in the machine file"] and first == second
    assert first["forecasts"][0]["high_seconds"] > 2 * first["forecasts"][0]["step_seconds"]
    assert "accelerator_speed: [1, 6, 3]" in wrote.read_text()
    partitions = [results("partition", tmp / "out", "--machine", m)["machine"] for m in (machine, wrote)]
    assert partitions[0] == partitions[1]


def test_machine_of_a_run(tmp, machine):
    """A run keeps it in its effective deck."""
    keys = dict(balance__every=5, balance__speeds="given", balance__processes=3, balance__clock="work")
    more = dict(run__steps=10, balance__partition__processes_per_node=1)
    assert ok_run(tmp / "out", "--machine", machine, **keys, **more) == ""
    assert "core_speed: [1, 0.5, 1]" in (tmp / "out/deck.yaml").read_text()


@pytest.mark.parametrize("ranks", (0, 2))
@pytest.mark.parametrize(
    "words, code, says",
    [
        (["predict", DECK, "--machine", DECK], 3, "tiny.yaml: a deck, not a machine file; give"),
        (["run", "{machine}"], 2, "machine.yaml:1:1: a machine file, not a deck; give it by --machine"),
        (["run", DECK, "--machine", "{wrong}"], 3, "wrong.yaml:2:13: core_speed has 3 values for 2 nodes; write nodes"),
        (["run", "{state}"], 2, "state.yaml: an HDF5 file, not a deck; a checkpoint belongs behind --restart"),
    ],
)
def test_a_file_for_the_wrong_command_is_named(tmp, machine, ranks, words, code, says):
    wrong = written(tmp / "wrong.yaml", "nodes: 2\ncore_speed: [1, 2, 3]\n")
    state = shutil.copy(os.path.join(SOURCE, "restarts/strip_t1.h5"), tmp / "state.yaml")
    words = [w.format(machine=machine, wrong=wrong, state=state) for w in words]
    fails_with(code, says, ranks, *words, "--out", tmp / "out")


NODES = """nodes: 2
cpus_per_node: 1
cores_per_cpu: {cores}
core_speed: {speed}
{accelerators}
inside: {{latency_seconds: 0, bytes_per_second: 1e300}}
between: {{latency_seconds: 0, bytes_per_second: 1e300}}
message_seconds: 0
copy_bytes_per_second: 1e300
move_seconds: 0
"""


@pytest.fixture(scope="module")
def forecast(tmp_path_factory):
    """A function of ranks and nodes: seconds of a prediction for them, or its error."""
    tmp = tmp_path_factory.mktemp("forecast")

    @functools.cache
    def seconds(ranks, cores="4", speed="1", accelerators="", template=NODES, code=0, **keys):
        out, has = fresh(tmp / "out"), f"accelerators_per_node: {accelerators}\naccelerator_speed: 2"
        text = template.format(cores=cores, speed=speed, accelerators=has if accelerators else "")
        machine = written(tmp / "machine.yaml", text)
        given = settings(balance__every=5, balance__clock="work", balance__partition__cut="cells", **keys)
        words = ["predict", DECK, "--out", out, "--quiet", "--machine", machine, "--processes", ranks, *given]
        said = ok(0, *words, code=code)
        if code:
            return said
        row = json.loads((out / "predict.json").read_text())["forecasts"][-1]
        assert row["ranks"] == ranks
        return row["seconds"]["compute"] + row["seconds"]["imbalance"]

    return seconds


def test_forecast_for_slow_nodes(forecast):
    """Half of the cores are half as fast: 6 cores' worth of speed, if loads follow speeds. Where speeds do not count
    and a model looks at particles alone, all wait for the slow."""
    alike = forecast(8)
    assert forecast(8, speed="[1, 0.5]") == pytest.approx(alike * 8 / 6, rel=0.08)
    blind = dict(balance__speeds="off", balance__model="particle_count")
    assert forecast(8, speed="[1, 0.5]", **blind) == pytest.approx(forecast(8, **blind) * 2, rel=0.01)
    # Ranks fill the nodes in order, one for each core: the slow node has two of eight.
    assert forecast(8, cores="[6, 2]", speed="[1, 0.5]") == pytest.approx(alike * 8 / 7, rel=0.08)


def test_forecast_for_nodes_of_the_deck(forecast):
    """A machine file that says nothing of nodes leaves them to the deck."""
    nodes = dict(machine__nodes=2, machine__cpus_per_node=1, machine__cores_per_cpu=4, machine__core_speed="[1,0.5]")
    by_deck = forecast(8, template=NODES[NODES.index("inside") :], **nodes)
    assert by_deck == pytest.approx(forecast(8, speed="[1, 0.5]"), rel=1e-9)


def test_forecast_for_accelerators(forecast):
    """Four cores with two accelerators of twice their speed are as fast as eight."""
    alike = forecast(8)
    assert forecast(8, accelerators="[2, 2]") == pytest.approx(alike / 2, rel=0.01)
    assert forecast(8, accelerators="[2, 0]") == pytest.approx(alike * 8 / 12, rel=0.08)


def test_ranks_of_forecasts(tmp, forecast):
    """By default for as many ranks as there are cores; no more than the nodes hold."""
    machine = written(tmp / "machine.yaml", NODES.format(cores=4, speed=1, accelerators=""))
    assert "9 ranks for 2 nodes that hold 8; use fewer" in forecast(9, code=2)
    found = results("predict", tmp / "new", "--machine", machine)
    assert [row["ranks"] for row in found["forecasts"]] == [1, 2, 4, 8]
    assert "cores_per_cpu, or ranks_per_node" in forecast(8, cores="auto", code=2)

# SPDX-License-Identifier: MIT
"""Tests of what is said of decks, machines and command lines before a run.

Groups: starts commands machines.
"""
import json
import os
import re
import shutil
import subprocess

import pytest

from program import HANG_SECONDS, DECK, SOURCE, command, environment, fresh, run, settings

SLABS = """system:
  box: [{box}]
  boundary: [{boundary}]
  potential: {{kind: lennard_jones{potential}}}
  slabs:
{slabs}
run: {{dt: 0.001, steps: 20}}
"""


def written(path, slabs, box="200, 100", boundary="periodic, periodic", potential=""):
    lines = "\n".join("    - {" + s + "}" for s in slabs)
    with open(path, "w") as f:
        f.write(SLABS.format(box=box, boundary=boundary, slabs=lines, potential=potential))
    return path


def printed(ranks, *arguments):
    done = subprocess.run(
        command(ranks, *arguments), env=environment(), capture_output=True, text=True, timeout=HANG_SECONDS, check=True
    )
    return done.stdout


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
    deck, out = written(os.path.join(tmp, "deck.yaml"), **case), os.path.join(tmp, "out")
    for arguments in (["check", deck], ["run", deck, "--out", out], ["predict", deck, "--out", out]):
        code, text = run(ranks, *arguments)
        assert code == 2 and text.count("\n") == 1, text
        said = text.strip().removeprefix("steelyard: error: ")
        assert re.search(what, said) and "dt" not in said, said
        assert not os.path.exists(out)


@pytest.mark.group("starts")
def test_what_the_message_advises_runs(tmp):
    gap = 1.1
    for slabs, box in (
        (
            [LEFT.replace("lower: [0, 0]", f"lower: [{gap}, {gap}]"), RIGHT.replace("100, 0", f"{100 + gap}, {gap}")],
            "200, 100",
        ),
        (["cells: [200, 50], density: 0.6"], None),
    ):
        deck = written(os.path.join(tmp, "deck.yaml"), slabs)
        if box is None:
            with open(deck) as f:
                text = f.read().replace("[200, 100]", "fit")
            with open(deck, "w") as f:
                f.write(text)
        code, text = run(2, "run", deck, "--out", fresh(os.path.join(tmp, "out")), "--quiet")
        assert code == 0 and text == "", text


@pytest.mark.group("starts")
def test_a_hot_start_is_noted_and_runs(tmp):
    """Two slabs 0.6 apart: forces are exact, but nobody wants them."""
    slabs = ["lower: [10, 10], upper: [20, 20], density: 0.8", "lower: [20.2, 10], upper: [30, 20], density: 0.8"]
    for potential, hot in (("", True), (", softening: 0.9", False)):
        deck, out = written(os.path.join(tmp, "deck.yaml"), slabs, potential=potential), os.path.join(tmp, "out")
        for text in (printed(0, "check", deck), printed(0, "run", deck, "--out", fresh(out))):
            said = " ".join(text.replace("\n# ", " ").split())
            assert ("are 0.589 apart at [19.6112, 10]: the start releases 2210 epsilon there" in said) == hot, text
            assert all(len(line) < 80 for line in text.replace(out, "out").splitlines() if "releases" in line)


@pytest.mark.group("starts")
def test_a_failure_after_the_start_names_dt(tmp):
    """Steps that are far too long: the start is fine, and what helps is a smaller dt."""
    code, text = run(0, "run", DECK, "--out", os.path.join(tmp, "out"), *settings(run__dt=0.03, run__steps=50))
    assert code == 4 and "dt" in text, text


COMMANDS = [
    (["rnu", DECK], "unknown command 'rnu'; did you mean 'run'?"),
    (["fly"], "unknown command 'fly'; use one of run, partition, predict, replay, info, check"),
    ([], "no command; give one of run, partition, predict, replay, info, check, or --help"),
    (["run", DECK, "--steps", "10"], "run: unexpected '--steps'; see steelyard run --help"),
    (["run", DECK, "--ouut", "x"], "run: unexpected '--ouut'; did you mean --out?"),
    (["check", DECK, "--out", "x"], "check: unexpected '--out', an option of run, partition, predict, replay; see"),
    (["run", DECK, "other.yaml"], "run: unexpected 'other.yaml'; see steelyard run --help"),
]


@pytest.mark.group("commands")
@pytest.mark.parametrize("arguments, what", COMMANDS)
def test_a_wrong_word_is_named(arguments, what):
    code, text = run(0, *arguments)
    assert code == 2 and text.startswith("steelyard: error: command line: " + what) and text.count("\n") == 1, text


@pytest.mark.group("commands")
def test_help_of_each_command():
    assert printed(0, "help") == printed(0, "--help")
    examples = set()
    for name in ("run", "partition", "predict", "info", "check"):
        text = printed(0, name, "--help")
        assert printed(0, "help", name) == text
        example = text[text.index("Example") :]
        assert f"steelyard {name} " in example, text
        examples.add(example)
        assert all(len(line) < 80 for line in text.splitlines()), text
    assert len(examples) == 5
    for example in examples:
        for path in re.findall(r"\b(?:inputs|restarts)/\S+", example):
            assert os.path.exists(os.path.join(SOURCE, path)), path


@pytest.mark.group("commands")
def test_notes_before_a_run(tmp):
    out = os.path.join(tmp, "out")
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
SHAPES = dict(
    machine__nodes=3,
    machine__cpus_per_node="[2, 1, 2]",
    machine__cores_per_cpu="[3, 4, 2]",
    machine__accelerators_per_node="[0, 1, 2]",
    machine__core_speed="[1, 0.5, 1]",
    machine__accelerator_speed="[1, 6, 3]",
)


@pytest.mark.group("machines")
def test_one_machine_file_serves_all_commands(tmp):
    machine, out = os.path.join(tmp, "machine.yaml"), os.path.join(tmp, "out")
    with open(machine, "w") as f:
        f.write(MACHINE)
    results = []
    for given in (["--machine", machine], settings(**SHAPES)):
        assert run(0, "partition", DECK, "--out", fresh(out), "--quiet", *given) == (0, "")
        with open(os.path.join(out, "partition.json")) as f:
            results.append(json.load(f))
    assert results[0] == results[1]
    assert [(n["cpus"], n["cores_per_cpu"], n["accelerators"]) for n in results[0]["machine"]] == [
        (2, 3, 0),
        (1, 4, 1),
        (2, 2, 2),
    ]
    assert {r["speed"] for r in results[0]["resources"] if r["kind"] == "accelerator"} == {6, 3}
    # What a prediction writes is such a file, and is read back as it is. With a fixed skin its sample's rebuilds do not
    # depend on measured times.
    predict = ["predict", DECK, "--quiet", "--processes", "2", *settings(grid__skin=0.4), "--out"]
    first, second = os.path.join(tmp, "first"), os.path.join(tmp, "second")
    assert run(0, *predict, first, "--machine", machine) == (0, "")
    wrote = os.path.join(first, "machine.yaml")
    assert run(0, *predict, second, "--machine", wrote) == (0, "")
    with open(os.path.join(first, "machine.yaml")) as f, open(os.path.join(second, "machine.yaml")) as g:
        assert f.read() == g.read()
    with open(os.path.join(first, "predict.json")) as f, open(os.path.join(second, "predict.json")) as g:
        predictions = [json.load(f), json.load(g)]
    # The first file says nothing of costs, the one that was written has those that were assumed.
    assert [p.pop("messages") for p in predictions] == ["assumed", "as in the machine file"]
    assert predictions[0] == predictions[1]
    assert predictions[0]["forecasts"][0]["high_seconds"] > 2 * predictions[0]["forecasts"][0]["step_seconds"]
    with open(wrote) as f:
        assert "accelerator_speed: [1, 6, 3]" in f.read()
    assert run(0, "partition", DECK, "--out", fresh(out), "--quiet", "--machine", wrote) == (0, "")
    with open(os.path.join(out, "partition.json")) as f:
        assert json.load(f)["machine"] == results[0]["machine"]
    # A run keeps it in its effective deck.
    speeds = settings(
        run__steps=10, balance__every=5, balance__speeds="given", balance__processes=3, balance__clock="work"
    )
    more = ["--set", "balance.partition.processes_per_node=1"]
    assert run(0, "run", DECK, "--out", fresh(out), "--quiet", "--machine", machine, *speeds, *more) == (0, "")
    with open(os.path.join(out, "deck.yaml")) as f:
        assert "core_speed: [1, 0.5, 1]" in f.read()


@pytest.mark.group("machines")
@pytest.mark.parametrize("ranks", (0, 2))
def test_a_file_for_the_wrong_command_is_named(tmp, ranks):
    machine, out = os.path.join(tmp, "machine.yaml"), os.path.join(tmp, "out")
    with open(machine, "w") as f:
        f.write(MACHINE)
    wrong = os.path.join(tmp, "wrong.yaml")
    with open(wrong, "w") as f:
        f.write("nodes: 2\ncore_speed: [1, 2, 3]\n")
    checkpoint = os.path.join(tmp, "state.yaml")
    shutil.copy(os.path.join(SOURCE, "restarts/strip_t1.h5"), checkpoint)
    for arguments, code, what in (
        (["predict", DECK, "--machine", DECK], 3, "tiny.yaml: a deck, not a machine file; give"),
        (["run", machine], 2, "machine.yaml:1:1: a machine file, not a deck; give it by --machine"),
        (["run", DECK, "--machine", wrong], 3, "wrong.yaml:2:13: core_speed has 3 values for 2 nodes; write nodes: 3"),
        (["run", checkpoint], 2, "state.yaml: an HDF5 file, not a deck; a checkpoint belongs behind --restart"),
    ):
        got, text = run(ranks, *arguments, "--out", out)
        assert got == code and text.count("\n") == 1 and what in text, f"{arguments}: {got} {text}"


@pytest.mark.group("machines")
def test_pipes_are_refused(tmp):
    pipe = os.path.join(tmp, "pipe")
    os.mkfifo(pipe)
    for arguments, code in ((["check", pipe], 2), (["run", pipe], 2), (["predict", DECK, "--machine", pipe], 3)):
        got, text = run(0, *arguments, timeout=HANG_SECONDS)
        assert got == code and "pipe: it is no file; give a" in text and text.count("\n") == 1, text


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


def forecast(tmp, ranks, cores="4", speed="1", accelerators="", template=None, **keys):
    machine, out = os.path.join(tmp, "machine.yaml"), os.path.join(tmp, "out")
    with open(machine, "w") as f:
        has = f"accelerators_per_node: {accelerators}\naccelerator_speed: 2" if accelerators else ""
        f.write((template or NODES).format(cores=cores, speed=speed, accelerators=has))
    given = settings(balance__every=5, balance__clock="work", balance__partition__cut="cells", **keys)
    code, text = run(
        0, "predict", DECK, "--out", fresh(out), "--quiet", "--machine", machine, "--processes", ranks, *given
    )
    if code:
        return text
    with open(os.path.join(out, "predict.json")) as f:
        row = json.load(f)["forecasts"][-1]
    assert row["ranks"] == ranks
    return row["seconds"]["compute"] + row["seconds"]["imbalance"]


@pytest.mark.group("machines")
def test_predictions_for_nodes_that_differ(tmp):
    alike = forecast(tmp, 8)
    # Half of the cores are half as fast: 6 cores' worth of speed, if loads follow speeds. Where speeds do not count
    # and a model looks at particles alone, all wait for the slow.
    assert forecast(tmp, 8, speed="[1, 0.5]") == pytest.approx(alike * 8 / 6, rel=0.08)
    blind = dict(balance__speeds="off", balance__model="particle_count")
    assert forecast(tmp, 8, speed="[1, 0.5]", **blind) == pytest.approx(forecast(tmp, 8, **blind) * 2, rel=0.01)
    # A machine file that says nothing of nodes leaves them to the deck.
    nodes = dict(machine__nodes=2, machine__cpus_per_node=1, machine__cores_per_cpu=4, machine__core_speed="[1,0.5]")
    assert forecast(tmp, 8, template=NODES[NODES.index("inside") :], **nodes) == pytest.approx(
        forecast(tmp, 8, speed="[1, 0.5]"), rel=1e-9
    )
    # Ranks fill the nodes in order, one for each core: the slow node has two of eight.
    assert forecast(tmp, 8, cores="[6, 2]", speed="[1, 0.5]") == pytest.approx(alike * 8 / 7, rel=0.08)
    # Four cores with two accelerators of twice their speed are as fast as eight.
    assert forecast(tmp, 8, accelerators="[2, 2]") == pytest.approx(alike / 2, rel=0.01)
    assert forecast(tmp, 8, accelerators="[2, 0]") == pytest.approx(alike * 8 / 12, rel=0.08)
    # By default for as many ranks as there are cores.
    code, text = run(
        0, "predict", DECK, "--out", fresh(os.path.join(tmp, "out")), "--machine", os.path.join(tmp, "machine.yaml")
    )
    assert code == 0, text
    with open(os.path.join(tmp, "out", "predict.json")) as f:
        assert [row["ranks"] for row in json.load(f)["forecasts"]] == [1, 2, 4, 8]
    assert "9 ranks for 2 nodes that hold 8; use fewer" in forecast(tmp, 9)
    assert "cores_per_cpu, or ranks_per_node" in forecast(tmp, 8, cores="auto")

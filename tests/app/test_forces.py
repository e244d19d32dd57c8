# SPDX-License-Identifier: MIT
"""Forces on particles besides their own: gravity, walls, faces that move, thermostats."""
import os
from math import erf, exp, pi, sqrt

import numpy as np
import pytest

from program import datasets, fails_with, hash_of, ok_run, printed, rows, run_words, summary, thermo
from program import written

# All of it at once. The thermostat acts while the face moves.
FLAT = """system:
  box: [44, 36]
  boundary: [periodic, reflecting]
  seed: 11
  gravity: [0, -0.05]
  walls:
    - {face: y_lower, epsilon: 1.5, cutoff: 2.5}
    - {face: y_upper, velocity: 2, from: 30, to: 130}
  thermostat: {kind: langevin, temperature: 0.8, friction: 0.5, every: 7, from: 10, to: 150}
  slabs: [{lower: [0, 1.2], upper: [44, 34.8], density: 0.6, temperature: 0.5}]
run: {dt: 0.004, steps: 160}
output: {every: 20}
"""
DEEP = """system:
  box: [17, 15, 16]
  boundary: [reflecting, periodic, reflecting]
  seed: 12
  gravity: [0.1, 0, -0.2]
  walls:
    - {face: z_lower, epsilon: 1}
    - {face: x_lower, velocity: 3, from: 10, to: 60}
  thermostat: {kind: rescale, temperature: 0.9, every: 5, from: 15}
  slabs: [{lower: [1, 0, 1], upper: [16, 15, 15], density: 0.5, temperature: 0.5}]
run: {dt: 0.004, steps: 80}
output: {every: 10}
"""
BALANCED = dict(balance__every=20, balance__clock="work", balance__criterion="every")


def write(folder, text):
    return written(folder / "deck.yaml", text)


def go(deck, out, ranks=0, **keys):
    ok_run(out, deck=deck, ranks=ranks, **keys)
    return hash_of(out), rows(out)


@pytest.fixture(scope="module", params=[FLAT, DEEP], ids=["2D", "3D"])
def alone(request, tmp_path_factory):
    """A deck, the directory of its run on one rank, and its state and sums."""
    folder = tmp_path_factory.mktemp("alone")
    deck = write(folder, request.param)
    return deck, folder / "out", go(deck, folder / "out")


def frames(out):
    """Positions and velocities of all frames."""
    return datasets(out / "trajectory.h5", *(f"particles/all/{k}/value" for k in ("position", "velocity"))).values()


@pytest.mark.group("forces_one_hash")
def test_one_hash(alone, tmp_path):
    """State and sums, those of heat and work too, do not depend on how they are computed."""
    deck, out, whole = alone
    ways = [
        dict(ranks=1, grid__skin=0.2),
        dict(ranks=2, threads=2, comm__overlap="none"),
        dict(ranks=3, balance__partition__kind="rcb", **BALANCED),
        dict(ranks=4, grid__tile=4, comm__order="far_first", comm__aggregate="node", comm__ranks_per_node=2),
        dict(ranks=7, balance__partition__kind="chain", **BALANCED),
        dict(isa="avx2"),
        dict(isa="portable", threads=2),
        dict(isa="scalar", run__steps=20),
        dict(accelerator__backend="host", accelerator__share=0.5),
        dict(ranks=2, accelerator__backend="host", accelerator__share=0.5, accelerator__threads=2),
    ]
    short = go(deck, tmp_path / "short", run__steps=20)
    for i, way in enumerate(ways):
        assert go(deck, tmp_path / str(i), **way) == (short if "run__steps" in way else whole), way
    assert go(out / "deck.yaml", tmp_path / "again") == whole, "the effective deck"
    # A pass more or less at whole steps, where the thermostat acts.
    assert go(deck, tmp_path / "whole", output__trajectory_every=7)[0] == whole[0]


@pytest.mark.parametrize("of_thermostat", (True, False))
def test_restart(alone, tmp_path, of_thermostat):
    """A restart in the midst of it, at a step of the thermostat or between two, goes on with the same sums."""
    deck, out, whole = alone
    text = deck.read_text()
    step = {FLAT: (80, 59), DEEP: (33, 40)}[text][of_thermostat]
    go(deck, tmp_path / "half", ranks=2, checkpoint__every=step, checkpoint__keep=9)
    start = (tmp_path / f"half/checkpoint_{step}.h5").rename(tmp_path / f"checkpoint_{step}.h5")
    state, found = go(deck, tmp_path / "rest", ranks=3, restart=start)
    assert state == whole[0]
    after = [line for line in whole[1].splitlines()[1:] if int(line.split(",")[0]) > step]
    assert found.splitlines()[-len(after) :] == after
    other = write(tmp_path, text.replace("every: 7", "every: 8").replace("every: 5", "every: 6"))
    differs = "system.thermostat.every differs"
    fails_with(3, differs, 0, *run_words(tmp_path / "other", deck=other, restart=start))
    fails_with(3, "run.dt", 0, *run_words(tmp_path / "dt", deck=out / "deck.yaml", restart=start, run__dt=0.003))


GAS = """system:
  box: [40, 30]
  boundary: [reflecting, reflecting]
  potential: {epsilon: 1e-9, sigma: 0.01, softening: 0.5, cutoff: 0.6}
  bodies: [{shape: box, lower: [0.5, 1], upper: [39, 29], fill: random, particles: 4000, spacing: 0.1, temperature: 1}]
run: {dt: 0.002, steps: 600}
output: {every: 10}
"""


@pytest.mark.group("forces_energy")
def test_work(tmp_path):
    """In a nearly ideal gas, the kinetic energy grows by the work of a face, as by that of a piston."""
    walls = "walls: [{face: x_lower, velocity: 0.1, from: 100, to: 500}]\n  potential"
    deck = write(tmp_path, GAS.replace("potential", walls, 1))
    go(deck, tmp_path / "out", ranks=2, run__dt=0.02)
    table = thermo(tmp_path / "out")
    assert table[10]["work"] == 0 < table[20]["work"] < table[50]["work"] == table[60]["work"]
    first = table[0]["kinetic"]
    for row in table:
        assert abs(row["kinetic"] - row["work"] - first) < 1e-5 * first
    # The face comes 0.8 sigma far, before 4,000 particles on 38.5 sigma. Those that it meets have velocities v > -u
    # towards it, and the pressure is that of 2 (v + u)^2.
    u, inside = 0.1, 0.5 * (1 + erf(0.1 / sqrt(2)))
    expected = 4000 / 38.5 * 0.8 * 2 * ((1 + u**2) * inside + u * exp(-(u**2) / 2) / sqrt(2 * pi))
    assert abs(table[-1]["work"] / expected - 1) < 0.15, (table[-1]["work"], expected)
    assert abs(summary(tmp_path / "out")["energy_drift"]) < 1e-5


def test_fall(tmp_path):
    """Gravity: a particle's fall is that of Galilei, and potential energy becomes kinetic."""
    words = "gravity: [0.5, -0.25]\n  potential"
    deck = write(tmp_path, GAS.replace("potential", words, 1).replace("temperature: 1", "temperature: 0"))
    go(deck, tmp_path / "out", run__steps=500, output__trajectory_every=500)
    x, v = (a[:, :, :2] for a in frames(tmp_path / "out"))
    time, fallen = 1.0, np.array([0.5, -0.25])
    free = (x[0, :, 1] > 1.2) & (x[0, :, 0] < 38.5)  # of particles that reach no wall
    assert free.sum() > 3800
    assert abs(x[1] - x[0] - fallen * time**2 / 2)[free].max() < 2e-5  # frames hold single precision
    assert abs(v[1] - fallen * time)[free].max() < 1e-6
    table = thermo(tmp_path / "out")
    start = -(x[0] @ fallen).sum()
    assert abs(table[0]["external"] / start - 1) < 1e-5
    assert abs(table[-1]["kinetic"] + table[-1]["external"] - table[0]["external"]) < 1e-6 * abs(start)
    assert table[-1]["total"] == pytest.approx(sum(table[-1][k] for k in ("kinetic", "potential", "external")))


LIQUID = """system:
  box: [34, 30]
  boundary: [periodic, reflecting]
  seed: 5
  potential: {shift: force}
  slabs: [{lower: [0, 2], upper: [33, 28], density: 0.75, temperature: 1.2}]
run: {dt: 0.003, steps: 1500}
output: {every: 50}
"""
ACTING = {
    "gravity": "gravity: [0, -0.1]",
    "walls": "walls: [{face: y_lower, epsilon: 2}, {face: y_upper, epsilon: 2}]",
    "langevin": "thermostat: {kind: langevin, temperature: 0.5, friction: 1, to: 1200}",
    "rescale": "thermostat: {kind: rescale, temperature: 1.5}",
    "piston": "walls: [{face: y_upper, velocity: 0.5, from: 200, to: 900}]",
    "all": "gravity: [0, -0.1]\n  walls: [{face: y_lower, epsilon: 2}, {face: y_upper, velocity: 0.5, to: 900}]\n"
    "  thermostat: {kind: langevin, temperature: 0.5}",
}


def drift_of(folder, text):
    """The rows of a run of the liquid, and how far its total energy without heat and work goes from the start."""
    go(write(folder, text), folder / "out", threads=2)
    table = thermo(folder / "out")
    kept = [r["total"] - r.get("heat", 0) - r.get("work", 0) for r in table]
    largest = max(r["kinetic"] for r in table)
    last = (kept[-1] - kept[0]) / largest
    assert summary(folder / "out")["energy_drift"] == pytest.approx(last, rel=1e-3, abs=1e-9)
    return table, max(abs(e - kept[0]) for e in kept) / largest


@pytest.fixture(scope="module")
def drift_of_nothing(tmp_path_factory):
    return drift_of(tmp_path_factory.mktemp("nothing"), LIQUID)[1]


@pytest.mark.parametrize("name", ACTING)
def test_conserved(drift_of_nothing, tmp_path, name):
    """Without heat and work the total energy stays as constant as without any of it."""
    table, drift = drift_of(tmp_path, LIQUID.replace("potential:", f"{ACTING[name]}\n  potential:"))
    columns = dict(gravity="external", walls="external", langevin="heat", rescale="heat", piston="work", all="heat")
    assert abs(table[-1][columns[name]]) > 1000 * drift_of_nothing, table[-1]
    assert drift < 2e-3, (drift, drift_of_nothing)


HOT = """system:
  box: fit
  seed: {seed}
  thermostat: {{kind: {kind}, temperature: 0.7, every: 5}}
  slabs: [{{cells: {cells}, density: 0.6, temperature: 1.5}}]
run: {{dt: 0.004, steps: 1200}}
output: {{every: 20}}
"""


@pytest.mark.group("forces_temperature")
@pytest.mark.parametrize("dimensions", (2, 3))
@pytest.mark.parametrize("kind", ("langevin, friction: 2", "rescale"))
def test_temperature(tmp_path, kind, dimensions):
    """Over five seeds, temperature and distribution of velocities are Maxwell's within their errors."""
    temperatures, moments, particles = [], [], 0
    for seed in range(5):
        text = HOT.format(cells=[24, 14] if dimensions == 2 else [6, 6, 5], seed=seed + 1, kind=kind)
        out = tmp_path / str(seed)
        os.makedirs(out)
        go(write(out, text), out / "out", threads=2, output__trajectory_every=100)
        late = [r["temperature"] for r in thermo(out / "out") if r["step"] >= 400]
        temperatures.append(np.mean(late))
        _, v = frames(out / "out")
        v = v[4:, :, :dimensions].astype(float) / np.sqrt(0.7)
        particles = v.shape[1]
        moments.append([v.mean(), (v**2).mean(), (v**4).mean(), (abs(v) < 1).mean()])
    error = np.std(temperatures, ddof=1) / np.sqrt(5)
    assert abs(np.mean(temperatures) - 0.7) < 4 * error + 0.004, (temperatures, error)
    assert error < 0.01
    moments = np.array(moments)
    # Frames are 0.4 apart: those of a particle are hardly independent, so errors are those between seeds.
    of_normal = np.array([0, 1, 3, 0.682689])
    spread = moments.std(axis=0, ddof=1) / np.sqrt(5)
    assert (abs(moments.mean(axis=0) - of_normal) < 5 * spread + [1e-3, 0.006, 0.03, 0.003]).all(), (moments, spread)
    assert particles > 300


@pytest.mark.group("forces_energy")
def test_work_of_migrants(tmp_path):
    """Cells change their owner at each step, because processes are slow in turns, and nothing of the work is lost."""
    text = """system:
  box: [80, 20]
  boundary: [reflecting, reflecting]
  walls: [{face: y_upper, velocity: 2}, {face: y_lower, velocity: 2}]
  slabs: [{lower: [1, 1], upper: [79, 19], density: 0.6, temperature: 2}]
run: {dt: 0.002, steps: 100}
output: {every: 20}
balance:
  {clock: work, criterion: every, model: exact, work: {slow: {fraction: 0.5, speed: 0.2, period: 3}}}
"""
    deck = write(tmp_path, text)
    assert go(deck, tmp_path / "moved", ranks=2, balance__every=1) == go(deck, tmp_path / "alone")


def test_sudden(tmp_path):
    """A thermostat heats a cold crystal at once, by more than a step of a particle has ever been."""
    text = """system:
  box: [40, 40]
  boundary: [periodic, periodic]
  thermostat: {kind: rescale, temperature: 2, every: 50, from: 50}
  slabs: [{lower: [5, 8], upper: [35, 32], density: 1, temperature: 0.001}]
run: {dt: 0.002, steps: 100}
"""
    deck = write(tmp_path, text)
    assert go(deck, tmp_path / "a", ranks=2, grid__skin=0.05) == go(deck, tmp_path / "b", grid__skin=0.3)


@pytest.mark.group("forces_errors")
@pytest.mark.parametrize(
    "words, where, remedy",
    [
        ("gravity: [0.1, 0]", "gravity along x, where the box is periodic", "write 0"),
        ("gravity: [0, -2000]", "system.gravity.1", "1000"),
        ("gravity: [0, -1, 0]", "system.gravity has 3 values", "give 2"),
        ("gravity: [0, 1e-9]", "would be rounded", "write 0, or at least"),
        ("walls: [{face: y_lower, velocity: 1, from: 20, to: 20}]", "stops before it begins", "beyond"),
        ("walls: []", "system.walls is empty", "give at least one"),
        ("walls: [{epsilon: 1}]", "face", "y_lower"),
        ("walls: [{face: y_lower}]", "does nothing but reflect", "give epsilon or velocity"),
        ("walls: [{face: x_lower, epsilon: 1}]", "periodic along x", "reflecting"),
        ("walls: [{face: z_lower, epsilon: 1}]", "no face z_lower in 2D", "x or y"),
        ("walls: [{face: y_lower, epsilon: 1}, {face: y_lower, epsilon: 2}]", "there twice", "once"),
        ("walls: [{face: y_lower, epsilon: 1, velocity: 1}]", "beside epsilon", "remove one"),
        ("walls: [{face: y_lower, velocity: 1, sigma: 2}]", "without epsilon", "remove it"),
        ("walls: [{face: y_lower, epsilon: 1, from: 2}]", "without velocity", "remove it"),
        ("walls: [{face: y_lower, velocity: 500}]", "moves 1 in a step", "use at most"),
        ("walls: [{face: y_lower, velocity: 20}]", "in a box of 36", "at most"),
        ("walls: [{face: y_lower, velocity: -1}]", "system.walls.0.velocity", "0"),
        ("thermostat: {temperature: 1}", "no key of kind none", "write kind: langevin"),
        ("thermostat: {kind: rescale, friction: 1}", "no key of kind rescale", "write kind: langevin"),
        ("thermostat: {kind: langevin, friction: 100}", "more than velocities have", "below 2"),
        ("thermostat: {kind: langevin, temperature: -1}", "system.thermostat.temperature", "0"),
        ("thermostat: {kind: langevin, from: 20, to: 20}", "ends before it begins", "beyond"),
        ("thermostat: {kind: langevin, every: 0}", "system.thermostat.every", "1"),
        ("thermostat: {kind: langevine}", "system.thermostat.kind", "langevin"),
    ],
)
def test_refused(tmp_path, words, where, remedy):
    """One line names the error, its place and a remedy, with exit code 2, before anything is written."""
    text = f"""system:
  box: [44, 36]
  boundary: [periodic, reflecting]
  {words}
  slabs: [{{lower: [0, 1.2], upper: [44, 32], density: 0.6}}]
run: {{dt: 0.002, steps: 1600}}
"""
    said = fails_with(2, (where, "deck.yaml"), 2, *run_words(tmp_path / "out", deck=write(tmp_path, text)))
    assert remedy in said.split(";")[-1], said
    assert not os.path.exists(tmp_path / "out")


def test_check(tmp_path):
    """`check` says that a thermostat is not reversible; decks without any of this know no word of it."""

    def said(text):
        return printed(0, "check", write(tmp_path, text))

    assert "every 7 steps from step 10 up to 150" in said(FLAT) and "momentum is not kept" in said(FLAT)
    assert "every 5 steps from step 15 on" in said(DEEP)
    plain = said(LIQUID)
    for word in ("gravity", "walls", "thermostat"):
        assert f"{word}:" not in plain, plain
    go(write(tmp_path, LIQUID), tmp_path / "out", run__steps=2)
    head = "step,time,particles,kinetic,potential,total,momentum_x,momentum_y,temperature,pressure\n"
    assert rows(tmp_path / "out").startswith(head)


def test_damaged(tmp_path):
    """A particle that starts inside a wall's repulsion stops the run, and says which."""
    text = LIQUID.replace("potential:", "walls: [{face: y_lower, epsilon: 1}]\n  potential:")
    deck = write(tmp_path, text.replace("[0, 2]", "[0, 0.0001]"))
    # No step was made, so a smaller dt alone does not help.
    remedy = "move it away from the particle or wall that it is too near to"
    fails_with(4, ("step 0", "particle 0", remedy), 2, *run_words(tmp_path / "out", deck=deck))


@pytest.mark.parametrize("seed, again", [(11, True), (12, False)])
@pytest.mark.parametrize("name", ["checkpoint_2.h5", "trajectory.h5"])
def test_random_forces_that_come_again(tmp_path, name, seed, again):
    """Random forces go by seed, step and id: a run from the particles of a run with the same seed says so."""
    out = tmp_path / "first"
    thermostat = "thermostat: {kind: langevin, friction: 1}"
    text = f"system:\n  box: [20, 20]\n  seed: 11\n  {thermostat}\n  slabs: [{{lower: [1, 1], upper: [19, 19]}}]\n"
    deck = write(tmp_path, text + "run: {dt: 0.002, steps: 2}\noutput: {trajectory_every: 1}\ncheckpoint: {every: 2}\n")
    go(deck, out)
    second = f"system:\n  seed: {seed}\n  {thermostat}\n  from: {{file: first/{name}}}\nrun: {{dt: 0.002, steps: 2}}\n"
    said = printed(0, "check", write(tmp_path, second), cwd=tmp_path)
    assert ("has the same seed" in " ".join(said.replace("#", "").split())) == again, said

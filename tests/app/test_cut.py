# SPDX-License-Identifier: MIT
"""Bodies that are cut from files: their particles, exactly and on any ranks; refusals; and a liquid that one run has
equilibrated and another one launches. Groups: cut_exact cut_starts cut_equilibrated."""
import csv
import itertools
import os
import re
import shutil
import subprocess

import h5py
import numpy as np
import pytest

from program import HANG_SECONDS, command, environment, hash_of, run, settings, state_of

LIQUID = {
    2: "{lattice: hexagonal, cells: [8, 5], density: 0.8, temperature: 1.2}",
    3: "{lattice: fcc, cells: [4, 5, 4], density: 0.8, temperature: 1.5}",
}


def liquid(tmp_path, dimensions, steps=100):
    """The checkpoint of a small liquid in a periodic box."""
    deck, out = tmp_path / "liquid.yaml", tmp_path / "liquid"
    deck.write_text(
        f"system:\n  box: fit\n  slabs: [{LIQUID[dimensions]}]\nrun: {{dt: 0.004, steps: {steps}}}\n"
        f"checkpoint: {{every: {steps}}}\noutput: {{every: {max(1, steps // 100)}}}\n"
    )
    state_of(deck, out)
    return out / f"checkpoint_{steps}.h5"


def read(path):
    """Ids, positions and velocities in 2^-40, and the box in 2^-40."""
    with h5py.File(path) as f:
        ids, rows = f["exact/id"][:], f["exact/state"][:]
        d = rows.shape[1] // 2
        edges = np.diag(f["particles/all/box/edges/value"][-1])[:d]
    return ids, rows[:, :d], rows[:, d:], np.rint(edges * 2.0**40).astype(np.int64)


def written(tmp_path, bodies, box, boundary="periodic", steps=0):
    deck = tmp_path / "deck.yaml"
    lines = "".join(f"    - {{{body}}}\n" for body in bodies)
    deck.write_text(
        f"system:\n  box: {list(box)}\n  boundary: [{', '.join([boundary] * len(box))}]\n  bodies:\n{lines}"
        f"run: {{dt: 0.001, steps: {steps}}}\n"
    )
    return deck


def expected(file, lower, upper, inside):
    """Positions of all images within corners that are inside, and the velocities of the file, by brute force."""
    _, x, v, length = read(file)
    low = np.rint(np.array(lower) * 2.0**40).astype(np.int64)
    high = np.rint(np.array(upper) * 2.0**40).astype(np.int64)
    at, velocity = [], []
    for k in itertools.product(*(range(int((b - a) // s) + 1) for a, b, s in zip(low, high, length))):
        image = low + np.array(k) * length + x
        keep = (image < high).all(axis=1) & inside(image)
        at.append(image[keep])
        velocity.append(v[keep])
    return np.concatenate(at), np.concatenate(velocity)


def by_place(x, v):
    order = np.lexsort(x.T)
    return x[order], v[order]


SHAPES = {
    2: [
        ("shape: box, lower: [1.25, 2.5], upper: [26, 31.125]", [1.25, 2.5], [26, 31.125], None),
        ("shape: ball, center: [20, 20], radius: 14.5", [5.5, 5.5], [34.5, 34.5], (20, 14.5)),
    ],
    3: [
        ("shape: box, lower: [1, 0.5, 2], upper: [13.5, 15, 9]", [1, 0.5, 2], [13.5, 15, 9], None),
        ("shape: ball, center: [8, 8, 8], radius: 6.5", [1.5] * 3, [14.5] * 3, (8, 6.5)),
    ],
}


@pytest.mark.group("cut_exact")
@pytest.mark.parametrize("dimensions", (2, 3))
def test_exact(tmp_path, dimensions):
    """Positions are those of the file's images to the last bit. Velocities are those of the file with one shift, which
    gives the body its velocity to the last quantum. Ids go from 0 on. The state is the same on any ranks."""
    file = liquid(tmp_path, dimensions)
    drift = [1.5, -0.25, 0.125][:dimensions]
    for body, lower, upper, ball in SHAPES[dimensions]:

        def inside(x):
            if ball is None:
                return np.ones(len(x), dtype=bool)
            return ((x.astype(float) * 2.0**-40 - ball[0]) ** 2).sum(axis=1) < ball[1] ** 2

        fill = f"fill: file, from: {{file: {file}}}, velocity: {drift}"
        side = 40.0 if dimensions == 2 else 16.0
        deck = written(tmp_path, [f"{body}, {fill}"], [side] * dimensions, "reflecting", steps=1)
        x, v = by_place(*expected(file, lower, upper, inside))
        hashes = set()
        for ranks in (1, 2, 3, 7):
            out = tmp_path / f"{body[7:10]} {ranks}"
            hashes.add(state_of(deck, out, ranks=ranks, run__steps=0, balance__every=0, run__dt=1e-9))
        assert len(hashes) == 1, body
        # A step of no force and next to no time shows the first state exactly: v dt is below half a quantum.
        keys = dict(system__potential__epsilon=1e-30, run__dt=1e-20, checkpoint__every=1)
        state_of(deck, tmp_path / "exact", ranks=3, **keys)
        ids, at, velocity, _ = read(tmp_path / "exact" / "checkpoint_1.h5")
        assert sorted(ids) == list(range(len(x))), body
        at, velocity = by_place(at, velocity)
        assert (at == x).all(), body
        shift = velocity - v
        assert (shift == shift[0]).all(), body
        mean = np.array([int(s) for s in velocity.sum(axis=0)]) - np.rint(np.array(drift) * 2.0**40) * len(x)
        assert (abs(mean) < len(x)).all(), f"{body}: the mean is {mean / len(x)} quanta off"
        shutil.rmtree(tmp_path / "exact")


@pytest.mark.group("cut_exact")
def test_one_hash(tmp_path):
    """A run of a drop from a file over a lattice, beside a gas: on any ranks, after a restart that has no file."""
    file = liquid(tmp_path, 2)
    bodies = [
        "shape: box, lower: [1, 1], upper: [39, 8], density: 0.8, temperature: 0.5",
        f"shape: ball, center: [20, 18], radius: 8, fill: file, from: {{file: {file}}}, velocity: [0, -1], spin: 0.1",
        "shape: box, lower: [0, 27], upper: [40, 40], fill: random, density: 0.2, spacing: 0.9, temperature: 1",
        f"shape: box, lower: [30, 10], upper: [38, 24], fill: file, from: {{file: {file}, frame: 0}}",
    ]
    deck = written(tmp_path, bodies, [40, 40], "reflecting", steps=60)
    state = state_of(deck, tmp_path / "alone")
    for ranks, keys in ((2, {}), (3, dict(balance__every=20, balance__clock="work")), (7, {})):
        assert state_of(deck, tmp_path / f"{ranks}", ranks=ranks, **keys) == state, ranks
    out = tmp_path / "out"
    state_of(deck, out, ranks=2, run__steps=30, checkpoint__every=30)
    os.rename(file, tmp_path / "away")
    for more in (["auto"], [str(out / "checkpoint_30.h5")]):
        code, text = run(3, "run", deck, "--out", out, "--quiet", "--restart", *more)
        assert (code, hash_of(out)) == (0, state), text
        code, text = run(0, "run", out / "deck.yaml", "--out", tmp_path / "new")
        assert code == 3 and "there is no such file; give system.bodies.1.from.file the path of one" in text, text
    os.rename(tmp_path / "away", file)
    assert state_of(out / "deck.yaml", tmp_path / "again") == state, "the effective deck"
    with h5py.File(file, "r+") as f:
        f["exact/state"][0] += 1
    code, text = run(2, "run", deck, "--out", out, "--restart", "auto", *settings(run__steps=70))
    assert code == 3 and text.count("\n") == 1, text


@pytest.mark.group("cut_exact")
@pytest.mark.parametrize("dimensions", (2, 3))
def test_gas_around(tmp_path, dimensions):
    """A body at random keeps its distance from the whole of a drop that is cut from a file, beyond the boundary too."""
    file = liquid(tmp_path, dimensions)
    spacing, radius, side = 0.9, 4, 12.0
    center = [4.0] + [side / 2] * (dimensions - 1)
    bodies = [
        f"shape: ball, center: {center}, radius: {radius}, fill: file, from: {{file: {file}}}",
        f"shape: box, lower: [8] , upper: [12], fill: random, density: 0.4, spacing: {spacing}",
    ]
    whole = [0.0] * (dimensions - 1), [side] * (dimensions - 1)
    bodies[1] = bodies[1].replace("[8] ", str([8.0, *whole[0]])).replace("[12]", str([12.0, *whole[1]]))
    deck = written(tmp_path, bodies, [side] * dimensions, steps=1)
    keys = dict(system__potential__epsilon=1e-30, run__dt=1e-20, checkpoint__every=1)
    state_of(deck, tmp_path / "out", ranks=3, **keys)
    ids, x, _, _ = read(tmp_path / "out" / "checkpoint_1.h5")
    r = x * 2.0**-40 - center
    r -= side * np.rint(r / side)
    r = np.sqrt((r**2).sum(axis=1))
    drop = ids < (r < radius).sum()
    assert (r[drop] < radius).all() and r[~drop].min() >= radius + spacing - 1e-9
    assert r[~drop].min() < radius + 1.5 * spacing, "it does come near"


FILE = "fill: file, from: {file: FILE}"
REFUSED = [
    (
        2,
        f"shape: ball, center: [20, 20], radius: 5, {FILE}, temperature: 1",
        "temperature is no key of fill: file; rem",
    ),
    (2, f"shape: ball, center: [20, 20], radius: 5, {FILE}, density: 1", "density is no key of fill: file; remove"),
    (
        2,
        f"shape: ball, center: [20, 20], radius: 5, {FILE}, spacing: 1",
        "spacing is no key of fill: file; remove it, or",
    ),
    (
        2,
        f"shape: ball, center: [20, 20], radius: 5, {FILE}, profile: {{kind: linear}}",
        "profile is no key of fill: file",
    ),
    (2, "shape: ball, center: [20, 20], radius: 5, fill: file", "from is missing; give a file, as in from: {file: st"),
    (2, "shape: ball, center: [20, 20], radius: 5, from: {file: FILE}", "from is no key of fill: lattice; remove it"),
    (
        2,
        f"shape: box, lower: [1, 1], upper: [1.01, 1.01], {FILE}",
        "no particle of the file lies in the body; make it larger",
    ),
    (2, f"shape: box, lower: [1, 1], upper: [30, 50], {FILE}", "body 0 ends outside the box, at y = 50"),
    (
        2,
        f"shape: ball, center: [20, 20], radius: 5, velocity: [9000, 0], {FILE}",
        "of body 0 cross a cell of 2.5 in one",
    ),
    (
        3,
        f"shape: ball, center: [20, 20], radius: 5, {FILE}",
        "its particles are of 3 dimensions, and the box has 2 lengths; give a file of 2 dimensions",
    ),
    (
        2,
        f"shape: box, lower: [1, 1], upper: [20.4, 39], {FILE}}}, "
        f"{{shape: box, lower: [20.4, 1], upper: [39, 39], {FILE}",
        "^system.bodies.1: particles of body 0 and body 1 are 0.178 apart at .*, and forces are exact from .*; leave",
    ),
]


@pytest.mark.group("cut_starts")
def test_refused(tmp_path):
    """Decks that cannot be, in one line, with exit code 2."""
    files = {}
    for dimensions in (2, 3):
        (tmp_path / str(dimensions)).mkdir()
        files[dimensions] = str(liquid(tmp_path / str(dimensions), dimensions))
    for i, (dimensions, body, what) in enumerate(REFUSED):
        deck = written(tmp_path, body.replace("FILE", files[dimensions]).split("}, {"), [40, 40])
        code, text = run(i % 3, "check", deck)
        assert code == 2 and text.count("\n") == 1, f"{body}: {code} {text}"
        assert re.search(what, text.removeprefix("steelyard: error: ")), text


@pytest.mark.group("cut_starts")
def test_files(tmp_path):
    """Files that cannot be read, or hold what no run can begin with: one line, exit code 3."""
    file = liquid(tmp_path, 2)
    x = np.random.default_rng(1).uniform(0, 10, (20, 3)) * [1, 1, 0]

    def made(name, **datasets):
        with h5py.File(tmp_path / name, "w") as f:
            for key, value in datasets.items():
                f["particles/all/" + key.replace("__", "/")] = value
        return tmp_path / name

    whole = dict(position=x, velocity=0 * x, box__edges=[10.0, 10.0, 1.0])
    cases = [
        (tmp_path / "gone.h5", "there is no such file; give system.bodies.0.from.file the path"),
        (tmp_path, "is no file; give system.bodies.0.from"),
        (made("nan.h5", **(whole | dict(position=x * [np.nan, 1, 1]))), "the position of particle 0 is no number"),
        (made("ids.h5", **whole, id=[7] * 20), "id 7 is there twice"),
        (made("fast.h5", **(whole | dict(velocity=x + 1e7))), "the velocity of particle 0 .*is"),
        (made("short.h5", **(whole | dict(velocity=x[:5]))), "velocity has the shape"),
    ]
    with open(file, "rb") as f:
        (tmp_path / "cut.h5").write_bytes(f.read()[:3000])
    cases.append((tmp_path / "cut.h5", "is damaged|cut off|cannot be read|is no"))
    disc = "shape: ball, center: [20, 20], radius: 5, fill: file"
    for i, (path, what) in enumerate(cases):
        deck = written(tmp_path, [f"{disc}, from: {{file: {path}}}"], [40, 40])
        code, text = run(i % 3, "check", deck)
        assert code == 3 and text.count("\n") == 1 and re.search(what, text), f"{path}: {code} {text}"
    # Boxes that cannot be repeated, and bodies in which too much would be looked through.
    made("no_box.h5", position=x, velocity=0 * x)
    made("short_box.h5", position=x * [1e-9, 1, 1], velocity=0 * x, box__edges=[1e-9, 10.0, 1.0])
    ring = "shape: shell, center: [1e5, 1e5], radius: 99990, inner_radius: 99989.99, fill: file"
    crowd = "shape: box, lower: [0, 0], upper: [1e6, 1e6], fill: file"
    for body, name, box, what in (
        (disc, "no_box.h5", 40, "the file's box is 0 long along x, and is repeated; give a file that says the lengths"),
        (disc, "short_box.h5", 40, "the file's box is 1e-09 long along x"),
        (ring, file, 2e5, "so wide and thin that"),
        (crowd, file, 2**20, "need about .* GB"),
    ):
        deck = written(tmp_path, [f"{body}, from: {{file: {tmp_path / name}}}"], [box, box])
        code, text = run(2, "check", deck, timeout=HANG_SECONDS)
        assert code == 2 and text.count("\n") == 1 and re.search(what, text), f"{body}: {text}"


@pytest.mark.group("cut_starts")
def test_other_commands(tmp_path):
    """check and partition know the particles. They report a seam if images do not fit."""
    file = liquid(tmp_path, 2)
    ids, _, _, length = read(file)
    box = [2 * float(s) * 2.0**-40 for s in length]
    body = f"shape: box, lower: [0, 0], upper: {box}, fill: file, from: {{file: {file}}}"
    for longer, words in ((0.0, None), (0.3, "leave a gap of|multiples of that one long")):
        sides = [box[0] + longer, box[1] + longer]
        deck = written(tmp_path, [body.replace(str(box), str(sides))], sides)
        done = subprocess.run(
            command(2, "check", deck), env=environment(), capture_output=True, text=True, timeout=HANG_SECONDS
        )
        if words is None:
            assert done.returncode == 0 and f"# {4 * len(ids)} particles" in done.stdout, done
            assert "apart at" not in done.stdout, "a seam"
            machine = settings(machine__nodes=2, machine__cpus_per_node=1, machine__cores_per_cpu=2)
            code, text = run(2, "partition", deck, "--out", tmp_path / "p", "--quiet", *machine)
            assert code == 0, text
        else:
            said = done.stdout.replace("\n# ", " ") + done.stderr
            assert "two particles of body 0 are" in said and re.search(words, said), done


def thermo(out):
    with open(out / "thermo.csv") as f:
        return [{k: float(v) for k, v in row.items()} for row in csv.DictReader(f)]


@pytest.mark.group("cut_equilibrated")
@pytest.mark.parametrize("dimensions", (2, 3))
def test_at_rest(tmp_path, dimensions):
    """A liquid that another run has equilibrated, twice as long and wide, keeps its pressure, potential energy and
    temperature. They are the same at once and in the mean of the following steps."""
    file = liquid(tmp_path, dimensions, steps=2000 if dimensions == 2 else 500)
    ids, _, _, length = read(file)
    sides = [2 * float(s) * 2.0**-40 for s in length]
    body = f"shape: box, lower: {[0] * dimensions}, upper: {sides}, fill: file, from: {{file: {file}}}"
    deck = written(tmp_path, [body], sides)
    keys = dict(run__dt=0.004, run__steps=200, output__every=10)
    state_of(deck, tmp_path / "out", ranks=2, **keys)
    before, after = thermo(tmp_path / "liquid"), thermo(tmp_path / "out")
    images = 2**dimensions
    last, first = before[-1], after[0]
    assert abs(first["pressure"] / last["pressure"] - 1) < 1e-6, f"{last['pressure']} {first['pressure']}"
    for name in ("kinetic", "potential"):
        assert abs(first[name] / images / last[name] - 1) < 1e-6, f"{name} {last[name]} {first[name]}"
    # Blocks of what has gone before say how much a mean of this length varies.
    for name in ("temperature", "pressure"):
        values = np.array([row[name] for row in before[len(before) // 2 :]])
        mean, error = values.mean(), values.std() / np.sqrt(5)
        found = np.mean([row[name] for row in after])
        assert abs(found - mean) < 4 * error, f"{name}: {found}, and {mean} +- {error} before"

# SPDX-License-Identifier: MIT
"""Bodies that are cut from files: their particles, exactly and on any ranks; refusals; a liquid that an earlier run has
equilibrated."""
import itertools
import os

import h5py
import numpy as np
import pytest

from program import datasets, fails_with, ok, ok_run, one_error, one_state, printed, run, run_words, settings, state_of
from program import thermo, write_datasets, written

LIQUID = {
    2: "{lattice: hexagonal, cells: [8, 5], density: 0.8, temperature: 1.2}",
    3: "{lattice: fcc, cells: [4, 5, 4], density: 0.8, temperature: 1.5}",
}


def liquid(tmp_path, dimensions, steps=100):
    """The checkpoint of a small liquid in a periodic box."""
    text = f"system: {{box: fit, slabs: [{LIQUID[dimensions]}]}}\nrun: {{dt: 0.004, steps: {steps}}}\n"
    text += f"checkpoint: {{every: {steps}}}\noutput: {{every: {max(1, steps // 100)}}}\n"
    out = tmp_path / "liquid"
    state_of(written(tmp_path / "liquid.yaml", text), out)
    return out / f"checkpoint_{steps}.h5"


@pytest.fixture(scope="module")
def liquids(tmp_path_factory):
    return {dimensions: liquid(tmp_path_factory.mktemp("liquids"), dimensions) for dimensions in LIQUID}


def read(path):
    """Ids, positions and velocities in 2^-40, and the box in 2^-40."""
    ids, rows, edges = datasets(path, "exact/id", "exact/state", "particles/all/box/edges/value").values()
    d = rows.shape[1] // 2
    return ids, rows[:, :d], rows[:, d:], np.rint(np.diag(edges[-1])[:d] * 2.0**40).astype(np.int64)


def deck_of(tmp_path, bodies, box, boundary="periodic", steps=0):
    lines = "".join(f"    - {{{body}}}\n" for body in bodies)
    system = f"system:\n  box: {list(box)}\n  boundary: [{', '.join([boundary] * len(box))}]\n  bodies:\n{lines}"
    return written(tmp_path / "deck.yaml", f"{system}run: {{dt: 0.001, steps: {steps}}}\n")


def expected(file, lower, upper, inside):
    """Positions of all images within corners that are inside, and the velocities of the file, by brute force."""
    _, x, v, length = read(file)
    low, high = (np.rint(np.array(corner) * 2.0**40).astype(np.int64) for corner in (lower, upper))
    at, velocity = [], []
    for k in itertools.product(*(range(int((b - a) // s) + 1) for a, b, s in zip(low, high, length))):
        image = low + np.array(k) * length + x
        keep = (image < high).all(axis=1) & inside(image)
        at.append(image[keep])
        velocity.append(v[keep])
    return by_place(np.concatenate(at), np.concatenate(velocity))


def by_place(x, v):
    order = np.lexsort(x.T)
    return x[order], v[order]


# A shape, its corners, and whether positions are inside.
FROZEN = dict(system__potential__epsilon=1e-30, run__dt=1e-20, checkpoint__every=1)  # no force, and next to no time
SHAPES = [
    ("shape: box, lower: [1.25, 2.5], upper: [26, 31.125]", [1.25, 2.5], [26, 31.125], None),
    ("shape: ball, center: [20, 20], radius: 14.5", [5.5, 5.5], [34.5, 34.5], (20, 14.5)),
    ("shape: box, lower: [1, 0.5, 2], upper: [13.5, 15, 9]", [1, 0.5, 2], [13.5, 15, 9], None),
    ("shape: ball, center: [8, 8, 8], radius: 6.5", [1.5] * 3, [14.5] * 3, (8, 6.5)),
]


@pytest.mark.group("cut_exact")
@pytest.mark.parametrize("body, lower, upper, ball", SHAPES)
def test_exact(tmp_path, liquids, body, lower, upper, ball):
    """Positions are those of the file's images to the last bit. Velocities are those of the file with one shift, which
    gives the body its velocity to the last quantum. Ids go from 0 on. The state is the same on any ranks."""
    dimensions = len(lower)

    def inside(x):
        if ball is None:
            return np.ones(len(x), dtype=bool)
        return ((x.astype(float) * 2.0**-40 - ball[0]) ** 2).sum(axis=1) < ball[1] ** 2

    file, drift = liquids[dimensions], [1.5, -0.25, 0.125][:dimensions]
    fill = f"fill: file, from: {{file: {file}}}, velocity: {drift}"
    side = 40.0 if dimensions == 2 else 16.0
    deck = deck_of(tmp_path, [f"{body}, {fill}"], [side] * dimensions, "reflecting", steps=1)
    keys = dict(run__steps=0, balance__every=0, run__dt=1e-9)
    assert len({state_of(deck, tmp_path / str(ranks), ranks=ranks, **keys) for ranks in (1, 2, 3, 7)}) == 1
    # A step of no force and next to no time shows the first state exactly: v dt is below half a quantum.
    state_of(deck, tmp_path / "exact", ranks=3, **FROZEN)
    ids, *found, _ = read(tmp_path / "exact" / "checkpoint_1.h5")
    (at, velocity), (x, v) = by_place(*found), expected(file, lower, upper, inside)
    assert sorted(ids) == list(range(len(x))) and (at == x).all()
    shift = velocity - v
    assert (shift == shift[0]).all()
    mean = np.array([int(s) for s in velocity.sum(axis=0)]) - np.rint(np.array(drift) * 2.0**40) * len(x)
    assert (abs(mean) < len(x)).all(), f"the mean is {mean / len(x)} quanta off"


def test_one_hash(tmp_path):
    """A run of a drop from a file over a lattice, beside a gas: on any ranks, after a restart that has no file."""
    file, out = liquid(tmp_path, 2), tmp_path / "out"
    bodies = [
        "shape: box, lower: [1, 1], upper: [39, 8], density: 0.8, temperature: 0.5",
        f"shape: ball, center: [20, 18], radius: 8, fill: file, from: {{file: {file}}}, velocity: [0, -1], spin: 0.1",
        "shape: box, lower: [0, 27], upper: [40, 40], fill: random, density: 0.2, spacing: 0.9, temperature: 1",
        f"shape: box, lower: [30, 10], upper: [38, 24], fill: file, from: {{file: {file}, frame: 0}}",
    ]
    deck = deck_of(tmp_path, bodies, [40, 40], "reflecting", steps=60)
    ways = [dict(ranks=2), dict(ranks=3, balance__every=20, balance__clock="work"), dict(ranks=7)]
    state = one_state(deck, tmp_path, ways)
    state_of(deck, out, ranks=2, run__steps=30, checkpoint__every=30)
    os.rename(file, tmp_path / "away")
    says = "there is no such file; give system.bodies.1.from.file the path of one"
    for restart in ("auto", out / "checkpoint_30.h5"):
        assert state_of(deck, out, ranks=3, restart=restart) == state
        fails_with(3, says, 0, *run_words(tmp_path / "new", deck=out / "deck.yaml"))
    os.rename(tmp_path / "away", file)
    assert state_of(out / "deck.yaml", tmp_path / "again") == state, "the effective deck"
    with h5py.File(file, "r+") as f:
        f["exact/state"][0] += 1
    fails_with(3, (), 2, *run_words(out, deck=deck, restart="auto", run__steps=70))


@pytest.mark.parametrize("dimensions", (2, 3))
def test_gas_around(tmp_path, liquids, dimensions):
    """A body at random keeps its distance from the whole of a drop that is cut from a file, beyond the boundary too."""
    file, spacing, radius, side = liquids[dimensions], 0.9, 4, 12.0
    more = dimensions - 1
    center, lower, upper = [4.0] + [side / 2] * more, [8.0] + [0.0] * more, [12.0] + [side] * more
    bodies = [
        f"shape: ball, center: {center}, radius: {radius}, fill: file, from: {{file: {file}}}",
        f"shape: box, lower: {lower}, upper: {upper}, fill: random, density: 0.4, spacing: {spacing}",
    ]
    state_of(deck_of(tmp_path, bodies, [side] * dimensions, steps=1), tmp_path / "out", ranks=3, **FROZEN)
    ids, x, _, _ = read(tmp_path / "out" / "checkpoint_1.h5")
    r = x * 2.0**-40 - center
    r -= side * np.rint(r / side)
    r = np.sqrt((r**2).sum(axis=1))
    drop = ids < (r < radius).sum()
    assert (r[drop] < radius).all() and r[~drop].min() >= radius + spacing - 1e-9
    assert r[~drop].min() < radius + 1.5 * spacing, "it does come near"


FILE = "fill: file, from: {file: FILE}"
DISC = "shape: ball, center: [20, 20], radius: 5"
REFUSED = [  # the dimensions of the file
    (2, f"{DISC}, {FILE}, temperature: 1", "temperature is no key of fill: file; rem"),
    (2, f"{DISC}, {FILE}, density: 1", "density is no key of fill: file; remove"),
    (2, f"{DISC}, {FILE}, spacing: 1", "spacing is no key of fill: file; remove it, or"),
    (2, f"{DISC}, {FILE}, profile: {{kind: linear}}", "profile is no key of fill: file"),
    (2, f"{DISC}, fill: file", "from is missing; give a file, as in from: {file: st"),
    (2, f"{DISC}, from: {{file: FILE}}", "from is no key of fill: lattice; remove it"),
    (2, f"shape: box, lower: [1, 1], upper: [1.01, 1.01], {FILE}", "no particle of the file lies in the body; make it"),
    (2, f"shape: box, lower: [1, 1], upper: [30, 50], {FILE}", "body 0 ends outside the box, at y = 50"),
    (2, f"{DISC}, velocity: [9000, 0], {FILE}", "of body 0 cross a cell of 2.5 in one"),
    (
        2,
        f"shape: box, lower: [0, 1], upper: [19, 39], {FILE}}}, "
        f"{{shape: box, lower: [20.5, 1], upper: [40, 39], {FILE}",
        "body 0 and body 1 are .* apart at .*, across the periodic boundary, .*; leave a gap of .* at the boundary$",
    ),
    (
        2,
        f"shape: box, lower: [1, 1], upper: [20.4, 39], {FILE}}}, "
        f"{{shape: box, lower: [20.4, 1], upper: [39, 39], {FILE}",
        "^system.bodies.1: particles of body 0 and body 1 are 0.178 apart at .*, and forces are exact from .*; leave",
    ),
    (3, f"{DISC}, {FILE}", "its particles are of 3 dimensions, and the box has 2 lengths; give a file of 2 dimensions"),
]


@pytest.mark.group("cut_starts")
@pytest.mark.parametrize("i", range(len(REFUSED)))
def test_refused(tmp_path, liquids, i):
    """Decks that cannot be, in one line, with exit code 2."""
    dimensions, body, what = REFUSED[i]
    body = body.replace("FILE", str(liquids[dimensions]))
    deck = deck_of(tmp_path, body.split("}, {"), [40, 40])
    fails_with(2, (), i % 3, "check", deck, matches=what)


def test_files(tmp_path, liquids):
    """Files that cannot be read, or hold what no run can begin with: one line, exit code 3. Boxes that cannot be
    repeated, and bodies in which too much would be looked through: exit code 2."""
    file = liquids[2]
    x = np.random.default_rng(1).uniform(0, 10, (20, 3)) * [1, 1, 0]
    whole = dict(position=x, velocity=0 * x, box__edges=[10.0, 10.0, 1.0])

    def made(name, **changed):
        held = {f"particles/all/{k.replace('__', '/')}": v for k, v in (whole | changed).items() if v is not None}
        return write_datasets(tmp_path / name, **held)

    (tmp_path / "cut.h5").write_bytes(file.read_bytes()[:3000])
    disc = f"{DISC}, fill: file"
    ring = "shape: shell, center: [1e5, 1e5], radius: 99990, inner_radius: 99989.99, fill: file"
    crowd = "shape: box, lower: [0, 0], upper: [1e6, 1e6], fill: file"
    short = dict(position=x * [1e-9, 1, 1], box__edges=[1e-9, 10.0, 1.0])
    no_box = "the file's box is 0 long along x, and is repeated; give a file that says the lengths"
    for i, (body, path, box, code, what) in enumerate(
        (
            (disc, tmp_path / "gone.h5", 40, 3, "there is no such file; give system.bodies.0.from.file the path"),
            (disc, tmp_path, 40, 3, "is no file; give system.bodies.0.from"),
            (disc, made("nan.h5", position=x * [np.nan, 1, 1]), 40, 3, "the position of particle 0 is no number"),
            (disc, made("ids.h5", id=[7] * 20), 40, 3, "id 7 is there twice"),
            (disc, made("fast.h5", velocity=x + 1e7), 40, 3, "the velocity of particle 0 .*is"),
            (disc, made("short.h5", velocity=x[:5]), 40, 3, "velocity has the shape"),
            (disc, tmp_path / "cut.h5", 40, 3, "is damaged|cut off|cannot be read|is no"),
            (disc, made("no_box.h5", box__edges=None), 40, 2, no_box),
            (disc, made("short_box.h5", **short), 40, 2, "the file's box is 1e-09 long along x"),
            (ring, file, 2e5, 2, "so wide and thin that"),
            (crowd, file, 2**20, 2, "need about .* GB"),
        )
    ):
        deck = deck_of(tmp_path, [f"{body}, from: {{file: {path}}}"], [box, box])
        fails_with(code, (), i % 3, "check", deck, matches=what)


@pytest.mark.parametrize("longer", (0.0, 0.3))
def test_other_commands(tmp_path, liquids, longer):
    """check and partition know the particles. They report a seam if images do not fit."""
    file = liquids[2]
    ids, _, _, length = read(file)
    sides = [2 * float(s) * 2.0**-40 + longer for s in length]
    body = f"shape: box, lower: [0, 0], upper: {sides}, fill: file, from: {{file: {file}}}"
    deck = deck_of(tmp_path, [body], sides)
    if longer:
        seam = "two particles of body 0 are .*(leave a gap of|multiples of that one long)"
        one_error(*run(2, "check", deck), 2, alone=False, matches=seam)
        return
    said = printed(2, "check", deck)
    assert f"# {4 * len(ids)} particles" in said and "apart at" not in said, "a seam"
    machine = settings(machine__nodes=2, machine__cpus_per_node=1, machine__cores_per_cpu=2)
    ok(2, "partition", deck, "--out", tmp_path / "p", "--quiet", *machine)


@pytest.mark.group("cut_equilibrated")
@pytest.mark.parametrize("dimensions", (2, 3))
def test_at_rest(tmp_path, dimensions):
    """A liquid that another run has equilibrated, twice as long and wide, keeps its pressure, potential energy and
    temperature. They are the same at once and in the mean of the following steps."""
    file = liquid(tmp_path, dimensions, steps=2000 if dimensions == 2 else 500)
    sides = [2 * float(s) * 2.0**-40 for s in read(file)[3]]
    body = f"shape: box, lower: {[0] * dimensions}, upper: {sides}, fill: file, from: {{file: {file}}}"
    keys = dict(ranks=2, run__dt=0.004, run__steps=200, output__every=10)
    ok_run(tmp_path / "out", deck=deck_of(tmp_path, [body], sides), **keys)
    before, after = thermo(tmp_path / "liquid"), thermo(tmp_path / "out")
    for name, images in (("pressure", 1), ("kinetic", 2**dimensions), ("potential", 2**dimensions)):
        assert after[0][name] / images == pytest.approx(before[-1][name], rel=1e-6), name
    # Blocks of what has gone before say how much a mean of this length varies.
    for name in ("temperature", "pressure"):
        values = np.array([row[name] for row in before[len(before) // 2 :]])
        error, found = values.std() / np.sqrt(5), np.mean([row[name] for row in after])
        assert abs(found - values.mean()) < 4 * error, f"{name}: {found}, and {values.mean()} +- {error} before"

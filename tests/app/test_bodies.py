# SPDX-License-Identifier: MIT
"""Bodies: shapes filled by lattices or at random, one state whatever computes it, and what is refused of them."""
import os

import numpy as np
import pytest

from program import SOURCE, datasets, fails_with, ok, ok_run, one_state, run_words, state_of, written

DROPLET, SHELL = (os.path.join(SOURCE, "inputs", name) for name in ("droplet.yaml", "shell_3d.yaml"))
SMALL = {DROPLET: dict(run__steps=120), SHELL: dict(system__box="[26, 24, 24]", run__steps=60)}
SMALL[SHELL] |= {f"system__bodies__{i}__center": "[12, 12, 12]" for i in (0, 1)}
SMALL[SHELL] |= dict(system__bodies__0__radius=9, system__bodies__0__inner_radius=6, system__bodies__1__radius=6)
# Random places of several blocks, which ranks share.
WIDE = """system:
  box: [560, 15]
  boundary: [periodic, reflecting]
  bodies:
    - {shape: box, lower: [0, 0], upper: [560, 9], fill: random, density: 0.5, spacing: 0.9, temperature: 1, spin: 0.01}
    - {shape: box, lower: [0, 9], upper: [560, 15], fill: random, density: 0.3, spacing: 1, velocity: [0, -1]}
run: {dt: 0.002, steps: 60}
"""
BALANCED = dict(balance__every=20, balance__clock="work", balance__criterion="every")


@pytest.mark.group("bodies_one_hash")
@pytest.mark.parametrize("deck", [DROPLET, SHELL])
def test_one_hash(tmp_path, deck):
    """The state at the end does not depend on how it is computed, nor on a restart, which keeps the bodies."""
    ways = [dict(ranks=n) for n in (1, 2, 3, 4, 7)] + [dict(threads=2), dict(ranks=2, threads=2), dict(isa="avx2")]
    ways += [dict(grid__tile=4), dict(grid__skin=0.2)]
    ways += [dict(ranks=3, balance__partition__kind=kind, **BALANCED) for kind in ("rcb", "chain", "nested")]
    ways += [dict(ranks=n, accelerator__backend="host", accelerator__share=0.5) for n in (1, 2)]
    small, out = SMALL[deck], tmp_path / "restarted"
    state, half = one_state(deck, tmp_path, ways, **small), small["run__steps"] // 2
    assert state_of(deck, tmp_path / "seed", **small, system__seed=4) != state
    state_of(deck, out, 2, **small | dict(run__steps=half, checkpoint__every=half))
    words = run_words(out, deck=deck, restart="auto", **small, system__bodies__1__spacing=0.9)
    fails_with(3, "system.bodies.1.spacing differs", 0, *words)
    assert state_of(deck, out, 3, restart="auto", **small) == state
    assert state_of(out / "deck.yaml", tmp_path / "again", 2) == state, "the effective deck"


def test_shared_blocks(tmp_path):
    """Bodies so large that several ranks make their particles."""
    deck = written(tmp_path / "wide.yaml", WIDE)
    one_state(deck, tmp_path, [dict(ranks=2), dict(ranks=3), dict(ranks=4), dict(ranks=7), dict(threads=2)])


def test_a_box_is_a_slab(tmp_path):
    """A slab that is written as a body has the same state."""
    slab, hashes = "lower: [3, 4], upper: [22, 25], density: 0.8, temperature: 1, velocity: [3, 1]", set()
    for name, words in (("slabs", ""), ("bodies", "shape: box, ")):
        text = f"system: {{box: [40, 30], {name}: [{{{words}{slab}}}]}}\nrun: {{dt: 0.002, steps: 50}}\n"
        hashes.add(state_of(written(tmp_path / "deck.yaml", text), tmp_path / name, 2))
    assert len(hashes) == 1


def first_frame(tmp_path, body, dimensions):
    out, boundary = tmp_path / "out", ", ".join(["reflecting"] * dimensions)
    system = f"system: {{box: {[40.0] * dimensions}, boundary: [{boundary}], bodies: [{{{body}}}]}}\n"
    deck = written(tmp_path / "deck.yaml", system + "run: {dt: 1e-6, steps: 0}\noutput: {trajectory_every: 1}\n")
    ok_run(out, "--force", deck=deck, ranks=2)
    names = (f"particles/all/{name}/value" for name in ("position", "velocity"))
    return [a[0][:, :dimensions] for a in datasets(out / "trajectory.h5", *names).values()]


@pytest.mark.parametrize("fill", ["lattice", "random, spacing: 0.9"])
@pytest.mark.parametrize("dimensions", (2, 3))
def test_motion(tmp_path, fill, dimensions):
    """A cold body moves as the deck says, to the last quantum in the mean; a hot one has its temperature."""
    centre, drift = np.array([20.0, 18.0, 15.0])[:dimensions], np.array([1.5, -0.25, 2.0])[:dimensions]
    spin = np.array([0, 0, 0.3]) if dimensions == 2 else np.array([0.1, -0.2, 0.3])
    words = f"shape: ball, center: {list(centre)}, radius: 12, fill: {fill}, density: 0.5, velocity: {list(drift)}"
    x, v = first_frame(tmp_path, f"{words}, spin: {spin[2] if dimensions == 2 else list(spin)}", dimensions)
    assert abs(v.mean(axis=0) - drift).max() < 1e-6  # a frame holds single precision
    around = np.zeros((len(x), 3))
    around[:, :dimensions] = x - x.mean(axis=0)
    assert abs(v - drift - np.cross(spin, around)[:, :dimensions]).max() < 1e-5
    # The angular momentum of a rigid body: from that of its particles, spin comes out.
    relative = np.zeros((len(x), 3))
    relative[:, :dimensions] = v - drift
    momentum = np.cross(around, relative).sum(axis=0)
    inertia = (around**2).sum() * np.eye(3) - around.T @ around
    assert np.allclose(np.linalg.solve(inertia, momentum), spin, atol=1e-6)

    x, v = first_frame(tmp_path, f"{words}, temperature: 2.5", dimensions)
    assert abs(v.mean(axis=0) - drift).max() < 1e-6
    error = 2.5 * np.sqrt(2 / v.size)
    assert abs((v - drift).var() - 2.5) < 4 * error


GAS = "shape: box, lower: [1, 1], upper: [38, 38], fill: random, density: 0.4"
BALL = "shape: ball, center: [20, 20], radius: 5"


def profile(words):
    return f"{GAS}, spacing: 0.7, profile: {{{words}}}"


RANDOM = f"{BALL}, fill: random"
FLAT = "shape: box, lower: [0, 0], upper: [40, 1.0e-12], fill: random, particles: 1000, spacing: 0"
THIN = "shape: shell, center: [20, 20], radius: 18, inner_radius: 17.9999999, fill: random, particles: 9, spacing: 0"
SMALL_SHELL = "shape: shell, center: [5, 14.5], radius: 0.83, inner_radius: 0.47"
NEAR = "shape: ball, center: [10, 10], radius: 4.31}, {shape: ball, center: [18.7, 10], radius: 4.31"
OVERLAP = "shape: ball, center: [10, 10], radius: 5}, {shape: box, lower: [12, 12], upper: [20, 20]"
REFUSED = [
    ("shape: ball, center: [20, 20], radius: 25", r"body 0 begins outside the box, at x = -5; move its center"),
    ("shape: ball, radius: 5", r"system.bodies.0.center is missing; give it, as in center"),
    (f"{BALL}, lower: [1, 1]", r"bodies.0.lower is no key of a ball; remove it"),
    ("shape: cylinder, center: [20, 20], radius: 5, length: 4", r"a cylinder needs three dimensions; write ball"),
    ("shape: shell, center: [20, 20], radius: 5, inner_radius: 5", r"the hole of body 0 is as wide as its radius, 5;"),
    (f"{BALL}, spin: [1, 0, 0]", r"in two dimensions a body turns about z alone;"),
    (
        "shape: ball, center: [20, 20], radius: 15, spin: 900000",
        r"particles of body 0 have speeds up to 1.35e\+07; use",
    ),
    (FLAT, r"body 0 has a volume of 4e-11 for them; make it wider"),
    (THIN, r"body 0 is so wide and thin that .* places are looked through for its particles; make it thicker"),
    (f"{BALL}, spin: 400000", r"particles of body 0 cross a cell of 2.5 in one step"),
    (f"{BALL}, spacing: 1", r"spacing is no key of fill: lattice; remove it, or write"),
    (RANDOM, r"spacing is missing; give the smallest distance"),
    (f"{RANDOM}, particles: 9, density: 1, spacing: 1", r"density beside particles; remove it"),
    (f"{RANDOM}, density: 0.9, spacing: 1", r"its density times the spacing\^2 is 0.9, .* up to 0.5; .* at most 0.745"),
    (f"{RANDOM}, density: 0.001, spacing: 1", r"body 0 has no particle; use a higher density, or give particles"),
    (f"{SMALL_SHELL}, density: 0.8", r"body 0 has no particle; use a higher density$"),
    (f"{BALL}}}, {{{SMALL_SHELL}", r"body 1 has no particle; use a higher density$"),
    (
        f"{RANDOM}, density: 1, spacing: 0.1",
        r"^system.bodies.0.spacing: .* may be 0.1 apart, and forces are exact from",
    ),
    (profile("kind: linear, ends: [0, 0]"), r"body 0 has a density of 0 at both ends; give one of them that"),
    (profile("kind: linear, ends: [-1, 0]"), r"profile.ends.0 is -1; use a number from 0 to 1000000"),
    (profile("kind: linear, axis: z"), r"a box of two dimensions has no axis z; write x or y"),
    (profile("kind: linear, ratio: 2"), r"profile.ratio is no key of kind: linear; remove it, or write kind"),
    (profile("kind: geometric, ratio: 0"), r"profile.ratio is 0; use a number above 0 and at most 1000"),
    (profile("kind: geometric, ratio: 1.0e-30"), r"body 0 is .* times as dense somewhere .*, more than 1000; use a"),
    (profile("kind: cubic"), r"profile.kind can't be 'cubic'; use one of uniform, linear, geometric, sinus"),
    (f"{GAS}, spacing: 0.9, profile: {{kind: sinusoidal}}", r"its largest density times the spacing\^2 is 0.6.*up to"),
    (f"{BALL}, profile: {{kind: linear}}", r"profile is no key of fill: lattice; remove it, or write fill: random"),
    (OVERLAP, r"body 1 overlaps body 0; move or shrink one of them"),
    (NEAR, r"^system.bodies.1: .* body 0 and body 1 are 0.103 apart at \[14.29.*; leave a gap of 1.1 between"),
]


@pytest.mark.group("bodies_starts")
@pytest.mark.parametrize("ranks", (0, 2))
@pytest.mark.parametrize("body, what", REFUSED)
def test_refused(tmp_path, ranks, body, what):
    text = f"system: {{box: [40, 40], bodies: [{{{body}}}]}}\nrun: {{dt: 0.001, steps: 10}}\n"
    deck = written(tmp_path / "deck.yaml", text)
    fails_with(2, (), ranks, "check", deck, matches=what)


@pytest.mark.group("bodies_starts")
def test_crowd(tmp_path):
    """Small soft particles are refused by the density where the profile is largest, twice the mean."""
    deck = tmp_path / "deck.yaml"
    deck.write_text(
        "system:\n  box: [40, 40]\n  potential: {kind: soft_sphere, sigma: 0.02, cutoff: 2.5}\n"
        "  bodies: [{shape: box, lower: [0, 0], upper: [40, 40], fill: random, density: 200, spacing: 0.02,\n"
        "    profile: {kind: linear, ends: [0, 1]}}]\nrun: {dt: 0.001, steps: 10}\n"
    )
    what = (
        r"density: 200 puts 1e\+05 particles into the 5 columns of cells around one, more than 65535; use at most 131"
    )
    fails_with(2, (), 0, "check", deck, matches=what)


def test_full(tmp_path):
    """Particles that `check` cannot tell from those that fit: another body keeps most places."""
    deck = written(
        tmp_path / "deck.yaml",
        "system:\n  box: [40, 40]\n  slabs: [{lower: [1, 1], upper: [39, 20], density: 0.8}]\n"
        "  bodies: [{shape: box, lower: [1, 20], upper: [39, 20.6], fill: random, particles: 9, spacing: 1.1}]\n"
        "run: {dt: 0.001, steps: 10}\n",
    )
    ok(0, "check", deck)
    says = "system.bodies.0.spacing: 0 of 9 particles have found a place at this spacing; use a smaller"
    for ranks in (0, 3):
        fails_with(2, says, ranks, *run_words(tmp_path / "out", deck=deck))

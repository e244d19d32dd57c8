# SPDX-License-Identifier: MIT
"""The files of a run, read by h5py and, with --full, by MDAnalysis."""
import h5py
import numpy as np
import pytest

from program import COLLISIONS, ok_run, options, rows

pytestmark = pytest.mark.group("readers")


@pytest.fixture(scope="module", params=(2, 3))
def results(request, tmp_path_factory):
    """A collision and the directory of its run."""
    out, collision = tmp_path_factory.mktemp("readers") / "out", COLLISIONS[request.param]
    keys = collision.small | dict(
        run__steps=40,
        checkpoint__every=40,
        output__trajectory_every=40,
        output__trajectory_columns="[force, position]",
        output__fields_every=40,
        balance__every=10,
        balance__clock="work",
        balance__processes=12,
        balance__model="particle_count",
        balance__migrate="always",
    )
    ok_run(out, deck=collision.deck, ranks=3, **keys)
    return collision, out


@pytest.fixture
def state(results):
    """Ids, positions and velocities of the checkpoint, from its exact numbers."""
    collision, out = results
    d = len(collision.box)
    with h5py.File(out / "checkpoint_40.h5") as f:
        ids, exact = f["exact/id"][:], f["exact/state"][:]
    return ids, exact[:, :d] * 2.0**-40, exact[:, d:] * 2.0**-40


def test_checkpoint(results, state):
    collision, out = results
    ids, x, v = state
    d = len(collision.box)
    with h5py.File(out / "checkpoint_40.h5") as f:
        g = f["particles/all"]
        assert np.array_equal(np.sort(ids), np.arange(len(ids))) and np.array_equal(g["id/value"][0], ids)
        for name, exact in (("position", x), ("velocity", v)):
            values = g[f"{name}/value"][0]
            assert np.array_equal(values[:, :d], exact) and not values[:, d:].any(), name
        assert (x >= 0).all() and (x < collision.box).all() and np.ptp(x, axis=0).min() > 10
        assert np.array_equal(np.diag(g["box/edges/value"][0])[:d], collision.box) and g["box"].attrs["dimension"] == 3
        assert g["position/step"][0] == 40 and abs(g["position/time"][0] - 40 * collision.dt) < 1e-15
        assert list(f["h5md"].attrs["version"]) == [1, 1]
    kinetic = float(rows(out).splitlines()[-1].split(",")[3])
    assert kinetic == pytest.approx(0.5 * (v**2).sum(), rel=1e-6)


def test_trajectory(results, state):
    """A frame holds the checkpoint's state; forces cancel exactly; columns that were not asked for are missing."""
    collision, out = results
    ids, x, _ = state
    with h5py.File(out / "trajectory.h5") as f:
        g = f["particles/all"]
        assert np.array_equal(x[np.argsort(ids)], g["position/value"][1][:, : len(collision.box)])
        assert np.abs(g["force/value"][1].sum(axis=0)).max() == 0 and "velocity" not in g


def test_fields(results, state):
    collision, out = results
    _, x, _ = state
    with h5py.File(out / "fields_40.h5") as f:
        particles, load, owner = (f[name][:] for name in ("particles", "load", "owner"))
    count, _ = np.histogramdd(x, bins=collision.cells, range=[(0, side) for side in collision.box])
    assert particles.shape == tuple(collision.cells[::-1]) and np.array_equal(count.T, particles)
    assert np.allclose(load, particles, rtol=1e-9, atol=1e-9), "the load by the particle count"
    assert set(np.unique(owner)) == set(range(12))


@pytest.mark.skipif(not options.full, reason="only with --full")
def test_mdanalysis(results, state):
    import MDAnalysis

    collision, out = results
    ids, x, v = state
    d = len(collision.box)
    universe = MDAnalysis.Universe.empty(len(ids))
    universe.load_new(str(out / "checkpoint_40.h5"), format="H5MD")
    frame = universe.trajectory[0]
    assert np.array_equal(frame.positions[:, :d], x.astype("f4")) and not frame.positions[:, d:].any()
    assert np.array_equal(frame.velocities[:, :d], v.astype("f4")) and not frame.velocities[:, d:].any()
    assert abs(frame.time - 40 * collision.dt) < 1e-15 and frame.data["step"] == 40
    assert np.array_equal(frame.dimensions[:d], collision.box)

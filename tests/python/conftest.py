# SPDX-License-Identifier: MIT
"""The package as it was built, and load series for its tests."""
import os
import sys

import numpy as np
import pytest

import program

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(program.options.binary)), "python"))
pytest.importorskip("steelyard._core", reason="the Python package is not built")

SHAPES = {2: (10, 16, 20), 3: (8, 4, 6, 8)}


class Series:
    """Particles in a cloud that moves, with loads that follow them only roughly."""

    def __init__(self, dimensions):
        random, shape = np.random.default_rng(dimensions), SHAPES[dimensions]
        at = np.meshgrid(*map(np.arange, shape), indexing="ij")
        away = sum((x - 0.3 * n - 0.03 * n * at[0] / len(shape)) ** 2 / n for x, n in zip(at[1:], shape[1:]))
        self.particles = random.poisson(30 * np.exp(-away))
        self.load = 1e-6 * (0.2 + self.particles) * (1 + 0.5 * random.random(shape))
        self.counts = dict(particles=self.particles, particles_ahead=np.roll(self.particles, -1, axis=0))
        self.bytes = 9.7 * self.particles**2
        self.step = 5 * np.arange(shape[0])
        self.boundary = ["periodic", "wall", "periodic"][:dimensions]

    def write(self, path, particles=True):
        counts = self.counts if particles else {"bytes": self.bytes}
        return program.write_datasets(path, dict(boundary=self.boundary), load=self.load, step=self.step, **counts)

    def arrays(self, particles=True):
        counts = self.counts if particles else {"bytes": self.bytes}
        return dict(load=self.load, step=self.step, boundary=self.boundary, **counts)


@pytest.fixture(params=[2, 3])
def series(request):
    return Series(request.param)

# SPDX-License-Identifier: MIT
"""A load model of one's own: a cell has the mean time of the processes that had it, the last ones most."""
import numpy as np
import steelyard

t, y, x = np.meshgrid(np.arange(60), np.arange(48), np.arange(64), indexing="ij")
load = 1e-6 * (1 + 50 * np.exp(-((x - 10 - 0.7 * t) ** 2 + (y - 24) ** 2) / 60))  # a hot spot that moves along x


class Smoothed:
    load = 0

    def update(self, times, counts, owner):
        of_cell = times / np.bincount(owner.ravel(), minlength=len(times))
        self.load = 0.3 * self.load + 0.7 * of_cell[owner]
        return self.load


print(steelyard.replay(load, 24, model=Smoothed, compare=["a1", "moving_average", "exact"]))

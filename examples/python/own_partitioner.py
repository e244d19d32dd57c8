# SPDX-License-Identifier: MIT
"""A partitioner of one's own: whole columns of cells, about as much load for each process."""
import numpy as np
import steelyard

t, y, x = np.meshgrid(np.arange(60), np.arange(48), np.arange(64), indexing="ij")
load = 1e-6 * (1 + 50 * np.exp(-((x - 10 - 0.7 * t) ** 2 + (y - 24) ** 2) / 60))  # a hot spot that moves along x


def columns(load, parts, owner):
    column = load.sum(axis=0) / load.sum()
    return np.broadcast_to((parts * (np.cumsum(column) - column / 2)).astype(int), load.shape)


others = [dict(model="a1", partition=kind) for kind in ("rcb", "chain", "none")]
print(steelyard.replay(load, 24, model="a1", partition=columns, compare=others))

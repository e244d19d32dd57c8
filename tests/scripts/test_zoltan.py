# SPDX-License-Identifier: MIT
"""Partitions by Zoltan, for bench/partitioners.py. The program is there where that script was run, with Zoltan."""
import os
import subprocess

import numpy as np
import pytest

from program import SOURCE, built

PROGRAM = "build-zoltan/zoltan_parts"
pytestmark = built(PROGRAM, page="scripts/bench/partitioners.py")


def figures(method, parts, loads, periodic):
    """LBE_m, ghost cells and moved cells of each moment after the first. loads: [time, x, y, z]."""
    words = [os.path.join(SOURCE, PROGRAM), method, parts, *loads.shape[1:], periodic]
    done = subprocess.run([str(w) for w in words], input=loads.astype(np.int64).tobytes(), capture_output=True)
    assert done.returncode == 0, done.stderr
    return [[float(word) for word in line.split()[:3]] for line in done.stdout.decode().splitlines()]


@pytest.mark.parametrize("method", ["RCB", "HSFC", "HYPERGRAPH"])
@pytest.mark.parametrize("cells, periodic", [((48, 24, 1), "110"), ((16, 8, 8), "000")])
def test_partitions(method, cells, periodic):
    """Parts are balanced, have at least the ghost cells of the best boxes, and stay where loads stay."""
    even = np.full((3, *cells), 1000)
    halves = figures(method, 2, even, periodic)
    cut = cells[1] * cells[2] * 2 * (2 if periodic[0] == "1" else 1)
    assert len(halves) == 2 and all(lbe > 0.99 and ghosts >= cut for lbe, ghosts, _ in halves), halves
    assert method == "HSFC" or halves[0][1] < 1.5 * cut, halves
    loads = np.random.default_rng(1).integers(1, 1000, (1, *cells)).repeat(2, axis=0)
    ((lbe, ghosts, moved),) = figures(method, 8, loads, periodic)
    assert lbe > 0.95 and ghosts > cut and (moved == 0 or method == "HYPERGRAPH"), (lbe, ghosts, moved)
    assert figures(method, 1, loads, periodic) == [[1, 0, 0]]

# SPDX-License-Identifier: MIT
"""Boxes, tiles and zones of any length: one state whatever computes it, and the energy of a double loop."""
import numpy as np
import pytest

from program import datasets, instruction_sets, state_of, thermo, written

# Positions are integers of 2^-40 lengths, and 2048 lengths are 2^51 of them, as far as vectors without AVX-512 convert.
EXTENDED = """
system: {{box: {box}, boundary: {boundary}, potential: {{sigma: {sigma}, cutoff: {cutoff}}}, slabs: [{slabs}]}}
run: {{dt: {dt}, steps: 16}}
grid: {{cell: {cell}}}
output: {{every: 8, trajectory_every: 16, trajectory_columns: [position]}}
balance: {{clock: work}}
"""
LONG_TILES = dict(grid__tile=512)
# The border moves down from the upper end of the zone, and what leaves the zone is sorted in one tile.
ZONES = dict(accelerator__backend="host", accelerator__share=0.95, accelerator__speed=1)
WAYS = [dict(grid__tile=4), LONG_TILES, LONG_TILES, LONG_TILES | ZONES]


class Case:
    """A box with one axis that is longest, and slabs at both ends of it and around 2048 lengths, or full of particles.
    Along the other axes slabs lie at the upper end."""

    def __init__(self, box, cell, sigma=1, full=False):
        self.box, self.cutoff = np.array(box, float), 2.5 * sigma
        axis, length = int(np.argmax(self.box)), max(box)
        self.periodic = (self.box >= 2 * cell) & (np.arange(len(box)) != (axis + 1) % len(box))
        boundary = "[" + ", ".join("periodic" if p else "reflecting" for p in self.periodic) + "]"
        self.values = dict(box=list(box), boundary=boundary, cell=cell, sigma=sigma, cutoff=self.cutoff)
        width, ends = 12 * sigma, []
        for begin in [sigma, 2044, length - width - sigma] if not full and length > 3 * width else []:
            if begin > (ends[-1][1] if ends else 0) and begin + width < length:
                ends.append((begin, begin + width))
        self.slabs = []
        for begin, end in ends or [(sigma, length - sigma)]:
            upper = self.box - sigma
            lower = np.maximum(upper - (2 if full else 5) * sigma, sigma)
            lower[axis], upper[axis] = begin, end
            density = (0.3 if full else 0.6) / sigma ** len(box)
            self.slabs.append(
                f"{{lower: {lower.tolist()}, upper: {upper.tolist()}, density: {density}, temperature: 1}}"
            )

    def write(self, path):
        dt = 0.002 * self.values["sigma"]
        return written(path, EXTENDED.format(slabs=", ".join(self.slabs), dt=dt, **self.values))

    def energy(self, at):
        """By a loop over all pairs: Lennard-Jones, 0 at the cutoff."""
        d = at[:, None] - at
        d -= np.where(self.periodic, self.box * np.round(d / self.box), 0)
        s = self.values["sigma"] ** 2 / np.maximum((d**2).sum(axis=2)[np.triu_indices(len(at), 1)], 1e-300)
        s = s[s > 0.4**2]  # the cutoff is 2.5 sigma
        return float((4 * (s**6 - s**3) - 4 * (0.4**12 - 0.4**6)).sum())


CASES = {
    "2D, as short as may be, and 1000": Case([7.5, 1000], 2.5),
    "2D, 1000 and 2048": Case([1000, 2048], 10),
    "2D, 2049 and a cell": Case([2049, 6], 3),
    "2D, 2300, full": Case([2300, 6], 2.5, full=True),
    "2D, a cell and 10^5": Case([10, 1e5], 10),
    "2D, 2^20 and a cell": Case([2**20, 10], 10),
    "2D, cells of 0.0025": Case([1, 0.0075], 0.0025, 0.001),
    "3D, as short as may be": Case([9, 6, 6], 3),
    "3D, 2048 and 1000": Case([10, 2048, 1000], 10),
    "3D, 2049": Case([6, 6, 2049], 3),
    "3D, 10^4": Case([1e4, 10, 10], 10),
    "3D, 10^5": Case([10, 1e5, 10], 10),
    "3D, 2^20": Case([10, 10, 2**20], 10),
}


@pytest.mark.parametrize("name", CASES)
def test_extents(tmp_path, name):
    """All ways to compute a box give one state, with every instruction set, and the energy of a loop over pairs."""
    case = CASES[name]
    deck = case.write(tmp_path / "deck.yaml")
    sets = instruction_sets()
    states, turn = {}, list(CASES).index(name)
    for i, keys in enumerate(WAYS):
        ranks = 3 if i == 2 + turn % 2 else 0
        isa = sets[(i + turn // 2) % len(sets)]  # each way with each set, on one rank and on three
        states[f"{isa}, {ranks or 1} ranks, {keys}"] = state_of(deck, tmp_path / str(i), ranks, isa=isa, **keys)
    assert len(set(states.values())) == 1, states
    (at,) = datasets(tmp_path / "0/trajectory.h5", "particles/all/position/value").values()
    at, found = at[0][:, : len(case.box)], thermo(tmp_path / "0")[0]["potential"]
    assert found < 0 and found == pytest.approx(case.energy(at), rel=1e-6 + 1e-7 / case.values["sigma"])

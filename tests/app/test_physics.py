# SPDX-License-Identifier: MIT
"""Pressure and energy of the Lennard-Jones fluid in three dimensions, truncated and shifted at 2.5 sigma, beside the
equation of state of M. Thol, G. Rutkai, R. Span, J. Vrabec and R. Lustig, Int. J. Thermophys. 36, 25-43, 2015."""
import os
from math import exp, sqrt
from statistics import mean, stdev

import pytest

from program import SOURCE, ok_run, options, thermo

# Table 1 of the article, as two programs have it: that of its authors and that of M. P. Allen and D. J. Tildesley
# (Computer Simulation of Liquids, 2nd ed., 2017). The residual Helmholtz energy of a particle over kT is the sum of
# n tau^t delta^d exp(-delta^l - eta (delta - epsilon)^2 - beta (tau - gamma)^2).
# Here tau = 1.086 / T and delta = rho / 0.319. If l is 0, the term has no delta^l.
CRITICAL = {"temperature": 1.086, "density": 0.319, "pressure": 0.101}
TERMS = [  # n, t, d, l, eta, beta, gamma, epsilon
    (0.015606084, 1.0, 4, 0, 0, 0, 0, 0),
    (1.7917527, 0.304, 1, 0, 0, 0, 0, 0),
    (-1.9613228, 0.583, 1, 0, 0, 0, 0, 0),
    (1.3045604, 0.662, 2, 0, 0, 0, 0, 0),
    (-1.8117673, 0.870, 2, 0, 0, 0, 0, 0),
    (0.15483997, 0.870, 3, 0, 0, 0, 0, 0),
    (-0.094885204, 1.250, 5, 1, 0, 0, 0, 0),
    (-0.20092412, 3.0, 2, 2, 0, 0, 0, 0),
    (0.11639644, 1.7, 2, 1, 0, 0, 0, 0),
    (-0.50607364, 2.4, 3, 2, 0, 0, 0, 0),
    (-0.58422807, 1.96, 1, 2, 0, 0, 0, 0),
    (-0.47510982, 1.286, 1, 1, 0, 0, 0, 0),
    (0.0094333106, 3.6, 1, 0, 4.7, 20, 1.0, 0.55),
    (0.30444628, 2.08, 1, 0, 1.92, 0.77, 0.5, 0.7),
    (-0.0010820946, 5.24, 2, 0, 2.7, 0.5, 0.8, 2.0),
    (-0.099693391, 0.96, 3, 0, 1.49, 0.8, 1.5, 1.14),
    (0.0091193522, 1.36, 3, 0, 0.65, 0.4, 0.7, 1.2),
    (0.12970543, 1.655, 2, 0, 1.73, 0.43, 1.6, 1.31),
    (0.02303603, 0.9, 1, 0, 3.7, 8.0, 1.3, 1.14),
    (-0.082671073, 0.86, 2, 0, 1.9, 3.3, 0.6, 0.53),
    (-2.2497821, 3.95, 3, 0, 13.2, 114.0, 1.3, 0.96),
]
# Errors of the equation itself: in the pressure, over rho T, and in the potential energy, relative. They are more than
# twice the differences of other programs from it (docs/performance.md, "The fluid of the literature").
PRESSURE_ERROR, ENERGY_ERROR = 0.005, 0.001
# Density, and the temperature of the lattice from which the fluid melts. Runs keep their energy, so the fluid's
# temperature is what they measure; names say roughly what it comes to.
POINTS = {
    "liquid, T 0.8": (0.8, 1.5),
    "liquid, T 1.0": (0.7, 1.48),
    "dense, T 1.5": (0.6, 1.77),
    "dense, T 2.0": (0.8, 3.27),
    "gas, T 2.0": (0.2, 1.52),
}
BLOCKS = 20


def equation_of_state(temperature, density):
    """Pressure, and potential energy of a particle."""
    tau, delta = CRITICAL["temperature"] / temperature, density / CRITICAL["density"]
    by_tau = by_delta = 0  # derivatives of the sum, times tau and delta
    for n, t, d, l, eta, beta, gamma, epsilon in TERMS:
        power = delta**l if l else 0
        term = n * tau**t * delta**d * exp(-power - eta * (delta - epsilon) ** 2 - beta * (tau - gamma) ** 2)
        by_tau += term * (t - 2 * beta * tau * (tau - gamma))
        by_delta += term * (d - l * power - 2 * eta * delta * (delta - epsilon))
    return density * temperature * (1 + by_delta), temperature * by_tau


def test_equation_of_state():
    """The table above gives published values: the critical point, and what Allen and Tildesley's guide says of a liquid
    (kinetic energy included)."""
    pressure, energy = equation_of_state(1.0, 0.75)
    assert abs(pressure - 0.9897) < 1e-4 and abs(energy + 1.5 + 2.9286) < 1e-4, f"{pressure} {energy}"
    critical = [equation_of_state(1.086, 0.319 + d)[0] for d in (-0.005, 0, 0.005)]
    assert round(critical[1], 3) == CRITICAL["pressure"], f"{critical}"
    assert max(critical) - min(critical) < 1e-6, f"not flat at the critical point: {critical}"


def blocks(rows, name):
    """Means of the blocks into which the rows after the first quarter, in which the lattice melts, are cut."""
    values = [r[name] for r in rows[len(rows) // 4 :]]
    size = len(values) // BLOCKS
    return [mean(values[i * size : (i + 1) * size]) for i in range(BLOCKS)]


@pytest.mark.group("state_points")
@pytest.mark.parametrize("point", POINTS)
def test_state_points(tmp_path, point):
    """Pressure and potential energy are those of the equation at the run's density and mean temperature, within four
    standard errors and what the equation may be wrong by."""
    density, start = POINTS[point]
    cells, steps = (12, 16000) if options.full else (8, 8000)
    slab = dict(cells=[cells] * 3, density=density, temperature=start)
    keys = {f"system__slabs__0__{k}": v for k, v in slab.items()} | dict(system__potential__shift="energy")
    # With longer steps the kinetic temperature is not quite that of the positions.
    keys |= dict(run__dt=0.002, run__steps=steps, output__every=10)
    ok_run(tmp_path / "out", deck=os.path.join(SOURCE, "inputs/melt.yaml"), **keys)
    rows = thermo(tmp_path / "out")
    temperatures = blocks(rows, "temperature")
    temperature, wanted = mean(temperatures), [equation_of_state(t, density) for t in temperatures]
    assert abs(temperature - float(point.split()[-1])) < 0.05, f"{point}: the temperature is {temperature}"
    found = {"pressure": blocks(rows, "pressure"), "energy": [p / 4 / cells**3 for p in blocks(rows, "potential")]}
    allowed = {"pressure": PRESSURE_ERROR * density * temperature, "energy": ENERGY_ERROR * mean(-w[1] for w in wanted)}
    for i, name in enumerate(found):
        # Each block is compared at its own temperature: temperature and energy swing against each other.
        difference = [f - w[i] for f, w in zip(found[name], wanted)]
        error = stdev(difference) / sqrt(BLOCKS)
        bound = 4 * error + allowed[name]
        print(
            f"{point}: T {temperature:.4f}, density {density}, {name} {mean(found[name]):.4f}, of the equation "
            f"{mean(w[i] for w in wanted):.4f}, difference {mean(difference):.4f} +- {error:.4f}, at most {bound:.4f}"
        )
        assert abs(mean(difference)) <= bound, f"{point}: {name} is off by {mean(difference)}, more than {bound}"

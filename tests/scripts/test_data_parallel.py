# SPDX-License-Identifier: MIT
"""The model of Shu et al. (2000), scripts/reproduce/data_parallel.py: its equations, limits and printed tables."""
import random

import pytest

import data_parallel as model
from data_parallel import Program, seconds, square, strip

OVERLAPS = ("nothing", "links", "compute", "hardware")


def random_cases(count, seed):
    chance = random.Random(seed)
    up_to = lambda most: most ** chance.random()  # noqa: E731
    for _ in range(count):
        P = int(up_to(64))
        serial = int(up_to(1000))
        program = Program(
            1e-9 * up_to(1000), 1e-9 * up_to(1000), 1e-6 * up_to(100), serial, serial * up_to(3), up_to(20)
        )
        yield P * int(up_to(500)), P, int(up_to(5)), program


@pytest.mark.parametrize("case", random_cases(100, 1))
def test_limits(case):
    for name, near, formula in model.limits(*case):
        assert near == pytest.approx(formula, rel=1e-6), name


@pytest.mark.parametrize("case", random_cases(200, 2))
def test_overlap_never_takes_longer(case):
    D, P, e, program = case
    for part in (square(D, P, e), strip(D, D, P, e)):
        times = [seconds(part, program, o) for o in OVERLAPS]
        assert all(a >= b * (1 - 1e-12) for a, b in zip(times, times[1:]))


@pytest.mark.parametrize("case", random_cases(100, 3))
def test_speed_up_falls(case):
    D, P, e, program = case
    now = model.speed_up(D, P, e, program)
    assert model.speed_up(D, P, e + 1, program) < now
    for name in ("transfer", "start", "parallel", "inner"):
        assert model.speed_up(D, P, e, program._replace(**{name: 1.1 * getattr(program, name)})) < now


@pytest.mark.parametrize("transfer", [2e-8, 1e-5])
def test_times_of_section_2_1(transfer):
    """T, T1, T2 and T3 written out, where computing and where the transfer takes longer."""
    n, e, calculate, start = 100, 2, 1e-8, 1e-6
    link, inner, points = e * n * transfer, (n - 2 * e) ** 2 * calculate, n * n * calculate
    times = (8 * link + 8 * start + points, link + 8 * start + points,
             8 * start + max(link, inner) + points - inner, points)  # fmt: skip
    part = square(1000, 10, e)
    assert [seconds(part, Program(calculate, transfer, start), o) for o in OVERLAPS] == pytest.approx(times)


def test_one_subdomain():
    alone = strip(50, 850, 1, 2)
    assert (alone.points, alone.inner, alone.messages) == (42500, 42500, 0)
    assert square(10, 5, 3).inner == 0


def test_printed_tables():
    """Speed-ups and seconds that the paper prints; the maximum is at 5 subdomains."""
    serial = model.sequential_seconds(model.COLUMNS * model.HEIGHT, Program(model.POINT))
    for parts, speed_up in {2: 1.32, 3: 1.79, 4: 2.32, 5: 3.07, 6: 2.81, 7: 2.11}.items():
        assert serial / model.reservoir(parts) == pytest.approx(speed_up, abs=0.01)
    assert min(model.PRINTED, key=model.reservoir) == 5
    for overlap, printed in model.PRINTED_BY_OVERLAP.items():
        assert model.reservoir(2, overlap) == pytest.approx(printed, rel=2e-3)

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The model of Shu et al. (2000) for an iterative program whose domain is cut into subdomains, and its three tables.

Table 1: limits of the speed-up, eq. (5). Tables 2 and 3: the reservoir simulation, cut into strips of columns, by the
number of subdomains and by the width of their overlap.

The functions predict any such program: square() or strip() gives a subdomain, seconds() the time of a run on it.
docs/prediction.md says what the paper prints and what is fitted.
"""
from math import ceil, inf
from typing import NamedTuple

from common import parser_of


class Subdomain(NamedTuple):
    """The largest subdomain in one iteration."""

    points: float  # points that it computes
    inner: float  # of these, points that need no values of other subdomains
    transferred: float  # points over all its links, in both directions
    one_link: float  # points over one link in one direction
    messages: int  # messages that it sends and receives


class Program(NamedTuple):
    """Seconds of a point (calculate), of its transfer, of the start of a message; and iterations I_1, I_p, I_m."""

    calculate: float
    transfer: float = 0.0
    start: float = 0.0
    serial: float = 1.0
    parallel: float = 1.0
    inner: float = 1.0


def square(D, P, e):
    """One of P x P squares of D x D points. The neighbours need its outer e points. 8 messages, for P = 1 too."""
    n = D / P
    return Subdomain(n * n, max(0.0, n - 2 * e) ** 2, 8 * e * n, e * n, 8)


def strip(columns, height, parts, overlap):
    """The widest of `parts` strips. Neighbouring strips share `overlap` columns of `height` points (Schwarz)."""
    width, neighbours = ceil((columns + overlap * (parts - 1)) / parts), min(2, parts - 1)
    inner, shared = max(0, width - neighbours * overlap), neighbours * overlap
    return Subdomain(width * height, inner * height, 2 * shared * height, min(1, neighbours) * overlap * height,
                     2 * neighbours)  # fmt: skip


def sequential_seconds(points, program):
    """Eq. (2)."""
    return program.serial * points * program.calculate


def seconds(part, program, overlapped="nothing"):
    """Eq. (3) for "nothing"; T1, T2, T3 of section 2.1 for "links", "compute", "hardware".

    Each of them takes no longer than the one before.
    """
    start, link = part.messages * program.start, part.one_link * program.transfer
    everything, inner = (program.inner * n * program.calculate for n in (part.points, part.inner))
    iteration = {
        "nothing": part.transferred * program.transfer + start + everything,
        "links": link + start + everything,
        "compute": start + max(link, inner) + (everything - inner),
        "hardware": everything,
    }
    return program.parallel * iteration[overlapped]


def speed_up(D, P, e, program):
    """Eq. (5), by eqs. (2) and (3)."""
    return sequential_seconds(D * D, program) / seconds(square(D, P, e), program)


def limits(D, P, e, p):
    """Table 1: rows of (limit, speed-up near it, formula). The formula of I_m has the factor that the paper lacks."""
    a, b, one, many = p.transfer / p.calculate, p.start / p.calculate, p.serial, p.parallel
    total = many * p.inner
    return [
        ("D -> infinity", speed_up(1e15, P, e, p), one * P**2 / total),
        ("alpha -> 0", speed_up(D, P, e, p._replace(transfer=0)),
         one * D**2 * P**2 / (8 * many * P**2 * b + total * D**2)),
        ("beta -> 0", speed_up(D, P, e, p._replace(start=0)), one * D * P**2 / (8 * e * many * P * a + total * D)),
        ("P -> D", speed_up(D, D, e, p), one * D**2 / (many * (8 * e * a + 8 * b) + total)),
        ("I_p -> D^2", speed_up(D, P, e, p._replace(parallel=D**2)),
         one * P**2 / (8 * e * D * P * a + 8 * P**2 * b + D**2 * p.inner)),
        ("I_m -> D^2 / P^2", speed_up(D, P, e, p._replace(inner=D**2 / P**2)),
         one * D**2 * P**4 / (many * (8 * e * D * P**3 * a + 8 * P**4 * b + D**4))),
        ("e -> 1", speed_up(D, P, 1, p),
         one * D**2 * P**2 / (many * (8 * D * P * a + 8 * P**2 * b) + total * D**2)),
    ]  # fmt: skip


# The reservoir: 170 x 50 x 5 points, cut along the axis of 50 columns. The paper prints times, but neither t_calc,
# t_comm, t_s nor iterations. t_calc is fitted to the printed speed-ups times the printed times, with I_1 = 1. I_p is
# fitted so that eq. (3) without communication gives the printed times. So these tables do not test the model.
COLUMNS, HEIGHT, POINT = 50, 850, 8.4588e-4
ITERATIONS = {2: 1.399, 3: 1.396, 4: 1.347, 5: 1.163, 6: 1.482, 7: 2.155}  # I_p by subdomains
BY_OVERLAP = {1: 1.156, 2: 0.929, 4: 1, 8: 1.051}  # factor of I_p of two subdomains
PRINTED = {2: 27.16, 3: 20.08, 4: 15.50, 5: 11.71, 6: 12.79, 7: 17.04}  # table 2, seconds
PRINTED_BY_OVERLAP = {1: 30.23, 2: 24.29, 4: 27.16, 8: 30.66}  # table 3, seconds


def reservoir(parts, overlap=4):
    """Seconds of the reservoir on so many subdomains."""
    iterations = ITERATIONS[parts] * (BY_OVERLAP[overlap] if parts == 2 else 1)
    return seconds(strip(COLUMNS, HEIGHT, parts, overlap), Program(POINT, parallel=iterations))


def main():
    parser_of(__doc__).parse_args()
    case = "D = 1000, P = 10, e = 2, alpha = 2, beta = 100"
    print(f"table 1: speed-up near each limit, and by the limit's formula ({case})")
    for name, near, formula in limits(1000, 10, 2, Program(1e-8, 2e-8, 1e-6, 100, 150, 3)):
        print(f"  {name:<18}{near:12.6g}{formula:12.6g}")
    serial, best = sequential_seconds(COLUMNS * HEIGHT, Program(POINT)), (inf, 0)
    print(f"table 2: the reservoir by subdomains, overlap 4; without subdomains {serial:.2f} s (predicted, printed)")
    for parts, printed in PRINTED.items():
        best = min(best, (reservoir(parts), parts))
        print(f"  {parts:<4}{reservoir(parts):8.2f} s{printed:8.2f} s   speed-up {serial / reservoir(parts):.2f}")
    print(f"  best: {best[1]} subdomains")
    print("table 3: two subdomains by the width of their overlap (predicted, printed)")
    for overlap, printed in PRINTED_BY_OVERLAP.items():
        print(f"  {overlap:<4}{reservoir(2, overlap):8.2f} s{printed:8.2f} s")


if __name__ == "__main__":
    main()

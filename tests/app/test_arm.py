# SPDX-License-Identifier: MIT
"""The program for 64-bit Arm processors, under QEMU. The program ends in the state of the program that was built here,
writes the same rows, and makes the same decisions. Each of the two goes on from a checkpoint of the other.
scripts/arm.sh --setup builds it."""
import os
import re
import subprocess

import pytest

from program import HANG_SECONDS, SOURCE, built, checkpoints, decisions, hash_of, ok_run, options, rows

ARM = os.path.join(SOURCE, "scripts/arm.sh")
PROGRAM = "build-arm/steelyard"
pytestmark = built(PROGRAM, page="docs/install.md")
# Counted work makes the same decisions wherever it is counted.
BALANCED = dict(balance__every=5, balance__clock="work", balance__processes=12, balance__migrate="always")
BALANCED |= dict(balance__compare="[time_average, moving_average, particle_count, hybrid, a1, b1, exact]")
BALANCED |= dict(balance__noise=0.05, output__every=5)


def said_by(program, *words):
    return subprocess.run([program, *words], stdout=subprocess.PIPE, timeout=HANG_SECONDS, text=True, check=True).stdout


def kernels():
    """The sets of kernels that the program for Arm has."""
    if not os.path.exists(os.path.join(SOURCE, PROGRAM)):
        return ["scalar"]
    return re.search(r"kernels +([^;]*);", said_by(ARM, "--version"))[1].split(", ")


def done(out, *more, arm=None, ranks=0, **keys):
    """A run into `out`, with these kernels of Arm's, or by the program that was built here; its state, rows and
    decisions."""
    ok_run(out, *more, ranks=ranks, binary=ARM if arm else None, isa=arm, **keys)
    return hash_of(out), rows(out), decisions(out) if "balance__every" in keys else None


# The lower left slab flies into the corner.
WALLS = dict(system__boundary="[reflecting, reflecting]", system__box="[234, 122]", system__potential__shift="force")
WALLS |= dict(system__slabs__0__lower="[0.5, 0.5]", system__slabs__0__velocity="[-20, -20]")


@pytest.mark.group("states")
@pytest.mark.parametrize("isa", kernels())
@pytest.mark.parametrize("precision", ("mixed", "double"))
def test_states(tmp, isa, precision):
    """Every potential, with and without softening; balancing, walls, and threads in the place of an accelerator."""
    potentials = re.search(r"pair potential: ([a-z_, ]*[a-z_])", said_by(options.binary, "check"))[1].split(", ")
    assert "lennard_jones" in potentials
    cases = {
        f"{p}, softening {s}": dict(system__potential__kind=p, system__potential__softening=s, **BALANCED)
        for p in potentials
        for s in (0, 0.1)
    }
    cases["walls"] = dict(WALLS, run__dt=0.001, run__steps=40)
    cases["zone"] = dict(accelerator__backend="host", accelerator__every=5)
    for name, keys in cases.items():
        keys = dict(dict(run__steps=20, run__precision=precision), **keys)
        here, there = (done(tmp / f"{name} {i}", arm=i, **keys) for i in (None, isa))
        assert there == here, f"{name}, {precision}, {isa}"
        assert here[2] is None or {"moved"} <= {r["decision"] for r in here[2]}, name


@pytest.mark.group("restarts")
@pytest.mark.parametrize("isa", kernels())
@pytest.mark.parametrize("precision", ("mixed", "double"))
def test_restarts(tmp, isa, precision):
    """Begun on one processor, ended on the other."""
    keys = dict(BALANCED, run__precision=precision)
    whole = done(os.path.join(tmp, "whole"), **keys, run__steps=30)
    for first, then in ((None, isa), (isa, None)):
        out = os.path.join(tmp, f"{first} {then}")
        done(out, arm=first, **keys, run__steps=15, checkpoint__every=15)
        assert checkpoints(out) == [15]
        assert done(out, "--restart", "auto", arm=then, **keys, run__steps=30) == whole, f"{first} -> {then}"


@pytest.mark.group("ranks")
@pytest.mark.parametrize("isa", kernels())
def test_ranks(tmp, isa):
    """Two ranks, each of them under QEMU, started by the launcher of this machine's MPI."""
    keys = dict(BALANCED, run__steps=20)
    here, there = (done(os.path.join(tmp, str(i)), arm=i, ranks=2, **keys) for i in (None, isa))
    assert there == here

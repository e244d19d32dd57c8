# SPDX-License-Identifier: MIT
"""Ranks of a simulated cluster end in the state, and balance to the LBE, of a real run."""
import itertools
import os
import re
import subprocess

import pytest

import program
from program import SOURCE, built, options, settings

SIMULATE = os.path.join(SOURCE, "scripts/simulate.sh")
DECKS = {
    "tiny.yaml": dict(run__steps=60, balance__every=20),
    "strip_t1.yaml": dict(run__steps=40, balance__every=10, output__every=20),
    "collision_3d.yaml": dict(run__steps=40, balance__every=10, output__every=20),
}
pytestmark = built("build-smpi/steelyard")


def summary(command, out, quiet=True):
    """The summary of a run, and what it has printed."""
    done = subprocess.run([*command, "--out", out, *["--quiet"] * quiet], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return dict(program.summary(out), printed=done.stdout)


def test_schedules(tmp):
    """Every way to send messages (comm:) ends in one state, on nodes of 6 ranks."""
    deck = os.path.join(SOURCE, "inputs/tiny.yaml")
    keys = dict(run__steps=12, balance__every=5, balance__clock="work", balance__migrate="always")
    ways, hashes = [("plain", "near_first", "far_first"), ("none", "process", "node", "auto")], {}
    ways.append(("none", "links", "full"))
    for schedule in itertools.product(*ways):
        comm = dict(zip(("comm__order", "comm__aggregate", "comm__overlap"), schedule))
        result = summary([SIMULATE, "16", deck, *settings(**keys, **comm)], os.path.join(tmp, "_".join(schedule)))
        assert result["messages"]["nodes"] == 3
        hashes[schedule] = result["state_hash"]
    assert len(set(hashes.values())) == 1, hashes


@pytest.mark.parametrize("deck", DECKS)
def test_same_as_a_real_run(tmp, deck):
    # On four nodes of six ranks: what all ranks tell each other goes by place and node (comm/team.cpp).
    path = os.path.join(SOURCE, "inputs", deck)
    keys = settings(**DECKS[deck], balance__processes=24, balance__clock="work")
    real = summary([options.binary, "run", path, *keys], os.path.join(tmp, "real"))
    simulated = summary([SIMULATE, "24", path, *keys], os.path.join(tmp, "simulated"))
    assert simulated["simulated"] is True and simulated["platform"]["platform"] == "tianhe1a"
    assert simulated["ranks"] == 24 and simulated["wall_seconds"] > 0
    for key in ("state_hash", "overall_lbe", "energy_last", "particles", "steps"):
        assert simulated[key] == real[key], key


@pytest.mark.parametrize("deck, ranks", (("strip.yaml", 32), ("strip.yaml", 8), ("tiny.yaml", 8)))
def test_net_of_balancing(tmp, deck, ranks):
    """The times with balancing and without that a run reports are those of two runs; time is exact here."""
    common = dict(run__steps=300, balance__clock="work", grid__skin=0.4)
    command = [SIMULATE, str(ranks), os.path.join(SOURCE, "inputs", deck)]
    truth = summary([*command, *settings(**common)], os.path.join(tmp, "without"))["wall_seconds"]
    balanced = summary([*command, *settings(**common, balance__every=20)], os.path.join(tmp, "with"), quiet=False)
    net = balanced["worth"]["net"]
    print(f"{deck}, {ranks} ranks: without {truth:.6f} s, said {net}")
    assert net["of"] == "run" and net["seconds"] == balanced["wall_seconds"]
    assert abs(net["without_seconds"] / truth - 1) < 0.08
    shorter = 1 - balanced["wall_seconds"] / truth
    assert net["balancing_seconds"] > 0
    if abs(shorter) > 0.02:  # else neither is the shorter one, as the time without balancing is not exact
        assert (net["saved"] > 0) == (shorter > 0)
    said = re.search(
        r"balancing made this simulated run (\S+) % (\S+),\s+(\S+) s instead of about (\S+) s without it,"
        r"\s+of which balancing itself took (\S+) s",
        balanced["printed"],
    )
    assert said and said[2] == ("shorter" if net["saved"] > 0 else "longer"), balanced["printed"]
    shown = [f"{net[key]:.3g}" for key in ("seconds", "without_seconds", "balancing_seconds")]
    assert [said[1], said[3], said[4], said[5]] == [f"{100 * abs(net['saved']):.1f}", *shown]

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Schedules of messages on this machine: called by messages.sh."""
import argparse
import os
import sys
import random
import shutil
import statistics

from quiet import quiet

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir))
from common import call, mpiexec, read_json, words, write_json  # noqa: E402

OUT = "results/messages_here"
# Many small patches on each rank, whose messages are small.
PATCHES = (
    "patches",
    "inputs/slab.yaml",
    [
        "run.steps=300",
        "grid.tile=4",
        "balance.processes=64",
        "balance.every=300",
        "balance.clock=work",
        "balance.criterion=every",
        "balance.partition.cut=patches",
    ],
)
DECKS = [
    ("slab", "inputs/slab.yaml", ["run.steps=400"]),
    ("slab_soft", "inputs/slab_soft.yaml", ["run.steps=400"]),
    ("strip_t1", "inputs/strip_t1.yaml", ["run.steps=1600", "--restart", "restarts/strip_t1.h5"]),
    ("liquid", "inputs/liquid.yaml", ["run.steps=250"]),
]
DEFAULT = "auto, near_first, full"
SCHEDULES = {
    DEFAULT: {},
    "none, plain, full": {"aggregate": "none", "order": "plain"},
    "process, plain, full": {"aggregate": "process", "order": "plain"},
    "node, near_first, full": {"aggregate": "node", "ranks_per_node": 1},
    "auto, near_first, links": {"overlap": "links"},
    "none, plain, links": {"aggregate": "none", "order": "plain", "overlap": "links"},
    "process, plain, links": {"aggregate": "process", "order": "plain", "overlap": "links"},
    "auto, near_first, none": {"overlap": "none"},
    "none, plain, none": {"aggregate": "none", "order": "plain", "overlap": "none"},
}


def run(ranks, deck, settings, schedule):
    """Seconds of a step and of its ghost exchange, messages a step, and the hash."""
    folder = os.path.join(OUT, "run")
    shutil.rmtree(folder, ignore_errors=True)
    options = words(s for s in settings if "=" in s) + [s for s in settings if "=" not in s]
    for key, value in schedule.items():
        options += ["--set", f"comm.{key}={value}"]
    call([*mpiexec(ranks), "build/steelyard", "run", deck, "--out", folder, "--quiet", *options])
    s = read_json(os.path.join(folder, "summary.json"))
    steps = s["steps"] - s.get("first_step", 0)
    return dict(
        seconds=s["wall_seconds"] / steps,
        ghosts=s["seconds"]["ghosts"]["mean"] / steps,
        messages=s["messages"]["sent"]["mean"] / steps,
        hash=s["state_hash"],
    )


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--decks", nargs="+", default=[d[0] for d in [PATCHES] + DECKS], help="some of %(default)s")
    arguments = parser.parse_args()
    os.makedirs(OUT, exist_ok=True)
    decks = [d for d in [PATCHES] + DECKS if d[0] in arguments.decks]
    cases = [(deck, name) for deck in decks for name in SCHEDULES]
    runs = {}
    for k in range(arguments.rounds):
        random.Random(k).shuffle(cases)
        for deck, name in cases:
            runs.setdefault((deck[0], name), []).append(
                quiet(lambda: run(arguments.ranks, deck[1], deck[2], SCHEDULES[name]))
            )
    rows = []
    print(
        f"MEASURED on {arguments.ranks} ranks of this machine; medians of {arguments.rounds} runs; beside the default:"
        " of the ratios of the rounds"
    )
    print(
        f"{'deck':<10}{'schedule':<26}{'us a step':>10}{'ghosts':>8}{'messages':>10}{'default / this':>16}"
        f"{'its ghosts':>12}{'others':>8}"
    )
    for deck in decks:
        reference = runs[deck[0], DEFAULT]
        for name in SCHEDULES:
            list_ = runs[deck[0], name]

            def median(key):
                return statistics.median(r[key] for r in list_)

            def ratio(key):
                return statistics.median(a[key] / b[key] for a, b in zip(reference, list_))

            row = dict(
                deck=deck[0],
                schedule=name,
                nodes=1,
                workload=deck[0],
                seconds=median("seconds"),
                ghost_seconds=median("ghosts"),
                messages=median("messages"),
                default_over_this=ratio("seconds"),
                default_ghosts_over_this=ratio("ghosts"),
                others=median("others"),
            )
            rows.append(row)
            print(
                f"{deck[0]:<10}{name:<26}{row['seconds'] * 1e6:>10.0f}{row['ghost_seconds'] * 1e6:>8.0f}"
                f"{row['messages']:>10.1f}{row['default_over_this']:>16.3f}"
                f"{row['default_ghosts_over_this']:>12.3f}{100 * row['others']:>7.1f}%"
            )
        assert len({r["hash"] for name in SCHEDULES for r in runs[deck[0], name]}) == 1, "hashes differ"
    write_json(os.path.join(OUT, "summary.json"), {"simulated": False, "ranks": arguments.ranks, "cases": rows})
    shutil.rmtree(os.path.join(OUT, "run"), ignore_errors=True)


if __name__ == "__main__":
    main()

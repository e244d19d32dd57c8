#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Schedules of messages (comm: in the deck), on ranks of this machine.

The deck `patches` has many small patches; its time in ghost exchange is measured. On four decks the time of a step is
measured. Both are relative to the default schedule. Runs take turns in random order. If other programs disturb a run,
the run is repeated. Writes results/messages_here/summary.json. About 10 minutes.
"""
import statistics

from common import mpiexec, write_json
from studies import build, in_turns, options_of, quiet, steelyard, table

OUT = "results/messages_here"
PATCHES = [  # many small ones on each rank, whose messages are small
    *("run.steps=300", "grid.tile=4", "balance.processes=64", "balance.every=300", "balance.clock=work"),
    *("balance.criterion=every", "balance.partition.cut=patches"),
]
DECKS = {  # name: deck, options, settings
    "patches": ("inputs/slab.yaml", [], PATCHES),
    "slab": ("inputs/slab.yaml", [], ["run.steps=400"]),
    "slab_soft": ("inputs/slab_soft.yaml", [], ["run.steps=400"]),
    "strip_t1": ("inputs/strip_t1.yaml", ["--restart", "restarts/strip_t1.h5"], ["run.steps=1600"]),
    "liquid": ("inputs/liquid.yaml", [], ["run.steps=250"]),
}
DEFAULT = "auto, near_first, full"
SCHEDULES = {
    DEFAULT: [],
    "none, plain, full": ["aggregate=none", "order=plain"],
    "process, plain, full": ["aggregate=process", "order=plain"],
    "node, near_first, full": ["aggregate=node", "ranks_per_node=1"],
    "auto, near_first, links": ["overlap=links"],
    "none, plain, links": ["aggregate=none", "order=plain", "overlap=links"],
    "process, plain, links": ["aggregate=process", "order=plain", "overlap=links"],
    "auto, near_first, none": ["overlap=none"],
    "none, plain, none": ["aggregate=none", "order=plain", "overlap=none"],
}


def run(case):
    """Seconds of a step and of its ghost exchange, messages a step, and the hash."""
    (deck, more, settings), schedule = DECKS[case[0]], [f"comm.{s}" for s in SCHEDULES[case[1]]]
    s = steelyard("run", deck, *more, out=f"{OUT}/run", settings=settings + schedule, start=mpiexec(2))
    steps = s["steps"] - s.get("first_step", 0)
    ghosts, sent = s["seconds"]["ghosts"]["mean"], s["messages"]["sent"]["mean"]
    return dict(seconds=s["wall_seconds"] / steps, ghosts=ghosts / steps, messages=sent / steps, hash=s["state_hash"])


def row_of(case, runs, reference):
    names = dict(seconds="seconds", ghost_seconds="ghosts", messages="messages", others="others")
    over = dict(default_over_this="seconds", default_ghosts_over_this="ghosts")
    return dict(
        **dict(deck=case[0], schedule=case[1], nodes=1, workload=case[0]),
        **{name: statistics.median(r[key] for r in runs) for name, key in names.items()},
        **{name: statistics.median(a[key] / b[key] for a, b in zip(reference, runs)) for name, key in over.items()},
    )


def main():
    arguments = options_of(__doc__, "--rounds").parse_args()
    build("steelyard")
    cases = [(deck, schedule) for deck in DECKS for schedule in SCHEDULES]
    runs = in_turns(arguments.rounds, cases, lambda case: quiet(lambda: run(case)), shuffled=True)
    rounds = f"medians of {arguments.rounds} runs; beside the default: of the ratios of the rounds"
    print(f"MEASURED on 2 ranks of this machine; {rounds}")
    times = ("us a step", "10.0f"), ("ghosts", "8.0f"), ("messages", "10.1f")
    ratios = ("default / this", "16.3f"), ("its ghosts", "12.3f"), ("others", "8.1%")
    row = table(("deck", "<10"), ("schedule", "<26"), *times, *ratios)
    rows = [row_of(case, runs[case], runs[case[0], DEFAULT]) for case in cases]
    for r in rows:
        times = r["seconds"] * 1e6, r["ghost_seconds"] * 1e6, r["messages"]
        row(r["deck"], r["schedule"], *times, r["default_over_this"], r["default_ghosts_over_this"], r["others"])
    for deck in DECKS:
        assert len({r["hash"] for schedule in SCHEDULES for r in runs[deck, schedule]}) == 1, f"{deck}: hashes differ"
    write_json(f"{OUT}/summary.json", {"simulated": False, "ranks": 2, "cases": rows})


if __name__ == "__main__":
    main()

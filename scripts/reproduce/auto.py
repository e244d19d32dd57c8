#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A run that chooses for itself (balance: auto) beside each fixed choice, on twelve decks. docs/experiment.md

Each deck runs for 1000 steps and records its loads every 10 steps. Each series is balanced again (steelyard replay) on
16 and on 240 virtual processes by counted work: with `balance: auto`, and with each of twelve fixed choices of load
model and partitioner. All may balance every 10 steps, by the criterion `gain`. Processes are equally fast, and models
are told so (speeds: off).

The table shows the seconds of `auto` over those of the best fixed choice and over those of the default keys, computing
and balancing together. Times are counted work, so it is the same on every machine. Series and replays that exist are
not made again. Writes results/auto/summary.json.

--wall runs the decks on two real ranks by the wall clock, for as many steps as take about --seconds: with `auto` and
with each of four fixed choices, in turns. A round's times are compared. `cost` is the time of `auto` over that of the
fixed choice with which it ended; it is shown if that is one of the four. Writes results/auto/wall.json.

--simulated does the same on 96 ranks of a simulated cluster, once, for --steps steps. The clock is simulated, and
messages and balancings take their time. PLATFORM_SET is simultaneous_seconds=1e-7 unless it is given, because that
saves 40 % of the simulation. Writes results/auto/simulated.json.
"""
import os
import statistics

from common import fail, mpiexec, write_json
from studies import build, in_turns, markdown_head, markdown_row, options_of, simulated, steelyard

OUT, EVERY, STEPS = "results/auto", 10, 1000
GALLERY = "collapse expansion impact interface melt piston prk_geometric switch vacuum".split()
DECKS = {name: f"inputs/gallery/{name}.yaml" for name in GALLERY} | {
    "quickstart": "inputs/quickstart.yaml",
    "strip": "inputs/lbe240.yaml",
    "space": "inputs/lbe200_3d.yaml",
}
PARTITIONS = {  # name in the table: deck's section partition
    "default": "{kind: chain}",
    "tree": "{kind: chain, order: tree, patches_per_process: 1, cut: cells}",
    "rcb": "{kind: rcb}",
    "nested": "{kind: nested}",
    "compact": "{kind: compact}",
}
FIXED = [f"{m}+{p}" for m in ("r1", "r1_ahead") for p in PARTITIONS] + ["a1+compact", "hybrid+compact"]
DEFAULT = "r1+default"
ON_RANKS = ["r1+default", "r1_ahead+default", "r1_ahead+compact", "r1+rcb"]  # fixed choices of --wall
DECKS_ON_RANKS = {name: deck for name, deck in DECKS.items() if name not in ("prk_geometric", "switch")} | {
    "collision": "inputs/slab.yaml",
    "collision in space": "inputs/collision_3d.yaml",
}  # without costs of counted work


def record(name):
    """The load series of a deck, with predicted counts."""
    settings = [f"run.steps={STEPS}", f"output.loads_every={EVERY}", "output.fields_every=0"]
    settings += ["balance.clock=wall", f"balance.every={EVERY}", "balance.model=r1_ahead", "balance.compare=[]"]
    steelyard("run", DECKS[name], out=f"{OUT}/{name}", settings=settings, start=mpiexec(2), keep=True)
    return f"{OUT}/{name}/loads.h5"


def replay(name, loads, processes, more):
    """The results of `auto` and of all fixed choices."""
    of = {name: name.split("+") for name in FIXED}
    entries = [f"{{name: {name}, model: {m}, partition: {PARTITIONS[p]}}}" for name, (m, p) in of.items()]
    settings = ["balance=auto", f"balance.processes={processes}", "balance.speeds=off", *more]
    settings += [f"balance.compare=[{', '.join(entries)}]"]
    out = f"{OUT}/{name}_{processes}" + ("_settings" if more else "")
    return steelyard("replay", loads, out=out, settings=settings, keep=True)


def case_of(name, processes, summary):
    seconds = {c: found["seconds"] for c, found in summary["contenders"].items()}
    chosen = seconds.pop("auto")
    best = min(seconds, key=seconds.get)
    case = dict(deck=name, processes=processes, best=best, over_best=chosen / seconds[best])
    return case | dict(over_default=chosen / seconds[DEFAULT], auto=summary["auto"], seconds=seconds)


def on_ranks(name, choice, steps, ranks):
    """The summary of a run of a deck by the wall clock, on two ranks or on simulated ones."""
    keys = "clock: wall"
    if choice == "auto":
        keys += ", auto: true"
    else:
        model, partition = choice.split("+")
        keys += f", model: {model}, partition: {PARTITIONS[partition]}"
    settings = [f"balance={{every: {EVERY}, {keys}}}", f"run.steps={steps}", f"output={{every: {steps}}}"]
    if ranks != 2:
        os.environ.setdefault("PLATFORM_SET", "simultaneous_seconds=1e-7")
        return simulated(ranks, DECKS_ON_RANKS[name], f"{OUT}/simulated", settings)
    return steelyard("run", DECKS_ON_RANKS[name], out=f"{OUT}/wall", settings=settings, start=mpiexec(ranks))


def in_runs(arguments, ranks):
    print(markdown_head(["deck", "steps", "best fixed choice", "`auto` over it", "over the default", "end", "cost"]))
    decks = {}
    for name in arguments.only:
        steps = arguments.steps
        if not arguments.simulated:
            probe = on_ranks(name, DEFAULT, EVERY, ranks)
            steps = max(2, round(arguments.seconds / probe["wall_seconds"])) * EVERY
        rounds = 1 if arguments.simulated else arguments.rounds
        runs = in_turns(rounds, ["auto", *ON_RANKS], lambda choice, n=name, s=steps: on_ranks(n, choice, s, ranks))
        of = {choice: [s["wall_seconds"] for s in found] for choice, found in runs.items()}
        best = min(ON_RANKS, key=lambda choice: statistics.median(of[choice]))
        end = statistics.mode(f"{s['auto']['model']}+{s['auto']['partition']}" for s in runs["auto"])
        over = {c: [a / b for a, b in zip(of["auto"], of[c])] for c in ON_RANKS}
        middle = {c: statistics.median(ratios) for c, ratios in over.items()}
        cost = f"{middle[end]:.3f}" if end in middle else ""
        cells = [name, steps, best, f"{middle[best]:.3f}", f"{middle[DEFAULT]:.3f}", end, cost]
        print(markdown_row(cells), flush=True)
        hashes = {s["state_hash"] for found in runs.values() for s in found}
        if len(hashes) != 1:
            fail(f"{name}: choices end in different states: {sorted(hashes)}")
        decks[name] = dict(steps=steps, best=best, end=end, seconds=of, over=over)
    for what, key in (("the best fixed choice", lambda d: d["best"]), ("the default", lambda d: DEFAULT)):
        ratios = [statistics.median(d["over"][key(d)]) for d in decks.values()]
        print(f"auto over {what}: median {statistics.median(ratios):.3f}, worst {max(ratios):.3f}")
    of = dict(simulated=arguments.simulated, ranks=ranks, rounds=arguments.rounds, decks=decks)
    write_json(f"{OUT}/{'simulated' if arguments.simulated else 'wall'}.json", of)


def main():
    parser = options_of(__doc__, rounds="--rounds")
    parser.add_argument("--only", nargs="+", choices=list(DECKS | DECKS_ON_RANKS))
    parser.add_argument("--processes", nargs="+", type=int, default=[16, 240])
    parser.add_argument("--set", action="append", default=[], help="a key of a replay, as balance.work.ghost=1e-7")
    way = parser.add_mutually_exclusive_group()
    for name in ("--wall", "--simulated"):
        way.add_argument(name, action="store_true")
    parser.add_argument("--seconds", type=float, default=4.0, help="with --wall: of a run (default: 4)")
    parser.add_argument("--steps", type=int, default=STEPS, help=f"with --simulated: of a run (default: {STEPS})")
    arguments = parser.parse_args()
    runs = arguments.wall or arguments.simulated
    known = DECKS_ON_RANKS if runs else DECKS
    arguments.only = arguments.only or list(known)
    if unknown := [name for name in arguments.only if name not in known]:
        parser.error(f"--only: {', '.join(unknown)} {'is not' if runs else 'is only'} for --wall and --simulated")
    build("steelyard")
    os.makedirs(OUT, exist_ok=True)
    if runs:
        return in_runs(arguments, 96 if arguments.simulated else 2)
    heads = ["deck", "processes", "best fixed choice", "`auto` over it", "over the default", "choice at the end"]
    print(markdown_head(heads))
    cases = []
    for name in arguments.only:
        loads = record(name)
        for processes in arguments.processes:
            c = case_of(name, processes, replay(name, loads, processes, arguments.set))
            cases.append(c)
            at_end = f"{c['auto']['model']}+{c['auto']['partition']}"
            ratios = [f"{c[key]:.3f}" for key in ("over_best", "over_default")]
            print(markdown_row([name, processes, c["best"], *ratios, at_end]), flush=True)
    for key, what in (("over_best", "the best fixed choice"), ("over_default", "the default")):
        ratios = [c[key] for c in cases]
        print(f"auto over {what}: median {statistics.median(ratios):.3f}, worst {max(ratios):.3f}")
    write_json(f"{OUT}/summary.json", {"simulated": False, "cases": cases})


if __name__ == "__main__":
    main()

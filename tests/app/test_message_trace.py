# SPDX-License-Identifier: MIT
"""Traces of messages (steelyard run --trace-messages) hold what was sent, and are replayed as they are."""
import collections
import csv
import json
import os

from program import DECK, options, run, settings, summary

KINDS = {"ghosts", "ghost_counts", "emigrants", "emigrant_counts", "migration", "migration_counts"}


def plans_of(path):
    """The plans of a trace: [(kind, step, [(source, target, bytes, source_node, target_node), ...])] in their order."""
    plans = {}
    with open(path) as f:
        for r in csv.DictReader(f):
            numbers = tuple(int(r[k]) for k in ("source", "target", "bytes", "source_node", "target_node"))
            plans.setdefault((int(r["plan"]), r["kind"], int(r["step"])), []).append(numbers)
    assert list(plans) == sorted(plans), "plans are not in their order"
    return [(kind, step, rows) for (_, kind, step), rows in plans.items()]


def times_carried_out(plans, steps):
    """How often a run without balancing carries out each plan: ghosts at the rebuild and then once a step until the
    next one."""
    rebuilds = [step for kind, step, _ in plans if kind == "ghosts"]
    return [
        (
            1
            if kind.startswith("emigrant")
            else (
                len(rebuilds)
                if kind == "ghost_counts"
                else min([s for s in rebuilds if s > step], default=steps + 1) - step
            )
        )
        for kind, step, _ in plans
    ]


def test_trace(tmp):
    """Rows are what summary.json counts, with one message for each part; nodes are those of the deck."""
    steps, ranks, hashes = 120, 3, set()
    for aggregate in ("none", "auto"):
        out, file = os.path.join(tmp, aggregate), os.path.join(tmp, aggregate + ".csv")
        keys = settings(
            run__steps=steps, balance__every=0, grid__tile=4, comm__aggregate=aggregate, comm__ranks_per_node=2
        )
        code, text = run(ranks, "run", DECK, "--out", out, "--quiet", "--trace-messages", file, *keys)
        assert code == 0, f"a traced run ends with {code}: {text}"
        plans, sent = plans_of(file), summary(out)["messages"]
        times = times_carried_out(plans, steps)
        assert sum(kind == "ghosts" for kind, _, _ in plans) > 2, "too few rebuilds to test anything"
        total = sum(n * r[2] for n, (_, _, rows) in zip(times, plans) for r in rows)
        assert total == round(
            sent["bytes"]["mean"] * ranks
        ), f"{aggregate}: {total} bytes traced, {sent['bytes']['mean'] * ranks} sent"
        messages = sum(n * len(rows) for n, (_, _, rows) in zip(times, plans))
        assert (messages == round(sent["sent"]["mean"] * ranks)) == (
            aggregate == "none"
        ), f"{aggregate}: {messages} parts, {sent['sent']['mean'] * ranks} messages"
        for _, _, rows in plans:
            for source, target, size, source_node, target_node in rows:
                assert (
                    source != target and size > 0 and source_node == source // 2 and target_node == target // 2
                ), "a row is wrong"
        hashes.add(summary(out)["state_hash"])
    out = os.path.join(tmp, "untraced")
    run(ranks, "run", DECK, "--out", out, "--quiet", *settings(run__steps=steps, balance__every=0, grid__tile=4))
    assert hashes == {summary(out)["state_hash"]}, "a trace changes the run"


def test_migration(tmp):
    """Where owners change, all kinds of plans occur, and particles that migrate are whole ones."""
    out, file = os.path.join(tmp, "out"), os.path.join(tmp, "trace.csv")
    code, text = run(
        2,
        "run",
        DECK,
        "--out",
        out,
        "--quiet",
        "--trace-messages",
        file,
        *settings(run__steps=120, balance__every=20, balance__clock="work", balance__migrate="always"),
    )
    assert code == 0, f"a traced run ends with {code}: {text}"
    plans = plans_of(file)
    sizes = collections.Counter()
    for kind, _, rows in plans:
        sizes[kind] += sum(r[2] for r in rows)
    assert set(sizes) == KINDS, f"kinds are {sorted(sizes)}"
    steps = {step for kind, step, _ in plans if kind == "migration"}
    assert steps <= set(range(0, 121, 20)) and len(steps) > 1, f"migrations at steps {sorted(steps)}"
    assert sizes["migration"] % 40 == 0, "a particle is not 40 bytes"


def test_files(tmp):
    """What is there is refused, or put aside; names that cannot be are refused before anything is written."""
    out, file = os.path.join(tmp, "out"), os.path.join(tmp, "trace.csv")

    def traced(path, *more):
        return run(2, "run", DECK, "--out", out, "--quiet", "--trace-messages", path, *more, *settings(run__steps=4))

    with open(file, "w") as f:
        f.write("mine\n")
    os.mkdir(os.path.join(tmp, "folder"))
    for path, code, word in (
        (file, 2, "exists already"),
        (os.path.join(tmp, "folder"), 2, "is a directory"),
        ("/dev/null", 2, "a device"),
        (os.path.join(out, "thermo.csv"), 2, "another file"),
        (os.path.join(tmp, "nowhere", "t.csv"), 5, "is not there"),
        ("", 2, "--trace-messages is empty"),
    ):
        got, text = traced(path)
        assert got == code and word in text and text.count("\n") == 1, f"{path}: code {got}, {text}"
        assert not os.path.exists(os.path.join(out, "run.json")), f"{path}: results were written"
    assert open(file).read() == "mine\n", "the file that was there is changed"
    # What the run is made from is no place for a trace, --force or not.
    deck = os.path.join(tmp, "deck.yaml")
    with open(DECK) as a, open(deck, "w") as b:
        b.write(a.read())
    code, text = run(
        2,
        "run",
        deck,
        "--out",
        out,
        "--quiet",
        "--force",
        "--trace-messages",
        os.path.join(tmp, "folder", "..", "deck.yaml"),
    )
    assert (
        code == 2 and "is read by this run" in text and open(deck).read() == open(DECK).read()
    ), f"a trace on the deck: {code}, {text}"
    code, text = traced(file, "--force")
    assert code == 0 and "put aside" in text, f"--force: {code}, {text}"
    assert (
        open(os.path.join(tmp, "previous_1", "trace.csv")).read() == "mine\n" and len(plans_of(file)) > 0
    ), "it was not put aside"


def test_replay(tmp):
    """replay_messages carries out the plans of a trace, which it checks byte by byte, and refuses what is no trace for
    these ranks."""
    ranks, file, results = 3, os.path.join(tmp, "trace.csv"), os.path.join(tmp, "results.json")
    code, text = run(
        ranks,
        "run",
        DECK,
        "--out",
        os.path.join(tmp, "out"),
        "--quiet",
        "--trace-messages",
        file,
        *settings(run__steps=60, grid__tile=4, balance__every=20, balance__clock="work", balance__migrate="always"),
    )
    assert code == 0, f"a traced run ends with {code}: {text}"
    plans = plans_of(file)

    def replayed(n, path, *more):
        return run(n, path, "--rounds", "2", *more, binary=options.tool)

    code, text = replayed(ranks, file, "--plans", 10000, "--ranks-per-node", 2, "--json", results)
    assert code == 0, f"a replay ends with {code}: {text}"
    with open(results) as f:
        found = json.load(f)
    assert found["ranks"] == ranks and found["simulated"] is False, f"{found['ranks']} ranks"
    for kind in KINDS:
        rows = [r for k, _, rows in plans if k == kind for r in rows]
        cases = {c["schedule"]: c for c in found["cases"] if c["kind"] == kind}
        assert len(cases) >= 8, f"{kind} was replayed in the ways {sorted(cases)}"
        for name, c in cases.items():
            assert round(c["parts"] * c["plans"]) == len(rows) and round(c["bytes"] * c["plans"]) == sum(
                r[2] for r in rows
            ), f"{kind}, {name}: {c}, {len(rows)} rows"
            assert round(c["small_parts"] * c["plans"]) == sum(
                r[2] <= 4096 for r in rows
            ), f"{kind}, {name}: small parts"
            assert c["seconds"] > 0 and c["schedule_seconds"] > 0, f"{kind}, {name}: no time"
            if name.startswith("none"):
                assert (
                    round(c["messages"] * c["plans"]) == len(rows) and c["nodes"] == 2
                ), f"{kind}, {name}: {c['messages']} messages"
            if name.startswith(("auto", "process")):
                assert c["messages"] <= c["parts"], f"{kind}, {name}: {c['messages']} messages for {c['parts']} parts"

    broken = os.path.join(tmp, "broken.csv")
    with open(file) as f, open(broken, "w") as g:
        g.write(f.readline() + f.readline() + "0,ghosts,0,1,1,24,0,0\n")
    hole = os.path.join(tmp, "hole.csv")
    with open(hole, "w") as f:
        f.truncate(10**9)
    for n, path, more, code, word in (
        (2, file, (), 3, "3 ranks, and here are 2"),
        (ranks, DECK, (), 3, "no trace"),
        (ranks, broken, (), 3, "broken.csv:3"),
        (ranks, os.path.join(tmp, "nothing"), (), 3, "cannot be read"),
        (ranks, hole, (), 3, "a line of over 65536 bytes"),
        (ranks, file, ("--kind", "gosts"), 2, "no plan gosts"),
        (ranks, file, ("--aggregate", "all"), 2, "all is unknown; choose none, process, node, auto"),
        (ranks, file, ("--round", "3"), 2, "command line"),
    ):
        got, text = replayed(n, path, *more)
        assert got == code and word in text and text.count("\n") == 1, f"replay {more}: code {got}, {text}"

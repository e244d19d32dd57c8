# SPDX-License-Identifier: MIT
"""Traces of messages (steelyard run --trace-messages) hold what was sent, and are replayed as they are. With --tool
(replay_messages)."""
import collections
import json
import shutil

import pytest

from program import DECK, fails_with, hash_of, ok, ok_run, options, run, run_words, state_of, summary, table

KINDS = {"ghosts", "ghost_counts", "emigrants", "emigrant_counts", "migration", "migration_counts"}
BALANCED = dict(balance__every=20, balance__clock="work", balance__migrate="always")


def plans_of(path):
    """The plans of a trace: [(kind, step, [(source, target, bytes, source_node, target_node), ...])] in their order."""
    plans = {}
    for r in table(path.parent, path.name):
        numbers = tuple(int(r[k]) for k in ("source", "target", "bytes", "source_node", "target_node"))
        plans.setdefault((int(r["plan"]), r["kind"], int(r["step"])), []).append(numbers)
    assert list(plans) == sorted(plans), "plans are not in their order"
    return [(kind, step, rows) for (_, kind, step), rows in plans.items()]


def traced(tmp, ranks, **keys):
    """The plans of a traced run in `tmp`/out."""
    ok_run(tmp / "out", "--trace-messages", tmp / "trace.csv", ranks=ranks, **keys)
    return plans_of(tmp / "trace.csv")


def times_carried_out(plans, steps):
    """How often a run without balancing carries out each plan: ghosts at the rebuild and then once a step until the
    next one."""
    rebuilds = [step for kind, step, _ in plans if kind == "ghosts"]

    def times(kind, step):
        if kind.startswith("emigrant"):
            return 1
        if kind == "ghost_counts":
            return len(rebuilds)
        return min([s for s in rebuilds if s > step], default=steps + 1) - step

    return [times(kind, step) for kind, step, _ in plans]


@pytest.mark.parametrize("aggregate", ("none", "auto"))
def test_trace(tmp, aggregate):
    """Rows are what summary.json counts, with one message for each part; nodes are those of the deck."""
    steps, ranks = 120, 3
    keys = dict(run__steps=steps, balance__every=0, grid__tile=4)
    plans = traced(tmp, ranks, comm__aggregate=aggregate, comm__ranks_per_node=2, **keys)
    sent, times = summary(tmp / "out")["messages"], times_carried_out(plans, steps)
    assert sum(kind == "ghosts" for kind, _, _ in plans) > 2, "too few rebuilds to test anything"
    total = sum(n * r[2] for n, (_, _, rows) in zip(times, plans) for r in rows)
    assert total == round(sent["bytes"]["mean"] * ranks)
    parts = sum(n * len(rows) for n, (_, _, rows) in zip(times, plans))
    assert (parts == round(sent["sent"]["mean"] * ranks)) == (aggregate == "none")
    for source, target, size, source_node, target_node in (r for _, _, rows in plans for r in rows):
        assert source != target and size > 0 and (source_node, target_node) == (source // 2, target // 2)
    assert hash_of(tmp / "out") == state_of(DECK, tmp / "untraced", ranks, **keys), "a trace changes the run"


@pytest.mark.group("migration")
def test_migration(tmp):
    """Where owners change, all kinds of plans occur, and particles that migrate are whole ones."""
    plans = traced(tmp, 2, run__steps=120, **BALANCED)
    sizes = collections.Counter()
    for kind, _, rows in plans:
        sizes[kind] += sum(r[2] for r in rows)
    assert set(sizes) == KINDS
    steps = {step for kind, step, _ in plans if kind == "migration"}
    assert steps <= set(range(0, 121, 20)) and len(steps) > 1
    assert sizes["migration"] % 40 == 0, "a particle is not 40 bytes"


def words(tmp, path, *more):
    return run_words(tmp / "out", "--trace-messages", path, *more, run__steps=4)


@pytest.mark.group("files")
@pytest.mark.parametrize(
    "path, code, says",
    [
        ("{tmp}/mine.csv", 2, "exists already"),
        ("{tmp}/folder", 2, "is a directory"),
        ("/dev/null", 2, "a device"),
        ("{tmp}/out/thermo.csv", 2, "another file"),
        ("{tmp}/nowhere/t.csv", 5, "is not there"),
        ("", 2, "--trace-messages is empty"),
    ],
)
def test_refused_names(tmp, path, code, says):
    """Names that cannot be are refused before anything is written."""
    (tmp / "mine.csv").write_text("mine\n")
    (tmp / "folder").mkdir()
    fails_with(code, says, 2, *words(tmp, path.format(tmp=tmp)))
    assert not (tmp / "out/run.json").exists() and (tmp / "mine.csv").read_text() == "mine\n"


def test_trace_in_the_place_of_the_deck(tmp):
    """A trace never replaces an input of the run, --force or not."""
    deck = shutil.copy(DECK, tmp / "deck.yaml")
    (tmp / "folder").mkdir()
    before = deck.read_text()
    more = ["--force", "--trace-messages", tmp / "folder/../deck.yaml"]
    fails_with(2, "is read by this run", 2, *run_words(tmp / "out", *more, deck=deck))
    assert deck.read_text() == before


def test_force_puts_aside(tmp):
    mine = tmp / "mine.csv"
    mine.write_text("mine\n")
    assert "put aside" in ok(2, *words(tmp, mine, "--force"))
    assert (tmp / "previous_1/mine.csv").read_text() == "mine\n" and plans_of(mine)


@pytest.fixture(scope="module")
def trace(tmp_path_factory):
    """A folder with the trace of three ranks, and its plans."""
    folder = tmp_path_factory.mktemp("trace")
    return folder, traced(folder, 3, run__steps=60, grid__tile=4, **BALANCED)


@pytest.mark.group("replay")
def test_replay(trace, tmp):
    """replay_messages carries out the plans of a trace, which it checks byte by byte."""
    (folder, plans), results = trace, tmp / "results.json"
    more = ["--rounds", 2, "--plans", 10000, "--ranks-per-node", 2, "--json", results]
    ok(3, folder / "trace.csv", *more, binary=options.tool)
    found = json.loads(results.read_text())
    assert found["ranks"] == 3 and found["simulated"] is False
    for kind in KINDS:
        sizes = [r[2] for k, _, rows in plans if k == kind for r in rows]
        cases = {c["schedule"]: c for c in found["cases"] if c["kind"] == kind}
        assert len(cases) >= 8, sorted(cases)
        for name, c in cases.items():
            total = [round(c[k] * c["plans"]) for k in ("parts", "bytes", "small_parts")]
            assert total == [len(sizes), sum(sizes), sum(s <= 4096 for s in sizes)], f"{kind}, {name}"
            assert c["seconds"] > 0 and c["schedule_seconds"] > 0, f"{kind}, {name}"
            if name.startswith("none"):
                assert round(c["messages"] * c["plans"]) == len(sizes) and c["nodes"] == 2, f"{kind}, {name}"
            if name.startswith(("auto", "process")):
                assert c["messages"] <= c["parts"], f"{kind}, {name}"
    ok(3, folder / "trace.csv", "--kind", "ghosts", "--rounds", 1, "--json", results, binary=options.tool)
    assert {c["kind"] for c in json.loads(results.read_text())["cases"]} == {"ghosts"}


@pytest.mark.parametrize(
    "ranks, name, more, code, says",
    [
        (2, "trace.csv", (), 3, "3 ranks, and here are 2"),
        (3, DECK, (), 3, "no trace"),
        (3, "broken.csv", (), 3, "broken.csv:3"),
        (3, "nothing", (), 3, "cannot be read"),
        (3, "hole.csv", (), 3, "a line of over 65536 bytes"),
        (3, "trace.csv", ("--kind", "gosts"), 2, "no plan gosts"),
        (3, "trace.csv", ("--aggregate", "all"), 2, "all is unknown; choose none, process, node, auto"),
        (3, "trace.csv", ("--round", "3"), 2, "command line"),
    ],
)
def test_refused_replays(trace, ranks, name, more, code, says):
    folder, _ = trace
    lines = (folder / "trace.csv").read_text().splitlines(keepends=True)
    (folder / "broken.csv").write_text("".join(lines[:2]) + "0,ghosts,0,1,1,24,0,0\n")
    with open(folder / "hole.csv", "w") as f:
        f.truncate(10**9)
    got, text = run(ranks, folder / name, "--rounds", 2, *more, binary=options.tool)
    assert got == code and says in text and text.count("\n") == 1, text

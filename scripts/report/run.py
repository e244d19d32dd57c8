# SPDX-License-Identifier: MIT
"""One output directory as the page shows it: a dictionary of numbers and texts for JSON. The numbers are those of the
program. Only differences of growing sums and the numbers of blocks of cells are computed here."""
import glob
import itertools
import math
import os
import re
import time

from .findings import findings
from .partition import partition, partition_map
from .tables import Notes, few, groups, is_count, is_number, list_of, read_json, read_table, read_text, switched_off
from .view import start_axis, up_of

PHASES = ("forces", "neighbours", "ghosts", "accelerator", "migration", "balancing", "output", "other")
BALANCE = ("step", "model", "driver", "lbe", "lbe_model", "mean_seconds", "max_seconds", "decision")
BOX = ("x0", "y0", "z0", "x1", "y1", "z1")
RESULTS = ("deck.yaml", "run.json", "summary.json", "summary_before.json", "partition.json", "predict.json") + tuple(
    f"{name}.csv" for name in ("thermo", "timing", "balance", "resources", "zones", "map", "ranks")
)

# Values of summary.json that are used, and what they have to be.
KINDS = {
    "ranks threads processes": lambda v: is_count(v) and 0 < v <= MOST_OWNERS,
    "particles steps first_step": is_count,
    "wall_seconds atom_steps_per_second energy_drift": is_number,
    "deck version host cpu_model binding kernels date times_by state_hash least_time": lambda v: isinstance(v, str),
    "build overall_lbe contenders prediction worth peak_resident_bytes seconds": lambda v: isinstance(v, dict),
    "command_line": lambda v: isinstance(v, list),
}
MOST_OWNERS = 2**22  # processes or ranks
OLD = "the run is of a version that wrote none, or has output.map_frames: 0"
NO_BALANCING = "the run does not balance (balance.every: 0), or no balancing was due yet"
# Reasons why a file is missing, and the keys with which a run is not meant to have it, where they are 0.
MISSING = {
    "map.csv": (OLD, ("output", "map_frames")),
    "ranks.csv": (OLD, ("output", "map_frames")),
    "balance.csv": (NO_BALANCING, ("balance", "every")),
    "thermo.csv": ("no energies were written (output.every)", ("output", "every")),
    "deck.yaml": ("what ran is not known", ()),
}


def is_result(folder):
    """Whether a directory holds anything that the program has written."""
    paths = (os.path.join(folder, name) for name in RESULTS)
    return any(os.path.isfile(path) and os.path.getsize(path) > 0 for path in paths)


def text_of(path):
    """A path as it can be shown."""
    return os.fsencode(path).decode("utf-8", "replace")


def known(summary, notes):
    """The values of a summary, without those of another kind than the program writes."""
    foreign = [name for kind, good in KINDS.items() for name in kind.split() if not good(summary.get(name))]
    foreign = [name for name in foreign if summary.get(name) is not None]
    if foreign:
        notes.add("summary.json", f"{', '.join(foreign)} are not what the program writes, and are left out")
    return {name: value for name, value in summary.items() if name not in foreign}


def read_run(folder, messages=None, going=False):
    """All that the page shows of a directory. messages: a file of --trace-messages. going: the run goes on."""
    notes = Notes()
    summary = known(read_json(folder, "summary.json", notes), notes)
    run = {
        "name": text_of(os.path.basename(os.path.normpath(os.path.abspath(folder)))),
        "folder": text_of(folder),
        "summary": summary,
        "finished": bool(summary),
        "going": time.strftime("%H:%M:%S") if going else None,
        "deck": read_text(folder, "deck.yaml"),
        "box": box_of(read_text(folder, "deck.yaml") or ""),
        "starts": starts(read_json(folder, "run.json", notes)),
        "checkpoints": checkpoints(folder),
        "thermo": read_table(folder, "thermo.csv", notes, ("step", "kinetic", "potential", "total")),
        "timing": read_table(folder, "timing.csv", notes, ("step", "wall_seconds")),
        "balance": balance(read_table(folder, "balance.csv", notes, BALANCE, ("model", "decision")), notes),
        "resources": by_step("resources.csv", folder, notes, ("step", "resource", "speed", "seconds"), (), "resource"),
        "zones": by_step("zones.csv", folder, notes, ("step", "rank", "share", "decision"), ("decision",), "rank"),
        "partition": partition(read_json(folder, "partition.json", notes), notes),
    }
    run["map"] = partition_map(run["partition"]) or read_map(folder, run["deck"], notes)
    columns = ("step", "start", "rank")
    table = read_table(folder, "ranks.csv", notes, (*columns, "wall_seconds"), (), columns, "frame")
    run["ranks"] = ranks(table, run, notes)
    run["messages"] = message_matrix(messages, notes) if messages else None
    run["steps"] = last_step(run)
    run["all_starts"] = all_starts(run)
    run["findings"] = findings(run)
    say_missing(folder, run, notes)
    run["notes"] = notes
    return run


def say_missing(folder, run, notes):
    """Notes the parts that the page lacks, and the setting that would make them."""
    if run["partition"]:
        return
    if not run["finished"] and not run["going"]:
        started = "The run goes on, or was ended before it could say what it has done"
        notes.append(f"{started}: there is no summary.json that can be read.")
    early = {}  # what ends before the run does, by its last step
    for part, what in (("map", "the map"), ("ranks", "the ranks' times")):
        end = run[part]["step"][-1] if run[part] else None
        if end is not None and run["steps"] and end < 0.95 * run["steps"]:
            early.setdefault(end, []).append(what)
    for end, parts in early.items():
        verb = "cover" if parts[-1][-1] == "s" else "covers"
        words = " and ".join(parts)
        notes.append(f"{words[0].upper()}{words[1:]} {verb} steps 0 to {end:,} of {run['steps']:,}.")
    for name, (why, key) in MISSING.items():
        off = key and switched_off(run["deck"] or "", *key)
        if not off and not os.path.lexists(os.path.join(folder, name)):
            notes.add(f"There is no {name}", why)


def last_step(run):
    """The step that the run has come to, as far as its files say; None where they don't."""
    tables = (run[name]["step"] for name in ("thermo", "timing") if run[name])
    return run["summary"].get("steps") or max((steps[-1] for steps in tables if steps), default=None)


def all_starts(run):
    """Steps and wall time of all starts that have written into this directory, and how many there were, by timing.csv.
    The summary is of the last start alone. None where there is one start, or where the table does not say."""
    timing, particles = run["timing"], run["summary"].get("particles")
    rows = [row for row in zip(timing["step"], timing["wall_seconds"]) if is_number(row[1])] if timing else []
    if not rows or len(run["starts"]) < 2:
        return None
    begin = max((s for s in run["starts"] if s <= rows[0][0]), default=0)
    (step, wall), count = rows[-1], sum(s >= begin for s in run["starts"])
    if count < 2 or step <= begin or wall <= 0:
        return None
    rate = particles * (step - begin) / wall if particles else None
    return {"starts": count, "wall_seconds": wall, "atom_steps_per_second": rate}


def box_of(deck):
    """Lengths of the box and which axes wrap around, by the effective deck; None where it does not say."""
    try:
        sides = [float(word) for word in list_of(deck, "box")]
    except ValueError:
        return None
    if not sides or not all(0 < side < 1e300 for side in sides):
        return None
    return {"sides": sides, "periodic": [word == "periodic" for word in list_of(deck, "boundary")]}


def starts(run):
    """The steps at which the program started, the first one and its restarts."""
    found = run.get("starts")
    steps = [s.get("step") for s in found if isinstance(s, dict)] if isinstance(found, list) else []
    return [s for s in steps if is_count(s)]


def checkpoints(folder):
    names = glob.glob(os.path.join(glob.escape(folder), "checkpoint_*.h5"))
    steps = (re.search(r"checkpoint_(\d+)\.h5$", name) for name in names)
    return sorted(int(s[1]) for s in steps if s)


def balance(table, notes):
    """The shown columns of balance.csv by model, the driver first."""
    if not table or not table["step"]:
        return None
    models = {}
    for i, model in enumerate(table["model"]):
        models.setdefault(model, []).append(i)
    drivers = {m for m, d in zip(table["model"], table["driver"]) if d == 1}
    shown = [c for c in (*BALANCE, "ghost_cells", "ghost_bytes") if c in table and c not in ("model", "driver")]
    found = []
    for m, rows in sorted(models.items(), key=lambda item: item[0] not in drivers):
        moved = sum(table["decision"][i] == "moved" for i in rows)
        some = few(rows, 20000, f"balance.csv, {m}", notes)
        columns = {c: [table[c][i] for i in some] for c in shown}
        found.append({**columns, "model": m, "driver": m in drivers, "moved": moved, "kept": len(rows) - moved})
    return found


def by_step(name, folder, notes, columns, words, each):
    """A table with several rows a step, one for `each`: {"step": steps, column: a list for each step}."""
    table = read_table(folder, name, notes, columns, words, ("step", each))
    if not table or not table["step"]:
        return None
    found = groups(table)
    rows = max(b - a for _, a, b in found)
    found = few(found, max(20, 400000 // rows), name, notes)
    lists = {c: [values[a:b] for _, a, b in found] for c, values in table.items() if c != "step"}
    return {"step": [step for step, _, _ in found], **lists}


def read_map(folder, deck, notes):
    """As cell_map(), with the axis along which one looks at first, and the axis that is upright or None."""
    columns = ("step", *BOX, "particles", "owner")
    found = cell_map(read_table(folder, "map.csv", notes, (*columns, "load"), (), columns, "frame"), notes)
    up = up_of(deck)
    return found and {**found, "axis": start_axis(found, up), "up": up and up[0]}


def cell_map(table, notes):
    """Frames of the map: the blocks of cells along each axis, and particles, load, owner and zone of each frame, by x,
    then y, then z."""
    if not table or not table["step"]:
        return None
    frames = groups(table)
    size = max(b - a for _, a, b in frames)
    frames = few([f for f in frames if f[2] - f[1] == size], max(2, 1000000 // size), "map.csv", notes)
    _, a, b = frames[0]
    edges = [sorted(set(table[f"{x}0"][a:b])) + [max(table[f"{x}1"][a:b])] for x in "xyz"]
    tiled = math.prod(len(e) - 1 for e in edges) == size and all(e[-1] > e[-2] for e in edges)
    wanted = list(itertools.product(*(e[:-1] for e in edges))) if tiled else None
    places = list(zip(table["x0"], table["y0"], table["z0"]))
    frames = [f for f in frames if places[f[1] : f[2]] == wanted]
    if not frames or max(table["owner"]) >= MOST_OWNERS:
        notes.add("map.csv", "its blocks of cells do not tile a box, or have no owner, and it is left out")
        return None
    columns = {c: table[c] for c in ("particles", "load", "owner", "zone") if c in table}
    found = {c: [values[a:b] for _, a, b in frames] for c, values in columns.items()}
    return {"step": [step for step, _, _ in frames], "edges": edges, **found}


def ranks(table, run, notes):
    """For each frame of ranks.csv: the seconds a step that each rank spent in each phase since the frame before."""
    if not table or not table["step"]:
        return None
    phases = [p for p in PHASES if p in table]
    sums = phases + [c for c in ("wall_seconds", "wait_seconds", "messages", "bytes") if c in table]
    intervals, before = [], {}  # rows of the frame before, of this start
    for step, a, b in groups(table):
        start = table["start"][a]
        past = before.get(start)
        begin = past[0] if past else run["starts"][start] if start < len(run["starts"]) else 0
        rows = [{c: table[c][i] for c in sums} for i in range(a, b)]
        for row in rows:
            row["other"] = max(0.0, (row["wall_seconds"] or 0) - sum(row[p] or 0 for p in phases))
        if step > begin and (not past or len(past[1]) == len(rows)):
            old = past[1] if past else [dict.fromkeys(row, 0) for row in rows]
            each = [{c: ((r[c] or 0) - (o[c] or 0)) / (step - begin) for c in r} for r, o in zip(rows, old)]
            intervals.append({"from": begin, "step": step, "rows": each})
        before = {start: (step, rows)}
    if not intervals:
        notes.add("ranks.csv", "it has no two frames of a start, between which time goes by")
        return None
    names = list(dict.fromkeys([*phases, "other", *sums]))
    _, a, b = groups(table)[-1]
    return {
        **{key: [i[key] for i in intervals] for key in ("step", "from")},
        "phases": [n for n in names if n in PHASES],
        **{c: table[c][a:b] if c in table else [] for c in ("node", "particles")},
        **{n: [[row.get(n, 0) for row in i["rows"]] for i in intervals] for n in names},
    }


def message_matrix(path, notes):
    """Bytes and messages between ranks, by a file of --trace-messages: of each (source, target), in the whole file."""
    folder, name = os.path.split(path)
    counts = ("source", "target", "bytes")
    table = read_table(folder or ".", name, notes, ("kind", *counts), ("kind",), counts)
    if table is None or max(table["source"] + table["target"], default=0) > 4096:
        notes.add(name, "no messages are shown")
        return None
    pairs = {}
    for s, t, n in zip(table["source"], table["target"], table["bytes"]):
        pairs.setdefault((s, t), []).append(n)
    return [[s, t, len(sizes), sum(sizes)] for (s, t), sizes in sorted(pairs.items())] or None

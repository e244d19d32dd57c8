# SPDX-License-Identifier: MIT
"""Restarts beside tables that other programs have changed, cut or replaced. docs/reliability.md lists the promises.
Claims that do not depend on the number of ranks are tested on one rank."""
import os
import shutil

import pytest

from program import SMALL, checkpoints, once, our_lines, summary, table
from test_losses import EVERYTHING, aside, go, read, write

TABLES = ("thermo.csv", "timing.csv", "balance.csv", "resources.csv", "zones.csv")
ACCELERATED = dict(accelerator__backend="host", accelerator__controller="fixed")
ALL_TABLES = EVERYTHING | ACCELERATED
BALANCED = dict(output__every=10, checkpoint__every=40, balance__every=10, balance__clock="work")
TIMED = ("model_seconds", "partition_seconds", "migrate_seconds", "wall_seconds", "cpu_seconds", "cpu_load")


@pytest.fixture(scope="module")
def interrupted(tmp_path_factory):
    """By the number of ranks: a run of all tables to step 120, and the same run after its restart to step 200."""
    pairs = {}
    for ranks in (0, 2):
        base = tmp_path_factory.mktemp("all") / "base"
        go(ranks, base, run__steps=120, **ALL_TABLES)
        assert set(TABLES) <= set(os.listdir(base))
        truth = shutil.copytree(base, f"{base}_truth")
        assert again(truth, ranks, run__steps=200) == ""
        pairs[ranks] = base, truth
    return pairs


TO_80 = dict(ranks=0, **SMALL, run__steps=80)
balanced, accelerated, everything = (once(**TO_80, **k) for k in (BALANCED, BALANCED | ACCELERATED, EVERYTHING))


def copy(base, tmp):
    return shutil.copytree(base, tmp / "x")


def again(out, ranks=0, keys=ALL_TABLES, **more):
    """Standard error of a restart in the directory."""
    return go(ranks, out, "--restart", "auto", **keys | more)


def edit(change, *path):
    """Changes the bytes of a file, which are returned."""
    data = change(read(*path))
    write(data, *path)
    return data


def exact(out, name):
    """The cells of a table without its columns of times, and its last character."""
    text = read(out, name).decode()
    rows = [line.split(",") for line in text.splitlines()]
    keep = [i for i, c in enumerate(rows[0]) if c not in TIMED and (name != "zones.csv" or c in ("step", "rank"))]
    return [[r[i] for i in keep] for r in rows] + [text[-1:]]


def lines(change):
    return lambda data: b"".join(change(data.splitlines(keepends=True)))


READABLE = {
    "carriage returns": lambda d: d.replace(b"\n", b"\r\n"),
    "a blank line": lines(lambda r: r[:2] + [b"\n"] + r[2:]),
    "blank lines at the end": lambda d: d + b"\n \r\n\n",
    "a byte order mark": lambda d: b"\xef\xbb\xbf" + d,
    "no last line feed": lambda d: d[:-1],
    "half a row at the end": lambda d: d + b"128,0.1",
    "all of them": lambda d: b"\xef\xbb\xbf\r\n" + d.replace(b"\n", b"\r\n\r\n")[:-4],
}
UNREADABLE = {
    "a column more": ("balance.csv", lines(lambda r: [line[:-1] + b",1\n" for line in r])),
    "a column less": ("resources.csv", lines(lambda r: [line.rsplit(b",", 1)[0] + b"\n" for line in r])),
    "a renamed column": ("zones.csv", lambda d: d.replace(b"step", b"Step", 1)),
    "no first line": ("thermo.csv", lines(lambda r: r[1:])),
    "a comment": ("timing.csv", lambda d: b"# mine\n" + d),
    "semicolons": ("balance.csv", lambda d: d.replace(b",", b";")),
    "other columns": ("resources.csv", lines(lambda r: [b",".join(x[:-1].split(b",")[::-1]) + b"\n" for x in r])),
    "rows in another order": ("zones.csv", lines(lambda r: [r[0]] + r[:0:-1])),
    "a word between": ("thermo.csv", lines(lambda r: r[:2] + [b"mine\n"] + r[2:])),
    "no bytes": ("timing.csv", lambda d: b""),
    "zeros in front": ("balance.csv", lambda d: b"\0" * 100 + d[100:]),
}


@pytest.mark.parametrize("what", READABLE)
def test_readable_table(tmp, interrupted, what):
    """Tables that an editor or a spreadsheet has saved are continued."""
    base, truth = interrupted[2]
    x = copy(base, tmp)
    for name in TABLES:
        edit(READABLE[what], x, name)
    assert again(x, 2, run__steps=200) == "" and not aside(x)
    for name in TABLES:
        assert exact(x, name) == exact(truth, name), f"{name} is not continued: {read(x, name)[:300]!r}"


@pytest.mark.parametrize("what", UNREADABLE)
def test_unreadable_table(tmp, interrupted, what):
    """A table that cannot be continued is put aside and named; a new one begins, and the others go on."""
    base, truth = interrupted[0]
    x, (name, change) = copy(base, tmp), UNREADABLE[what]
    changed, folder = edit(change, x, name), x / "previous_1"
    text = again(x, run__steps=200)
    assert aside(x) == [name] and read(folder, name) == changed, f"put aside are {aside(x)}"
    assert text.count("note") == text.count("\n") == 1 and name in text and str(folder) in text, text
    head, *after = exact(x, name)
    later = [r for r in exact(truth, name)[1:-1] if int(r[0]) >= 120 + (name not in ("thermo.csv", "timing.csv"))]
    assert after[:-1] == later and head == exact(truth, name)[0], f"the new file holds {after}"
    for other in TABLES:
        assert other == name or exact(x, other) == exact(truth, other), f"{other} has changed"


@pytest.mark.parametrize("name", TABLES[1:4])
def test_missing_table(tmp, interrupted, name):
    base, truth = interrupted[2]
    x = copy(base, tmp)
    for gone in (name, "trajectory.h5"):
        (x / gone).unlink()
    text = again(x, 2, run__steps=200)
    assert text.count("note") == 2 and all(w in text for w in ("missing", f" {name} ", " trajectory.h5 ")), text
    assert exact(x, name)[0] == exact(truth, name)[0] and not aside(x), exact(x, name)[:3]


@pytest.mark.parametrize("ranks", (1, 3))
def test_three_tables(tmp, ranks):
    """Tables that are put aside at once lie in one folder."""
    go(ranks, tmp, run__steps=120, **EVERYTHING)
    for name in TABLES[:3]:
        edit(lambda d: b"# mine\n" + d, tmp, name)
    text = again(tmp, ranks, EVERYTHING, run__steps=200)
    assert aside(tmp) == sorted(TABLES[:3]) and text.count("previous_1") == 3, f"{aside(tmp)} {text!r}"
    # A run that was balanced and is not any more keeps the rows up to its restart.
    again(tmp, ranks, {}, run__steps=220, output__every=10)
    assert not (tmp / "previous_2").exists()


# Tables hold a first line and steps 0 to 80. A case has the lines that are left, their steps, and words of the note.
CUT = {
    "in the row of step 40": (lambda r: r[:5] + [r[5][:9]], [0, 10, 20, 30], ("4 rows", 40, 70, 30)),
    "after the step of a row": (lambda r: r[:5] + [b"4"], [0, 10, 20, 30], ("4 rows", 40, 70, 30)),
    "in the last number of a row": (lambda r: r[:5] + [r[5][:-2]], [0, 10, 20, 30], ("4 rows", 40, 70, 30)),
    "after the first line": (lambda r: r[:1], [], ("8 rows", 0, 70)),
    "before its tail": (lambda r: r[:8], [0, 10, 20, 30, 40, 50, 60], ("the row of step 70", 60)),
    "around one row": (lambda r: r[:3] + r[4:], [0, 10, 30, 40, 50, 60, 70], ("the row of step 20", 10)),
    "around its first rows": (lambda r: r[:1] + r[3:], [20, 30, 40, 50, 60, 70], ("2 rows", 0, 10)),
}


@pytest.mark.parametrize("name", TABLES[:2])
@pytest.mark.parametrize("where", CUT)
def test_cut_table(tmp, balanced, name, where):
    """A table that was cut is continued, and one note says once which rows are missing."""
    x, (change, left, said) = copy(balanced, tmp), CUT[where]
    edit(lines(change), x, name)
    text = again(x, 0, BALANCED, run__steps=120)
    assert len(our_lines(text)) == 1 and f" {name} has lost " in text, text
    assert all(str(s) in text.split(name)[1] for s in said), f"{text!r} does not say {said}"
    assert [int(row["step"]) for row in table(x, name)] == left + [80, 90, 100, 110, 120]
    assert again(x, 0, BALANCED, run__steps=140) == ""


def test_cut_balance_rows(tmp, balanced):
    x = copy(balanced, tmp)
    edit(lines(lambda r: r[:5] + [r[5][:9]]), x, "balance.csv")
    text = again(x, 2, BALANCED, run__steps=120)
    assert len(our_lines(text)) == 1 and "balance.csv has lost the row of step 50, after" in text, text


@pytest.mark.parametrize("every", (7, 20, 90))
def test_other_interval(tmp, balanced, every):
    """Rows that a run with another interval does not write are not lost."""
    x = copy(balanced, tmp)
    for steps, now in ((120, every), (130, every), (150, 10)):
        assert again(x, 0, BALANCED, run__steps=steps, output__every=now) == "", f"to step {steps} by {now}"


def test_older_checkpoint(tmp, balanced):
    x = copy(balanced, tmp)
    text = go(0, x, restart=x / "checkpoint_40.h5", run__steps=60, **BALANCED)
    assert "has lost" not in text, text


def test_begun_elsewhere(tmp, balanced):
    """A restart from another directory's checkpoint misses no rows, nor does the same command after an early kill."""
    out, keys = tmp / "out", BALANCED | dict(run__steps=120, output__every=9, restart=balanced / "checkpoint_40.h5")
    assert go(0, out, **keys) == ""
    write(read(balanced, "thermo.csv").splitlines(keepends=True)[0], out, "thermo.csv")
    for name in ("checkpoint_80.h5", "checkpoint_120.h5", "summary.json"):
        (out / name).unlink()
    assert go(0, out, **keys) == "" and again(out, 0, BALANCED, run__steps=140) == ""


def cell(column, value):
    """Puts a value into a column of the third row."""

    def change(rows):
        cells = rows[3].rstrip(b"\n").split(b",")
        cells[column] = value
        return rows[:3] + [b",".join(cells) + b"\n"] + rows[4:]

    return change


STRANGE = [(name, cell(column, value)) for name, column, value in (
    ("thermo.csv", 3, b"nan"), ("thermo.csv", 9, b"inf"), ("thermo.csv", 4, b"abc"), ("thermo.csv", 4, b""),
    ("thermo.csv", 9, b""), ("thermo.csv", 5, b"1.5x"), ("thermo.csv", 0, b"020"), ("thermo.csv", 0, b"+20"),
    ("timing.csv", 1, b"soon"), ("timing.csv", 2, b"-nan"), ("balance.csv", 3, b"abc"), ("balance.csv", 1, b""),
    ("balance.csv", 14, b""), ("zones.csv", 2, b""),
)]  # fmt: skip
STRANGE += [(name, lambda rows: rows[:4] + rows[3:]) for name in ("thermo.csv", "timing.csv")]  # a row twice


@pytest.mark.parametrize("name, change", STRANGE)
def test_strange_row(tmp, accelerated, name, change):
    """A table with a row that no run writes is put aside."""
    x = copy(accelerated, tmp)
    data = edit(lines(change), x, name)
    text = again(x, 0, BALANCED | ACCELERATED, run__steps=90)
    assert len(our_lines(text)) == 1 and f" {name} has no " in text, text
    assert read(x, "previous_1", name) == data


NO_FILES = {"directory": (0, "directories are no"), "symbolic link": (2, "symbolic links are not followed")}
RESULTS = ("thermo.csv", "balance.csv", "run.json", "deck.yaml", "trajectory.h5", "fields.xdmf", "summary.json")


@pytest.mark.parametrize("name", RESULTS)
@pytest.mark.parametrize("kind", NO_FILES)
def test_no_file(tmp, everything, name, kind):
    """What has the name of a result and is no file is put aside, alone, with its true reason."""
    x, (ranks, reason) = copy(everything, tmp), NO_FILES[kind]
    there, kept = x / name, read(x, name)
    away = there.rename(tmp / "away")
    if kind == "directory":
        there.mkdir()
        write(b"mine", there, "mine")
    else:
        there.symlink_to(away)
    text = again(x, ranks, EVERYTHING, run__steps=120)
    assert len(our_lines(text)) == 1 and f" {name}: {reason}" in text and "missing" not in text, text
    assert aside(x) == [name] and there.is_file() and not there.is_symlink(), aside(x)
    assert away.read_bytes() == kept, "the link was followed"
    assert summary(x)["steps"] == 120


def test_linked_checkpoint(tmp, everything):
    """A checkpoint is never written again, so it may lie elsewhere."""
    x = copy(everything, tmp)
    there = x / "checkpoint_80.h5"
    there.symlink_to(there.rename(tmp / "checkpoint_80.h5"))
    assert again(x, 2, EVERYTHING, run__steps=120) == "" and not aside(x) and checkpoints(x) == [100, 120]

# SPDX-License-Identifier: MIT
"""Results that other programs change, and what a run does then.

Groups: csv_restarts pipes damaged_files locks first_result killed_early old_checkpoints. docs/reliability.md lists
the promises. Every run has a time limit.
"""
import fcntl
import glob
import os
import shutil
import signal
import subprocess
import time

import pytest

from program import HANG_SECONDS, DECK, SOURCE, checkpoints, hash_of, rows, run, settings, start, summary, wait_for_rows

SMALL = [
    "system.box=[60.0, 40.0]",
    "system.slabs.0.lower=[10, 10]",
    "system.slabs.0.upper=[28, 30]",
    "system.slabs.1.lower=[30, 10]",
    "system.slabs.1.upper=[48, 30]",
]
LBE_OF_0_1_0 = {"r1": "0.928814", "a1": "0.928057", "moving_average": "0.899053"}
QUICK = [x for s in SMALL for x in ("--set", s)]  # some 800 particles
EVERYTHING = dict(
    output__every=10,
    output__fields_every=20,
    output__trajectory_every=20,
    balance__every=10,
    balance__clock="work",
    checkpoint__every=50,
)


def go(ranks, out, *more, code=0, **keys):
    got, text = run(ranks, "run", DECK, "--out", out, "--quiet", *more, *QUICK, *settings(**keys))
    assert got == code, f"{out} {more} {keys} on {ranks} ranks: exit code {got}, not {code}: {text!r}"
    return text


def read(*path):
    with open(os.path.join(*path), "rb") as f:
        return f.read()


def write(data, *path):
    with open(os.path.join(*path), "wb") as f:
        f.write(data)


def aside(out):
    """The content of the folders previous_<n>, by name."""
    return sorted(os.path.basename(p) for p in glob.glob(os.path.join(out, "previous_*", "*")))


def test_csv_restarts(tmp):
    """Rows survive editors and spreadsheets; a file that cannot be continued is put aside and named."""
    truth, base = os.path.join(tmp, "truth"), os.path.join(tmp, "base")
    accelerators = dict(EVERYTHING, accelerator__backend="host", accelerator__controller="fixed")
    go(2, base, run__steps=120, **accelerators)
    shutil.copytree(base, truth)
    assert go(2, truth, "--restart", "auto", run__steps=200, **accelerators) == ""
    names = ("thermo.csv", "timing.csv", "balance.csv", "resources.csv", "zones.csv")
    assert all(os.path.exists(os.path.join(base, n)) for n in names), f"a run of all tables: {os.listdir(base)}"
    timed = ("model_seconds", "partition_seconds", "migrate_seconds", "wall_seconds", "cpu_seconds", "cpu_load")

    def exact(out, name):
        """The file, or of tables with times the columns without."""
        text = read(out, name).decode()
        rows = [line.split(",") for line in text.splitlines()]
        keep = [i for i, c in enumerate(rows[0]) if c not in timed and (name != "zones.csv" or c in ("step", "rank"))]
        return [[r[i] for i in keep] for r in rows] + [text[-1:]]

    def lines(change):
        return lambda data: b"".join(change(data.splitlines(keepends=True)))

    readable = {
        "carriage returns": lambda d: d.replace(b"\n", b"\r\n"),
        "a blank line": lines(lambda r: r[:2] + [b"\n"] + r[2:]),
        "blank lines at the end": lambda d: d + b"\n \r\n\n",
        "a byte order mark": lambda d: b"\xef\xbb\xbf" + d,
        "no last line feed": lambda d: d[:-1],
        "half a row at the end": lambda d: d + b"128,0.1",
        "all of them": lambda d: b"\xef\xbb\xbf\r\n" + d.replace(b"\n", b"\r\n\r\n")[:-4],
    }
    unreadable = {
        "a column more": lines(lambda r: [line[:-1] + b",1\n" for line in r]),
        "a column less": lines(lambda r: [line.rsplit(b",", 1)[0] + b"\n" for line in r]),
        "a renamed column": lambda d: d.replace(b"step", b"Step", 1),
        "no first line": lines(lambda r: r[1:]),
        "a comment": lambda d: b"# mine\n" + d,
        "semicolons": lambda d: d.replace(b",", b";"),
        "columns in another order": lines(lambda r: [b",".join(line[:-1].split(b",")[::-1]) + b"\n" for line in r]),
        "rows in another order": lines(lambda r: [r[0]] + r[:0:-1]),
        "a word between": lines(lambda r: r[:2] + [b"mine\n"] + r[2:]),
        "no bytes": lambda d: b"",
        "zeros in front": lambda d: b"\0" * 100 + d[100:],
    }
    x = os.path.join(tmp, "x")
    tried = 0

    def restarted(change, ranks, which):
        shutil.rmtree(x, ignore_errors=True)
        shutil.copytree(base, x)
        for name in which:
            changed = change(read(x, name)) if change else None
            os.remove(os.path.join(x, name))
            if change:
                write(changed, x, name)
        return go(ranks, x, "--restart", "auto", run__steps=200, **accelerators)

    for what, change in readable.items():
        tried += 1
        text = restarted(change, 2, names)
        assert not text and not aside(x), f"{what}: {text!r} {aside(x)}"
        for name in names:
            assert exact(x, name) == exact(truth, name), f"{what}: {name} is not continued: {read(x, name)[:300]!r}"
    for what, change in unreadable.items():
        name = names[tried % len(names)]
        tried += 1
        text = restarted(change, 2, [name])
        folder = os.path.join(x, "previous_1")
        assert aside(x) == [name] and read(folder, name) == change(
            read(base, name)
        ), f"{what} in {name}: put aside are {aside(x)}"
        assert (
            text.count("note") == 1 and name in text and folder in text and text.count("\n") == 1
        ), f"{what} in {name}: {text!r}"
        head, *after = exact(x, name)
        later = [r for r in exact(truth, name)[1:-1] if int(r[0]) >= 120 + (name not in ("thermo.csv", "timing.csv"))]
        assert after[:-1] == later and head == exact(truth, name)[0], f"{what} in {name}: the new file holds {after}"
        for other in names:
            if other != name:
                assert exact(x, other) == exact(truth, other), f"{what} in {name}: {other} has changed"
    for ranks in (1, 2, 3):
        name = names[ranks]
        text = restarted(None, 2, [name, "trajectory.h5"])
        assert text.count("note") == 2 and all(
            f" {n} " in text and "missing" in text for n in (name, "trajectory.h5")
        ), f"without {name}: {text!r}"
        assert exact(x, name)[0] == exact(truth, name)[0] and not aside(x), f"without {name}: {exact(x, name)[:3]}"
    # All at once lie in one folder. On one and three ranks, without accelerators, whose count has to stay.
    for ranks in (1, 3):
        y = os.path.join(tmp, f"y{ranks}")
        go(ranks, y, run__steps=120, **EVERYTHING)
        for name in names[:3]:
            write(b"# mine\n" + read(y, name), y, name)
        text = go(ranks, y, "--restart", "auto", run__steps=200, **EVERYTHING)
        assert aside(y) == sorted(names[:3]) and text.count("previous_1") == 3, f"three files: {aside(y)} {text!r}"
        # A run that was balanced and is not any more keeps the rows up to its restart.
        go(ranks, y, "--restart", "auto", run__steps=220, output__every=10)
        assert not os.path.exists(os.path.join(y, "previous_2")), f"balancing switched off: {os.listdir(y)}"
    print(tried, "changed files")
    rows_that_are_gone(tmp)
    rows_of_others(tmp)
    no_files(tmp)


def lines_of(text):
    return [line for line in text.splitlines() if line.startswith("steelyard:")]


def rows_that_are_gone(tmp):
    """A table that was cut is continued, and one note names the missing rows. Without missing rows there is no note."""
    base, x = os.path.join(tmp, "cut"), os.path.join(tmp, "cut_x")
    keys = dict(output__every=10, checkpoint__every=40, balance__every=10, balance__clock="work")
    go(1, base, run__steps=80, **keys)
    whole = {n: read(base, n).splitlines(keepends=True) for n in ("thermo.csv", "timing.csv", "balance.csv")}

    def steps_of(name):
        return [int(line.split(b",")[0]) for line in read(x, name).splitlines()[1:]]

    def restarted(name, data, out=x, **more):
        shutil.rmtree(x, ignore_errors=True)
        shutil.copytree(base, x)
        write(data, x, name)
        return go(2, x, "--restart", "auto", **dict(keys, run__steps=120, **more))

    for name in ("thermo.csv", "timing.csv"):
        r = whole[name]  # the first line, then steps 0 to 80
        for what, data, left, said in (
            ("cut in the row of step 40", b"".join(r[:5]) + r[5][:9], [0, 10, 20, 30], ("4 rows", 40, 70, 30)),
            ("cut after the step of a row", b"".join(r[:5]) + b"4", [0, 10, 20, 30], ("4 rows", 40, 70, 30)),
            ("cut in the last number of a row", b"".join(r[:6])[:-2], [0, 10, 20, 30], ("4 rows", 40, 70, 30)),
            ("only the first line", r[0], [], ("8 rows", 0, 70)),
            ("without its tail", b"".join(r[:8]), [0, 10, 20, 30, 40, 50, 60], ("the row of step 70", 60)),
            ("without one row", b"".join(r[:3] + r[4:]), [0, 10, 30, 40, 50, 60, 70], ("the row of step 20", 10)),
            ("without its first rows", b"".join(r[:1] + r[3:]), [20, 30, 40, 50, 60, 70], ("2 rows", 0, 10)),
        ):
            text = restarted(name, data)
            assert len(lines_of(text)) == 1 and f" {name} has lost " in text, f"{name} {what}: {text!r}"
            assert all(str(s) in text.split(name)[1] for s in said), f"{name} {what}: {text!r} does not say {said}"
            assert steps_of(name) == left + [80, 90, 100, 110, 120], f"{name} {what}: {steps_of(name)}"
            # It is said once.
            text = go(2, x, "--restart", "auto", **dict(keys, run__steps=140))
            assert not text, f"{name} {what}, the second restart: {text!r}"
    r = whole["balance.csv"]
    text = restarted("balance.csv", b"".join(r[:5]) + r[5][:9])
    assert len(lines_of(text)) == 1 and "balance.csv has lost the row of step 50, after" in text, text
    # Rows that are there, or that this run has never written here.
    for every in (7, 20, 90):
        name = "thermo.csv"
        text = restarted(name, b"".join(whole[name]), output__every=every)
        assert not text, f"another interval, {every}: {text!r}"
        for steps, now in ((130, every), (150, 10)):
            text = go(1, x, "--restart", "auto", **dict(keys, run__steps=steps, output__every=now))
            assert not text, f"intervals of 10, {every} and {now}: {text!r} {steps_of(name)}"
    text = go(1, base, "--restart", os.path.join(base, "checkpoint_40.h5"), **dict(keys, run__steps=60))
    assert "has lost" not in text, f"back to an older checkpoint: {text!r}"
    for killed in (False, True):  # begins elsewhere; a run that was killed early is started by the same command
        there = os.path.join(tmp, "cut_there")
        if killed:
            write(whole["thermo.csv"][0], there, "thermo.csv")
            for name in ("checkpoint_80.h5", "checkpoint_120.h5", "summary.json"):
                os.remove(os.path.join(there, name))
        text = go(
            1, there, "--restart", os.path.join(base, "checkpoint_40.h5"), **dict(keys, run__steps=120, output__every=9)
        )
        assert not text, f"begun from another directory: {text!r}"
    text = go(1, there, "--restart", "auto", **dict(keys, run__steps=140))
    assert not text, f"begun from another directory, and continued: {text!r}"


def rows_of_others(tmp):
    """Rows that no run writes make a table one that is put aside."""
    base, x = os.path.join(tmp, "others"), os.path.join(tmp, "others_x")
    keys = dict(
        output__every=10,
        checkpoint__every=40,
        balance__every=10,
        balance__clock="work",
        accelerator__backend="host",
        accelerator__controller="fixed",
    )
    go(2, base, run__steps=80, **keys)

    def cell(row, column, value):
        def change(lines):
            cells = lines[row].rstrip(b"\n").split(b",")
            cells[column] = value
            return lines[:row] + [b",".join(cells) + b"\n"] + lines[row + 1 :]

        return change

    def twice(lines):
        return lines[:4] + lines[3:]

    strange = [(name, f"{column}: {value}", cell(3, column, value)) for name, column, value in (
        ("thermo.csv", 3, b"nan"),
        ("thermo.csv", 9, b"inf"),
        ("thermo.csv", 4, b"abc"),
        ("thermo.csv", 4, b""),
        ("thermo.csv", 9, b""),
        ("thermo.csv", 5, b"1.5x"),
        ("thermo.csv", 0, b"020"),
        ("thermo.csv", 0, b"+20"),
        ("timing.csv", 1, b"soon"),
        ("timing.csv", 2, b"-nan"),
        ("balance.csv", 3, b"abc"),
        ("balance.csv", 1, b""),
        ("balance.csv", 14, b""),
        ("zones.csv", 2, b""),
    )]  # fmt: skip
    strange += [(name, "a row twice", twice) for name in ("thermo.csv", "timing.csv")]
    for name, what, change in strange:
        shutil.rmtree(x, ignore_errors=True)
        shutil.copytree(base, x)
        data = b"".join(change(read(x, name).splitlines(keepends=True)))
        write(data, x, name)
        text = go(2, x, "--restart", "auto", run__steps=90, **keys)
        assert (
            len(lines_of(text)) == 1 and f" {name} has no " in text and read(x, "previous_1", name) == data
        ), f"{name} with {what}: {text!r} {aside(x)}"


def no_files(tmp):
    """An entry that has the name of a result and is no file is put aside, alone, with its true reason."""
    base, x, away = (os.path.join(tmp, n) for n in ("no_files", "no_files_x", "no_files_away"))
    go(1, base, run__steps=80, **EVERYTHING)
    os.mkdir(away)
    for name in ("thermo.csv", "balance.csv", "run.json", "deck.yaml", "trajectory.h5", "fields.xdmf", "summary.json"):
        for kind, reason in (("directory", "directories are no"), ("symbolic link", "symbolic links are not followed")):
            shutil.rmtree(x, ignore_errors=True)
            shutil.copytree(base, x)
            there, kept = os.path.join(x, name), read(x, name)
            os.rename(there, os.path.join(away, name))
            if kind == "directory":
                os.mkdir(there)
                write(b"mine", there, "mine")
            else:
                os.symlink(os.path.join(away, name), there)
            text = go(2, x, "--restart", "auto", run__steps=120, **EVERYTHING)
            what = f"a {kind} at {name}"
            assert (
                len(lines_of(text)) == 1 and f" {name}: {reason}" in text and "missing" not in text
            ), f"{what}: {text!r}"
            assert aside(x) == [name] and os.path.isfile(there) and not os.path.islink(there), f"{what}: {aside(x)}"
            assert read(away, name) == kept, f"{what}: it was followed"
            assert summary(x)["steps"] == 120, f"{what}: {summary(x)['steps']}"
    # A checkpoint is never written again, so it may lie elsewhere.
    shutil.rmtree(x)
    shutil.copytree(base, x)
    os.rename(os.path.join(x, "checkpoint_80.h5"), os.path.join(away, "checkpoint_80.h5"))
    os.symlink(os.path.join(away, "checkpoint_80.h5"), os.path.join(x, "checkpoint_80.h5"))
    text = go(2, x, "--restart", "auto", run__steps=120, **EVERYTHING)
    assert not text and not aside(x) and checkpoints(x) == [80, 100, 120][-2:], f"{text!r} {os.listdir(x)}"


def test_pipes(tmp):
    """Pipes, devices and directories in place of input files are refused at once; nothing is opened that could wait."""
    pipe, out = os.path.join(tmp, "pipe"), os.path.join(tmp, "out")
    os.mkfifo(pipe)
    os.mkdir(os.path.join(tmp, "folder"))
    field = ["--set", "load.kind=dataset", "--set", "load.dataset=/x"]
    saved = ["--set", "load.kind=checkpoint"]
    for place, kind in (
        (pipe, "pipe"),
        ("/dev/zero", "device"),
        ("/dev/tty", "device"),
        (os.path.join(tmp, "folder"), "directory"),
    ):
        for words, code in (
            (["check", place], 2),
            (["run", place], 2),
            (["predict", place], 2),
            (["partition", place], 2),
            (["info", place], 3),
            (["run", DECK, "--restart", place], 3),
            (["run", DECK, "--prediction", place], 3),
            (["predict", DECK, "--machine", place], 3),
            (["partition", DECK, *field, "--set", f"load.file={place}"], 3),
            (["partition", DECK, *saved, "--set", f"load.file={place}"], 3),
        ):
            for ranks in (0, 2) if kind == "pipe" else (1,):
                more = ["--out", out] if words[0] in ("run", "predict", "partition") else []
                what = f"{words[0]} of a {kind} on {ranks} ranks: {words}"
                got, text = run(ranks, *words, *more, timeout=HANG_SECONDS)
                lines = [line for line in text.splitlines() if line.startswith("steelyard:")]
                assert (
                    got == code and len(lines) == 1 and "; " in lines[0] and place in lines[0]
                ), f"{what}: exit code {got}, not {code}: {text!r}"
                assert not os.path.exists(out), f"{what}: a directory is left"


def under_way(ranks, out, **keys):
    """A run that lasts until it is told to end, with some rows and frames written."""
    process = start(
        ranks,
        "run",
        DECK,
        "--out",
        out,
        "--quiet",
        *QUICK,
        *settings(run__steps=10000000, **dict(EVERYTHING, checkpoint__every=200, **keys)),
    )
    assert wait_for_rows(out, 25, process), "the run does not start"
    return process


def grows(path, process, seconds=HANG_SECONDS):
    """Until a file is there and has grown twice."""
    end, sizes = time.monotonic() + seconds, set()
    while time.monotonic() < end and process.poll() is None and len(sizes) < 3:
        if os.path.exists(path) and os.path.getsize(path) > 0:
            sizes.add((os.path.getsize(path), os.stat(path).st_mtime_ns))
        time.sleep(0.01)
    return len(sizes) >= 3


def ended(process, seconds=HANG_SECONDS):
    try:
        return process.communicate(timeout=seconds)[1]
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        pytest.fail(f"it still runs after {seconds} s")


def emptied(path):
    os.truncate(path, 0)


def replaced(path):
    write(read(path) + b"mine\n", path + ".new")
    os.rename(path + ".new", path)


def damage_while_running(ranks, out, path, damage, *more, **keys):
    """A run ends with code 5 and one line that names the damaged file. Its last checkpoint stays."""
    process = start(ranks, "run", DECK, "--out", out, "--quiet", *more, *QUICK, *settings(
        **dict(EVERYTHING, run__steps=10000000, checkpoint__every=20, **keys)))  # fmt: skip
    assert wait_for_rows(out, 25, process) and os.path.getsize(path) > 0, f"{path}: the run does not start"
    damage(path)
    text = ended(process, 120)
    what = f"{damage.__name__} {path} on {ranks} ranks: {process.returncode} {text!r}"
    ours = [line for line in text.splitlines() if line.startswith("steelyard:")]
    assert (
        process.returncode == 5 and len(ours) == 1 and f"{path}: was re" in ours[0].replace("was changed", "was re")
    ), what
    assert checkpoints(out), what


def test_damaged_files(tmp):
    """A file that vanishes, shrinks or is replaced under a run ends it; the restart goes on from its checkpoint."""
    ways = ((1, os.remove), (2, emptied), (3, replaced))
    for i, name in enumerate(("thermo.csv", "timing.csv", "balance.csv", "fields.xdmf", "trajectory.h5")):
        for ranks, damage in ways if name == "thermo.csv" else (ways[i % 3],):
            out = os.path.join(tmp, f"{damage.__name__}_{name}")
            damage_while_running(ranks, out, os.path.join(out, name), damage)
            end = checkpoints(out)[-1] + 40
            text = go(ranks, out, "--restart", "auto", **dict(EVERYTHING, run__steps=end))
            assert summary(out)["steps"] == end, f"{name}: {text!r}"
            assert "error" not in text, f"{name}: {text!r}"
    out, trace = os.path.join(tmp, "traced"), os.path.join(tmp, "trace.csv")  # lies outside of the directory
    damage_while_running(2, out, trace, os.remove, "--trace-messages", trace)


def test_locks(tmp):
    """A directory that vanishes ends its run; a lock that is removed keeps other runs out all the same."""
    for ranks in (1, 2, 3):
        for again in (False, True):
            out = os.path.join(tmp, f"gone{ranks}{again}")
            process = under_way(ranks, out)
            os.rename(out, out + "_away")  # at once, as removing it file by file is not
            if again:
                os.mkdir(out)
            text = ended(process, HANG_SECONDS)
            what = f"a directory that vanishes{' and is made again' if again else ''} on {ranks} ranks"
            ours = [line for line in text.splitlines() if line.startswith("steelyard: error: ")]
            assert (
                process.returncode == 5 and len(ours) == 1 and "; " in ours[0]
            ), f"{what}: {process.returncode} {text!r}"
            # A write that has begun when the directory is exchanged ends in the new one.
            assert not again or len(os.listdir(out)) <= 1, f"{what}: {os.listdir(out)}"
    for ranks in (1, 2):
        out = os.path.join(tmp, f"lock{ranks}")
        process = under_way(ranks, out)
        os.remove(os.path.join(out, ".steelyard.lock"))
        for more in (["--force"], ["--restart", "auto"], ["--restart", "auto", "--force"]):
            got, text = run(ranks, "run", DECK, "--out", out, "--quiet", *more, *QUICK, *settings(run__steps=20))
            assert got == 2 and "another run" in text, f"without the lock's file, {more}: {got} {text!r}"
            assert not aside(out), f"{more}: {os.listdir(out)}"
        assert grows(os.path.join(out, "thermo.csv"), process), "the first run was disturbed"
        assert os.path.exists(os.path.join(out, ".steelyard.lock")), "the file of the lock is not made again"
        # Where a file system locks files only, another run gets in; the first one notices at its next write and ends.
        with open(os.path.join(out, "other"), "w") as other:
            fcntl.flock(other, fcntl.LOCK_EX)
            os.rename(other.name, os.path.join(out, ".steelyard.lock"))
            text = ended(process, HANG_SECONDS)
        assert process.returncode == 5 and "another run" in text, f"a lock taken away: {process.returncode} {text!r}"


def test_first_result(tmp):
    """A run that fails before its first result leaves nothing in the way of the corrected command."""
    dense = [  # too many particles for the 16-bit indices of a tile, which shows when neighbour lists are built
        "system.box=[640, 100]",
        "system.slabs.0.lower=[0.5, 1]",
        "system.slabs.0.upper=[8.4, 99]",
        "system.slabs.0.density=100",
        "system.slabs.1.lower=[600, 10]",
        "system.slabs.1.upper=[610, 20]",
        "system.slabs.1.density=0.5",
        "grid.tile=[8, 512]",
        "system.potential.kind=soft_sphere",
        "system.potential.sigma=0.2",
    ]
    bad = [x for s in dense for x in ("--set", s)]
    ranks = 1  # more of them split the slab
    for there in ([], ["notes.txt"]):
        out = os.path.join(tmp, f"first{len(there)}")
        for name in there:
            os.mkdir(out)
            write(b"mine", out, name)
        words = ["run", DECK, "--out", out, "--quiet", *settings(run__steps=20, **EVERYTHING)]
        got, text = run(ranks, *words, *bad)
        assert got == 4 and "16-bit" in text, f"a slab that is too dense on {ranks} ranks: {got} {text!r}"
        left = [n for n in os.listdir(out) if n != ".steelyard.lock"] if os.path.exists(out) else []
        assert left == there, f"what a run left that failed at once: {left}"
        got, text = run(ranks, *words, *QUICK)
        assert got == 0, f"the corrected command on {ranks} ranks: {got} {text!r}"
        # With results of another run there, which are put aside at the first result only.
        before = {n: read(out, n) for n in os.listdir(out) if n != ".steelyard.lock"}
        got, text = run(ranks, *words, "--force", *bad)
        now = {n: read(out, n) for n in os.listdir(out) if n != ".steelyard.lock"}
        assert got == 4 and now == before, f"--force on {ranks} ranks: {got} {sorted(now)}"


def test_killed_early(tmp):
    """A run was killed before its first checkpoint. --restart auto names a remedy, which works without a watcher."""
    for ranks in (1, 2, 3):
        out = os.path.join(tmp, f"early{ranks}")
        process = start(
            ranks, "run", DECK, "--out", out, "--quiet", *QUICK, *settings(run__steps=10000000, output__every=10)
        )
        assert wait_for_rows(out, 5, process), "the run does not start"
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        text = go(ranks, out, "--restart", "auto", code=3, run__steps=40)
        assert "--restart auto --force" in text and text.count("\n") == 1, f"before the first checkpoint: {text!r}"
        for steps in (40, 80):  # the second time there is a checkpoint, and --force puts nothing aside
            text = go(ranks, out, "--restart", "auto", "--force", run__steps=steps, checkpoint__every=40)
            assert os.listdir(out).count("previous_1") == 1 and "previous_2" not in os.listdir(out), os.listdir(out)
            assert (text.count("put aside") == 1) == (steps == 40), text
        assert checkpoints(out) == [40, 80] and rows(out).splitlines()[1].startswith("0,"), os.listdir(out)
        # A finished run that goes on and is killed keeps its summary, under a name that says it is an earlier one.
        kept = read(out, "summary.json")
        process = start(
            ranks,
            "run",
            DECK,
            "--out",
            out,
            "--quiet",
            "--restart",
            "auto",
            *QUICK,
            *settings(run__steps=10000000, output__every=10),
        )
        assert wait_for_rows(out, 12, process), "the restart does not start"
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        assert not os.path.exists(os.path.join(out, "summary.json")), "an old summary passes for that of a killed run"
        before = os.path.join(out, "summary_before.json")
        assert os.path.exists(before) and read(before) == kept, f"the summary is lost: {os.listdir(out)}"
        go(ranks, out, "--restart", "auto", run__steps=120, checkpoint__every=40)
        assert summary(out)["steps"] == 120 and not os.path.exists(before), os.listdir(out)


def test_old_checkpoints(tmp):
    """A checkpoint that version 0.1.0 has written is continued with its balancing, to the hash of 0.1.0."""
    deck, old = os.path.join(SOURCE, "restarts/small.yaml"), os.path.join(SOURCE, "restarts/small_0.1.0.h5")
    for ranks in (1, 2, 3):
        out = os.path.join(tmp, f"old{ranks}")
        code, text = run(ranks, "run", deck, "--out", out, "--quiet", "--restart", old)
        assert code == 0 and text == "", f"a checkpoint of version 0.1.0 on {ranks} ranks: {code} {text!r}"
        assert hash_of(out) == "8d4ed16b1500105b", f"another hash than with version 0.1.0: {hash_of(out)}"
        lbe = {m: f"{v:.6f}" for m, v in summary(out)["overall_lbe"].items()}
        assert lbe == LBE_OF_0_1_0, f"what balancing had learnt is lost: {lbe}"

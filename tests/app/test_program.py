# SPDX-License-Identifier: MIT
"""Tests of the program as users run it.

Groups: command_line one_hash restarts balancing limits stages signals full_disk kills readers. Every run has a time
limit.
"""
import calendar
import itertools
import os
import pty
import random
import re
import shutil
import signal
import subprocess
import time

import pytest

from program import (
    COLLISIONS,
    DECK,
    HANG_SECONDS,
    LARGE,
    SOURCE,
    checkpoints,
    command,
    decisions,
    environment,
    fresh,
    hash_of,
    options,
    processes_of,
    rows,
    rows_written,
    run,
    settings,
    start,
    summary,
    wait_for_rows,
)


TMP = object()  # the test's directory
CALLS = [
    (["--version"], 0),
    (["--help"], 0),
    (["run", "--help"], 0),
    ([], 2),
    (["fly"], 2),
    (["run"], 2),
    (["run", "no_such.yaml"], 2),
    (["run", TMP], 2),
    (["run", DECK, "--set", "run.stepz=4"], 2),
    (["run", DECK, "--set", "run.steps"], 2),
    (["run", DECK, "--nonsense"], 2),
    (["check", DECK], 0),
    (["check", DECK, "--set", "balance.processes=0"], 2),
    (["check", "--set", "run.steps=3"], 2),
    (["check", DECK, "--set", "balance.every=5", "--set", "balance.partition.min_width=1000"], 2),
    (["info", DECK], 3),
    (["info", "no_such.h5"], 3),
    (["run", DECK, "--restart", DECK, "--out", TMP], 3),
    (["run", DECK, "--restart", "no_such.h5", "--out", TMP], 3),
    (["run", DECK, "--out", "/proc/nowhere"], 5),
    (["run", DECK, "--restart", "", "--out", TMP], 2),
    (["info", ""], 2),
    (["run", DECK, "--set", "", "--out", TMP], 2),
]


@pytest.mark.group("command_line")
@pytest.mark.parametrize("ranks", (0, 2))
@pytest.mark.parametrize("arguments, code", CALLS)
def test_exit_code(tmp, ranks, arguments, code):
    got, text = run(ranks, *(tmp if a is TMP else a for a in arguments))
    assert got == code, text
    if code:
        assert text.count("\n") == 1 and text.startswith("steelyard: error: ") and "; " in text, "one line, a remedy"


def test_command_line(tmp):
    code, text = run(3, "run", DECK, "--out", tmp, *settings(balance__processes=2))
    assert code == 2 and text.count("\n") == 1, f"fewer processes than ranks: {code} {text!r}"
    # Two particles on top of each other, found after some steps by whichever rank owns them.
    code, text = run(2, "run", DECK, "--out", tmp, "--quiet", *settings(run__dt=0.03, run__steps=50))
    assert (
        code == 4 and text.count("\n") == 1 and "particle" in text and "step" in text
    ), f"a dt that is too long: {code} {text!r}"


@pytest.mark.group("command_line")
@pytest.mark.parametrize("deck, ranks", (("liquid", 1), ("slab", 2), ("slab_soft", 1), ("tiny", 3)))
def test_expected_memory(tmp, deck, ranks):
    """The memory that check expects is what a run needs: of particles to 10 %, of the whole to 15 %."""
    path, out = os.path.join(SOURCE, f"inputs/{deck}.yaml"), os.path.join(tmp, deck)
    said = subprocess.run(
        command(ranks, "check", path), env=environment(), capture_output=True, text=True, timeout=HANG_SECONDS
    ).stdout
    particles, whole = map(
        float,
        re.search(
            r"about ([0-9.]+) MB per rank for particles,\s+(?:# )?([0-9.]+) MB with cells and the program", said
        ).groups(),
    )
    assert (
        run(ranks, "run", path, "--out", out, "--quiet", *settings(run__steps=40, output__fields_every=0))[0] == 0
    ), f"run of {deck}"
    s = summary(out)
    for name, megabytes, most in (("particle_bytes", particles, 0.1), ("peak_resident_bytes", whole, 0.15)):
        got = s[name]["mean"] * 1e-6
        assert (
            abs(megabytes / got - 1) < most
        ), f"check says {megabytes} MB of {name} for {deck} on {ranks} ranks, a run needs {got:.1f}"


@pytest.mark.group("command_line")
@pytest.mark.parametrize("balancing, ranks", (({}, 1), ({}, 2), (dict(balance__every=2, balance__clock="work"), 1)))
def test_expected_memory_of_cells(tmp, balancing, ranks):
    """Empty cells count, too; a box whose cells no node holds is refused before anything is done."""
    given = settings(system__box="[6000,6000]", run__steps=4, output__fields_every=0, **balancing)
    said = subprocess.run(
        command(ranks, "check", DECK, *given), env=environment(), capture_output=True, text=True, timeout=HANG_SECONDS
    ).stdout
    expected = float(re.search(r"([0-9.]+) MB with cells and the program", said).group(1))
    out = os.path.join(tmp, "out")
    assert run(ranks, "run", DECK, "--out", out, "--quiet", *given)[0] == 0
    got = summary(out)["peak_resident_bytes"]["mean"] * 1e-6
    assert abs(expected / got - 1) < 0.25, f"check says {expected} MB, a run needs {got:.1f}"
    out = os.path.join(tmp, "huge")
    code, text = run(ranks, "run", DECK, "--out", out, *settings(system__box="[1e6,1e6]", **balancing))
    assert code == 2 and text.count("\n") == 1 and "400000 x 400000 cells" in text, f"{code} {text!r}"
    assert not os.path.exists(out)


@pytest.mark.group("command_line")
def test_effective_deck(tmp):
    """The effective deck gives the same run."""
    out = os.path.join(tmp, "a"), os.path.join(tmp, "b")
    assert run(0, "run", DECK, "--out", out[0], "--quiet", *settings(run__steps=20))[0] == 0, "run"
    assert (
        run(0, "run", os.path.join(out[0], "deck.yaml"), "--out", out[1], "--quiet")[0] == 0
    ), "run of the effective deck"
    assert hash_of(out[0]) == hash_of(out[1]) and rows(out[0]) == rows(out[1]), "the effective deck gives another run"


def printed(ranks, *arguments):
    """Standard output."""
    return subprocess.run(
        command(ranks, *arguments), env=environment(), capture_output=True, text=True, timeout=HANG_SECONDS
    ).stdout


@pytest.mark.group("command_line")
def test_about_itself(tmp):
    version = printed(0, "--version").splitlines()
    said = dict(line.split(maxsplit=1) for line in version[1:])
    assert version[0] == "steelyard 0.2.0" and list(said) == [
        "commit",
        "compiler",
        "MPI",
        "HDF5",
        "kernels",
        "CUDA",
    ], f"--version: {version}"
    assert re.fullmatch("unknown|[0-9a-f]{7,}(-dirty)?", said["commit"]), f"--version: {said}"
    assert (
        re.match(r"\S.* v?[0-9]+\.[0-9]+", said["MPI"])
        and re.match(r"1\.[0-9.]+, (serial|parallel)$", said["HDF5"])
        and "scalar" in said["kernels"]
    ), f"--version: {said}"
    out = os.path.join(tmp, "itself")
    assert run(0, "run", DECK, "--out", out, "--quiet", *settings(run__steps=0))[0] == 0, "run"
    s = summary(out)
    b = s["build"]
    assert (
        b["version"] == "0.2.0"
        and [b["commit"], b["compiler"], b["mpi"], b["hdf5"]]
        == [said[k] for k in ("commit", "compiler", "MPI", "HDF5")]
        and ", ".join(b["kernels"]) == said["kernels"].split(";")[0]
    ), f"build in summary.json: {b}"
    assert (
        s["command_line"][1:3] == ["run", DECK]
        and abs(calendar.timegm(time.strptime(s["date"], "%Y-%m-%dT%H:%M:%SZ")) - time.time()) < 60
    ), f"{s['command_line']} {s['date']}"
    with open(os.path.join(SOURCE, "docs/deck.md")) as f:
        page = f.read()
    for ranks in (0, 2):
        assert (
            printed(ranks, "check") == page
        ), f"docs/deck.md is not what `steelyard check` prints on {ranks} ranks: write it anew"
    for arguments in (["--help"], ["run", "--help"], ["partition", "--help"], ["check", "--help"], ["info", "--help"]):
        text = printed(0, *arguments)
        assert max(map(len, text.splitlines())) <= 80, f"{arguments}: a line of {max(map(len, text.splitlines()))}"
        if arguments in (["--help"], ["run", "--help"]):
            assert all(
                word in text for word in ("Exit codes", "  75 ", "OMP_NUM_THREADS", "STEELYARD_ISA", "mpiexec -n")
            ), f"{arguments}: {text}"
    for folder, _, files in os.walk(os.path.join(SOURCE, "scripts")):
        for path in (os.path.join(folder, f) for f in files):
            with open(path, "rb") as f:
                assert f.read(2) != b"#!" or os.access(path, os.X_OK), f"{path} is not executable"


@pytest.mark.group("command_line")
def test_commits(tmp):
    """The script that finds the commit at each build."""
    if not shutil.which("cmake") or not shutil.which("git"):
        return print("no cmake or no git: that part is left out")
    tree, found = os.path.join(tmp, "tree"), os.path.join(tmp, "commit.cpp")

    def git(*arguments):
        return subprocess.run(
            ["git", "-C", tree, "-c", "user.name=a", "-c", "user.email=a@b", *arguments],
            check=True,
            capture_output=True,
            text=True,
        ).stdout.strip()

    def commit(source=tree):
        subprocess.run(
            [
                "cmake",
                "-D",
                f"SOURCE={source}",
                "-D",
                f"FILE={found}",
                "-P",
                os.path.join(SOURCE, "app/common/commit.cmake"),
            ],
            check=True,
            timeout=HANG_SECONDS,
        )
        with open(found) as f:
            return re.search('"(.*)"', f.read()).group(1)

    os.makedirs(os.path.join(tree, "inside"))
    assert commit() == "unknown", "a commit outside git"
    git("init", "-q")
    for text in ("one", "two"):
        with open(os.path.join(tree, "file"), "w") as f:
            f.write(text)
        git("add", "file")
        git("commit", "-q", "-m", text)
        assert commit() == git("rev-parse", "--short", "HEAD"), f"commit {commit()}"
    before = os.stat(found).st_mtime_ns
    commit()
    assert os.stat(found).st_mtime_ns == before, "written although nothing has changed"
    assert commit(os.path.join(tree, "inside")) == "unknown", "the commit of a project around a tarball"
    with open(os.path.join(tree, "file"), "w") as f:
        f.write("three")
    assert commit() == git("rev-parse", "--short", "HEAD") + "-dirty", f"changed files: {commit()}"


@pytest.mark.group("command_line")
def test_what_it_prints(tmp):
    """Lines that an 80-column terminal doesn't wrap, with the numbers of their nouns."""
    out = os.path.join(tmp, "printed")
    keys = dict(run__steps=40, output__every=1, system__potential__epsilon=1000, run__dt=1e-5)
    balanced = dict(
        keys,
        balance__every=5,
        balance__clock="work",
        balance__migrate="always",
        balance__compare="[time_average, a1, b1]",
    )
    for ranks, more in ((0, keys), (2, balanced)):
        text = printed(ranks, "run", DECK, "--out", fresh(out), *settings(**more))
        assert "state hash" in text and all(
            len(line) < 80 for line in text.replace(out, "out").splitlines()
        ), f"lines of 80 columns and more: {text}"
        assert not re.search(r"\b1 (ranks|threads|processes|tiles|rebuilds|migrations|balancings)", text) and (
            ranks or "1 rank x 1 thread," in text and "1 process," in text
        ), text
        assert (ranks > 0) == (
            re.search(r"balancing made this run (\d+\.\d % (shorter|longer)|no shorter)", text) is not None
        ), text
    # What made a run longer is not called a saving, and what was not balanced has saved nothing.
    slow = printed(2, "run", DECK, "--out", fresh(out), *settings(**dict(balanced, balance__partition__kind="none")))
    assert "8 measurements of balance, the partition stays, 0 migrations," in slow and "by none" not in slow, slow
    assert "perfect balance would" in slow and "balancing made" not in slow, slow
    worse = printed(
        2,
        "run",
        DECK,
        "--out",
        fresh(out),
        *settings(**dict(balanced, balance__compare="[]", balance__processes=4, balance__model="a1", balance__noise=1)),
    )
    w = summary(out)["worth"]["net"]
    said = re.search(r"balancing makes computing ([0-9.]+) % longer for 4 virtual processes,\s+(\S+) s on the", worse)
    assert w["saved"] < -0.01 and said and abs(float(said[1]) / 100 + w["saved"]) < 1e-3, f"{w}: {worse}"
    assert said[2] == f"{w['seconds']:.3g}", f"{w}: {worse}"
    # Steps that are too short for the clock are no balancings without a word.
    few = os.path.join(tmp, "few.yaml")
    with open(few, "w") as f:
        f.write(
            "system: {box: [50, 30], slabs: [{lower: [10, 10], upper: [12, 12], lattice: hexagonal, density: 0.25,"
            " temperature: 0.1}]}\nrun: {dt: 0.001, steps: 20}\n"
        )
    short = printed(2, "run", few, "--out", fresh(out), *settings(balance__every=1, balance__migrate="always"))
    assert (
        "20 balancings" in short
        and "overall LBE" not in short
        and "too little time between two balancings for the clock" in short
    ), short
    said = printed(0, "check", DECK)
    assert "1 process on 1 rank," in said, said
    # In a terminal the line is written over in place.
    main_end, other_end = pty.openpty()
    process = subprocess.Popen(
        command(0, "run", DECK, "--out", fresh(out), *settings(**dict(keys, run__steps=300))),
        env=environment(),
        stdout=other_end,
        stderr=other_end,
    )
    os.close(other_end)
    text = b""
    while True:
        try:
            piece = os.read(main_end, 65536)
        except OSError:  # the other end is closed
            break
        if not piece:
            break
        text += piece
    os.close(main_end)
    assert process.wait(timeout=HANG_SECONDS) == 0, "run in a terminal"
    lines = [line for line in re.split(r"[\r\n]+", text.decode().replace("\x1b[K", "").replace(out, "out")) if line]
    assert sum(line.startswith("step ") for line in lines) >= 2 and max(map(len, lines)) < 80, f"in a terminal: {lines}"


@pytest.mark.group("command_line")
def test_other_files(tmp):
    """What isn't a checkpoint is called by its name, by info and by a restart; nothing is waited for."""
    out = os.path.join(tmp, "kinds")
    assert (
        run(
            0,
            "run",
            DECK,
            "--out",
            out,
            "--quiet",
            *settings(
                run__steps=20,
                checkpoint__every=20,
                output__fields_every=20,
                output__trajectory_every=20,
                balance__every=10,
                balance__clock="work",
                balance__processes=3,
                balance__compare="[a1]",
            ),
        )[0]
        == 0
    ), "run"
    os.mkfifo(os.path.join(out, "pipe"))
    with open(os.path.join(out, "checkpoint_20.h5"), "rb") as f:
        whole = f.read()
    for name, data in (
        ("nothing", b""),
        ("notes.txt", b"two words\n"),
        ("binary", bytes(range(256))),
        ("damaged.h5", whole[:100] + b"?" + whole[101:]),
        ("front.h5", bytes(512) + whole[512:]),
        ("plain.h5", whole[512:]),
        ("huge", b"x" * 4096),
    ):
        with open(os.path.join(out, name), "wb") as f:
            f.write(data)
    os.truncate(os.path.join(out, "huge"), 1 << 40)
    trajectory = next(n for n in sorted(os.listdir(out)) if n.startswith("trajectory"))
    for name, what in (
        (trajectory, "is a trajectory"),
        ("fields_20.h5", "holds fields of cells"),
        ("deck.yaml", "is a deck or another YAML file"),
        ("thermo.csv", "is a CSV table"),
        ("nothing", "is empty"),
        ("notes.txt", "is a text file"),
        ("binary", "is not a checkpoint"),
        ("huge", "is a text file"),
        ("pipe", "is a pipe or device"),
        ("", "is a directory"),
        ("missing.h5", "there is no such file"),
        ("damaged.h5", "is a checkpoint that is damaged or of another version"),
        ("front.h5", "is a checkpoint that is damaged or of another version"),
        ("plain.h5", "is a trajectory"),
    ):
        path = os.path.join(out, name)
        for ranks, arguments in (
            (2, ["info", path]),
            (0, ["run", DECK, "--out", os.path.join(tmp, "never"), "--restart", path]),
        ):
            code, text = run(ranks, *arguments, timeout=HANG_SECONDS)
            assert (
                code == 3
                and text.startswith(f"steelyard: error: {path}: {what}")
                and text.count("\n") == 1
                and "; " in text
            ), f"{arguments[0]} of {name!r}: {code} {text!r}"
    brief = printed(0, "info", "--brief", os.path.join(out, "checkpoint_20.h5"))
    assert len(brief.splitlines()) <= 8 and all(
        w in brief
        for w in (
            "step 20, time 0.01, 20142 particles",
            summary(out)["state_hash"],
            "a run to step 20",
            "last at step 20",
            "r1 (3 processes), a1 (3 processes)",
        )
    ), brief
    assert brief == printed(2, "info", "--brief", os.path.join(out, "checkpoint_20.h5")) and printed(
        0, "info", os.path.join(out, "checkpoint_20.h5")
    ).startswith(brief + "\n#"), "info without --brief"


def test_one_hash(tmp):
    """300 steps of a 20,000-particle collision over everything that must not matter."""
    everything = list(itertools.product([1, 2, 3, 4, 7], [1, 2], [12, 32], ["0.2", "0.4", "auto"], [1, 50], [None, 40]))
    chosen = everything if options.full else random.Random(1).sample(everything, 12)
    for precision in ("mixed", "double"):
        hashes = {}

        def one(ranks, threads=1, isa=None, binary=None, **keys):
            out = os.path.join(tmp, "o")
            code, text = run(
                ranks,
                "run",
                DECK,
                "--out",
                fresh(out),
                "--quiet",
                *settings(run__precision=precision, **keys),
                threads=threads,
                isa=isa,
                binary=binary,
            )
            assert code == 0, f"{ranks} ranks, {keys}: {code} {text}"
            hashes.setdefault(hash_of(out), []).append((ranks, threads, isa, binary, keys))

        for ranks, threads, tile, skin, every, processes in chosen:
            keys = dict(grid__tile=tile, grid__skin=skin, output__every=every)
            one(ranks, threads, **(dict(keys, balance__processes=processes) if processes else keys))
        for binary in [options.binary] + options.other:
            for isa in ("scalar", "portable", "avx2", "avx512"):
                if (
                    isa == "scalar"
                    or run(
                        0,
                        "run",
                        DECK,
                        "--out",
                        fresh(os.path.join(tmp, "p")),
                        "--quiet",
                        *settings(run__steps=0),
                        isa=isa,
                    )[0]
                    == 0
                ):
                    one(0, isa=isa, binary=binary)
        assert len(hashes) == 1, f"{precision}: {len(hashes)} hashes: {hashes}"
        print(precision, sum(map(len, hashes.values())), "runs, hash", *hashes, flush=True)


def test_restarts(tmp):
    """Stopped in the middle on N ranks, continued on M: hash, rows and fields of the undisturbed run."""
    whole = os.path.join(tmp, "whole")
    keys = dict(run__steps=120, output__every=20)
    assert run(1, "run", DECK, "--out", whole, "--quiet", *settings(**keys))[0] == 0, "whole run"
    counts = [1, 2, 3, 4, 7]
    for n, m in itertools.product(counts, counts) if options.full else [(1, 2), (2, 1), (2, 3), (4, 7), (7, 2)]:
        out = os.path.join(tmp, f"{n}to{m}")
        code, text = run(
            n, "run", DECK, "--out", out, "--quiet", *settings(**dict(keys, run__steps=60), checkpoint__every=25)
        )
        assert code == 0 and checkpoints(out) == [50, 60], f"{n} ranks to step 60: {code} {text} {os.listdir(out)}"
        os.remove(os.path.join(out, "checkpoint_60.h5"))
        # Another number of threads, another checkpoint cadence; rows from step 50 on are written again.
        code, text = run(
            m,
            "run",
            DECK,
            "--out",
            out,
            "--quiet",
            "--restart",
            "auto",
            *settings(**keys, checkpoint__every=33),
            threads=2,
        )
        assert code == 0 and hash_of(out) == hash_of(whole), f"{n} -> {m} ranks: {code} {text}"
        assert rows(out) == rows(whole), f"{n} -> {m} ranks: other rows"
        # Another output cadence leaves the trajectory alone.
        code, text = run(
            m,
            "run",
            DECK,
            "--out",
            out,
            "--quiet",
            "--restart",
            os.path.join(out, "checkpoint_99.h5"),
            *settings(run__steps=120, output__every=7, checkpoint__every=120),
        )
        assert code == 0 and hash_of(out) == hash_of(whole), f"{n} -> {m} ranks, other cadence: {code} {text}"
        code, text = run(n, "run", DECK, "--out", out, "--quiet", "--restart", "auto", *settings(**keys))
        assert code == 0 and hash_of(out) == hash_of(whole), f"a finished run: {code} {text}"
        assert os.path.exists(os.path.join(out, "checkpoint_120.h5")), "no checkpoint at the last step"
        shutil.rmtree(out)
    # A changed dt is allowed, a changed system or grid is not.
    out = os.path.join(tmp, "changed")
    run(2, "run", DECK, "--out", out, "--quiet", *settings(**dict(keys, run__steps=60), checkpoint__every=60))
    assert (
        run(2, "run", DECK, "--out", out, "--quiet", "--restart", "auto", *settings(**keys, grid__tile=9))[0] == 3
    ), "another grid.tile"
    assert (
        run(2, "run", DECK, "--out", out, "--quiet", "--restart", "auto", *settings(**keys, grid__cell=2.6))[0] == 3
    ), "another grid.cell"
    for skins in (("auto", "0.4"), ("0.4", "auto"), ("0.4", "0.2")):
        other = os.path.join(tmp, "skin")
        assert (
            run(
                2,
                "run",
                DECK,
                "--out",
                fresh(other),
                "--quiet",
                *settings(**dict(keys, run__steps=60), checkpoint__every=60, grid__skin=skins[0]),
            )[0]
            == 0
        ), "run"
        code, text = run(
            1, "run", DECK, "--out", other, "--quiet", "--restart", "auto", *settings(**keys, grid__skin=skins[1])
        )
        assert (
            code == 0 and hash_of(other) == hash_of(whole) and rows(other) == rows(whole)
        ), f"grid.skin {skins}: {code} {text}"
    tiles = os.path.join(tmp, "tiles")
    run(
        1,
        "run",
        DECK,
        "--out",
        tiles,
        "--quiet",
        *settings(**dict(keys, run__steps=60), checkpoint__every=60, grid__tile=9),
    )
    code, text = run(2, "run", DECK, "--out", tiles, "--quiet", "--restart", "auto", *settings(**keys))
    assert code == 0 and hash_of(tiles) == hash_of(whole), f"grid.tile auto after 9: {code} {text}"
    assert (
        run(2, "run", DECK, "--out", out, "--quiet", "--restart", "auto", *settings(run__steps=40))[0] == 3
    ), "run.steps before the checkpoint"
    assert (
        run(2, "run", DECK, "--out", out, "--quiet", "--restart", "auto", *settings(**keys, run__dt=0.0002))[0] == 0
    ), "another dt"
    last = rows(out).splitlines()[-1].split(",")
    assert (
        last[0] == "120" and abs(float(last[1]) - (60 * 0.0005 + 60 * 0.0002)) < 1e-12
    ), f"time after another dt: {last[:2]}"
    # The newest is damaged: the previous one is used, and said so.
    run(2, "run", DECK, "--out", fresh(out), "--quiet", *settings(**keys, checkpoint__every=50))
    with open(os.path.join(out, "checkpoint_120.h5"), "r+b") as f:
        f.seek(100000)
        byte = f.read(1)
        f.seek(100000)
        f.write(bytes([byte[0] ^ 1]))
    code, text = run(3, "run", DECK, "--out", out, "--quiet", "--restart", "auto", *settings(**keys))
    assert (
        code == 0 and "warning" in text and hash_of(out) == hash_of(whole)
    ), f"a damaged newest checkpoint: {code} {text}"


def test_balancing(tmp):
    """Counted work: the same decisions to the last digit on any ranks and after a restart; the plain run's hash and its
    rows."""
    plain, whole = os.path.join(tmp, "plain"), os.path.join(tmp, "whole")
    keys = dict(run__steps=120, output__every=20)
    balanced = dict(
        keys,
        balance__every=5,
        balance__clock="work",
        balance__processes=40,
        balance__compare="[time_average, moving_average, particle_count, hybrid, a1, b1]",
        balance__noise=0.02,
        balance__migrate="always",
        balance__partition__cut="cells",
    )
    assert run(2, "run", DECK, "--out", plain, "--quiet", *settings(**keys))[0] == 0, "plain run"
    gaining = dict(
        balanced, balance__migrate="gain", balance__partition__cut="strips", balance__partition__order="tree"
    )
    for balanced, n, m in [(balanced, 2, 3), (balanced, 7, 1), (gaining, 1, 4)]:
        code, text = run(1, "run", DECK, "--out", fresh(whole), "--quiet", *settings(**balanced))
        assert (
            code == 0 and hash_of(whole) == hash_of(plain) and rows(whole) == rows(plain)
        ), f"balancing changes the run: {code} {text}"
        assert len(decisions(whole)) == 7 * 24 and len({r["lbe"] for r in decisions(whole)}) > 50, "rows of balance.csv"
        kept = sum(r["decision"] == "kept: gain" for r in decisions(whole))
        assert 0 < kept < 7 * 24 if balanced is gaining else kept == 0, f"{kept} balancings kept their partition"
        out = os.path.join(tmp, f"{n}to{m}")
        code, text = run(
            n, "run", DECK, "--out", out, "--quiet", *settings(**dict(balanced, run__steps=63), checkpoint__every=63)
        )
        assert code == 0 and decisions(out) == [
            r for r in decisions(whole) if int(r["step"]) <= 63
        ], f"{n} ranks: other decisions: {code} {text}"
        code, text = run(m, "run", DECK, "--out", out, "--quiet", "--restart", "auto", *settings(**balanced), threads=2)
        assert code == 0 and hash_of(out) == hash_of(plain), f"{n} -> {m} ranks: {code} {text}"
        assert decisions(out) == decisions(whole), f"{n} -> {m} ranks: other decisions after the restart"
        assert summary(out)["overall_lbe"] == summary(whole)["overall_lbe"], f"{n} -> {m} ranks: other overall LBE"
    # Nested partitions, whose last level is over threads: the same run, on fewer ranks than one node's and by both
    # clocks. An interval of 20 steps takes several times what the wall clock needs to be believed.
    for n, threads, more in (
        (2, 1, {}),
        (2, 2, {}),
        (4, 2, dict(balance__partition__processes_per_node=2)),
        (3, 2, dict(balance__clock="work", balance__processes=30, balance__partition__processes_per_node=10)),
    ):
        out = fresh(os.path.join(tmp, "nested"))
        code, text = run(
            n,
            "run",
            DECK,
            "--out",
            out,
            "--quiet",
            *settings(**keys, balance__every=20, balance__migrate="always", balance__partition__kind="nested", **more),
            threads=threads,
        )
        assert (
            code == 0 and hash_of(out) == hash_of(plain) and rows(out) == rows(plain)
        ), f"nested on {n} ranks of {threads} threads, {more}: {code} {text}"
        assert "moved" in {
            r["decision"] for r in decisions(out)
        }, f"nested on {n} ranks of {threads} threads never moved"
    # Each start has another kind of partition, or another number of processes and another model.
    changing = dict(keys, output__every=0, balance__every=5, checkpoint__every=15)
    for changes in (
        [dict(balance__partition__kind=k) for k in ("chain", "nested", "nested", "chain", "none", "none", "rcb")],
        [
            dict(balance__clock="work", balance__processes=p, balance__model=m)
            for p, m in ((5, "r1"), (9, "particle_count"), (4, "a1"), (4, "r1"))
        ],
    ):
        fresh(out)
        for i, more in enumerate(changes):
            code, text = run(
                2,
                "run",
                DECK,
                "--out",
                out,
                "--quiet",
                *(["--restart", "auto"] if i else []),
                *settings(**dict(changing, run__steps=15 * (i + 1)), **more),
            )
            assert code == 0, f"start {i} with {more}: {code} {text}"
    # From a plain run's checkpoint, with another model, and from a balanced one's without balancing.
    out = os.path.join(tmp, "mixed")
    assert (
        run(2, "run", DECK, "--out", out, "--quiet", *settings(**dict(keys, run__steps=60), checkpoint__every=60))[0]
        == 0
    ), "a plain start"
    for more in (
        dict(balanced, balance__model="b1", balance__compare="[a1, r1]"),
        dict(balanced, balance__clock="wall", balance__compare="[]", balance__migrate="gain"),
        keys,
    ):
        code, text = run(
            3,
            "run",
            DECK,
            "--out",
            out,
            "--quiet",
            "--restart",
            os.path.join(out, "checkpoint_60.h5"),
            *settings(**more),
        )
        assert code == 0 and hash_of(out) == hash_of(plain), f"{more} from a plain checkpoint: {code} {text}"
    assert (
        run(
            3,
            "run",
            DECK,
            "--out",
            fresh(out),
            "--quiet",
            *settings(**dict(balanced, run__steps=60), checkpoint__every=60),
        )[0]
        == 0
    ), "a balanced start"
    code, text = run(2, "run", DECK, "--out", out, "--quiet", "--restart", "auto", *settings(**keys))
    assert code == 0 and hash_of(out) == hash_of(plain), f"no balancing from a balanced checkpoint: {code} {text}"
    # A limit that cannot be met: one line, exit code 2, on all ranks.
    code, text = run(
        3,
        "run",
        DECK,
        "--out",
        fresh(out),
        "--quiet",
        *settings(**balanced, balance__partition__max_particles_per_process=400),
    )
    assert (
        code == 2 and text.count("\n") == 1 and "max_particles_per_process" in text
    ), f"an infeasible limit: {code} {text!r}"
    # Counted work beyond what 64 bits can sum, with the models that would see times that are wrong: the same.
    for ranks, model in ((2, "a1"), (3, "b1"), (2, "r1")):
        code, text = run(
            ranks,
            "run",
            DECK,
            "--out",
            fresh(out),
            "--quiet",
            *settings(
                **dict(keys, run__steps=20),
                balance__every=5,
                balance__clock="work",
                balance__model=model,
                balance__migrate="always",
                balance__work__pair=1e-3,
                balance__work__region__lower="[0, 0]",
                balance__work__region__upper="[260, 140]",
                balance__work__region__factor=100,
            ),
        )
        assert (
            code == 4
            and text.startswith("steelyard: error: run: step 5: the counted work of one step is ")
            and text.endswith("; make balance.work.region.factor (100) smaller\n")
            and text.count("\n") == 1
        ), f"too much counted work by {model}: {code} {text!r}"


def test_limits(tmp):
    """A limit that no partition keeps any more ends the run with a checkpoint, from which the stated limit works."""

    def keys(limit=None):
        k = dict(run__steps=60, output__every=20)
        if limit:
            # Without speeds, the step at which a limit fails follows from the loads alone and not from how speeds are
            # estimated.
            k.update(
                balance__every=5,
                balance__clock="work",
                balance__speeds="off",
                balance__migrate="always",
                balance__processes=6,
                balance__partition__cut="patches",
                balance__work__region__lower="[130, 0]",
                balance__work__region__upper="[260, 140]",
                balance__work__region__factor=1.3,
                balance__partition__max_particles_per_process=limit,
            )
        return settings(**k)

    plain, out = os.path.join(tmp, "plain"), os.path.join(tmp, "out")
    assert run(2, "run", DECK, "--out", plain, "--quiet", *keys())[0] == 0, "plain run"
    where, begin = "steelyard: error: balance.partition.max_particles_per_process: ", "no cut keeps 6 processes within"
    for ranks in (1, 3):
        # Nothing done yet: there is nothing to go on from.
        code, text = run(ranks, "run", DECK, "--out", fresh(out), "--quiet", *keys(3400))
        assert (
            code == 2
            and text.startswith(f"{where}step 0: {begin} 3400 particles; the smallest limit that works now is ")
            and text.endswith("; use it, or use more processes\n")
            and text.count("\n") == 1
            and not checkpoints(out)
        ), f"a limit that cannot be met on {ranks} ranks: {code} {text!r} {os.listdir(out)}"
        # In mid-run, with the row of that step written once, also after the restart.
        code, text = run(ranks, "run", DECK, "--out", fresh(out), "--quiet", *keys(3700))
        found = re.fullmatch(
            re.escape(where)
            + r"step (\d+): "
            + begin
            + r" 3700 particles; the smallest limit that works now is (\d+); "
            r"restart from the checkpoint of this step with it, or use more processes\n",
            text,
        )
        assert code == 2 and found, f"a limit that fails in mid-run on {ranks} ranks: {code} {text!r}"
        if not found:
            continue
        step, limit = map(int, found.groups())
        assert (
            step > 5 and limit > 3700 and checkpoints(out) == [step]
        ), f"step {step}, limit {limit}, {os.listdir(out)}"
        assert [r["decision"] for r in decisions(out, step - 1)] == [
            "kept: limit"
        ], f"rows of step {step}: {decisions(out, step - 1)}"
        code, text = run(4 - ranks, "run", DECK, "--out", out, "--quiet", "--restart", "auto", *keys(limit))
        assert (
            code == 0 and hash_of(out) == hash_of(plain) and rows(out) == rows(plain)
        ), f"from step {step} with limit {limit}: {code} {text!r}"
        done = decisions(out, step - 1)
        assert (
            [int(r["step"]) for r in done] == list(range(step, 61, 5))
            and [r["decision"] for r in done[:2]] == ["kept: limit", "moved"]
            and {r["decision"] for r in done[1:]} <= {"moved", "kept: same"}
        ), f"rows: {done}"
        # By the wall clock the limit is met in the same way; when it fails depends on the times.
        code, text = run(
            ranks, "run", DECK, "--out", fresh(out), "--quiet", *keys(3400), *settings(balance__clock="wall")
        )
        assert code == 2 and text.count("\n") == 1 and text.startswith(where), f"by the wall clock: {code} {text!r}"


def test_stages(tmp):
    """The two-stage job in a plain shell: t = 1 and a checkpoint, then another dt from there; and the checkpoint in
    restarts/."""
    script = os.path.join(SOURCE, "scripts/jobs/collision.sh")

    def job(stage, ranks, **more):
        e = dict(
            environment(), **dict(dict(OUT=tmp), **more), STAGE=str(stage), RANKS=str(ranks), BINARY=options.binary
        )
        return subprocess.run(
            ["bash", script],
            env=e,
            cwd=SOURCE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            timeout=HANG_SECONDS,
        )

    launchers(tmp, job)
    assert job(2, 2).returncode == 3, "stage 2 without stage 1"
    assert job(3, 2).returncode == 2, "no such stage"
    done = job(1, 8)
    assert done.returncode == 0 and checkpoints(os.path.join(tmp, "stage1")) == [
        1000
    ], f"stage 1: {done.returncode} {done.stderr}"
    done = job(2, 8, STEPS="1100", DT="0.0001")
    assert done.returncode == 0, f"stage 2: {done.returncode} {done.stderr}"
    last = rows(os.path.join(tmp, "stage2")).splitlines()[-1].split(",")
    assert last[0] == "1100" and abs(float(last[1]) - 1.01) < 1e-9, f"stage 2 ends at {last[:2]}"
    # The experiment on load models, small: one process a rank, real clocks, a task of each kind.
    script = os.path.join(SOURCE, "scripts/jobs/load_models.sh")
    small = dict(DECK="inputs/strip.yaml", FIRST_STEPS="60", OUT=os.path.join(tmp, "models"))
    done = job(1, 8, **small)
    assert done.returncode == 0, f"stage 1 of load_models.sh: {done.returncode} {done.stderr}"
    hashes = set()
    for task, name in ((14, "test2_r1"), (12, "test2_a1"), (15, "test2_none"), (6, "test1_r1")):
        done = job(2, 8, **small, TASK=str(task), STEPS="40")
        assert done.returncode == 0, f"task {task}: {done.returncode} {done.stderr}"
        out = os.path.join(tmp, "models", name)
        s = summary(out)
        assert (
            s["steps"] == 100 and s["processes"] == 8 and s["clock"] == "wall" and len(decisions(out)) >= 7
        ), f"task {task}: {s}"
        if name.startswith("test2"):
            hashes.add(s["state_hash"])
    assert len(hashes) == 1, f"the models' runs end in {hashes}"
    assert job(2, 8, **small, TASK="20").returncode == 2, "no such task"
    assert job(2, 8, **small, TASK="18").returncode == 2, "exact, by the wall clock"
    for task, name, clock in ((17, "test2_r1_ahead", "wall"), (18, "test1_exact", "work")):
        assert job(2, 8, **small, TASK=str(task), STEPS="10", CLOCK=clock).returncode == 0, f"task {task}"
        models = {r["model"] for r in decisions(os.path.join(tmp, "models", name))}
        assert models == {name.split("_", 1)[1]}, f"task {task}: {models}"
    code, text = run(
        3,
        "run",
        os.path.join(SOURCE, "inputs/strip_t1.yaml"),
        "--restart",
        os.path.join(SOURCE, "restarts/strip_t1.h5"),
        "--out",
        os.path.join(tmp, "again"),
        "--quiet",
        *settings(run__steps=1100, run__dt=0.0001),
    )
    assert code == 0 and hash_of(os.path.join(tmp, "again")) == hash_of(
        os.path.join(tmp, "stage2")
    ), f"from restarts/: {code} {text}"


def launchers(tmp, job):
    """Launcher and threads of the jobs, and a stage 2 that starts from an unfinished stage 1."""
    fake, seen = os.path.join(tmp, "fake launcher.d"), os.path.join(tmp, "seen")
    os.mkdir(fake)
    srun = os.path.join(fake, "srun")
    with open(srun, "w") as f:
        f.write(
            f'#!/bin/sh\nprintf "%s\\n" "$*" "$OMP_NUM_THREADS" >"{seen}"\nwhile [ "${{1#-}}" != "$1" ]; do case $1 in'
            ' -n) shift;; esac; shift; done\nexec "$@"\n'
        )
    os.chmod(srun, 0o755)
    hosts = os.path.join(tmp, "hosts")
    with open(hosts, "w") as f:
        f.write("a\n" * 6 + "b\n" * 6)
    small = dict(
        FIRST=DECK, SECOND=DECK, OUT=os.path.join(tmp, "small"), PATH=fake + ":" + os.environ["PATH"], NAME="launched"
    )

    def seen_by(**more):
        shutil.rmtree(small["OUT"], ignore_errors=True)
        done = job(1, 3, **small, SETTINGS="run.steps=0", **more)
        assert done.returncode == 0, f"{more}: {done.returncode} {done.stderr}"
        with open(seen) as f:
            arguments, threads = f.read().splitlines()
        return arguments.split(options.binary)[0].strip(), threads

    for more, expected in (
        (dict(), ("--mpi=pmi2 -n 3", "1")),
        (dict(THREADS="2", SLURM_CPUS_PER_TASK="3"), ("--mpi=pmi2 -n 3", "2")),
        (dict(SLURM_CPUS_PER_TASK="3"), ("--mpi=pmi2 -n 3", "3")),
        (dict(PBS_NODEFILE=hosts, NCPUS="24"), ("--mpi=pmi2 -n 3", "4")),
        (dict(PBS_NODEFILE=hosts, NCPUS="4"), ("--mpi=pmi2 -n 3", "1")),
        (dict(LAUNCHER="srun -n 5 -v"), ("-n 5 -v", "1")),
    ):
        got = seen_by(**dict(dict(LAUNCHER="srun --mpi=pmi2"), **more))
        assert got == expected, f"{more}: {got}, not {expected}"
    del small["NAME"]
    settled = dict(small, SETTINGS="run.steps=20 checkpoint.every=20")
    assert job(1, 2, **settled).returncode == 0, "stage 1"
    first = os.path.join(small["OUT"], "stage1")
    done = job(2, 2, **small, SETTINGS="run.steps=30")
    assert (
        done.returncode == 0
        and f"stage 2 starts from {first}/checkpoint_20.h5, step 20\n" in done.stdout
        and "warning" not in done.stderr
    ), f"stage 2: {done.stdout} {done.stderr}"
    with open(os.path.join(first, "deck.yaml")) as f:
        deck = f.read()
    with open(os.path.join(first, "deck.yaml"), "w") as f:
        f.write(deck.replace("  steps: 20 ", "  steps: 40 "))
    done = job(2, 2, **dict(small, NAME="early"), SETTINGS="run.steps=30")
    assert (
        done.returncode == 0
        and done.stderr
        == "collision.sh: warning: stage 1 has not reached its last step, 40; finish it first, unless you want this\n"
    ), f"an unfinished stage 1: {done.stderr}"


def test_signals(tmp):
    steps = dict(run__steps=2000, output__every=20)
    whole = os.path.join(tmp, "whole")
    assert run(2, "run", DECK, "--out", whole, "--quiet", *settings(**steps))[0] == 0, "whole run"
    for ranks, number in [(2, signal.SIGTERM), (2, signal.SIGINT), (2, signal.SIGUSR1), (0, signal.SIGTERM)]:
        out = os.path.join(tmp, f"{ranks}_{number}")
        process = start(ranks, "run", DECK, "--out", out, "--quiet", *settings(**steps))
        assert wait_for_rows(out, 3, process), "the run does not start"
        process.send_signal(number)
        text = process.communicate(timeout=HANG_SECONDS)[1]
        assert (
            process.returncode == 75 and len(checkpoints(out)) == 1
        ), f"{number!r} on {ranks} ranks: {process.returncode} {text} {os.listdir(out)}"
        code, text = run(1, "run", DECK, "--out", out, "--quiet", "--restart", "auto", *settings(**steps))
        assert (
            code == 0 and hash_of(out) == hash_of(whole) and rows(out) == rows(whole)
        ), f"after {number!r}: {code} {text}"
    out = os.path.join(tmp, "limit")
    code, text = run(
        2, "run", DECK, "--out", out, "--quiet", *settings(run__steps=10000000, checkpoint__time_limit_seconds=0.5)
    )
    assert code == 75 and len(checkpoints(out)) == 1 and "step" in text, f"time limit: {code} {text}"


def test_full_disk(tmp):
    keys = dict(run__steps=200, output__every=50, checkpoint__every=50)
    for ranks in (1, 2):
        out = os.path.join(tmp, f"limit{ranks}")
        assert (
            run(ranks, "run", DECK, "--out", out, "--quiet", *settings(**dict(keys, run__steps=60)), *LARGE)[0] == 0
        ), "first part"
        code, text = run(
            ranks,
            "run",
            DECK,
            "--out",
            out,
            "--quiet",
            "--restart",
            "auto",
            *settings(**keys),
            *LARGE,
            limit=6 << 20,
            timeout=HANG_SECONDS,
        )
        assert code == 5 and text.count("\n") == 1, f"file-size limit on {ranks} ranks: {code} {text!r}"
        assert run(0, "info", os.path.join(out, "checkpoint_60.h5"))[0] == 0, "the previous checkpoint does not load"
        assert (
            run(ranks, "run", DECK, "--out", out, "--quiet", "--restart", "auto", *settings(**keys), *LARGE)[0] == 0
        ), "restart after a full disk"
    # A small tmpfs, where this user may mount one.
    mount = os.path.join(tmp, "small")
    os.mkdir(mount)
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=5m", "tmpfs", mount], capture_output=True).returncode != 0:
        print("no permission to mount a tmpfs: that part is left out")
        return
    try:
        for ranks in (1, 2):
            out = os.path.join(mount, "out")
            code, text = run(
                ranks, "run", DECK, "--out", out, "--quiet", *settings(**keys, checkpoint__keep=9), timeout=HANG_SECONDS
            )
            assert code == 5 and text.count("\n") == 1, f"full tmpfs on {ranks} ranks: {code} {text!r}"
            left = checkpoints(out)
            assert (
                len(left) >= 1 and run(0, "info", os.path.join(out, f"checkpoint_{left[-1]}.h5"))[0] == 0
            ), f"no valid checkpoint on the full disk: {os.listdir(out)}"
            shutil.rmtree(out)
    finally:
        subprocess.run(["umount", mount], check=True)


def test_kills(tmp):
    """kill -9 of a rank or of mpiexec at random times; the job is gone, a restart goes on to the same end."""
    keys = dict(run__steps=1500, output__every=30, checkpoint__every=10)
    whole = os.path.join(tmp, "whole")
    assert (
        run(2, "run", DECK, "--out", whole, "--quiet", *settings(**dict(keys, checkpoint__every=0)))[0] == 0
    ), "whole run"
    rng = random.Random(5)
    wanted, done, fresh = 60 if options.full else 6, 0, 0
    slowest = 0.0
    while done < wanted:
        out = os.path.join(tmp, f"run{fresh}")
        fresh += 1
        while done < wanted:
            there = rows_written(out)
            process = start(2, "run", DECK, "--out", out, "--quiet", "--restart", "auto", "--force", *settings(**keys))
            # Start-up, restart, steps and checkpoint writing are all hit, by the run's own progress.
            if rng.random() < 0.7:
                wait_for_rows(out, there + rng.randint(0, 8), process)
            time.sleep(rng.uniform(0, 0.3))
            if process.poll() is not None:  # finished before the kill
                break
            ranks = processes_of(out)
            if rng.random() < 0.5 and ranks:
                os.kill(rng.choice(ranks), signal.SIGKILL)
            else:
                os.kill(process.pid, signal.SIGKILL)
            begin = time.monotonic()
            while time.monotonic() - begin < HANG_SECONDS and (process.poll() is None or processes_of(out)):
                time.sleep(0.01)
            slowest = max(slowest, time.monotonic() - begin)
            assert process.poll() is not None and not processes_of(out), "the job outlives its kill"
            process.stderr.close()
            done += 1
        code, text = run(2, "run", DECK, "--out", out, "--quiet", "--restart", "auto", "--force", *settings(**keys))
        assert code == 0 and hash_of(out) == hash_of(whole) and rows(out) == rows(whole), f"after kills: {code} {text}"
    print(f"{done} kills in {fresh} runs; the slowest job was gone after {slowest:.2f} s")


@pytest.mark.parametrize("dimensions", [2, 3])
def test_readers(tmp, dimensions):
    """h5py and, with --full, MDAnalysis read what the program says."""
    import h5py
    import numpy as np

    out, collision = os.path.join(tmp, "out"), COLLISIONS[dimensions]
    box, cells, beyond = collision.box, collision.cells, slice(dimensions, None)
    keys = collision.small | dict(
        run__steps=40,
        checkpoint__every=40,
        output__trajectory_every=40,
        output__trajectory_columns="[force, position]",
        output__fields_every=40,
        balance__every=10,
        balance__clock="work",
        balance__processes=12,
        balance__model="particle_count",
        balance__migrate="always",
    )
    assert run(3, "run", collision.deck, "--out", out, "--quiet", *settings(**keys))[0] == 0, "run"
    path = os.path.join(out, "checkpoint_40.h5")
    with (
        h5py.File(path) as f,
        h5py.File(os.path.join(out, "trajectory.h5")) as t,
        h5py.File(os.path.join(out, "fields_40.h5")) as c,
    ):
        g = f["particles/all"]
        ids, exact = f["exact/id"][:], f["exact/state"][:]
        assert np.array_equal(np.sort(ids), np.arange(len(ids))) and np.array_equal(g["id/value"][0], ids), "ids"
        x, v = exact[:, :dimensions] * 2.0**-40, exact[:, dimensions:] * 2.0**-40
        positions, velocities = g["position/value"][0], g["velocity/value"][0]
        assert np.array_equal(positions[:, :dimensions], x) and not positions[:, beyond].any(), "positions"
        assert np.array_equal(velocities[:, :dimensions], v) and not velocities[:, beyond].any(), "velocities"
        assert (x >= 0).all() and (x < box).all() and np.ptp(x, axis=0).min() > 10, "positions are not in the box"
        assert (
            np.array_equal(np.diag(g["box/edges/value"][0])[:dimensions], box) and g["box"].attrs["dimension"] == 3
        ), "box"
        assert g["position/step"][0] == 40 and abs(g["position/time"][0] - 40 * collision.dt) < 1e-15, "step and time"
        assert list(f["h5md"].attrs["version"]) == [1, 1], "H5MD version"
        assert np.array_equal(
            x[np.argsort(ids)], t["particles/all/position/value"][1][:, :dimensions]
        ), "the trajectory frame holds another state"
        assert (
            np.abs(t["particles/all/force/value"][1].sum(axis=0)).max() == 0 and "velocity" not in t["particles/all"]
        ), "forces don't cancel exactly"
        assert c["particles"][:].sum() == len(ids) and c["particles"].shape == tuple(cells[::-1]), "fields"
        count, _ = np.histogramdd(x, bins=cells, range=[(0, side) for side in box])
        assert np.array_equal(count.T, c["particles"][:]), "fields count particles elsewhere"
        assert np.allclose(c["load"][:], c["particles"][:], rtol=1e-9, atol=1e-9) and set(
            np.unique(c["owner"][:])
        ) == set(range(12)), "load by the particle count, owners"
        with open(os.path.join(out, "thermo.csv")) as thermo:
            last = thermo.read().splitlines()[-1].split(",")
        assert abs(float(last[3]) - 0.5 * (v**2).sum()) < 1e-6 * float(last[3]), "kinetic energy"
        if options.full:
            import MDAnalysis

            universe = MDAnalysis.Universe.empty(len(ids))
            universe.load_new(path, format="H5MD")
            frame = universe.trajectory[0]
            assert np.array_equal(frame.positions, positions.astype("f4")) and np.array_equal(
                frame.velocities, velocities.astype("f4")
            ), "MDAnalysis: positions, velocities"
            assert (
                abs(frame.time - 40 * collision.dt) < 1e-15
                and frame.data["step"] == 40
                and np.array_equal(frame.dimensions[:dimensions], box)
            ), f"MDAnalysis: time, step, box: {frame.time} {frame.data} {frame.dimensions}"

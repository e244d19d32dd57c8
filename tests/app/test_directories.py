# SPDX-License-Identifier: MIT
"""Output directories: used ones, a user's own deck, two runs at once, a wrong launcher, links and pipes at the names of
files, what cannot be written."""
import functools
import os
import shutil

import numpy as np
import pytest

from program import DECK, LARGE, QUICK, checkpoints, completed, fails_with, kill, ok, ok_run, once, our_lines
from program import rows, run, run_words, settings, summary, under_way, write_datasets

NAMES = {"deck.yaml", "map.csv", "ranks.csv", "run.json", "summary.json", "thermo.csv", "timing.csv"}
FILES = dict(output__fields_every=20, output__trajectory_every=20, checkpoint__every=20)
go = functools.partial(ok_run, **QUICK)


first_run = once(run__steps=40, **FILES, **QUICK)


@pytest.fixture
def used(first_run, tmp):
    """A copy of a directory that a run has used."""
    return shutil.copytree(first_run, tmp / "used")


def contents(folder):
    return {p.name: p.read_bytes() for p in folder.iterdir() if p.name != ".steelyard.lock"}


def test_used_directory(used):
    before = contents(used)
    fails_with(2, (), 1, *run_words(used, **QUICK, run__steps=20))
    fails_with(2, (), 3, *run_words(used, **QUICK, system__seed=8))
    fails_with(2, (), 1, *run_words(used, deck=used / "deck.yaml"))
    assert contents(used) == before


def test_force_loses_nothing(used):
    before = contents(used)
    text = go(used, "--force", ranks=2, run__steps=20, system__seed=8)
    assert "put aside" in text and set(os.listdir(used)) == {".steelyard.lock", "previous_1"} | NAMES
    assert contents(used / "previous_1") == before


COUNTS = np.ones((3, 6, 8), int)
COMMANDS = {
    "partition": [DECK],
    "predict": [DECK, "--processes", 1],
    "replay": ["loads.h5", *settings(balance__processes=4)],
}


@pytest.mark.parametrize("command", COMMANDS)
def test_results_of_other_commands(tmp, command):
    """As those of a run: refused without --force, put aside with it."""
    write_datasets(tmp / "loads.h5", load=COUNTS, particles=COUNTS)
    words, out = [command, *COMMANDS[command], "--quiet", "--out", "out"], tmp / "out"
    ok(0, *words, cwd=tmp)
    before = contents(out)
    for ranks, refused in ((0, words), (2, ["run", DECK, "--out", "out"])):
        fails_with(2, "holds results already", ranks, *refused, cwd=tmp)
    ok(2, *words, "--force", cwd=tmp)
    assert contents(out / "previous_1") == before


def test_restart_by_the_directory_s_own_deck(used):
    """An edited deck in the directory is kept when a restart by it writes the effective one."""
    deck = used / "deck.yaml"
    ok_run(used, deck=deck, restart="auto", run__steps=60)
    deck.write_text(deck.read_text() + "# my own words\n")
    ok_run(used, deck=deck, restart="auto", run__steps=80)
    assert (used / "previous_1/deck.yaml").read_text().endswith("# my own words\n")


@pytest.mark.parametrize("restart, code", ((None, 2), ("auto", 3)))
def test_deck_of_the_user_s_own(tmp, restart, code):
    """A deck and nothing else in the directory is not overwritten."""
    deck = tmp / "deck.yaml"
    shutil.copy(DECK, deck)
    fails_with(code, (), 1, *run_words(tmp, deck=deck, restart=restart, **QUICK))
    with open(DECK) as f:
        assert deck.read_text() == f.read()


@pytest.mark.parametrize("name", ("...yaml", "..yaml"))
def test_names_that_mean_another_place(tmp, name):
    shutil.copy(DECK, tmp / name)
    fails_with(2, (), 1, "run", name, *settings(**QUICK), cwd=tmp)
    assert os.listdir(tmp) == [name], "a deck's name led out of out/"


def test_no_name(tmp):
    fails_with(2, (), 1, *run_words("", **QUICK))


def test_line_break_in_a_name(tmp):
    out = tmp / "two\nlines"
    go(out, run__steps=20, checkpoint__every=20)
    go(out, ranks=2, restart="auto", run__steps=40)
    assert "\n0," in rows(out) and summary(out)["first_step"] == 20


def test_log_on_a_full_disk(used, tmp):
    """A run goes on if its output cannot be printed."""
    with open("/dev/full", "w") as full:
        words = ["run", DECK, "--out", tmp / "silent", *settings(**QUICK, run__steps=20)]
        done = completed(0, *words, stdout=full)
        assert (done.returncode, done.stderr) == (0, "")
        assert completed(0, "run", DECK, "--out", used, stderr=full).returncode == 2


def test_two_runs_at_once(tmp):
    """The second one is refused; the lock goes with its process, however that ends."""
    first = under_way(2, tmp, rows=3, **QUICK, output__every=50, checkpoint__every=200)
    for words in ((), ("--restart", "auto"), ("--force",)):
        fails_with(2, "another run", 1, *run_words(tmp, *words, **QUICK))
    assert first.poll() is None, "the first run was disturbed"
    kill(first)
    go(tmp, "--force", ranks=2, restart="auto", run__steps=max(checkpoints(tmp), default=0) + 20)


@pytest.mark.parametrize(
    "variables, ranks, code, lines",
    [
        (dict(OMPI_COMM_WORLD_SIZE="2", OMPI_COMM_WORLD_RANK="0"), 0, 2, 1),
        (dict(OMPI_COMM_WORLD_SIZE="2", OMPI_COMM_WORLD_RANK="1"), 0, 2, 0),
        (dict(PMI_SIZE="3", PMI_RANK="0"), 0, 2, 1),
        (dict(SLURM_NTASKS="5", SLURM_PROCID="0"), 0, 0, 0),
        (dict(OMPI_COMM_WORLD_SIZE="4"), 2, 0, 0),
    ],
)
def test_launcher_of_another_mpi(tmp, variables, ranks, code, lines):
    """It starts runs of one rank each; rank 0 says so."""
    out = tmp / "out"
    got, text = run(ranks, *run_words(out, **QUICK, run__steps=1), variables=variables)
    assert got == code and len(our_lines(text)) == lines, text
    assert out.exists() == (code == 0)


WRITTEN = ["thermo.csv", "timing.csv", "map.csv", "ranks.csv", "balance.csv", "deck.yaml", "summary.json", "run.json"]
WRITTEN += ["fields_20.h5", "fields_20.xdmf", "fields.xdmf", "trajectory.h5", "checkpoint_20.h5"]


@pytest.mark.parametrize("kind", ("link", "pipe"))
def test_links_and_pipes(tmp, kind):
    """At every name that can be foreseen they are replaced, not followed."""
    out, target = tmp / "out", tmp / "precious"
    out.mkdir()
    target.write_text("precious")
    for path in [out / (name + end) for name in WRITTEN for end in ("", ".tmp")]:
        path.symlink_to(target) if kind == "link" else os.mkfifo(path)
    go(out, "--force", ranks=2, run__steps=20, balance__every=10, **FILES)
    assert [n for n in WRITTEN if not (out / n).is_file() or (out / n).is_symlink()] == []
    assert target.read_text() == "precious"
    go(out, restart="auto", run__steps=40)


def test_link_for_a_lock(tmp):
    (tmp / "precious").write_text("precious")
    (tmp / "out").mkdir()
    (tmp / "out/.steelyard.lock").symlink_to(tmp / "precious")
    fails_with(2, (), 1, *run_words(tmp / "out", **QUICK))


@pytest.mark.parametrize("ranks", (1, 2))
@pytest.mark.parametrize("name", ["fields_0.h5", "fields_0.xdmf", *WRITTEN[-3:], "thermo.csv"])
def test_directory_at_the_name_of_a_file(tmp, ranks, name):
    (tmp / f"{name}.tmp/something").mkdir(parents=True)
    fails_with(5, (), ranks, *run_words(tmp, **QUICK, **FILES, run__steps=20))


@pytest.mark.parametrize("ranks", (1, 2))
def test_trajectory_beyond_the_file_size_limit(tmp, ranks):
    """No half-written file with a final name is left."""
    words = run_words(tmp, *LARGE, run__steps=4, output__trajectory_every=2)
    fails_with(5, (), ranks, *words, limit=6 << 20)
    assert not list(tmp.glob("trajectory*"))

# SPDX-License-Identifier: MIT
"""The figure of merit, and the results that runs must have on every machine (inputs/expected.csv)."""
import os
import re
import shutil
from unittest import mock

import pytest

import expected
from program import SMALL, SOURCE, fails_with, kill, options, printed, settings, start, summary, wait_until

pytestmark = pytest.mark.group("short")
INPUTS = os.path.join(SOURCE, "inputs")


def as_expected(*arguments):
    """Whether the script finds what the table has."""
    with mock.patch("sys.argv", ["expected.py", "--program", options.binary, *arguments]):
        return expected.main() == 0


@pytest.fixture(name="table")
def fixture_table(tmp):
    """Decks of a selftest, and a table of which one hash is wrong."""
    for name in ("tiny.yaml", "collision_3d.yaml"):
        shutil.copy(os.path.join(INPUTS, name), tmp)
    with open(os.path.join(INPUTS, "expected.csv")) as f:
        text, count = re.subn(r"^(tiny,.*,double,.{15})(.)", lambda m: m[1] + "01"[m[2] == "0"], f.read(), flags=re.M)
    assert count == 1
    (tmp / "expected.csv").write_text(text)
    return tmp / "expected.csv"


@pytest.mark.parametrize("ranks", (0, 2))
def test_figure_of_merit(tmp, ranks):
    """The last line of a run, also of one that goes on, has the rate of the summary."""
    for steps, first, more in ((40, 0, []), (60, 40, ["--restart", "auto"])):
        keys = settings(**SMALL, run__steps=steps, checkpoint__every=20)
        last = printed(ranks, "run", os.path.join(INPUTS, "tiny.yaml"), "--out", tmp, *more, *keys).splitlines()[-1]
        s = summary(tmp)
        assert re.fullmatch(r"FOM: \d\.\d{5}e[+-]\d\d atom-steps/s", last), last
        assert s["FOM"] == pytest.approx(s["particles"] * (steps - first) / s["wall_seconds"], rel=1e-12)
        assert float(last.split()[1]) == pytest.approx(s["FOM"], rel=1e-5)


@pytest.mark.parametrize("ranks", (0, 3))
def test_selftest(ranks):
    text = printed(ranks, "selftest")
    kernels = set(re.findall(r"(?:mixed|double) +(\w+)", text))
    assert {"scalar"} < kernels and text.count("as expected\n") == 4 * len(kernels) + 4, text
    assert text.count("restarted") == 4 and re.search(r"\npassed: \d+ runs as expected, \d+\.\d s\n$", text), text


def test_selftest_that_is_killed(tmp):
    """It leaves the files of one run at most."""
    process = start(0, "selftest", variables=dict(TMPDIR=str(tmp)))
    assert wait_until(lambda: any(tmp.glob("steelyard-*/3"))), "there is no fourth run"
    kill(process)
    assert len(list(tmp.glob("steelyard-*/*"))) <= 1 and not any(tmp.rglob("checkpoint_*"))


def test_selftest_that_fails(table):
    """Each run of the wrong row is named, and the exit code is that of a failed simulation."""
    text = fails_with(4, "have another state hash", 2, "selftest", "--inputs", table.parent)
    count = re.search(r"selftest: (\d+) of (\d+) runs", text)
    assert int(count[2]) == 4 * int(count[1]), text  # one of four rows
    table.unlink()
    fails_with(3, "expected.csv", 2, "selftest", "--inputs", table.parent)


def test_table():
    """It has each deck, in both precisions after the same steps."""
    rows = expected.read_csv(expected.TABLE, expected.COLUMNS)
    assert list(dict.fromkeys(row["deck"] for row in rows)) == expected.decks()
    short = {(row["deck"], row["precision"]) for row in rows}
    assert short == {(deck, precision) for deck in expected.decks() for precision in ("mixed", "double")}


def test_short_runs(table):
    """Decks of some kinds: in space, over a restart, of the particles of another run. A wrong hash is found."""
    assert as_expected(
        "--set", "balance.every=0", "tiny", "drops", "strip_t1", "gallery/dial", "launch/equilibrate", "launch/launch"
    )
    with mock.patch.object(expected, "TABLE", str(table)):
        assert not as_expected("tiny")


@pytest.mark.group("all")
def test_all_runs():
    """Each row but those of very large decks, on three ranks with other balancing and an accelerator."""
    assert as_expected("--most", "2e6", "--whole")
    start = [options.mpiexec, "-n", "3"]
    other = ["--set", "accelerator.backend=host", "--set", "balance.every=0"]
    assert as_expected("--most", "3e5", "--start", " ".join(start), *other)

# SPDX-License-Identifier: MIT
"""Restarts keep results in spite of disturbances: rows and frames that do not come again, files with names of others,
checkpoints with false names. File systems without locks, unreadable disks and power cuts lose no results, either. Group
calls needs --tool (failing_calls). docs/reliability.md lists the promises."""
import errno
import json
import shutil

import h5py
import pytest

from program import SMALL, end_of, ok_run, options, preloaded, run_words, start, summary, under_way

KEYS = dict(run__steps=80, checkpoint__every=40, balance__every=10, balance__clock="work", balance__processes=4)
KEYS |= {f"output__{name}every": 10 for name in ("", "trajectory_", "loads_")}
KEYS |= dict(output__balance_formats="[lbaf, metis]")


def go(out, *more, ranks=1, code=0, preload={}, **keys):
    """Standard error of a run."""
    variables = preload | (preloaded(options.tool) if preload else {})
    return ok_run(out, *more, ranks=ranks, code=code, variables=variables, **SMALL | keys)


def contents(folder):
    """Everything that results hold, one entry a row, frame, phase or file of a step."""
    found = set()
    for name in ("thermo.csv", "balance.csv", "resources.csv"):
        if (folder / name).exists():
            rows = (folder / name).read_text().splitlines()[1:]
            timed = {"balance.csv": (16, 17, 18)}.get(name, ())  # seconds of the wall clock
            found |= {(name, *(c for i, c in enumerate(r.split(",")) if i not in timed)) for r in rows}
    for name, steps in (("trajectory.h5", "particles/all/position/step"), ("loads.h5", "step")):
        if (folder / name).exists():
            with h5py.File(folder / name) as f:
                data = f["particles/all/position/value" if name[0] == "t" else "load"]
                found |= {(name, int(s), data[i].tobytes()) for i, s in enumerate(f[steps][:])}
    for path in sorted(folder.glob("fields_*.h5")):
        with h5py.File(path) as f:
            found.add((path.name, *((n, f[n][:].tobytes()) for n in sorted(f))))
    found |= {(f"metis/{p.name}", p.read_bytes()) for p in (folder / "metis").glob("*")}
    for path in (folder / "lbaf").glob("data.*.json*"):
        text = path.read_text()
        phases = json.loads(text if text.endswith("\n]}\n") else text + "]}")["phases"]
        found |= {(path.name.removesuffix(".tmp"), json.dumps(phase)) for phase in phases}
    return found


@pytest.fixture(scope="module")
def killed(tmp_path_factory):
    """As a run that was killed after step 80, and whose last checkpoint is of step 40."""
    out = tmp_path_factory.mktemp("killed") / "out"
    go(out, **KEYS)
    for name in ("checkpoint_80.h5", "summary.json"):
        (out / name).unlink()
    for path in (out / "lbaf").glob("*.json"):
        path.with_suffix(".json.tmp").write_text(path.read_text().removesuffix("]}\n"))
        path.unlink()
    return out


CHANGES = {
    "fewer rows": dict(output__every=40),
    "no trajectory": dict(output__trajectory_every=0),
    "a coarser trajectory": dict(output__trajectory_every=40),
    "no loads": dict(output__loads_every=0),
    "no formats": dict(output__balance_formats="[]"),
    "no balancing": dict(balance__every=0, output__balance_formats="[]"),
    "rarer balancing": dict(balance__every=40),
    "another model": dict(balance__model="a1"),
    "fewer processes": dict(balance__processes=3),
    "an earlier end": dict(run__steps=65),
    "a later end": dict(run__steps=90),
    "another time step": dict(run__dt=0.0002),
    "another precision": dict(run__precision="double"),
}


@pytest.fixture
def out(killed, tmp_path):
    """A copy of the killed run's directory."""
    return shutil.copytree(killed, tmp_path / "out")


@pytest.mark.group("dropped")
@pytest.mark.parametrize("what", CHANGES)
def test_what_does_not_come_again_is_put_aside(killed, out, what):
    """Each row, frame and phase that was there is there, or put aside, and one note says so."""
    text = go(out, restart="auto", **(KEYS | CHANGES[what]))
    aside = out / "previous_1"
    lost = contents(killed) - contents(out) - (contents(aside) if aside.exists() else set())
    assert not lost, f"{len(lost)} entries, as {sorted(e[:2] for e in lost)[:3]}"
    assert text.count("of later steps put aside") == 1 and "balance.csv" in text, text


@pytest.mark.parametrize("more", [dict(), dict(checkpoint__every=20, checkpoint__keep=5), dict(ranks=2)])
def test_what_comes_again_is_not_put_aside(killed, out, more):
    text = go(out, restart="auto", **(KEYS | more))
    assert text == "" and not (out / "previous_1").exists(), text
    assert contents(killed) == contents(out)


def test_fields_with_loads_do_not_come_again(tmp_path):
    """A restart knows no loads before its first balancing."""
    keys = KEYS | dict(output__fields_every=20, checkpoint__every=40, checkpoint__keep=2)
    go(tmp_path, **keys)
    (tmp_path / "checkpoint_80.h5").unlink()
    (tmp_path / "summary.json").unlink()
    before = {n: (tmp_path / n).read_bytes() for n in ("fields_60.h5", "fields_80.h5")}
    text = go(tmp_path, restart="auto", **keys)
    assert {n: (tmp_path / "previous_1" / n).read_bytes() for n in before} == before, text
    assert all((tmp_path / n).exists() for n in before)


@pytest.mark.parametrize("ranks", [1, 2])
def test_what_processes_have_spent_is_remembered(tmp_path, ranks):
    """Seconds since the last migration, also of the start before; gain goes by them where the clock is the wall's."""
    keys = dict(checkpoint__every=20, balance__every=10, balance__clock="work", balance__processes=4)
    keys |= dict(run__steps=40, balance__criterion="never")

    def spent(out):
        with h5py.File(out / "checkpoint_40.h5") as f:
            return list(f["balance/r1/spent"])

    go(tmp_path / "whole", **keys)
    go(tmp_path / "again", restart=tmp_path / "whole/checkpoint_20.h5", ranks=ranks, **keys)
    assert spent(tmp_path / "again") == spent(tmp_path / "whole") and min(spent(tmp_path / "whole")) > 0


def test_fewer_frames_of_the_map_leave_a_copy(tmp_path):
    keys = dict(run__steps=160, checkpoint__every=160, output__map_frames=8)
    go(tmp_path, **keys)
    before = (tmp_path / "map.csv").read_bytes()
    text = go(tmp_path, restart="auto", **(keys | dict(run__steps=170, output__map_frames=2)))
    assert "map.csv keeps fewer frames" in text and (tmp_path / "previous_1" / "map.csv").read_bytes() == before


def test_a_deck_with_words_of_its_own_is_put_aside(out):
    (out / "deck.yaml").write_text("# mine\n" + (out / "deck.yaml").read_text())
    text = go(out, restart="auto", **KEYS)
    assert (out / "previous_1" / "deck.yaml").read_text().startswith("# mine") and "deck.yaml" in text, text


@pytest.mark.group("names")
@pytest.mark.parametrize("more", [["--restart", "auto"], ["--force"]])
def test_files_of_others_stay(out, more):
    """Only whole names that the program gives its files are moved or removed."""
    kept = ["metis/step_99999.notes", "metis/step_900.graph.bak", "metis/step_0900.graph", "metis/xstep_900.graph"]
    kept += ["lbaf/notes.txt", "lbaf/data.0.json.bak"]
    if more == ["--force"]:
        kept = []  # they are put aside with their folders
    kept += ["lbaf.tmp", "metis.tmp", "checkpoint_020.h5", "checkpoint_90.h5.old", "fields_90.h5.bak"]
    kept += ["thermo.csv~", "previous_900.txt", "notes.tmp", "fields_x.xdmf"]
    for name in kept:
        (out / name).write_text("mine")
    go(out, *more, **KEYS)
    assert [n for n in kept if not (out / n).exists() or (out / n).read_text() != "mine"] == []


NO_LOCKS = dict(NO_LOCKS=str(errno.ENOLCK))


@pytest.mark.group("calls")
@pytest.mark.parametrize("error", [errno.ENOLCK, errno.ENOTSUP, 524])
def test_no_locks_are_noted_once(tmp_path, error):
    text = go(tmp_path, preload=dict(NO_LOCKS=str(error)), ranks=2, run__steps=10)
    assert text.count("has no locks") == text.count("steelyard:") == 1, text


def test_of_two_runs_without_locks_one_stops(tmp_path, monkeypatch):
    """The one whose run.json is replaced ends with one line, and leaves the files of the other alone.

    It may also find a result gone before the other has replaced run.json.
    """
    for name, value in {**preloaded(options.tool), **NO_LOCKS}.items():
        monkeypatch.setenv(name, value)
    keys = SMALL | dict(output__every=10)
    first = under_way(1, tmp_path, rows=3, **keys)
    second = start(1, *run_words(tmp_path, "--force", run__steps=3000, **keys))
    text = end_of(first, "the first run", 5)
    assert text.count("steelyard: error") == 1 and ("another run" in text or "another program" in text), text
    end_of(second, "the second run", 0)
    assert summary(tmp_path)["steps"] == 3000 and len(list(tmp_path.glob("previous_*"))) == 1


@pytest.mark.parametrize("name", ["thermo.csv", "run.json", "map.csv"])
def test_a_file_that_cannot_be_read_is_not_replaced(out, name):
    before = (out / name).read_bytes()
    text = go(out, restart="auto", code=5, preload=dict(READ_FAILS=name), **KEYS)
    assert f"cannot read {name}" in text and (out / name).read_bytes() == before, text


def test_rows_that_cannot_be_read_back_are_not_thinned_out(tmp_path):
    # Frames may take a share of the time, so a third one comes late on a busy machine. It ends the run.
    keys = dict(run__steps=1000000, output__map_frames=2)
    text = go(tmp_path, code=5, preload=dict(READ_FAILS="map.csv"), **keys)
    assert "cannot read map.csv" in text and (tmp_path / "map.csv").read_text().count("\n") > 2, text


def test_what_is_replaced_is_on_the_disk_before(out, tmp_path):
    """At a restart the new file is brought to the disk before its name changes; before a checkpoint all tables are."""
    go(out, restart="auto", preload=dict(CALLS=str(tmp_path / "calls")), **KEYS)
    calls = (tmp_path / "calls").read_text().splitlines()
    tables = ["thermo.csv", "timing.csv", "balance.csv", "resources.csv"]
    for name in [*tables, "map.csv", "ranks.csv", "run.json", "deck.yaml", "summary.json"]:
        renamed = calls.index(f"rename {name}.tmp")
        assert f"sync {name}.tmp" in calls[:renamed] and "sync out" in calls[renamed:], f"{name}: {calls}"
    checkpoint = calls.index("rename checkpoint_80.h5.tmp")
    assert [n for n in tables if f"sync {n}" not in calls[:checkpoint]] == [], calls

# SPDX-License-Identifier: MIT
"""Runs that Python starts, and what it reads of them."""
import os
import signal
import subprocess
import sys
import threading

import h5py
import numpy as np
import pytest
import steelyard

from program import DECK, SOURCE, decisions, options, table, wait_for_rows

SET = {"run.steps": 60, "balance.every": 10, "balance.clock": "work", "balance.processes": 6, "output.every": 10}
HOW = dict(program=options.binary, mpiexec=options.mpiexec)


def test_run_and_restart(tmp_path, capfd):
    """Tables, cell fields and summaries are those of the files, also over a restart and with an unfinished row."""
    out = tmp_path / "out"
    more = {"output.fields_every": 30, "output.loads_every": 10, "checkpoint.every": 30, "balance.criterion": "every"}
    first = steelyard.run(DECK, out, 2, SET | more, **HOW)
    assert first.summary["ranks"] == 2 and first.summary["steps"] == 60 and "overall LBE" in capfd.readouterr().out
    steelyard.run(DECK, out, 1, SET | more | {"run.steps": 90}, options=["--restart", out / "checkpoint_60.h5"], **HOW)
    run = steelyard.open(out)
    rows = decisions(out)
    assert [str(step) for step in run.balance["step"]] == [r["step"] for r in rows] and len(rows) == 9
    assert list(run.balance["decision"]) == [r["decision"] for r in rows]
    for name in ("thermo", "timing", "balance", "map", "ranks"):
        columns, texts = getattr(run, name), table(out, f"{name}.csv")
        assert set(columns) == set(texts[0]) and {len(values) for values in columns.values()} == {len(texts)}
    assert np.array_equal(run.thermo["total"], [float(r["total"]) for r in table(out)])
    assert run.thermo["step"].dtype == int and (np.diff(run.thermo["step"]) > 0).all()
    assert [start["step"] for start in run.run["starts"]] == [0, 60]
    assert run.fields() == [0, 30, 60, 90] and "box" in run.deck and "thermo" in dir(run)
    with h5py.File(out / "fields_60.h5") as file:
        assert all(np.array_equal(run.fields(60)[name], file[name]) for name in ("load", "owner", "particles"))
    with open(out / "thermo.csv", "a") as file:
        file.write("100,0.05,12")
    assert steelyard.open(out).thermo["step"][-1] == 90
    with pytest.raises(AttributeError, match="nothing: no such result; there are balance, deck, fields"):
        run.nothing
    again = steelyard.replay(out / "loads.h5", 6, every=10, deck=out / "deck.yaml")
    assert list(again.rows["lbe"])[:6] == list(run.balance["lbe"])[:6]


def test_refusals(tmp_path, capfd):
    with pytest.raises(RuntimeError, match="exit code 2: steelyard: error: .*unknown key 'stps'"):
        steelyard.run(DECK, tmp_path / "out", set={"run.stps": 1}, **HOW)
    for path in (tmp_path, tmp_path / "nowhere"):
        with pytest.raises(FileNotFoundError, match="it holds no results"):
            steelyard.open(path)
    with pytest.raises(ValueError, match="holds no dataset /load"):
        with h5py.File(tmp_path / "empty.h5", "w"):
            pass
        steelyard.replay(tmp_path / "empty.h5", 2)


def test_interrupt(tmp_path):
    """Ctrl-C ends the run with a checkpoint, and then Python."""
    out = tmp_path / "out"

    def interrupt():
        wait_for_rows(out, 1, type("Running", (), {"poll": lambda self: None})())
        os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=interrupt)
    thread.start()
    with pytest.raises(KeyboardInterrupt):
        steelyard.run(DECK, out, 2, SET | {"run.steps": 10**7, "output.every": 1}, **HOW)
    thread.join()
    assert list(out.glob("checkpoint_*.h5"))


@pytest.mark.parametrize("name", ["own_partitioner", "own_model", "own_criterion", "run_to_figure"])
def test_examples(tmp_path, name):
    """Each example prints a comparison, in which its own contender is the first, or makes a figure."""
    folder = os.path.dirname(os.path.dirname(steelyard.__file__))
    command = [sys.executable, os.path.join(SOURCE, "examples/python", f"{name}.py"), tmp_path]
    done = subprocess.run(command, env={**os.environ, "PYTHONPATH": folder}, capture_output=True, text=True, check=True)
    lines = [line for line in done.stdout.rpartition("overall LBE")[2].splitlines() if " %" in line]
    first = {"own_model": "Smoothed", "own_criterion": "exact", "run_to_figure": "r1"}
    assert len(lines) >= 2 and lines[0].split()[0] == first.get(name, "a1"), done.stdout
    if name == "run_to_figure":
        assert (tmp_path / "figure.png").stat().st_size > 10000
    if name == "own_partitioner":
        with open(os.path.join(SOURCE, "docs/python.md")) as page:
            assert "\n".join(lines) in page.read()

# SPDX-License-Identifier: MIT
"""The programs beside ours in bench/vs_lammps.py. Here made-up ones take their places."""
import json
import sys

import pytest

import peers
import vs_lammps

# Takes as many seconds as its style says, and logs the style.
LMP = """#!/bin/sh
case "$*" in
    -h) echo "Simulator - 1 Apr"; echo {styles}; exit ;;
    *"mode single"*"newton off"*) seconds=1 ;;
    *"mode double"*"newton on"*) seconds=2 ;;
    *intel*) seconds=3 ;;
    *omp*) seconds=4 ;;
    *) seconds=5 ;;
esac
echo "$@" >>{log}
echo "Loop time of $seconds on 1 procs for 20 steps with 1000000 atoms"
echo "100.0% CPU use"
"""
STYLES = ["lj/cut", "lj/cut/opt", "lj/cut/omp", "lj/cut/intel"]


@pytest.mark.parametrize(
    "precision, styles, fastest, seconds",
    [
        ("mixed", STYLES, "intel single, newton off", 1),
        ("double", STYLES, "intel double, newton on", 2),
        ("mixed", STYLES[:3], "omp", 4),
    ],
)
def test_fastest_style(tmp, monkeypatch, precision, styles, fastest, seconds):
    """Native LAMMPS is measured in the fastest style that it has for our precision, and Debian's in lj/cut/opt."""
    (tmp / "build").mkdir()
    for folder in (tmp, tmp / "build"):
        text = LMP.format(styles=" ".join(styles), log=folder / "log")
        (folder / "lmp").write_text(text)
        (folder / "lmp").chmod(0o755)
    (tmp / "build.json").write_text(json.dumps({"flags": "-O3", "processor": peers.processor()}))
    options = ["--native", "--native-build", tmp, "--native-flags=-O3", "--precision", precision, "--quick", "--runs=3"]
    summary = dict.fromkeys(("particles", "kernels", "cpu_model", "version"))
    monkeypatch.setattr(sys, "argv", ["vs_lammps.py", *map(str, options)])
    monkeypatch.setattr(vs_lammps, "ours", lambda case, precision: (3e7, summary))
    monkeypatch.setenv("PATH", str(tmp), prepend=":")
    results = {"rates": {}}
    vs_lammps.measured(["melt_1core"], vs_lammps.options(), results)
    found = results["rates"]["melt_1core"]
    assert found["variants"] == {"lammps": "opt", "native": fastest}
    assert found["native"] == [20e6 / seconds] * 3 and found["lammps"] == [4e6] * 3
    assert results["ratio_native_melt_1core"] == 1.5 * seconds and results["ratio_melt_1core"] == 7.5
    runs = [(folder / "log").read_text().splitlines() for folder in (tmp, tmp / "build")]
    assert all("-sf opt" in run for run in runs[0]) and len(runs[0]) == 3, "rounds of Debian's LAMMPS"
    assert len(set(runs[1][-3:])) == 1 and "steps 20" in runs[1][-1], "the last three runs are the rounds"


@pytest.mark.parametrize(
    "words, says",
    [(["--runs", "0"], "0 is no whole number above 0"), (["--out", "{}/file/summary.json"], "cannot write")],
)
def test_refused_before_anything_is_measured(tmp, monkeypatch, capsys, words, says):
    (tmp / "file").write_text("")
    monkeypatch.setattr(sys, "argv", ["vs_lammps.py", *(w.format(tmp) for w in words)])
    monkeypatch.setattr(vs_lammps, "build", lambda *_, **__: pytest.fail("it goes on"))
    with pytest.raises(SystemExit) as end:
        vs_lammps.main()
    text = capsys.readouterr().err.splitlines()
    assert end.value.code == 2 and says in text[-1], text

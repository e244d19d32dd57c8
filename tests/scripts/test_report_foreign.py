# SPDX-License-Identifier: MIT
"""scripts/report.py: what it makes of files whose values the program never writes."""
import json
import os

import pytest

from pages import data_of, made

HEADS = {
    "map.csv": "step,x0,y0,z0,x1,y1,z1,particles,load,owner\n",
    "ranks.csv": "step,start,rank,node,particles,wall_seconds,forces,neighbours,ghosts\n",
    "zones.csv": "step,rank,share,most_share,decision\n",
}
BLOCKS = "0,0,0,0,1,1,1,9,1,0\n0,1,0,0,2,1,1,9,1,0\n"
DIAGONAL = "".join(f"0,{i},{i},{i},{i + 1},{i + 1},{i + 1},9,1,0\n" for i in range(4000))


FOREIGN = (  # (file, what it holds below its head, note)
    ("ranks.csv", "nan,0,0,0,9,1,1,0,0\n9,0,0,0,9,1,1,0,0\n", "ranks.csv: 1 of its rows"),
    ("ranks.csv", "9,-1,0,0,9,1,1,0,0\n9,1.5,0,0,9,1,1,0,0\n", "ranks.csv: 2 of its rows"),
    ("ranks.csv", "-9,0,0,0,9,1,1,0,0\n", "ranks.csv: 1 of its rows"),
    ("ranks.csv", "9,0,0,a,b,1,c,d,e\n9,0,1,a,b,1,c,d,e\n", None),
    ("ranks.csv", f"9,0,0,0,9,{'9' * 400},1,0,0\n9,0,1,0,9,{'9' * 5000},1,0,0\n", None),
    ("ranks.csv", "9,0,0,0,9,1,1,0,0\n8,0,0,0,9,1,1,0,0\n", "ranks.csv: 1 of its rows"),
    ("map.csv", BLOCKS.replace("0,0,0,0", "nan,0,0,0"), "map.csv: 1 of its rows"),
    ("map.csv", BLOCKS.replace(",0\n", ",-1\n"), "map.csv: 2 of its rows"),
    ("map.csv", BLOCKS.replace(",0\n", ",999999999999\n"), "map.csv: its blocks of cells do not tile"),
    ("map.csv", BLOCKS.replace("2,1,1", "1,1,1"), "map.csv: its blocks of cells do not tile"),
    ("map.csv", DIAGONAL, "map.csv: its blocks of cells do not tile"),
    ("map.csv", BLOCKS[:-2], "map.csv: its last frame is unfinished"),
    ("map.csv", BLOCKS + "x" * 200000 + "\n", "map.csv: it cannot be read"),
    ("zones.csv", "9,0,0.5,high,x\n9,1,inf,high,x\n", None),
    ("summary.json", '{"steps": NaN, "seconds": Infinity, "ranks": 1e999, "wall_seconds": -Infinity}', None),
    ("summary.json", f'{{"steps": {"9" * 400}, "particles": {"9" * 5000}}}', None),
    ("summary.json", '{"ranks": "a", "steps": [], "command_line": 1, "energy_drift": "x"}', "summary.json: ranks,"),
    ("summary.json", '{"processes": 1e18, "overall_lbe": 7}', "summary.json: processes, overall_lbe are not"),
    ("deck.yaml", "box: [nan, inf, -1]\nboundary: [x]\n", None),
    ("map.csv", "DEVICE", "map.csv: it cannot be read"),
    ("partition.json", "FIFO", "partition.json: it is no JSON file"),
)


@pytest.mark.group("foreign")
@pytest.mark.parametrize("case", range(len(FOREIGN)))
def test_foreign_values(tmp_path, case):
    """No value of a file makes the script fail or wait: it is left out, with a note where rows or files go with it."""
    name, rows, note = FOREIGN[case]
    (tmp_path / "thermo.csv").write_text("step,kinetic,potential,total\n0,1,2,3\n")
    if rows == "FIFO":
        os.mkfifo(tmp_path / name)
    elif rows == "DEVICE":
        os.symlink("/dev/null", tmp_path / name)
    else:
        (tmp_path / name).write_text(HEADS.get(name, "") + rows)
    (found,) = data_of(made(tmp_path))
    assert found["thermo"]["step"] == [0]
    assert note is None or any(n.startswith(note) for n in found["notes"]), found["notes"]
    if name == "map.csv":
        assert not found["map"] or found["map"]["edges"][0] == [1, 2] and found["map"]["step"] == [0]
    assert not (found["summary"].get("steps") or found["summary"].get("processes"))


@pytest.mark.group("foreign")
@pytest.mark.parametrize(
    "change", ({}, {"grid": ["8", 8, 1]}, {"grid": [10**15, 3, 1]}, {"speed": "x"}, {"node": None})
)
def test_foreign_partitions(tmp_path, change):
    """Only a grid and resources of numbers are a partition; one of very many cells is drawn at once."""
    resource = {"kind": "cpu", "node": 0, "speed": 1, "load": 8, "cells": 64, "boxes": [[0, 0, 0, 8, 8, 1]]}
    resource.update({k: v for k, v in change.items() if k != "grid"})
    grid = change.get("grid", [8, 8, 1])
    (tmp_path / "partition.json").write_text(json.dumps({"grid": grid, "resources": [resource]}))
    (found,) = data_of(made(tmp_path))
    assert bool(found["map"]) == (not change or grid[0] == 10**15)
    assert not found["map"] or 64 <= len(found["map"]["owner"][0]) <= 65536

# SPDX-License-Identifier: MIT
"""The numbers that a report shows, section by section, are those of the CSV and JSON files."""
import json
import re

import numpy as np
import pytest

from pages import SMALL, made, steelyard
from program import checkpoints, summary, table

CHARTS = """return report.charts.map((c) => [c.root.closest('section').id, c.root.closest('.chart').parentNode.innerText
  .split('\\n')[0], c.series.slice(1).map((s) => s.label), c.data.map((d) => [...d])])"""


def charts_of(browser):
    """{(section, heading): {line: (steps, values)}} of all plots of a page."""
    return {
        (section, heading): {label: (data[0], values) for label, values in zip(labels, data[1:])}
        for section, heading, labels, data in browser.run(CHARTS)
    }


def columns(rows, *names, **where):
    """Columns of those rows of a table that have these values."""
    own = [r for r in rows if all(r[k] == v for k, v in where.items())]
    return tuple([float(r[name]) for r in own] for name in names)


def shown(text):
    """A number as the page writes it, with its unit."""
    value, unit = re.fullmatch(r"([-+\d.,e]+)(?: (%|s|ms|\u00b5s|M|MB))?", text).groups()
    factor = {"%": 1e-2, "ms": 1e-3, "\u00b5s": 1e-6, "M": 1e6, "MB": 1e6}.get(unit, 1)
    return float(value.replace(",", "")) * factor


def cells_of(browser, section):
    """The rows of the first table of a section."""
    rows = f"[...document.querySelector('#{section} table.plain').rows]"
    return browser.run(f"return {rows}.map((r) => [...r.cells].map((c) => c.innerText))")


def test_summary_and_what_ran(runs, browser):
    out = runs["killed"]
    browser.open(made(out))
    s, figures = summary(out), "[...document.querySelectorAll('.figures div')]"
    facts = dict(browser.run(f"return {figures}.map((d) => [...d.children].map((c) => c.innerText))"))
    wall = float(table(out, "timing.csv")[-1]["wall_seconds"])  # the summary's is of the last start
    assert facts.pop("ranks x threads") == f"{s['ranks']} x {s['threads']}"
    assert {name: shown(text) for name, text in facts.items()} == {
        "particles": s["particles"],
        "steps": s["steps"],
        "processes": s["processes"],
        "wall time, 2 starts": pytest.approx(wall, rel=1e-3),
        "atom-steps a second": pytest.approx(s["particles"] * s["steps"] / wall, rel=1e-3),
        "overall LBE": pytest.approx(next(iter(s["overall_lbe"].values())), rel=1e-3),
        "energy drift": pytest.approx(s["energy_drift"], rel=0.06),
    }
    said = dict(cells_of(browser, "run"))
    starts = [start["step"] for start in json.loads((out / "run.json").read_text())["starts"]]
    assert said["state hash"] == s["state_hash"] and said["command"] == " ".join(s["command_line"])
    assert (
        said["starts"] == f"start at step 0, restart at step {starts[1]:,}" and s["build"]["commit"] in said["program"]
    )
    kept = ", ".join(f"{step:,}" for step in checkpoints(out))
    assert said["checkpoints"] == "steps " + kept and said["end, UTC"] == s["date"]
    assert shown(said["peak memory of a rank"]) == pytest.approx(s["peak_resident_bytes"]["max"], rel=1e-3)
    assert browser.run("return document.querySelector('#run pre').textContent") == (out / "deck.yaml").read_text()


def test_balancing_energies_and_speeds(runs, browser):
    out = runs["plane"]
    browser.open(made(out))
    charts, balance, thermo = charts_of(browser), table(out, "balance.csv"), table(out, "thermo.csv")
    models = list(dict.fromkeys(r["model"] for r in balance))
    for (section, heading), column in {
        ("map", "LBE (\u25b2 cells moved, \u2022 partition kept)"): "lbe",
        ("balance", "LBE_m: LBE by the model"): "lbe_model",
        ("balance", "Ghost cells of all processes, one cell wide"): "ghost_cells",
        ("balance", "Bytes of these ghost cells in one exchange"): "ghost_bytes",
    }.items():
        held = charts.pop((section, heading))
        assert held == {m: columns(balance, "step", column, model=m) for m in models} and len(models) == 2
    driver = [r for r in balance if r["driver"] == "1"]
    assert charts.pop(("map", "Time of a process, each step")) == {
        "largest": columns(driver, "step", "max_seconds"),
        "mean": columns(driver, "step", "mean_seconds"),
    }
    overall = summary(out)["overall_lbe"]
    for name, lbe, seconds, moved, kept in cells_of(browser, "balance")[1:]:
        decisions = [r["decision"] == "moved" for r in balance if r["model"] == name.split()[0]]
        assert (int(moved), int(kept)) == (sum(decisions), len(decisions) - sum(decisions))
        assert shown(lbe) == pytest.approx(overall[name.split()[0]], rel=1e-3)
        assert shown(seconds) == pytest.approx(summary(out)["contenders"][name.split()[0]]["seconds"], rel=1e-3)
    least = summary(out)["least_time"]
    assert least in browser.run("return document.querySelector('#balance').innerText")
    for heading, names in {
        "Energy / epsilon": ("kinetic", "potential", "total"),
        "Temperature / (epsilon / k)": ("temperature",),
        "Pressure / (epsilon / sigma\u00b2)": ("pressure",),
    }.items():
        assert charts.pop(("energies", heading)) == {n: columns(thermo, "step", n) for n in names}
    total, kinetic = columns(thermo, "total", "kinetic")
    change = charts.pop(("energies", "Change of the total energy, of the largest kinetic energy"))["change"][1]
    assert change == pytest.approx([(t - total[0]) / max(kinetic) for t in total], rel=1e-9, abs=1e-18)
    resources = table(out, "resources.csv")
    assert charts.pop(("speeds", "Time of a step")) == {
        f"process {p}": columns(resources, "step", "seconds", resource=str(p)) for p in range(6)
    }
    assert {section for section, _ in charts} == {"ranks"}, "a plot is not looked at"
    held = browser.run("return [report.runs[0].resources.step, report.runs[0].resources.speed]")
    steps = sorted({int(r["step"]) for r in resources})
    assert held == [steps, [columns(resources, "speed", step=str(s))[0] for s in steps]]


@pytest.mark.parametrize("given", [(), ("heat",), ("work",), ("heat", "work")])
def test_energy_that_a_run_is_given(given, browser, tmp_path):
    """The check of the physics is of what the motion keeps: heat and work are no error of the time step."""
    columns = ["step", "time", "particles", "kinetic", "potential", "total", *given]
    rows = [[s, s, 9, 100, 0, 100 + 7 * s * len(given), *[7 * s for _ in given]] for s in range(4)]
    (tmp_path / "thermo.csv").write_text("\n".join(",".join(map(str, row)) for row in [columns, *rows]) + "\n")
    browser.open(made(tmp_path))
    less = f" less {' and '.join(given)}" if given else ""
    charts = charts_of(browser)
    change = charts[("energies", f"Change of the total energy{less}, of the largest kinetic energy")]["change"]
    assert change == ([0, 1, 2, 3], [0, 0, 0, 0])
    held = charts.get(("energies", "Given from outside / epsilon"), {})
    assert held == {name: ([0, 1, 2, 3], [0, 7, 14, 21]) for name in given}


def test_ranks(runs, browser):
    """Bars and the heat map show what lies between the sums of ranks.csv, a step."""
    out = runs["plane"]
    browser.open(made(out))
    rows = table(out, "ranks.csv")
    phases = ("forces", "neighbours", "ghosts", "accelerator", "migration", "balancing", "output")
    for row in rows:
        row["other"] = float(row["wall_seconds"]) - sum(float(row[p]) for p in phases)
    steps = sorted({int(r["step"]) for r in rows})
    bars = charts_of(browser)["ranks", "Mean step, by phase"]
    sums = [0.0, 0.0]
    for name in (*phases, "other"):
        if name in bars:  # those too short to be seen are left out
            ends = [columns(rows, name, step=str(s))[0] for s in (steps[0], steps[-1])]
            sums = [s + (b - a) / (steps[-1] - steps[0]) for s, a, b in zip(sums, *ends)]
            assert bars[name][1] == pytest.approx(sums, rel=1e-9)
    assert len(bars) >= 3
    choices = browser.run("return [...document.querySelectorAll('#ranks option')].map((o) => o.value)")
    assert choices == ["computing", "waiting", "ghosts", "balancing", "output", "other", "bytes"]
    names = dict(computing=("forces", "neighbours"), waiting=("wait_seconds",))
    for choice in choices:
        read = browser.driver.execute_script(
            """const [name, k] = arguments, r = report.runs[0].ranks, select = document.querySelector('#ranks select');
            select.value = name, select.dispatchEvent(new Event('change'));
            return new Promise((done) => requestAnimationFrame(() => {  // by then it is drawn
              const chart = report.charts.at(-1), left = chart.valToPos((r.from[k] + r.step[k]) / 2, 'x');
              chart.setCursor({ left, top: chart.valToPos(1, 'y') }, true);
              done([r.from[k], r.step[k], document.querySelector('#ranks .reading').textContent]);
            }))""",
            choice,
            1,
        )
        begin, end, text = read
        of = names.get(choice, (choice,))
        before, after = (sum(columns(rows, n, step=str(s), rank="1")[0][0] for n in of) for s in (begin, end))
        said = re.fullmatch(rf"rank 1, steps {begin} to {end}: (.*)", text)[1]
        assert shown(said.removesuffix(" bytes")) == pytest.approx((after - before) / (end - begin), rel=1e-3), choice


@pytest.mark.parametrize("name", ["plane", "space"])
def test_map(name, runs, browser):
    """All frames, and the words at the cursor; ghost cells as balance.csv has them, where blocks are cells."""
    out = runs[name]
    browser.open(made(out))
    rows, held = table(out, "map.csv"), browser.run("return report.runs[0].map")
    steps = list(dict.fromkeys(int(r["step"]) for r in rows))
    assert held["step"] == steps and steps[0] == 0 and steps[-1] == 240
    for column in ("particles", "load", "owner"):
        for step, frame in zip(steps, held[column]):
            (expected,) = columns(rows, column, step=str(step))
            assert np.allclose([np.nan if v is None else v for v in frame], expected, rtol=1e-12, equal_nan=True)
    if name == "space":
        ghosts = browser.run(
            "const m = report.runs[0].map; return [...Array(6).keys()].map((p) => ghostCells(m, m.owner.at(-1), p))"
        )
        assert browser.run("return report.runs[0].map.fine")
        assert sum(ghosts) == int([r for r in table(out, "balance.csv") if int(r["step"]) < 240][-1]["ghost_cells"])
        return
    words = browser.run(
        """const canvas = document.querySelector('#map canvas'), box = canvas.getBoundingClientRect();
        const at = { clientX: box.left + box.width / 3, clientY: box.top + box.height / 2, bubbles: true };
        canvas.dispatchEvent(new MouseEvent('mousemove', at));
        return document.querySelector('.tip').textContent"""
    )
    x, y, particles = (re.search(p, words)[1] for p in (r"x (\d+) to", r"y (\d+) to", r"\n   particles (\d+)"))
    frame = [r for r in rows if r["step"] == "240"]
    assert 20 < int(x) < 45 and 15 < int(y) < 40, "where the cursor is"
    block = next(r for r in frame if (r["x0"], r["y0"]) == (x, y))
    assert block["particles"] == particles and words.startswith(f"process {block['owner']}, rank ")
    loads = [sum(columns(frame, "load", owner=str(p))[0]) for p in range(6)]
    of, mean = re.search(r"its load (.*), (.*) of the mean", words).groups()
    assert shown(of) == pytest.approx(loads[int(block["owner"])], rel=1e-3)
    assert shown(mean) == pytest.approx(loads[int(block["owner"])] / np.mean(loads), rel=1e-3)
    assert f"its particles {sum(columns(frame, 'particles', owner=block['owner'])[0]):,.0f}" in words
    assert "its ghost cells about " in words and "its speed 1 of the mean" in words


@pytest.mark.parametrize("periodic", [(True, False, False), (False, True, True)])
def test_ghost_cells_of_blocks(periodic, runs, browser):
    """As counted cell by cell, for blocks of one to three cells along each axis."""
    browser.open(made(runs["plane"]))
    edges = [[0, 3, 6, 9, 10], [0, 3, 6, 8], [0, 3, 4]]
    blocks = tuple(len(e) - 1 for e in edges)
    owner = np.random.default_rng(7).integers(0, 3, blocks)
    cells = owner
    for axis, e in enumerate(edges):
        cells = cells.repeat(np.diff(e), axis=axis)
    around = np.zeros(cells.shape, dtype=bool)
    padded = np.pad(cells == 1, 1)
    for axis, wraps in enumerate(periodic):
        padded = np.pad(
            padded.take(range(1, cells.shape[axis] + 1), axis),
            [(int(a == axis),) * 2 for a in range(3)],
            mode="wrap" if wraps else "constant",
        )
    for x, y, z in np.ndindex(3, 3, 3):
        nx, ny, nz = cells.shape
        around |= padded[x : x + nx, y : y + ny, z : z + nz]
    m = dict(n=blocks, grid=cells.shape, edges=edges, periodic=periodic)
    held = browser.driver.execute_script("return ghostCells(arguments[0], arguments[1], 1)", m, owner.ravel().tolist())
    assert held == (around & (cells != 1)).sum() > 20


def test_zones(runs, browser):
    out = runs["zones"]
    browser.open(made(out))
    charts, rows = charts_of(browser), table(out, "zones.csv")
    for heading, lines in {
        "Share on the accelerators": {"": "share", ", most": "most_share"},
        "Time of a step": {", CPU": "cpu_seconds", ", accelerators": "accelerator_seconds"},
    }.items():
        expected = {
            f"rank {r}{what}": columns(rows, "step", c, rank=str(r)) for what, c in lines.items() for r in (0, 1)
        }
        assert charts["zones", heading] == expected
    for rank, *counts, share in cells_of(browser, "zones")[1:]:
        own = [r for r in rows if r["rank"] == rank]
        decisions = [r["decision"] for r in own]
        assert counts == [str(decisions.count(d)) for d in ("kept", "cpu grows", "accelerator grows")]
        assert shown(share) == pytest.approx(float(own[-1]["next_share"]), rel=1e-3)


def test_prediction(runs, browser):
    browser.open(made(runs["predicted"]))
    prediction = summary(runs["predicted"])["prediction"]
    rows = {row[0]: row[1:] for row in cells_of(browser, "prediction")[1:]}
    assert len(rows) == len(prediction["predicted"]) >= 4
    for name, predicted in prediction["predicted"].items():
        measured, row = prediction["measured"][name], rows["whole step" if name == "step_seconds" else name]
        assert [shown(v) for v in row[:2]] == pytest.approx([predicted, measured], rel=1e-3)
        assert predicted == 0 and row[2] == "-" or shown(row[2]) == pytest.approx(measured / predicted, rel=1e-3)


def test_resources(runs, browser):
    browser.open(made(runs["partition"]))
    resources = json.loads((runs["partition"] / "partition.json").read_text())["resources"]
    keys = ("speed", "load", "cells")
    whole = {k: sum(r[k] for r in resources) for k in keys}
    rows = cells_of(browser, "resources")[1:]
    assert sum(int(row[1]) for row in rows) == len(resources) and len(rows) == 2
    for kind, number, *values in rows:
        own = [r for r in resources if r["kind"] == kind]
        each = [r["load"] / whole["load"] * whole["speed"] / r["speed"] for r in own]
        expected = [sum(r[k] for r in own) / whole[k] for k in keys] + [min(each), max(each)]
        assert int(number) == len(own) and [shown(v) for v in values] == pytest.approx(expected, rel=1e-3)


def test_speeds_of_processes_that_differ(browser, tmp_path):
    """A run with slow processes shows their speeds as lines."""
    slow = {**SMALL, "balance__processes": 4, "balance__work__slow": "{fraction: 0.25, speed: 0.5}"}
    out = steelyard(tmp_path / "slow", 2, **slow)
    browser.open(made(out))
    rows = table(out, "resources.csv")
    expected = {f"process {p}": columns(rows, "step", "speed", resource=str(p)) for p in range(4)}
    assert charts_of(browser)["speeds", "Speed"] == expected and min(columns(rows, "speed")[0]) < 0.8
    first = browser.run("return document.querySelector('.findings li').innerText")
    assert "Problem" in first and "runs on a slow processor, at 0." in first, "problems come first, and say so in words"
    assert "not slowed down" in browser.run("return document.getElementById('ranks').innerText")

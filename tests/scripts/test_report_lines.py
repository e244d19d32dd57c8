# SPDX-License-Identifier: MIT
"""Lines of many models and runs in one plot, and from where a box is looked at first."""
import itertools
import json
import random
from types import SimpleNamespace

import numpy as np
import pytest

import plotting
from pages import made, shown_of, steelyard
from program import end_of, kill, rows_written, run_words, start, summary, table, wait_until
from report import lines, view
from report.pictures import lbe, particles


def test_styles_differ():
    """The first 28 lines differ, and neighbours in colour and in dash. Colours are those of Okabe and Ito."""
    assert len(set(lines.LINE_STYLES)) == len(lines.LINE_STYLES) == 28
    for a, b in itertools.pairwise(lines.LINE_STYLES):
        assert a[0] != b[0] and a[1] != b[1]
    okabe_ito = {"#000000", "#e69f00", "#56b4e9", "#009e73", "#f0e442", "#0072b2", "#d55e00", "#cc79a7"}
    assert set(lines.COLOURS) == okabe_ito - {"#f0e442"}


def wanted_places():
    """Lists of wanted places, with a gap and the room."""
    draw = random.Random(3)
    for n in range(1, 30):
        yield [draw.choice((0, 50, 99, draw.uniform(-20, 120))) for _ in range(n)], draw.uniform(1, 12), 0, 100


def test_places_of_names():
    """Names keep their order and lie apart and inside, and no shift of neighbours makes them lie nearer."""
    for wanted, gap, low, high in wanted_places():
        places = lines.spread(wanted, gap, low, high)
        order = sorted(range(len(wanted)), key=wanted.__getitem__)
        room = min(gap, (high - low) / max(1, len(wanted) - 1))
        near = np.array([places[k] for k in order])
        assert (np.diff(near) > room - 1e-9).all() and near[0] > low - 1e-9 and near[-1] < high + 1e-9
        wish = np.array([wanted[k] for k in order])
        for a, b in itertools.combinations(range(len(wanted) + 1), 2):
            for shift in (-0.01, 0.01):
                other = near.copy()
                other[a:b] += shift
                allowed = (np.diff(other) >= room - 1e-9).all() and other[0] >= low and other[-1] <= high
                assert not allowed or ((other - wish) ** 2).sum() >= ((near - wish) ** 2).sum() - 1e-9
    assert lines.spread([10, 60], 5, 0, 100) == [10, 60] and lines.spread([50, 50], 10, 0, 100) == [45, 55]


def test_page_and_pictures_place_names_alike(runs, browser):
    browser.open(made(runs["plane"]))
    cases = list(wanted_places())
    held = browser.run("return arguments[0].map((c) => spread(...c))", cases)
    assert all(a == pytest.approx(lines.spread(*case), abs=1e-9) for a, case in zip(held, cases, strict=True))


@pytest.mark.parametrize(
    "spans, label, places",
    [
        ([(0, 100)], "step", [(0, 1)]),
        ([(20, 3000), (40, 1500)], "step", [(0, 1)] * 2),
        ([(0, 200), (1000, 1150)], "steps since the first balancing", [(0, 1), (1000, 1)]),
        ([(0, 3000), (1000, 1150)], "part of the steps of each run, %", [(0, 30), (1000, 1.5)]),
        ([(5, 5), (5, 5)], "step", [(0, 1)] * 2),
        ([(5, 5), (0, 100)], "part of the steps of each run, %", [(5, 1), (0, 1)]),
    ],
)
def test_short_runs_are_not_squeezed(spans, label, places):
    assert lines.axis_of(spans) == (label, places)


def test_lowest_efficiency_on_an_axis():
    """Partitions that knew no measured loads, and a run that is even, don't decide it."""
    assert lines.lowest([[0.1, 0.2, 0.8, 0.85], [0.95]]) == 0.8
    assert lines.lowest([[0.5, 0.99, 0.99]]) == 0.9 and lines.lowest([[0.4]]) == 0.4 and lines.lowest([[]]) == 0.9


def contenders(folder, number, steps, name="run"):
    """The results of a run that compares so many models, which all end near each other."""
    (folder / name).mkdir()
    rows = [f"{s},m{k},{0.9 + 0.001 * k},0.95,moved" for s in steps for k in range(number)]
    (folder / name / "balance.csv").write_text("\n".join(["step,model,lbe,lbe_model,decision", *rows]) + "\n")
    overall = {f"m{k}": 0.9 for k in range(number)}
    content = dict(overall_lbe=overall, overall_lbe_measured=overall, clock="work", deck="d", processes=8, ranks=2)
    content |= dict(contenders={m: dict(seconds=2.5) for m in overall})
    (folder / name / "summary.json").write_text(json.dumps(content))
    return folder / name


def test_names_at_the_ends_of_lines(tmp_path):
    """Each of twelve models, and each of the models of two runs, has its style and a name that lies over no other."""
    runs = contenders(tmp_path, 12, (10, 20, 30)), contenders(tmp_path, 3, (1010, 1020), "late")
    for outdirs, names in (
        (runs[:1], [f"m{k}" for k in range(12)]),
        (runs, [f"{run}: m{k}" for run, number in (("run", 12), ("late", 3)) for k in range(number)]),
    ):
        figure = lbe.draw(SimpleNamespace(), *outdirs)
        figure.draw_without_rendering()
        for axis in figure.axes:
            curves = [line for line in axis.lines if len(line.get_xdata()) > 1]
            # What matplotlib keeps of a dash: its offset and lengths.
            styles = {(line.get_color(), str(line._unscaled_dash_pattern)) for line in curves}
            assert len(curves) == len(styles) == len(names)
            texts = [text for text in axis.texts if text.get_text().split("  ")[0] in names]
            assert [text.get_text().split("  ")[0] for text in texts] == names
            boxes = sorted(map(plotting.matplotlib.text.Text.get_window_extent, texts), key=lambda box: box.y0)
            assert all(below.y1 < above.y0 + 1 for below, above in itertools.pairwise(boxes))
            assert axis.get_ylim()[0] > 80
        assert all(text.get_text().endswith("  90.0 (90.0)  2.5 s") for text in figure.axes[0].texts[: len(names)])
        assert figure.axes[1].get_xlabel() == ("step" if len(outdirs) == 1 else "steps since the first balancing")
        plotting.plt.close(figure)


ALL_RUNS = """
const chart = report.charts.find((c) => c.root.closest('.together')), said = [], dot = devicePixelRatio;
const write = CanvasRenderingContext2D.prototype.fillText;
CanvasRenderingContext2D.prototype.fillText = function (text, x, y) { said.push([text, x, y]); };
drawNames(chart);
CanvasRenderingContext2D.prototype.fillText = write;
return [chart.series.slice(1).map((s) => [s.label, s.stroke(chart), s.dash]),
  said.map(([text, x, y]) => [text, x / dot, y / dot]),
  chart.data.map((d) => [...d])]"""


def test_all_runs_in_one_plot(runs, browser):
    """The page has a line for each model of each run, of a style of its own, and names that lie over no other."""
    browser.open(made(runs["plane"], runs["alone"], runs["space"], "--output", runs["plane"] / "several.html"))
    series, said, data = browser.run(ALL_RUNS)
    names = ["plane: r1", "plane: a1", "space: r1"]
    assert [label for label, _, _ in series] == names and sorted(text for text, _, _ in said) == sorted(names)
    assert [[colour, list(dash)] for colour, dash in lines.LINE_STYLES[:3]] == [[c, d] for _, c, d in series]
    assert len({x for _, x, _ in said}) == 1
    assert all(b - a > 11 for a, b in itertools.pairwise(sorted(y for _, _, y in said)))
    held = [(s, y) for s, y in zip(data[0], data[1]) if y is not None]
    assert held == [(int(r["step"]), float(r["lbe"])) for r in table(runs["plane"], "balance.csv", model="r1")]
    browser.open(made(runs["plane"], runs["alone"], "--output", runs["plane"] / "several.html"))
    assert browser.run("return document.querySelector('.together')") is None, "one of the runs balances"


GRAVITY = "system:\n  gravity: [{}]    # acceleration\n"


@pytest.mark.parametrize(
    "words, up",
    [
        ("0, 0, -0.03", (2, 1)),
        ("0, 0, 0.5", (2, -1)),
        ("-2, 0.1, 0", (0, 1)),
        ("0, -0.02", None),
        ("0, 0, 0", None),
        ("nan, 1, x", None),
    ],
)
def test_upright_axis(words, up):
    assert view.up_of(GRAVITY.format(words)) == up and view.up_of("run:\n  steps: 3\n") is None


@pytest.mark.parametrize("up", [None, *itertools.product(range(3), (1, -1))])
@pytest.mark.parametrize("along", [None, "x", "y", "z"])
def test_cameras_stand_upright(up, along):
    """Whatever axis one looks along, axes are right-handed. A fall goes downwards, or away if one looks along it."""
    axis = plotting.View(SimpleNamespace(slice=None, project=along), (4, 4, 4), up=up).axis
    assert axis == ("xyz".index(along) if along else 1 if up and up[0] == 2 else 2)
    axes = particles.basis(axis, up)
    assert np.array_equal(axes @ axes.T, np.eye(3)) and np.linalg.det(axes) == 1 and axes[2, axis] != 0
    camera = particles.Camera(np.array([10.0, 20, 30]), axes)
    if up:
        above = np.eye(3)[up[0]] * up[1]
        fall = camera(np.array([5, 5, 5] - above)) - camera(np.array([5.0, 5, 5]))
        assert fall[2] < 0 if axis == up[0] else fall[1] < 0 and abs(fall[0]) < 1e-9
    elif not along:
        assert np.array_equal(axes, np.eye(3)), "without gravity x is to the right, and y upright"
    assert [name for name, _, _ in camera.names()] == ["x", "y", "z"]


def test_views_stand_upright():
    """A layer, or a mean, of cells [z, y, x] has the axis of gravity upright."""
    cells = np.arange(2 * 3 * 4).reshape(2, 3, 4)
    for up, words, layer, axes in (
        ((2, 1), None, cells[:, 1], "xz"),
        ((1, 1), "x=1", cells[:, :, 1].T, "zy"),
        ((0, 1), "z=0", cells[0].T, "yx"),
    ):
        seen = plotting.View(SimpleNamespace(slice=words, project=None), (4, 3, 2), up=up)
        assert np.array_equal(seen(cells), layer) and seen.of("xyz") == list(axes)


def frames(*cells):
    """A map of these frames [x, y, z], as the page has it."""
    edges = [list(range(n + 1)) for n in cells[0].shape]
    return {"edges": edges, "particles": [c.ravel().tolist() for c in cells]}


@pytest.mark.parametrize("direction", range(3))
def test_map_begins_where_something_happens(direction):
    """A block moves in a still box. One looks across its way; along z where both directions show the same."""
    cells = np.full((40, 6, 7, 8), 5)
    for frame, of in enumerate(cells):
        at = [3, 3, 3]
        at[direction] = frame % 6
        of[tuple(at)] += 50
    assert view.start_axis(frames(*cells), None) == (1 if direction == 2 else 2)
    for up in range(3):
        assert view.start_axis(frames(*cells), (up, 1)) not in (up, direction if up != direction else None)
    flat = frames(*cells[:, :, :, :1])
    assert view.start_axis(flat, None) == view.start_axis({"edges": flat["edges"]}, None) == 2


def test_noise_is_no_reason_to_look_from_aside(runs):
    noise = np.random.default_rng(5).integers(0, 9, (4, 8, 8, 8))
    assert view.start_axis(frames(*noise), None) == 2
    assert shown_of(runs["plane"])["map"]["axis"] == 2


def test_wall_time_of_stopped_and_killed_starts(tmp_path):
    """The page sums up all starts: also what a start did after its last row, and what it lost after its checkpoint."""
    out, walls = tmp_path / "out", []
    keys = dict(run__steps=10**6, balance__every=0, output__every=300)
    for name in ("stopped", "stopped again", "killed"):
        before = max(rows_written(out), 2)
        process = start(0, *run_words(out, restart="auto", **keys, checkpoint__every=350))
        wait_until(lambda: rows_written(out) > before + 2 or process.poll() is not None)
        if name == "killed":
            kill(process)
            continue
        process.terminate()
        end_of(process, name, 75)
        walls.append(summary(out)["wall_seconds"])
        assert float(table(out, "timing.csv")[-1]["wall_seconds"]) == pytest.approx(sum(walls), abs=0.02)
    killed = float(table(out, "timing.csv")[-1]["wall_seconds"])
    assert killed > sum(walls)
    steelyard(out, 1, **(keys | dict(run__steps=int(table(out, "timing.csv")[-1]["step"]) + 100)), restart="auto")
    found = shown_of(out)["all_starts"]
    assert found["starts"] == 4
    assert found["wall_seconds"] == pytest.approx(killed + summary(out)["wall_seconds"], abs=0.02)

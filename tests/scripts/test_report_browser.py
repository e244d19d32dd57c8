# SPDX-License-Identifier: MIT
"""Reports of runs of all kinds in a headless Chromium. Nothing goes wrong, all is drawn and nothing cut off. The
map follows slider and keys. Texts of results are shown as text."""
import json
import os
import time

import pytest

from pages import made, report, steelyard
from program import HANG_SECONDS, DECK, built, script, settings, table

SECTIONS = {
    "plane": "summary map balance ranks speeds energies run",
    "space": "summary map balance ranks speeds energies run",
    "fixed": "summary map balance ranks energies run",
    "alone": "summary map ranks energies run",
    "virtual": "summary map balance ranks speeds energies run",
    "zones": "summary map ranks zones energies run",
    "nested": "summary map balance ranks speeds energies run",
    "killed": "summary map balance ranks speeds energies run",
    "partition": "summary map resources run",
    "predicted": "summary map balance ranks speeds energies prediction run",
}

# The dots of a canvas, read from a copy.
DOTS = """const dots = (c, left = 0, top = 0, width = c.width, height = c.height) => {
  const copy = new OffscreenCanvas(width, height).getContext('2d', { willReadFrequently: true });
  copy.drawImage(c, -left, -top);
  return copy.getImageData(0, 0, width, height).data;
};"""

BLANK = (
    DOTS
    + """return [...document.querySelectorAll('canvas')].filter((c) => {
  const pixels = new Uint32Array(dots(c).buffer);
  return pixels.every((p) => p === pixels[0]);
}).map((c) => c.closest('section').id)"""
)

# Plots with ink in fewer columns of dots than lines that mark a step take.
EMPTY = (
    DOTS
    + """return report.charts.filter((u) => {
  const { left, top, width, height } = u.bbox, d = dots(u.ctx.canvas, left, top, width, height), columns = new Set();
  for (let i = 0; i < d.length; i += 4) {
    const high = Math.max(d[i], d[i + 1], d[i + 2]);
    if (d[i + 3] > 100 && (high - Math.min(d[i], d[i + 1], d[i + 2]) > 40 || high < 110)) columns.add((i / 4) % width);
  }
  return u.data[0].length > 1 && columns.size < 0.05 * width;
}).map((u) => u.root.closest('section').id)"""
)

# Parts of the page that reach beyond the window or their card, or into each other.
MISPLACED = """
const parts = [...document.querySelectorAll('header > *, nav a, section h2, section p, section h3, .chart, .map, .bar,'
  + ' .reading, .controls > *, .time > *, .figures div, .findings li, .notes li, table.plain, canvas[role=img]')];
const seen = parts.map((e) => [e, e.getBoundingClientRect()]).filter(([, r]) => r.width > 0);
const name = (e) => `${(e.closest('section') || {}).id}: ${e.className || e.tagName} ${e.textContent.slice(0, 40)}`;
const found = [];
for (const [e, r] of seen) {
  const card = e.closest('.card'), edge = card ? card.getBoundingClientRect().right : innerWidth;
  if (r.left < 0 || r.right > edge + 1) found.push(`${name(e)} reaches out`);
  if (e.scrollWidth > e.clientWidth + 1 && getComputedStyle(e).overflowX !== 'visible')
    found.push(`${name(e)} is cut off`);
}
for (let i = 0; i < seen.length; ++i)
  for (let j = i + 1; j < seen.length; ++j) {
    const [[a, p], [b, q]] = [seen[i], seen[j]];
    if (a.contains(b) || b.contains(a) || a.closest('header') || b.closest('header')) continue;
    const across = Math.min(p.right, q.right) - Math.max(p.left, q.left);
    if (across > 1 && Math.min(p.bottom, q.bottom) - Math.max(p.top, q.top) > 1)
      found.push(`${name(a)} lies over ${name(b)}`);
  }
return found"""


def look(browser, path, sections):
    """Opens a page: all is drawn, nothing is misplaced, and nothing is asked for from anywhere."""
    assert os.path.getsize(path) < 10e6
    browser.open(path)
    assert browser.errors() == []
    assert browser.requests() == ([], 1)
    assert browser.run("return [...document.querySelectorAll('section')].map((s) => s.id).join(' ')") == sections
    assert browser.run(BLANK) == [] and browser.run(EMPTY) == [], "plots are blank"
    assert browser.run(MISPLACED) == []
    assert browser.run("return document.documentElement.scrollWidth") <= 1280, "the page is wider than its window"
    # The map begins in the upper half of the window. Findings push it down if they take more than eight lines. Their
    # number depends on measured times.
    top, sentences = browser.run(
        "return ['#map canvas', '.findings'].map((s) => document.querySelector(s).getBoundingClientRect())"
        ".map((r, k) => k ? r.height : r.top)"
    )
    assert top - max(sentences - 150, 0) < 400 and sentences < 260, f"map {top} px below, sentences take {sentences} px"


@pytest.mark.group("browser")
@pytest.mark.parametrize("name", SECTIONS)
def test_page_in_a_browser(name, runs, browser):
    """Everything is drawn, and the map follows slider and keys."""
    look(browser, made(runs[name]), SECTIONS[name])

    from selenium.webdriver.common.keys import Keys

    last = browser.map()
    browser.key("2")
    assert browser.map() != last, "a key chooses other colours"
    browser.key("1")
    assert browser.map() == last
    browser.key("b")
    assert (browser.map() != last) == (name != "alone"), "a key takes the borders away; a single process has none"
    browser.key("b")
    if name == "partition":
        return
    browser.key(Keys.HOME)
    first = browser.map()
    assert first != last, "a key takes the map to the first frame"
    where = "return document.querySelector('.time output').textContent"
    assert browser.run(where).startswith("step 0, frame 1 of ")
    browser.key(Keys.ARROW_RIGHT)
    assert ", frame 2 of " in browser.run(where)
    slide = "const s = document.getElementById('time'); s.value = arguments[0]; s.dispatchEvent(new Event('input'));"
    browser.run(slide, 0)
    assert browser.map() == first
    browser.run(slide, 1000)
    assert browser.map() == last, "the slider takes the map to the last frame"
    if name == "plane":
        browser.run("window.seen = []; report.place.watchers.push((step) => seen.push(step))")
        browser.key(" ")
        time.sleep(0.5)
        browser.key(" ")
        seen = browser.run("return seen")
        assert len(seen) >= 3 and seen[0] == 0, "it plays from the first frame"
    assert browser.errors() == []


@built("build-smpi/steelyard")
@pytest.mark.group("simulated")
def test_page_of_simulated_ranks(browser, tmp_path):
    """384 ranks of a simulated cluster, with their messages: the page says that times are simulated."""
    keys = settings(run__steps=40, balance__every=20, balance__clock="work", output__every=20)
    command = ["simulate.sh", 384, DECK, "--out", tmp_path / "out", "--quiet", *keys]
    script(*command, "--trace-messages", tmp_path / "messages.csv", check=True, timeout=HANG_SECONDS)
    path = made(tmp_path / "out", "--messages", tmp_path / "messages.csv")
    look(browser, path, "summary map balance ranks speeds messages energies run")
    text = browser.run("return document.getElementById('summary').innerText")
    assert "finished, on simulated ranks" in text and "run time on simulated ranks" in text and "384 x 1" in text
    assert browser.run("return document.querySelector('#messages canvas').width") == 384


@pytest.mark.group("browser")
def test_maps_tell_who_is_who_and_what_is_even(runs, browser):
    """Processes have their numbers on the map; ranks that are alike have no dark colour, and a word says so."""
    browser.open(made(runs["plane"]))
    browser.run(
        """window.said = []; const write = CanvasRenderingContext2D.prototype.fillText;
        CanvasRenderingContext2D.prototype.fillText = function (text, ...at) { said.push([this.font, String(text)]);
          return write.call(this, text, ...at); };
        document.querySelector('input[value=process]').click()"""
    )
    numbers = browser.run("return said.filter(([font]) => font.includes('600')).map(([, text]) => text)")
    assert sorted(numbers) == [str(p) for p in range(6)]
    assert browser.run("return [heatTop([2, 2, null, 2]), heatTop([...Array(9).fill(0), 6])]") == [5, 6]
    words = browser.run("return [evenly([0.95, 1.05, 1, null]), evenly([0.8, 1.2]), evenly([0, 0])]")
    assert words == ["; even: they differ by 10 % of the mean", "", ""]
    hidden = "return getComputedStyle(document.querySelector('.u-legend .u-series')).visibility"
    assert browser.run(hidden) == "hidden", "the legend shows the step as a series"


def test_two_runs_side_by_side(runs, browser):
    """Runs with and without balancing, and of other dimensions, have the same axes and one slider."""
    path = made(runs["plane"], runs["fixed"], runs["space"], "--output", runs["plane"] / "three.html")
    browser.open(path)
    assert browser.errors() == []
    assert browser.run("return document.querySelectorAll('#map canvas[role=img]').length") == 3
    largest = "report.charts.filter((c) => c.series[1].label === 'largest')"
    ranges = browser.run(f"return {largest}.map((c) => [c.scales.y.max, c.scales.x.max])")
    assert len(ranges) == 3 and ranges[0] == ranges[1] == ranges[2]
    assert browser.run("return document.documentElement.scrollWidth") <= 1280
    # Neither more runs nor a narrow window make the page wider than its window.
    beyond = "const all = document.documentElement; return all.scrollWidth - all.clientWidth"
    for width, names in ((1280, ("plane", "fixed", "space", "killed")), (600, ("space", "plane")), (600, ("space",))):
        size = dict(width=width, height=800, deviceScaleFactor=1, mobile=False)
        browser.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        browser.open(made(*(runs[name] for name in names), "--output", runs["plane"] / "narrow.html"))
        assert browser.run(beyond) == 0 and browser.errors() == []
    browser.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {**size, "width": 1280})


def test_messages_and_pictures(browser, tmp_path):
    """The matrix of messages holds what the trace holds; pictures for a paper come by the same command."""
    out, trace = tmp_path / "out", tmp_path / "messages.csv"
    steelyard(out, 3, DECK, "--trace-messages", trace, run__steps=40, balance__every=20, output__fields_every=40)
    done = report(out, "--messages", trace, "--pictures", "pdf")
    assert done.returncode == 0, done.stderr
    for name in ("map", "lbe", "density", "partition"):
        assert (out / f"{name}.pdf").read_bytes().startswith(b"%PDF")
    browser.open(out / "report.html")
    assert browser.errors() == []
    held = {(s, t): (n, size) for s, t, n, size in browser.run("return report.runs[0].messages")}
    rows = [[int(r[c]) for c in ("source", "target", "bytes")] for r in table(tmp_path, "messages.csv")]
    pairs = {(s, t) for s, t, _ in rows}
    assert held == {p: (len(n := [b for s, t, b in rows if (s, t) == p]), sum(n)) for p in pairs} and len(pairs) > 2
    sums = browser.run("return report.charts.find((c) => c.root.closest('#messages')).data.map((d) => [...d])")
    sent, received = ([sum(b for *pair, b in rows if pair[end] == r) for r in range(3)] for end in (0, 1))
    assert sums == [[0, 1, 2], [s + r for s, r in zip(sent, received)], sent], "what each rank sends and receives"
    words = browser.run(
        """const canvas = document.querySelector('#messages canvas'), box = canvas.getBoundingClientRect();
        const at = (k) => (k + 0.5) * box.width / 3;
        const over = { clientX: box.left + at(1), clientY: box.top + at(0), bubbles: true };
        canvas.dispatchEvent(new MouseEvent('mousemove', over));
        return document.querySelector('#messages .reading').textContent"""
    )
    assert words == f"rank 0 to rank 1: {held[0, 1][0]:,} messages, {held[0, 1][1]:,} bytes"


HOSTILE = "<img src=x onerror=window.broken=1><script>window.broken=2</script>\u2028&amp;\"'</script>"


def test_hostile_words_are_text(runs, browser, tmp_path):
    """Names and words of results never run, nor become parts of the page."""
    out = tmp_path / "a<b>&"
    os.mkdir(out)
    for name in ("thermo.csv", "map.csv", "ranks.csv", "run.json"):
        (out / name).write_bytes((runs["plane"] / name).read_bytes())
    table = (runs["plane"] / "balance.csv").read_text()
    (out / "balance.csv").write_text(table.replace(",r1,", f',"{HOSTILE.replace(chr(34), "")}",'), encoding="utf-8")
    summary = json.loads((runs["plane"] / "summary.json").read_text())
    summary.update(deck=HOSTILE, host=HOSTILE, command_line=[HOSTILE], state_hash=HOSTILE, ranks=2, speeds=[HOSTILE])
    summary["prediction"] = {"file": HOSTILE, "predicted": {HOSTILE: 1}, "measured": {HOSTILE: 2}}
    (out / "summary.json").write_text(json.dumps(summary))
    (out / "deck.yaml").write_text(f"# {HOSTILE}\n", encoding="utf-8")
    browser.open(made(out))
    assert browser.run("return window.broken") is None
    assert browser.errors() == []
    assert browser.run("return document.querySelectorAll('img, section script, header script').length") == 0
    assert "onerror=window.broken=1" in browser.run("return document.getElementById('balance').innerText")
    # A script that came into the page all the same would not run.
    browser.run(
        "const s = document.createElement('script'); s.textContent = 'window.broken = 3'; document.body.append(s)"
    )
    assert browser.run("return window.broken") is None
    assert any("Content Security Policy" in e for e in browser.errors())

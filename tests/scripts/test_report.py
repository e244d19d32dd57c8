# SPDX-License-Identifier: MIT
"""scripts/report.py: pages of runs of all kinds in a headless Chromium, and what it makes of results that are cut
short, foreign or hostile."""
import base64
import csv
import json
import os
import re
import resource
import subprocess
import sys
import time
import zlib

import pytest

from program import COLLISIONS, DECK, SOURCE, options, run, settings

SMALL = dict(run__steps=240, output__every=40, balance__every=20, balance__clock="work", balance__processes=6)


def report(*arguments, **more):
    command = [sys.executable, os.path.join(SOURCE, "scripts", "report.py"), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, **more)


def made(*arguments):
    done = report(*arguments)
    assert done.returncode == 0, done.stderr
    return re.fullmatch("wrote (.*)\n", done.stdout)[1]


def data_of(path, part="runs"):
    """What the page unpacks."""
    with open(path, encoding="utf-8") as f:
        packed = re.search(r'id="data">([^<]*)</script>', f.read())[1]
    return json.loads(zlib.decompress(base64.b64decode(packed)))[part]


def steelyard(out, ranks, deck=DECK, *arguments, **values):
    code, text = run(ranks, "run", deck, "--out", out, "--quiet", *arguments, *settings(**values))
    assert code == 0, text
    return out


def rows_of(out, name):
    with open(os.path.join(out, name), newline="") as f:
        return list(csv.DictReader(f))


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """Output directories of all kinds: {name: directory}."""
    at = tmp_path_factory.mktemp("runs")
    space = COLLISIONS[3]
    found = {
        "plane": steelyard(at / "plane", 2, **SMALL),
        "space": steelyard(at / "space", 3, space.deck, **{**space.small, **SMALL}),
        "fixed": steelyard(at / "fixed", 2, **SMALL, balance__partition__kind="none"),
        "alone": steelyard(at / "alone", 1, run__steps=40, balance__every=0),
        "zones": steelyard(at / "zones", 2, run__steps=60, accelerator__backend="host", balance__every=0),
        "restarted": steelyard(at / "restarted", 4, **{**SMALL, "checkpoint__every": 80, "run__steps": 160}),
    }
    steelyard(at / "restarted", 3, DECK, "--restart", "auto", **{**SMALL, "checkpoint__every": 80})
    machine = settings(machine__nodes=3, machine__cores_per_cpu=3, machine__accelerators_per_node="[2, 0, 1]")
    nested = [
        options.binary,
        "partition",
        DECK,
        "--out",
        at / "nested",
        *machine,
        "--set",
        "balance.partition.kind=nested",
    ]
    assert subprocess.run(nested, stdout=subprocess.DEVNULL).returncode == 0
    return {**found, "nested": at / "nested"}


class Browser:
    """Chromium without a window, and what goes wrong in it."""

    def __init__(self, driver):
        self.driver, self.run = driver, driver.execute_script
        size = dict(width=1280, height=800, deviceScaleFactor=1, mobile=False)
        driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)

    def open(self, path):
        """Opens a page and waits until it is drawn. Returns the seconds that took."""
        self.driver.get_log("performance"), self.driver.get_log("browser")
        begin = time.monotonic()
        self.driver.get(f"file://{path}")
        while not self.run("return document.getElementById('main').dataset.ready"):
            assert time.monotonic() - begin < 60, (self.run("return document.body.innerText")[:500], self.errors())
            time.sleep(0.02)
        took = time.monotonic() - begin
        self.run("return new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
        return took

    def errors(self):
        return [entry["message"] for entry in self.driver.get_log("browser")]

    def requests(self):
        """Addresses that the page asked for, but its own."""
        messages = [json.loads(entry["message"])["message"] for entry in self.driver.get_log("performance")]
        asked = [m["params"]["request"]["url"] for m in messages if m["method"] == "Network.requestWillBeSent"]
        return [url for url in asked[1:] if not url.startswith(("data:", "blob:"))], len(asked)

    def key(self, *keys):
        from selenium.webdriver.common.action_chains import ActionChains

        ActionChains(self.driver).send_keys(*keys).perform()

    def map(self):
        return self.run("return [...document.querySelectorAll('#map canvas')].map((c) => c.toDataURL()).join()")


@pytest.fixture(scope="module")
def browser():
    webdriver = pytest.importorskip("selenium.webdriver", reason="scripts/setup.sh --browser installs it")
    from selenium.webdriver.chrome.service import Service

    if not os.path.exists("/usr/bin/chromedriver"):
        pytest.skip("there is no Chromium here; scripts/setup.sh --browser installs it")
    wanted = webdriver.ChromeOptions()
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"):
        wanted.add_argument(argument)
    wanted.binary_location = "/usr/bin/chromium"
    wanted.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(service=Service("/usr/bin/chromedriver"), options=wanted)
    yield Browser(driver)
    driver.quit()


SECTIONS = {
    "plane": "summary map balance ranks speeds energies run",
    "space": "summary map balance ranks speeds energies run",
    "fixed": "summary map balance ranks energies run",
    "alone": "summary map ranks energies run",
    "zones": "summary map ranks zones energies run",
    "restarted": "summary map balance ranks speeds energies run",
    "nested": "summary map run",
}


@pytest.mark.group("browser")
@pytest.mark.parametrize("name", SECTIONS)
def test_page_in_a_browser(name, runs, browser):
    """Everything is drawn, nothing is asked for from anywhere, and the map follows slider and keys."""
    path = made(runs[name])
    assert os.path.getsize(path) < 10e6
    browser.open(path)
    assert browser.errors() == []
    assert browser.requests() == ([], 1)
    assert browser.run("return [...document.querySelectorAll('section')].map((s) => s.id).join(' ')") == SECTIONS[name]
    blank = """return [...document.querySelectorAll('canvas')].filter((c) => {
      const pixels = new Uint32Array(c.getContext('2d').getImageData(0, 0, c.width, c.height).data.buffer);
      return pixels.every((p) => p === pixels[0]);
    }).length + ' of ' + document.querySelectorAll('canvas').length"""
    assert browser.run(blank).startswith("0 of "), "plots are blank"
    assert browser.run("return document.documentElement.scrollWidth") <= 1280, "the page is wider than its window"
    assert browser.run("return document.querySelector('#map canvas').getBoundingClientRect().top") < 400

    from selenium.webdriver.common.keys import Keys

    last = browser.map()
    browser.key("2")
    assert browser.map() != last, "a key chooses other colours"
    browser.key("1")
    assert browser.map() == last
    browser.key("b")
    assert (browser.map() != last) == (name != "alone"), "a key takes the borders away; a single process has none"
    browser.key("b")
    if name == "nested":
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
    browser.run("window.seen = []; report.place.watchers.push((step) => seen.push(step))")
    browser.key(" ")
    time.sleep(0.5)
    browser.key(" ")
    assert len(browser.run("return seen")) >= 3 and browser.run("return seen[0]") == 0, "it plays from the first frame"
    assert browser.errors() == []


@pytest.mark.group("browser")
def test_numbers_in_the_page(runs, browser):
    """What plots and texts of the page hold is what the files hold."""
    out = runs["plane"]
    browser.open(made(out))
    held = browser.run("return report.charts.map((c) => [c.series.map((s) => s.label), c.data.map((d) => [...d])])")
    plots = {label: (data[0], values) for labels, data in held for label, values in zip(labels[1:], data[1:])}
    thermo = rows_of(out, "thermo.csv")
    for column in ("kinetic", "potential", "total", "temperature", "pressure"):
        steps, values = plots[column]
        assert [(s, v) for s, v in zip(steps, values)] == [(int(r["step"]), float(r[column])) for r in thermo]
    balance = rows_of(out, "balance.csv")
    assert plots["largest"][1] == [float(r["max_seconds"]) for r in balance]
    lbe = [values for labels, (_, *values) in held if labels[1:] == [balance[0]["model"]]]
    assert [[float(r[c]) for r in balance] for c in ("lbe", "lbe_model")] == [v[0] for v in lbe]
    with open(os.path.join(out, "summary.json")) as f:
        summary = json.load(f)
    text = browser.run("return ['summary', 'run'].map((id) => document.getElementById(id).innerText).join()")
    for value in (f"{summary['particles']:,}", summary["state_hash"], f"{summary['ranks']} x {summary['threads']}"):
        assert value in text
    assert f"{100 * summary['overall_lbe']['r1']:.4g} %" in text
    # What ranks do each step, between two frames, adds up to the sums of the last frame.
    last = {int(r["rank"]): r for r in rows_of(out, "ranks.csv")}
    for phase in ("forces", "ghosts", "messages"):
        sums = browser.run(
            f"const r = report.runs[0].ranks; return r.{phase}[0].map((_, k) => "
            f"r.{phase}.reduce((sum, row, i) => sum + row[k] * (r.step[i] - r.from[i]), 0))"
        )
        first = [float(r[phase]) for r in rows_of(out, "ranks.csv")[:2]]
        assert sums == pytest.approx([float(last[k][phase]) - first[k] for k in (0, 1)], rel=1e-9)
    # The words at the cursor: over the middle of the map, the block that map.csv has there.
    browser.run("const s = document.getElementById('time'); s.value = 1000; s.dispatchEvent(new Event('input'));")
    words = browser.run(
        """const canvas = document.querySelector('#map canvas'), box = canvas.getBoundingClientRect();
        const at = { clientX: box.left + box.width / 3, clientY: box.top + box.height / 2, bubbles: true };
        canvas.dispatchEvent(new MouseEvent('mousemove', at));
        return document.querySelector('.tip').textContent"""
    )
    x, y, particles = (
        re.search(pattern, words)[1] for pattern in (r"x (\d+) to", r"y (\d+) to", r"\n   particles (\d+)")
    )
    cells = rows_of(out, "map.csv")
    frame = [r for r in cells if r["step"] == cells[-1]["step"]]
    assert 20 < int(x) < 45 and 15 < int(y) < 40, "where the cursor is"
    block = next(r for r in frame if (r["x0"], r["y0"]) == (x, y))
    assert block["particles"] == particles and words.startswith(f"process {block['owner']}, rank ")
    owned = sum(int(r["particles"]) for r in frame if r["owner"] == block["owner"])
    assert f"its particles {owned:,}" in words


@pytest.mark.group("browser")
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
    for width, names in (
        (1280, ("plane", "fixed", "space", "restarted")),
        (600, ("space", "plane")),
        (600, ("space",)),
    ):
        size = dict(width=width, height=800, deviceScaleFactor=1, mobile=False)
        browser.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        browser.open(made(*(runs[name] for name in names), "--output", runs["plane"] / "narrow.html"))
        assert browser.run("return document.documentElement.scrollWidth") <= width and browser.errors() == []
    browser.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {**size, "width": 1280})


@pytest.mark.group("browser")
def test_messages_and_pictures(browser, tmp_path):
    """The matrix of messages holds what the trace holds; pictures for a paper come by the same command."""
    out, trace = tmp_path / "out", tmp_path / "messages.csv"
    steelyard(out, 3, DECK, "--trace-messages", trace, run__steps=40, balance__every=20, output__fields_every=40)
    done = report(out, "--messages", trace, "--pictures", "pdf")
    assert done.returncode == 0, done.stderr
    assert all((out / f"{name}.pdf").read_bytes().startswith(b"%PDF") for name in ("lbe", "density", "partition"))
    browser.open(out / "report.html")
    assert browser.errors() == []
    held = {(s, t): (n, size) for s, t, n, size in browser.run("return report.runs[0].messages")}
    with open(trace, newline="") as f:
        rows = [[int(r[c]) for c in ("source", "target", "bytes")] for r in csv.DictReader(f)]
    pairs = {(s, t) for s, t, _ in rows}
    assert held == {p: (len(n := [b for s, t, b in rows if (s, t) == p]), sum(n)) for p in pairs} and len(pairs) > 2
    words = browser.run(
        """const canvas = document.querySelector('#messages canvas'), box = canvas.getBoundingClientRect();
        const at = (k) => (k + 0.5) * box.width / 3;
        const over = { clientX: box.left + at(1), clientY: box.top + at(0), bubbles: true };
        canvas.dispatchEvent(new MouseEvent('mousemove', over));
        return document.querySelector('#messages .reading').textContent"""
    )
    assert words == f"rank 0 to rank 1: {held[0, 1][0]:,} messages, {held[0, 1][1]:,} bytes"


HOSTILE = "<img src=x onerror=window.broken=1><script>window.broken=2</script>\u2028&amp;\"'</script>"


@pytest.mark.group("browser")
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


@pytest.mark.group("refusals")
def test_results_that_are_cut_short_or_foreign(runs, tmp_path):
    """A page is made of what is there, and says what is missing."""
    whole = data_of(made(runs["plane"]))[0]
    out = tmp_path / "out"
    for name, spoil, gone, words in (
        ("thermo.csv", lambda t: t[:-7], None, "thermo.csv: its last row is unfinished"),
        ("thermo.csv", lambda t: "a;b\n1;2\n", "thermo", "thermo.csv: it has no column step"),
        ("thermo.csv", lambda t: t.replace("\n80,", "\nnan,x,"), None, "thermo.csv: 1 of its rows"),
        ("map.csv", lambda t: t[: len(t) // 2], None, "map.csv: its last frame is unfinished"),
        ("map.csv", lambda t: t.split("\n")[0] + "\n", "map", None),
        ("balance.csv", lambda t: "", "balance", "balance.csv: it has no column step"),
        ("ranks.csv", lambda t: "\0\0", "ranks", "ranks.csv: it has no column step"),
        ("summary.json", lambda t: t[:99], None, "summary.json: it is no JSON file"),
        ("summary.json", lambda t: "[" * 99999, None, "summary.json: it is no JSON file"),
        ("summary.json", lambda t: "[]", None, "summary.json: it is not what the program writes"),
        ("run.json", lambda t: '{"starts": 7}', None, None),
    ):
        out.mkdir(exist_ok=True)
        for each in os.listdir(runs["plane"]):
            if os.path.isfile(runs["plane"] / each):
                (out / each).write_bytes((runs["plane"] / each).read_bytes())
        (out / name).write_text(spoil((out / name).read_text()))
        found = data_of(made(out))[0]
        assert words is None or any(n.startswith(words) for n in found["notes"]), (name, found["notes"])
        for part in ("thermo", "map", "balance", "ranks"):
            assert bool(found[part]) == (part != gone), f"{part} of a run with a spoilt {name}"
        if words and words.startswith("thermo.csv: its last"):
            assert found["thermo"]["step"] == whole["thermo"]["step"][:-1]
        if name != "thermo.csv":
            assert found["thermo"] == whole["thermo"]
    alone = data_of(made(runs["alone"]))[0]
    assert not any(
        "balance.csv" in n for n in alone["notes"]
    ), "a run without balancing is not meant to have balance.csv"
    # Of an older version, or of a run that was killed at once.
    for each in os.listdir(out):
        if each != "thermo.csv" and os.path.isfile(out / each):
            os.unlink(out / each)
    found = data_of(made(out))[0]
    assert not found["finished"] and found["thermo"] and not found["map"] and len(found["notes"]) >= 4


@pytest.mark.group("findings")
def test_frames_that_end_early(runs, tmp_path):
    """The page says what part of a run its frames tell of, and judges ranks by the sums of the whole run then."""
    for each in ("summary.json", "map.csv", "ranks.csv", "run.json", "deck.yaml"):
        (tmp_path / each).write_bytes((runs["alone"] / each).read_bytes())
    rows = "".join(f"{s},0,{r},0,9,{s},{0.9 * s},0,0\n" for s in (0, 50) for r in (0, 1))
    (tmp_path / "ranks.csv").write_text("step,start,rank,node,particles,wall_seconds,forces,neighbours,ghosts\n" + rows)
    phases = {"forces": {"min": 1, "mean": 3, "max": 6}, "ghosts": {"min": 1, "mean": 4, "max": 6}}
    for steps, judged in ((50, False), (60, False), (100, True)):
        summary = {"steps": steps, "wall_seconds": 10, "seconds": phases}
        (tmp_path / "summary.json").write_text(json.dumps(summary))
        (found,) = data_of(made(tmp_path))
        said = " ".join(f["text"] for f in found["findings"])
        assert ("One rank computes forces 2.00 times as long" in said and "40 % of the time goes" in said) == judged
        assert any(n.endswith(f"ranks' times cover steps 0 to 50 of {steps}.") for n in found["notes"]) == (steps > 50)


@pytest.mark.group("refusals")
def test_pages_of_long_runs_stay_small(tmp_path):
    """Of more balancings than a plot can show, every so many are; none is lost from the counts."""
    head = "step,model,driver,lbe,lbe_model,mean_seconds,max_seconds,decision\n"
    rows = (f"{20 * i},r1,1,0.{i},0.9,1,2,{'moved' if i % 3 == 0 else 'kept: gain'}\n" for i in range(50001))
    (tmp_path / "balance.csv").write_text(head + "".join(rows))
    rows = (f"{s},{p},1,1,0.5\n" for s in range(100) for p in range(8000))
    (tmp_path / "resources.csv").write_text("step,resource,speed,load,seconds\n" + "".join(rows))
    path = made(tmp_path)
    (run_,) = data_of(path)
    shown = run_["balance"][0]
    assert (shown["moved"], shown["kept"]) == (16667, 33334) and len(shown["step"]) == 16667
    assert shown["step"][:2] == [0, 60] and shown["lbe"][1] == 0.3
    assert len(run_["resources"]["step"]) == 50 and len(run_["resources"]["speed"][0]) == 8000
    assert sum("is shown" in n for n in run_["notes"]) == 2 and os.path.getsize(path) < 3e6


@pytest.mark.group("refusals")
def test_no_result_and_no_room(runs, tmp_path):
    """No result: one line and code 3. A page that cannot be written leaves the old one as it was."""
    for folder in (tmp_path, tmp_path / "nowhere"):
        done = report(folder)
        assert done.returncode == 3 and done.stderr.count("\n") == 1 and str(folder) in done.stderr
    assert report(runs["plane"], tmp_path).returncode == 3
    (tmp_path / "thermo.csv").write_text("")
    assert report(tmp_path).returncode == 3, "an empty file is no result"
    # Only regular files are replaced, and those that links lead to.
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "page").write_text("old")
    os.symlink("page", tmp_path / "link")
    for there in (tmp_path / "pipe", tmp_path, "/dev/null"):
        done = report(runs["plane"], "--output", there)
        assert done.returncode == 2 and done.stderr.count("\n") == 1 and "no regular file" in done.stderr
    assert (tmp_path / "pipe").is_fifo() and not os.path.isfile("/dev/null")
    made(runs["plane"], "--output", tmp_path / "link")
    assert (tmp_path / "link").is_symlink() and data_of(tmp_path / "page")
    # Names that cannot be shown, and an output that nobody can write to.
    odd = os.fsencode(tmp_path) + b"/caf\xe9\n1"
    os.mkdir(odd)
    with open(os.path.join(odd, b"thermo.csv"), "w") as f:
        f.write("step,kinetic,potential,total\n")
    command = [sys.executable, os.path.join(SOURCE, "scripts", "report.py"), odd]
    plain = {**os.environ, "PYTHONIOENCODING": "ascii"}
    done = subprocess.run(command, capture_output=True, env=plain, timeout=60)
    assert done.returncode == 0 and done.stdout.count(b"\n") == 1 and done.stderr == b""
    with open("/dev/full", "w") as full:
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, timeout=60)
    assert done.returncode == 2 and done.stderr.count(b"\n") == 1 and b"No space left" in done.stderr
    assert subprocess.run(command, preexec_fn=lambda: os.close(1), timeout=60).returncode == 0
    page = runs["plane"] / "report.html"
    made(runs["plane"])
    with open(page, "rb") as reader:  # whoever reads the old page while there is a new one
        begin = reader.read(1000)
        page.chmod(0o600)
        made(runs["plane"])
        assert begin + reader.read() == page.read_bytes() and os.fstat(reader.fileno()).st_nlink == 0
    before, there = page.read_bytes(), sorted(os.listdir(runs["plane"]))
    most = len(before) // 2
    done = report(runs["plane"], preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (most, most)))
    assert done.returncode == 2 and "cannot write" in done.stderr and done.stderr.count("\n") == 1, done.stderr
    assert page.read_bytes() == before and sorted(os.listdir(runs["plane"])) == there


@pytest.mark.group("findings")
def test_planted_causes_are_found(tmp_path):
    """A slow rank, a dense zone and late messages each get a sentence, and an even run gets none of them."""
    head = "step,start,rank,node,particles,wall_seconds,forces,neighbours,ghosts,wait_seconds\n"

    def found(forces, ghosts, loads=(1,) * 20, speeds=None, particles=(9,) * 4):
        rows = "".join(
            f"{s},0,{r},0,{particles[r]},{s},{s * f},0,{s * g},0\n"
            for s in (0, 50, 100)
            for r, (f, g) in enumerate(zip(forces, ghosts))
        )
        (tmp_path / "ranks.csv").write_text(head + rows)
        (tmp_path / "run.json").write_text('{"starts": [{"id": "0", "step": 0}]}')
        cells = "".join(f"{s},{x},0,0,{x + 1},1,1,1,{load},0\n" for s in (0, 100) for x, load in enumerate(loads))
        (tmp_path / "map.csv").write_text("step,x0,y0,z0,x1,y1,z1,particles,load,owner\n" + cells)
        if speeds:
            rows = "".join(f"100,{p},{s},1,1\n" for p, s in enumerate(speeds))
            (tmp_path / "resources.csv").write_text("step,resource,speed,load,seconds\n" + rows)
        return " ".join(f["text"] for f in data_of(made(tmp_path))[0]["findings"])

    assert found([0.9] * 4, [0.05] * 4) == "Nothing stands out."
    slow = found([0.4, 0.4, 0.9, 0.4], [0.5, 0.5, 0.01, 0.5])
    assert (
        slow.startswith("Rank 2 computes longest, 1.71 times the mean")
        and "2.2 times as long there" in slow
        and "about what the differences" in slow
    )
    full = found([0.4, 0.4, 0.9, 0.4], [0.5, 0.5, 0.01, 0.5], particles=(4, 4, 9, 4))
    assert "It has more particles, not a slower processor." in full
    late = found([0.5] * 4, [0.3, 0.4, 0.3, 0.3])
    assert "messages are late" in late and "rank 1" in late and "computes longest" not in late
    assert "A tenth of the box carries 52 % of the load at step 100." in found(
        [0.9] * 4, [0.05] * 4, [10] * 2 + [1.02] * 18
    )
    assert "Process 1 runs on slow processors: down to 0.50" in found([0.9] * 4, [0.05] * 4, speeds=[1, 0.5, 1, 1])

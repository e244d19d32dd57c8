# SPDX-License-Identifier: MIT
"""scripts/report.py --watch: pages of runs that go on, the sign that they do, and the pages in a browser."""
import fcntl
import os
import re
import signal
import subprocess
import sys
import threading
import time

import pytest

from pages import data_of, report
from program import HANG_SECONDS, SOURCE, ok, ok_run, processes_of, run_words, start, summary, table, under_way
from program import wait_until
from report import watch as watched

LONG = dict(run__steps=1000000, output__every=100, balance__every=20, balance__processes=6)
SHORT = dict(run__steps=40)


def watching(*arguments):
    """The watch, and the lines that it has said so far."""
    script = os.path.join(SOURCE, "scripts", "report.py")
    command = [sys.executable, script, "--watch", "--every", "0.4", *map(str, arguments)]
    watch = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    lines = []
    reader = threading.Thread(target=lambda: lines.extend(iter(watch.stdout.readline, "")), daemon=True)
    reader.start()
    return watch, lines, reader


def until(good, seconds=HANG_SECONDS):
    assert wait_until(good, seconds)


def ended(watch, reader):
    """The exit code of a watch, which has said nothing on standard error."""
    code = watch.wait(HANG_SECONDS)
    reader.join(10)
    assert watch.stderr.read() == ""
    return code


def packed(path):
    """The time in seconds after which a page is to be read anew, as the page unpacks it."""
    return data_of(path, "reload")


@pytest.fixture
def long_run(tmp_path):
    """A run that goes on until it is stopped."""
    process = under_way(2, tmp_path / "out", **LONG)
    yield process
    if process.poll() is None:
        process.terminate()
        process.wait(HANG_SECONDS)


@pytest.mark.group("watch")
def test_from_before_the_first_result_to_the_end(tmp_path):
    """It waits, follows, and ends with the run; the page is whole whenever somebody reads it."""
    out = tmp_path / "out"
    watch, lines, reader = watching(out)
    until(lambda: lines)
    assert lines == [f"waits for a run to write its first result in '{out}'; Ctrl-C ends this\n"]
    assert not out.exists() and watch.poll() is None
    process = start(2, *run_words(out, **LONG))
    page = out / "report.html"
    until(page.exists)
    until(lambda: len(lines) == 2)
    assert lines[1] == f"wrote {page}, and writes it anew while the run goes on; Ctrl-C ends this\n"
    first, texts = data_of(page)[0], set()

    def grown():
        texts.add(page.read_text(encoding="utf-8"))
        return len(texts) > 3

    until(grown)
    assert all(text.startswith("<!doctype html>") and text.endswith("</html>\n") for text in texts)
    later = data_of(page)[0]
    assert later["thermo"]["step"][-1] > first["thermo"]["step"][-1] and packed(page) == pytest.approx(0.6)
    assert re.fullmatch(r"\d\d:\d\d:\d\d", later["going"]) and not any("goes on" in n for n in later["notes"])
    process.terminate()
    assert process.wait(HANG_SECONDS) == 75 and ended(watch, reader) == 0
    assert lines[2:] == [f"wrote {page}; no run goes on any more\n"]
    last = data_of(page)[0]
    assert last["going"] is None and last["finished"] and packed(page) is None
    assert last["steps"] == summary(out)["steps"]
    assert last["thermo"]["step"][-1] == int(table(out, "thermo.csv")[-1]["step"])
    assert not [name for name in os.listdir(out) if name.startswith(".report")]


def test_a_run_that_is_killed(tmp_path, long_run):
    """The lock of a run goes with its process: the watch says that it has no summary, and ends."""
    out = tmp_path / "out"
    watch, lines, reader = watching(out, "--output", tmp_path / "page.html")
    until(lambda: lines)
    for process in processes_of(str(out)):
        os.kill(process, signal.SIGKILL)
    assert ended(watch, reader) == 0
    why = f"{str(out)!r} has no summary.json, so it was killed or failed"
    assert lines[1:] == [f"wrote {tmp_path / 'page.html'}; no run goes on any more: {why}\n"]
    last = data_of(tmp_path / "page.html")[0]
    assert not last["finished"] and last["going"] is None and last["thermo"]


@pytest.mark.parametrize("number", (signal.SIGINT, signal.SIGTERM))
def test_a_watch_that_is_ended(tmp_path, long_run, number):
    """The page stays, whole, and a browser no longer reads it anew. The run goes on."""
    watch, lines, reader = watching(tmp_path / "out")
    until(lambda: lines)
    page = tmp_path / "out" / "report.html"
    assert packed(page) == pytest.approx(0.6)
    watch.send_signal(number)
    assert ended(watch, reader) == 128 + number and len(lines) == 1
    assert packed(page) is None and data_of(page)[0]["going"]
    assert long_run.poll() is None


def test_the_end_is_seen_while_no_page_is_due(tmp_path, monkeypatch):
    """A page that took long is not written again for a while; the last one is, as soon as the run has ended."""
    out, pages = str(tmp_path / "out"), []
    ok_run(out, **SHORT)
    monkeypatch.setattr(watched, "SHARE", 1e-7)  # the next page but for the last would be due in a day
    going = os.open(out, os.O_RDONLY)
    fcntl.flock(going, fcntl.LOCK_EX)  # as a run does

    def write(seconds, _):
        pages.append(seconds)
        time.sleep(0.01)
        fcntl.flock(going, fcntl.LOCK_UN)
        return "page"

    def late(*_):
        raise AssertionError("the end of the run was not seen")

    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGALRM)}
    signal.signal(signal.SIGALRM, late)
    signal.alarm(60)
    try:
        assert watched.watch([out], [], 0.1, write, lambda line: None) == 0
    finally:
        signal.alarm(0)
        for number, handler in before.items():
            signal.signal(number, handler)
        os.close(going)
    assert pages == [pytest.approx(0.15), None]


def test_it_never_keeps_a_run_from_starting(tmp_path):
    """However often the watch asks for the locks. A run that has ended gets one page, and the watch is over. If results
    vanish, the page before stays."""
    out, stop, asked = tmp_path / "out", threading.Event(), []
    out.mkdir()

    def ask():
        while not stop.is_set():
            asked.append(watched.goes_on(str(out)))

    threads = [threading.Thread(target=ask) for _ in range(3)]
    for thread in threads:
        thread.start()
    try:
        for _ in range(3):
            ok(1, *run_words(out, "--force", **SHORT))
    finally:
        stop.set()
        for thread in threads:
            thread.join()
    assert {True, False} == set(asked)
    watch, lines, reader = watching(out, out)
    assert ended(watch, reader) == 0
    assert lines == [f"wrote {out / 'report.html'}; no run goes on any more\n"]
    assert len(data_of(out / "report.html")) == 2 and packed(out / "report.html") is None
    for words in ("0", "nan", "1e9", "often"):
        assert report("--watch", "--every", words, out).returncode == 2
    # A lock that no run holds.
    (out / ".steelyard.lock").unlink()
    assert not watched.goes_on(str(out)) and not watched.goes_on(str(tmp_path / "nowhere"))


def test_results_that_go(tmp_path, long_run):
    watch, lines, reader = watching(tmp_path / "out", "--output", tmp_path / "page.html")
    until(lambda: lines)
    before = data_of(tmp_path / "page.html")[0]["thermo"]["step"]
    os.rename(tmp_path / "out", tmp_path / "elsewhere")
    assert ended(watch, reader) == 3
    assert lines[1:] == [f"{str(tmp_path / 'out')!r} holds no results any more; the page is that of before\n"]
    assert data_of(tmp_path / "page.html")[0]["thermo"]["step"][: len(before)] == before


READY = "document.getElementById('main')?.dataset.ready"
FRAMES = "return window.report ? report.runs[0].map.step.length : 0"
ROWS = "return window.report ? report.runs[0].thermo.step.length : 0"


class WatchedPage:
    """A page in a browser that reads itself anew, of a run that goes on."""

    def __init__(self, browser, out):
        self.browser, self.out = browser, out
        self.watch, self.lines, self.reader = watching(out)
        until(lambda: self.lines and len({r["step"] for r in table(out, "map.csv")}) >= 3)
        browser.open(out / "report.html")

    def wait_until_read_anew(self):
        self.browser.run("window.mark = 1")
        until(lambda: self.browser.run(f"return !window.mark && {READY}"))

    def wait_until_more(self, what, most):
        """Until the page, read anew, shows more than so many."""
        until(lambda: self.wait_until_read_anew() or self.browser.run(what) > most)

    def hold(self):
        """A pointer that is down keeps a page that is drawn from being read anew. So nothing is asked of a page that
        goes or is not yet drawn, and no key is pressed on one."""

        def held():
            press = "window.mark = 1; dispatchEvent(new Event('pointerdown'))"
            self.browser.run(f"if ({READY}) {{ {press} }}")
            time.sleep(1)
            return self.browser.run("return window.mark")

        until(held)

    def stays(self, mark, seconds=1.5):
        """The page is not read anew for a while."""
        self.browser.run(f"window.mark = {mark}")
        time.sleep(seconds)
        return self.browser.run("return window.mark") == mark


@pytest.fixture
def page(tmp_path, long_run, browser):
    return WatchedPage(browser, tmp_path / "out")


@pytest.mark.group("watch_browser")
def test_page_that_reads_itself_anew(page, browser):
    """It shows what it has shown before, of more steps, and asks for nothing but itself."""
    page.wait_until_more(FRAMES, 2)
    page.hold()
    slider = "return +document.getElementById('time').value"
    assert browser.run(slider) == browser.run(FRAMES) - 1, "it stays at the last frame"
    assert "goes on, as of" in browser.run("return document.querySelector('.state').textContent")
    # Somebody looks at the first frame, in other colours, without borders, further down. (A run drops every second one
    # of the others as it grows.)
    browser.run("const s = document.getElementById('time'); s.value = 0; s.dispatchEvent(new Event('input'))")
    browser.key("2"), browser.key("b")
    browser.run("scrollTo({ top: 321, behavior: 'instant' })")
    where = "return document.querySelector('.time output').textContent"
    step = re.match("step ([0-9,]+),", browser.run(where))[1]
    layer = "return document.querySelector('input[name=layer]:checked').value"
    shown, rows = browser.run(layer), browser.run(ROWS)
    assert shown != browser.run("return document.querySelector('input[name=layer]').value")
    browser.run("dispatchEvent(new Event('pointerup'))")
    page.wait_until_more(ROWS, rows)
    page.hold()
    assert browser.run(where).startswith(f"step {step}, frame ")
    assert browser.run(layer) == shown and not browser.run("return document.getElementById('borders').checked")
    assert browser.run("return scrollY") == 321 and browser.errors() == []
    asked, count = browser.requests()
    assert set(asked) == {f"file://{page.out}/report.html"} and count > 1


def test_page_that_is_not_read_anew(page, browser, long_run):
    """Neither while somebody has said so, nor after the end of the run."""
    page.hold()
    browser.run("scrollTo({ top: 321, behavior: 'instant' })")
    browser.key("f")
    browser.run("dispatchEvent(new Event('pointerup'))")
    assert page.stays(2)
    browser.key("f")
    until(lambda: browser.run(f"return !window.mark && {READY}"))
    long_run.terminate()
    assert long_run.wait(HANG_SECONDS) == 75 and ended(page.watch, page.reader) == 0
    until(lambda: browser.run("return document.querySelector('.state')?.textContent") == "finished")
    assert page.stays(3) and browser.run("return scrollY") == 321
    assert browser.run("return document.getElementById('follow-label').hidden")
